"""What a person at a terminal sees while a validation takes its time."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.project import Project
from support.validations import make, one


@pytest.fixture
def slow(tmp_path: Path, home: Path) -> Project:
    project = make(tmp_path, home, one('["./slow"]'), {"slow": "#!/bin/sh\nsleep 2.5\n"})
    project.commit("one", {"a.md": "# A\n"})
    return project


def test_a_line_on_the_terminal_that_goes_away(slow: Project) -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "gitgate", "open", "--json"], cwd=slow.top, stderr=theirs,
        stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    os.close(theirs)
    written = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert (done.returncode, '"result": "opened"' in done.stdout) == (0, True)
    pieces = written.split("\r")
    assert pieces[1].startswith("validation check: 1 path, 1 s")
    assert re.fullmatch(r"(\r[^\r\n]*)+\r", written)
    assert not pieces[-2].strip()
    assert len(pieces[-2]) >= len("validation check: 1 path, 1 s")


def test_nothing_where_nobody_looks(slow: Project) -> None:
    answer = slow.gate_process("open", "--json").ok()
    assert answer.err == ""
