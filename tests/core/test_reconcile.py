"""Two states of a ledger become one: each rule by example, and all of them at random."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chains import (
    ADA,
    ALL,
    BEGUN,
    BOB,
    FIRST,
    ITERATED,
    LANDING,
    OPENED,
    REJECTED,
    ROOT,
    SECOND,
    THIRD,
    WHEN,
    brought_together,
    chain,
    event,
    folding,
    names,
    oid,
    request,
)
from hypothesis import given
from hypothesis import strategies as st

from gitgate.core.events import Event, EventName
from gitgate.core.gate import may_follow
from gitgate.core.reconcile import Chain, Outcome, Plan, lacking, whole
from gitgate.core.replay import BRINGS, identity
from gitgate.core.request import Kind

# 2: one goes on from the other.


def test_what_goes_on_is_taken_or_pushed() -> None:
    more = chain(ALL, REJECTED, on=BEGUN)
    assert brought_together(None, None) == Plan(Outcome.SAME)
    assert brought_together(BEGUN, BEGUN).outcome is Outcome.SAME
    assert brought_together(None, more) == Plan(Outcome.TAKE, more)
    assert brought_together(BEGUN, more, BEGUN) == Plan(Outcome.TAKE, more)
    assert brought_together(more, BEGUN, BEGUN) == Plan(Outcome.PUSH, more)
    assert brought_together(more, None) == Plan(Outcome.PUSH, more)


def test_what_has_no_effect_is_made_anew() -> None:
    ended = chain(ALL, event(EventName.LANDED, "1", **LANDING), on=BEGUN)
    assert names(brought_together(chain(ALL, ITERATED, on=ended), ended)) == ["opened"]


def test_a_remote_that_was_taken_back_or_deleted_gets_it_again() -> None:
    more = chain(ALL, REJECTED, on=BEGUN)
    rewound = Plan(Outcome.PUSH, more, lost="it was taken back to an earlier event")
    assert brought_together(more, BEGUN, more) == rewound
    assert brought_together(more, BEGUN, named=more) == rewound
    assert brought_together(more, None, more) == Plan(Outcome.PUSH, more, lost="it was deleted")


# 3: they went apart.


def test_the_shared_one_wins_and_a_second_opened_is_an_iteration() -> None:
    theirs = chain(ALL, OPENED)
    ours = chain(ALL, event(EventName.OPENED, "3", who=BOB), event(EventName.DECIDED, "3", "yes"))
    plan = brought_together(ours, theirs)
    assert (plan.outcome, plan.base, plan.lost) == (Outcome.REPLAY, theirs, "")
    assert names(plan) == ["iterated", "decided"]
    assert [one.request for one in plan.replayed] == [THIRD.id, THIRD.id]
    assert plan.said == (
        "iteration 1 of Bob Babbage is now iteration 2, after iteration 1 of Ada Lovelace",
    )


def test_an_iteration_after_the_end_of_a_life_opens_the_next_one() -> None:
    theirs = chain(ALL, event(EventName.WITHDRAWN, "1"), on=BEGUN)
    plan = brought_together(chain(ALL, ITERATED, on=BEGUN), theirs)
    assert names(plan) == ["opened"]
    assert plan.said == ("iteration 2 of Ada Lovelace is now iteration 1 of the next life",)


def test_two_next_iterations_with_decisions_survive_both() -> None:
    theirs = chain(ALL, ITERATED, event(EventName.DECIDED, "2", "a"), on=BEGUN)
    third = event(EventName.ITERATED, "3", who=BOB)
    ours = chain(ALL, third, event(EventName.DECIDED, "3", "b"), on=BEGUN)
    plan = brought_together(ours, theirs, BEGUN)
    assert names(plan) == ["iterated", "decided"]
    assert plan.said == (
        "iteration 2 of Bob Babbage is now iteration 3, after iteration 2 of Ada Lovelace",
    )


def test_what_the_winner_has_already_is_not_replayed() -> None:
    ours = chain(ALL, REJECTED, ITERATED, on=BEGUN)
    theirs = chain(ALL, ITERATED, REJECTED, on=BEGUN)
    assert brought_together(ours, theirs, BEGUN) == Plan(Outcome.TAKE, theirs)


def test_a_decision_is_kept_though_it_is_late() -> None:
    theirs = chain(ALL, event(EventName.WITHDRAWN, "1"), on=BEGUN)
    plan = brought_together(chain(ALL, REJECTED, on=BEGUN), theirs, BEGUN)
    assert (names(plan), plan.said) == (["decided"], ())


def test_what_may_not_follow_is_dropped_and_said() -> None:
    theirs = chain(ALL, REJECTED, on=BEGUN)
    plan = brought_together(chain(ALL, event(EventName.WITHDRAWN, "1"), on=BEGUN), theirs, BEGUN)
    assert (plan.outcome, plan.base, names(plan)) == (Outcome.TAKE, theirs, [])
    why = "`withdrawn` may not follow once somebody has decided"
    assert plan.said == (f"`withdrawn` of Ada Lovelace was dropped: {why}",)


def test_the_same_fact_twice_is_dropped_without_a_word() -> None:
    mine = event(EventName.EXPIRED, "1", at=WHEN + 5, deadline=WHEN)
    theirs = chain(ALL, event(EventName.EXPIRED, "1", at=WHEN + 6, deadline=WHEN), on=BEGUN)
    assert brought_together(chain(ALL, mine, on=BEGUN), theirs, BEGUN) == Plan(Outcome.TAKE, theirs)


QUESTION = request("q", kind=Kind.QUESTION)


def test_a_request_of_another_kind_is_kept_only_with_a_decision() -> None:
    asked = event(EventName.ASKED, "q")
    alone = chain((QUESTION,), asked)
    plan = brought_together(alone, BEGUN)
    assert (names(plan), len(plan.said)) == ([], 1)
    answered = chain((QUESTION,), asked, event(EventName.DECIDED, "q", "postgres"))
    assert names(brought_together(answered, BEGUN)) == ["asked", "decided"]


STEP = request("s", kind=Kind.STEP)
ESCALATED = chain(
    (STEP,), event(EventName.ESCALATED, "s"), event(EventName.DECIDED, "s", "data", who=BOB)
)


def claim(consumer: str, at: int = WHEN) -> Event:
    return event(EventName.CLAIMED, None, "data", at=at, consumer=consumer)


def test_a_claim_is_never_replayed_nor_what_rests_on_it() -> None:
    resumed = event(EventName.RESUMED, None, "data", consumer="b")
    theirs = chain((STEP,), claim("a"), on=ESCALATED)
    ours = chain((STEP,), claim("b"), resumed, on=ESCALATED)
    plan = brought_together(ours, theirs, ESCALATED)
    assert (plan.outcome, names(plan)) == (Outcome.TAKE, [])
    assert [one.partition(" was dropped")[0] for one in plan.said] == [
        "`claimed` of Ada Lovelace",
        "`resumed` of Ada Lovelace",
    ]


# 3: the shared one was rewritten.


def rewritten(ours: Chain, theirs: Chain, known: Chain, said: str) -> Plan:
    plan = brought_together(ours, theirs, known)
    assert (plan.base, plan.lost) == (ours, said)
    return plan


def test_a_shared_ledger_that_lost_a_record() -> None:
    known = chain(ALL, REJECTED, on=BEGUN)
    theirs = chain(ALL, event(EventName.ITERATED, "3", who=BOB), on=BEGUN)
    plan = rewritten(known, theirs, known, f"it lost the record {oid('no')[:12]}")
    assert (plan.outcome, names(plan)) == (Outcome.REPLAY, ["iterated"])


def test_a_shared_ledger_that_lost_a_request_or_a_claim() -> None:
    known = chain(ALL, ITERATED, on=BEGUN)
    theirs = chain(ALL, event(EventName.ITERATED, "3", who=BOB), on=BEGUN)
    rewritten(known, theirs, known, f"it lost the request {SECOND.id[:12]}")
    claimed = chain((STEP,), claim("a"), on=ESCALATED)
    other = chain((STEP,), event(EventName.PARKED), on=ESCALATED)
    rewritten(claimed, other, claimed, f"it lost the claim of the record {oid('data')[:12]}")


def test_of_two_claims_that_were_shared_the_earlier_one_holds_for_everybody() -> None:
    early, late = (chain((STEP,), claim(*one), on=ESCALATED) for one in (("a", 5), ("b", 6)))
    assert brought_together(early, late, early).base == early
    assert brought_together(late, early, late).base == early


def test_an_unsigned_event_counts_only_where_it_could_still_follow() -> None:
    known = chain(ALL, event(EventName.VALIDATED, "1", findings=()), on=BEGUN)
    theirs = chain(ALL, event(EventName.EXPIRED, "1", deadline=WHEN), on=BEGUN)
    rewritten(known, theirs, known, "it lost the event `validated`")
    ended = chain(ALL, event(EventName.WITHDRAWN, "1"), on=BEGUN)
    assert lacking(known, ended, folding(known, ended)) == ""


def test_requests_in_another_order() -> None:
    known = chain(ALL, ITERATED, on=BEGUN)
    theirs = chain(ALL, event(EventName.OPENED, "2"), event(EventName.ITERATED, "1"))
    plan = rewritten(known, theirs, known, "its requests stand in another order")
    assert plan.outcome is Outcome.PUSH
    assert brought_together(theirs, known, theirs) == Plan(Outcome.TAKE, known)


def test_the_journal_is_gone_on_from() -> None:
    named = chain(ALL, event(EventName.ITERATED, "3", who=BOB), on=BEGUN)
    theirs = chain(ALL, ITERATED, on=BEGUN)
    plan = brought_together(named, theirs, named=named)
    assert plan.lost == "it does not go on from what the journal names"
    assert (plan.base, names(plan)) == (named, ["iterated"])


# 4: one does not verify.


def altered(sound: Chain, **changes: Any) -> Chain:
    return replace(sound, commits=(oid("altered"),), sound=False, **changes)


def test_a_shared_ledger_that_does_not_verify_is_replaced_and_what_is_whole_of_it_kept() -> None:
    more = chain(ALL, REJECTED, event(EventName.WITHDRAWN, "1"), ITERATED, on=BEGUN)
    plan = brought_together(BEGUN, altered(more), BEGUN)
    assert (plan.base, plan.lost) == (BEGUN, "it was altered")
    assert names(plan) == ["decided", "iterated"]
    assert brought_together(None, altered(more)).outcome is Outcome.UNTRUSTED
    assert brought_together(altered(more), altered(more)).outcome is Outcome.UNTRUSTED
    assert brought_together(altered(more), None).outcome is Outcome.UNTRUSTED
    mended = brought_together(altered(more), BEGUN)
    assert (mended.base, mended.lost) == (BEGUN, "")


def test_what_is_whole() -> None:
    more = chain(ALL, REJECTED, ITERATED, on=BEGUN)
    cut = altered(more, requests={FIRST.id: FIRST}, records=frozenset())
    assert [one.name for one in whole(cut, cut.requests)] == [EventName.OPENED]


# All of it at random.

REQUESTS = [request(str(n), at=WHEN + n, who=(ADA, BOB)[n % 2]) for n in range(6)]


@st.composite
def grown(draw: st.DrawFn, on: Chain | None, clone: int) -> Chain:
    """A chain on which somebody honest did something."""
    found = on or Chain((ROOT,))
    for count in range(draw(st.integers(0, 5))):
        look = folding(found)(found.events)
        picked = draw(st.integers(0, 5))
        newest = look.newest
        if picked < 3 or newest is None:
            asked = REQUESTS[2 * draw(st.integers(0, 2)) + clone]
            name = EventName.ITERATED if look.running else EventName.OPENED
            if asked.id in found.requests or may_follow(look, name, Kind.APPROVAL):
                continue
            one = Event("", 0, name, WHEN, ADA, asked.id)
        elif picked == 3:
            record = oid(f"{clone} {count} {draw(st.integers(0, 99))}")
            if record in found.records:
                continue
            one = Event("", 0, EventName.DECIDED, WHEN, ADA, newest.request, record)
        else:
            name = EventName.WITHDRAWN if picked == 4 else EventName.EXPIRED
            if may_follow(look, name, request=newest.request):
                continue
            fields = {"deadline": WHEN} if picked == 5 else {}
            one = Event("", 0, name, WHEN + clone, ADA, newest.request, None, fields)
        found = chain(REQUESTS, one, on=found)
    return found


def after(plan: Plan) -> Chain:
    assert plan.base
    return chain(REQUESTS, *plan.replayed, on=plan.base)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Chain, Chain, Chain]:
    """A state that was shared, and two that honestly grew from it."""
    known = draw(grown(None, 0))
    return known, draw(grown(known, 0)), draw(grown(known, 1))


def words(some: Chain) -> frozenset[Any]:
    kept = (*BRINGS, EventName.DECIDED)
    return frozenset(identity(one) for one in some.events if one.name in kept)


@given(worlds())
def test_no_signed_word_and_no_request_is_lost(world: tuple[Chain, Chain, Chain]) -> None:
    known, ours, theirs = world
    plan = brought_together(ours, theirs, known)
    assert plan.lost == ""
    assert words(after(plan)) == words(ours) | words(theirs)
    assert after(plan).has(theirs) or after(plan).has(ours)


@given(worlds())
def test_nothing_that_is_replayed_is_without_effect(world: tuple[Chain, Chain, Chain]) -> None:
    known, ours, theirs = world
    found = after(brought_together(ours, theirs, known))
    idle = [one.event for one in folding(found)(found.events).ignored]
    assert all(one.name is EventName.DECIDED for one in idle)


@given(worlds())
def test_the_other_one_then_takes_it(world: tuple[Chain, Chain, Chain]) -> None:
    known, ours, theirs = world
    found = after(brought_together(ours, theirs, known))
    again = brought_together(theirs, found, theirs)
    assert again.outcome in (Outcome.TAKE, Outcome.SAME)
    assert after(again).tip == found.tip


@given(worlds(), st.randoms(use_true_random=False))
def test_two_who_mend_a_rewritten_ledger_agree(
    world: tuple[Chain, Chain, Chain], chance: Any
) -> None:
    """Somebody rewrites the shared ledger; whoever mends first, the other takes it, and in the end
    nothing is done any more."""
    _, ours, theirs = world
    shared = after(brought_together(ours, theirs))
    kept = [one for one in shared.events if chance.random() < 0.6]
    chance.shuffle(kept)
    there = Chain((ROOT,))
    for one in kept:
        about = one.request in there.requests or one.name in BRINGS
        there = chain(REQUESTS, replace(one, id=""), on=there) if about else there
    clones = [shared, shared]
    known = [shared, shared]
    moved = 0
    for turn in range(8):
        at = turn % 2
        plan = brought_together(clones[at], there, known[at])
        clones[at] = known[at] = after(plan)
        moved = turn if there.tip != clones[at].tip else moved
        there = clones[at]
    assert moved <= 2
    assert words(there) == words(shared)


def test_a_record_beside_another_request_hides_no_rejection() -> None:
    """Somebody put a veto beside the request that it is not about; the honest one still comes."""
    both = chain(ALL, ITERATED, on=BEGUN)
    honest = chain(ALL, event(EventName.DECIDED, "2", "no"), on=both)
    misplaced = chain(ALL, event(EventName.DECIDED, "1", "no"), on=both)
    plan = brought_together(honest, misplaced)
    assert plan.base == misplaced
    assert [(one.request, one.record) for one in plan.replayed] == [(oid("2"), oid("no"))]
