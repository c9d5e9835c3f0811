"""Gates, people, requests and records as plain values, for tests of the verdict without git."""

from __future__ import annotations

import base64
import hashlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gitgate.core.authors import Author
from gitgate.core.decision import Action, Decision, Via, title_of
from gitgate.core.people import People
from gitgate.core.person import Person, Stamp
from gitgate.core.policy import Gate, Policy
from gitgate.core.policyreader import parse_policy
from gitgate.core.request import Kind, Request
from gitgate.core.trust import SignatureStatus, Signers, Verification, parse_signers
from gitgate.core.verdict import Judged, Verdict, judge

OPENED = 1_764_565_200
HOUR = 3600

PEOPLE = ("ada@example.com", "bob@example.com", "cyd@example.com")
_NAMES = {"ada": "Ada Lovelace", "bob": "Bob Babbage", "cyd": "Cyd Charisse"}


def oid(word: str) -> str:
    """An object id that a word stands for."""
    return hashlib.sha1(word.encode(), usedforsecurity=False).hexdigest()


def public_key(name: str) -> str:
    """A well-formed ed25519 public key that nobody has the private half of."""
    kind, raw = b"ssh-ed25519", hashlib.sha256(name.encode()).digest()
    blob = struct.pack(">I", len(kind)) + kind + struct.pack(">I", len(raw)) + raw
    return f"ssh-ed25519 {base64.b64encode(blob).decode()}"


def signers(*lines: str) -> Signers:
    """A signers file with a line each: `principals`, separated by commas."""
    text = "".join(f'{line} namespaces="git" {public_key(line)}\n' for line in lines)
    found = parse_signers(text.encode())
    assert not found.defects, found.defects
    return found


def policy(gate: str = "", more: str = "") -> Policy:
    """A policy with the gate `main`; `gate` are lines of it, `more` lines of `human_gates`."""

    def block(text: str, depth: int) -> str:
        return "".join(f"{' ' * depth}{line}\n" for line in text.splitlines() if line.strip())

    text = (
        "human_gates:\n  gates:\n    main:\n      guards: [refs/heads/main]\n"
        f"{block(gate, 6)}{block(more, 2)}  defaults: {{timeout_minutes: 0}}\n"
    )
    found = parse_policy(text.encode())
    assert found is not None
    return found


def identity(who: str) -> Person:
    """`ada` is Ada Lovelace; an address is a stranger of that address."""
    return Person(_NAMES[who], f"{who}@example.com") if who in _NAMES else Person("Someone", who)


def author(who: str, role: str = "wrote 1a2b3c4d5e6f", signer: str | None = None) -> Author:
    return Author(identity(who), role, signer)


class Case:
    """One request under one policy, and what is signed about it."""

    def __init__(
        self,
        gate: str = "",
        more: str = "",
        *,
        lines: Sequence[str] = PEOPLE,
        opener: str = "agent@example.com",
        authors: Iterable[Author] = (),
    ) -> None:
        self.policy = policy(gate, more)
        self.people = People(self.policy, signers(*lines))
        self.authors = tuple(authors)
        self.request = request("r1", opener)

    @property
    def gate(self) -> Gate:
        return self.policy.gates["main"]

    def judge(self, *records: Judged, now: int = OPENED + 60) -> Verdict:
        return judge(self.people, self.gate, self.request, records, self.authors, now)


def request(name: str, opener: str = "agent@example.com") -> Request:
    return Request(
        id=oid(name),
        kind=Kind.APPROVAL,
        gate="main",
        subject="feature",
        target="refs/heads/main",
        base=oid("base"),
        work=oid("work"),
        tip=oid("base"),
        policy=oid("policy"),
        agent=None,
        nonce="0" * 32,
        opened=Stamp(identity(opener), OPENED),
        title="Main",
        summary="",
        deliverables=(),
        next_steps=(),
    )


def record(
    who: str,
    action: Action | str,
    message: str = "",
    *,
    about: str = "r1",
    previous: Iterable[Judged] = (),
    at: int = OPENED + 30,
    status: SignatureStatus = SignatureStatus.GOOD,
    touch: bool = False,
    salt: str = "",
) -> Judged:
    """What `who` signed about the request `about`; `salt` makes another signature of the same."""
    action = Action(action)
    decision = Decision(
        request=oid(about),
        tag="gate/main/feature",
        tagger=Stamp(identity(who), at),
        action=action,
        title=title_of(action, "main", "feature"),
        message=message,
        via=Via.TERMINAL,
        previous=tuple(sorted(one.id for one in previous)),
    )
    payload = repr(decision).encode()
    good = status is SignatureStatus.GOOD
    checked = Verification(
        status,
        identity(who).email if good else None,
        touch=touch,
        reason="" if good else f"the signature is {status}",
    )
    return Judged(oid(f"{payload!r}{salt}"), payload, decision, checked)


def junk(of: Judged) -> Judged:
    """The same words under a signature that is nobody's."""
    checked = Verification(SignatureStatus.UNKNOWN_KEY, reason="nobody listed the key")
    return replace(of, id=oid(of.id), verification=checked)
