"""Two states of one ledger become one: a pure function of chains of events.

Common events stay. The shared ref is the arbiter: what is there wins, and what only this clone has
is replayed on it. Where the shared ref lost or re-ordered what this clone knows it had, this clone
wins instead, and what only the shared ref has is replayed. A `decided` is never dropped; requests
and records keep their ids (design, section 3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from gitgate.core import events as codec
from gitgate.core.events import Event, EventName
from gitgate.core.gate import Instance, may_follow
from gitgate.core.replay import BRINGS, identity, replay
from gitgate.core.request import Kind, Request

Fold = Callable[[Sequence[Event]], Instance]
"""The instance that events come to; who signed what and what really landed is known to it."""


@dataclass(frozen=True, slots=True)
class Chain:
    """One state of a ledger: its commits, oldest first, and what they say.

    `sound` is False where the ledger does not verify: `events`, `requests` and `records` then
    hold what could be read of it. `junk` are the records of a sound one that can never count: a
    remote takes none of them, and none of them is missed.
    """

    commits: tuple[str, ...]
    events: tuple[Event, ...] = ()
    requests: Mapping[str, Request] = field(default_factory=dict)
    records: frozenset[str] = frozenset()
    sound: bool = True
    junk: frozenset[str] = frozenset()

    @property
    def tip(self) -> str:
        return self.commits[-1]

    def has(self, other: Chain) -> bool:
        """Whether the other state is this one, or a beginning of it."""
        return other.tip in self.commits


class Outcome(StrEnum):
    """What becomes of one ledger."""

    SAME = "same"
    TAKE = "take"
    PUSH = "push"
    REPLAY = "replay"
    UNTRUSTED = "untrusted"


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do. `base` stays as it is and `replayed` comes on top of it.

    `lost` says what the shared ref lost or re-ordered, where it did: its exact value is then
    replaced. `said` is what people have to know.
    """

    outcome: Outcome
    base: Chain | None = None
    replayed: tuple[Event, ...] = ()
    lost: str = ""
    said: tuple[str, ...] = ()


def reconcile(
    ours: Chain | None,
    theirs: Chain | None,
    known: Sequence[Chain],
    fold: Fold,
    named: Chain | None = None,
) -> Plan:
    """Bring this clone's state and the shared one together.

    `known` are states that the shared ref is known to have had, and `named` is the one that the
    journal names, which the shared ref has to go on from; `ours` holds all of them, unless it was
    taken back itself.
    """
    states = [*known, *([named] if named else [])]
    if theirs is None:
        if ours is None or not ours.sound:
            return Plan(Outcome.UNTRUSTED if ours else Outcome.SAME, ours)
        return Plan(Outcome.PUSH, ours, lost=_DELETED if states else "")
    if ours is None:
        return Plan(Outcome.TAKE if theirs.sound else Outcome.UNTRUSTED, theirs)
    if ours.tip == theirs.tip:
        return Plan(Outcome.SAME if ours.sound else Outcome.UNTRUSTED, ours)
    if not theirs.sound:
        if not ours.sound:
            return Plan(Outcome.UNTRUSTED, ours)
        return _replayed(ours, theirs, fold, lost=_ALTERED)
    if not ours.sound:
        return _replayed(theirs, ours, fold)
    if theirs.has(ours):
        return Plan(Outcome.TAKE, theirs)
    if ours.has(theirs):
        if any(not theirs.has(state) for state in states):
            return Plan(Outcome.PUSH, ours, lost=_REWOUND)
        return _mended(ours, theirs, fold) or Plan(Outcome.PUSH, ours)
    return _apart(ours, theirs, known, fold, named)


_DELETED = "it was deleted"
_ALTERED = "it was altered"
_REWOUND = "it was taken back to an earlier event"
_UNNAMED = "it does not go on from what the journal names"


def _apart(
    ours: Chain, theirs: Chain, known: Sequence[Chain], fold: Fold, named: Chain | None
) -> Plan:
    if named is not None and theirs.has(named) and not ours.has(named):
        return _replayed(theirs, ours, fold)  # it is this clone's that was rewritten
    lost = next(filter(None, (lacking(state, theirs, fold) for state in known)), "")
    if not lost and named is not None and not theirs.has(named):
        lost = _UNNAMED
    return _replayed(ours, theirs, fold, lost) if lost else _replayed(theirs, ours, fold)


