"""Chains of requests: each base has the tree of the work before it (design, section 6, "Once").

Where work is always based on the newest main, all requests of a gate are one chain. So of the
chains that hold a request only those are made that can mean something of their own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from gitgate.core.merging import Malformed, Trees, Value, doubts, merge, parents
from gitgate.core.timeline import Timeline

MAX_CHAINS = 256
MAX_ASKED = 500
"""Merges by git, which takes some 10 ms for each."""

Run = tuple["Candidate", ...]
State = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A request: its id, the trees of its base and work commit, and the target's tip then."""

    request: str
    base: str
    work: str
    tip: str | None

    @property
    def link(self) -> tuple[str, str]:
        return self.base, self.work


class Undecided(Exception):  # noqa: N818 - an answer, not a fault
    """Whether a request has landed cannot be told here; the text is a clause that says why."""


class Bearing:
    """What single requests mean for a timeline."""

    def __init__(self, timeline: Timeline) -> None:
        self._trees = timeline.trees
        self._timeline = timeline
        moved = {path for moves in timeline.moves for path in moves}
        self._moved = moved
        self._above = {folder for path in moved for folder in parents(path)}
        self._asked = 0
        self._known: dict[tuple[str, str], bool] = {}

    def moves(self, one: Candidate) -> bool:
        """Whether something that the request touches moves, or may have another name by now."""
        touched = self._trees.changes(*one.link)
        if any(
            path in self._moved
            or path in self._above
            or any(folder in self._moved for folder in parents(path))
            for path in touched
        ):
            return True
        starts = zip(self._timeline.chain, self._timeline.moves, strict=False)
        return any(doubts(self._trees, [one.link], tree).names for tree, moves in starts if moves)

    def leads_nowhere(self, one: Candidate) -> bool:
        """Whether a chain that begins with this request is none that could have landed here, or is
        as good as the chain without it: merged over any start, it conflicts or changes nothing."""
        if one.link not in self._known:
            starts = zip(self._timeline.chain, self._timeline.moves, strict=False)
            self._known[one.link] = all(self._fails(one, tree) for tree, moves in starts if moves)
        return self._known[one.link]

    def _fails(self, one: Candidate, start: str) -> bool:
        try:
            merged = merge(self._trees, one.base, start, one.work, self._timeline.compared)
        except Malformed:  # a chain with it can have landed nowhere
            return True
        if merged.values and not merged.conflicts:
            return False
        if doubts(self._trees, [one.link], start).names:
            return False
        return not merged.conflicts or self._conflicts_in_git(one, start)

    def _conflicts_in_git(self, one: Candidate, start: str) -> bool:
        """Git has the last word on a conflict. Raises Undecided where it was asked too often."""
        self._asked += 1
        if self._asked > MAX_ASKED:
            raise Undecided(f"too much has landed: {MAX_ASKED} merges were tried")
        whole = self._trees.merge_whole(one.base, start, one.work)
        return whole is not None and any(map(self._timeline.compared, whole.conflicts))


def may_vanish(candidate: Candidate, partners: Iterable[Candidate], trees: Trees) -> bool:
    """Whether a chain with the candidate can come to nothing at all that the candidate touches:
    another request takes back what it did, or what one before it did."""
    after, before = _neighbours(candidate, partners)
    touched = tuple(trees.changes(*candidate.link))

    def states(found: Iterable[Candidate], side: Callable[[Candidate], str]) -> set[State]:
        """What the touched paths are there; what is no tree can have landed nowhere."""
        seen: set[State] = set()
        for one in found:
            with suppress(Malformed):
                seen.add(tuple(trees.entry(side(one), path) for path in touched))
        return seen

    ends = states(_reach(candidate, lambda one: after.get(one.work, ())), lambda one: one.work)
    starts = states(_reach(candidate, lambda one: before.get(one.base, ())), lambda one: one.base)
    return not ends.isdisjoint(starts)


def _reach(
    candidate: Candidate, further: Callable[[Candidate], Collection[Candidate]]
) -> Iterator[Candidate]:
    seen = {candidate.link}
    waiting = [candidate]
    for one in waiting:
        yield one
        for other in further(one):
            if other.link not in seen:
                seen.add(other.link)
                waiting.append(other)


Neighbours = dict[str, list[Candidate]]


def _neighbours(
    candidate: Candidate, partners: Iterable[Candidate]
) -> tuple[Neighbours, Neighbours]:
    """The partners by the trees of their bases, and by those of their works. Partners with the
    same trees stand for one another."""
    after: Neighbours = {}
    before: Neighbours = {}
    for partner in {one.link: one for one in partners}.values():
        if partner.link != candidate.link and partner.base != partner.work:
            after.setdefault(partner.base, []).append(partner)
            before.setdefault(partner.work, []).append(partner)
    return after, before


def chains_with(
    candidate: Candidate, partners: Iterable[Candidate], bearing: Bearing
) -> Iterator[Run]:
    """Every longer chain that holds the candidate, but those that begin with what leads nowhere.

    Raises Undecided beyond 256 chains.
    """
    after, before = _neighbours(candidate, partners)
    rights: list[Run] = [(), *_runs_after(candidate, after)]
    for left in [(), *_runs_before(candidate, before, bearing)]:
        for right in rights:
            if (left or right) and not set(left) & set(right):
                yield (*left, candidate, *right)


def _runs_after(candidate: Candidate, after: Neighbours) -> list[Run]:
    """The runs of partners that follow on the candidate, shorter ones first."""
    runs: list[Run] = []
    waiting: list[Run] = [()]
    for run in waiting:
        last = run[-1] if run else candidate
        longer = [(*run, one) for one in after.get(last.work, ()) if one not in run]
        runs += longer
        waiting += longer
        _check_few(len(runs))
    return runs


def _runs_before(candidate: Candidate, before: Neighbours, bearing: Bearing) -> list[Run]:
    """The runs of partners that lead up to the candidate, shorter ones first.

    The way goes on through one that leads nowhere, but no run begins with it. A way may be long
    (all that landed since the adoption), so it is kept as links; only where it forks it is copied.
    """
    runs: list[Run] = []
    ways = 1
    waiting: deque[tuple[Candidate, _Way | None, set[tuple[str, str]]]] = deque()
    waiting.append((candidate, None, {candidate.link}))
    while waiting:
        first, way, passed = waiting.popleft()
        found = [one for one in before.get(first.base, ()) if one.link not in passed]
        ways += max(0, len(found) - 1)
        _check_few(ways)
        for one in found:
            longer = _Way(one, way)
            if not bearing.leads_nowhere(one):
                runs.append(longer.run())
                _check_few(len(runs))
            own = passed if one is found[-1] else set(passed)
            own.add(one.link)
            waiting.append((one, longer, own))
    return runs


@dataclass(frozen=True, slots=True)
class _Way:
    """A run as a list that shares its end with others."""

    first: Candidate
    rest: _Way | None

    def run(self) -> Run:
        found: list[Candidate] = []
        way: _Way | None = self
        while way is not None:
            found.append(way.first)
            way = way.rest
        return tuple(found)


def _check_few(number: int) -> None:
    if number > MAX_CHAINS:
        raise Undecided(f"it stands in more than {MAX_CHAINS} chains of requests")
