"""Requests, records and events for the tests of ledgers and notes."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from gitworld import ADA, STAMP, WHEN, commit, make

from gitgate.core import ids
from gitgate.core.events import Event, EventName
from gitgate.core.request import Deliverable, Kind, Request
from gitgate.git.ledger import Draft, Ledger, append, read
from gitgate.git.repository import Repository

GATE, SUBJECT = "elaboration", "feature/Login"
REF = ids.ledger_ref(GATE, SUBJECT)
FOLDER = f".aiwg/gates/{GATE}"


def world(folder: Path) -> Repository:
    """A repository with a base commit and a work commit on top."""
    make(folder)
    commit(folder, "work", f="work\n", g="new\n")
    return Repository.open(folder)


def ask(
    repo: Repository, *, number: int = 1, subject: str = SUBJECT, base: str = "HEAD~1"
) -> Request:
    """A request about HEAD; another `number` makes it another object."""
    return Request(
        id="",
        kind=Kind.APPROVAL,
        gate=GATE,
        subject=subject,
        target="refs/heads/main",
        base=repo.resolve(base),
        work=repo.resolve("HEAD"),
        tip=repo.resolve("HEAD~1"),
        policy=repo.resolve("HEAD~1"),
        agent=None,
        nonce=f"{number:032x}",
        opened=STAMP,
        title="Lifecycle Architecture",
        deliverables=(Deliverable(b"g", repo.git("rev-parse", "HEAD:g").text, "new"),),
    )


def record(request: str, text: str = "Fine.", *, subject: str = SUBJECT) -> bytes:
    """A record in its form, with an armor that no key made."""
    blob = base64.b64encode(b"SSHSIG" + hashlib.sha512(text.encode()).digest() * 4).decode()
    lines = [blob[at : at + 70] for at in range(0, len(blob), 70)]
    armor = ["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""]
    head = (
        f"object {request}\ntype commit\ntag {ids.tag_name(GATE, subject)}\n"
        f"tagger {ADA} {WHEN} +0000\n\nApprove {GATE} of {subject}\n\n{text}\n\n"
        "Action: approve\nVia: terminal\n"
    )
    return head.encode() + "\n".join(armor).encode()


def event(name: EventName, request: str | None = None, **fields: object) -> Event:
    return Event("", 0, name, WHEN, ADA, request, fields=fields)


def opened(repo: Repository, *, number: int = 1, name: EventName = EventName.OPENED) -> Draft:
    return Draft(event(name), 1, "open", request=ask(repo, number=number))


def decided(request: str, text: str = "Fine.", data: tuple[bytes, ...] = ()) -> Draft:
    return Draft(
        event(EventName.DECIDED, request), 1, "approved", None, record(request, text), data
    )


def add(repo: Repository, draft: Draft, subject: str = SUBJECT) -> Ledger:
    return append(repo, GATE, subject, lambda ledger: draft, stamp=STAMP)


def decide(repo: Repository, text: str = "Fine.", data: tuple[bytes, ...] = ()) -> Ledger:
    """Append a decision about the newest request."""
    newest = read(repo, GATE, SUBJECT).newest
    assert newest
    return add(repo, decided(newest.id, text, data))
