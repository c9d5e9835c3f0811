"""Whatever stands in a ledger: nothing raises, nothing signed is lost, only consent allows."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from support.verdicts import OPENED, Case, author, junk, record

from gitgate.core.decision import Action
from gitgate.core.events import Event, EventName
from gitgate.core.gate import FOLLOWS, Facts, Instance, Stage, Status, fold, may_follow
from gitgate.core.person import Person
from gitgate.core.request import Kind
from gitgate.core.verdict import Judged, effective

EVE = Person("Eve", "eve@example.net")
REQUESTS = {
    "a1": Kind.APPROVAL,
    "a2": Kind.APPROVAL,
    "q1": Kind.QUESTION,
    "s1": Kind.STEP,
    "k1": Kind.ACKNOWLEDGEMENT,
}
RECORDS = ("r1", "r2", "r3")
ALLOWING = (Status.APPROVED, Status.SKIPPED)


@st.composite
def ledgers(draw: st.DrawFn) -> tuple[list[Event], Facts]:
    """Any events in any order, and any facts about them."""
    drawn = draw(
        st.lists(
            st.tuples(
                st.sampled_from(EventName),
                st.none() | st.sampled_from([*REQUESTS, "unknown"]),
                st.sampled_from(RECORDS),
                st.booleans(),
                st.booleans(),
            ),
            max_size=25,
        )
    )
    events = [
        Event(
            f"e{number}",
            number,
            name,
            OPENED + number,
            EVE,
            request,
            one if name is EventName.DECIDED else None,
        )
        for number, (name, request, one, _, _) in enumerate(drawn, 1)
    ]
    good = {f"e{number}" for number, entry in enumerate(drawn, 1) if entry[3]}
    ends = {f"e{number}" for number, entry in enumerate(drawn, 1) if entry[4]}
    return events, Facts(frozenset(good), frozenset(ends))


def joined(instance: Instance) -> set[str]:
    """The decisions that have their place in an iteration."""
    return {
        event.id
        for life in instance.lives
        for iteration in life.iterations
        for event in iteration.decided
    }


@given(ledgers())
def test_any_sequence_of_events_folds_and_loses_no_decision(
    given: tuple[list[Event], Facts],
) -> None:
    events, facts = given
    instance = fold(events, REQUESTS, facts)
    ignored = {one.event.id: one.reason for one in instance.ignored}
    assert all(ignored.values())
    for event in events:
        if event.name is EventName.DECIDED:
            assert event.id in joined(instance) | ignored.keys()
    first = {e.record: e for e in reversed(events) if e.name is EventName.DECIDED}
    asked = {one.request for life in instance.lives for one in life.iterations}
    for event in first.values():
        earlier = [e for e in events if e.request == event.request and e.number < event.number]
        if event.request in asked and any(e.id not in ignored for e in earlier if e.name in BRINGS):
            assert event.id in joined(instance)


BRINGS = (EventName.OPENED, EventName.ITERATED, EventName.ESCALATED, EventName.ASKED)


@given(ledgers())
def test_what_may_follow_is_what_the_fold_takes(given: tuple[list[Event], Facts]) -> None:
    """A writer and a reader ask the same table."""
    events, facts = given
    for at, event in enumerate(events):
        before, after = (fold(events[:end], REQUESTS, facts) for end in (at, at + 1))
        taken = len(after.ignored) == len(before.ignored)
        if event.name in BRINGS:
            kind = REQUESTS.get(event.request or "")
            refused = may_follow(before, event.name, kind)
        else:
            refused = may_follow(before, event.name, None, event.request)
        if event.name is not EventName.DECIDED and refused:
            assert not taken


@given(ledgers())
def test_lives_follow_one_another_and_only_the_last_runs(given: tuple[list[Event], Facts]) -> None:
    instance = fold(*_with_kinds(given))
    assert [life.number for life in instance.lives] == list(range(1, len(instance.lives) + 1))
    assert all(life.ended for life in instance.lives[:-1])
    for life in instance.lives:
        assert life.ended == (life.status is not None) == (life.stage is Stage.NONE)
        assert [one.number for one in life.iterations] == list(range(1, len(life.iterations) + 1))
    requests = [one.request for life in instance.lives for one in life.iterations if one.request]
    assert len(set(requests)) == len(requests)
    records = [e.record for life in instance.lives for one in life.iterations for e in one.decided]
    assert len(set(records)) == len(records)


@given(ledgers(), ledgers())
def test_unsigned_events_take_no_decision_of_a_running_life_away(
    given: tuple[list[Event], Facts], more: tuple[list[Event], Facts]
) -> None:
    """What follows a good decision without a fact of its own ends its life in no way, unless the
    table says so: a step's end, an expiry of a question, a new iteration that was withdrawn."""
    events, facts = given
    before = fold(events, REQUESTS, facts)
    life = before.running
    if life is None or life.kind is not Kind.APPROVAL:
        return
    decided = any(e.id in facts.good for e in life.iterations[-1].decided)
    known = {one.request for one in life.iterations}
    unsigned = [
        Event(f"x{e.number}", 100 + e.number, e.name, e.at, EVE, e.request, None)
        for e in more[0]
        if e.name is not EventName.DECIDED and (e.name not in BRINGS or e.request in known)
    ]
    after = fold([*events, *unsigned], REQUESTS, facts)
    if decided:
        assert after.running is not None
        assert after.running.iterations[-1].request == life.iterations[-1].request
    assert joined(after) == joined(before)


def test_no_event_but_a_request_brings_a_life_into_being() -> None:
    starts = {EventName.OPENED, EventName.ASKED, EventName.STARTED, EventName.ESCALATED}
    assert set(FOLLOWS[Stage.NONE]) == starts


