"""Names, to the byte: what a ledger's ref is called never changes."""

from __future__ import annotations

import hashlib

import pytest

from gitgate.core import ids
from gitgate.errors import Exit, GateError
from gitgate.process import run

ENCODED = [
    ("feature/login", "feature%2flogin"),
    ("main", "main"),
    ("run-42/plan", "run-42%2fplan"),
    ("Feature", "%46eature"),
    ("FEATURE", "%46%45%41%54%55%52%45"),
    ("a b", "a%20b"),
    ("100%", "100%25"),
    ("%2f", "%252f"),
    ("Käse", "%4b%c3%a4se"),
    ("Ka\u0308se", "%4ba%cc%88se"),
    ("\u4e2d", "%e4%b8%ad"),
    ("-x", "%2dx"),
    ("--", "%2d-"),
    ("a-", "a-"),
    (".", "%2e"),
    ("..", "%2e%2e"),
    ("...", "%2e%2e%2e"),
    (".a", "%2ea"),
    ("a.", "a%2e"),
    ("a.b", "a.b"),
    ("a..b", "a.%2eb"),
    ("a...b", "a.%2e%2eb"),
    ("a..", "a.%2e"),
    ("a.lock", "a%2elock"),
    ("a..lock", "a.%2elock"),
    (".lock", "%2elock"),
    ("lock", "lock"),
    ("a.lock.b", "a.lock.b"),
    ("a.LOCK", "a.%4c%4f%43%4b"),
    ("@{1}", "%40%7b1%7d"),
    ("@", "%40"),
    ("a~1^:?*[\\", "a%7e1%5e%3a%3f%2a%5b%5c"),
    ("con", "%63on"),
    ("con.txt", "%63on.txt"),
    ("con.", "%63on%2e"),
    ("aux.lock", "%61ux%2elock"),
    ("CON", "%43%4f%4e"),
    ("Con", "%43on"),
    ("console", "console"),
    ("a.con", "a.con"),
    ("com10", "com10"),
    ("con/x", "con%2fx"),
]


@pytest.mark.parametrize(("subject", "name"), ENCODED)
def test_a_subject_has_this_name_for_ever(subject: str, name: str) -> None:
    assert ids.encode_subject(subject) == name
    assert ids.is_encoded(name)


def test_every_windows_device_name_is_encoded() -> None:
    ports = [f"{port}{number}" for port in ("com", "lpt") for number in range(10)]
    for device in ["con", "prn", "aux", "nul", *ports]:
        first = f"%{ord(device[0]):02x}"
        assert ids.encode_subject(device) == first + device[1:]
        assert ids.encode_subject(f"{device}.tar.gz") == f"{first}{device[1:]}.tar.gz"
        assert not ids.is_encoded(device)


def test_a_long_subject_is_cut_at_a_token_and_hashed() -> None:
    assert ids.encode_subject("a" * 120) == "a" * 120
    digest = hashlib.sha256(b"a" * 121).hexdigest()[:40]
    assert ids.encode_subject("a" * 121) == "a" * 78 + "%-" + digest
    digest = hashlib.sha256(b"ab" + "ä".encode() * 40).hexdigest()[:40]
    assert ids.encode_subject("ab" + "ä" * 40) == "ab" + "%c3%a4" * 12 + "%c3" + "%-" + digest
    assert ids.encode_subject("/" * 40) == "%2f" * 40
    assert ids.encode_subject("/" * 41) == (
        "%2f" * 26 + "%-" + hashlib.sha256(b"/" * 41).hexdigest()[:40]
    )


def test_no_other_subject_has_the_name_of_a_hashed_one() -> None:
    hashed = ids.encode_subject("x" * 300)
    assert len(hashed) == 120
    assert ids.encode_subject(hashed) != hashed
    assert ids.is_encoded(hashed)
    assert not ids.is_encoded(hashed[:-1])
    assert not ids.is_encoded("." + hashed[1:])


@pytest.mark.parametrize(
    "name",
    ["", "A", "a/b", "%2F", "%61", "%", "%2", "a..b", ".a", "a.", "a.lock", "-a", "%ff", "%00"],
)
def test_what_is_no_name_of_a_subject(name: str) -> None:
    assert not ids.is_encoded(name)


