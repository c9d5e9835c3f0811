"""Hazard 31: what a merge gives must not depend on attributes, drivers and settings."""

from __future__ import annotations

import pytest
from forger import blocked, passes, push_lands, push_refused, work
from support.project import Project

LINES = "".join(f"line {number}\n" for number in range(1, 10))
OURS = LINES.replace("line 1\n", "line 1 of main\n")
THEIRS = LINES.replace("line 9\n", "line 9 of the branch\n")
BOTH = OURS.replace("line 9\n", "line 9 of the branch\n")


def _both_changed(project: Project, attributes: str = "", *, theirs: str = THEIRS) -> None:
    """An approved branch and main have changed one file; `attributes` came with the branch."""
    project.commit("the file", {"a.txt": LINES})
    project.land()
    files = {"a.txt": theirs, **({".gitattributes": attributes} if attributes else {})}
    work(project, **files)
    project.gate("open").ok()
    project.gate("approve").ok()
    project.git("switch", "--quiet", "main")
    project.commit("meanwhile", {"a.txt": OURS})
    project.land()


def _landing(project: Project, result: str) -> None:
    """A merge commit on main of the branch, with this content of the file."""
    project.git("switch", "--quiet", "--detach", "origin/main")
    project.git("merge", "--no-commit", "--no-ff", "feature", check=False)
    project.write("a.txt", result)
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message", "Merge feature")


@pytest.mark.parametrize("where", [".gitattributes", "info/attributes", "core.attributesFile"])
def test_a_merge_driver(project: Project, where: str) -> None:
    """31: a driver that the tree, the clone or the user names decides nothing and is not run."""
    attributes = "*.txt merge=evil\n"
    if where == ".gitattributes":
        project.write(".gitattributes", attributes)
    _both_changed(project)
    ran = project.top.parent / "ran"
    driver = project.top.parent / "driver"
    driver.write_text(f"#!/bin/sh\ntouch '{ran}'\necho evil >\"$2\"\n")
    driver.chmod(0o755)
    project.git("config", "merge.evil.driver", f"'{driver}' %O %A %B")
    if where == "info/attributes":
        (project.top / ".git" / "info" / "attributes").write_text(attributes)
    elif where == "core.attributesFile":
        (project.top.parent / "attributes").write_text(attributes)
        project.git("config", "--global", "core.attributesFile", f"{project.top.parent}/attributes")
    project.git("switch", "--quiet", "--detach", "origin/main")
    project.git("merge", "--quiet", "--no-edit", "--no-ff", "feature")
    assert (project.top / "a.txt").read_text() == "evil\n"
    assert ran.exists()
    ran.unlink()
    blocked(project, "blocked", "it differs at a.txt")
    if where == ".gitattributes":
        push_refused(project, "blocked", "it differs at a.txt")
    project.git("reset", "--quiet", "--hard", "HEAD~1")
    project.git("config", "--unset", "merge.evil.driver")
    _landing(project, BOTH)
    passes(project)
    assert not ran.exists()


@pytest.mark.parametrize("name", ["union", "ours"])
def test_a_conflict_that_an_attribute_resolves(project: Project, name: str) -> None:
    """31: both sides changed a line; `merge=union` in the change makes no clean merge of that."""
    clashing = LINES.replace("line 1\n", "line 1 of the branch\n")
    _both_changed(project, f"*.txt merge={name}\n", theirs=clashing)
    _landing(project, OURS.replace("line 1 of main\n", "line 1 of main\nline 1 of the branch\n"))
    found = blocked(project, "not-reproducible", "does not merge cleanly", "a.txt")
    assert "git merge" in found["hint"]
    project.git("switch", "--quiet", "feature")
    project.git("merge", "--no-edit", "origin/main", check=False)
    project.write("a.txt", clashing)
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message", "Merge main, and mine wins")
    project.gate("open").ok()
    project.gate("approve").ok()
    _landing(project, clashing)
    passes(project)


def test_settings_of_the_clone(project: Project) -> None:
    """31: nothing in the configuration makes another merge of it."""
    _both_changed(project)
    for key, value in (
        ("merge.renames", "false"),
        ("merge.renormalize", "true"),
        ("merge.default", "binary"),
        ("merge.conflictStyle", "diff3"),
        ("diff.algorithm", "patience"),
        ("diff.external", "false"),
        ("diff.noprefix", "true"),
        ("color.ui", "always"),
    ):
        project.git("config", key, value)
    project.git("switch", "--quiet", "feature")
    passes(project, moves=None)
    _landing(project, BOTH.replace("line 5", "line five"))
    blocked(project, "blocked", "it differs at a.txt")
    _landing(project, BOTH)
    passes(project)
    push_lands(project)
