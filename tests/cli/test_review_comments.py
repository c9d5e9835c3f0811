"""Comments on lines, from the screen to the signed record: never another file or line than seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reviewkit import agent, decisions, session, waiting
from support.project import Project
from support.terminal import Terminal

HOSTILE = {
    "docs/a.md": "# A\n\none\n",
    "docs/w.md": "x" * 75 + "+++ b/docs/a.md\nafter the wrapped line\n",
    "docs/z.md": "# Z\n\n++ b/docs/a.md\nbelow it\n",
}


def kept(project: Project) -> list[Any]:
    file = project.top / ".git/git-gate/drafts/main/feature/review.json"
    found: list[Any] = json.loads(file.read_text())["comments"]
    return [{key: one[key] for key in ("path", "line", "text")} for one in found]


def full_diff(terminal: Terminal) -> None:
    terminal.wait("[x] leave")
    terminal.press("d", "view full diff")
    terminal.press("v", "view the summary")


def test_a_comment_on_the_diff_is_signed_for_the_file_that_is_seen(
    tmp_path: Path, home: Path
) -> None:
    project = waiting(tmp_path, home, files=HOSTILE)
    seen = ("below it", "after the wrapped line", "new file mode", "# Z")
    with session(project, rows=14) as terminal:
        full_diff(terminal)
        for at, text in enumerate(seen):
            terminal.press("g", "Changes from")
            terminal.press("/", "Search:")
            terminal.press(f"{text}\r", "found")
            terminal.press("c", "on which line")
            terminal.press("\r", "Comment on")
            terminal.press(f"{at}\r", "noted on")
        terminal.press("b", "[x] leave")
        terminal.press("a", "[y] sign")
        terminal.press("y", "approved")
    (record,) = decisions(project)
    assert [(one["path"], one["line"]) for one in record["comments"]] == [
        ("docs/z.md", 4),
        ("docs/w.md", 2),
        ("docs/a.md", 0),
        ("docs/z.md", 1),
    ]


def test_every_line_can_be_reached_on_a_diff_that_fits_and_a_deleted_file_too(
    tmp_path: Path, home: Path
) -> None:
    project = waiting(tmp_path, home, files={"docs/a.md": "# A\nb\n", "docs/gone.md": "x\n"})
    project.git("switch", "--quiet", "feature")
    (project.top / "docs/gone.md").unlink()
    project.commit("Next", {"docs/a.md": "# A\nb changed\n"})
    agent(project, "open", "--agent", "claude")
    project.git("switch", "--quiet", "main")
    with session(project, columns=100) as terminal:
        full_diff(terminal)
        terminal.press("c", "docs/a.md: on which line (0: the whole file) [1]")
        terminal.press("\x1b[B", "[0]")
        terminal.press("\x1b[B", "docs/a.md: on which line (0: the whole file) [2]")
        terminal.press("\x1b[B", "docs/gone.md: on which line (0: the whole file) [0]")
        terminal.press("\r", "Comment on docs/gone.md:")
        terminal.press("Why?\r", "noted on docs/gone.md")
        terminal.press("c", "on which line")
        terminal.press("99\r", "a line from 1 to 2, 0 for the whole file")
        terminal.press("2\r", "Comment on line 2 of docs/a.md:")
        terminal.press("Better\r", "noted on line 2 of docs/a.md")
    assert kept(project) == [
        {"path": "docs/gone.md", "line": 0, "text": "Why?"},
        {"path": "docs/a.md", "line": 2, "text": "Better"},
    ]


def test_rendered_markdown_has_no_lines_to_choose_from(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    with session(project) as terminal:
        terminal.wait("[x] leave")
        terminal.press("v", "Artifacts: 3")
        terminal.press("\r", "(1 of 3)")
        terminal.press("m", "rendered; m shows the source")
        terminal.press("c", "Comment on docs/UC-001-login.md:")
        terminal.press("Fine\r", "noted on docs/UC-001-login.md")
    assert [(one["path"], one["line"]) for one in kept(project)] == [("docs/UC-001-login.md", 0)]


def test_a_long_name_is_named_whole_where_the_comment_is_typed(tmp_path: Path, home: Path) -> None:
    path = "docs/" + "deeper/" * 12 + "end.md"
    project = waiting(tmp_path, home, files={path: "# A\n"})
    with session(project, columns=60, rows=24) as terminal:
        terminal.wait("[x] leave")
        terminal.press("v", "[ENTER] more")
        terminal.press("c", "on which line")
        screen = terminal.press("\r", "Comment on line 1 of")
        prompt = "".join(screen[-3:])
        assert path in prompt.replace(" ", "").replace("\n", "")
        terminal.press("words that are typed\r", "noted on line 1")
