"""What `land` says can be done next works as it stands, and takes nothing from anybody."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from landkit import another_clone, approved, own_temporary_folder
from support.project import SOLO, Project, make_project


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_temporary_folder(tmp_path, monkeypatch)


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Project:
    return make_project(tmp_path, home, hook=False)


def lands(project: Project, method: str = "merge") -> list[str]:
    """Land it and run what is said to be next, as one line in a shell, as it stands; the
    commands, with `NEW` for what main has now."""
    args = ("--subject", "feature", "--method", method, "--json")
    commands: list[str] = project.gate("land", *args).ok().json["next"]
    line = " && ".join(commands)
    done = subprocess.run(["sh", "-c", line], cwd=project.top, capture_output=True, text=True)
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return [one.replace(project.remote_tip(), "NEW") for one in commands]


def pushed(project: Project) -> Project:
    """Approved work whose branch is on the remote, too; what a colleague has there."""
    approved(project)
    project.git("push", "--quiet", "--set-upstream", "origin", "feature")
    colleague = another_clone(project, "colleague")
    colleague.git("switch", "--quiet", "feature")
    return colleague


BACK = ["git switch main", "git pull --ff-only"]


@pytest.mark.parametrize("fetched", [True, False])
def test_a_branch_with_a_colleagues_commit_stays_on_the_remote(
    project: Project, fetched: bool
) -> None:
    colleague = pushed(project)
    theirs = colleague.commit("Theirs", {"theirs.md": "theirs\n"})
    colleague.push("feature").ok()
    if fetched:
        project.git("fetch", "--quiet")
    assert lands(project)[:2] == BACK
    assert project.remote_tip("feature") == theirs


def test_a_branch_that_the_remote_has_no_more_is_not_deleted_there(project: Project) -> None:
    pushed(project)
    subprocess.run(["git", "branch", "-q", "-D", "feature"], cwd=project.remote, check=True)
    assert lands(project) == [*BACK, "git branch -d feature"]


def test_a_tag_of_the_same_name_is_not_meant(project: Project) -> None:
    pushed(project)
    project.git("push", "--quiet", "origin", "HEAD:refs/tags/feature")
    assert lands(project)[2:] == [
        "git branch -d feature",
        "git push origin --delete refs/heads/feature",
    ]
    assert project.remote_tip("feature") == ""


def test_a_branch_that_a_gate_guards_stays(tmp_path: Path, home: Path) -> None:
    policy = SOLO.replace("[refs/heads/main]", '[refs/heads/main, "refs/heads/f*"]')
    project = make_project(tmp_path, home, policy, hook=False)
    project.branch("feature")
    project.commit("work", {"feature.md": "# Page\n"})
    project.git("push", "--quiet", "origin", "feature")
    project.gate("open", "--target", "main").ok()
    project.gate("approve").ok()
    assert lands(project) == [*BACK, "git branch -d feature"]


def upstream_that_lacks_commits(project: Project) -> None:
    project.git("push", "--quiet", "origin", "feature~1:refs/heads/feature")
    project.git("branch", "--set-upstream-to", "origin/feature")


def in_another_work_tree(project: Project) -> None:
    project.git("switch", "--quiet", "main")
    project.git("worktree", "add", "--quiet", "../elsewhere", "feature")


def rebased_in_another_work_tree(project: Project) -> None:
    in_another_work_tree(project)
    stops = ("-c", "sequence.editor=sed -i s/pick/edit/")
    project.git("-C", "../elsewhere", *stops, "rebase", "--quiet", "-i", "HEAD~1")


def main_without_upstream(project: Project) -> None:
    project.git("branch", "--unset-upstream", "main")


def main_that_follows_another_remote(project: Project) -> None:
    two_remotes(project)
    project.git("branch", "--set-upstream-to", "second/main", "main")


def two_remotes(project: Project) -> None:
    project.git("remote", "add", "second", str(project.remote))
    project.git("fetch", "--quiet", "second")


def two_remotes_and_no_main(project: Project) -> None:
    two_remotes(project)
    project.git("branch", "-D", "main")


def no_main_and_no_refspec(project: Project) -> None:
    project.git("branch", "-D", "main")
    project.git("config", "remote.origin.fetch", "+refs/heads/x:refs/remotes/origin/x")


def no_upstream_and_head_elsewhere(project: Project) -> None:
    project.git("branch", "--unset-upstream", "feature")
    project.git("switch", "--quiet", "--detach", "main")


def main_that_went_its_own_way(project: Project) -> None:
    project.git("switch", "--quiet", "main")
    project.commit("Mine", {"mine.md": "mine\n"})
    project.git("switch", "--quiet", "feature")


def main_in_another_work_tree(project: Project) -> None:
    project.git("worktree", "add", "--quiet", "../elsewhere", "main")


def main_rebased_in_another_work_tree(project: Project) -> None:
    main_in_another_work_tree(project)
    for command in (["commit", "-q", "--allow-empty", "-m", "mine"], ["rebase", "-q", "-i", "@~"]):
        stops = ("-c", "sequence.editor=sed -i s/pick/edit/")
        project.git("-C", "../elsewhere", *stops, *command)


def a_change_in_the_way(project: Project) -> None:
    project.write("feature.md", "in the middle of something\n")


def a_change_that_is_carried_along(project: Project) -> None:
    project.write("README.md", "in the middle of something\n")


def a_file_in_the_way(project: Project) -> None:
    """On main, where the landing brings a file of that name."""
    project.git("switch", "--quiet", "main")
    project.write("feature.md", "mine\n")


def in_the_middle_of_a_merge(project: Project) -> None:
    project.git("branch", "side", "main")
    project.git("switch", "--quiet", "side")
    project.commit("side", {"side.md": "side\n"})
    project.git("switch", "--quiet", "feature")
    project.git("merge", "--quiet", "--no-commit", "--no-ff", "side")


DELETE = "git branch -d feature"
FORCED = [*BACK, "git branch -D feature", "git push origin --delete feature"]
CREATE = "git switch --create main"


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (upstream_that_lacks_commits, FORCED),
        (in_another_work_tree, ["git pull --ff-only"]),
        (rebased_in_another_work_tree, ["git pull --ff-only"]),
        (main_without_upstream, ["git switch main", "git merge --ff-only NEW", DELETE]),
        (main_that_follows_another_remote, ["git switch main", "git merge --ff-only NEW", DELETE]),
        (two_remotes_and_no_main, [f"{CREATE} --track origin/main", DELETE]),
        (no_main_and_no_refspec, [f"{CREATE} --no-track NEW", DELETE]),
        (no_upstream_and_head_elsewhere, ["git branch -D feature"]),
        (main_that_went_its_own_way, ["git switch main", DELETE]),
        (main_in_another_work_tree, ["git switch --detach NEW", DELETE]),
        (main_rebased_in_another_work_tree, ["git switch --detach NEW", DELETE]),
        (a_change_in_the_way, []),
        (a_change_that_is_carried_along, [*BACK, DELETE]),
        (a_file_in_the_way, [DELETE]),
        (in_the_middle_of_a_merge, []),
    ],
)  # fmt: skip
def test_where_the_plain_commands_would_fail(
    project: Project, state: Callable[[Project], None], expected: list[str]
) -> None:
    approved(project)
    state(project)
    assert lands(project) == expected


def test_a_squash_leaves_a_branch_that_git_takes_for_unmerged(project: Project) -> None:
    approved(project)
    assert lands(project, "squash") == [*BACK, "git branch -D feature"]


def test_landed_already_and_main_went_on(project: Project) -> None:
    """Main here comes to where the remote's is by now, not to where the landing left it."""
    approved(project)
    project.gate("land").ok()
    administrator = another_clone(project, "administrator")
    administrator.commit("Meanwhile", {"other.md": "other\n"})
    administrator.land()
    project.git("branch", "--unset-upstream", "main")
    assert lands(project) == ["git switch main", "git merge --ff-only NEW", DELETE]
    assert project.rev("main") == project.remote_tip()
