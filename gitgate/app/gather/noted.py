"""The records that stand in notes, read once: by what they decide, and what is no record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gitgate.core import decision as codec
from gitgate.core import ids
from gitgate.core.decision import Record
from gitgate.git import notes, refs
from gitgate.git.known import tracking_ref
from gitgate.git.repository import Repository

_MAX_JUNK = 1_000


@dataclass(frozen=True, slots=True)
class Noted:
    """What the notes hold; commits are those that the notes are on.

    `records` are well-formed, by their tags; `junk` is what is no record, with the reason; `cut`
    says what was left out because it is too large.
    """

    records: Mapping[str, list[tuple[str, Record]]]
    junk: tuple[tuple[str, str], ...]
    cut: tuple[str, ...]


def read(repo: Repository, remote: str | None) -> Noted:
    """Read all notes, and those that `remote` was seen to have and this clone lacks.

    Raises GateError (untrusted) where they cannot be read: nobody knows then what stands in them.
    """
    records: dict[str, list[tuple[str, Record]]] = {}
    junk: list[tuple[str, str]] = []
    cut: list[str] = []
    seen: set[tuple[str, bytes]] = set()
    for ref in sources(repo, remote):
        for commit, data in notes.every(repo, cut, ref):
            for piece in codec.split_note(data):
                if (commit, piece) in seen:
                    continue
                seen.add((commit, piece))
                try:
                    record = codec.parse(piece)
                except codec.Defect as defect:
                    junk += [(commit, str(defect))] if len(junk) < _MAX_JUNK else []
                    continue
                records.setdefault(record.decision.tag, []).append((commit, record))
    return Noted(records, tuple(junk), tuple(cut))


def sources(repo: Repository, remote: str | None) -> list[str]:
    """The notes refs to read: the remote's only where it has what this clone lacks."""
    if remote is None:
        return [ids.NOTES]
    there = tracking_ref(remote, ids.NOTES)
    own, theirs = refs.read(repo, ids.NOTES), refs.read(repo, there)
    if theirs is None or (own is not None and repo.is_ancestor(theirs, own)):
        return [ids.NOTES]
    return [ids.NOTES, there]
