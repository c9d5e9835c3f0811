"""Events of one chain on top of another: what is new there is appended, as what it may be there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gitgate.core import events as codec
from gitgate.core.events import Event, EventName
from gitgate.core.gate import Instance, Iteration, Life, may_follow
from gitgate.core.request import Request

BRINGS = frozenset([EventName.OPENED, EventName.ITERATED, EventName.ESCALATED, EventName.ASKED])
"""The events that bring a request."""

Identity = tuple[str, object]


def identity(event: Event) -> Identity:
    """What makes an event the same one wherever it stands: the request that it brings, the record
    that it holds (beside another request it is none), else every byte of it."""
    if event.name in BRINGS:
        return "request", event.request
    if event.name is EventName.DECIDED:
        return "record", (event.record, event.request)
    return event.name.value, codec.body(event)


def replay(
    winner: Sequence[Event],
    loser: Sequence[Event],
    requests: Mapping[str, Request],
    fold: Callable[[Sequence[Event]], Instance],
) -> tuple[tuple[Event, ...], tuple[str, ...]]:
    """The events of `loser` that `winner` lacks, as they follow on it, and what people have to
    know: which iterations got another number, and what could not follow and why."""
    there = {identity(event) for event in winner}
    new = [event for event in loser if identity(event) not in there]
    answered = {event.request for event in new if event.name is EventName.DECIDED}
    done = list(winner)
    dropped = []
    for event in new:
        if identity(event) in there:
            continue
        placed, why = _placed(event, done, answered, requests, fold)
        if placed is not None:
            done.append(placed)
            there.add(identity(placed))
        elif why:
            dropped.append(f"`{event.name}` of {event.by.name} was dropped: {why}")
    replayed = tuple(done[len(winner) :])
    moved = _renumbered(winner, loser, replayed, requests, fold)
    return replayed, (*moved, *dropped)


def _placed(
    event: Event,
    done: Sequence[Event],
    answered: set[str | None],
    requests: Mapping[str, Request],
    fold: Callable[[Sequence[Event]], Instance],
) -> tuple[Event | None, str]:
    """The event as it follows on `done`; None where it does not, with the reason to be told."""
    if event.name is EventName.DECIDED:
        return event, ""
    if event.name is EventName.CLAIMED:
        return None, "another claim may have been first; claim the answer again"
    if _said_already(event, done):
        return None, ""
    if event.name is EventName.RESUMED and not _has_claim(event, done):
        return None, "its claim is not in the shared ledger"
    instance = fold(done)
    if event.name not in BRINGS:
        why = may_follow(instance, event.name, request=event.request)
        return (None, why) if why else (event, "")
    asked = replace(event, name=_name_of_round(event.name, instance))
    request = requests.get(event.request or "")
    why = may_follow(instance, asked.name, request.kind if request else None)
    return (None, why) if why and event.request not in answered else (asked, "")


def _name_of_round(name: EventName, instance: Instance) -> EventName:
    """A second `opened` is an `iterated`; an `iterated` after the end of a life opens the next."""
    if name in (EventName.OPENED, EventName.ITERATED):
        return EventName.ITERATED if instance.running else EventName.OPENED
    return name


def _said_already(event: Event, done: Sequence[Event]) -> bool:
    """Whether somebody else has recorded the same fact."""
    if event.name is EventName.EXPIRED:
        return any(e.name is event.name and e.request == event.request for e in done)
    if event.name is EventName.LANDED:
        fact = event.request, event.fields
        return any(e.name is event.name and (e.request, e.fields) == fact for e in done)
    return False


def _has_claim(event: Event, done: Sequence[Event]) -> bool:
    claim = event.record, event.fields
    return any(e.name is EventName.CLAIMED and (e.record, e.fields) == claim for e in done)


def _renumbered(
    winner: Sequence[Event],
    loser: Sequence[Event],
    replayed: Sequence[Event],
    requests: Mapping[str, Request],
    fold: Callable[[Sequence[Event]], Instance],
) -> list[str]:
    """Which iterations have another number now, told to both whose rounds met."""
    brought = [event.request for event in replayed if event.name in BRINGS and event.request]
    if not brought:
        return []
    before, after = fold(loser), fold([*winner, *replayed])
    said = []
    for oid in brought:
        was, now = before.find(oid), after.find(oid)
        if was is None or now is None or was[1].number == now[1].number or oid not in requests:
            continue
        said.append(_moved(was, now, requests))
    return said


def _moved(
    was: tuple[Life, Iteration], now: tuple[Life, Iteration], requests: Mapping[str, Request]
) -> str:
    number, oid = was[1].number, was[1].request
    said = f"iteration {number} of {_asker(requests, oid)} is now iteration {now[1].number}"
    if was[0].number != now[0].number:
        return f"{said} of the next life"
    first = next((one for one in now[0].iterations if one.number == number), None)
    if first is None or first.request not in requests:
        return said
    return f"{said}, after iteration {number} of {_asker(requests, first.request)}"


def _asker(requests: Mapping[str, Request], oid: str) -> str:
    return requests[oid].opened.person.name
