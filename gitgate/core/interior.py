"""Inside a stretch nothing may stand that was never on the reviewed branch (design, section 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gitgate.core.linking import Candidate
from gitgate.core.merging import Both, Compared, Entry, Value, merge_contents, merge_path
from gitgate.core.once import Step
from gitgate.core.timeline import Moves, Timeline


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A commit of B..W: its tree, and the trees that it may be merged from (B, merge bases)."""

    bases: tuple[str, ...]
    tree: str


class Absent(Exception):  # noqa: N818 - what the design calls it
    """History that this clone lacks; the text is a sentence that says what to fetch."""


class History(Protocol):
    """What the landing rule asks of histories."""

    def since(self, tip: str | None, commit: str) -> Sequence[Step]:
        """The first-parent chain from `tip` to `commit`, oldest first, both included.

        The whole chain where `tip` is None or does not lie on it. May raise Absent.
        """
        ...

    def reviewed(self, request: str) -> Sequence[Reviewed]:
        """The commits of the request's B..W; raises Absent where some are missing."""
        ...


@dataclass(frozen=True, slots=True)
class Intrusion:
    """The first position of a stretch that holds what nobody reviewed, and at which paths.

    `absent` says what is missing where that is the reason.
    """

    position: int
    paths: tuple[bytes, ...]
    absent: str = ""


class Interior:
    """The steps between `start` and an end that differs from it by just `values`.

    Beside the compared paths it looks at the `policy` files: a new policy takes effect after the
    stretch that brings it, so beyond one that comes from elsewhere no stretch goes on.
    """

    def __init__(
        self,
        timeline: Timeline,
        start: int,
        requests: Sequence[Candidate],
        values: Mapping[bytes, Value],
        history: History,
        policy: Compared | None = None,
    ) -> None:
        self._policy = policy
        self._timeline = timeline
        self._tree = timeline.chain[start]
        self._start = start
        self._requests = requests
        self._values = values
        self._history = history
        self._allowed: dict[bytes, set[Value]] = {}

    def intrusion(self, end: int) -> Intrusion | None:
        """The first position before `end` with a path that equals neither start, end nor review.

        All ends of one start hold the same, so what bars one bars all that lie beyond it.
        """
        for position in range(self._start + 1, end):
            moves = self._moves(position - 1)
            try:
                paths = [path for path, (_, new) in moves.items() if not self._known(path, new)]
            except Absent as absent:
                return Intrusion(position, (), str(absent))
            if paths:
                return Intrusion(position, tuple(sorted(paths)))
        return None

    def _moves(self, position: int) -> Moves:
        moves, policy = self._timeline.moves[position], self._policy
        if policy is None:
            return moves
        step = self._timeline.steps[position]
        return {**moves, **{path: values for path, values in step.items() if policy(path)}}

    def _known(self, path: bytes, value: Value) -> bool:
        before = self._timeline.trees.entry(self._tree, path)
        if value in (before, self._values.get(path, before)):
            return True
        if path not in self._allowed:
            self._allowed[path] = self._reviewed_values(path, before)
        return value in self._allowed[path]

    def _reviewed_values(self, path: bytes, start: Value) -> set[Value]:
        """What the path holds in each reviewed commit merged over the start."""
        trees = self._timeline.trees
        sides: set[tuple[Value, Value]] = set()
        for request in self._requests:
            own = (request.base, self._requests[0].base)
            for commit in self._history.reviewed(request.request):
                work = trees.entry(commit.tree, path)
                bases = {trees.entry(tree, path) for tree in (*own, *commit.bases)}
                sides.update((base, work) for base in bases)
        found: set[Value] = set()
        for base, work in sides:
            merged = merge_path(base, start, work)
            if merged is Both.CHANGED:
                contents: dict[bytes, Entry] = merge_contents(trees, {path: (base, start, work)})
                if path in contents:
                    found.add(contents[path])
            else:
                found.add(merged)
        return found
