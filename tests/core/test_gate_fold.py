"""The lifecycle: which event may follow which, and what the events of a ledger make of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gitgate.core.events import Event, EventName
from gitgate.core.gate import Facts, Instance, Stage, Status, fold, may_follow
from gitgate.core.person import Person
from gitgate.core.request import Kind

ADA = Person("Ada Lovelace", "ada@example.com")

KINDS = {
    **{f"a{n}": Kind.APPROVAL for n in range(1, 5)},
    **{f"q{n}": Kind.QUESTION for n in range(1, 5)},
    **{f"s{n}": Kind.STEP for n in range(1, 5)},
    "ack": Kind.ACKNOWLEDGEMENT,
}

# A row an event, a column a stage: where the event leads, `=` where nothing changes, `.` where it
# may not be. The words of the design, section 3, as one table.
TABLE = """
             none       open  asked  running    escalated  parked   claimed  resumed
opened       open       .     .      .          .          .        .        .
iterated     .          =     .      .          .          .        .        .
validated    .          =     .      .          .          .        .        .
asked        asked      .     =      .          .          .        .        .
started      running    .     .      =          .          .        .        running
escalated    escalated  .     .      escalated  =          .        .        .
parked       .          .     .      .          parked     .        .        .
decided      .          =     =      =          =          =        =        =
claimed      .          .     .      .          claimed    claimed  .        .
resumed      .          .     .      .          .          .        resumed  .
expired      .          =     none   .          =          =        .        .
stripped     .          .     .      =          =          =        =        =
compensated  .          .     .      =          =          =        =        =
completed    .          .     .      none       none       none     none     none
terminated   .          .     .      none       none       none     none     none
landed       .          none  .      .          .          .        .        .
withdrawn    .          none  none   .          none       .        .        .
"""

# How an instance gets into each stage, as `event:request`.
PATHS = {
    "none": "",
    "open": "opened:a1",
    "asked": "asked:q1",
    "running": "started",
    "escalated": "escalated:s1",
    "parked": "escalated:s1 parked",
    "claimed": "escalated:s1 claimed",
    "resumed": "escalated:s1 claimed resumed",
}
# The request that an event brings or is about, where it follows there.
NEXT = {"open": ("a2", "a1"), "asked": ("q2", "q1")}


def events(text: str) -> list[Event]:
    """`name:request:record` separated by blanks; ids e1, e2, … in that order."""
    found = []
    for number, word in enumerate(text.split(), 1):
        name, request, record, *_ = [*word.split(":"), "", ""]
        found.append(
            Event(
                f"e{number}",
                number,
                EventName(name),
                1000 + number,
                ADA,
                request or None,
                record or None,
            )
        )
    return found


def folded(
    text: str, *, good: str = "", ends: str = "", kinds: Mapping[str, Kind] = KINDS
) -> Instance:
    facts = Facts(frozenset(good.split()), frozenset(ends.split()))
    return fold(events(text), kinds, facts)


def ignored(instance: Instance) -> list[str]:
    return [f"{one.event.id}: {one.reason}" for one in instance.ignored]


def cells() -> list[tuple[str, str, str]]:
    head, *rows = [line.split() for line in TABLE.strip().split("\n")]
    return [
        (row[0], stage, cell) for row in rows for stage, cell in zip(head, row[1:], strict=True)
    ]


def test_the_table_has_every_event_and_every_stage() -> None:
    found = cells()
    assert {name for name, _, _ in found} == {str(name) for name in EventName}
    assert {stage for _, stage, _ in found} == {str(stage) for stage in Stage}


@pytest.mark.parametrize("stage", list(PATHS))
def test_which_event_may_follow_which(stage: str) -> None:
    before = folded(PATHS[stage])
    assert (before.running.stage if before.running else Stage.NONE) == stage
    number = len(PATHS[stage].split()) + 1
    for name, where, leads_to in cells():
        if where != stage:
            continue
        brought, about = NEXT.get(stage, ("s2", "s1"))
        new = name in ("opened", "asked", "escalated", "iterated")
        if stage == "none":
            brought = {"opened": "a1", "asked": "q1"}.get(name, "s1")
        request = {"started": "", "parked": ""}.get(name, brought if new else about)
        record = ":r1" if name == "decided" else ""
        word = f"{name}:{request}{record}".rstrip(":")
        after = folded(f"{PATHS[stage]} {word}", ends=f"e{number}" if name == "landed" else "")
        refused = may_follow(before, EventName(name), KINDS.get(request if new else ""))
        assert bool(refused) == (leads_to == "."), (stage, name, refused)
        if leads_to == "." and stage != "none":
            assert replace(after, ignored=()) == before, (stage, name)
            assert [one.event.name for one in after.ignored] == [name]
            continue
        wanted = {"=": stage, ".": "none"}.get(leads_to, leads_to)
        found = after.running.stage if after.running else Stage.NONE
        assert found == wanted, (stage, name)


def test_the_refusals_say_what_may_not_follow_what() -> None:
    empty, open_, over = folded(""), folded("opened:a1"), folded("opened:a1 withdrawn:a1")
    assert may_follow(empty, EventName.DECIDED) == "`decided` may not follow in an empty ledger"
    assert may_follow(open_, EventName.OPENED) == (
        "`opened` may not follow while the instance is open"
    )
    assert may_follow(over, EventName.LANDED) == "`landed` may not follow after the end of a life"
    assert may_follow(over, EventName.OPENED, Kind.APPROVAL) == ""
    assert may_follow(empty, EventName.OPENED, Kind.STEP) == (
        "a request of kind `step` is not asked by `opened`"
    )
    assert may_follow(empty, EventName.OPENED, Kind.ACKNOWLEDGEMENT) == ""
    assert may_follow(open_, EventName.ITERATED, Kind.QUESTION) == (
        "a request of kind `question` may not join a life of kind `approval`"
    )
    acknowledging = folded("opened:ack")
    assert may_follow(acknowledging, EventName.ITERATED, Kind.ACKNOWLEDGEMENT) == (
        "`iterated` may not follow in a life of kind `acknowledgement`"
    )


def test_lives_and_iterations_are_counted() -> None:
    instance = folded(
        "opened:a1 decided:a1:r1 iterated:a2 decided:a2:r2 landed:a2 opened:a3 iterated:a4",
        good="e2 e4",
        ends="e5",
    )
    first, second = instance.lives
    assert (first.number, first.status, first.last and first.last.id) == (1, Status.LANDED, "e5")
    assert [(one.number, one.request) for one in first.iterations] == [(1, "a1"), (2, "a2")]
    assert [[e.id for e in one.decided] for one in first.iterations] == [["e2"], ["e4"]]
    assert (second.number, second.status, second.ended) == (2, None, False)
    assert [(one.number, one.request) for one in second.iterations] == [(1, "a3"), (2, "a4")]
    assert instance.running is second
    assert instance.newest == second.iterations[-1]
    assert instance.find("a1") == (first, first.iterations[0])
    assert instance.find("q1") is None
    assert instance.ignored == ()


@pytest.mark.parametrize(
    ("text", "facts", "status"),
    [
        ("opened:a1 withdrawn:a1", {}, Status.WITHDRAWN),
        ("opened:a1 withdrawn", {}, Status.WITHDRAWN),
        ("opened:a1 landed:a1", {"ends": "e2"}, Status.LANDED),
        ("opened:a1 decided:a1:r1", {"good": "e2", "ends": "e2"}, Status.WITHDRAWN),
        ("asked:q1 decided:q1:r1", {"good": "e2", "ends": "e2"}, Status.ANSWERED),
        ("asked:q1 expired:q1", {}, Status.EXPIRED),
        ("started completed", {}, Status.COMPLETED),
        ("escalated:s1 parked terminated", {}, Status.TERMINATED),
    ],
)
def test_what_ends_a_life(text: str, facts: dict[str, str], status: Status) -> None:
    instance = folded(text, **facts)
    assert instance.life is not None
    assert (instance.life.status, instance.running, instance.ignored) == (status, None, ())


def test_a_decision_is_never_dropped_and_after_the_end_it_is_late() -> None:
    instance = folded("opened:a1 withdrawn:a1 decided:a1:r1 opened:a2 decided:a1:r2", good="e3 e5")
    first, second = instance.lives
    assert [e.record for e in first.iterations[0].decided] == ["r1", "r2"]
    assert (first.status, second.status) == (Status.WITHDRAWN, None)
    assert second.iterations[0].decided == ()
    late = "it came after the end of its life; a rejection counts all the same"
    assert ignored(instance) == [f"e3: {late}", f"e5: {late}"]


def test_a_decision_on_an_earlier_iteration_ends_nothing() -> None:
    instance = folded("opened:a1 iterated:a2 decided:a1:r1", good="e3", ends="e3")
    assert instance.running is not None
    assert [len(one.decided) for one in instance.running.iterations] == [1, 0]


def test_a_record_counts_once_and_belongs_to_a_request_of_its_ledger() -> None:
    instance = folded("opened:a1 decided:a1:r1 decided:a1:r1 decided:a4:r2")
    assert ignored(instance) == [
        "e3: its record stands in this ledger already",
        "e4: it decides a request that this ledger does not have",
    ]
    assert instance.newest is not None
    assert [e.id for e in instance.newest.decided] == ["e2"]


def test_a_landing_that_is_not_on_the_target_ends_nothing() -> None:
    instance = folded("opened:a1 landed:a1")
    assert instance.running is not None
    [reason] = ignored(instance)
    assert reason == (
        "e2: the landing that it names is not on the target's chain as it is known here, or is"
        " not its request's"
    )


def test_a_landing_of_another_request_uses_up_no_approval() -> None:
    """An unsigned event, although what it says is true, is about its own request only."""
    earlier_life = "opened:a1 decided:a1:r1 landed:a1 opened:a2 decided:a2:r2 landed:a1"
    instance = folded(earlier_life, good="e2 e5", ends="e3 e6")
    assert instance.running is instance.lives[1]
    earlier_round = "opened:a1 decided:a1:r1 iterated:a2 decided:a2:r2 landed:a1"
    other = folded(earlier_round, good="e2 e4", ends="e5")
    assert other.running is not None
    reason = "`landed` may not follow for a request that is not the newest"
    assert [*ignored(instance), *ignored(other)] == [f"e6: {reason}", f"e5: {reason}"]


def test_a_withdrawal_needs_that_nobody_has_decided() -> None:
    text = "opened:a1 decided:a1:r1 withdrawn:a1"
    assert folded(text).running is None  # the record is nobody's: junk stops no withdrawal
    decided = folded(text, good="e2")
    assert ignored(decided) == ["e3: `withdrawn` may not follow once somebody has decided"]
    assert may_follow(decided, EventName.WITHDRAWN) != ""
    again = folded("opened:a1 decided:a1:r1 iterated:a2 withdrawn:a2", good="e2")
    assert again.running is None


def test_a_withdrawal_takes_back_no_request_that_it_has_not_seen() -> None:
    instance = folded("opened:a1 iterated:a2 withdrawn:a1")
    reason = "`withdrawn` may not follow for a request that is not the newest"
    assert ignored(instance) == [f"e3: {reason}"]
    assert may_follow(instance, EventName.WITHDRAWN, request="a1") == reason
    assert may_follow(instance, EventName.WITHDRAWN, request="a2") == ""


def test_findings_and_deadlines_join_the_iteration_that_they_name() -> None:
    instance = folded("opened:a1 iterated:a2 validated:a1 expired:a1 validated:a2")
    assert instance.running is not None
    one, two = instance.running.iterations
    assert [e.id for e in one.validated] == ["e3"]
    assert one.expired is not None and one.expired.id == "e4"
    assert ([e.id for e in two.validated], two.expired) == (["e5"], None)
    other_life = folded("opened:a1 withdrawn opened:a2 validated:a1")
    assert ignored(other_life) == ["e4: `validated` may not follow for a request of another life"]


def test_a_request_is_asked_once() -> None:
    instance = folded("opened:a1 iterated:a1 withdrawn opened:a1")
    assert ignored(instance) == [
        "e2: its request was asked before",
        "e4: its request was asked before",
    ]
    assert len(instance.lives) == 1


def test_a_step_goes_on_with_a_fresh_attempt() -> None:
    instance = folded(
        "started escalated:s1 escalated:s2 parked decided:s2:r1 claimed resumed started completed",
        good="e5",
    )
    assert instance.life is not None
    assert [one.request for one in instance.life.iterations] == ["s1", "s2"]
    assert (instance.life.kind, instance.life.status) == (Kind.STEP, Status.COMPLETED)
    assert instance.ignored == ()


def test_what_is_late() -> None:
    """What came after the end of its life, and what is about such a request; nothing else."""
    after = (
        "iterated:a2 validated:a2 decided:a1:r1 landed:a1 opened:a3"
        " withdrawn:a2 withdrawn:a1 claimed:a3:r1 opened:a4"
    )
    instance = folded(f"opened:a1 landed:a1 {after}", ends="e2", kinds=ROUNDS)
    late = [one.event.id for one in instance.ignored if one.late]
    assert late == ["e3", "e4", "e5", "e6", "e8", "e9"]
    assert [one.event.id for one in instance.ignored if not one.late] == ["e10", "e11"]
    assert instance.running is not None


ROUNDS = {f"a{number}": Kind.APPROVAL for number in range(1, 5)}
