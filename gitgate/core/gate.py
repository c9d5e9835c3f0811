"""The lifecycle of an instance: one fold over its events, one table of what may follow what.

Every writer and the server's hook ask the same table (design, section 3). The fold knows nothing
of policy, people or time: what only those can tell (whether a record is good, whether a landing
is really on the target) comes in as `Facts`; approved, rejected and skipped are the verdict's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from gitgate.core.events import Event, EventName
from gitgate.core.request import Kind


class Status(StrEnum):
    """What an instance is; `stale` is not among them, it is what `check` says of content."""

    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"
    SKIPPED = "skipped"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    LANDED = "landed"
    PARKED = "parked"
    ANSWERED = "answered"
    DECLINED = "declined"
    RESOLVED = "resolved"
    COMPLETED = "completed"
    TERMINATED = "terminated"


class Stage(StrEnum):
    """Where a life stands as far as its events alone can tell; `NONE` is before and after one."""

    NONE = "none"
    OPEN = "open"
    ASKED = "asked"
    RUNNING = "running"
    ESCALATED = "escalated"
    PARKED = "parked"
    CLAIMED = "claimed"
    RESUMED = "resumed"


_E = EventName
_S = Stage

_STEP_ALWAYS: Mapping[EventName, Stage | None] = {
    _E.COMPLETED: _S.NONE,
    _E.TERMINATED: _S.NONE,
    _E.STRIPPED: None,
    _E.COMPENSATED: None,
    _E.DECIDED: None,
}

# Which event may follow in which stage, and the stage it leads to; None stays where it is.
FOLLOWS: Mapping[Stage, Mapping[EventName, Stage | None]] = {
    _S.NONE: {
        _E.OPENED: _S.OPEN,
        _E.ASKED: _S.ASKED,
        _E.STARTED: _S.RUNNING,
        _E.ESCALATED: _S.ESCALATED,
    },
    _S.OPEN: {
        _E.ITERATED: None,
        _E.VALIDATED: None,
        _E.DECIDED: None,
        _E.EXPIRED: None,
        _E.WITHDRAWN: _S.NONE,
        _E.LANDED: _S.NONE,
    },
    _S.ASKED: {
        _E.ASKED: None,
        _E.DECIDED: None,
        _E.EXPIRED: _S.NONE,
        _E.WITHDRAWN: _S.NONE,
    },
    _S.RUNNING: {_E.STARTED: None, _E.ESCALATED: _S.ESCALATED, **_STEP_ALWAYS},
    _S.ESCALATED: {
        _E.ESCALATED: None,
        _E.PARKED: _S.PARKED,
        _E.CLAIMED: _S.CLAIMED,
        _E.EXPIRED: None,
        _E.WITHDRAWN: _S.NONE,
        **_STEP_ALWAYS,
    },
    _S.PARKED: {_E.CLAIMED: _S.CLAIMED, _E.EXPIRED: None, **_STEP_ALWAYS},
    _S.CLAIMED: {_E.RESUMED: _S.RESUMED, **_STEP_ALWAYS},
    _S.RESUMED: {_E.STARTED: _S.RUNNING, **_STEP_ALWAYS},
}

_STARTS: Mapping[EventName, tuple[Kind, ...]] = {
    _E.OPENED: (Kind.APPROVAL, Kind.ACKNOWLEDGEMENT),
    _E.ASKED: (Kind.QUESTION,),
    _E.STARTED: (Kind.STEP,),
    _E.ESCALATED: (Kind.STEP,),
}

_END_STATUS: Mapping[EventName, Status] = {
    _E.LANDED: Status.LANDED,
    _E.WITHDRAWN: Status.WITHDRAWN,
    _E.COMPLETED: Status.COMPLETED,
    _E.TERMINATED: Status.TERMINATED,
    _E.EXPIRED: Status.EXPIRED,
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What the events cannot tell of themselves; each set holds ids of ledger commits.

    `good`: `decided` events whose record is a listed person's good signature. `ends`: `decided`
    events (a signed quit that counts, a question's answer) and `landed` events (the stretch is on
    the target's first-parent chain and is what its request says) that end the life they stand in.
    """

    good: frozenset[str] = frozenset()
    ends: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Iteration:
    """One request of a life and what came for it; `number` counts from 1 in each life."""

    number: int
    request: str
    event: Event
    decided: tuple[Event, ...] = ()
    validated: tuple[Event, ...] = ()
    expired: Event | None = None


