"""`--block-local` in real git: what moves a guarded branch, what is free, and every way back."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from landingkit import Templates
from support.project import SOLO, Answer, Project, gate, person

from gitgate import hookguards, hooks

POLICY = SOLO.replace("[refs/heads/main]", "[refs/heads/main, refs/tags/v*]")


def alone(folder: Path, home: Path) -> Project:
    """A repository without a remote in which main is guarded; `feature` is a commit ahead."""
    from landingkit import program

    top = folder / "project"
    subprocess.run(["git", "init", "--quiet", top], check=True)
    project = Project(top, folder / "none", {"ada": person("Ada", "ada@example.com", home)})
    project.be(project.people["ada"])
    project.git("config", "gate.policyRef", "refs/heads/main")
    lines = project.people["ada"].line() + "\n"
    project.commit("Begin", {"README.md": "# Project\n", "notes.md": "one\n"})
    project.commit("Adopt", {"aiwg.yml": POLICY, ".aiwg/allowed_signers": lines})
    for name in (hooks.PRE_PUSH, hooks.REFERENCE_TRANSACTION):
        hooks.install(top / ".git" / "hooks", top / ".git", program(), name)
    project.branch("feature", "main")
    project.commit("A page", {"page.md": "# Page\n", "README.md": "# The project\n"})
    project.git("switch", "--quiet", "main")
    return project


@pytest.fixture
def local(templates: Templates, tmp_path: Path, home: Path) -> Project:
    return templates.copy("alone", alone, tmp_path)


def approve(project: Project, subject: str = "feature") -> None:
    project.gate("open", "--subject", subject, "--commit", subject).ok()
    project.gate("approve", "--subject", subject).ok()


def refused(project: Project, *args: str, ref: str = "refs/heads/main") -> Answer:
    """Git is kept from moving the ref; what the hook said."""
    before = project.rev(ref)
    answer = project.git(*args, check=False)
    assert answer.status != 0, answer
    assert f"git-gate: {ref} may not move: " in answer.err, answer.err
    assert project.rev(ref) == before
    return answer


def way(answer: Answer, wanted: str) -> str:
    """The command that the refusal gives, up to what it says of it."""
    found = re.search(rf"^hint: ({wanted}.*?)(?: puts | goes | keeps |$)", answer.err, re.MULTILINE)
    assert found, answer.err
    return found[1].replace("BRANCH", "work")


def follow(project: Project, command: str) -> None:
    subprocess.run(["sh", "-e", "-c", command], cwd=project.top, check=True, capture_output=True)


def is_clean(project: Project, head: str = "main", *unstaged: str) -> None:
    """Index and files are those of HEAD, but for what was edited before."""
    assert project.git("branch", "--show-current").out.strip() == head
    status = project.git("status", "--porcelain").out
    assert status == "".join(f" M {path}\n" for path in unstaged), status
    state = {path.name for path in (project.top / ".git").iterdir()}
    assert not state & {"MERGE_HEAD", "CHERRY_PICK_HEAD", "rebase-merge", "rebase-apply"}


def test_a_commit_on_main_goes_on_on_a_branch_of_its_own(local: Project) -> None:
    local.write("page.md", "# Mine\n")
    local.git("add", "page.md")
    local.write("notes.md", "two\n")
    answer = refused(local, "commit", "--quiet", "-m", "mine")
    assert "nothing that was approved accounts for" in answer.err
    follow(local, way(answer, "git switch"))
    is_clean(local, "work", "notes.md")
    assert local.git("log", "--format=%s", "main..work").out == "mine\n"
    local.git("switch", "--quiet", "main")
    answer = refused(local, "commit", "--quiet", "--all", "-m", "all of it")
    follow(local, way(answer, "git switch").replace("work", "more"))
    is_clean(local, "more")
    local.git("switch", "--quiet", "main")
    refused(local, "commit", "--quiet", "--amend", "-m", "another")
    is_clean(local)


def test_a_fast_forward_comes_back_and_lands_when_approved(local: Project) -> None:
    local.write("notes.md", "two\n")
    answer = refused(local, "merge", "--quiet", "feature")
    assert (local.top / "page.md").exists()
    follow(local, way(answer, "git reset --merge").split(" (")[0])
    is_clean(local, "main", "notes.md")
    assert not (local.top / "page.md").exists()
    approve(local)
    local.git("merge", "--quiet", "--ff-only", "feature")
    assert local.rev("main") == local.rev("feature")
    # Back to where it stood is free, and what was approved comes once more.
    local.git("reset", "--quiet", "--keep", "HEAD~1")
    local.git("merge", "--quiet", "--ff-only", "feature")
    local.git("switch", "--quiet", "feature")
    local.git("branch", "--force", "main", "main~2")


def test_a_merge_is_aborted_and_one_with_a_smuggled_line_is_none(local: Project) -> None:
    approve(local)
    local.git("merge", "--quiet", "--no-ff", "--no-commit", "feature")
    local.write("page.md", "# Page\n\nNobody saw this.\n")
    local.git("add", "page.md")
    answer = refused(local, "commit", "--quiet", "-m", "Merge")
    follow(local, way(answer, "git merge --abort"))
    is_clean(local)
    assert "git branch BRANCH " in answer.err
    local.git("merge", "--quiet", "--no-ff", "-m", "Merge", "feature")
    is_clean(local)
    local.branch("other", "main")
    local.commit("Not approved", {"other.md": "x\n"})
    local.git("switch", "--quiet", "main")
    answer = refused(local, "merge", "--quiet", "--no-ff", "-m", "Merge", "other")
    follow(local, way(answer, "git merge --abort"))
    is_clean(local)


def test_reset_rebase_cherry_pick_and_checkout(local: Project) -> None:
    answer = refused(local, "reset", "--quiet", "--hard", "feature")
    follow(local, way(answer, "git reset --merge").split(" (")[0])
    is_clean(local)
    answer = refused(local, "reset", "--quiet", "feature")
    assert "after a plain git reset: git reset)" in answer.err
    local.git("reset", "--quiet")
    is_clean(local)
    answer = refused(local, "checkout", "--quiet", "-B", "main", "feature")
    follow(local, way(answer, "git reset --merge").split(" (")[0])
    is_clean(local)
    answer = refused(local, "rebase", "--quiet", "feature")
    follow(local, way(answer, "git rebase --abort"))
    is_clean(local)
    answer = refused(local, "cherry-pick", "feature")
    follow(local, way(answer, "git cherry-pick --abort"))
    is_clean(local)
    answer = refused(local, "revert", "--no-edit", "HEAD")
    follow(local, way(answer, "git switch"))
    is_clean(local, "work")
    local.git("switch", "--quiet", "main")
    local.git("format-patch", "--quiet", "-1", "feature", "--output", "../patch")
    answer = refused(local, "am", "--quiet", "../patch")
    follow(local, way(answer, "git am --abort"))
    is_clean(local)


def test_a_branch_that_is_not_checked_out(local: Project) -> None:
    local.git("switch", "--quiet", "feature")
    for move in (
        ("branch", "--force", "main", "feature"),
        ("update-ref", "refs/heads/main", "feature", "main"),
        ("fetch", "--quiet", ".", "feature:main"),
    ):
        answer = refused(local, *move)
        assert "puts index and files back" not in answer.err
        is_clean(local, "feature")
    lines = "update refs/heads/free feature\nupdate refs/heads/main feature\n"
    both = local.git("update-ref", "--stdin", check=False, stdin=lines)
    assert both.status != 0
    assert local.git("rev-parse", "--verify", "--quiet", "free", check=False).status == 1
    refused(local, "push", ".", "feature:main")
    approve(local)
    local.git("branch", "--force", "main", "feature")


def test_creations_and_deletions_are_free(local: Project) -> None:
    local.git("tag", "v1", "main")
    refused(local, "tag", "--force", "v1", "feature", ref="refs/tags/v1")
    local.git("tag", "--delete", "v1")
    local.git("tag", "v1", "feature")
    local.git("switch", "--quiet", "feature")
    local.git("branch", "--delete", "--force", "main")
    local.git("branch", "main", "feature~1")
    refused(local, "branch", "--force", "main", "feature")


@pytest.mark.parametrize("pack", [("pack-refs", "--all", "--prune"), ("gc", "--quiet")])
def test_packing_is_free_and_changes_nothing(local: Project, pack: tuple[str, ...]) -> None:
    before = local.git("for-each-ref").out
    local.git(*pack)
    assert local.git("for-each-ref").out == before
    assert not (local.top / ".git/refs/heads/main").exists()
    refused(local, "merge", "--quiet", "feature")
    local.git("reset", "--merge")
    local.git("switch", "--quiet", "feature")
    local.commit("more", {"more.md": "x\n"})
    local.git(*pack)
    assert local.git("fsck", "--strict").status == 0


def test_a_linked_work_tree_is_guarded_too(local: Project, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    local.git("worktree", "add", "--quiet", "-b", "side", str(linked), "main")
    there = Project(linked, local.remote)
    there.commit("free", {"side.md": "x\n"})
    local.git("switch", "--quiet", "--detach")
    there.git("switch", "--quiet", "main")
    there.write("side.md", "y\n")
    there.git("add", "side.md")
    answer = refused(there, "commit", "--quiet", "-m", "blocked")
    follow(there, way(answer, "git switch"))
    assert there.git("status", "--porcelain").out == ""


def test_a_clone_a_fetch_and_a_pull_are_free(local: Project, tmp_path: Path) -> None:
    """What the remote has accepted may be taken over; a merge of one's own with it may not."""
    clone = Project(tmp_path / "clone", local.top, local.people)
    subprocess.run(["git", "clone", "--quiet", local.top, clone.top], check=True)
    clone.be(local.people["ada"])
    gate("init", "--block-local", at=clone.top).ok()
    approve(local)
    local.git("merge", "--quiet", "--no-ff", "-m", "Merge", "feature")
    clone.git("fetch", "--quiet")
    clone.git("pull", "--quiet", "--ff-only")
    assert clone.rev("main") == local.rev("main")
    refused(clone, "reset", "--quiet", "--hard", "origin/feature")
    clone.git("reset", "--quiet", "--merge")
    local.git("switch", "--quiet", "--detach")
    local.branch("second", "main")
    local.commit("Second", {"second.md": "x\n"})
    local.git("switch", "--quiet", "main")
    local.git("-c", "core.hooksPath=/dev/null", "merge", "--quiet", "second")
    plant = clone.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "own").out.strip()
    clone.git("merge", "--quiet", "--ff-only", plant)  # changes no path that a gate compares
    clone.branch("own", "main")
    clone.commit("own", {"own.md": "x\n"})
    clone.git("switch", "--quiet", "main")
    answer = clone.git("pull", "--quiet", "--no-rebase", "--no-edit", check=False)
    assert answer.status != 0
    follow(clone, way(answer, "git merge --abort"))
    is_clean(clone)
    clone.git("reset", "--quiet", "--hard", "origin/main")
    assert clone.rev("main") == local.rev("main")


