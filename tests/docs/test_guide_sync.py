"""The guide's `sync`, run as it stands there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.docs import blocks
from support.project import Project


def test_sync_of_the_guide(project: Project) -> None:
    project.branch("feature/login")
    project.commit("work", {"login.md": "# Login\n"})
    project.gate("open").ok()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "-c", blocks("docs/guide.md")["sync"].text],
        cwd=project.top,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
        check=True,
    )
    assert done.stdout == "main of feature/login: 1 event to origin\n"
