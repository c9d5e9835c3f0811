"""Requests by the trees that they begin and end with: which ones a chain can have in a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from gitgate.core.digest import NONE, Digest
from gitgate.core.landing import Candidate

_LAST = len(Digest._fields) - 1

_LOOKS = 16
"""How often the text of quiet instances is searched before it is read as a whole."""


class Links:
    """Requests by the trees that they begin and end with; those of quiet instances are looked for
    in their text, as long as that is not too often."""

    def __init__(self, found: Iterable[Candidate], quiet: Iterable[bytes], target: str) -> None:
        self._target = target
        self._quiet = list(quiet)
        self._all = list(found)
        self._after: dict[str, list[Candidate]] = {}
        self._before: dict[str, list[Candidate]] = {}
        self._looked = 0
        for one in self._all:
            self._add(one)

    def every(self) -> tuple[Candidate, ...]:
        """All of them."""
        self._wake()
        return tuple(self._all)

    def around(self, some: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """Those that a chain with one of `some` can have behind or before it."""
        found = {one.request: one for one in self._reached({one.work for one in some}, True)}
        for one in self._reached({one.base for one in some}, False):
            found[one.request] = one
        return tuple(found.values())

    def _reached(self, trees: Set[str], onward: bool) -> Iterator[Candidate]:
        waiting = list(trees)
        seen = set(waiting)
        for tree in waiting:
            for one in self._at(tree, onward):
                yield one
                further = one.work if onward else one.base
                if further not in seen:
                    seen.add(further)
                    waiting.append(further)

    def _at(self, tree: str, onward: bool) -> list[Candidate]:
        """The requests that begin with a tree, or end with it."""
        if self._quiet and self._looked >= _LOOKS:
            self._wake()
        self._looked += 1
        there = (self._after if onward else self._before).get(tree, [])
        needle = f" {'b' if onward else 'w'}{tree} ".encode()
        return there + [one for text in self._quiet for one in self._found(text, needle)]

    def _found(self, text: bytes, needle: bytes) -> Iterator[Candidate]:
        at = text.find(needle)
        while at >= 0:
            start = max(text.rfind(b"\t", 0, at), text.rfind(b"\n", 0, at)) + 1
            end = text.index(b" ", text.index(b" w", at) + 1)
            yield from linked(text[start:end].decode(), self._target)
            at = text.find(needle, at + 1)

    def _wake(self) -> None:
        for text in self._quiet:
            for line in text.decode().split("\n")[1:-1]:
                for one in linked(line.split("\t", _LAST)[-1], self._target):
                    self._all.append(one)
                    self._add(one)
        self._quiet = []

    def _add(self, one: Candidate) -> None:
        self._after.setdefault(one.base, []).append(one)
        self._before.setdefault(one.work, []).append(one)


def linked(asked: str, target: str) -> Iterator[Candidate]:
    for text in asked.split("\t") if asked else ():
        oid, where, tip, _, base, work, *_ = text.split(" ")
        if where == target:
            yield Candidate(oid, base[1:], work[1:], None if tip == NONE else tip)
