"""`wait`: until somebody decides, in this process or another one, and no longer than asked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from outputs import ADA, Clock
from support.project import SOLO, Project, make_project

WAITING = "waiting for a decision on main of feature: nobody has approved it yet\n"


@pytest.fixture
def asked(project: Project) -> Project:
    project.branch("feature")
    project.commit("Work", {"page.md": "# Page\n"})
    project.gate("open").ok()
    return project


@contextmanager
def meanwhile(project: Project, *command: str) -> Iterator[None]:
    """Run a command of git-gate in a process of its own, a moment after the block begins."""
    words = [
        sys.executable,
        "-c",
        "import time; time.sleep(0.3)\nfrom gitgate.cli.main import main",
    ]
    words[-1] += f"\nmain({list(command)!r})"
    with subprocess.Popen(words, cwd=project.top, stdout=subprocess.DEVNULL) as process:
        yield
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("command", "status", "word"),
    [
        (("approve",), 0, "approved"),
        (("reject", "-m", "The title is wrong"), 11, "rejected"),
        (("quit",), 15, "withdrawn"),
        (("withdraw",), 15, "withdrawn"),
    ],
)
def test_a_decision_from_another_process_wakes_it(
    asked: Project, command: tuple[str, ...], status: int, word: str
) -> None:
    with meanwhile(asked, *command):
        answer = asked.gate("wait", "--json", "--timeout", "60")
    assert (answer.status, answer.err) == (status, WAITING)
    assert (answer.json["status"], answer.json["action"]) == (
        word,
        command[0] if command[0] != "withdraw" else None,
    )
    if command[0] == "reject":
        assert answer.json["message"] == "The title is wrong"
        assert answer.json["next"] == ["git", "gate", "open", "main", "--subject", "feature"]


def test_it_goes_on_after_what_decides_nothing(tmp_path: Path, home: Path) -> None:
    policy = SOLO.replace("self_approval: true", "self_approval: true, required: 2")
    people = (("Ada Lovelace", ADA), ("Bob Babbage", "bob@example.com"))
    project = make_project(tmp_path, home, policy, people)
    project.branch("feature")
    project.commit("Work", {"page.md": "# Page\n"})
    project.gate("open").ok()
    with meanwhile(project, "approve"):
        answer = project.gate("wait", "--timeout", "2.5")
    assert answer.status == 124
    assert answer.err.startswith("waiting for a decision on main of feature: 0 of 2 approvals\n")
    assert project.gate("show", "--json").ok().json["reasons"] == ["1 of 2 approvals"]


def test_the_deadline_wakes_it(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = make_project(tmp_path, home, SOLO.replace("minutes: 0", "minutes: 1"))
    project.branch("feature")
    project.commit("Work", {"page.md": "# Page\n"})
    project.gate("open").ok()
    timer = threading.Timer(0.7, lambda: clock.later(minutes=1, seconds=1))
    timer.start()
    try:
        answer = project.gate("wait", "--json", "--timeout", "60")
    finally:
        timer.join()
    assert (answer.status, answer.json["status"]) == (12, "expired")


def test_a_change_of_the_policy_wakes_it(asked: Project) -> None:
    """Whom the policy lists decides; nothing else has to happen to the instance."""
    asked.gate("approve").ok()
    asked.git("switch", "--quiet", "main")
    lines = asked.top / ".aiwg/allowed_signers"
    listed = lines.read_text()
    asked.commit("Nobody", {".aiwg/allowed_signers": ""})
    asked.land()
    again = asked.commit("Ada again", {".aiwg/allowed_signers": listed})
    words = f"sleep 1; git push --quiet --no-verify origin {again}:refs/heads/main"
    with subprocess.Popen(["sh", "-c", words], cwd=asked.top):
        answer = asked.gate("wait", "--subject", "feature", "--json", "--timeout", "60")
    assert (answer.status, answer.json["status"]) == (0, "approved")


def test_the_time_that_was_given_is_kept(asked: Project) -> None:
    started = time.monotonic()
    answer = asked.gate("wait", "--timeout", "0.6")
    assert time.monotonic() - started >= 0.6
    assert (answer.status, answer.out) == (124, "")
    assert answer.err == WAITING + (
        "git-gate: nobody decided main of feature in time; it is still open\n"
        "hint: git gate wait main --subject feature\n"
    )
    for nonsense in ("-1", "soon", "nan"):
        answer = asked.gate("wait", "--timeout", nonsense)
        assert (answer.status, answer.out) == (129, ""), nonsense
        assert answer.err.startswith("git-gate: invalid value for '--timeout': "), answer.err
        assert answer.err.endswith("hint: git gate wait -h\n")


def test_an_interrupted_wait_says_so_and_leaves_no_traceback(asked: Project) -> None:
    words = [sys.executable, "-m", "gitgate", "wait"]
    with subprocess.Popen(
        words, cwd=asked.top, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == WAITING
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (130, "", "\n")


def test_what_was_never_opened_is_not_waited_for(project: Project) -> None:
    answer = project.gate("wait", "main", "--subject", "nothing")
    assert (answer.status, answer.out) == (15, "")
    assert answer.err == (
        "git-gate: main of nothing was never opened\nhint: git gate open main --subject nothing\n"
    )
