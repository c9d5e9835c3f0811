"""Long lists, long words and small terminals: what matters is on the screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from reviewkit import put_up, session, waiting
from rich.cells import cell_len

MANY = {f"docs/page-{number:02}-{'long-name-' * 8}.md": f"# {number}\n" for number in range(1, 31)}


def marked(screen: list[str]) -> str:
    """The entry with the cursor, in as many rows as it has."""
    start = next(at for at, line in enumerate(screen) if "▶" in line)
    return "".join(line.strip("│ ") for line in screen[start : start + 2])


def test_the_list_of_artifacts_follows_the_cursor(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=MANY)
    with session(project, rows=20) as terminal:
        terminal.wait("[x] leave")
        assert "page-01" in marked(terminal.press("v", "Artifacts: 30"))
        for number in range(2, 31):
            screen = terminal.press("j", f"page-{number:02}")
            assert f"page-{number:02}" in marked(screen) and ".md" in marked(screen)
        assert "page-01" in marked(terminal.press("g", "page-01"))
        terminal.press("G", "page-30")
        terminal.press("\r", "(30 of 30)")
        assert "page-30" in marked(terminal.press("b", "Artifacts: 30"))


def test_a_list_that_is_answered_by_a_number_is_printed_whole(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=MANY)
    with session(project, "--accessible", rows=12) as terminal:
        terminal.wait("x: leave")
        terminal.press("v", "A number, or nothing to go back:")
        listed = "\n".join(terminal.transcript)
        assert all(
            f"{number}: validated: docs/page-{number:02}" in listed for number in range(1, 31)
        )


def test_the_list_of_gates_follows_the_cursor(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files={"docs/a.md": "# A\n"}, subject="feature-0")
    for number in range(1, 5):
        put_up(project, {f"docs/{number}.md": f"# {number}\n"}, f"feature-{number}")
    with session(project, rows=5) as terminal:
        terminal.wait("▶")
        screens = [terminal.press("j", "▶") for _ in range(4)]
        assert len({marked(screen) for screen in screens}) == 4
        subject = marked(screens[-1]).split("feature-")[1].split()[0]
        terminal.press("\r", "Human Approval")
        terminal.press(" ", f"Subject: feature-{subject}")


@pytest.mark.parametrize(("columns", "rows"), [(80, 20), (30, 8), (20, 5)])
def test_the_cursor_is_seen_while_words_are_typed(
    tmp_path: Path, home: Path, columns: int, rows: int
) -> None:
    project = waiting(tmp_path, home)
    with session(project, columns=columns, rows=rows) as terminal:
        terminal.wait("[x]")
        terminal.press("r", "▏")
        terminal.press("No.", "No.▏")
        pasted = "\r".join(f"line {number}" for number in range(60))
        terminal.press(f"\x1b[200~{pasted}\x1b[201~", "line 59▏")
        terminal.press("\x1b[H", "▏No.")


@pytest.mark.parametrize(("columns", "rows"), [(20, 5), (20, 16), (30, 8)])
def test_a_small_terminal_has_text_and_keys(
    tmp_path: Path, home: Path, columns: int, rows: int
) -> None:
    project = waiting(tmp_path, home)
    with session(project, columns=columns, rows=rows) as terminal:
        screen = terminal.press("", "[x]")
        assert "Human Approval" in "\n".join(screen) and len(screen) <= rows
        for keys, until, text in (
            ("d", "[v]", "Changes from"),
            ("b", "[x]", "Human Approval"),
            ("v", "[b]", "docs/UC-001"),
            ("\r", "[n]", "1 # UC-001"),
            ("c", "Esc", "["),
            ("\x1b", "[n]", "1 # UC-001"),
        ):
            screen = terminal.press(keys, until)
            shown = "\n".join(screen)
            assert text in shown, shown
            assert len(screen) <= rows and all(cell_len(line) <= columns for line in screen)


def test_a_long_message_leaves_the_keys_on_the_screen(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    with session(project, columns=20, rows=10) as terminal:
        terminal.wait("[x]")
        terminal.press("/", "[x]")
        for keys, until in (("v", "[b]"), ("\r", "[n]"), ("/", "Search:")):
            terminal.press(keys, until)
        screen = terminal.press("words that are nowhere at all in this text\r", "nothing has")
        assert any("[n]" in line for line in screen)
