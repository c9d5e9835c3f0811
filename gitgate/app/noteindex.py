"""Which records stand in which notes, remembered by the tree of the notes.

What a tree of notes holds never changes, so only what differs from the remembered tree is read. A
line of the index is a commit and, for each well-formed record in the note on it, the place of its
instance and its id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitgate.app import digests, noted
from gitgate.core import decision as codec
from gitgate.core import ids
from gitgate.core.decision import Record
from gitgate.errors import GateError
from gitgate.git import notes, refs
from gitgate.git.repository import Repository

if TYPE_CHECKING:
    from gitgate.app.noted import Noted

_TAG = "gate/"


@dataclass(frozen=True, slots=True)
class Source:
    """A tree of notes and the lines of those that are to be looked for in it."""

    tree: str
    lines: str


class NoteIndex:
    """The notes of this clone, and those that its remote was seen to have and this clone lacks."""

    def __init__(self, repo: Repository, sources: Iterable[Source]) -> None:
        self._repo = repo
        self._sources = tuple(sources)

    def ids(self, gate: str) -> set[str]:
        """The ids of all records about instances of a gate."""
        prefix = f"{gate}/"
        return {
            one[-40:]
            for source in self._sources
            for one in source.lines.split()
            if one.startswith(prefix)
        }

    def places(self, gate: str, records: set[str]) -> list[str]:
        """The places of the instances of `gate` that these records are about, in the order of the
        notes."""
        found: dict[str, None] = {}
        for source in self._sources if records else ():
            there = [
                line.split(" ")
                for line in source.lines.split("\n")
                if not records.isdisjoint(one[-40:] for one in line.split(" ")[1:])
            ]
            lines = {commit: said for commit, *said in there}
            for commit in self._in_order(source, lines):
                for one in lines[commit]:
                    if one[-40:] in records and one.startswith(f"{gate}/"):
                        found.setdefault(one[:-41])
        return list(found)

    def gates(self) -> set[str]:
        """The gates that records are about."""
        return {
            one.partition("/")[0]
            for source in self._sources
            for one in source.lines.split()
            if "/" in one
        }

    def records(self, place: str) -> list[tuple[str, Record]]:
        """The records about an instance, each with the commit whose note has it."""
        found: list[tuple[str, Record]] = []
        seen: set[tuple[str, bytes]] = set()
        for source in self._sources:
            commits = _commits_with(source.lines, place)
            for commit in self._in_order(source, commits):
                for piece, record in _records(self._repo, source.tree, commit):
                    if (commit, piece) not in seen:
                        seen.add((commit, piece))
                        if record is not None and record.decision.tag == _TAG + place:
                            found.append((commit, record))
        return found

    def _in_order(self, source: Source, commits: Iterable[str]) -> list[str]:
        """Commits in the order in which all notes would be read: a folder's own notes, then the
        folders in it, the last one first."""

        def order(commit: str) -> tuple[tuple[int, int], ...]:
            found = notes._places(self._repo, source.tree, commit)
            return min(
                (*((1, -int(part, 16)) for part in folders), (0, int(name, 16)))
                for *folders, name in found
            )

        several = list(commits)
        return sorted(several, key=order) if len(several) > 1 else several


class FullIndex(NoteIndex):
    """The same where the notes are too many, or cannot be read: all of them in memory."""

    def __init__(self, repo: Repository, found: Noted) -> None:
        lines: dict[str, list[str]] = {}
        for tag, records in found.records.items():
            for commit, record in records:
                lines.setdefault(commit, []).append(f"{tag.removeprefix(_TAG)}:{record.id}")
        said = "".join(f"{commit} {' '.join(here)}\n" for commit, here in lines.items())
        super().__init__(repo, [Source("", said)])
        self._found = found

    def records(self, place: str) -> list[tuple[str, Record]]:
        return self._found.records.get(_TAG + place, [])

    def _in_order(self, source: Source, commits: Iterable[str]) -> list[str]:
        return list(commits)


def read(repo: Repository, remote: str | None) -> NoteIndex | None:
    """The index of the notes as they are now; None where all of them have to be read."""
    names = noted.sources(repo, remote)
    tips = [tip for tip in (refs.read(repo, name) for name in names) if tip is not None]
    try:
        trees = [repo.commit(tip).tree for tip in tips]
        if not trees:
            return NoteIndex(repo, ())
        first, *further = trees
        lines = _lines_of(repo, first)
        sources = [Source(first, "".join(lines.values()))]
        for tree in further:
            differing = notes._differing(repo, tree, first)
            more = (_line(repo, tree, commit) for commit in differing)
            sources.append(Source(tree, "".join(more)))
    except (GateError, _TooMany):
        return None
    return NoteIndex(repo, sources)


class _TooMany(Exception):  # noqa: N818 - never leaves this module
    """More notes than are ever read."""


def _lines_of(repo: Repository, tree: str) -> dict[str, str]:
    kept = digests.load(repo, digests.NOTED)
    before, lines = "", {}
    if kept is not None and len(kept[0]) == 1 and kept[0][0].startswith("tree "):
        before = kept[0][0].removeprefix("tree ")
        if before == tree:
            return {"": kept[1]}
        lines = {line[:40]: f"{line}\n" for line in kept[1].split("\n") if line}
    if not lines or repo.kind(before) != "tree":
        lines = {}
        cut: list[str] = []
        changed = set(notes._all_places(repo, tree, cut))
        if cut:
            raise _TooMany
    else:
        changed = {*notes._differing(repo, before, tree), *notes._differing(repo, tree, before)}
    for commit in changed:
        lines[commit] = _line(repo, tree, commit)
    if len(changed) > len(lines) // 1000:
        digests.save(repo, digests.NOTED, [f"tree {tree}"], "".join(lines.values()))
    return lines


def _line(repo: Repository, tree: str, commit: str) -> str:
    """The line of a note; empty where it has no record."""
    said = [
        f"{record.decision.tag.removeprefix(_TAG)}:{record.id}"
        for _, record in _records(repo, tree, commit)
        if record is not None and ids.is_tag_name(record.decision.tag)
    ]
    return f"{commit} {' '.join(said)}\n" if said else ""


def _records(
    repo: Repository, tree: str, commit: str
) -> Iterator[tuple[bytes, Record | None]]:
    """The pieces of a note, each with the record that it is."""
    content = notes._content(repo, commit, notes._places(repo, tree, commit).values(), None)
    for piece in codec.split_note(content):
        try:
            yield piece, codec.parse(piece)
        except codec.Defect:
            yield piece, None


def _commits_with(lines: str, place: str) -> list[str]:
    """The commits whose lines name a place."""
    found: dict[str, None] = {}
    at = lines.find(f" {place}:")
    while at >= 0:
        start = lines.rfind("\n", 0, at) + 1
        found.setdefault(lines[start : start + 40])
        at = lines.find(f" {place}:", at + 1)
    return list(found)
