"""Keys not meant for a prompt decide nothing: typed ahead, too many, pasted, cut in two."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from reviewkit import CHILD, agent, decisions, session, waiting
from support.project import EPOCH
from support.terminal import Terminal

PASTE = "y\na\ny\n" * 34
BRACKETED = f"\x1b[200~{PASTE}\x1b[201~"


def leave(terminal: Terminal) -> None:
    """Ctrl-C leaves from anywhere."""
    terminal.settle()
    time.sleep(0.5)
    terminal.keys("\x03")
    assert terminal.end() == 130


def test_no_key_decides_that_was_not_pressed_at_the_prompt(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)

    # Typed before there is a session.
    with session(project) as terminal:
        terminal.keys("ay" * 10)
        time.sleep(0.3)
        terminal.keys("ay\r")
        terminal.wait("[x] leave")
        leave(terminal)

    with session(project) as terminal:
        terminal.wait("[x] leave")
        # An Enter too many, at the panel and at what would be signed.
        terminal.press("\r", "Enter decides nothing")
        terminal.press("a", "[y] sign and record")
        terminal.press("\r", "nothing was decided: y signs, b goes back")
        # `y` with anything else at its side.
        terminal.press("yy", "several keys came at once")
        terminal.press("y\r", "several keys came at once")
        terminal.press(BRACKETED, "ignored here")
        terminal.press(PASTE, "several keys came at once")
        terminal.press("b", "nothing was decided")
        # The action and the answer in one go.
        terminal.keys("ay")
        terminal.wait("[y] sign and record")
        terminal.press("b", "nothing was decided")
        # A hundred lines into the panel.
        terminal.press(BRACKETED, "ignored here")
        terminal.keys(PASTE)
        terminal.wait("[y] sign and record")
        terminal.settle()
        terminal.press("b", "nothing was decided")
        # Keys whose bytes come apart: no letter of theirs is a key.
        for first, second in (("\x1b", "[A"), ("\x1b[", "1;2y"), ("\x1b[1", ";5D"), ("\x1bO", "y")):
            terminal.press("a", "[y] sign and record")
            time.sleep(0.3)
            terminal.keys(first)
            time.sleep(0.3)
            terminal.keys(second)
            time.sleep(0.3)
            terminal.settle()
            assert terminal.status is None
            if "[y] sign and record" in "\n".join(terminal.screen):
                terminal.press("b", "nothing was decided")
        leave(terminal)
    assert decisions(project) == []

    # A terminal that goes away, a process that is told to end.
    for number in (signal.SIGHUP, signal.SIGTERM):
        with session(project) as terminal:
            terminal.wait("[x] leave")
            terminal.press("r", "Your feedback")
            terminal.keys(f"Kept after {number.name}")
            terminal.wait(number.name)
            os.kill(terminal.pid, number)
            assert terminal.end() == 130
        drafts = project.top / ".git" / "git-gate" / "drafts"
        assert (
            f"Kept after {number.name}" in (drafts / "main" / "feature" / "reject.md").read_text()
        )
    assert decisions(project) == []


def test_without_a_terminal_it_says_so(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    refused = project.gate_process("review")
    assert (refused.status, refused.out) == (129, "")
    assert refused.err == (
        "git-gate: review needs a terminal: nothing was decided\n"
        "hint: git gate show, then git gate approve or git gate reject -m TEXT\n"
    )
    agent(project, "quit", "main", "--subject", "feature")
    with session(project) as terminal:
        assert terminal.end() == 0
        assert terminal.screen == ["nothing waits for a decision"]


def test_ctrl_z_stops_the_job_and_the_time(tmp_path: Path, home: Path) -> None:
    """From a shell with job control: the terminal is the shell's meanwhile, and time stands."""
    project = waiting(tmp_path, home)
    shell = ["bash", "--norc", "--noprofile", "-i"]
    begun = time.monotonic()
    with Terminal(shell, project.top, env={"PS1": "shell> "}) as terminal:
        terminal.wait("shell>")
        terminal.keys(f"{sys.executable} {CHILD} {EPOCH + 60} review\r")
        terminal.wait("[x] leave")
        terminal.keys("\x1a")
        terminal.wait("Stopped")
        terminal.keys("stty -a | grep -o ' icanon'; stty -a | grep -o ' echo '\r")
        terminal.wait(" icanon")
        time.sleep(4)
        terminal.keys("fg\r")
        terminal.wait("[x] leave")
        terminal.press("a", "[y] sign and record")
        terminal.press("y", "the instance is now approved")
        terminal.keys("exit\r")
        terminal.end()
    [decided] = decisions(project)
    assert decided["time_spent_seconds"] < time.monotonic() - begun - 2
