"""Notes that are pushed: their history goes on, and no record that stood in a note is lost."""

from __future__ import annotations

from collections.abc import Iterator

from gitgate.app.server.receivedpush import Objection, Update
from gitgate.core import decision as codec
from gitgate.git import notes
from gitgate.git.known import SYNC
from gitgate.git.repository import Repository

_SHOWN = 3


def notes_objections(repo: Repository, update: Update) -> Iterator[Objection]:
    """Why the notes may not move so. Raises GateError where they cannot be read."""
    old, new = update.old, update.new
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
    yield from _lost_or_too_large(repo, before, after)


def _lost_or_too_large(repo: Repository, before: str | None, after: str) -> Iterator[Objection]:
    cut: list[str] = []
    lost: list[str] = []
    for commit, old, new in notes.differences(repo, before, after, cut):
        kept = {piece.rstrip(b"\n") for piece in new}
        gone = {piece.rstrip(b"\n") for piece in old} - kept
        lost += [commit for piece in gone if _is_record(piece)]
    for sentence in cut[:_SHOWN]:
        yield Objection(sentence, "git notes --ref=aiwg/gates show COMMIT")
    if lost:
        named = ", ".join(commit[:12] for commit in sorted(set(lost))[:_SHOWN])
        count = "a decision" if len(lost) == 1 else f"{len(lost)} decisions"
        yield Objection(f"{count} would be lost from the notes on {named}", SYNC)


def _is_record(piece: bytes) -> bool:
    """Whether it may count: what is no record is nobody's loss."""
    try:
        codec.parse(piece + b"\n")
    except codec.Defect:
        return False
    return True
