"""The many forms of a push: several refs, by URL, dry, atomic, from other work trees; and merges
that are refused on purpose."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

from landingkit import (
    administer,
    allowed,
    approve,
    approved_branch,
    by_ff,
    by_merge,
    passes,
    refused,
    stopped,
)
from support.project import Project


def waiting(project: Project, name: str = "feature") -> str:
    """A branch with work that nobody has put up yet; HEAD is there."""
    project.branch(name)
    return project.commit(f"{name} 1", {name: "1\n"})


def test_an_octopus_is_refused(solo: Project) -> None:
    """Also where each of its branches is approved."""
    approved_branch(solo, "one", {"a": "1\n"})
    approved_branch(solo, "two", {"b": "1\n"})
    solo.git("switch", "--quiet", "--detach", "origin/main")
    solo.git("merge", "--quiet", "--no-ff", "-m", "Octopus", "one", "two")
    octopus = solo.rev()
    assert len(solo.git("rev-parse", f"{octopus}^@").out.split()) == 3
    refused(solo, octopus, "blocked", "is not the merge of that", first=octopus)
    passes(solo, by_merge(solo, "one"))
    passes(solo, by_merge(solo, "two"))


def test_a_merge_that_git_pull_made_is_refused(solo: Project) -> None:
    administer(solo, {"m": "1\n"})
    solo.git("switch", "--quiet", "main")
    solo.commit("local work", {"a": "1\n"})
    solo.git("pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main")
    doc = refused(solo, solo.rev(), "blocked", "first-parent chain")
    assert "git merge --no-ff" in doc["hint"]


def test_several_refs_at_once(solo: Project) -> None:
    """Git asks the hook once for the whole push, so a refused ref keeps all of them here."""
    waiting(solo)
    said = stopped(solo, "feature:topic", "feature:main", "main:other")
    assert "refs/heads/topic" not in said
    stopped(solo, "--atomic", "feature:topic", "feature:main")
    stopped(solo, "--dry-run", "feature:main")
    approve(solo)
    allowed(solo, "--dry-run", "feature:main")
    assert solo.remote_tip() == solo.rev("main")
    allowed(solo, "--atomic", "feature:topic", "feature:main")
    assert solo.remote_tip() == solo.remote_tip("topic") == solo.rev("feature")


def test_all_and_mirror(solo: Project) -> None:
    work = waiting(solo)
    solo.git("switch", "--quiet", "main")
    solo.git("merge", "--quiet", "--ff-only", "feature")
    stopped(solo, "--all")
    stopped(solo, "--mirror")
    approve(solo, subject="feature")
    allowed(solo, "--all")
    assert solo.remote_tip() == work
    allowed(solo, "--mirror")
    there = replace(solo, top=solo.remote)
    assert there.rev(solo.ledger()) == solo.rev(solo.ledger())
    solo.git("switch", "--quiet", "--detach")
    solo.git("branch", "--quiet", "-D", "main")
    said = stopped(solo, "--prune", "refs/heads/*")
    assert "refs/heads/main holds the policy and may not be deleted" in said


def test_git_tells_no_hook_what_a_mirror_deletes(solo: Project) -> None:
    """No client can guard against that; a hook on the server can."""
    hook = solo.top / ".git" / "hooks" / "pre-push"
    hook.write_text("#!/bin/sh\ncat >told\n")
    allowed(solo, "main:topic")
    allowed(solo, "--mirror")
    assert solo.remote_tip("topic") == ""
    assert "refs/heads/topic" not in (solo.top / "told").read_text()


def test_by_url(solo: Project) -> None:
    waiting(solo)
    stopped(solo, "feature:main", to=str(solo.remote))
    stopped(solo, "feature:main", to=f"file://{solo.remote}")
    approve(solo)
    solo.git("push", str(solo.remote), "feature:main")
    assert solo.remote_tip() == solo.rev("feature")


def test_by_another_remote(solo: Project, tmp_path: Path) -> None:
    """A second remote of the same project has its own tracking refs, and no way round."""
    solo.git("remote", "add", "up.stream", str(solo.remote))
    waiting(solo)
    stopped(solo, "feature:main", to="up.stream")
    fork = tmp_path / "fork.git"
    solo.git("clone", "--quiet", "--bare", str(solo.remote), str(fork))
    solo.git("remote", "add", "fork", str(fork))
    solo.git("fetch", "--quiet", "fork")
    done = solo.git("push", "fork", "feature:main", check=False)
    assert "git-gate: refs/heads/main may not move: not-opened" in done.err
    approve(solo)
    solo.git("push", "fork", "feature:main")
    solo.git("push", "up.stream", "feature:main")
    assert solo.remote_tip() == solo.rev("feature")


def test_names_that_are_no_branches(solo: Project) -> None:
    waiting(solo)
    solo.commit("two words", {"b": "1\n"})
    approve(solo, "--commit", "HEAD~1")
    last, first = solo.rev(), solo.rev("HEAD~1")
    refused(solo, last, "stale", first=last, pushed="HEAD^{/two words}")
    refused(solo, last, "stale", first=last, pushed="HEAD")
    passes(solo, first, pushed="HEAD~1")


def test_nothing_to_push(solo: Project) -> None:
    done = allowed(solo, "main")
    assert "Everything up-to-date" in done.err
    hook = solo.top / ".git" / "hooks" / "pre-push"
    empty = subprocess.run(
        [hook, "origin", str(solo.remote)], cwd=solo.top, input=b"", check=True, capture_output=True
    )
    assert empty.stderr == b""


def test_main_that_moved_unseen(solo: Project, tmp_path: Path) -> None:
    """What the remote has and this clone has not, nobody can judge here."""
    approved_branch(solo, "feature", {"a": "1\n"})
    other = tmp_path / "other"
    solo.git("clone", "--quiet", str(solo.remote), str(other))
    theirs = replace(solo, top=other)
    theirs.commit("elsewhere", {"b": "1\n"})
    theirs.git("push", "--quiet", "origin", "main")
    said = stopped(solo, "--force", "feature:main")
    assert "which is not here" in said
    assert "hint: git fetch origin" in said
    theirs.git("push", "--quiet", "origin", "main:topic")
    allowed(solo, "--force", "feature:topic")
    solo.git("fetch", "--quiet")
    passes(solo, by_merge(solo, "feature"))


def test_from_a_linked_work_tree(solo: Project, tmp_path: Path) -> None:
    solo.git("worktree", "add", "--quiet", "-b", "feature", str(tmp_path / "linked"))
    linked = replace(solo, top=tmp_path / "linked")
    work = linked.commit("work", {"a": "1\n"})
    refused(linked, work, "not-opened", first=work)
    inside = linked.top / "folder"
    inside.mkdir()
    stopped(linked, "HEAD:main", at=inside)
    approve(linked)
    passes(linked, work, subject="feature")


def test_from_a_submodule(solo: Project, tmp_path: Path) -> None:
    above = replace(solo, top=tmp_path / "above")
    solo.git("init", "--quiet", str(above.top))
    above.git("submodule", "--quiet", "add", str(solo.remote), "part")
    part = replace(solo, top=above.top / "part")
    part.be(part.people["ada"])
    part.git("config", "gate.policyRef", "refs/heads/main")
    part.gate("hook", "install").ok()
    work = waiting(part)
    refused(part, work, "not-opened", first=work)
    said = above.git("push", "--recurse-submodules=only", "origin", "HEAD:main", check=False)
    assert said.status != 0
    approve(part)
    passes(part, by_ff(part, "feature"))
