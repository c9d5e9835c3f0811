"""Notes that are pushed: their history goes on, no record that stood in a note is lost, and the
request of each new one is here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitgate.app.server.receivedpush import MAX_NEW_EVENTS, Objection, Push, Update
from gitgate.core import decision as codec
from gitgate.core import ids
from gitgate.core.decision import Record
from gitgate.core.trailers import parse_trailers
from gitgate.core.trust import SignatureStatus
from gitgate.errors import GateError
from gitgate.git import notes
from gitgate.git.known import SYNC
from gitgate.git.repository import Repository

_SHOWN = 3


def notes_objections(push: Push, update: Update) -> Iterator[Objection]:
    """Why the notes may not move so. Raises GateError where they cannot be read."""
    repo, old, new = push.world.repo, update.old, update.new
    if new is None:
        yield Objection(f"{update.ref} holds decisions and may not be deleted", SYNC)
        return
    if repo.kind(new) != "commit":
        yield Objection(f"{update.ref} would not be a commit of notes", SYNC)
        return
    if old is not None and not repo.is_ancestor(old, new):
        yield Objection(f"{update.ref} would lose its history: it only grows", SYNC)
        return
    before = repo.commit(old).tree if old else None
    after = repo.commit(new).tree
    if before == after:
        return
    yield from _lost_or_too_large(push, before, after)


def _lost_or_too_large(push: Push, before: str | None, after: str) -> Iterator[Objection]:
    cut: list[str] = []
    lost: list[str] = []
    new: list[Record] = []
    for commit, old, now in notes.differences(push.world.repo, before, after, cut):
        was, kept = ({piece.rstrip(b"\n") for piece in side} for side in (old, now))
        lost += [commit for piece in was - kept if _record(piece)]
        new += filter(None, map(_record, sorted(kept - was)))
    for sentence in cut[:_SHOWN]:
        yield Objection(sentence, "git notes --ref=aiwg/gates show COMMIT")
    if lost:
        named = ", ".join(commit[:12] for commit in sorted(set(lost))[:_SHOWN])
        count = "a decision" if len(lost) == 1 else f"{len(lost)} decisions"
        yield Objection(f"{count} would be lost from the notes on {named}", SYNC)
    yield from _without_request(push, new)


def _record(piece: bytes) -> Record | None:
    """The record that may count; what is none is nobody's loss."""
    try:
        return codec.parse(piece + b"\n")
    except codec.Defect:
        return None


def _without_request(push: Push, new: Sequence[Record]) -> Iterator[Objection]:
    """New records of which no ledger has the request: each would make its instance untrusted, and
    nobody could take it in."""
    asked: dict[str, frozenset[str]] = {}
    missing: list[Record] = []
    for record in new:
        place = record.decision.tag
        if place not in asked:
            asked[place] = frozenset(_requests(push, record))
        if record.decision.request not in asked[place] and not _is_junk(push, record):
            missing.append(record)
    for record in missing[:_SHOWN]:
        request = record.decision.request[:12]
        yield Objection(
            f"the notes have a record {record.id[:12]} ({record.decision.title}), and no ledger"
            f" here has its request {request}",
            f"push the ledger as well: {SYNC}",
        )
    if len(missing) > _SHOWN:
        yield Objection(f"and {len(missing) - _SHOWN} more")


def _is_junk(push: Push, record: Record) -> bool:
    if push.policy is None:
        return False
    return push.world.judged(push.policy, record).verification.status is SignatureStatus.BAD


def _requests(push: Push, record: Record) -> Iterator[str]:
    """The requests of the ledger that a record is of, as ref and journal are after the push."""
    repo = push.world.repo
    name = record.decision.tag.removeprefix("gate/")
    gate = name.partition("/")[0]
    tips = [push.after(ids.GATES + name)] if ids.is_ref(ids.GATES + name) else []
    subject = _subject(repo, record)
    if push.journal_after is not None and subject is not None:
        tips.append(push.journal_after.tip(gate, subject))
    for tip in filter(None, tips):
        commit, read = repo.commit(tip), 0
        while commit.parents and read < MAX_NEW_EVENTS:
            yield from commit.parents[1:2]
            commit, read = repo.commit(commit.parents[0]), read + 1


def _subject(repo: Repository, record: Record) -> str | None:
    """The subject of a record's instance: in full it stands in the request."""
    if repo.kind(record.decision.request) != "commit":
        return None
    try:
        said = dict(parse_trailers(repo.commit(record.decision.request).message))
        gate, subject = said["Gate"], said["Subject"]
        return subject if ids.tag_name(gate, subject) == record.decision.tag else None
    except (GateError, KeyError, ValueError):
        return None
