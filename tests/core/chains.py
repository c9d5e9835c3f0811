"""States of ledgers for tests: events on chains, and how two of them come together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from gitgate.core.events import Event, EventName
from gitgate.core.gate import Facts, Instance, fold
from gitgate.core.person import Person, Stamp
from gitgate.core.reconcile import Chain, Plan, reconcile
from gitgate.core.replay import BRINGS, identity
from gitgate.core.request import Kind, Request

ADA = Person("Ada Lovelace", "ada@example.com")
BOB = Person("Bob Babbage", "bob@example.com")
ROOT = "0" * 40
WHEN = 1_764_565_200


def oid(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()


def request(name: str, *, at: int = WHEN, who: Person = ADA, kind: Kind = Kind.APPROVAL) -> Request:
    target = "" if kind in (Kind.STEP, Kind.QUESTION) else "refs/heads/main"
    work = oid("work")
    return Request(
        *(oid(name), kind, "main", "feature", target, work, work, None, None, None),
        nonce="0" * 32,
        opened=Stamp(who, at),
    )


def event(
    name: EventName,
    about: str | None = None,
    record: str | None = None,
    *,
    at: int = WHEN,
    who: Person = ADA,
    **fields: Any,
) -> Event:
    return Event("", 0, name, at, who, about and oid(about), record and oid(record), fields)


def chain(requests: Iterable[Request], *events: Event, on: Chain | None = None) -> Chain:
    """A chain of these events, each commit named by all that came before it."""
    known = {one.id: one for one in requests}
    commits = list(on.commits if on else (ROOT,))
    done = list(on.events if on else ())
    for one in events:
        commits.append(oid(f"{commits[-1]} {one.name} {one.by.name} {identity(one)}"))
        done.append(replace(one, id=commits[-1], number=len(done) + 1))
    brought = {e.request: known[str(e.request)] for e in done if e.name in BRINGS}
    records = frozenset(str(e.record) for e in done if e.name is EventName.DECIDED)
    requests = {str(key): value for key, value in brought.items()}
    return Chain(tuple(commits), tuple(done), requests, records)


def folding(*chains: Chain) -> Any:
    kinds = {key: one.kind for some in chains for key, one in some.requests.items()}

    def look(events: Sequence[Event]) -> Instance:
        good = frozenset(e.id for e in events if e.name is EventName.DECIDED)
        ends = frozenset(e.id for e in events if e.name is EventName.LANDED)
        return fold(events, kinds, Facts(good, ends))

    return look


def brought_together(
    ours: Chain | None, theirs: Chain | None, *known: Chain, named: Chain | None = None
) -> Plan:
    there = [one for one in (ours, theirs, *known, named) if one]
    return reconcile(ours, theirs, known, folding(*there), named)


def names(plan: Plan) -> list[str]:
    return [one.name.value for one in plan.replayed]


FIRST, SECOND, THIRD = request("1"), request("2", at=WHEN + 10), request("3", at=WHEN + 20, who=BOB)
ALL = (FIRST, SECOND, THIRD)
OPENED = event(EventName.OPENED, "1")
REJECTED = event(EventName.DECIDED, "1", "no", who=BOB)
ITERATED = event(EventName.ITERATED, "2")
LANDING = {"target": "refs/heads/main", "old": oid("old"), "new": oid("new")}
BEGUN = chain(ALL, OPENED)
