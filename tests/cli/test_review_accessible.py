"""A session for a screen reader: its whole transcript, with no box, no mark, no cursor movement."""

from __future__ import annotations

import re
from pathlib import Path

from reviewkit import TEAM, decisions, golden, session, stable, waiting

WALK = (
    ("v", "A number, or nothing to go back:"),
    ("2\r", "Some *words*"),
    ("c", "on which line"),
    ("3\r", "Comment on line 3 of"),
    ("Too bold\r", "noted on line 3"),
    ("b", "A number, or nothing to go back:"),
    ("\r", "Keys: a: approve"),
    ("d", "Summary:"),
    ("b", "Keys: a: approve"),
    ("s", "nothing to go back:"),
    ("\r", "nothing was written"),
    ("r", "Your feedback"),
    ("The lockout is missing.\r", "y: sign and record"),
    ("\r", "nothing was decided"),
    ("y", "the instance is now rejected"),
)


def test_the_whole_transcript(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, TEAM)
    with session(project, "--accessible", columns=200, rows=50) as terminal:
        terminal.wait("x: leave")
        for keys, until in WALK:
            terminal.press(keys, until)
        assert terminal.end() == 0
        found = "\n".join(terminal.transcript)
    assert [one["action"] for one in decisions(project)] == ["reject"]
    plain = "\n".join(stable(re.sub(r"\x1b\[[0-9;]*m", "", found).split("\n")))
    assert "\x1b" not in plain and "\r" not in plain and "\b" not in plain
    assert not re.search("[─-╿✓✗⚠▶•→]", plain)
    golden("accessible.txt", plain)


def test_a_setting_turns_it_on_and_a_dumb_terminal_gets_no_escape(
    tmp_path: Path, home: Path
) -> None:
    project = waiting(tmp_path, home)
    project.git("config", "gate.accessible", "true")
    with session(project) as terminal:
        terminal.wait("x: leave")
        assert "validated: docs/code.py" in "\n".join(terminal.screen)
    project.git("config", "--unset", "gate.accessible")
    with session(project, env={"TERM": "dumb"}, rows=24) as terminal:
        panel = "\n".join(terminal.wait("[x] leave"))
        assert "[q] Quit workflow" in panel and "[space] more" not in panel
        listed = "\n".join(terminal.press("v", "A number"))
        assert "│ 3: ✓ docs/code.py" in listed
        assert b"\x1b" not in terminal.raw
