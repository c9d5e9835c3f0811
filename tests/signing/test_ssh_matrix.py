"""Every signature that counts here, ssh-keygen accepts; where it accepts more, we say why not."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import signlab
from signlab import Keygen, SoftKey, armor, armor_text, pack, sshsig

from gitgate.core.trust import SignatureStatus, parse_signers
from gitgate.signing import ssh

PAYLOAD = b"object 1234\n\nApprove elaboration of feature/login\n"
NOW = 1_764_565_200  # 2025-12-01T05:00:00Z
ADA = "ada@example.com"

KEYS: dict[str, Callable[[], SoftKey]] = {
    "ed25519": signlab.ed25519_key,
    "ecdsa-256": lambda: signlab.ecdsa_key("nistp256"),
    "ecdsa-384": lambda: signlab.ecdsa_key("nistp384"),
    "ecdsa-521": lambda: signlab.ecdsa_key("nistp521"),
    "rsa-2048": lambda: signlab.rsa_key(2048),
    "rsa-3072": lambda: signlab.rsa_key(3072, "rsa-sha2-256"),
    "rsa-1024": lambda: signlab.rsa_key(1024),
    "rsa-sha1": lambda: signlab.rsa_key(2048, "ssh-rsa"),
    "dsa": signlab.dsa_key,
    "sk-ed25519": lambda: signlab.hardware_key("ed25519"),
    "sk-ecdsa": lambda: signlab.hardware_key("ecdsa"),
}

# What ssh-keygen accepts and we do not, by the name of the case. docs/adr/0003 explains each.
STRICTER = {
    "appended-text": "text after the armor is outside of what was signed",
    "second-armor": "one record, one signature",
    "rewrapped-64": "one encoding only, or one decision has many ids",
    "rewrapped-76": "one encoding only, or one decision has many ids",
    "one-line": "one encoding only, or one decision has many ids",
    "blank-line": "one encoding only, or one decision has many ids",
    "no-final-newline": "one encoding only, or one decision has many ids",
    "version-0": "there is no version 0",
    "reserved-used": "the field is not signed: anybody can write into it",
    "order-added": "one signature has one form: ed25519's scalar is below the group's order",
    "padded-number": "one signature has one form: numbers are not padded",
    "leading-zeros-dropped": "one signature has one form: RSA's is as long as the key",
    "webauthn": "what a web page had signed is no answer given here",
    "wildcard": "a pattern names nobody",
    "wildcard-domain": "a pattern names nobody",
    "wildcard-beside-other": "a pattern names nobody",
    "two-people": "a key of two people says nothing about who signed",
    "february-30": "a day that does not exist is a mistake, not the 1st of March",
    "edge-blank-options": "an empty option is a mistake",
}
# Key types whose signatures never count.
REFUSED = {
    "rsa-1024": "RSA keys below 2048 bits",
    "rsa-sha1": "SHA-1 (ssh-keygen refuses it too)",
    "dsa": "DSA, which has 1024 bits and SHA-1",
}


@dataclass(frozen=True)
class Case:
    name: str
    armor: bytes
    signers: bytes
    payload: bytes = PAYLOAD
    asked: str = ADA
    times: tuple[int, ...] = (NOW,)


def spoiled_signatures(key: SoftKey) -> Iterator[Case]:
    signers = f"{ADA} {key.line}\n".encode()
    blob = sshsig(key, PAYLOAD)
    good = armor(blob)

    def case(name: str, signature: bytes, payload: bytes = PAYLOAD) -> Case:
        return Case(name, signature, signers, payload)

    yield case("good", good)
    yield case("sha256", armor(sshsig(key, PAYLOAD, hash_name="sha256")))
    yield case("sha384", armor(sshsig(key, PAYLOAD, hash_name="sha384")))
    yield case("sha1", armor(sshsig(key, PAYLOAD, hash_name="sha1")))
    yield case("other-message", good, PAYLOAD + b"!")
    yield case("empty-message", good, b"")
    yield case("other-namespace", armor(sshsig(key, PAYLOAD, namespace=b"file")))
    yield case("empty-namespace", armor(sshsig(key, PAYLOAD, namespace=b"")))
    yield case("version-0", armor(sshsig(key, PAYLOAD, version=0)))
    yield case("version-2", armor(sshsig(key, PAYLOAD, version=2)))
    yield case("reserved-used", armor(sshsig(key, PAYLOAD, reserved=b"x")))
    yield case("truncated", good[: len(good) // 2])
    yield case("truncated-blob", armor(blob[:-5]))
    yield case("appended-text", good + b"Action: approve\n")
    yield case("second-armor", good + good)
    yield case("crlf", good.replace(b"\n", b"\r\n"))
    yield case("rewrapped-64", armor(blob, 64))
    yield case("rewrapped-76", armor(blob, 76))
    yield case("one-line", armor(blob, 100_000))
    yield case("blank-line", good.replace(b"\n", b"\n\n", 1))
    yield case("no-final-newline", good.removesuffix(b"\n"))
    yield case("text-before", b"x\n" + good)
    yield case("no-armor", b"")
    yield case("junk-after-blob", armor(blob + b"\0"))
    yield case("junk-in-signature", armor(sshsig(key, PAYLOAD, inner=lambda v: v + b"\0")))
    yield case("junk-in-key", armor(blob.replace(pack(key.blob), pack(key.blob + b"\0"), 1)))
    text = base64.b64encode(blob)
    if text.endswith(b"="):
        yield case("loose-bits", armor_text(_with_loose_bits(text)))
        yield case("no-padding", armor_text(text.rstrip(b"=")))
    other = b"ssh-ed25519" if key.key_type != "ssh-ed25519" else b"rsa-sha2-512"

    def renamed(value: bytes) -> bytes:
        _name, signature, more = signlab.inner_fields(value)
        return pack(other, signature) + more

    yield case("other-algorithm", armor(sshsig(key, PAYLOAD, inner=renamed)))
    yield from other_forms(key, signers)


def other_forms(key: SoftKey, signers: bytes) -> Iterator[Case]:
    """The same signature in another form that some verifiers take, by the kind of key."""
    payload = PAYLOAD
    changes: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
        "ed25519": ("order-added", signlab.with_order_added),
        "ecdsa": ("padded-number", signlab.with_padded_number),
        "rsa": ("leading-zeros-dropped", signlab.without_leading_zeros),
    }
    for kind, (name, change) in changes.items():
        if kind not in key.key_type or len(key.blob) > 300:
            continue
        while kind == "rsa" and sshsig(key, payload) == sshsig(key, payload, inner=change):
            payload += b"."
        yield Case(name, armor(sshsig(key, payload, inner=change)), signers, payload)
    if key.sign_in_browser is not None:
        blob = sshsig(key, PAYLOAD, sign=key.sign_in_browser)
        yield Case("webauthn", armor(blob), signers)


def _with_loose_bits(text: bytes) -> bytes:
    """Base64 whose last letter has bits that a lax decoder drops."""
    letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    body = text.rstrip(b"=")
    last = letters[letters.index(body[-1]) + 1]
    return body[:-1] + bytes([last]) + text[len(body) :]


def listings(key: SoftKey) -> Iterator[Case]:
    signature = armor(sshsig(key, PAYLOAD))
    line = key.line
    other = signlab.ed25519_key().line

    def case(name: str, text: str, asked: str = ADA, times: tuple[int, ...] = (NOW,)) -> Case:
        return Case(name, signature, text.encode(), PAYLOAD, asked, times)

    window = 'valid-after="20251201045959Z",valid-before="20251201050001Z"'
    yield case("absent", f"{ADA} {other}\n")
    yield case("empty-file", "")
    yield case("expired", f'{ADA} valid-before="20251130Z" {line}\n')
    yield case("not-yet", f'{ADA} valid-after="20251202Z" {line}\n')
    yield case("in-window", f"{ADA} {window} {line}\n")
    yield case("last-second", f"{ADA} {window} {line}\n", times=(NOW + 1, NOW - 1))
    yield case("second-after", f"{ADA} {window} {line}\n", times=(NOW + 2,))
    yield case("second-before", f"{ADA} {window} {line}\n", times=(NOW - 2,))
    yield case("one-time-outside", f"{ADA} {window} {line}\n", times=(NOW, NOW + 86_400))
    yield case("no-z", f'{ADA} valid-after="20251201050000" {line}\n', times=(NOW,))
    yield case("no-z-too-early", f'{ADA} valid-after="202512010501" {line}\n')
    yield case("date-only", f'{ADA} valid-before="20251201" {line}\n')
    yield case("february-30", f'{ADA} valid-after="20240230Z" {line}\n')
    yield case("not-a-time", f'{ADA} valid-after="2020010",valid-before="2030" {line}\n')
    yield case(
        "window-reversed", f'{ADA} valid-after="20300101Z",valid-before="20200101Z" {line}\n'
    )
    yield case("two-windows", f'{ADA} valid-before="2020" {line}\n{ADA} {window} {line}\n')
    yield case("window-twice", f'{ADA} valid-after="20200101",valid-after="20210101" {line}\n')
    yield case("namespaces", f'{ADA} namespaces="git" {line}\n')
    yield case("namespaces-capitals", f'{ADA} NameSpaces="file,git" {line}\n')
    yield case("namespaces-other", f'{ADA} namespaces="file" {line}\n')
    yield case("namespaces-pattern", f'{ADA} namespaces="g?t*" {line}\n')
    yield case("namespaces-not", f'{ADA} namespaces="*,!git" {line}\n')
    yield case("namespaces-bare", f"{ADA} namespaces=git {line}\n")
    yield case("unknown-option", f'{ADA} no-touch-required,namespaces="git" {line}\n')
    yield case("edge-blank-options", f'{ADA} ,namespaces="git" {line}\n')
    yield case("cert-authority", f"{ADA} cert-authority {line}\n")
    yield case("upper-case", f"{ADA.upper()} {line}\n")
    yield case("upper-case-asked", f"{ADA} {line}\n", asked=ADA.upper())
    yield case("further-address", f"{ADA},ada@home.org {line}\n", asked="ada@home.org")
    yield case("quoted", f'"{ADA},ada@home.org" {line}\n')
    yield case("wildcard", f"* {line}\n")
    yield case("wildcard-domain", f"*@example.com {line}\n")
    yield case("wildcard-beside", f"{ADA},* {line}\n")
    yield case("wildcard-beside-other", f"{ADA},* {line}\n", asked="bob@example.com")
    yield case("taken-back", f"{ADA},!ada@* {line}\n")
    yield case("negated-only", f"!bob@example.com {line}\n")
    yield case("two-people", f"{ADA} {line}\nbob@example.com {line}\n")
    yield case("twice-one-person", f"{ADA} {line}\n{ADA},ada@home.org {line}\n")
    yield case("bob", f"bob@example.com {line}\n")
    yield case("comment", f"# people\n\n  \t# more\n\t{ADA}\t {line} ada's key # old\n")
    yield case("crlf-file", f"# people\r\n\r\n{ADA} {line}\r\n")
    yield case("no-newline", f"{ADA} {line}")
    yield case("after-defects", f'nonsense\n"{ADA}\n{ADA} x\n{ADA} {other[:-4]}\n{ADA} {line}\n')
    yield case("broken-base64", f"{ADA} {line[:-5]}*****\n")
    yield case("other-type", f"{ADA} ssh-xyz {line.split()[1]}\n")


def accepted(case: Case) -> bool:
    """Whether the signature counts as one of the principal who is asked for."""
    signers = parse_signers(case.signers)
    found = ssh.verify(case.payload, case.armor, signers, case.signers, times=case.times)
    assert found.reason
    if found.status is not SignatureStatus.GOOD:
        return False
    lines = [line for line in signers.entries if signers.person(line) == found.principal]
    return any(case.asked in line.literals for line in lines)


CASES = [(spoiled_signatures, name) for name in KEYS] + [
    (listings, name) for name in ("ed25519", "ecdsa-521", "rsa-2048", "sk-ecdsa", "dsa")
]


@pytest.mark.parametrize(("part", "name"), CASES)
def test_agrees_with_ssh_keygen(
    part: Callable[[SoftKey], Iterator[Case]], name: str, tmp_path: Path
) -> None:
    keygen = Keygen(tmp_path)
    cases = list(part(KEYS[name]()))
    ours = {case.name for case in cases if accepted(case)}
    theirs = {
        case.name
        for case in cases
        if keygen.accepts(case.asked, case.payload, case.armor, case.signers, case.times)
    }
    assert ours <= theirs
    if name in REFUSED:
        assert ours == set()
    else:
        assert theirs - ours == STRICTER.keys() & {case.name for case in cases}
        assert ours


def test_the_matrix_is_large_and_has_each_stated_difference() -> None:
    names = [case.name for part, name in CASES for case in part(KEYS[name]())]
    assert len(names) >= 500
    assert STRICTER.keys() <= set(names)
