"""The compared content along a first-parent chain, so that equal states are found by a look-up.

A stretch is the merge of a request where its end holds what the merge gives, on all compared
paths. Trying every pair of commits would take n² comparisons of trees; here the differences of
neighbours are read once, each position gets a mark (a sum over its content), and the ends that a
start can have are those with the mark of the merge. A mark finds, it never proves: what is found
is compared entry by entry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise

from gitgate.core.merging import Compared, Trees, Value

Moves = Mapping[bytes, tuple[Value, Value]]


def _token(path: bytes, value: Value) -> int:
    return 0 if value is None else hash((path, value))


class Timeline:
    """A chain of trees, oldest first, seen on the compared paths only.

    Positions count from 0; `moves[i]` is what changes from position i to i + 1. Sets of positions
    are integers: bit i stands for position i.
    """

    def __init__(self, trees: Trees, chain: Sequence[str], compared: Compared) -> None:
        self.trees = trees
        self.chain = chain
        self.compared = compared
        self.steps: list[Moves] = [trees.changes(old, new) for old, new in pairwise(chain)]
        self.moves: list[Moves] = [self._only_compared(step) for step in self.steps]
        self._marks = self._sums(frozenset())
        self._agreeing: dict[frozenset[bytes], list[int]] = {}
        self._where: dict[int, list[int]] = {}
        for position, mark in enumerate(self._marks):
            self._where.setdefault(mark, []).append(position)

    @property
    def last(self) -> int:
        return len(self.chain) - 1

    def ends(self, start: int, values: Mapping[bytes, Value]) -> list[int]:
        """The positions after `start` that differ from it by just `values`, the last first.

        Never one whose last step changes nothing: that step is free, and judged by itself. None
        where `values` is empty, since a merge that changes nothing accounts for nothing.
        """
        if not values:
            return []
        tree = self.chain[start]
        mark = self._marks[start]
        for path, value in values.items():
            mark ^= _token(path, self.trees.entry(tree, path)) ^ _token(path, value)
        found = [
            position
            for position in reversed(self._where.get(mark, ()))
            if position > start and self.moves[position - 1]
        ]
        return [position for position in found if self.difference(start, position) == values]

    def difference(self, start: int, end: int) -> dict[bytes, Value]:
        """The compared paths that differ between two positions, with their values at `end`."""
        changes = self.trees.changes(self.chain[start], self.chain[end])
        return {path: new for path, (_, new) in changes.items() if self.compared(path)}

    def holding(self, path: bytes, value: Value) -> int:
        """The positions at which the compared `path` has `value`."""
        found = 0
        history = self._history.get(path)
        if history is None:
            return self.all if self.trees.entry(self.chain[0], path) == value else 0
        begins = [0, *(position for position, _ in history)]
        held = [self.moves[history[0][0] - 1][path][0], *(value for _, value in history)]
        for begin, end, present in zip(begins, [*begins[1:], len(self.chain)], held, strict=True):
            if present == value:
                found |= span(begin, end)
        return found

    def agreeing(self, but: frozenset[bytes]) -> list[int]:
        """For each position those that agree with it on all compared paths `but` these."""
        if but not in self._agreeing:
            marks = self._sums(but)
            groups: dict[int, int] = {}
            for position, mark in enumerate(marks):
                groups[mark] = groups.get(mark, 0) | 1 << position
            self._agreeing[but] = [groups[mark] for mark in marks]
        return self._agreeing[but]

    @property
    def all(self) -> int:
        return span(0, len(self.chain))

    def _only_compared(self, step: Moves) -> Moves:
        return {path: values for path, values in step.items() if self.compared(path)}

    def _sums(self, but: frozenset[bytes]) -> list[int]:
        marks = [0]
        for moves in self.moves:
            mark = marks[-1]
            for path, (old, new) in moves.items():
                if path not in but:
                    mark ^= _token(path, old) ^ _token(path, new)
            marks.append(mark)
        return marks

    @cached_property
    def _history(self) -> dict[bytes, list[tuple[int, Value]]]:
        found: dict[bytes, list[tuple[int, Value]]] = {}
        for position, moves in enumerate(self.moves, 1):
            for path, (_, new) in moves.items():
                found.setdefault(path, []).append((position, new))
        return found


def span(begin: int, end: int) -> int:
    """The positions from `begin` to before `end`; none where that is empty."""
    return ((1 << (end - begin)) - 1) << begin if end > begin else 0
