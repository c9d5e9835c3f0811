"""Clones of one remote for the tests of `sync`."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from support.project import Person, Project

SAME = "nothing new: what is here and on origin is the same\n"


def another(
    project: Project,
    name: str,
    who: Person | None = None,
    options: Sequence[str] = (),
    url: str = "",
) -> Project:
    """A `git clone` of the project's remote, which never ran `init`."""
    top = project.top.parent / name
    source = url or f"file://{project.remote}"
    subprocess.run(["git", "clone", "--quiet", *options, source, top], check=True)
    clone = replace(project, top=top)
    if who is not None:
        clone.be(who)
    return clone


def opened(project: Project, branch: str = "feature") -> str:
    """A branch with one commit, pushed, and put up for a decision."""
    project.branch(branch)
    commit = project.commit(f"work on {branch}", {f"{branch}.md": f"# {branch}\n"})
    project.push(branch, check=True)
    project.gate("open").ok()
    return commit


def refs_of(folder: Path, *prefixes: str) -> dict[str, str]:
    """The refs of a repository with their ids, ours where nothing else is asked for."""
    wanted = prefixes or ("refs/aiwg", "refs/notes/aiwg", "refs/heads/aiwg")
    done = subprocess.run(
        ["git", "for-each-ref", "--format=%(refname) %(objectname)", *wanted],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(line.split() for line in done.stdout.splitlines())


def is_sound(folder: Path) -> None:
    done = subprocess.run(
        ["git", "fsck", "--strict", "--no-dangling"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
