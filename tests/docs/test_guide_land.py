"""The guide's commands that land, run as they stand there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.docs import blocks
from support.project import Project


def test_the_landing_works_as_written(project: Project) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "-c", blocks("docs/guide.md")["land"].text],
        cwd=project.top,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        check=True,
    )
    landed, gate, following = done.stdout.splitlines()[-3:]
    assert landed.endswith(
        f"of feature/logout on refs/heads/main of origin as {project.remote_tip()[:12]} (merge)"
    )
    assert gate == "  gate main of feature/logout, iteration 1: satisfied"
    assert following == (
        "next: git switch main && git pull --ff-only && git branch -d feature/logout"
    )
    subprocess.run(
        ["sh", "-e", "-c", following.removeprefix("next: ")], cwd=project.top, check=True
    )
