"""A bare repository with the server's hooks, and pushes to it by clients that skip their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.project import Answer, Project, _program

from gitgate import hooks

LONG = bool(os.environ.get("GIT_GATE_LONG"))
"""Whether the long form of the tests is wanted."""

long = pytest.mark.skipif(not LONG, reason="GIT_GATE_LONG=1 is the long form")

MAIN = "refs/heads/main"
NOTES = "refs/notes/aiwg/gates"
JOURNAL = "refs/heads/aiwg/journal"


def guard(remote: Path) -> None:
    """Install the server's hooks in a bare repository."""
    for name in hooks.SERVER:
        hooks.install(remote / "hooks", remote, _program(), name)


def at(remote: Path, *args: str, check: bool = True) -> str:
    """Run git on the server."""
    done = subprocess.run(
        ["git", "--git-dir", remote, *args], capture_output=True, text=True, check=check
    )
    return done.stdout.strip()


def state(remote: Path) -> tuple[str, list[str]]:
    """All that a refused push may not change: every ref, and what lies about in the objects."""
    return at(remote, "for-each-ref"), sorted(
        str(file.relative_to(remote)) for file in (remote / "objects").rglob("*")
    )


def sound(remote: Path) -> None:
    """No damage, no lock and no quarantine is left."""
    done = subprocess.run(
        ["git", "--git-dir", remote, "fsck", "--strict", "--no-dangling"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done
    left = [*remote.rglob("*.lock"), *remote.glob("objects/*incoming*"), *remote.rglob("tmp_*")]
    assert left == []


def push(project: Project, *refspecs: str, options: Sequence[str] = ()) -> Answer:
    """A push of somebody who skips the hooks of their clone and forces what can be forced."""
    return project.git("push", "--no-verify", "--force", *options, "origin", *refspecs, check=False)


def administered(project: Project, *refspecs: str) -> None:
    """Move refs on the server as somebody does who is at home there: no hook is asked."""
    forced = [f"+{one}" if ":" in one else f"+{one}:{one}" for one in refspecs]
    at(project.remote, "fetch", "--quiet", "--no-tags", str(project.top), *forced)


def received(project: Project, *refspecs: str, options: Sequence[str] = ()) -> str:
    """What the server says of a push that it receives whole."""
    done = push(project, *refspecs, options=options)
    assert done.status == 0, done.err
    return done.err


def refused(project: Project, *asked: tuple[str, str]) -> str:
    """One push of several refspecs, for each of which the server gives a reason; it changes
    nothing there. What it said, as it was said on the server."""
    before = state(project.remote)
    done = push(project, *(refspec for refspec, _ in asked))
    assert done.status == 1, done.err
    assert state(project.remote) == before
    sound(project.remote)
    said = "\n".join(
        line.removeprefix("remote: ").rstrip()
        for line in done.err.splitlines()
        if "remote:" in line
    )
    told = said.split("git-gate: ")
    for refspec, reason in asked:
        ref = refspec.rpartition(":")[2]
        about = [one for one in told if one.startswith(f"{ref} may not move: ")]
        assert len(about) == 1, (ref, said)
        assert reason in about[0], (refspec, said)
        assert "\nhint: " in about[0], (refspec, said)
    return said
