"""The landing rule's trees and histories without a repository.

A tree is a mapping of paths to texts; `(mode, text)` gives another mode. The object id of a file
is its text, and contents are merged line by line where all three have as many lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gitgate.core.landing import (
    Absent,
    Candidate,
    Entry,
    Reviewed,
    Rule,
    Step,
    Value,
    Walk,
    WholeMerge,
    walk,
)
from gitgate.core.merging import Malformed
from gitgate.errors import Exit

REGULAR, EXECUTABLE, SYMLINK, SUBMODULE = 0o100644, 0o100755, 0o120000, 0o160000

Files = Mapping[str, str | tuple[int, str]]


class MemoryTrees:
    """`whole` holds git's answers by (base, ours, theirs); `asked` those that were wanted."""

    def __init__(self) -> None:
        self.known: dict[str, dict[bytes, Entry]] = {}
        self.whole: dict[tuple[str, str, str], WholeMerge] = {}
        self.old_git = False
        self.asked: list[tuple[str, str, str]] = []

    def tree(self, files: Files) -> str:
        entries = {
            path.encode(): Entry(*((REGULAR, value) if isinstance(value, str) else value))
            for path, value in files.items()
        }
        name = repr(sorted(entries.items()))
        self.known[name] = entries
        return name

    def changes(self, old: str, new: str) -> dict[bytes, tuple[Value, Value]]:
        before, after = self._read(old), self._read(new)
        return {
            path: (before.get(path), after.get(path))
            for path in before.keys() | after.keys()
            if before.get(path) != after.get(path)
        }

    def entry(self, tree: str, path: bytes) -> Value:
        return self._read(tree).get(path)

    def folder(self, tree: str, path: bytes) -> bool:
        return bool(self.files(tree, path))

    def files(self, tree: str, folder: bytes) -> dict[bytes, Entry]:
        below = folder + b"/"
        return {path: one for path, one in self._read(tree).items() if path.startswith(below)}

    def merge_files(self, sides: Mapping[bytes, tuple[Entry, Entry, Entry]]) -> dict[bytes, str]:
        found: dict[bytes, str] = {}
        for path, entries in sides.items():
            texts = [entry.oid.split("\n") for entry in entries]
            if len({len(lines) for lines in texts}) != 1:
                continue
            lines = [_line(*three) for three in zip(*texts, strict=True)]
            if None not in lines:
                found[path] = "\n".join(line for line in lines if line is not None)
        return found

    def merge_whole(self, base: str, ours: str, theirs: str) -> WholeMerge | None:
        self.asked.append((base, ours, theirs))
        if self.old_git:
            return None
        everything = frozenset(self._read(base) | self._read(ours) | self._read(theirs))
        return self.whole.get((base, ours, theirs), WholeMerge(ours, everything))

    def _read(self, tree: str) -> dict[bytes, Entry]:
        if tree not in self.known:
            raise Malformed(Exit.UNTRUSTED, f"tree {tree} is malformed: it is not there")
        return self.known[tree]


def _line(base: str, ours: str, theirs: str) -> str | None:
    if theirs in (base, ours):
        return ours
    return theirs if ours == base else None


class Lab:
    """A target's history, requests, and the walk over what is pushed."""

    def __init__(self) -> None:
        self.trees = MemoryTrees()
        self.past: list[Step] = []
        self.commits: dict[str, Sequence[Reviewed]] = {}
        self.absent: set[str] = set()

    def tree(self, files: Files) -> str:
        return self.trees.tree(files)

    def chain(self, *states: Files | str) -> list[Step]:
        """Commits c0, c1 and so on with these trees."""
        trees = (state if isinstance(state, str) else self.tree(state) for state in states)
        return [Step(f"c{number}", tree) for number, tree in enumerate(trees)]

    def request(
        self,
        name: str,
        base: Files,
        *works: Files,
        tip: str | None = "c0",
        bases: Sequence[Files] = (),
    ) -> Candidate:
        """A request for the last of `works`, the commits of B..W; `bases` are merge bases."""
        start = self.tree(base)
        merge_bases = (start, *map(self.tree, bases))
        self.commits[name] = [Reviewed(merge_bases, self.tree(work)) for work in works]
        return Candidate(name, start, self.tree(works[-1]), tip)

    def since(self, tip: str | None, commit: str) -> Sequence[Step]:
        end = next(place for place, step in enumerate(self.past) if step.commit == commit)
        chain = self.past[: end + 1]
        for place, step in enumerate(chain):
            if step.commit == tip:
                return chain[place:]
        return chain

    def reviewed(self, request: str) -> Sequence[Reviewed]:
        if request in self.absent:
            raise Absent("commits are missing: git fetch --unshallow")
        return self.commits[request]

    def walk(
        self,
        chain: Sequence[Step],
        *candidates: Candidate,
        compared: Callable[[bytes], bool] = lambda path: True,
        partners: tuple[Candidate, ...] = (),
        exact: Callable[[bytes], bool] | None = None,
    ) -> Walk:
        rule = Rule(compared, candidates, partners, exact)
        self.past = self.past or list(chain[:1])
        return walk(chain, lambda position: rule, self.trees, self)


def shape(result: Walk) -> list[tuple[int, int, str]]:
    """The stretches of a walk, each with the requests that account for it."""
    return [(one.start, one.end, "+".join(one.requests)) for one in result.stretches]


def under(prefix: str) -> Callable[[bytes], bool]:
    return lambda path: path.startswith(prefix.encode())
