"""Who counts, and what their decisions make of a request."""

from __future__ import annotations

import pytest
from support.verdicts import HOUR, OPENED, PEOPLE, Case, author, junk, oid, record

from gitgate.core.gate import Status
from gitgate.core.trust import SignatureStatus
from gitgate.core.verdict import Judged, Verdict

ADA, BOB, CYD = PEOPLE
SELF = "approvals: {self_approval: true}"


def reason(verdict: Verdict, one: Judged) -> str:
    """Why a record does not count; it has to be so."""
    count = verdict.count_of(one.id)
    assert count.counts == (not count.reason)
    return count.reason


def test_without_a_decision_it_is_open_and_says_what_is_missing() -> None:
    verdict = Case().judge()
    assert verdict == Verdict(
        status=Status.OPEN,
        reasons=("nobody has approved it yet",),
        obstacles=(),
        counts=(),
        approved_by=(),
        waiting_for=(ADA, BOB, CYD),
        vetoes=(),
        quit=None,
        deadline=None,
    )


def test_an_approval_satisfies_and_nothing_waits_for_its_author_any_more() -> None:
    approval = record("ada", "approve")
    verdict = Case().judge(approval)
    assert (verdict.status, verdict.reasons) == (Status.APPROVED, ())
    assert (verdict.approved_by, verdict.waiting_for) == ((ADA,), (BOB, CYD))
    assert reason(verdict, approval) == ""


def test_two_must_approve_and_one_person_is_one() -> None:
    case = Case("approvals: {required: 2}")
    first, again = record("ada", "approve"), record("ada", "approve", at=OPENED + 40)
    assert case.judge(first).reasons == ("1 of 2 approvals",)
    verdict = case.judge(first, again)
    assert (verdict.status, verdict.approved_by) == (Status.OPEN, (ADA,))
    verdict = case.judge(first, again, record("bob", "approve"))
    assert (verdict.status, verdict.approved_by) == (Status.APPROVED, (ADA, BOB))


def test_only_those_named_in_by_approve_and_veto() -> None:
    case = Case(
        'approvals: {by: ["@leads", cyd@example.com]}', "groups: {leads: [bob@example.com]}"
    )
    approval, rejection = record("ada", "approve"), record("ada", "reject", "no")
    verdict = case.judge(approval)
    assert verdict.status is Status.OPEN
    assert reason(verdict, approval) == f"{ADA} is not among those who approve this gate"
    verdict = case.judge(rejection, record("bob", "approve"))
    assert verdict.status is Status.APPROVED
    assert reason(verdict, rejection) == (
        f"{ADA} is not among those who decide this gate: advisory"
    )
    assert case.judge(record("cyd", "reject", "no")).status is Status.REJECTED


def test_a_rejection_wins_over_everything_else_on_the_request() -> None:
    others = [record("ada", "approve"), record("cyd", "skip", "hurry")]
    veto = record("bob", "reject", "no")
    verdict = Case().judge(*others, veto)
    assert (verdict.status, verdict.vetoes) == (Status.REJECTED, (veto.id,))
    assert verdict.reasons == (f"{BOB} rejected it",)
    assert Case().judge(*others).status is Status.SKIPPED
    assert Case().judge(others[0], record("cyd", "quit")).status is Status.WITHDRAWN


def test_advisory_rejections_are_shown_and_block_nobody() -> None:
    rejection = record("bob", "reject", "rather not")
    verdict = Case("rejections: advisory").judge(rejection, record("ada", "approve"))
    assert verdict.status is Status.APPROVED
    assert reason(verdict, rejection) == "rejections of this gate are advisory"


def test_a_newer_decision_of_the_same_person_supersedes_the_older() -> None:
    rejection = record("ada", "reject", "no")
    approval = record("ada", "approve", previous=[rejection])
    for order in ([rejection, approval], [approval, rejection]):
        verdict = Case().judge(*order)
        assert verdict.status is Status.APPROVED
        assert reason(verdict, rejection) == f"{ADA} has decided again since"


def test_the_chain_of_previous_runs_through_other_peoples_records() -> None:
    first = record("ada", "reject", "no")
    between = record("bob", "approve", previous=[first])
    last = record("ada", "approve", previous=[between])
    assert Case("approvals: {required: 2}").judge(last, between, first).status is Status.APPROVED


def test_where_previous_does_not_order_them_the_strictest_wins() -> None:
    """An older approval that is appended again after a rejection changes nothing."""
    words = [record("ada", one, "x") for one in ("approve", "skip", "retract", "quit", "reject")]
    expected = [Status.APPROVED, Status.SKIPPED, Status.OPEN, Status.WITHDRAWN, Status.REJECTED]
    for at, status in enumerate(expected):
        for order in (words[: at + 1], words[at::-1]):
            assert Case(SELF).judge(*order).status is status


