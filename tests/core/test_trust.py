"""The allowed_signers file: its grammar, and whom it names."""

from __future__ import annotations

import base64
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitgate.core.trust import (
    MAX_FILE,
    Signer,
    Signers,
    fingerprint,
    matches_list,
    parse_signers,
)

ADA, BOB = "ada@example.com", "bob@example.com"


def blob(number: int = 1) -> bytes:
    return b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + number.to_bytes(32, "big")


def key(number: int = 1) -> str:
    return f"ssh-ed25519 {base64.b64encode(blob(number)).decode()}"


def parse(*lines: str) -> Signers:
    return parse_signers("".join(f"{line}\n" for line in lines).encode())


def one(line: str) -> Signer:
    found = parse(line)
    assert found.defects == ()
    return found.entries[0]


def test_a_plain_line() -> None:
    assert one(f"{ADA} {key()}") == Signer(1, (ADA,), "ssh-ed25519", blob())
    assert one(f"  \t{ADA}\t \t{key()} a comment # with a hash").principals == (ADA,)
    assert one(f'"{ADA},Ada Lovelace" {key()}').principals == (ADA, "Ada Lovelace")


def test_options() -> None:
    found = one(
        f'{ADA} cert-authority,namespaces="git,file x",valid-after="20240229",'
        f'valid-before="202403010203Z" {key()}'
    )
    assert found.cert_authority
    assert found.namespaces == ("git", "file x")
    assert found.valid_after == 1_709_164_800
    assert found.valid_before == 1_709_258_580
    assert one(f'{ADA} namespaces="a\\"b" {key()}').namespaces == ('a"b',)
    assert one(f'{ADA} Valid-Before="20240301020304utc" {key()}').valid_before == 1_709_258_584


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ada", "principals and a key"),
        (f'"ada {key()}', "principals and a key"),
        (f'"ada"{key()}', "principals and a key"),
        (f'a"da" {key()}', "principals and a key"),
        (f'"" {key()}', "empty"),
        (f"ada,,bob {key()}", "empty"),
        (f'"ada, bob" {key()}', "blanks around"),
        (f"ada\u200b {key()}", "invisible"),
        (f"\ufeffada {key()}", "invisible"),
        (f"a\x1bda {key()}", "invisible"),
        (f"ada\0 {key()}", "invisible"),
        (f"ada\u00a0x {key()}", "invisible"),
        (f"{'a' * 1001} {key()}", "too long"),
        ("ada ssh-ed25519", "a key after"),
        ("ada ssh-ed25519 AAAA", "cannot be read"),
        ("ada ssh-ed25519 ????", "cannot be read"),
        ("ada ssh-ed25519 ÄÄÄÄ", "not base64"),
        (f"ada {key()[:-2]}B=", "canonical"),
        (f"ada {key()}=", "cannot be read"),
        (f"ada ssh-rsa {key().split()[1]}", "of the type 'ssh-ed25519'"),
        (f"ada ssh-new@x.org {key().split()[1]}", "neither an option nor a key"),
        (f'ada namespaces="git" ssh-new@x.org {key().split()[1]}', "unknown type"),
        (f"ada cert-authority{key()}", "neither an option nor a key"),
        (f"ada cert-authority, {key()}", "neither an option nor a key"),
        (f"ada ,cert-authority {key()}", "neither an option nor a key"),
        (f"ada namespaces=git {key()}", "neither an option nor a key"),
        (f'ada namespaces="git {key()}', "neither an option nor a key"),
        (f'ada namespaces="git\\" {key()}', "neither an option nor a key"),
        (f'ada namespaces="git",namespaces="x" {key()}', "twice"),
        (f'ada verify-required,valid-after="20240101" {key()}', "neither an option nor a key"),
        (f'ada valid-after="2024" {key()}', "expected YYYYMMDD"),
        (f'ada valid-after="20240230" {key()}', "expected YYYYMMDD"),
        (f'ada valid-after="202401012460" {key()}', "expected YYYYMMDD"),
        (f'ada valid-after="20240101+01" {key()}', "expected YYYYMMDD"),
        (f'ada valid-after="٢٠٢٤٠١٠١" {key()}', "expected YYYYMMDD"),
        (f'ada valid-after="19700101Z" {key()}', "1970"),
        (f'ada valid-after="20240101",valid-before="20240101" {key()}', "not later"),
    ],
)
def test_a_defective_line_counts_for_nobody_and_is_listed(line: str, words: str) -> None:
    found = parse("# people", line, f"{BOB} {key(2)}")
    assert [entry.principals for entry in found.entries] == [(BOB,)]
    assert len(found.defects) == 1
    number, sentence = found.defects[0]
    assert number == 2
    assert words in sentence


