"""Branches that stand on one another, that main overtook, and pushes of several landings."""

from __future__ import annotations

import pytest
from landingkit import (
    REGULAR,
    administer,
    allowed,
    approve,
    approved_branch,
    by_ff,
    by_merge,
    by_rebase,
    by_squash,
    methods_are_true,
    passes,
    plant,
    refused,
    twin,
)
from support.project import Project

LINES = [f"line {number}\n" for number in range(20)]


def text(**changed: str) -> str:
    """Twenty lines, some of them changed: l3="x" replaces line 3."""
    return "".join(changed.get(f"l{number}", line) for number, line in enumerate(LINES))


@pytest.fixture
def stack(solo: Project) -> Project:
    """`lower` on main and `upper` on it, each approved for itself."""
    approved_branch(solo, "lower", {"lower": "1\n"}, {"lower": "2\n"})
    solo.branch("upper", "lower")
    solo.commit("upper 1", {"upper": "1\n"})
    approve(solo, "--base", "lower")
    return solo


def test_a_stack_lands_from_below(stack: Project) -> None:
    passes(stack, by_ff(stack, "lower"))
    passes(stack, by_ff(stack, "upper"))


def test_a_stack_lands_in_one_push(stack: Project) -> None:
    doc = passes(stack, by_ff(stack, "upper"), dry=True)
    assert [row["subject"] for row in doc["gates"]] == ["lower", "upper"]
    squashed = by_squash(stack, "upper")
    evil = twin(stack, squashed, "lower", REGULAR, "evil\n")
    refused(stack, evil, "blocked", first=evil)
    passes(stack, squashed)


def test_the_upper_half_of_a_stack_lands_first(stack: Project) -> None:
    stack.git("switch", "--quiet", "--detach", "origin/main")
    stack.git("cherry-pick", "upper")
    passes(stack, stack.rev())
    doc = passes(stack, by_squash(stack, "upper"))
    assert [row["subject"] for row in doc["gates"]] == ["lower"]


def test_a_stack_after_its_lower_half_was_squashed(stack: Project) -> None:
    passes(stack, by_squash(stack, "lower"))
    merged = by_merge(stack, "upper")
    evil = twin(stack, merged, "lower", REGULAR, "evil\n")
    refused(stack, evil, "blocked", first=evil)
    passes(stack, merged)


def test_the_half_of_a_stack_that_nobody_approved_is_named(solo: Project) -> None:
    solo.branch("lower")
    first = solo.commit("lower 1", {"lower": "1\n"})
    solo.branch("upper", "lower")
    last = solo.commit("upper 1", {"upper": "1\n"})
    approve(solo, "--base", "lower")
    refused(solo, last, "blocked", "is not the merge of that", first=first, subject="upper")
    refused(solo, first, "not-opened", "git gate open", first=first, subject="lower")
    approve(solo, "--commit", "lower", subject="lower")
    solo.gate("retract").ok()
    refused(solo, last, "pending", "git gate approve main --subject upper", first=last)
    passes(solo, first)


def test_main_merged_into_the_branch_voids_nothing(solo: Project) -> None:
    approved_branch(solo, "feature", {"a": text(l2="branch\n")})
    administer(solo, {"b": "main\n"})
    solo.git("merge", "--quiet", "-m", "Merge main", "origin/main")
    assert solo.gate("open", "--json").ok().json["result"] == "already-approved"
    assert methods_are_true(solo, "feature") == ["merge", "squash", "rebase"]
    hidden = by_ff(solo, "feature")
    refused(solo, hidden, "blocked", "first-parent chain", "--no-ff", force=True)
    merged = by_merge(solo, "feature")
    evil = twin(solo, merged, "b", REGULAR, "evil\n")
    refused(solo, evil, "stale", "it differs at b", first=evil)
    passes(solo, merged)


def test_an_edit_that_hides_in_a_merge_of_main_is_found(solo: Project) -> None:
    approved_branch(solo, "feature", {"a": text(l2="branch\n")})
    administer(solo, {"b": "main\n"})
    solo.git("merge", "--quiet", "--no-commit", "--no-ff", "origin/main")
    solo.commit("Merge main", {"b": "evil\n"})
    landing = by_merge(solo, "feature")
    refused(solo, landing, "stale", "newer work", first=landing)
    landing = by_squash(solo, "feature")
    refused(solo, landing, "blocked", "it differs at b", first=landing)
    solo.git("switch", "--quiet", "feature")
    assert solo.gate("open", "--json").ok().json["result"] == "iterated"