def test_git_takes_every_name_as_a_component_of_a_ref() -> None:
    subjects = [subject for subject, _ in ENCODED] + [
        "x" * 300,
        "." * 200,
        "-" * 200,
        "ß.lock" * 90,
    ]
    for subject in subjects:
        ref = ids.ledger_ref("elaboration", subject)
        assert run(["git", "check-ref-format", ref]).status == 0, ref
        name = ids.tag_name("elaboration", subject)
        assert run(["git", "check-ref-format", f"refs/tags/{name}"]).status == 0, name
        assert ids.is_tag_name(name)
        assert ids.is_ref(ref)


def test_refs_and_tag_names() -> None:
    assert ids.ledger_ref("elaboration", "feature/login") == (
        "refs/aiwg/gates/elaboration/feature%2flogin"
    )
    assert ids.tag_name("elaboration", "feature/login") == "gate/elaboration/feature%2flogin"
    assert ids.NOTES == "refs/notes/aiwg/gates"
    assert ids.JOURNAL == "refs/heads/aiwg/journal"
    assert ids.TRACKING == "refs/gitgate/"


@pytest.mark.parametrize(
    "name", ["gate/Elab/x", "gate//x", "gate/g/", "gate/g/X", "tag/g/x", "gate/g/x/y", "gate/g/a/"]
)
def test_what_is_no_tag_name(name: str) -> None:
    assert not ids.is_tag_name(name)


@pytest.mark.parametrize("gate", ["elaboration", "a", "0", "a-", "a" * 64])
def test_a_gate_id(gate: str) -> None:
    assert ids.check_gate(gate) == gate


@pytest.mark.parametrize("gate", ["", "-a", "A", "a_b", "a.b", "a/b", "a" * 65, "a\n", "ä", "a b"])
def test_what_is_no_gate_id(gate: str) -> None:
    with pytest.raises(GateError) as caught:
        ids.check_gate(gate)
    assert caught.value.kind is Exit.USAGE
    assert caught.value.hint


@pytest.mark.parametrize("subject", ["main", "..", "-x", "@{u}", "a  b", "é", "\u202e", "x" * 1024])
def test_a_subject_is_not_folded(subject: str) -> None:
    assert ids.check_subject(subject) == subject


@pytest.mark.parametrize(
    ("subject", "problem"),
    [
        ("", "is empty"),
        (" a", "begins or ends with a blank"),
        ("a\u00a0", "begins or ends with a blank"),
        ("a\nb", "has a control character"),
        ("a\x7fb", "has a control character"),
        ("a\x85b", "has a control character"),
        ("a\0", "has a control character"),
        ("a\udcff", "is not valid UTF-8"),
        ("x" * 1025, "is longer than 1024 bytes"),
        ("ä" * 513, "is longer than 1024 bytes"),
    ],
)
def test_what_is_no_subject(subject: str, problem: str) -> None:
    with pytest.raises(GateError, match=problem) as caught:
        ids.check_subject(subject)
    assert caught.value.kind is Exit.USAGE


REFS = [
    "refs/heads/main",
    "refs/heads/a.b",
    "refs/heads/a@b",
    "refs/x",
    "refs/heads/ä",
    "refs/heads/@",
]
NOT_REFS = [
    "",
    "refs/",
    "refs/heads/",
    "refs/heads/.a",
    "refs/heads/a..b",
    "refs/heads/a.",
    "refs/heads/a.lock",
    "refs/heads/a.lock/b",
    "refs/heads/a b",
    "refs/heads/a~",
    "refs/heads/a^",
    "refs/heads/a:b",
    "refs/heads/a?",
    "refs/heads/a*",
    "refs/heads/a[",
    "refs/heads/a\\b",
    "refs/heads/a@{b",
    "refs/heads//a",
    "refs/heads/a\x7f",
    "refs/heads/a\n",
]


def test_refs_are_the_ones_that_git_takes() -> None:
    for ref in REFS + NOT_REFS:
        assert ids.is_ref(ref) == (run(["git", "check-ref-format", ref]).status == 0), ref
    assert all(ids.is_ref(ref) for ref in REFS)
    assert not ids.is_ref("HEAD")
    assert not ids.is_ref("heads/main")


def test_object_ids_and_nonces() -> None:
    assert ids.is_oid("0123456789abcdef" * 2 + "01234567")
    assert ids.is_oid(ids.ZERO)
    for text in ["", "a" * 39, "a" * 41, "A" * 40, "g" * 40, "a" * 40 + "\n", "a" * 64]:
        assert not ids.is_oid(text)
    assert ids.is_nonce("0f" * 16)
    assert not ids.is_nonce("0F" * 16)
    assert not ids.is_nonce("0f" * 15)
