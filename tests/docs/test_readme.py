"""The README's first gate, line by line as it stands there, in a fresh home without a key."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.docs import ROOT, blocks

_REFUSED = "git push origin HEAD:main"


def test_the_first_gate_works_as_written(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "remote.git"], check=True)
    top = tmp_path / "project"
    subprocess.run(["git", "init", "-q", top], check=True)
    subprocess.run(["git", "remote", "add", "origin", "../remote.git"], cwd=top, check=True)
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    lines = [line for line in blocks("README.md")["first"].text.splitlines() if line]
    assert lines[0].startswith("pip install git-gate-cli ")
    for line in lines[1:]:
        done = subprocess.run(
            ["sh", "-c", line], cwd=top, capture_output=True, text=True, env=env, check=False
        )
        said = f"{line}\n{done.stdout}{done.stderr}"
        assert (done.returncode != 0) == line.startswith(_REFUSED), said
        if line.startswith("git switch"):
            (top / "login.md").write_text("# Login\n")
            subprocess.run(["git", "add", "login.md"], cwd=top, check=True)
            subprocess.run(["git", "commit", "-qm", "Add a login"], cwd=top, check=True)
    landed = ["git", "cat-file", "-e", "refs/heads/main:login.md"]
    subprocess.run(landed, cwd=tmp_path / "remote.git", check=True)


def test_every_page_that_it_names_is_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = {part.split(")")[0] for part in text.split("](")[1:]}
    assert not [one for one in named if not (ROOT / one).exists()]