def _mended(ours: Chain, theirs: Chain, fold: Fold) -> Plan | None:
    """What only this clone has, made anew where some of it has no effect: it was written before
    this clone knew that a life had ended. None where all of it may go out as it is."""
    unshared = ours.events[len(theirs.events) :]
    answered = {event.request for event in unshared if event.name is EventName.DECIDED}
    idle = {one.event.id for one in fold(ours.events).ignored}
    dead = (
        event.id in idle
        and event.name is not EventName.DECIDED
        and not (event.name in BRINGS and event.request in answered)
        for event in unshared
    )
    if not any(dead) and not any(event.record in ours.junk for event in unshared):
        return None
    plan = _replayed(theirs, ours, fold)
    before, after = (
        [(event.name, identity(event)) for event in events] for events in (unshared, plan.replayed)
    )
    return plan if before != after else None


def _replayed(winner: Chain, loser: Chain, fold: Fold, lost: str = "") -> Plan:
    """The loser's events on the winner's; `lost` where the winner is this clone's."""
    requests = {**loser.requests, **winner.requests}
    events = loser.events if loser.sound else whole(loser, requests)
    left = [event for event in events if event.record in loser.junk]
    events = tuple(event for event in events if event.record not in loser.junk)
    done, said = replay(winner.events, events, requests, fold)
    there = {event.record for event in winner.events}
    gone = {str(event.record): None for event in left if event.record not in there}
    said += tuple(f"the record {one[:12]} can never count, and was left out" for one in gone)
    if done:
        return Plan(Outcome.REPLAY, winner, done, lost, said)
    return Plan(Outcome.PUSH if lost else Outcome.TAKE, winner, (), lost, said)


def whole(chain: Chain, requests: Mapping[str, Request]) -> tuple[Event, ...]:
    """The requests, and the records about known ones, of a ledger that does not verify."""
    return tuple(
        event
        for event in chain.events
        if (event.name in BRINGS and event.request in chain.requests)
        or (event.record in chain.records and event.request in requests)
    )


def lacking(known: Chain, theirs: Chain, fold: Fold) -> str:
    """What a shared ledger lost of a state that it had, or stands in another order; empty where
    all is there. Somebody honest never loses any of it, so somebody rewrote the ref.

    What nobody signed counts only where it could still follow: two who mend the same ledger would
    else undo each other for ever.
    """
    if theirs.has(known):
        return ""
    there = {identity(event) for event in theirs.events}
    missing = [
        event
        for event in known.events
        if identity(event) not in there and event.record not in known.junk
    ]
    for event in missing:
        if event.name is EventName.DECIDED:
            return f"it lost the record {str(event.record)[:12]}"
        if event.name is EventName.CLAIMED and not _claimed_before(event, known, theirs):
            return f"it lost the claim of the record {str(event.record)[:12]}"
        if event.name in BRINGS and _kind(known, event) is Kind.APPROVAL:
            return f"it lost the request {str(event.request)[:12]}"
    unsigned = [event for event in missing if event.name is not EventName.CLAIMED]
    instance = fold(theirs.events) if unsigned else None
    for event in unsigned:
        brought = _kind(known, event) if event.name in BRINGS else None
        about = event.request if event.name not in BRINGS else None
        if instance is not None and not may_follow(instance, event.name, brought, about):
            return f"it lost the event `{event.name}`"
    return "its requests stand in another order" if _reordered(known, theirs) else ""


def _kind(chain: Chain, event: Event) -> Kind | None:
    request = chain.requests.get(event.request or "")
    return request.kind if request else None


def _claimed_before(claim: Event, known: Chain, theirs: Chain) -> bool:
    """Whether the shared ledger has another claim of that record which is the one that holds.

    Of two claims that were both shared once the earlier one does, on every clone.
    """
    had = {identity(event) for event in known.events}
    return any(
        event.name is EventName.CLAIMED
        and event.record == claim.record
        and identity(event) not in had
        and (event.at, codec.body(event)) < (claim.at, codec.body(claim))
        for event in theirs.events
    )


def _reordered(known: Chain, theirs: Chain) -> bool:
    """Whether the requests that both have stand in another order, and that of `known` is right:
    the one that begins, at the first difference, with the request that was asked earlier."""
    shared = known.requests.keys() & theirs.requests.keys()
    had, have = (
        [e.request for e in chain.events if e.name in BRINGS and e.request in shared]
        for chain in (known, theirs)
    )
    for one, other in zip(had, have, strict=False):
        if one and other and one != other:
            return _age(known.requests[one]) < _age(known.requests[other])
    return False


def _age(request: Request) -> tuple[int, str]:
    return request.opened.time, request.id
