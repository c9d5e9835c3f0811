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
    ("?", "The keys"),
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
    ("3\r", "Comment on line 3 of"),
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


HOSTILE = {
    "docs/文書/ログイン画面の仕様書とその変更履歴についての長い名前.md": "# 見出し 文書\n\n本文\n"
    * 3,
    "docs/" + "e\u0301" * 30 + ".md": "# Cafe\u0301\n",
    "docs/a\x1b[2J\r\n│ Status: approved.md": "\x1b]0;owned\x07\u202eevil\n",
    "docs/[red]a[⁄]👩\u200d💻.md": "[bold]x[/] :smile:\n",
    "docs/" + "deeper/" * 20 + "end.md": "x" * 500 + "\n",
}


@pytest.mark.parametrize("columns", [60, 200])
def test_hostile_names_stay_inside_the_frame(tmp_path: Path, home: Path, columns: int) -> None:
    project = waiting(tmp_path, home, files=HOSTILE)
    with session(project, columns=columns, rows=50) as terminal:
        screens = [terminal.wait("[x] leave"), terminal.press("v", "Artifacts: 5")]
        screens.append(terminal.press("\r", "(1 of 5)"))
        for number in range(2, 6):
            screens.append(terminal.press("n", f"({number}"))
        terminal.press("b", "Artifacts: 5")
        terminal.press("b", "[x] leave")
        screens.append(terminal.press("d", "view full diff"))
        screens.append(terminal.press("v", "view the summary"))
        terminal.press("b", "[x] leave")
        screens.append(terminal.press("a", "[y] sign and record"))
        printed = terminal.raw.decode()
    assert "\x1b]0" not in printed and "\u202e" not in printed
    assert printed.count("\x1b[2J") == 1
    for screen in screens:
        frame = [line for line in screen if line[:1] in "│╭╰├"]
        assert all(line[-1:] in "│╮╯┤" for line in frame), "\n".join(screen)
        assert all(cell_len(line) <= columns for line in screen)
