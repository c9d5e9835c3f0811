"""`sync` in every kind of clone and over every transport."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.project import Project
from support.smarthttp import served
from synckit import SAME, another, is_sound, opened, refs_of

LEDGER = "refs/aiwg/gates/main/feature"


@pytest.fixture
def decided(team: Project) -> Project:
    """A project whose remote has a rejected and a waiting instance and further history."""
    for number in range(3):
        team.commit(f"main {number}", {"README.md": f"# Project {number}\n"})
    team.land()
    opened(team)
    team.be(team.people["ada"])
    team.gate("reject", "-m", "no minimum length").ok()
    team.be(team.people["agent"], signs=False)
    opened(team, "other")
    team.gate("sync").ok()
    return team


CLONES = {
    "plain": (),
    "single-branch": ("--single-branch", "--branch", "feature"),
    "depth": ("--depth", "1"),
    "depth of the branch": ("--depth", "1", "--branch", "feature"),
    "without blobs": ("--filter=blob:none",),
    "without trees": ("--filter=tree:0",),
    "no checkout": ("--no-checkout",),
}


@pytest.mark.parametrize("kind", CLONES)
def test_each_kind_of_clone(decided: Project, kind: str) -> None:
    subprocess.run(
        ["git", "-C", decided.remote, "config", "uploadpack.allowFilter", "true"], check=True
    )
    bob = another(decided, "bob", decided.people["bob"], CLONES[kind])
    assert bob.gate("sync").ok().out == (
        "main of feature: 2 events from origin\n"
        "main of other: 1 event from origin\n"
        "notes: taken from origin\n"
    )
    assert refs_of(bob.top) == refs_of(decided.remote)
    assert bob.gate("sync").ok().out == SAME
    if "feature" in CLONES[kind]:  # exchanging needs no policy, deciding does
        bob.git("config", "gate.policyRef", "refs/heads/main")
        bob.git("fetch", "--quiet", "origin", "main:refs/remotes/origin/main")
    if kind == "depth of the branch":  # where the branch left main is not here
        refused = bob.gate("show", "main", "--subject", "feature")
        assert (refused.status, "hint: git fetch --unshallow\n" in refused.err) == (1, True)
        bob.git("fetch", "--quiet", "--unshallow")
    found = bob.gate("show", "main", "--subject", "feature", "--json").ok().json
    assert (found["status"], len(found["decisions"])) == ("rejected", 1)
    bob.gate("approve", "main", "--subject", "other").ok()
    assert bob.gate("sync").ok().out == "main of other: 1 event to origin\nnotes: sent to origin\n"
    assert refs_of(bob.top) == refs_of(decided.remote)
    decided.gate("sync").ok()
    assert decided.gate("check", "origin/main..other", "--ref", "refs/heads/main").ok()
    is_sound(decided.remote)


@pytest.mark.parametrize("options", [("--mirror",), ("--bare",)])
def test_a_mirror_and_a_bare_repository(decided: Project, options: tuple[str, ...]) -> None:
    copy = another(decided, "copy.git", None, options)
    first = copy.gate("sync").ok().out
    assert refs_of(copy.top) == refs_of(decided.remote)
    assert copy.gate("sync").ok().out == SAME
    assert ("main of feature" in first) == (options == ("--bare",))
    decided.git("switch", "--quiet", "feature")
    decided.commit("better", {"feature.md": "# better\n"})
    decided.gate("open").ok()
    decided.gate("sync").ok()
    assert copy.gate("sync").ok().out == "main of feature: 1 event from origin\n"
    copy.be(decided.people["bob"])
    copy.git("config", "gate.policyRef", "refs/heads/main")
    copy.gate("reject", "main", "--subject", "other", "-m", "no").ok()
    assert copy.gate("sync").ok().out == "main of other: 1 event to origin\nnotes: sent to origin\n"
    assert refs_of(copy.top) == refs_of(decided.remote)


def test_a_linked_work_tree(decided: Project) -> None:
    beside = decided.top.parent / "beside"
    decided.git("worktree", "add", "--quiet", "--detach", str(beside))
    assert decided.gate("sync", at=beside).ok().out == SAME


@pytest.fixture(params=["http", "ext"])
def url(request: pytest.FixtureRequest, decided: Project) -> Iterator[str]:
    subprocess.run(["git", "-C", decided.remote, "config", "http.receivepack", "true"], check=True)
    if request.param == "ext":
        yield f"ext::git %s {decided.remote}"
        return
    with served(decided.remote.parent) as base:
        yield f"{base}/{decided.remote.name}"


def test_over_the_wire(decided: Project, url: str) -> None:
    bob = another(decided, "bob", decided.people["bob"])
    bob.git("config", "protocol.ext.allow", "always")
    bob.git("remote", "set-url", "origin", url)
    bob.gate("sync").ok()
    bob.gate("approve", "main", "--subject", "other").ok()
    assert bob.gate("sync").ok().out == "main of other: 1 event to origin\nnotes: sent to origin\n"
    assert bob.gate("sync").ok().out == SAME
    assert refs_of(bob.top) == refs_of(decided.remote)


def test_a_remote_that_takes_no_pushes(decided: Project) -> None:
    bob = another(decided, "bob", decided.people["bob"])
    with served(decided.remote.parent) as base:
        bob.git("remote", "set-url", "origin", f"{base}/{decided.remote.name}")
        bob.gate("sync").ok()
        assert bob.gate("sync").ok().out == SAME
        before = refs_of(decided.remote)
        bob.gate("approve", "main", "--subject", "other").ok()
        done = bob.gate("sync").ok()
        assert refs_of(decided.remote) == before
    assert done.out == SAME
    assert done.err.startswith("warning: origin takes no pushes (")
    assert done.err.endswith("): not sent: main of other\n")


def test_a_second_remote(decided: Project, tmp_path: Path) -> None:
    backup = tmp_path / "backup.git"
    subprocess.run(["git", "init", "--quiet", "--bare", backup], check=True)
    decided.git("remote", "add", "backup", str(backup))
    assert decided.gate("sync", "backup").ok().out == (
        "main of feature: 2 events to backup\n"
        "main of other: 1 event to backup\n"
        "notes: sent to backup\n"
    )
    assert refs_of(backup) == refs_of(decided.remote)
    is_sound(backup)


def test_two_remotes_that_heard_of_two_decisions_in_another_order(
    decided: Project, tmp_path: Path
) -> None:
    """Each remote keeps its order and both have every word; one status for who has both."""
    backup = tmp_path / "backup.git"
    subprocess.run(["git", "clone", "--quiet", "--mirror", decided.remote, backup], check=True)
    decided.gate("sync").ok()
    decided.git(
        "push", "--quiet", str(backup), "refs/aiwg/*:refs/aiwg/*", "refs/notes/*:refs/notes/*"
    )
    ada, bob = (another(decided, name, decided.people[name]) for name in ("ada", "bob"))
    bob.git("remote", "set-url", "origin", str(backup))
    for clone in (ada, bob):
        clone.gate("sync").ok()
        clone.gate(
            "reject", "main", "--subject", "other", "-m", f"not so, says {clone.top.name}"
        ).ok()
        clone.gate("sync").ok()
    ada.git("remote", "add", "backup", str(backup))
    for remote in ("backup", "origin", "backup", "origin"):
        ada.gate("sync", remote).ok()
    here = refs_of(decided.remote)
    assert refs_of(ada.top) == here
    assert refs_of(ada.top, "refs/gitgate/backup").keys() >= {
        "refs/gitgate/backup/gates/main/other"
    }
    for place in (decided.remote, backup):
        said = subprocess.run(
            ["git", "ls-tree", "-r", "--name-only", "refs/aiwg/gates/main/other"],
            cwd=place, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        assert said.count("-decided.yml") == 2, said
        is_sound(place)
    shown = ada.gate("show", "main", "--subject", "other", "--json").ok().json
    assert (shown["status"], len(shown["decisions"])) == ("rejected", 2)
