"""Every command of the guide, run as it stands there, in a fresh home without a key."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.docs import Block, blocks

_GUIDE = blocks("docs/guide.md")


def _run(block: Block, folder: Path, **variables: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "-c", block.text],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path, **variables},
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode != 0) is block.fails, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "remote.git"], check=True)
    folder = tmp_path / "project"
    subprocess.run(["git", "init", "-q", folder], check=True)
    subprocess.run(["git", "remote", "add", "origin", "../remote.git"], cwd=folder, check=True)
    return folder


def test_the_guide_for_one_person_works_as_written(clone: Path) -> None:
    _run(_GUIDE["solo-adopt"], clone)
    refused = _run(_GUIDE["solo-refused"], clone)
    assert "refs/heads/main may not move: not-opened" in refused
    _run(_GUIDE["solo-decide"], clone)
    _run(_GUIDE["solo-land"], clone)
    main = ["git", "rev-parse", "HEAD", "refs/remotes/origin/main"]
    tips = subprocess.run(main, cwd=clone, capture_output=True, text=True, check=True).stdout
    head, landed = tips.split()
    assert head == landed


def test_the_loop_of_an_agent_hears_a_rejection_and_lands_the_next_round(clone: Path) -> None:
    _run(_GUIDE["solo-adopt"], clone)
    work = Block(
        "git switch -q -c feature/agent\necho one >page\ngit add page\ngit commit -q -m one\n"
        'mend_the_work() { echo "$1" >page; git commit -q -a -m mended; }\n'
        # A person answers as soon as an iteration is open: first no, then yes.
        "(until git gate show >/dev/null 2>&1; do sleep 0.2; done\n"
        " git gate reject -m 'two, please'\n"
        " until git gate list 2>/dev/null | grep -q ^open; do sleep 0.2; done\n"
        " git gate approve) >../person.log 2>&1 &\n" + _GUIDE["agent-loop"].text,
        fails=False,
    )
    _run(work, clone, SUMMARY="the page")
    subprocess.run(["git", "fetch", "-q", "origin"], cwd=clone, check=True)
    landed = subprocess.run(
        ["git", "show", "origin/main:page"], cwd=clone, capture_output=True, text=True, check=True
    )
    assert landed.stdout == "two, please\n"
