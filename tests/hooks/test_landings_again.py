"""One approval is for one landing: reverts, returns, and what was used before."""

from __future__ import annotations

import pytest
from landingkit import (
    administer,
    approve,
    approved_branch,
    by_merge,
    by_squash,
    passes,
    plant,
    refused,
)
from support.project import Project


@pytest.fixture
def landed(solo: Project) -> Project:
    """`feature` was approved and has landed by a merge; then main took it back."""
    approved_branch(solo, "feature", {"a": "1\n"}, {"a": "2\n"})
    passes(solo, by_merge(solo, "feature"))
    solo.git("branch", "revert", "origin/main")
    solo.git("switch", "--quiet", "revert")
    solo.git("revert", "--no-edit", "-m", "1", "HEAD")
    return solo


def take_back(project: Project) -> None:
    approve(project)
    passes(project, project.rev("revert"))
    project.git("switch", "--quiet", "--detach", "origin/main")


def again(project: Project) -> str:
    """The same work once more: a commit with the trees of the branch's end."""
    return plant(project, "feature", "origin/main", message="Feature again")


def test_a_revert_takes_an_approval_like_anything_else(landed: Project) -> None:
    reverting = landed.rev("revert")
    refused(landed, reverting, "not-opened", first=reverting)
    take_back(landed)
    assert landed.git("ls-tree", "--name-only", "origin/main", "a").out == ""


def test_what_was_taken_back_does_not_return_by_its_old_approval(landed: Project) -> None:
    take_back(landed)
    back = again(landed)
    refused(landed, back, "blocked", "landed before", "git gate open", first=back)
    landed.git("revert", "--no-edit", "origin/main")
    refused(landed, landed.rev(), "blocked", "landed before", first=landed.rev())
    landed.git("switch", "--quiet", "feature")
    landed.git("rebase", "--quiet", "--no-ff", "--onto", "origin/main", "feature~2")
    refused(landed, landed.rev(), "blocked", "landed before", subject="feature")


def test_it_returns_by_a_new_request(landed: Project) -> None:
    take_back(landed)
    back = again(landed)
    landed.git("switch", "--quiet", "feature")
    opened = landed.gate("open", "--base", "HEAD~2", "--json").ok().json
    assert (opened["result"], opened["iteration"]) == ("opened", 1)
    refused(landed, back, "pending", first=back)
    landed.gate("approve").ok()
    passes(landed, back)
    landed.git("switch", "--quiet", "--detach", "revert")
    third = plant(landed, "revert", "origin/main", message="Revert again")
    refused(landed, third, "blocked", "landed before", first=third)


def test_it_returns_as_a_branch_of_its_own(landed: Project) -> None:
    take_back(landed)
    landed.branch("return")
    landed.git("revert", "--no-edit", "HEAD")
    approve(landed)
    passes(landed, landed.rev())


def test_a_landing_a_revert_and_a_return_in_one_push(solo: Project) -> None:
    """The net change is what was approved; without the return the revert stays unaccounted for."""
    start = approved_branch(solo, "feature", {"a": "1\n"})
    landing = by_squash(solo, "feature")
    revert = plant(solo, "origin/main", landing, message="Revert")
    returned = plant(solo, start, revert, message="Return")
    refused(solo, revert, "not-opened", first=revert)
    evil = plant(solo, "origin/main", returned, message="Revert again")
    refused(solo, evil, "not-opened", first=evil)
    passes(solo, returned)


def test_a_revert_and_a_return_in_one_push_after_the_landing(landed: Project) -> None:
    """Each is a landing of its own, and the first approval is used up."""
    approve(landed)
    back = plant(landed, "feature", "revert", message="Feature again")
    refused(landed, back, "blocked", "landed before", first=back)
    passes(landed, landed.rev("revert"))


def test_the_same_content_by_another_request_counts_once_each(solo: Project) -> None:
    """Two branches with one change: the second has nothing left to land."""
    approved_branch(solo, "one", {"a": "1\n"})
    approved_branch(solo, "two", {"a": "1\n"})
    passes(solo, by_squash(solo, "one"))
    doc = passes(solo, by_merge(solo, "two"))
    assert doc["status"] == "not-needed"


def test_an_approval_of_an_earlier_iteration_is_not_one(solo: Project) -> None:
    """A, then B: what lands is B, and A never again."""
    first = approved_branch(solo, "feature", {"a": "A\n"})
    solo.commit("B", {"a": "B\n"})
    refused(solo, solo.rev(), "stale", "newer work", "git gate open", first=solo.rev())
    passes(solo, first, dry=True)
    solo.gate("open").ok()
    refused(solo, first, "pending", first=first)
    solo.gate("approve").ok()
    refused(solo, first, "blocked", first=first)
    passes(solo, solo.rev("feature"))


def test_a_rejection_blocks_the_same_change_under_another_name(solo: Project) -> None:
    solo.branch("feature")
    solo.commit("work", {"a": "1\n"})
    solo.gate("open").ok()
    solo.gate("reject", "-m", "no").ok()
    refused(solo, solo.rev(), "rejected", first=solo.rev())
    administer(solo, {"m": "1\n"})
    solo.branch("other")
    solo.git("cherry-pick", "feature")
    solo.gate("open").ok()
    solo.gate("approve")
    work = solo.rev()
    refused(solo, work, "rejected", "rejected the same content", first=work, subject="other")
    solo.gate("retract", "--subject", "feature").ok()
    solo.gate("approve")
    passes(solo, work)