@pytest.mark.parametrize(
    "fields",
    [
        (b"ssh-ed25519", b"x" * 31),
        (b"ssh-ed25519", b"x" * 32, b""),
        (b"ssh-rsa", b"\1\0\1"),
        (b"ssh-rsa", b"\0\1\0\1", b"\1" * 256),
        (b"ssh-rsa", b"\1\0\1", b"\xff" * 256),
        (b"ssh-rsa", b"\1\0\1", b""),
        (b"ecdsa-sha2-nistp256", b"nistp384", b"\4" + b"x" * 64),
        (b"ecdsa-sha2-nistp256", b"nistp256", b"\2" + b"x" * 32),
        (b"sk-ssh-ed25519@openssh.com", b"x" * 32),
    ],
)
def test_a_malformed_key_is_a_defect(fields: tuple[bytes, ...]) -> None:
    data = b"".join(len(field).to_bytes(4, "big") + field for field in fields)
    found = parse(f"{ADA} {fields[0].decode()} {base64.b64encode(data).decode()}")
    assert found.entries == ()
    assert len(found.defects) == 1


def test_line_endings_and_comments() -> None:
    text = f"# a\r\n\r\n \t\n{ADA} {key()}\r\n  # b\n{BOB} {key(2)} comment\r\nx {key(3)}"
    found = parse_signers(text.encode())
    assert found.defects == ()
    assert [(entry.line, entry.principals[0]) for entry in found.entries] == [
        (4, ADA),
        (6, BOB),
        (7, "x"),
    ]


def test_bytes_that_are_no_text() -> None:
    found = parse_signers(b"ad\xe4 " + key().encode() + b"\n" + f"{BOB} {key(2)}".encode())
    assert found.people == {BOB}
    assert found.defects == ((1, "the line is not UTF-8"),)


def test_a_file_that_is_too_large_counts_for_nobody() -> None:
    line = f"{ADA} {key()}\n".encode()
    assert parse_signers(line + b"#" * (MAX_FILE - len(line))).people == {ADA}
    found = parse_signers(line + b"#" * MAX_FILE)
    assert found.entries == ()
    assert len(found.defects) == 1


def test_the_first_literal_names_the_person() -> None:
    found = parse(
        f"Ada@Example.com,ada@home.org {key()}",
        f"ada@example.com,ada@work.org {key(2)}",
        f"*@example.com,{BOB} {key(3)}",
        f"* {key(4)}",
        f"eve@example.com,!eve@* {key(5)}",
    )
    assert found.people == {"Ada@Example.com", BOB}
    for address in ("ADA@EXAMPLE.COM", "ada@home.org", "Ada@Work.org"):
        assert found.person_of(address) == "Ada@Example.com"
    for address in ("eve@example.com", "*", "*@example.com", "x@example.com", ""):
        assert found.person_of(address) is None
    assert [found.person(entry) for entry in found.entries] == [
        "Ada@Example.com",
        "Ada@Example.com",
        BOB,
        None,
        None,
    ]


def test_an_address_of_two_people_is_nobodys() -> None:
    found = parse(f"{ADA},team@example.com {key()}", f"{BOB},team@example.com {key(2)}")
    assert found.people == {ADA, BOB}
    assert found.person_of("team@example.com") is None
    assert found.person_of(ADA) == ADA


