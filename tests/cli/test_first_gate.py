"""The way of a gate from the first push that is blocked to the one that lands."""

from __future__ import annotations

from support.project import Project


def test_an_approved_branch_lands_and_nothing_before_it(project: Project) -> None:
    project.branch("feature")
    work = project.commit("Add a page", {"page.md": "# Page\n"})
    refused = project.push("HEAD:refs/heads/main")
    assert refused.status == 1
    assert refused.err == (
        "git-gate: refs/heads/main may not move: not-opened\n"
        f"  nothing that was approved accounts for {work[:12]} (Add a page)\n"
        "  no gate `main` was opened for it\n"
        "hint: git gate open main\n"
        f"error: failed to push some refs to '{project.remote}'\n"
    )
    project.gate("open").ok()
    assert project.push("HEAD:refs/heads/main").status == 1
    project.gate("approve").ok()
    project.push("HEAD:refs/heads/main").ok()
    assert project.remote_tip() == work


def test_after_a_landing_the_next_work_is_a_new_life(project: Project) -> None:
    project.branch("feature")
    project.commit("one", {"a": "1\n"})
    project.gate("open").ok()
    project.gate("approve").ok()
    project.push("HEAD:refs/heads/main").ok()
    project.commit("two", {"a": "2\n"})
    assert project.push("HEAD:refs/heads/main").status == 1
    answer = project.gate("open", "--json").ok().json
    assert (answer["iteration"], answer["status"], answer["result"]) == (1, "open", "opened")
    project.gate("approve").ok()
    project.push("HEAD:refs/heads/main").ok()
