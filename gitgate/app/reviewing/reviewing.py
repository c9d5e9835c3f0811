"""A reviewer's session: what it shows, and the decision on exactly the request that it shows.

Gather, decide, apply, as often as the person likes; each time from the repository as it is then.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from gitgate.app.asking.expiring import record_expiry
from gitgate.app.deciding import deciding
from gitgate.app.deciding.deciding import Decided, Word, person_of_key
from gitgate.app.deciding.myself import myself
from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.app.reviewing.remembered import Memory
from gitgate.app.showing import listing, query
from gitgate.core import ids
from gitgate.core.decision import Action, Via
from gitgate.core.policy import Gate
from gitgate.core.quoting import path_bytes
from gitgate.core.request import Request
from gitgate.errors import GateError
from gitgate.git.trees import EXECUTABLE, REGULAR, SUBMODULE, SYMLINK
from gitgate.signing.sign import signer

_PATIENCE = 20.0
"""Seconds that a remote has to answer."""

LARGEST_READ = 512 << 10
"""Bytes of an artifact that are held to be shown."""

_BEGINNING = 64 << 10  # bytes that are read of a larger one


@dataclass(frozen=True)
class Desk:
    """One instance as it lies before the reviewer.

    `signed_with` and `person` are what a signature would say, `obstacle` why there would be none
    that counts.
    """

    policy: PolicyCommit
    gate: Gate
    loaded: Loaded
    request: Request
    document: Mapping[str, Any]
    signed_with: str
    person: str
    obstacle: str


def gather(world: World, policy: PolicyCommit, gate: Gate, subject: str) -> Desk:
    """The newest request of an instance. Raises GateError where it was never opened."""
    loaded = record_expiry(world, policy, world.load(policy, gate.id, subject))
    document = query.show(world, policy, loaded)
    request = loaded.ledger.requests[document["request"]]
    signed_with, person, obstacle = _signature(world, policy)
    return Desk(policy, gate, loaded, request, document, signed_with, person, obstacle)


def _signature(world: World, policy: PolicyCommit) -> tuple[str, str, str]:
    try:
        key = signer(world.repo.config, where=world.repo.work_tree)
        described = key.describe
    except GateError as error:
        return "", "", f"{error.message}: {error.hint}"
    try:
        return described, person_of_key(world, policy, key) or "", ""
    except GateError as error:
        return described, "", f"{error.message}: {error.hint}"


def waiting(world: World, policy: PolicyCommit) -> list[dict[str, Any]]:
    """The instances that wait, most urgent first: those that this person may decide, by deadline,
    then the oldest."""
    mine = myself(world, policy)
    found = listing.instances(world, policy, every=False)
    return sorted(
        found,
        key=lambda one: (
            not mine.intersection(one["waiting_for"]),
            one["deadline"] or "9",
            one["opened_at"],
        ),
    )


def moved(world: World, desk: Desk) -> Loaded | None:
    """The instance as it is now, where its newest request is another one than `desk` shows."""
    newest = world.load(desk.policy, desk.loaded.gate, desk.loaded.subject)
    return newest if newest.newest is None or newest.newest.id != desk.request.id else None


def signs_as_shown(world: World, desk: Desk) -> bool:
    """Whether a signature would still be by the key, and of the person, that `desk` shows."""
    return _signature(world, desk.policy) == (desk.signed_with, desk.person, desk.obstacle)


def fetch(world: World, gate: str, subject: str) -> bool:
    """Ask the remote for this instance's ledger before something is signed on it; whether it
    answered. Only what is known of the remote changes (design, section 2)."""
    if world.remote is None:
        return True
    name = ids.ledger_ref(gate, subject).removeprefix("refs/aiwg/")
    # With the star a ledger that the remote does not have is no error.
    spec = f"+refs/aiwg/{name}*:refs/gitgate/{world.remote}/{name}*"
    try:
        done = world.repo.git(
            *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap="),
            *("--no-recurse-submodules", "--", world.remote, spec),
            timeout=_PATIENCE,
        )
    except GateError:
        return False
    world.forget()
    return done.status == 0


def decide(world: World, desk: Desk, action: Action, words: str, memory: Memory) -> Decided:
    """Sign and store the decision on the request of `desk`, which has to be the newest in `world`.

    Raises what `deciding.decide` raises; GateError (stale) where a new iteration came first.
    """
    word = Word(
        action,
        words,
        expect=desk.request.work,
        key=desk.signed_with or None,
        via=Via.SESSION,
        time_spent=memory.seconds,
        reviewed=memory.reviewed(desk.request),
        comments=tuple(one.comment for one in memory.comments),
    )
    policy = world.policy()
    return deciding.decide(world, policy, desk.loaded.gate, desk.loaded.subject, word)


def content(world: World, desk: Desk, path: str) -> tuple[str, str, int, bytes, bool]:
    """An artifact of the work commit: `file`, `link`, `submodule` or `missing`, its object id and
    size, its bytes (the first ones beyond `LARGEST_READ`), and whether it is executable."""
    repo = world.repo
    try:
        entry = repo.entry(repo.commit(desk.request.work).tree, path_bytes(path))
        if entry is None:
            return "missing", "", 0, b"", False
        mode, oid = entry
        if mode == SUBMODULE:
            return "submodule", oid, 0, oid.encode(), False
        if mode not in (REGULAR, EXECUTABLE, SYMLINK):
            return "missing", oid, 0, b"", False
        header = repo.header(oid)
        data = repo.read_small(oid, LARGEST_READ)
        if data is None:
            data = _beginning(repo.pieces(oid))
    except (GateError, ValueError):
        return "missing", "", 0, b"", False
    size = header[1] if header else len(data)
    return ("link" if mode == SYMLINK else "file"), oid, size, data, mode == EXECUTABLE


def _beginning(pieces: Generator[bytes]) -> bytes:
    data = b""
    with closing(pieces):
        while len(data) < _BEGINNING and (piece := next(pieces, b"")):
            data += piece
    return data[:_BEGINNING]
