"""Each key and each screen of a session, whole, at 60, 80 and 200 columns.

The screens are files in `screens/`; GIT_GATE_WRITE_SCREENS=1 writes them anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from reviewkit import TEAM, decisions, golden, session, stable, waiting
from rich.cells import cell_len
from support.terminal import Terminal

# Keys, and what the screen shows once they are done.
WALK = (
    ("", "[space] more"),
    ("?", "any key: back"),
    ("b", "[space] more"),
    ("\r", "[q] Quit workflow"),
    ("\r", "Enter decides nothing"),
    ("v", "Artifacts: 3"),
    ("j", "▶ ✓ docs/UC-002"),
    ("k", "▶ ✓ docs/UC-001"),
    ("\r", "(1 of 3)"),
    ("\r", "step 19"),
    ("\x1b[A", "(1 of 3)"),
    ("p", "this is the first artifact"),
    ("g", "Primary Actor"),
    ("/", "Search:"),
    ("step 33\r", "found 'step 33'"),
    ("n", "(2 of 3)"),
    ("m", "rendered; m shows the source"),
    ("m", "<b>here</b>"),
    ("c", "on which line"),
    ("9\r", "a line from 1 to 3"),
    ("3\r", "Comment on line 3:"),
    ("too bold\r", "noted on line 3"),
    ("b", "1 of your comments"),
    ("b", "[x] leave"),
    ("d", "view full diff"),
    ("v", "view the summary"),
    ("b", "[x] leave"),
    ("a", "sign and record"),
    ("\r", "nothing was decided"),
    ("b", "nothing was decided"),
    ("r", "Your feedback"),
    ("\r", "at least one word"),
    ("No lockout.", "No lockout."),
    ("\r", "sign and record"),
    ("b", "[x] leave"),
    ("s", "The reason"),
    ("\x1b", "[x] leave"),
    ("q", "[x] leave, nothing decided"),
    ("b", "[x] leave"),
)


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_every_screen(tmp_path: Path, home: Path, columns: int) -> None:
    project = waiting(tmp_path, home, TEAM)
    told: list[str] = []
    with session(project, columns=columns, rows=24, env={"NO_COLOR": "1"}) as terminal:
        for keys, until in WALK:
            screen = terminal.press(keys, until)
            assert all(cell_len(line) <= columns for line in screen)
            told += [f"## {keys.encode('unicode_escape').decode() or 'start'}", *screen]
        _leave(terminal)
    assert decisions(project) == []
    golden(f"walk-{columns}.txt", "\n".join(stable(told)) + "\n")


def _leave(terminal: Terminal) -> None:
    terminal.keys("x")
    assert terminal.end() == 10
    assert terminal.screen[-2:] != [] and "nothing was decided" in "\n".join(terminal.screen)
