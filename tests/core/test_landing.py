"""The walk: what a push may hold, told on trees in memory."""

from __future__ import annotations

import pytest
from support.memory_trees import EXECUTABLE, SYMLINK, Files, Lab, shape, under

from gitgate.core.landing import MissKind, Rule, Walk, WholeMerge, walk

BASE = {"f": "a\nb\nc", "g": "1"}
WORK = {"f": "a\nb\nC", "g": "1", "n": "new"}
MAIN = {"f": "A\nb\nc", "g": "1", "z": "9"}
MERGED = {"f": "A\nb\nC", "g": "1", "z": "9", "n": "new"}


def why(result: Walk) -> list[tuple[MissKind, tuple[bytes, ...]]]:
    return [(miss.kind, miss.paths) for miss in result.misses]


def test_a_chain_of_one_commit_needs_nothing() -> None:
    lab = Lab()
    assert lab.walk(lab.chain(BASE)) == Walk((), None, ())
    assert lab.walk([]) == Walk((), None, ())


def test_steps_without_compared_paths_are_free() -> None:
    lab = Lab()
    chain = lab.chain(BASE, {**BASE, "out": "1"}, {**BASE, "out": "2"}, {**BASE, "out": "2"})
    result = lab.walk(chain, compared=lambda path: path != b"out")
    assert shape(result) == [(0, 1, ""), (1, 2, ""), (2, 3, "")]
    assert result.stopped is None


def test_where_no_rule_is_in_force_a_step_is_free() -> None:
    lab = Lab()
    chain = lab.chain(BASE, WORK, MAIN)
    rule = Rule(lambda path: True, ())
    result = walk(chain, lambda place: rule if place else None, lab.trees, lab)
    assert (shape(result), result.stopped) == ([(0, 1, "")], 2)


def test_a_rule_may_say_itself_which_steps_concern_it() -> None:
    lab = Lab()
    chain = lab.chain({"phase": "1"}, {"phase": "1", "f": "1"}, {"phase": "2", "f": "1"})
    rule = Rule(lambda path: True, (), concerns=lambda step: b"phase" in step)
    result = walk(chain, lambda place: rule, lab.trees, lab)
    assert (shape(result), result.stopped) == ([(0, 1, "")], 2)


@pytest.mark.parametrize(
    ("states", "stretch"),
    [
        ([BASE, WORK], [(0, 1, "R")]),  # fast-forward, or a squash on an unmoved target
        ([MAIN, MERGED], [(0, 1, "R")]),  # merge, squash
        # A rebase: each commit of the branch again, over the moved target.
        ([MAIN, {**MAIN, "f": "A\nb\nC"}, MERGED], [(0, 2, "R")]),
        ([BASE, {**BASE, "f": "a\nb\nC"}, WORK], [(0, 2, "R")]),
    ],
)
def test_every_way_to_land(states: list[Files], stretch: list[tuple[int, int, str]]) -> None:
    lab = Lab()
    request = lab.request("R", BASE, {**BASE, "f": "a\nb\nC"}, WORK)
    result = lab.walk(lab.chain(*states), request)
    assert (shape(result), result.stopped) == (stretch, None)
    assert not lab.trees.asked


@pytest.mark.parametrize(
    ("smuggled", "paths"),
    [
        ({"f": "A\nb\nC!"}, (b"f",)),
        ({"n": (EXECUTABLE, "new")}, (b"n",)),
        ({"n": (SYMLINK, "new")}, (b"n",)),
        ({"more": "1"}, (b"more",)),
        ({"g": "2"}, (b"g",)),
        ({"z": "8"}, (b"z",)),
        ({"n": "other", "g": "2"}, (b"g", b"n")),
    ],
)
def test_a_landing_with_anything_else_in_it_is_no_landing(
    smuggled: Files, paths: tuple[bytes, ...]
) -> None:
    lab = Lab()
    request = lab.request("R", BASE, WORK)
    result = lab.walk(lab.chain(MAIN, {**MERGED, **smuggled}), request)
    assert (result.stretches, result.stopped) == ((), 1)
    assert why(result) == [(MissKind.DIFFERS, paths)]
    outside = {path.decode() for path in paths}
    allowed = lab.walk(
        lab.chain(MAIN, {**MERGED, **smuggled}),
        request,
        compared=lambda path: path.decode() not in outside,
    )
    assert allowed.stopped is None


@pytest.mark.parametrize("missing", ["f", "g", "z", "n"])
def test_a_landing_that_takes_something_away_is_no_landing(missing: str) -> None:
    lab = Lab()
    left = {path: text for path, text in MERGED.items() if path != missing}
    result = lab.walk(lab.chain(MAIN, left), lab.request("R", BASE, WORK))
    assert result.stopped == 1


def test_a_merge_that_keeps_only_the_branch_reverts_the_target() -> None:
    lab = Lab()
    result = lab.walk(lab.chain(MAIN, WORK), lab.request("R", BASE, WORK))
    assert result.stopped == 1


