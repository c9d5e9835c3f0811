"""One entrance for every kind of signature, for decisions and for commits."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import signlab
from signlab import armor, sshsig
from support.gpglab import Gnupg

from gitgate.core import decision
from gitgate.core.decision import Action, Decision, Via
from gitgate.core.person import Person, Stamp
from gitgate.core.trust import SignatureStatus, parse_signers
from gitgate.signing.verify import Trust, verify, verify_signature

NOW = int(time.time()) + 3600
ADA = "ada@example.com"
KEY = signlab.ed25519_key()
SIGNERS = f"Ada@Example.com,ada@home.org {KEY.line}\n".encode()


def trust(config: dict[str, str] | None = None, **fingerprints: dict[str, list[str]]) -> Trust:
    return Trust(
        parse_signers(SIGNERS),
        SIGNERS,
        fingerprints.get("openpgp", {}),
        fingerprints.get("x509", {}),
        config or {},
    )


def a_decision() -> Decision:
    return Decision(
        request="1" * 40,
        tag="gate/elaboration/feature%2flogin",
        tagger=Stamp(Person("Ada Lovelace", ADA), NOW, "+0000"),
        action=Action.APPROVE,
        title=decision.title_of(Action.APPROVE, "elaboration", "feature/login"),
        message="",
        via=Via.TERMINAL,
        time_spent=None,
        on_behalf_of=None,
        reviewed=(),
        comments=(),
        choices=(),
        data=(),
        previous=(),
    )


@pytest.fixture
def gnupg(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gnupg]:
    made = Gnupg()
    monkeypatch.setenv("GNUPGHOME", str(made.home))
    yield made
    made.close()


def test_a_record_by_ssh() -> None:
    payload = decision.payload(a_decision())
    record = decision.parse(decision.assemble(payload, armor(sshsig(KEY, payload))))
    found = verify(record, trust(), times=(NOW,))
    assert (found.status, found.principal) == (SignatureStatus.GOOD, "Ada@Example.com")
    assert verify(record, trust(), times=(1,)).status is SignatureStatus.GOOD


def test_a_record_by_openpgp_is_the_same_person(gnupg: Gnupg) -> None:
    key = gnupg.make("ada")
    payload = decision.payload(a_decision())
    record = decision.parse(decision.assemble(payload, gnupg.sign(payload, key)))
    for listed, person in (
        ("ADA@home.org", "Ada@Example.com"),
        ("eve@example.com", "eve@example.com"),
    ):
        found = verify(record, trust(openpgp={listed: [key]}), times=(NOW,))
        assert (found.status, found.principal) == (SignatureStatus.GOOD, person)
    assert verify(record, trust(x509={ADA: [key]}), times=(NOW,)).status == "unknown-key"
    missing = trust({"gpg.program": "no-such-gpg"}, openpgp={ADA: [key]})
    assert verify(record, missing, times=(NOW,)).status is SignatureStatus.UNVERIFIABLE


def test_a_commit_is_unsigned_or_ends_without_a_newline() -> None:
    payload = b"tree 1\n\nx\n"
    signed = armor(sshsig(KEY, payload))
    assert verify_signature(payload, b"", trust(), times=(NOW,)).status == "unsigned"
    for each in (signed, signed.removesuffix(b"\n")):
        assert verify_signature(payload, each, trust(), times=(NOW,)).status == "good"
    for junk in (b"x", b"\n", b"-----BEGIN PGP MESSAGE-----\n", b"-----BEGIN SIGNED MESSAGE-----"):
        listed = trust(openpgp={ADA: ["A" * 40]}, x509={ADA: ["A" * 40]})
        assert verify_signature(payload, junk, listed, times=(NOW,)).status == "bad"
