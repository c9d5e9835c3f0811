"""One approval is for one landing: has a request landed on this chain before? (design, section 6)

Only the first-parent chain decides. Whatever merged the request counts, in one step or several,
alone or in a chain with other requests, approved or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gitgate.core.linking import MAX_ASKED, Bearing, Candidate, Undecided, chains_with, may_vanish
from gitgate.core.merging import (
    Compared,
    Doubts,
    Links,
    Malformed,
    Merged,
    Trees,
    doubts,
    merge_chain,
    merge_chain_by_git,
    parents,
)
from gitgate.core.timeline import Moves, Timeline, span
from gitgate.errors import GateError


@dataclass(frozen=True, slots=True)
class Step:
    """A commit of a first-parent chain and its tree."""

    commit: str
    tree: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a chain, from position `start` to `end`; without `requests` it is a free step."""

    start: int
    end: int
    requests: tuple[str, ...]


def landed_before(
    candidate: Candidate,
    partners: Iterable[Candidate],
    chain: Sequence[Step],
    trees: Trees,
    compared: Compared,
) -> Stretch | None:
    """The stretch of `chain` by which the request has landed: the first end, the last start.

    `chain` goes from the request's `Tip` (oldest first) to the place where it is to land;
    `partners` are all requests of its gate and target. Raises Undecided.
    """
    timeline = Timeline(trees, [step.tree for step in chain], compared)
    if not any(timeline.moves):
        return None
    found: Stretch | None = None
    alone = _landing_of(timeline, candidate, (candidate,))
    if alone is not None:  # a chain counts only where it ends before that
        found = Stretch(*alone, (candidate.request,))
        timeline = Timeline(trees, [step.tree for step in chain[: found.end]], compared)
    for linked in _chains(timeline, candidate, partners):
        landing = _landing_of(timeline, candidate, linked)
        if landing and (found is None or landing[1] < found.end):
            found = Stretch(*landing, tuple(one.request for one in linked))
    return found


def _chains(
    timeline: Timeline, candidate: Candidate, partners: Iterable[Candidate]
) -> Iterator[Sequence[Candidate]]:
    """The chains by which the candidate may have landed: none where nothing that it touches moves
    and no other request takes that back."""
    partners = tuple(partners)
    bearing = Bearing(timeline)
    try:
        moves = any(timeline.moves) and bearing.moves(candidate)
        if moves or may_vanish(candidate, partners, timeline.trees):
            yield from chains_with(candidate, partners, bearing)
    except GateError as error:
        raise Undecided(f"a chain of requests cannot be looked at: {error.message}") from None


def _landing_of(
    timeline: Timeline, candidate: Candidate, linked: Sequence[Candidate]
) -> tuple[int, int] | None:
    try:
        own = linked.index(candidate)
        return _Search(timeline, [one.link for one in linked], own).earliest()
    except Malformed:
        if len(linked) == 1:
            raise
        return None  # a partner that can have landed nowhere blocks nobody
    except GateError as error:
        if len(linked) == 1:
            raise
        others = ", ".join(one.request[:12] for one in linked if one is not candidate)
        raise Undecided(f"a chain with {others} cannot be looked at: {error.message}") from None


def could_end(
    timeline: Timeline, links: Links, start: int, merged: Merged, doubtful: Doubts
) -> bool:
    """Whether git's merge over a start can have an end at all, told without asking git.

    What is not in doubt must be there as the merge by path says; and unless names may have
    changed, nothing beside the touched paths may differ.
    """
    touched = frozenset(path for link in links for path in timeline.trees.changes(*link))
    found = span(start + 1, len(timeline.chain))
    for path, value in merged.values.items():
        if path not in doubtful.paths:
            found &= timeline.holding(path, value)
    if not doubtful.names:
        found &= timeline.agreeing(touched)[start]
    return found != 0


class _Search:
    """The stretches of a timeline that are the merge of some links.

    A stretch to which the link at `own` adds nothing is the merge of the others, not of that.
    """

    def __init__(self, timeline: Timeline, links: Links, own: int) -> None:
        self.own = own
        self.timeline = timeline
        self.trees = timeline.trees
        self.links = links
        self.touched: set[bytes] = set()
        for base, work in links:
            self.touched.update(self.trees.changes(base, work))
        self.above = {folder for path in self.touched for folder in parents(path)}
        self.asked = 0

    def earliest(self) -> tuple[int, int] | None:
        """The stretch (start, end) with the first end, and of those the last start."""
        best: tuple[int, int] | None = None
        for start, merged, doubtful in self._starts():
            ends = self._ends(start, merged)
            if doubtful and could_end(self.timeline, self.links, start, merged, doubtful):
                ends = ends + self._ends_by_git(start)
            if ends and (best is None or min(ends) <= best[1]):
                best = start, min(ends)
        return best

    def _starts(self) -> Iterator[tuple[int, Merged, Doubts]]:
        """The starts whose step is not free, each with its merge.

        A merge is made again only where a path changed that it depends on.
        """
        merged: Merged | None = None
        doubtful: Doubts | None = None
        for start, step in enumerate(self.timeline.steps):
            tree = self.timeline.chain[start]
            if self.timeline.moves[start]:
                if merged is None:
                    merged = merge_chain(self.trees, self.links, tree, self.timeline.compared)
                if doubtful is None:
                    doubtful = doubts(self.trees, self.links, tree)
                yield start, merged, doubtful
            if self._concerns(step):
                merged = doubtful = None
            elif any(None in values for values in step.values()):
                doubtful = None

    def _concerns(self, step: Moves) -> bool:
        return any(
            path in self.touched
            or path in self.above
            or any(folder in self.touched for folder in parents(path))
            for path in step
        )

    def _ends_by_git(self, start: int) -> list[int]:
        if self.asked == MAX_ASKED:
            raise Undecided(f"the target has gained too much since: {MAX_ASKED} merges were tried")
        self.asked += 1
        tree = self.timeline.chain[start]
        merged = merge_chain_by_git(self.trees, self.links, tree, self.timeline.compared)
        if merged is None:
            raise Undecided("that takes git's own merge, and this git is older than 2.38")
        return self._ends(start, merged)

    def _ends(self, start: int, merged: Merged) -> list[int]:
        if not merged.clean or self.own in merged.idle:
            return []
        return self.timeline.ends(start, merged.values)