def test_work_after_a_merge_of_main_lands_in_every_way(solo: Project) -> None:
    solo.branch("feature")
    solo.commit("one", {"a": text(l2="branch\n")})
    administer(solo, {"b": "main\n"})
    solo.git("merge", "--quiet", "-m", "Merge main", "origin/main")
    solo.commit("two", {"c": "1\n"})
    approve(solo)
    methods = solo.gate("check", "--json").ok().json["methods"]
    assert methods == ["merge", "squash", "rebase"]
    passes(solo, by_rebase(solo, "feature"))


def test_two_landings_in_one_push(solo: Project) -> None:
    approved_branch(solo, "one", {"a": "1\n"}, {"a": "2\n"})
    approved_branch(solo, "two", {"b": "1\n"})
    solo.branch("three")
    solo.commit("three 1", {"c": "1\n"})
    solo.git("switch", "--quiet", "--detach", "origin/main")
    merges = {}
    for name in ("one", "three", "two"):
        solo.git("merge", "--quiet", "--no-ff", "-m", f"Merge {name}", name)
        merges[name] = solo.rev()
    refused(solo, merges["two"], "not-opened", "(Merge three)", first=merges["three"])
    solo.git("reset", "--quiet", "--hard", merges["one"])
    solo.git("merge", "--quiet", "--squash", "two")
    both = solo.commit("Squash two")
    evil = twin(solo, both, "a", REGULAR, "evil\n")
    refused(solo, evil, "blocked", "it differs at a", first=evil)
    doc = passes(solo, both)
    assert [row["subject"] for row in doc["gates"]] == ["one", "two"]


def test_a_smuggled_step_between_two_landings(solo: Project) -> None:
    approved_branch(solo, "one", {"a": "1\n"})
    approved_branch(solo, "two", {"b": "1\n"})
    merged = by_merge(solo, "one")
    evil = solo.commit("evil", {"evil": "1\n"})
    solo.git("merge", "--quiet", "--no-ff", "--no-commit", "two")
    solo.git("rm", "--quiet", "-f", "evil")
    landing = solo.commit("Merge two and undo")
    refused(solo, landing, "not-opened", "(evil)", first=evil)
    passes(solo, merged)


def test_a_hotfix_of_the_same_file(solo: Project) -> None:
    """Elsewhere in the file git merges it; on the same lines it takes a new iteration."""
    administer(solo, {"a": text()})
    approved_branch(solo, "feature", {"a": text(l2="branch\n", l18="branch\n")})
    administer(solo, {"a": text(l10="hotfix\n")}, "Hotfix")
    landing = by_squash(solo, "feature")
    reverting = twin(solo, landing, "a", REGULAR, text(l2="branch\n", l18="branch\n"))
    refused(solo, reverting, "blocked", "it differs at a", first=reverting)
    passes(solo, landing, dry=True)
    administer(solo, {"a": text(l10="hotfix\n", l2="clash\n")}, "Another")
    solo.git("switch", "--quiet", "--detach", "origin/main")
    solo.git("merge", "--no-ff", "feature", check=False)
    resolved = text(l2="branch\n", l10="hotfix\n", l18="branch\n")
    landing = solo.commit("Merge feature", {"a": resolved})
    refused(solo, landing, "not-reproducible", "git merge", "git gate open", first=landing)
    solo.git("switch", "--quiet", "feature")
    assert solo.gate("check", "--json").json["status"] == "not-reproducible"
    solo.git("merge", "origin/main", check=False)
    solo.commit("Merge main", {"a": resolved})
    approve(solo)
    passes(solo, by_merge(solo, "feature"))


def test_a_file_that_main_renamed(solo: Project) -> None:
    """What git's own merge makes of it may land; a rebase step by step holds what nobody saw."""
    administer(solo, {"old": text()})
    one, two = text(l2="branch\n"), text(l2="branch\n", l18="branch\n")
    approved_branch(solo, "feature", {"old": one}, {"old": two})
    back = solo.rev()
    solo.git("switch", "--quiet", "--detach", "origin/main")
    solo.git("mv", "old", "new")
    solo.commit("Rename")
    solo.land()
    solo.git("switch", "--quiet", "--detach", back)
    assert methods_are_true(solo, "feature") == ["merge", "squash"]
    landing = by_merge(solo, "feature")
    assert solo.git("show", "HEAD:new").out == two
    evil = twin(solo, landing, "new", REGULAR, two + "evil\n")
    refused(solo, evil, "blocked", first=evil)
    refused(solo, twin(solo, landing, "old", REGULAR, two), "blocked")
    passes(solo, landing)