def test_init_guards_a_solo_repository_without_a_remote(tmp_path: Path) -> None:
    def installed(name: str, *options: str, remote: bool = False) -> bool:
        top = tmp_path / name
        subprocess.run(["git", "init", "--quiet", top], check=True)
        if remote:
            subprocess.run(["git", "remote", "add", "origin", "../x"], cwd=top, check=True)
        gate("init", *options, at=top).ok()
        first = _files(top)
        gate("init", *options, at=top).ok()
        assert _files(top) == first
        return (top / ".git/hooks/reference-transaction").exists()

    assert installed("alone")
    assert installed("asked", "--block-local", remote=True)
    assert not installed("with-remote", remote=True)
    assert not installed("team", "--preset", "team")
    assert not installed("declined", "--no-block-local")
    assert "reference-transaction: installed" in gate("hook", "status", at=tmp_path / "alone").out
    gate("hook", "uninstall", at=tmp_path / "alone").ok()
    assert not [*(tmp_path / "alone/.git/hooks").glob("*n")]


def _files(top: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for path in top.rglob("*")
        if path.is_file() and not path.name.startswith("index")
    }


@pytest.mark.parametrize("guarded", ["refs/heads/main", "refs/tags/v1"])
def test_what_a_guarded_symbolic_ref_stands_for(local: Project, guarded: str) -> None:
    """26: whoever moves it moves the guarded ref, whichever of the names is said."""
    local.git("update-ref", "refs/heads/master", "main")
    local.git("symbolic-ref", guarded, "refs/heads/master")
    hookguards.forget(local.top / ".git")  # as whatever installs a hook does
    local.git("switch", "--quiet", "feature")
    local.git("branch", "other")
    for _ in range(2):  # the first time writes what the hook's shell knows from then on
        refused(local, "update-ref", "refs/heads/master", "feature", ref="refs/heads/master")
        local.git("update-ref", "refs/heads/other", "main")
        local.git("update-ref", "refs/heads/other", "feature")
    local.git("switch", "--quiet", "master")
    local.git("merge", "--quiet", "--ff-only", "feature", check=False)
    assert local.rev(guarded) != local.rev("feature")
    if guarded == "refs/heads/main":
        local.git("reset", "--merge")
        approve(local)
        local.git("merge", "--quiet", "--ff-only", "feature")
        assert local.rev(guarded) == local.rev("feature")