def test_of_several_equal_words_one_that_counts_is_taken_in_any_order() -> None:
    case = Case("deadline: {minutes: 60}")
    in_time, late = record("ada", "approve"), record("ada", "approve", at=OPENED + 2 * HOUR)
    for order in ([in_time, late], [late, in_time]):
        assert case.judge(*order).status is Status.APPROVED


def test_a_retraction_takes_back_what_stood_before_it() -> None:
    rejection = record("ada", "reject", "no")
    back = record("ada", "retract", previous=[rejection])
    verdict = Case().judge(rejection, back)
    assert (verdict.status, verdict.vetoes) == (Status.OPEN, ())
    assert reason(verdict, rejection) == f"{ADA} took it back"
    assert reason(verdict, back) == ""


def test_the_same_words_signed_twice_are_one_record() -> None:
    """An ECDSA signature has a second valid form that anybody can make: it revives nothing."""
    rejection = record("ada", "reject", "no")
    twin = record("ada", "reject", "no", salt="the other form")
    approval = record("ada", "approve", previous=[rejection])
    for order in ([rejection, approval, twin], [twin, rejection, approval]):
        verdict = Case().judge(*order)
        assert verdict.status is Status.APPROVED
    verdict = Case().judge(rejection, twin)
    assert (verdict.status, verdict.vetoes) == (Status.REJECTED, (rejection.id,))
    assert reason(verdict, twin) == "the same decision was signed twice"


def test_junk_never_counts_and_says_why() -> None:
    rejection = junk(record("bob", "reject", "no"))
    verdict = Case().judge(rejection, record("ada", "approve"))
    assert verdict.status is Status.APPROVED
    assert reason(verdict, rejection) == "nobody listed the key"
    for status in SignatureStatus:
        if status is not SignatureStatus.GOOD:
            assert Case().judge(record("ada", "approve", status=status)).status is Status.OPEN


def test_an_approval_counts_for_its_own_request_only() -> None:
    other = record("ada", "approve", about="r2")
    verdict = Case().judge(other)
    assert (verdict.status, verdict.counts) == (Status.OPEN, ())


def test_answers_of_other_kinds_are_no_answer_here() -> None:
    answer = record("ada", "choose")
    verdict = Case().judge(answer)
    assert verdict.status is Status.OPEN
    assert reason(verdict, answer) == "`choose` is no answer to an approval"


@pytest.mark.parametrize("role", ["wrote 1a2b", "committed 1a2b", "co-wrote 1a2b"])
def test_nobody_approves_what_they_had_a_hand_in(role: str) -> None:
    approval = record("ada", "approve")
    case = Case(authors=[author("ada", role)])
    verdict = case.judge(approval)
    assert verdict.status is Status.OPEN
    assert reason(verdict, approval) == f"{ADA} {role}; the gate takes no self-approval"
    assert verdict.waiting_for == (BOB, CYD)
    assert case.judge(record("bob", "approve")).status is Status.APPROVED
    assert Case(SELF, authors=[author("ada", role)]).judge(approval).status is Status.APPROVED
    assert case.judge(record("ada", "reject", "my own, and no")).status is Status.REJECTED


def test_an_unknown_author_blocks_and_the_reason_says_how_to_list_them() -> None:
    eve = author("eve@example.net", "wrote 1a2b")
    verdict = Case(authors=[eve]).judge(record("ada", "approve"))
    assert verdict.status is Status.OPEN
    assert verdict.obstacles == verdict.reasons
    assert verdict.reasons[0] == (
        "nobody knows who Someone <eve@example.net> is, who wrote 1a2b under review: list the"
        " address in .mailmap or .aiwg/allowed_signers, or in `bots` if it is nobody's"
    )
    for gate in ("approvals: {unknown_authors: allow}", SELF):
        assert Case(gate, authors=[eve]).judge(record("ada", "approve")).status is Status.APPROVED
    bots = Case(more="bots: [eve@example.net]", authors=[eve])
    assert bots.judge(record("ada", "approve")).status is Status.APPROVED


def test_where_nobody_is_left_who_may_approve_it_says_so() -> None:
    hands = [author(who) for who in ("ada", "bob", "cyd")]
    why = "the others had a hand in the work and the gate takes no self-approval"
    nobody, two = Case(authors=hands), Case("approvals: {required: 3}", authors=hands[:1])
    assert nobody.judge().obstacles == (f"1 must approve and only 0 may: {why}",)
    assert two.judge().obstacles == (f"3 must approve and only 2 may: {why}",)
    assert Case(SELF, lines=()).judge().obstacles == (
        "1 must approve and only 0 may: the signers file lists nobody who may",
    )


def test_a_skip_satisfies_whatever_is_required_and_needs_its_reason() -> None:
    case = Case("approvals: {required: 3}")
    assert case.judge(record("ada", "skip", "hurry")).status is Status.SKIPPED
    bare = record("ada", "skip", "  ")
    verdict = case.judge(bare)
    assert (verdict.status, reason(verdict, bare)) == (
        Status.OPEN,
        "the gate requires a reason for a skip",
    )
    assert Case("skip: {require_reason: false}").judge(bare).status is Status.SKIPPED