@dataclass(frozen=True, slots=True)
class Life:
    """An instance from its first event to its end (design, section 1)."""

    number: int
    kind: Kind
    stage: Stage
    first: Event
    iterations: tuple[Iteration, ...] = ()
    last: Event | None = None
    status: Status | None = None

    @property
    def ended(self) -> bool:
        return self.last is not None


@dataclass(frozen=True, slots=True)
class Ignored:
    """An event that stands in the ledger and has no effect, and the sentence that says why.

    `late`: the life that it is about had ended, so that it could not have any.
    """

    event: Event
    reason: str
    late: bool = False


@dataclass(frozen=True, slots=True)
class Instance:
    """One gate for one subject: its lives in order and the events that had no effect.

    `late` are the requests that were asked in a life that had ended.
    """

    lives: tuple[Life, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    records: frozenset[str] = field(default=frozenset(), repr=False)
    good: frozenset[str] = field(default=frozenset(), repr=False)
    late: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def life(self) -> Life | None:
        """The life that runs, else the last one; None for a ledger without events."""
        return self.lives[-1] if self.lives else None

    @property
    def running(self) -> Life | None:
        life = self.life
        return life if life is not None and not life.ended else None

    @property
    def newest(self) -> Iteration | None:
        """The newest request of the latest life; only this one can authorise."""
        life = self.life
        return life.iterations[-1] if life is not None and life.iterations else None

    def find(self, request: str) -> tuple[Life, Iteration] | None:
        """The life and iteration that `request` belongs to."""
        for life in reversed(self.lives):
            for iteration in reversed(life.iterations):
                if iteration.request == request:
                    return life, iteration
        return None


def may_follow(
    instance: Instance, name: EventName, kind: Kind | None = None, request: str | None = None
) -> str:
    """Why `name` may not be the next event of `instance`, as a sentence; empty where it may.

    `kind` is the kind of the request that the event brings, where it brings one, and `request`
    the one that it is about, where it says.
    """
    life = instance.running
    stage = life.stage if life is not None else Stage.NONE
    if name not in FOLLOWS[stage]:
        where = f"while the instance is {stage}" if life is not None else _nothing_open(instance)
        return f"`{name}` may not follow {where}"
    if life is None:
        return _wrong_start(name, kind)
    if kind is not None and kind is not life.kind:
        return f"a request of kind `{kind}` may not join a life of kind `{life.kind}`"
    if name is EventName.ITERATED and life.kind is not Kind.APPROVAL:
        return f"`iterated` may not follow in a life of kind `{life.kind}`"
    if name is EventName.WITHDRAWN and _is_decided(instance, life):
        return "`withdrawn` may not follow once somebody has decided"
    return _wrong_request(life, name, request)


def fold(
    events: Iterable[Event], kinds: Mapping[str, Kind], facts: Facts | None = None
) -> Instance:
    """Fold the events of one ledger, in order of the chain, into its instance.

    `kinds` tells the kind of each request. An event that may not stand where it does is kept as
    ignored, with its reason; nothing raises.
    """
    facts = facts or Facts()
    instance = Instance(good=facts.good)
    for event in events:
        instance = _step(instance, event, kinds, facts)
    return instance


def _step(instance: Instance, event: Event, kinds: Mapping[str, Kind], facts: Facts) -> Instance:
    if event.name is EventName.DECIDED:
        return _decided(instance, event, facts)
    brings = kinds.get(event.request) if event.request and event.name in _BRINGS else None
    about = event.request if event.name not in _BRINGS else None
    wrong = may_follow(instance, event.name, brings, about)
    if not wrong and event.name is EventName.LANDED and event.id not in facts.ends:
        wrong = (
            "the landing that it names is not on the target's chain as it is known here, or is not"
            " its request's"
        )
    if not wrong and event.name in _BRINGS and instance.find(event.request or "") is not None:
        wrong = "its request was asked before"
    if wrong:
        return _ignore(instance, event, wrong, late=_has_ended(instance, event))
    life = instance.running
    if life is None:
        kind = brings or _STARTS[event.name][0]
        return replace(instance, lives=(*instance.lives, _born(instance, event, kind)))
    return _replace_life(instance, _advance(life, event))


_BRINGS = (EventName.OPENED, EventName.ITERATED, EventName.ESCALATED, EventName.ASKED)


def _born(instance: Instance, event: Event, kind: Kind) -> Life:
    stage = FOLLOWS[Stage.NONE][event.name] or Stage.NONE
    life = Life(len(instance.lives) + 1, kind, stage, event)
    return _with_request(life, event) if event.name in _BRINGS else life


def _advance(life: Life, event: Event) -> Life:
    stage = FOLLOWS[life.stage][event.name] or life.stage
    if FOLLOWS[life.stage][event.name] is Stage.NONE:
        return replace(life, stage=Stage.NONE, last=event, status=_END_STATUS[event.name])
    life = replace(life, stage=stage)
    if event.name in _BRINGS:
        return _with_request(life, event)
    if not life.iterations:
        return life
    about = next((i for i in life.iterations if i.request == event.request), life.iterations[-1])
    if event.name is EventName.EXPIRED:
        return _with_changed(life, about, replace(about, expired=event))
    if event.name is EventName.VALIDATED:
        return _with_changed(life, about, replace(about, validated=(*about.validated, event)))
    return life


def _decided(instance: Instance, event: Event, facts: Facts) -> Instance:
    """A decision is never dropped: it joins the iteration that it names, in whatever life."""
    found = instance.find(event.request or "")
    if found is None:
        return _ignore(instance, event, "it decides a request that this ledger does not have")
    if event.record in instance.records:
        return _ignore(instance, event, "its record stands in this ledger already")
    life, iteration = found
    joined = replace(iteration, decided=(*iteration.decided, event))
    changed = _with_changed(life, iteration, joined)
    current = not life.ended and iteration is life.iterations[-1]
    if current and event.id in facts.ends:
        status = Status.ANSWERED if life.kind is Kind.QUESTION else Status.WITHDRAWN
        changed = replace(changed, stage=Stage.NONE, last=event, status=status)
    lives = tuple(changed if one is life else one for one in instance.lives)
    records = instance.records | {event.record or ""}
    instance = replace(instance, lives=lives, records=records)
    return instance if not life.ended else _ignore(instance, event, _LATE, late=True)


_LATE = "it came after the end of its life; a rejection counts all the same"


def _with_request(life: Life, event: Event) -> Life:
    number = len(life.iterations) + 1
    iteration = Iteration(number, event.request or "", event)
    return replace(life, iterations=(*life.iterations, iteration))


def _with_changed(life: Life, old: Iteration, new: Iteration) -> Life:
    return replace(life, iterations=tuple(new if one is old else one for one in life.iterations))


def _replace_life(instance: Instance, life: Life) -> Instance:
    return replace(instance, lives=(*instance.lives[:-1], life))


def _ignore(instance: Instance, event: Event, reason: str, *, late: bool = False) -> Instance:
    brought = {event.request or ""} if late and event.name in _BRINGS else frozenset()
    ignored = (*instance.ignored, Ignored(event, reason, late))
    return replace(instance, ignored=ignored, late=instance.late | brought)


def _has_ended(instance: Instance, event: Event) -> bool:
    """Whether the life that an event goes on with, or is about, was over when it came."""
    if event.name not in FOLLOWS[Stage.NONE] and instance.running is None:
        return bool(instance.lives)
    if event.name in _BRINGS:
        return False
    found = instance.find(event.request or "")
    return found[0].ended if found is not None else event.request in instance.late


def _nothing_open(instance: Instance) -> str:
    return "after the end of a life" if instance.lives else "in an empty ledger"


def _is_decided(instance: Instance, life: Life) -> bool:
    """Whether somebody has decided the newest request: a record that is nobody's is no decision."""
    decided = life.iterations[-1].decided if life.iterations else ()
    return any(event.id in instance.good for event in decided)


def _wrong_request(life: Life, name: EventName, request: str | None) -> str:
    """An event without a signature ends only the request that it names, and no other one's life."""
    if request is None or not life.iterations:
        return ""
    ends = FOLLOWS[life.stage][name] is Stage.NONE
    if ends and request != life.iterations[-1].request:
        return f"`{name}` may not follow for a request that is not the newest"
    if request not in [one.request for one in life.iterations]:
        return f"`{name}` may not follow for a request of another life"
    return ""


def _wrong_start(name: EventName, kind: Kind | None) -> str:
    if kind is not None and kind not in _STARTS[name]:
        return f"a request of kind `{kind}` is not asked by `{name}`"
    return ""
