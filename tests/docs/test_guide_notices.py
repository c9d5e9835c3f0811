"""The guide's commands about the log, notices and rehearsals, as they stand there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from support.docs import blocks
from support.project import Project

_GUIDE = blocks("docs/guide.md")


def _run(name: str, project: Project) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "-c", _GUIDE[name].text],
        cwd=project.top,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_log_the_notice_and_the_rehearsal_come_out(project: Project) -> None:
    project.branch("feature/login")
    project.commit("Describe the login", {"login.md": "# Login\n"})
    project.gate("open", "--agent", "claude").ok()
    _run("notify", project)
    [line] = (project.top.parent / "notices.jsonl").read_text().splitlines()
    told = json.loads(line)
    assert (told["event"], told["action"], told["agent"]) == ("decided", "reject", "claude")
    assert told["message"] == "What happens after five wrong passwords?"
    folder = project.top / ".aiwg"
    before = (folder / "gates" / "decisions.log").read_bytes()
    _run("log", project)
    assert (folder / "gates" / "decisions.log").read_bytes() == before
    assert json.loads((folder / "provenance" / "gates.prov.json").read_bytes())["activity"]
    said = _run("rehearse", project)
    assert said.startswith("refs/heads/main is guarded by the policy of commit ")
    assert "\nnothing landed on refs/remotes/origin/main since " in said