def test_work_under_a_base_that_hides_it_does_not_land() -> None:
    lab = Lab()
    hidden = {**BASE, "hidden": "evil"}
    request = lab.request("R", hidden, {**hidden, "n": "new"})
    result = lab.walk(lab.chain(BASE, {**hidden, "n": "new"}), request)
    assert why(result) == [(MissKind.DIFFERS, (b"hidden",))]


def test_a_merge_with_conflicts_is_never_clean() -> None:
    lab = Lab()
    request = lab.request("R", {"f": "1"}, {"f": "2"})
    result = lab.walk(lab.chain({"f": "3"}, {"f": "2"}), request)
    assert why(result) == [(MissKind.CONFLICT, (b"f",))]


def test_several_requests_in_one_push() -> None:
    lab = Lab()
    one = lab.request("R1", BASE, {**BASE, "n": "1"})
    two = lab.request("R2", BASE, {**BASE, "m": "2"})
    chain = lab.chain(BASE, {**BASE, "n": "1"}, {**BASE, "n": "1", "m": "2"})
    assert shape(lab.walk(chain, two, one)) == [(0, 1, "R1"), (1, 2, "R2")]
    result = lab.walk(chain, one)
    assert (shape(result), result.stopped) == ([(0, 1, "R1")], 2)


def test_a_stack_lands_as_one_commit() -> None:
    lab = Lab()
    middle = {**BASE, "n": "1"}
    top = {**BASE, "n": "2", "m": "1"}
    one, two = lab.request("R1", BASE, middle), lab.request("R2", middle, top)
    assert shape(lab.walk(lab.chain(BASE, top), one, two)) == [(0, 1, "R1+R2")]
    assert lab.walk(lab.chain(BASE, top), two).stopped == 1
    assert lab.walk(lab.chain(BASE, top), one).stopped == 1


def test_landing_revert_and_return_in_one_push_are_one_landing() -> None:
    lab = Lab()
    chain = lab.chain(BASE, WORK, BASE, WORK)
    assert shape(lab.walk(chain, lab.request("R", BASE, WORK))) == [(0, 3, "R")]


def test_a_revert_needs_a_request_of_its_own() -> None:
    lab = Lab()
    chain = lab.chain(BASE, WORK, BASE)
    one, back = lab.request("R", BASE, WORK), lab.request("back", WORK, BASE)
    assert lab.walk(chain, one).stopped == 2
    assert lab.walk(chain, one, back).stopped is None


def test_a_stretch_ends_before_free_steps_which_are_judged_by_themselves() -> None:
    lab = Lab()
    chain = lab.chain(BASE, WORK, {**WORK, "out": "1"})
    result = lab.walk(chain, lab.request("R", BASE, WORK), compared=lambda path: path != b"out")
    assert shape(result) == [(0, 1, "R"), (1, 2, "")]


def test_something_that_comes_and_goes_is_accounted_for_by_nobody() -> None:
    lab = Lab()
    request = lab.request("R", BASE, WORK)
    evil = {**WORK, "evil": "1"}
    after = lab.walk(lab.chain(BASE, WORK, evil, WORK), request)
    assert (shape(after), after.stopped) == ([(0, 1, "R")], 2)
    before = lab.walk(lab.chain(BASE, {**BASE, "evil": "1"}, WORK), request)
    assert (shape(before), before.stopped) == ([], 1)
    within = lab.walk(
        lab.chain(BASE, {**BASE, "n": "new"}, {**evil, "f": BASE["f"]}, WORK), request
    )
    assert (shape(within), within.stopped) == ([], 2)
    assert why(within) == [(MissKind.INTERIOR, (b"evil",))]


def test_inside_a_stretch_may_stand_what_was_on_the_reviewed_branch() -> None:
    lab = Lab()
    draft = {**BASE, "n": "draft", "tmp": "1"}
    request = lab.request("R", BASE, draft, WORK)
    assert shape(lab.walk(lab.chain(BASE, draft, WORK), request)) == [(0, 2, "R")]
    over_main = {**MAIN, "n": "draft", "tmp": "1"}
    assert shape(lab.walk(lab.chain(MAIN, over_main, MERGED), request)) == [(0, 2, "R")]
    first = {**BASE, "tmp": "1"}
    hidden = lab.request("R", BASE, first, WORK)
    assert shape(lab.walk(lab.chain(BASE, first, WORK), hidden)) == [(0, 2, "R")]


def test_no_stretch_goes_beyond_a_policy_that_came_from_elsewhere() -> None:
    """A stricter policy, landed in the middle, would otherwise not see the second half."""
    lab = Lab()
    base, half, work = {"f": "1", "p": "1"}, {"f": "2", "p": "1"}, {"f": "3", "p": "1"}
    request = lab.request("R", base, half, work)
    split = lab.chain(base, half, {"f": "2", "p": "new"}, {"f": "3", "p": "new"})
    again = lab.chain(base, work, {"f": "3", "p": "new"}, {"f": "1", "p": "new"}, work)
    for policy, stops in ((None, (None, None)), (under("p"), (2, 3))):
        rule = Rule(under("f"), (request,), policy=policy)
        for chain, stop in zip((split, again), stops, strict=True):
            lab.past = chain[:1]
            assert walk(chain, lambda place, rule=rule: rule, lab.trees, lab).stopped == stop


