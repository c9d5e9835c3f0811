"""The key that signs is the one that was shown, and the terminal is whole while something asks."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from reviewkit import TEAM, decisions, session, waiting
from support.terminal import PATIENCE

ANOTHER = "another key would sign now than the one that was shown: nothing was recorded"


@pytest.mark.parametrize("how", ["file", "command"])
def test_the_key_that_was_shown_is_the_one_that_signs(tmp_path: Path, home: Path, how: str) -> None:
    project = waiting(tmp_path, home, TEAM)
    keys = [Path(project.people[name].key) for name in ("ada", "bob")]
    mine = tmp_path / "mine"
    for end in ("", ".pub"):
        shutil.copy(f"{keys[0]}{end}", f"{mine}{end}")
    project.git("config", "user.signingKey", str(mine))
    if how == "command":
        project.git("config", "--unset", "user.signingKey")
        project.git("config", "gpg.ssh.defaultKeyCommand", f"cat {mine}.pub")
    with session(project) as terminal:
        terminal.wait("[x] leave")
        terminal.press("r", "Your feedback")
        shown = " ".join(terminal.press("Say more\r", "[y] sign and record"))
        assert "as: ada@example.com" in shown
        for end in ("", ".pub"):
            shutil.copy(f"{keys[1]}{end}", f"{mine}{end}")
        terminal.press("y", ANOTHER)
        assert decisions(project) == []
        terminal.press("r", "Your feedback")
        shown = " ".join(terminal.press("\r", "[y] sign and record"))
        assert "as: bob@example.com" in shown
        assert "Say more" in shown
    assert decisions(project) == []


def test_a_signal_while_something_asks_waits_for_the_answer(tmp_path: Path, home: Path) -> None:
    """The session then ends as after any other one: the terminal is as it was."""
    project = waiting(tmp_path, home)
    began = tmp_path / "began"
    program = tmp_path / "keygen"
    program.write_text(f'#!/bin/sh\ntouch {began}\nsleep 1\nexec ssh-keygen "$@"\n')
    program.chmod(0o755)
    project.git("config", "gpg.ssh.program", str(program))
    with session(project) as terminal:
        terminal.wait("[x] leave")
        terminal.press("a", "[y] sign and record")
        until = time.monotonic() + PATIENCE
        while not began.exists():  # what comes too early is dropped
            assert time.monotonic() < until, terminal.screen
            terminal.keys("y")
            time.sleep(0.4)
            terminal.settle()
        os.kill(terminal.pid, signal.SIGTERM)
        terminal.end()
        assert b"\x1b[?1049l" in terminal.raw.rpartition(b"\x1b[?1049h")[2]
    assert [one["action"] for one in decisions(project)] == ["approve"]


def test_a_program_that_leaves_the_terminal_without_waiting(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    code = "import os; os.set_blocking(0, False); os.set_blocking(1, False)"
    last = "40. The user does step 40"
    pager = {"GIT_PAGER": f"{sys.executable} -c '{code}'"}
    with session(project, env=pager, rows=60) as terminal:
        terminal.wait("[x] leave")
        terminal.press("v", "Artifacts: 3")
        terminal.press("\r", last)
        terminal.press("o", last)
        terminal.press("b", "Artifacts: 3")
    with session(project, "--accessible", env=pager, rows=60) as terminal:
        terminal.wait("x: leave")
        terminal.press("v\r", "Artifacts: 3")
        terminal.press("1\r", last)
        terminal.press("o\r", last)
        terminal.press("b\r", "Artifacts: 3")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
def test_a_stream_that_is_closed_is_no_terminal(tmp_path: Path, home: Path, closed: str) -> None:
    project = waiting(tmp_path, home)
    program = Path(sys.executable).with_name("git-gate")
    for command in ("review", "show main --subject feature"):
        done = subprocess.run(
            ["sh", "-c", f"{program} {command} {closed}"],
            cwd=project.top,
            capture_output=True,
            text=True,
        )
        if command == "review":
            assert done.returncode == 129, done
            assert "review needs a terminal: nothing was decided" in done.stderr
        else:
            assert (done.returncode, done.stderr) == (0, "")
