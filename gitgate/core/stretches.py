"""The search for the stretch that begins at one position, and why none was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from gitgate.core.interior import Absent, History, Interior, Intrusion
from gitgate.core.linking import MAX_CHAINS, Candidate, Undecided
from gitgate.core.merging import Compared, Merged, Trees, doubts, merge_chain, merge_chain_by_git
from gitgate.core.once import Step, Stretch, could_end, landed_before
from gitgate.core.timeline import Moves, Timeline
from gitgate.errors import GateError

MAX_PATHS = 50


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """What one gate asks at a position; the same object wherever the same policy is in force.

    `candidates` are the requests that are approved, `partners` all of the gate and target: they
    authorise nothing and count where a chain with them may have landed. `exact` paths must be as
    in the (last) work commit where a stretch ends. `concerns` says of a step's changes whether
    the gate has to be asked at all; without it, whether some compared path is among them.
    `policy` are the files whose change is a new policy, also where the gate does not compare them:
    a stretch goes beyond such a change only where its own requests bring it.
    """

    compared: Compared
    candidates: tuple[Candidate, ...]
    partners: tuple[Candidate, ...] = ()
    exact: Compared | None = None
    concerns: Callable[[Moves], bool] | None = None
    policy: Compared | None = None

    def concerned(self, step: Moves) -> bool:
        """Whether a step with these changes needs this gate."""
        if self.concerns is not None:
            return self.concerns(step)
        return any(self.compared(path) for path in step)


class MissKind(StrEnum):
    """Why a request does not account for a stretch; the one that says most comes first."""

    LANDED = "landed"
    LATER = "later"
    STALE_DELIVERABLES = "stale-deliverables"
    INTERIOR = "interior"
    ABSENT = "absent"
    CONFLICT = "conflict"
    DIFFERS = "differs"


@dataclass(frozen=True, slots=True)
class Miss:
    """Why one request does not account for the place where the walk stopped.

    At most 50 paths; `detail` is a sentence and says so where there are more.
    """

    request: str
    kind: MissKind
    paths: tuple[bytes, ...]
    detail: str


@dataclass(slots=True)
class _Attempt:
    """A chain of requests tried at one start."""

    requests: tuple[Candidate, ...]
    merged: Merged | None = None
    ends: list[int] = field(default_factory=list)
    intrusion: Intrusion | None = None
    miss: Miss | None = None


class Ground:
    """A chain under one rule, from which any number of starts are searched."""

    def __init__(self, chain: Sequence[Step], rule: Rule, trees: Trees, history: History) -> None:
        self.chain = chain
        self.rule = rule
        self.trees = trees
        self.history = history
        self.timeline = Timeline(trees, [step.tree for step in chain], rule.compared)
        self.place = {step.commit: position for position, step in enumerate(chain)}
        self.touching: dict[bytes, list[Candidate]] = {}
        self.following: dict[str, list[Candidate]] = {}
        self.unreadable: list[Miss] = []
        for one in rule.candidates:
            self._index(one)

    def _index(self, one: Candidate) -> None:
        try:
            touched = self.trees.changes(one.base, one.work)
        except GateError as error:
            self.unreadable.append(_unreadable(one, error))
            return
        self.following.setdefault(one.base, []).append(one)
        for path in touched:
            self.touching.setdefault(path, []).append(one)

    def near(self, start: int) -> list[Candidate]:
        """The requests that touch a path of the step after `start`."""
        found = {
            one.request: one
            for path in self.timeline.steps[start]
            for one in self.touching.get(path, ())
        }
        return list(found.values())

    def far(self, start: int) -> list[Candidate]:
        """All other requests that can be read."""
        near = {one.request for one in self.near(start)}
        readable = (one for group in self.following.values() for one in group)
        return [one for one in readable if one.request not in near]

    def chains(self, heads: Iterable[Candidate]) -> list[tuple[Candidate, ...]]:
        """The chains of requests that begin with one of the heads, shorter ones first."""
        found: list[tuple[Candidate, ...]] = [(head,) for head in heads]
        most = len(found) + MAX_CHAINS
        for linked in found:
            for one in self.following.get(linked[-1].work, ()):
                if one not in linked and len(found) < most:
                    found.append((*linked, one))
        return found


class Search:
    """What accounts for the stretch that begins at `start`, or why nothing does."""

    def __init__(self, ground: Ground, start: int) -> None:
        self.ground = ground
        self.start = start
        self.near: list[_Attempt] = []
        self.far: list[_Attempt] = []

    def stretch(self) -> Stretch | None:
        """The farthest stretch that an approved request, or a chain of them, accounts for.

        Requests that touch the step are tried first, the others only where none of those fits.
        """
        ground = self.ground
        near, far = ground.near(self.start), ground.far(self.start)
        self.near = [self._attempt(linked, near=True) for linked in ground.chains(near)]
        found = self._farthest(self.near)
        if found is None:
            self.far = [self._attempt(linked, near=False) for linked in ground.chains(far)]
            found = self._farthest(self.far)
        return found

    def stopped(self) -> int:
        """The position of the first commit that nothing accounts for.

        Where a request explains the first steps and not the rest, the one that it does not.
        """
        first = self.start + 1
        for attempt in self.near:
            if attempt.intrusion is None and attempt.merged and attempt.merged.clean:
                attempt.intrusion = self._interior(attempt, self.ground.timeline.last + 1)
            if attempt.intrusion and not attempt.intrusion.absent:
                first = max(first, attempt.intrusion.position)
        return first

    def misses(self) -> tuple[Miss, ...]:
        """For each candidate the reason that says most, those that touch the step first."""
        order = list(MissKind)
        found: dict[str, Miss] = {}
        for miss in (*map(self._miss, self.near), *map(self._miss, self.far)):
            known = found.get(miss.request)
            if known is None or order.index(miss.kind) < order.index(known.kind):
                found[miss.request] = miss
        return (*found.values(), *self.ground.unreadable)

    def _attempt(self, requests: tuple[Candidate, ...], *, near: bool) -> _Attempt:
        attempt = _Attempt(requests)
        try:
            self._merge(attempt, near)
        except GateError as error:
            attempt.miss = _unreadable(requests[0], error)
        return attempt

    def _merge(self, attempt: _Attempt, near: bool) -> None:
        """Merge the requests over the start and find the ends that hold just that.

        Of requests that are not near, git is asked only where its answer could have an end.
        """
        timeline, trees = self.ground.timeline, self.ground.trees
        tree = timeline.chain[self.start]
        links = [one.link for one in attempt.requests]
        attempt.merged = merge_chain(trees, links, tree, timeline.compared)
        if attempt.merged.clean:
            attempt.ends = timeline.ends(self.start, attempt.merged.values)
        if attempt.ends:
            return
        doubtful = doubts(trees, links, tree)
        if not doubtful:
            return
        if not near and not could_end(timeline, links, self.start, attempt.merged, doubtful):
            return
        by_git = merge_chain_by_git(trees, links, tree, timeline.compared)
        if by_git is None:
            kind = MissKind.DIFFERS if attempt.merged.clean else MissKind.CONFLICT
            detail = "this takes git's own merge, and this git is older than 2.38"
            attempt.miss = _miss(attempt.requests[0], kind, attempt.merged.conflicts, detail)
        elif by_git.clean:
            ends = timeline.ends(self.start, by_git.values)
            if ends or not attempt.merged.clean:
                attempt.merged, attempt.ends = by_git, ends

    def _farthest(self, attempts: Sequence[_Attempt]) -> Stretch | None:
        options: list[tuple[int, _Attempt]] = []
        for attempt in attempts:
            if attempt.ends:
                attempt.intrusion = self._interior(attempt, max(attempt.ends))
            barrier = attempt.intrusion.position if attempt.intrusion else len(self.ground.chain)
            options += [(end, attempt) for end in attempt.ends if end <= barrier]
        options.sort(key=lambda option: (-option[0], len(option[1].requests)))
        for end, attempt in options:
            attempt.miss = self._refusal(attempt, end)
            if attempt.miss is None:
                requests = tuple(one.request for one in attempt.requests)
                return Stretch(self.start, end, requests)
        return None

    def _interior(self, attempt: _Attempt, end: int) -> Intrusion | None:
        if attempt.merged is None:
            return None
        return Interior(
            self.ground.timeline,
            self.start,
            attempt.requests,
            attempt.merged.values,
            self.ground.history,
            self.ground.rule.policy,
        ).intrusion(end)

    def _refusal(self, attempt: _Attempt, end: int) -> Miss | None:
        """Why a stretch that fits is not accounted for all the same."""
        for one in attempt.requests:
            miss = self._spent(one)
            if miss is not None:
                return miss
        exact = self.ground.rule.exact
        if exact is None:
            return None
        last = attempt.requests[-1]
        changes = self.ground.trees.changes(last.work, self.ground.chain[end].tree)
        stale = [path for path in changes if exact(path)]
        if not stale:
            return None
        detail = "a deliverable is not as it was reviewed"
        return _miss(attempt.requests[0], MissKind.STALE_DELIVERABLES, stale, detail)

    def _spent(self, one: Candidate) -> Miss | None:
        """Whether a request was used before, or was opened only after what it should allow."""
        ground = self.ground
        tip = ground.place.get(one.tip or "")
        if tip is not None and tip > self.start:
            start = ground.chain[self.start].commit
            detail = f"it was opened only after the landing on {start[:12]} had happened"
            return _miss(one, MissKind.LATER, (), detail)
        try:
            past = self._since(one, tip)
            rule = ground.rule
            partners = (*rule.candidates, *rule.partners)
            before = landed_before(one, partners, past, ground.trees, rule.compared)
        except Undecided as why:
            detail = f"that it has landed before cannot be ruled out: {why}"
            return _miss(one, MissKind.LANDED, (), detail)
        except Absent as absent:
            return _miss(one, MissKind.ABSENT, (), str(absent))
        except GateError as error:
            return _unreadable(one, error)
        if before is None:
            return None
        detail = f"it has landed before, with commit {past[before.end].commit[:12]}"
        return _miss(one, MissKind.LANDED, (), detail)

    def _since(self, one: Candidate, tip: int | None) -> list[Step]:
        ground = self.ground
        if tip is not None:
            return list(ground.chain[tip : self.start + 1])
        past = ground.history.since(one.tip, ground.chain[0].commit)
        return [*past, *ground.chain[1 : self.start + 1]]

    def _miss(self, attempt: _Attempt) -> Miss:
        if attempt.miss is not None:
            return attempt.miss
        head, merged = attempt.requests[0], attempt.merged
        if attempt.ends and attempt.intrusion:
            return self._intruded(head, attempt.intrusion)
        if merged is None or not merged.clean:
            conflicts = merged.conflicts if merged else ()
            return _miss(head, MissKind.CONFLICT, conflicts, "it does not merge cleanly here")
        if not merged.values:
            return _miss(head, MissKind.DIFFERS, (), "merging it changes nothing here")
        ends = {self.start + 1, self.ground.timeline.last}
        differing = (self._differing(merged, end) for end in ends)
        nearest = min(differing, key=lambda paths: (len(paths), sorted(paths)))
        return _miss(head, MissKind.DIFFERS, nearest, "what lands is not the merge of it")

    def _differing(self, merged: Merged, end: int) -> set[bytes]:
        lands = self.ground.timeline.difference(self.start, end)
        return {
            path
            for path in lands.keys() | merged.values.keys()
            if path not in lands or path not in merged.values or lands[path] != merged.values[path]
        }

    def _intruded(self, head: Candidate, intrusion: Intrusion) -> Miss:
        commit = self.ground.chain[intrusion.position].commit
        if intrusion.absent:
            return _miss(head, MissKind.ABSENT, (), intrusion.absent)
        detail = f"commit {commit[:12]} holds what was never on the reviewed branch"
        return _miss(head, MissKind.INTERIOR, intrusion.paths, detail)


def _unreadable(one: Candidate, error: GateError) -> Miss:
    detail = f"{error.message}: {error.hint}" if error.hint else error.message
    return _miss(one, MissKind.ABSENT, (), detail)


def _miss(one: Candidate, kind: MissKind, paths: Iterable[bytes], detail: str) -> Miss:
    named = sorted(paths)
    if len(named) > MAX_PATHS:
        detail = f"{detail} (at {len(named)} paths, of which {MAX_PATHS} are named)"
    return Miss(one.request, kind, tuple(named[:MAX_PATHS]), detail)
