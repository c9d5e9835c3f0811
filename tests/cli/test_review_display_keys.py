"""Each key of `display` and `options` of the display rules' configuration does what it says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from reviewkit import CHILD, PAGES, SOLO, put_up, session, waiting
from support.project import EPOCH, Project
from support.terminal import Terminal

EXAMPLE = SOLO.replace(
    "  defaults:",
    "  display: {verbosity: detailed, colors: true, box_style: round, auto_clear: true}\n"
    "  options: {show_edit: true, show_skip: true, show_diff: true}\n  defaults:",
)


def made(tmp_path: Path, home: Path, old: str = "", new: str = "") -> Project:
    assert old in EXAMPLE
    return waiting(tmp_path, home, EXAMPLE.replace(old, new))


def shown(project: Project, *args: str, env: dict[str, str] | None = None) -> Terminal:
    """`git gate show` at a terminal, to its end."""
    argv = [sys.executable, str(CHILD), str(EPOCH + 300), "show", "main", "--subject", "feature"]
    with Terminal([*argv, *args], project.top, rows=60, env=env) as terminal:
        assert terminal.end() == 0
        return terminal


def rows(terminal: Terminal) -> list[str]:
    return [line.strip("│║┃ ") for line in terminal.screen]


def colored(terminal: Terminal) -> bool:
    return b"\x1b[" in terminal.raw


def test_as_it_stands_in_the_rules(tmp_path: Path, home: Path) -> None:
    terminal = shown(made(tmp_path, home))
    assert terminal.screen[0].startswith("╭") and colored(terminal)
    assert "✓ docs/code.py  def login() -> bool:" in rows(terminal)
    options = [row for row in rows(terminal) if re.match(r"\[\w\] ", row)]
    assert options == [
        "[a] Approve and continue",
        "[r] Reject and provide feedback",
        "[v] View detailed artifact summary",
        "[d] Show diff from previous iteration",
        "[e] Edit specific artifact",
        "[s] Skip this gate (continue without approval)",
        "[q] Quit workflow",
    ]


def test_verbosity(tmp_path: Path, home: Path) -> None:
    project = made(tmp_path, home, "verbosity: detailed", "verbosity: normal")
    put_up(project, {**PAGES, **{f"docs/p{number:02}.md": "# P\n" for number in range(9)}})
    found = rows(shown(project))
    assert "✓ docs/code.py" in found and "and 2 more" in found
    plain = project.gate("show", "main", "--subject", "feature").ok().out
    assert "  ✓ docs/code.py\n" in plain and "  and 2 more\n" in plain
    project.commit(
        "Be short",
        {"aiwg.yml": (project.top / "aiwg.yml").read_text().replace("normal", "minimal")},
    )
    project.land()
    found = rows(shown(project))
    names = ("Human", "Context:", "Deliverables:", "Next", "Options:")
    assert [row.split(":")[0] for row in found if row.startswith(names)] == [
        "Human Approval Gate",
        "Context",
        "Deliverables",
        "Next Steps (if approved)",
        "Options",
    ]
    plain = project.gate("show", "main", "--subject", "feature").ok().out
    assert plain.count("\n") == 5


@pytest.mark.parametrize(
    ("style", "corners"), [("single", "┌┘"), ("double", "╔╝"), ("round", "╭╯"), ("bold", "┏┛")]
)
def test_box_style(tmp_path: Path, home: Path, style: str, corners: str) -> None:
    project = made(tmp_path, home, "box_style: round", f"box_style: {style}")
    screen = "\n".join(shown(project).screen)
    assert all(corner in screen for corner in corners)


def test_colors(tmp_path: Path, home: Path) -> None:
    project = made(tmp_path, home, "colors: true", "colors: false")
    assert not colored(shown(project))
    # The person's own word wins over the policy's, and the command line over all.
    project.git("config", "color.gate", "auto")
    assert colored(shown(project))
    assert not colored(shown(project, env={"NO_COLOR": "1"}))
    assert not colored(shown(project, env={"TERM": "dumb"}))
    assert colored(shown(project, "--color=always", env={"NO_COLOR": "1"}))
    assert not colored(shown(project, "--color=never"))
    project.git("config", "color.gate.title", "bold 208")
    assert b"\x1b[1;38;5;208mHuman Approval Gate" in shown(project).raw
    project.git("config", "color.gate.title", "no such colour")
    refused = project.gate("show", "main", "--subject", "feature", "--color=always")
    assert refused.status == 128 and "hint: git config color.gate.title" in refused.err


def test_auto_clear(tmp_path: Path, home: Path) -> None:
    cleared = b"\x1b[2J"
    with session(made(tmp_path, home)) as terminal:
        terminal.wait("[x] leave")
        assert cleared in terminal.raw


def test_auto_clear_false(tmp_path: Path, home: Path) -> None:
    project = made(tmp_path, home, "auto_clear: true", "auto_clear: false")
    with session(project, rows=100) as terminal:
        terminal.wait("[x] leave")
        terminal.press("d", "view full diff")
        assert "Human Approval Gate" in "\n".join(terminal.screen)
        assert not re.search(rb"\x1b\[[0-9;]*[A-HJKf]", terminal.raw)


@pytest.mark.parametrize(
    ("name", "key"), [("show_edit", "e"), ("show_skip", "s"), ("show_diff", "d")]
)
def test_options(tmp_path: Path, home: Path, name: str, key: str) -> None:
    project = made(tmp_path, home, f"{name}: true", f"{name}: false")
    found = rows(shown(project))
    keys = "".join(row[1] for row in found if re.match(r"\[\w\] ", row))
    assert keys == "arvdesq".replace(key, "")
    with session(project, rows=60) as terminal:
        terminal.wait("[x] leave")
        terminal.press(key, f"the policy does not offer {key} here")


def test_open_draws_it_and_a_pipe_gets_plain_lines(tmp_path: Path, home: Path) -> None:
    project = made(tmp_path, home)
    project.git("switch", "--quiet", "feature")
    project.commit("More", {"docs/more.md": "# More\n"})
    argv = [sys.executable, str(CHILD), str(EPOCH + 600), "open", "main"]
    with Terminal(argv, project.top, rows=60) as terminal:
        assert terminal.end() == 0
        screen = terminal.screen
    assert screen[0] == "iteration 2 of gate main for feature"
    assert screen[2].startswith("╭") and "next: git gate review main" in "\n".join(screen)
    assert "decide: git gate review main --subject feature" in screen
    plain = project.gate("show", "main").ok().out
    assert plain.startswith("Human Approval Gate\n") and "\x1b" not in plain
    spoken = project.gate("show", "main", "--accessible").ok().out
    assert "validated: docs/more.md: More\n" in spoken and "│" not in spoken
    coloured = project.gate("show", "main", "--color=always").ok().out
    assert "\x1b[" in coloured and "╭" in coloured