@pytest.mark.parametrize("order", [1, -1])
def test_a_person_who_is_somebody_elses_address_counts_once(order: int) -> None:
    """Else one person with two keys would be two people, who could approve together."""
    lines = [f"{ADA},ada@home.org {key()}", f"Ada@Home.org {key(2)}"][::order]
    found = parse(*lines)
    assert found.people == {ADA}
    assert found.person_of("ada@home.org") == ADA
    assert [entry.blob for entry in found.entries] == [blob()]
    assert f"begin with {ADA}" in found.defects[0][1]
    circle = parse(f"{ADA},{BOB} {key()}", f"{BOB},{ADA} {key(2)}")
    assert circle.people == frozenset()
    assert len(circle.defects) == 2


def test_an_authority_certifies_people_each_of_whom_is_one() -> None:
    found = parse(f"{ADA},ada@home.org {key()}", f"ada@home.org,{BOB},*@x cert-authority {key(2)}")
    assert found.people == {ADA, BOB}
    assert found.person_of("ada@home.org") == ADA
    assert found.listing(blob(2)) == ()
    assert [entry.line for entry in found.listing(blob(2), cert_authority=True)] == [2]


def test_listing_has_all_lines_of_a_key_in_order() -> None:
    found = parse(f"{ADA} {key()}", f"{BOB} {key(2)}", f"{BOB} {key()}")
    assert [entry.line for entry in found.listing(blob())] == [1, 3]
    assert found.listing(blob(9)) == ()


def test_window_and_namespace() -> None:
    entry = one(f'{ADA} valid-after="20240101Z",valid-before="20240102Z" {key()}')
    first, last = 1_704_067_200, 1_704_153_600
    assert [entry.valid_at(time) for time in (first - 1, first, last, last + 1)] == [
        False,
        True,
        True,
        False,
    ]
    assert entry.allows("git")
    assert not one(f'{ADA} namespaces="file,!git,*" {key()}').allows("git")


@pytest.mark.parametrize(
    ("text", "patterns", "matches"),
    [
        ("git", "git", True),
        ("git", "g*", True),
        ("git", "*", True),
        ("git", "???", True),
        ("git", "??", False),
        ("git", "git?", False),
        ("git", "*t*i*", False),
        ("git", "*g*i*t*", True),
        ("git", "[g]it", False),
        ("git", "!x", False),
        ("git", "!x,git", True),
        ("git", "git,!g*", False),
        ("", "*", True),
        ("", "", True),
        ("a*b", "a*b", True),
        ("a" * 1000, "*a" * 300 + "b", False),
    ],
)
def test_patterns(text: str, patterns: str, matches: bool) -> None:
    assert matches_list(text, patterns.split(",")) is matches


def test_fingerprint() -> None:
    assert fingerprint(b"") == "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"


def test_the_parse_is_kept() -> None:
    data = f"{ADA} {key()}\n".encode()
    assert parse_signers(data) is parse_signers(bytes(bytearray(data)))


def test_the_module_is_light() -> None:
    """`check` on a push that touches nothing guarded should not pay for cryptography."""
    heavy = {"cryptography", "yaml", "pygit2", "subprocess", "hashlib", "unidiff"}
    code = "import sys, gitgate.core.trust; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert not heavy & set(loaded.stdout.split())


LINE = st.one_of(
    st.text(max_size=40),
    st.tuples(
        st.sampled_from([ADA, BOB, "*", "!x", '"a,b"', '"', "a,a"]),
        st.sampled_from(["", "cert-authority", 'namespaces="git"', 'valid-after="20240101"', ","]),
        st.sampled_from([key(1), key(2), "ssh-rsa AAAA", ""]),
    ).map(" ".join),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(LINE, max_size=8).map("\n".join))
def test_any_text_is_read_and_each_line_counts_or_is_listed(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    found = parse_signers(data)
    accounted = [entry.line for entry in found.entries] + [line for line, _ in found.defects]
    lines = enumerate(data.split(b"\n"), start=1)
    meant = [n for n, raw in lines if raw.strip(b" \t\r") and raw.lstrip(b" \t")[:1] != b"#"]
    assert sorted(accounted) == meant
    for person in found.people:
        assert found.person_of(person) == person
        assert found.person_of(person.upper()) == person