def test_a_file_added_to_a_folder_that_main_renamed(solo: Project) -> None:
    """Git names a place for it and stops; only a person can say where it is to be."""
    administer(solo, {f"d/{number}": f"{number}\n" * 9 for number in range(4)})
    approved_branch(solo, "feature", {"d/new": "new\n"})
    solo.git("switch", "--quiet", "--detach", "origin/main")
    solo.git("mv", "d", "e")
    solo.commit("Rename")
    solo.land()
    solo.git("merge", "--no-ff", "feature", check=False)
    assert (solo.top / "e" / "new").exists()
    landing = solo.commit("Merge feature")
    refused(solo, landing, "not-reproducible", "e/new", "git gate open", first=landing)
    solo.git("switch", "--quiet", "feature")
    assert solo.gate("check", "--json").json["status"] == "not-reproducible"
    solo.git("merge", "origin/main", check=False)
    solo.commit("Merge main")
    approve(solo)
    passes(solo, by_merge(solo, "feature"))


def test_cherry_picks(solo: Project) -> None:
    """A part of what was approved is not what was approved; the whole of it is, however it came."""
    approved_branch(solo, "feature", {"a": "1\n"}, {"b": "1\n"})
    administer(solo, {"m": "1\n"})
    solo.git("switch", "--quiet", "--detach", "origin/main")
    solo.git("cherry-pick", "feature~1")
    part = solo.rev()
    refused(solo, part, "not-opened", first=part)
    solo.git("cherry-pick", "feature")
    passes(solo, solo.rev())
    doc = passes(solo, by_merge(solo, "feature"))
    assert (doc["status"], doc["warnings"]) == ("not-needed", [])


def test_a_merge_that_takes_nothing_is_reported(solo: Project) -> None:
    """`-s ours` changes no file, so no gate is asked; but it hides the work from later merges."""
    approved_branch(solo, "feature", {"a": "1\n"})
    solo.git("switch", "--quiet", "--detach", "origin/main")
    solo.git("merge", "--quiet", "-s", "ours", "-m", "Merge feature", "feature")
    ours = solo.rev()
    warning = f"{ours[:12]} (Merge feature) is a merge that takes nothing of what it merges"
    done = allowed(solo, "--dry-run", f"{ours}:main")
    assert f"git-gate: warning: {warning}\n" in done.err
    doc = passes(solo, ours)
    assert (doc["status"], doc["warnings"]) == ("not-needed", [warning])
    again = plant(solo, "origin/main", "origin/main", "feature", message="Merge again")
    assert passes(solo, again)["warnings"] == []


def test_a_merge_that_takes_back_what_main_gained(solo: Project) -> None:
    """The branch's own merge of main with `-s ours`, landed."""
    approved_branch(solo, "feature", {"a": "1\n"})
    administer(solo, {"m": "1\n"})
    solo.git("merge", "--quiet", "-s", "ours", "-m", "Merge main", "origin/main")
    landing = by_merge(solo, "feature")
    assert not (solo.top / "m").exists()
    refused(solo, landing, "stale", "it differs at m", first=landing)


def test_criss_cross_histories(solo: Project) -> None:
    """Two merge bases: `open` wants to be told one, and trees alone judge the landing."""
    administer(solo, {"a": text()})
    solo.branch("feature")
    one = solo.commit("one", {"a": text(l2="1\n")})
    approve(solo)
    main = administer(solo, {"m": "1\n"})
    landing = by_merge(solo, "feature")
    passes(solo, landing)
    solo.git("switch", "--quiet", "feature")
    solo.git("merge", "--quiet", "-m", "Merge main as it was", main)
    solo.commit("two", {"a": text(l2="1\n", l18="2\n")})
    assert solo.git("merge-base", "--all", "HEAD", "origin/main").out.split() != [one]
    asked = solo.gate("open")
    assert asked.status == 129
    assert "2 merge bases" in asked.err
    approve(solo, "--base", main)
    landing = by_merge(solo, "feature")
    evil = twin(solo, landing, "m", REGULAR, "evil\n")
    refused(solo, evil, "blocked", first=evil)
    passes(solo, plant(solo, landing, "origin/main"))
