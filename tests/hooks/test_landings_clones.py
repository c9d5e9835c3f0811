"""Clones that lack objects or history, share them, or keep their refs elsewhere.

What is pushed was made in another clone and lies on the remote as a branch, so that whatever the
judgement needs has to come from there.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from landingkit import (
    REGULAR,
    Templates,
    administer,
    allowed,
    approve,
    approved_branch,
    by_ff,
    by_merge,
    passes,
    plain_project,
    program,
    refused,
    stopped,
    twin,
)
from support.project import Project

from gitgate import hooks

LEDGERS = "refs/aiwg/gates/*:refs/aiwg/gates/*"
NOTES = "refs/notes/aiwg/gates:refs/notes/aiwg/gates"


def text(**changed: str) -> str:
    lines = [f"line {number}\n" for number in range(20)]
    return "".join(changed.get(f"l{number}", line) for number, line in enumerate(lines))


def build(folder: Path, home: Path) -> Project:
    """`feature` is approved; main edits the same file elsewhere and renames another.

    On the remote are its merge, as the branch `landing`, and a twin of that, as `evil`.
    """
    project = plain_project()(folder, home)
    for name in ("allowFilter", "allowAnySHA1InWant"):
        replace(project, top=project.remote).git("config", f"uploadpack.{name}", "true")
    administer(project, {"a": text(), "deep/old": text(), "deep/er/b": "1\n"})
    changed = text(l2="branch\n")
    approved_branch(project, "feature", {"a": changed, "deep/old": changed}, {"deep/er/c": "1\n"})
    project.git("switch", "--quiet", "--detach", "origin/main")
    project.git("mv", "deep/old", "new")
    project.land(project.commit("Meanwhile", {"a": text(l18="main\n")}) + ":refs/heads/main")
    landing = by_merge(project, "feature")
    evil = twin(project, landing, "deep/er/b", REGULAR, "evil\n")
    project.git("push", "--quiet", "origin", f"{landing}:refs/heads/landing", "feature")
    project.git("push", "--quiet", "origin", f"{evil}:refs/heads/evil", LEDGERS, NOTES)
    return project


@pytest.fixture
def source(templates: Templates, tmp_path: Path, home: Path) -> Project:
    return templates.copy("clones", build, tmp_path)


def clone(source: Project, *options: str, fetch: bool = True) -> Project:
    """A clone by URL with git-gate set up and the ledgers fetched."""
    made = replace(source, top=source.top.with_name("clone"))
    source.git("clone", "--quiet", *options, f"file://{source.remote}", str(made.top))
    made.be(made.people["ada"])
    made.git("config", "gate.policyRef", "refs/heads/main")
    common = made.top / made.git("rev-parse", "--git-common-dir").out.strip()
    hooks.install(common / "hooks", common, program())
    if fetch:
        made.git("fetch", "--quiet", "origin", LEDGERS, NOTES)
    return made


def judges_rightly(made: Project, landing: str = "landing", evil: str = "evil") -> None:
    refused(made, made.rev(evil), "blocked", "deep/er/b", first=made.rev(evil))
    passes(made, made.rev(landing))


PARTIAL = {
    "no blobs": ["--filter=blob:none", "--no-checkout"],
    "no trees": ["--filter=tree:0", "--no-checkout"],
    "few blobs": ["--filter=blob:limit=100"],
}


@pytest.mark.parametrize("kind", PARTIAL)
def test_a_partial_clone_fetches_what_it_needs(source: Project, kind: str) -> None:
    made = clone(source, *PARTIAL[kind])
    missing = made.git("rev-list", "--objects", "--all", "--missing=print").out
    assert "\n?" in missing
    judges_rightly(made, "origin/landing", "origin/evil")


def test_a_partial_clone_whose_remote_is_gone_blocks(source: Project) -> None:
    made = clone(source, *PARTIAL["no blobs"])
    made.git("config", "remote.origin.url", str(source.remote.with_name("gone")))
    made.git("config", "remote.origin.pushUrl", str(source.remote))
    said = stopped(made, "origin/landing:main")
    assert "missing" in said
    assert "hint: git fetch" in said


def test_a_shallow_clone_blocks_what_it_cannot_know(source: Project) -> None:
    made = clone(source, "--depth", "1", "--no-single-branch")
    for name in ("landing", "evil"):
        said = stopped(made, "--force", f"origin/{name}:main")
        assert "hint: git fetch --unshallow" in said
    made.git("fetch", "--quiet", "--unshallow")
    judges_rightly(made, "origin/landing", "origin/evil")


def test_a_shallow_clone_judges_what_it_has(source: Project) -> None:
    """Work on the commit that is here needs nothing older."""
    made = clone(source, "--depth", "1", fetch=False)
    made.branch("work")
    first = made.commit("work", {"w": "1\n"})
    refused(made, first, "not-opened", first=first)
    approve(made)
    made.git("switch", "--quiet", "--detach")
    evil = twin(made, first, "w", REGULAR, "evil\n")
    refused(made, evil, "blocked", first=evil)
    passes(made, first)


def test_a_clone_with_alternates(source: Project) -> None:
    made = replace(source, top=source.top.with_name("shared"))
    source.git("clone", "--quiet", "--shared", str(source.top), str(made.top))
    made.git("remote", "set-url", "origin", str(source.remote))
    made.git("fetch", "--quiet", "origin", LEDGERS, NOTES, "+refs/heads/*:refs/remotes/origin/*")
    made.git("config", "gate.policyRef", "refs/heads/main")
    hooks.install(made.top / ".git" / "hooks", made.top / ".git", program())
    assert (made.top / ".git" / "objects" / "info" / "alternates").exists()
    judges_rightly(made, "origin/landing", "origin/evil")


def test_packed_refs_and_objects(source: Project) -> None:
    landing, evil = (source.rev(name) for name in ("origin/landing", "origin/evil"))
    source.git("pack-refs", "--all", "--prune")
    source.git("repack", "--quiet", "-a", "-d")
    source.git("prune-packed")
    assert not (source.top / ".git" / source.ledger()).exists()
    judges_rightly(source, landing, evil)


def test_a_bare_repository_with_work_trees(source: Project, tmp_path: Path) -> None:
    bare = clone(source, "--bare")
    assert bare.git("rev-parse", "--is-bare-repository").out == "true\n"
    bare.git("worktree", "add", "--quiet", str(tmp_path / "tree"), "feature")
    made = replace(bare, top=tmp_path / "tree")
    judges_rightly(made)
    made.git("fetch", "--quiet", "origin", "+refs/heads/main:refs/heads/main")
    made.git("switch", "--quiet", "--create", "next", "main")
    work = made.commit("next", {"n": "1\n"})
    approve(made)
    passes(made, work, subject="next")


def test_a_clone_without_ledgers_says_so(source: Project) -> None:
    made = clone(source, fetch=False)
    landing = made.rev("origin/landing")
    refused(made, landing, "not-opened", first=landing)
    allowed(made, "--no-verify", "origin/landing:refs/heads/topic")
    made.git("fetch", "--quiet", "origin", LEDGERS)
    made.git("switch", "--quiet", "feature")
    refused(made, by_ff(made, "feature"), "blocked", "first-parent chain", force=True)
    passes(made, landing)