def _with_kinds(given: tuple[list[Event], Facts]) -> tuple[list[Event], dict[str, Kind], Facts]:
    return given[0], REQUESTS, given[1]


PERSONS = ("ada", "bob", "cyd")
ACTIONS = ("approve", "reject", "skip", "quit", "retract", "choose")
GATES = (
    "",
    "approvals: {required: 2}",
    "approvals: {self_approval: true, require_comment: true}",
    "approvals: {by: [ada@example.com, bob@example.com], presence: touch}",
    "rejections: advisory\nskip: {allowed: false}",
    "deadline: {minutes: 1}\nskip: {by: [cyd@example.com]}",
    "deadline: {minutes: 1, action: park}\napprovals: {required: 2}",
)
CASES = tuple(
    Case(gate, authors=hands)
    for gate in GATES
    for hands in ((), (author("cyd"),), (author("eve@example.net"),))
)


@st.composite
def histories(draw: st.DrawFn) -> list[Judged]:
    """Good records of three people on two requests; each names some of those before it."""
    found: list[Judged] = []
    for number in range(draw(st.integers(0, 6))):
        seen = draw(st.sets(st.sampled_from(found), max_size=3)) if found else set()
        found.append(
            record(
                draw(st.sampled_from(PERSONS)),
                draw(st.sampled_from(ACTIONS)),
                draw(st.sampled_from(["", "because"])),
                about=draw(st.sampled_from(["r1", "r1", "r1", "r2"])),
                previous=seen,
                at=OPENED + draw(st.sampled_from([30, 60, 90])),
                touch=draw(st.booleans()),
                salt=str(number),
            )
        )
    return found


NOW = st.sampled_from([OPENED + 30, OPENED + 60, OPENED + 61, OPENED + 900])


def words(case: Case, records: Sequence[Judged], now: int) -> tuple[object, ...]:
    verdict = case.judge(*records, now=now)
    assert len(verdict.counts) == sum(r.decision.request == case.request.id for r in records)
    return verdict.status, verdict.approved_by, verdict.vetoes, verdict.quit, verdict.reasons


@given(st.sampled_from(CASES), histories(), NOW, st.randoms())
def test_junk_changes_nothing(case: Case, records: list[Judged], now: int, random: object) -> None:
    """Signatures that are nobody's, and second signatures of the same words."""
    before = words(case, records, now)
    noise = [junk(one) for one in records] + [
        junk(record(who, action, "x", salt="junk")) for who in PERSONS for action in ACTIONS
    ]
    assert words(case, [*records, *noise], now) == before
    assert words(case, [*noise, *records], now) == before


@given(st.sampled_from(CASES), histories(), NOW, st.data())
def test_the_order_in_the_ledger_changes_nothing(
    case: Case, records: list[Judged], now: int, data: st.DataObject
) -> None:
    status, approved_by, vetoes, *_ = words(case, records, now)
    shuffled = data.draw(st.permutations(records))
    other = words(case, shuffled, now)
    assert (other[0], other[1]) == (status, approved_by)
    assert bool(other[2]) == bool(vetoes)


@given(st.sampled_from(CASES), histories(), NOW, st.sampled_from(PERSONS))
def test_one_more_veto_never_allows(case: Case, records: list[Judged], now: int, who: str) -> None:
    before = case.judge(*records, now=now)
    veto = record(who, "reject", "no", previous=records, salt="veto")
    after = case.judge(*records, veto, now=now)
    if after.count_of(veto.id).counts:
        assert after.status is Status.REJECTED
    elif after.status in ALLOWING:
        # Advisory: it takes its author's own consent away, and no more than that.
        assert before.status in ALLOWING or before.status is Status.WITHDRAWN


@given(st.sampled_from(CASES), histories(), NOW, st.sampled_from(PERSONS))
def test_an_unordered_rejection_outranks_all_other_words_of_its_author(
    case: Case, records: list[Judged], now: int, who: str
) -> None:
    rejection = record(who, "reject", "no", salt="unordered")
    chosen = effective([*records, rejection], case.request.id)
    assert chosen[f"{who}@example.com"].decision.action is Action.REJECT


@given(st.sampled_from(CASES), histories(), NOW)
def test_only_consent_allows(case: Case, records: list[Judged], now: int) -> None:
    """Time, rejections, retractions and what was said of other requests never do."""
    verdict = case.judge(*records, now=now)
    consent = [one for one in records if one.decision.action in (Action.APPROVE, Action.SKIP)]
    if verdict.status in ALLOWING:
        assert any(
            verdict.count_of(one.id).counts
            for one in consent
            if one.decision.request == case.request.id
        )
        assert not verdict.vetoes
    without = [one for one in records if one not in consent]
    assert case.judge(*without, now=now).status not in ALLOWING


@given(st.sampled_from(CASES), histories())
def test_time_alone_never_allows(case: Case, records: list[Judged]) -> None:
    early = case.judge(*records, now=OPENED)
    late = case.judge(*records, now=OPENED + 10**6)
    assert (late.status in ALLOWING) == (early.status in ALLOWING)
    assert late.status in (early.status, Status.EXPIRED, Status.PARKED)


@given(st.sampled_from(CASES), histories(), NOW)
def test_a_person_counts_once(case: Case, records: list[Judged], now: int) -> None:
    verdict = case.judge(*records, now=now)
    counting = [one for one in records if one.decision.request == case.request.id]
    people = [one.person for one in counting if verdict.count_of(one.id).counts]
    assert len(people) == len(set(people))
