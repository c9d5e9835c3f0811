"""One approval is for one landing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import pytest
from support.memory_trees import Files, Lab, shape

from gitgate.core.landing import (
    Candidate,
    MissKind,
    Step,
    Stretch,
    Undecided,
    Walk,
    WholeMerge,
    landed_before,
)

BASE = {"f": "a\nb\nc"}
WORK = {"f": "a\nb\nC", "n": "1"}


def everything(path: bytes) -> bool:
    return True


def landed(
    lab: Lab, candidate: Candidate, *states: Files, partners: Sequence[Candidate] = ()
) -> Stretch | None:
    return landed_before(candidate, partners, lab.chain(*states), lab.trees, everything)


def push(lab: Lab, past: Sequence[Step], *candidates: Candidate, new: int) -> Walk:
    """A push of the last `new` commits of a chain."""
    lab.past = list(past[: len(past) - new])
    return lab.walk(past[len(past) - new - 1 :], *candidates)


def test_a_landed_request_lands_no_second_time() -> None:
    lab = Lab()
    request, back = lab.request("R", BASE, WORK), lab.request("back", WORK, BASE)
    chain = lab.chain(BASE, WORK, BASE, WORK)
    assert push(lab, chain[:2], request, new=1).stopped is None
    assert push(lab, chain[:3], request, back, new=1).stopped is None
    again = push(lab, chain, request, back, new=1)
    assert again.stopped == 1
    assert {miss.request: miss.kind for miss in again.misses}["R"] is MissKind.LANDED
    assert "with commit c1" in again.misses[0].detail


def test_a_new_request_opened_after_the_revert_lands() -> None:
    lab = Lab()
    old, new = lab.request("R", BASE, WORK), lab.request("R2", BASE, WORK, tip="c2")
    chain = lab.chain(BASE, WORK, BASE, WORK)
    assert shape(push(lab, chain, old, new, new=1)) == [(0, 1, "R2")]


def test_without_a_tip_on_the_chain_all_of_it_counts() -> None:
    lab = Lab()
    chain = lab.chain(BASE, WORK, BASE, WORK)
    for tip in (None, "elsewhere"):
        result = push(lab, chain, lab.request("R", BASE, WORK, tip=tip), new=1)
        assert [miss.kind for miss in result.misses] == [MissKind.LANDED]


def test_a_landing_earlier_in_the_same_push_counts() -> None:
    lab = Lab()
    other = {**WORK, "o": "1"}
    request = lab.request("R", BASE, WORK)
    add = lab.request("O", BASE, {**BASE, "o": "1"})
    rest = [add, lab.request("back", other, {**BASE, "o": "1"})]
    chain = lab.chain(BASE, WORK, other, {**BASE, "o": "1"}, other)
    result = lab.walk(chain, request, *rest)
    assert shape(result) == [(0, 1, "R"), (1, 2, "O"), (2, 3, "back")]
    assert result.stopped == 4


def test_a_landing_in_several_steps_counts() -> None:
    lab = Lab()
    request = lab.request("R", BASE, WORK)
    draft = {**BASE, "tmp": "1"}
    assert landed(lab, request, BASE, draft, WORK) == Stretch(0, 2, ("R",))
    assert landed(lab, request, BASE, draft, {**WORK, "n": "2"}) is None
    # The last start is the one from which the rest of the work came in.
    assert landed(lab, request, BASE, {**BASE, "n": "1"}, WORK) == Stretch(1, 2, ("R",))


def test_the_first_end_and_the_last_start_are_given() -> None:
    lab = Lab()
    moved = {**BASE, "z": "1"}
    request = lab.request("R", BASE, WORK)
    states = (BASE, moved, {**WORK, "z": "1"}, {**WORK, "z": "2"}, moved, {**WORK, "z": "1"})
    assert landed(lab, request, *states) == Stretch(1, 2, ("R",))


def test_a_landing_over_a_target_that_had_moved_counts() -> None:
    lab = Lab()
    request = lab.request("R", BASE, WORK)
    main = {"f": "A\nb\nc"}
    assert landed(lab, request, BASE, main, {"f": "A\nb\nC", "n": "1"}) == Stretch(1, 2, ("R",))
    assert landed(lab, request, BASE, main, {"f": "A\nb\nC", "n": "2"}) is None


def test_what_changes_nothing_is_no_landing() -> None:
    lab = Lab()
    request = lab.request("R", BASE, WORK)
    assert landed(lab, request, WORK, {**WORK, "z": "1"}, WORK) is None
    assert landed(lab, request, BASE) is None
    assert landed(lab, request, BASE, BASE, BASE) is None


def test_a_landing_in_a_chain_counts_for_each_of_its_requests() -> None:
    lab = Lab()
    top = {**WORK, "n": "2"}
    one, two = lab.request("R1", BASE, WORK), lab.request("R2", WORK, top)
    for request in (one, two):
        found = landed(lab, request, BASE, top, partners=[one, two])
        assert found == Stretch(0, 1, ("R1", "R2"))
    assert landed(lab, two, BASE, top) is None


def test_a_request_that_adds_nothing_to_a_chain_has_not_landed_in_it() -> None:
    lab = Lab()
    work, back = lab.request("R", BASE, WORK), lab.request("back", WORK, BASE)
    assert landed(lab, back, BASE, WORK, partners=[work]) is None
    assert landed(lab, work, BASE, WORK, partners=[back]) == Stretch(0, 1, ("R",))


def test_a_partner_that_is_no_longer_approved_still_shows_a_landing() -> None:
    lab = Lab()
    top = {**WORK, "n": "2"}
    one, two = lab.request("R1", BASE, WORK), lab.request("R2", WORK, top)
    lab.past = lab.chain(BASE, top, WORK)
    push_again = [lab.past[-1], Step("c3", lab.tree(top))]
    assert lab.walk(push_again, two).stopped is None
    assert lab.walk(push_again, two, partners=(one,)).stopped == 1


def test_a_partner_that_is_no_tree_blocks_nobody() -> None:
    lab = Lab()
    request = lab.request("R", BASE, WORK)
    junk = Candidate("J", lab.tree(WORK), "nowhere", None)
    assert landed(lab, request, BASE, {**BASE, "o": "1"}, partners=[junk]) is None


def test_too_many_chains_cannot_be_ruled_out() -> None:
    lab = Lab()
    request = lab.request("R", BASE, WORK)
    many = [lab.request(f"P{n}", WORK, {**WORK, "p": str(n)}) for n in range(300)]
    with pytest.raises(Undecided, match="more than 256 chains"):
        landed(lab, request, BASE, {**BASE, "f": "a\nb\nD"}, partners=many)
    assert landed(lab, request, BASE, {**BASE, "o": "1"}, partners=many) is None
    assert landed(lab, request, BASE, partners=many) is None


def test_a_long_history_of_work_on_the_newest_main() -> None:
    """Each base is the tree of the work before it, so all requests are one chain."""
    lab = Lab()
    states: list[Files] = [{f"f{number}": "0" for number in range(9)}]
    requests: list[Candidate] = []
    for number in range(400):
        states.append({**states[-1], f"f{number % 9}": str(number + 1)})
        requests.append(lab.request(f"R{number}", states[-2], states[-1]))
    found = landed(lab, requests[200], *states[200:], partners=requests)
    assert found == Stretch(0, 1, ("R200",))
    new = lab.request("new", states[-1], {**states[-1], "mine": "1"})
    later = {**states[-1], "theirs": "1"}
    assert landed(lab, new, states[-1], later, partners=requests) is None
    both = {**later, "mine": "1"}
    assert landed(lab, new, states[-1], later, both, partners=requests) == Stretch(1, 2, ("new",))
    more = lab.request("more", {**states[-1], "mine": "1"}, {**states[-1], "mine": "2"})
    for request in (new, more):  # both at once, after all the others
        found = landed(
            lab, request, states[-1], {**states[-1], "mine": "2"}, partners=[new, more, *requests]
        )
        assert found == Stretch(0, 1, ("new", "more"))


def test_a_landing_that_shows_nothing_of_a_request_counts_for_it() -> None:
    """Another one of the same chain took back what it did."""
    lab = Lab()
    back = {**BASE, "n": "1"}
    one, two = lab.request("R1", BASE, WORK), lab.request("R2", WORK, back)
    for request in (one, two):
        found = landed(lab, request, BASE, back, partners=[one, two])
        assert found == Stretch(0, 1, ("R1", "R2"))


def test_a_landing_behind_one_that_adds_nothing_by_itself() -> None:
    """The request before it is on the target already; the one before that was reverted there."""
    lab = Lab()
    zero, first, second = BASE, {**BASE, "z": "1"}, {**BASE, "z": "1", "y": "1"}
    third = {**second, "x": "1"}
    z, y, x = (
        lab.request(name, old, new)
        for name, old, new in (("Z", zero, first), ("Y", first, second), ("X", second, third))
    )
    reverted = {**BASE, "y": "1"}
    found = landed(lab, x, reverted, third, partners=[z, y, x])
    assert found == Stretch(0, 1, ("Z", "Y", "X"))


class TestRenames:
    """Where the target renamed a file, only git's own merge tells what a landing was."""

    base: ClassVar[Files] = {"f": "1\nx", "s": "1"}
    work: ClassVar[Files] = {"f": "2\nx", "s": "2"}
    moved: ClassVar[Files] = {"g": "1\nx", "s": "1"}
    landed: ClassVar[Files] = {"g": "2\nx", "s": "2"}

    def lab(self) -> tuple[Lab, Candidate]:
        lab = Lab()
        key = (lab.tree(self.base), lab.tree(self.moved), lab.tree(self.work))
        lab.trees.whole[key] = WholeMerge(lab.tree(self.landed), frozenset())
        return lab, lab.request("R", self.base, self.work)

    def test_it_has_landed_by_gits_merge(self) -> None:
        lab, request = self.lab()
        found = landed(lab, request, self.base, self.moved, self.landed, self.moved)
        assert found == Stretch(1, 2, ("R",))

    def test_the_work_renamed_what_the_target_edited(self) -> None:
        lab = Lab()
        base, work = {"f": "1\nx"}, {"g": "1\nx"}
        main, merged = {"f": "2\nx"}, {"g": "2\nx"}
        key = (lab.tree(base), lab.tree(main), lab.tree(work))
        lab.trees.whole[key] = WholeMerge(lab.tree(merged), frozenset())
        request = lab.request("R", base, work)
        assert landed(lab, request, main, merged, main) == Stretch(0, 1, ("R",))

    def test_git_is_asked_only_where_the_certain_paths_have_landed(self) -> None:
        lab, request = self.lab()
        others = [{**self.moved, "o": str(number)} for number in range(20)]
        assert landed(lab, request, self.base, self.moved, *others) is None
        assert not lab.trees.asked

    def test_an_old_git_cannot_rule_it_out(self) -> None:
        lab, request = self.lab()
        lab.trees.old_git = True
        chain = lab.chain(self.base, self.moved, self.landed, self.moved, self.landed)
        with pytest.raises(Undecided, match=r"older than 2\.38"):
            landed_before(request, (), chain, lab.trees, everything)

    def test_contents_in_doubt_are_asked_only_where_nothing_else_changed(self) -> None:
        lab = Lab()
        request = lab.request("R", {"f": "1"}, {"f": "2"})
        assert landed(lab, request, {"f": "3", "o": "1"}, {"f": "3", "o": "2"}) is None
        assert not lab.trees.asked
        assert landed(lab, request, {"f": "3", "o": "1"}, {"f": "4", "o": "1"}) is None
        assert len(lab.trees.asked) == 1

    def test_there_is_an_end_to_asking(self) -> None:
        lab = Lab()
        request = lab.request("R", {"f": "1"}, {"f": "2"})
        states = [{"g": str(number)} for number in range(600)]
        with pytest.raises(Undecided, match="500 merges were tried"):
            landed(lab, request, *states)


def test_a_request_that_was_opened_after_the_landing_does_not_allow_it() -> None:
    lab = Lab()
    chain = lab.chain(BASE, WORK)
    late = lab.walk(chain, lab.request("R", BASE, WORK, tip="c1"))
    assert [miss.kind for miss in late.misses] == [MissKind.LATER]
    assert late.stopped == 1