def test_who_may_skip() -> None:
    skip = record("ada", "skip", "hurry")
    never = Case("skip: {allowed: false}").judge(skip)
    assert (never.status, reason(never, skip)) == (Status.OPEN, "the gate may not be skipped")
    other = Case("skip: {by: [bob@example.com]}").judge(skip)
    assert reason(other, skip) == f"{ADA} is not among those who may skip this gate"
    own = Case(authors=[author("ada")]).judge(skip)
    assert own.status is Status.OPEN
    assert reason(own, skip) == (
        f"{ADA} wrote 1a2b3c4d5e6f; the gate's `skip.by` does not name them"
    )
    named = Case("skip: {by: [ada@example.com]}", authors=[author("ada")])
    assert named.judge(skip).status is Status.SKIPPED
    outside = Case("approvals: {by: [bob@example.com]}\nskip: {by: [ada@example.com]}")
    assert outside.judge(skip).status is Status.SKIPPED


def test_quit_belongs_to_the_opener_and_to_those_who_decide() -> None:
    by_bob = "approvals: {by: [bob@example.com]}"
    quits = record("ada", "quit")
    verdict = Case(by_bob, opener="ada").judge(quits)
    assert (verdict.status, verdict.quit, verdict.reasons) == (
        Status.WITHDRAWN,
        quits.id,
        (f"{ADA} quit it",),
    )
    other = Case(by_bob, opener="cyd").judge(quits)
    assert (other.status, other.quit) == (Status.OPEN, None)
    assert reason(other, quits) == f"{ADA} neither opened the gate nor decides it"


def test_a_comment_is_required_where_the_gate_says_so() -> None:
    case = Case("approvals: {require_comment: true}")
    bare = record("ada", "approve")
    assert reason(case.judge(bare), bare) == "the gate requires a comment on an approval"
    assert case.judge(record("ada", "approve", "read it all")).status is Status.APPROVED


def test_presence_takes_a_touched_hardware_key() -> None:
    case = Case("approvals: {presence: touch}")
    for action in ("approve", "skip", "quit"):
        plain = record("ada", action, "x")
        verdict = case.judge(plain)
        assert verdict.status is Status.OPEN
        assert reason(verdict, plain) == "the gate requires a hardware key that was touched"
        assert case.judge(record("ada", action, "x", touch=True)).status is not Status.OPEN
    assert case.judge(record("ada", "reject", "no")).status is Status.REJECTED


def test_a_deadline_rejects_once_it_is_past() -> None:
    case = Case("deadline: {minutes: 60}")
    end = OPENED + HOUR
    assert case.judge(now=end).status is Status.OPEN
    verdict = case.judge(now=end + 1)
    assert (verdict.status, verdict.deadline) == (Status.EXPIRED, end)
    assert verdict.reasons == ("its deadline passed without a decision",)
    in_time, late = record("ada", "approve", at=end), record("ada", "approve", at=end + 1)
    assert case.judge(in_time, now=end + HOUR).status is Status.APPROVED
    verdict = case.judge(late, now=end + HOUR)
    assert (verdict.status, reason(verdict, late)) == (
        Status.EXPIRED,
        "it came after the deadline",
    )
    for action in ("skip", "quit"):
        after = record("ada", action, "x", at=end + 1)
        assert case.judge(after, now=end + HOUR).status is Status.EXPIRED
    veto = record("ada", "reject", "no", at=end + 1)
    assert case.judge(in_time, record("bob", "reject", "no", at=end + 1)).status is Status.REJECTED
    assert case.judge(veto, now=end + HOUR).status is Status.REJECTED


@pytest.mark.parametrize(("action", "overdue"), [("park", "parked"), ("none", "open")])
def test_a_deadline_that_does_not_reject_stays_answerable(action: str, overdue: str) -> None:
    case = Case(f"deadline: {{minutes: 60, action: {action}}}")
    late = record("ada", "approve", at=OPENED + 2 * HOUR)
    assert case.judge(now=OPENED + HOUR).status is Status.OPEN
    assert case.judge(now=OPENED + HOUR + 1).status == overdue
    assert case.judge(late, now=OPENED + 3 * HOUR).status is Status.APPROVED


def test_one_approval_of_two_in_time_does_not_outlive_the_deadline() -> None:
    case = Case("approvals: {required: 2}\ndeadline: {minutes: 60}")
    first = record("ada", "approve")
    assert case.judge(first, now=OPENED + 2 * HOUR).status is Status.EXPIRED


def test_count_of_knows_each_record_of_the_request() -> None:
    one, other = record("ada", "approve"), record("bob", "approve", about="r2")
    verdict = Case().judge(one, other)
    assert [count.record for count in verdict.counts] == [one.id]
    assert oid("r1") != oid("r2")
