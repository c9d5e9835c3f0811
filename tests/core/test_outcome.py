"""What `check` says as a whole, and the exit status of each word (design, section 8)."""

from __future__ import annotations

import itertools

import pytest

from gitgate.core.outcome import Outcome, most_urgent
from gitgate.errors import Exit

EXITS = {
    "satisfied": 0,
    "skipped": 0,
    "not-needed": 0,
    "adoption": 0,
    "blocked": 1,
    "not-reproducible": 1,
    "pending": 10,
    "rejected": 11,
    "expired": 12,
    "stale": 13,
    "untrusted": 14,
    "withdrawn": 15,
    "not-opened": 15,
    "no-policy": 128,
}

# The order of the design: what needs a person's attention most comes first.
ATTENTION = (
    *("untrusted", "rejected", "expired", "stale", "blocked", "not-reproducible", "withdrawn"),
    *("not-opened", "pending", "skipped", "satisfied"),
)


def test_each_word_has_its_exit_status() -> None:
    assert {one.value: int(one.exit) for one in Outcome} == EXITS
    assert {one.value for one in Outcome if one.allowed} == {
        word for word, status in EXITS.items() if status == 0
    }


def test_of_several_gates_the_one_that_needs_attention_most_decides() -> None:
    for urgent, other in itertools.combinations(map(Outcome, ATTENTION), 2):
        assert most_urgent([urgent, other]) is most_urgent([other, urgent]) is urgent
    assert most_urgent(map(Outcome, reversed(ATTENTION))) is Outcome.UNTRUSTED


def test_a_gate_that_is_not_needed_hides_no_other() -> None:
    for outcome in Outcome:
        assert most_urgent([Outcome.NOT_NEEDED, outcome]) is outcome


def test_several_gates_pass_only_where_each_of_them_passes() -> None:
    for some in itertools.product(Outcome, repeat=2):
        assert most_urgent(some).allowed == all(one.allowed for one in some)


def test_nothing_that_was_looked_at_is_no_answer() -> None:
    with pytest.raises(ValueError, match="empty"):
        most_urgent([])


def test_the_exit_statuses_are_those_that_scripts_rely_on() -> None:
    assert {one.name: int(one) for one in Exit} == {
        "OK": 0,
        "BLOCKED": 1,
        "PENDING": 10,
        "REJECTED": 11,
        "EXPIRED": 12,
        "STALE": 13,
        "UNTRUSTED": 14,
        "NOT_OPENED": 15,
        "CONSUMED": 16,
        "LOST_RACE": 17,
        "TIMEOUT": 124,
        "FATAL": 128,
        "USAGE": 129,
        "INTERRUPTED": 130,
    }