def test_a_stretch_may_bring_a_policy_itself() -> None:
    lab = Lab()
    base, middle, work = {"f": "1", "p": "1"}, {"f": "1", "p": "2"}, {"f": "2", "p": "2"}
    request = lab.request("R", base, {"f": "3", "p": "1"}, {**middle, "f": "3"}, work)
    chain = lab.chain(base, {"f": "3", "p": "1"}, {"f": "3", "p": "2"}, work)
    lab.past = chain[:1]
    rule = Rule(under("f"), (request,), policy=under("p"))
    assert shape(walk(chain, lambda place: rule, lab.trees, lab)) == [(0, 3, "R")]


def test_a_branch_that_merged_the_target_is_seen_from_its_old_merge_base() -> None:
    lab = Lab()
    old, new = {"f": "a\nb\nc"}, {"f": "A\nb\nc"}
    first, last = {"f": "a\nb\nX"}, {"f": "A\nb\nC"}
    chain = lab.chain(new, {"f": "A\nb\nX"}, last)
    assert lab.walk(chain, lab.request("R", new, first, last, bases=[old])).stopped is None
    assert lab.walk(chain, lab.request("R", new, first, last)).stopped == 1


def test_absent_history_blocks_and_says_what_to_fetch() -> None:
    lab = Lab()
    draft = {**BASE, "n": "draft"}
    request = lab.request("R", BASE, draft, WORK)
    lab.absent.add("R")
    assert lab.walk(lab.chain(BASE, WORK), request).stopped is None
    result = lab.walk(lab.chain(BASE, draft, WORK), request)
    assert result.stopped == 1
    assert why(result) == [(MissKind.ABSENT, ())]
    assert result.misses[0].detail == "commits are missing: git fetch --unshallow"


def test_deliverables_must_be_as_they_were_reviewed() -> None:
    lab = Lab()
    base, work = {"doc": "a\nb", "f": "1"}, {"doc": "a\nB", "f": "2"}
    main = {"doc": "A\nb", "f": "1"}
    chain = lab.chain(main, {"doc": "A\nB", "f": "2"})
    request = lab.request("R", base, work)
    assert lab.walk(chain, request, exact=under("f")).stopped is None
    result = lab.walk(chain, request, exact=under("doc"))
    assert why(result) == [(MissKind.STALE_DELIVERABLES, (b"doc",))]


def test_git_has_the_last_word_over_a_rename_of_the_targets() -> None:
    lab = Lab()
    base, work = {"f": "1\nx"}, {"f": "2\nx"}
    moved, landed = {"g": "1\nx"}, {"g": "2\nx"}
    request = lab.request("R", base, work)
    chain = lab.chain(moved, landed)
    assert why(lab.walk(chain, request)) == [(MissKind.CONFLICT, (b"f",))]
    key = (lab.tree(base), lab.tree(moved), lab.tree(work))
    lab.trees.whole[key] = WholeMerge(lab.tree(landed), frozenset())
    assert shape(lab.walk(chain, request)) == [(0, 1, "R")]
    evil = lab.walk(lab.chain(moved, {"g": "3\nx"}), request)
    assert why(evil) == [(MissKind.DIFFERS, (b"g",))]
    lab.trees.whole[key] = WholeMerge(lab.tree(landed), frozenset({b"g"}))
    assert lab.walk(chain, request).stopped == 1
    lab.trees.whole[key] = WholeMerge(lab.tree({**landed, "h": "?"}), frozenset({b"h"}))
    assert lab.walk(chain, request, compared=under("g")).stopped is None
    lab.trees.old_git = True
    assert "older than 2.38" in lab.walk(chain, request).misses[0].detail


def test_an_unreadable_candidate_stops_only_itself() -> None:
    lab = Lab()
    good, bad = lab.request("R", BASE, WORK), lab.request("X", BASE, WORK)
    del lab.trees.known[lab.tree({"lost": "1"})]
    lost = type(bad)("X", bad.base, repr([(b"lost", "1")]), None)
    assert lab.walk(lab.chain(BASE, WORK), lost, good).stopped is None
    result = lab.walk(lab.chain(BASE, MAIN), lost)
    assert why(result) == [(MissKind.ABSENT, ())]


def test_many_paths_are_cut_and_the_detail_says_so() -> None:
    lab = Lab()
    many = {f"p{number:03}": "1" for number in range(60)}
    result = lab.walk(lab.chain(BASE, {**WORK, **many}), lab.request("R", BASE, WORK))
    assert len(result.misses[0].paths) == 50
    assert "at 60 paths, of which 50 are named" in result.misses[0].detail
