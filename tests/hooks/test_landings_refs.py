"""Guarded refs that come into being, move back, or go: branches and tags."""

from __future__ import annotations

from pathlib import Path

import pytest
from landingkit import (
    GUARDED,
    MAIN,
    Templates,
    administer,
    allowed,
    approve,
    approved_branch,
    by_ff,
    by_merge,
    passes,
    plain_project,
    plant,
    refused,
    stopped,
)
from support.project import Project

RELEASE = "refs/heads/release"


@pytest.fixture
def guarded(templates: Templates, tmp_path: Path, home: Path) -> Project:
    """`main`, `release/*` and the tags `v*` are guarded."""
    return templates.copy("guarded", plain_project(GUARDED), tmp_path)


def test_a_release_branch_may_stand_where_main_stood(guarded: Project) -> None:
    adoption = guarded.rev()
    end = approved_branch(guarded, "feature", {"a": "1\n"}, {"a": "2\n"})
    told = stopped(guarded, f"{end}:{RELEASE}/early")
    assert "main of feature is for refs/heads/main, not for refs/heads/release/early" in told
    assert "hint: git gate open main --subject feature --target refs/heads/release/early" in told
    passes(guarded, by_ff(guarded, "feature"))
    guarded.branch("other")
    work = guarded.commit("unapproved", {"b": "1\n"})
    allowed(guarded, f"{adoption}:{RELEASE}/adoption", f"{end}:{RELEASE}/end")
    interior = stopped(guarded, f"{end}~1:{RELEASE}/interior")
    assert f"accounts for {guarded.rev(f'{end}~1')[:12]} (feature 1)" in interior
    unapproved = stopped(guarded, f"{work}:{RELEASE}/unapproved")
    assert f"accounts for {work[:12]} (unapproved)" in unapproved
    assert "hint: git gate open" in unapproved
    orphan = plant(guarded, work, message="orphan")
    assert "shares no commit" in stopped(guarded, f"{orphan}:{RELEASE}/orphan")
    approve(guarded, "--target", f"{RELEASE}/approved", "--base", "origin/main")
    stopped(guarded, f"{work}:{RELEASE}/other")
    allowed(guarded, f"{work}:{RELEASE}/approved")
    refused(guarded, work, "not-opened", "not for refs/heads/main", first=work)


def test_a_release_branch_is_no_way_round_main(guarded: Project) -> None:
    """A commit that somebody pushed past the gate is no place to stand, nor are later ones."""
    evil = administer(guarded, {"evil": "1\n"})
    assert "(meanwhile)" in stopped(guarded, f"{evil}:{RELEASE}/1")
    approved_branch(guarded, "feature", {"a": "1\n"})
    passes(guarded, by_merge(guarded, "feature"))
    assert "(meanwhile)" in stopped(guarded, f"origin/main:{RELEASE}/1")
    allowed(guarded, f"{evil}~1:{RELEASE}/1")


def test_a_landing_on_a_release_branch_takes_its_own_approval(guarded: Project) -> None:
    allowed(guarded, f"main:{RELEASE}/1")
    fix = approved_branch(guarded, "fix", {"fix": "1\n"}, target="main")
    ref = f"{RELEASE}/1"
    refused(guarded, fix, "not-opened", "not for refs/heads/release/1", f"--target {ref}", ref=ref)
    passes(guarded, fix)
    guarded.git("switch", "--quiet", "fix")
    approve(guarded, "--target", "release/1", subject="backport")
    evil = plant(guarded, "main", fix)
    refused(guarded, evil, "stale", "newer work", ref=ref, first=evil)
    passes(guarded, fix, ref)


def test_deletions_and_moves_back_are_refused(guarded: Project) -> None:
    first = guarded.rev()
    allowed(guarded, f"main:{RELEASE}/1")
    approved_branch(guarded, "feature", {"a": "1\n"}, target="main")
    passes(guarded, by_ff(guarded, "feature"))
    assert "may not be deleted" in stopped(guarded, f":{MAIN}")
    assert "may not be deleted" in stopped(guarded, "--delete", "release/1")
    hidden = "leave its own history"
    refused(guarded, first, "blocked", hidden, force=True)
    other = plant(guarded, "feature", first, message="amended")
    refused(guarded, other, "blocked", hidden, force=True)
    root = plant(guarded, "feature", message="root")
    refused(guarded, root, "blocked", hidden, force=True)
    for move in ("feature:refs/heads/topic", "+main:refs/heads/topic", ":topic"):
        allowed(guarded, move)


@pytest.mark.parametrize("kind", ["light", "annotated"])
def test_tags(guarded: Project, kind: str) -> None:
    def tag(name: str, at: str) -> None:
        about = ["-m", "about"] if kind == "annotated" else []
        guarded.git("tag", "--force", *about, name, at)

    work = approved_branch(guarded, "feature", {"a": "1\n"})
    for name, at in (("v1", "main"), ("v2", work), ("nightly", work), ("v3", work)):
        tag(name, at)
    assert "not for refs/tags/v2" in stopped(guarded, "v2")
    allowed(guarded, "v1", "nightly")
    assert "may not be deleted" in stopped(guarded, ":v1")
    tag("v1", work)
    assert "may not be moved" in stopped(guarded, "--force", "v1")
    tag("nightly", "main")
    allowed(guarded, "--force", "nightly")
    allowed(guarded, ":nightly")
    approve(guarded, "--target", "refs/tags/v3", "--base", "main", subject="version 3")
    allowed(guarded, "v3")
    passes(guarded, by_ff(guarded, "feature"))
    allowed(guarded, "v2")


def test_tags_of_what_is_no_commit(guarded: Project) -> None:
    """An unguarded one is nobody's business; a guarded one shows nothing that was approved."""
    tree = guarded.rev("HEAD^{tree}")
    guarded.git("tag", "nightly", tree)
    guarded.git("tag", "-m", "about", "tree", tree)
    guarded.git("tag", "v1", tree)
    guarded.git("tag", "-m", "about", "v2", tree)
    guarded.git("tag", "-m", "about", "v3", "v2")
    allowed(guarded, "nightly", "tree")
    for name in ("v1", "v2", "v3"):
        stopped(guarded, name)
    guarded.git("tag", "-m", "about", "inner", "main")
    guarded.git("tag", "-m", "about", "v4", "inner")
    allowed(guarded, "v4")
