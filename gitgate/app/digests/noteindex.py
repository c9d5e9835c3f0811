"""Which records stand in which notes, remembered by the tree of the notes.

What a tree of notes holds never changes, so only what differs from the remembered tree is read. A
line of the index is a commit and, for each well-formed record in the note on it, the place of its
instance and its id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitgate.app.digests import digests
from gitgate.app.gather import noted
from gitgate.core import decision as codec
from gitgate.core.decision import Record
from gitgate.errors import GateError
from gitgate.git import notes, refs
from gitgate.git.repository import Repository

if TYPE_CHECKING:
    from gitgate.app.gather.noted import Noted

_TAG = "gate/"

_FEW = 50


@dataclass(frozen=True, slots=True)
class Source:
    """A tree of notes and, between two ends of lines, the lines of those that are to be looked for
    in it."""

    tree: str
    lines: bytes


class NoteIndex:
    """The notes of this clone, and those that its remote was seen to have and this clone lacks."""

    def __init__(self, repo: Repository, sources: Iterable[Source]) -> None:
        self._repo = repo
        self._sources = tuple(sources)

    def tokens(self) -> set[bytes]:
        """All records, each as the place of its instance, a colon and its id; and commits."""
        return {one for source in self._sources for one in source.lines.split()}

    def places(self, records: Set[str]) -> list[str]:
        """The places of the instances that these of the tokens are about, in the order of the
        notes."""
        found: dict[str, None] = {}
        for source in self._sources if records else ():
            lines: dict[str, list[str]] = {}
            for line in source.lines.decode("ascii").split("\n"):
                commit, *said = line.split(" ")
                if not records.isdisjoint(said):
                    lines[commit] = said
            for commit in self._in_order(source, lines):
                found.update((one[:-41], None) for one in lines[commit] if one in records)
        return list(found)

    def gates(self) -> set[str]:
        """The gates that records are about."""
        return {one.partition(b"/")[0].decode() for one in self.tokens() if b"/" in one}

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
        super().__init__(repo, [Source("", b"\n" + said.encode())])
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
        sources = [Source(first, _lines_of(repo, first))]
        for tree in further:
            differing = notes._differing(repo, tree, first)
            more = (_line(repo, tree, commit) for commit in differing)
            sources.append(Source(tree, b"\n" + b"".join(more)))
    except (GateError, _TooMany):
        return None
    return NoteIndex(repo, sources)


class _TooMany(Exception):  # noqa: N818 - never leaves this module
    """More notes than are ever read."""


def _lines_of(repo: Repository, tree: str) -> bytes:
    kept = digests.load(repo, digests.NOTED)
    before, lines = "", b"\n"
    if kept is not None and len(kept[0]) == 1:
        before, lines = kept[0][0].removeprefix("tree "), kept[1]
    if before == tree:
        return lines
    if before and repo.kind(before) == "tree":
        changed = {*notes._differing(repo, before, tree), *notes._differing(repo, tree, before)}
    else:
        cut: list[str] = []
        changed, lines = set(notes._all_places(repo, tree, cut)), b"\n"
        if cut:
            raise _TooMany
    lines = _without(lines, changed) + b"".join(_line(repo, tree, one) for one in changed)
    if len(changed) > lines.count(b"\n") // 1000:
        digests.save(repo, digests.NOTED, [f"tree {tree}"], [lines[1:]])
    return lines


def _without(lines: bytes, commits: Set[str]) -> bytes:
    """The lines but those of some commits."""
    if len(commits) > _FEW:
        kept = [line for line in lines.split(b"\n") if line[:40].decode("ascii") not in commits]
        return b"\n".join(kept)
    for commit in commits:
        at = lines.find(f"\n{commit} ".encode())
        if at >= 0:
            lines = lines[:at] + lines[lines.index(b"\n", at + 1) :]
    return lines


def _line(repo: Repository, tree: str, commit: str) -> bytes:
    """The line of a note; empty where it has no record."""
    said = [
        f"{record.decision.tag.removeprefix(_TAG)}:{record.id}"
        for _, record in _records(repo, tree, commit)
        if record is not None
    ]
    return f"{commit} {' '.join(said)}\n".encode() if said else b""


def _records(repo: Repository, tree: str, commit: str) -> Iterator[tuple[bytes, Record | None]]:
    """The pieces of a note, each with the record that it is."""
    content = notes._content(repo, commit, notes._places(repo, tree, commit).values(), None)
    for piece in codec.split_note(content):
        try:
            yield piece, codec.parse(piece)
        except codec.Defect:
            yield piece, None


def _commits_with(lines: bytes, place: str) -> list[str]:
    """The commits whose lines name a place."""
    found: dict[str, None] = {}
    needle = f" {place}:".encode()
    at = lines.find(needle)
    while at >= 0:
        start = lines.rfind(b"\n", 0, at) + 1
        found.setdefault(lines[start : start + 40].decode("ascii"))
        at = lines.find(needle, at + 1)
    return list(found)
