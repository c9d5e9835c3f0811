"""The full diff at a terminal: pager, colours, and what is remembered as viewed."""

from __future__ import annotations

from pathlib import Path

import pytest
from rebasing import DOC, edit, first_round
from support.project import EPOCH, Project
from support.terminal import Terminal

from gitgate.app.gather.world import World
from gitgate.app.showing import rounds
from gitgate.app.showing.changes import Changes
from gitgate.cli import diffing
from gitgate.git.repository import Repository
from gitgate.ui.fulldiff import Palette

MORE = edit(DOC, "3. Get in\n", "3. Show the \x1b[2Jcode\n4. Get in\n")


@pytest.fixture(autouse=True)
def no_pager_of_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GIT_PAGER")
    monkeypatch.setenv("PAGER", "cat")


def two_rounds(project: Project) -> None:
    first_round(project)
    project.commit("Show the code", {"login.md": MORE})
    project.gate("open").ok()


def seen(project: Project, *args: str, **env: str) -> tuple[bytes, list[str]]:
    """What came to the terminal, and the lines as a person sees them."""
    with Terminal.gate(project.top, "diff", *args, columns=100, env=env) as terminal:
        assert terminal.end() == 0
        return terminal.raw, terminal.screen


def test_colours_and_marks_are_gits(project: Project) -> None:
    two_rounds(project)
    raw, _ = seen(project, "--full")
    assert b"\x1b[31m-3. \x1b[7mGet\x1b[27m \x1b[7min\x1b[27m\x1b[m" in raw or (
        b"\x1b[31m-3. Get in\x1b[m" in raw
    )
    assert b"\x1b[32m+4. Get in\x1b[m" in raw
    assert b"\x1b[1m+++ b/login.md\x1b[m" in raw
    project.git("config", "color.diff.new", "bold blue")
    assert b"\x1b[1;34m+4. Get in\x1b[m" in seen(project, "--full")[0]


@pytest.mark.parametrize(
    ("args", "env"),
    [
        (["--color=never"], {}),
        ([], {"NO_COLOR": "1"}),
        ([], {"TERM": "dumb"}),
        ([], {"GIT_CONFIG_PARAMETERS": "'color.diff=never'"}),
        ([], {"GIT_CONFIG_PARAMETERS": "'color.ui=false'"}),
    ],
)
def test_no_colours_where_nobody_wants_them(
    project: Project, args: list[str], env: dict[str, str]
) -> None:
    two_rounds(project)
    raw, screen = seen(project, "--full", *args, **env)
    assert b"\x1b" not in raw
    assert "+4. Get in" in screen


def test_color_wins_over_everything(project: Project) -> None:
    two_rounds(project)
    always = project.gate_process("diff", "--full", "--color=always", env={"NO_COLOR": "1"}).ok()
    assert "\x1b[32m+4. Get in\x1b[m" in always.out
    assert "\x1b" not in project.gate_process("diff", "--full").ok().out


def test_a_patch_at_a_terminal_is_for_reading(project: Project) -> None:
    two_rounds(project)
    raw, screen = seen(project, "--patch", "--color=never")
    assert b"\x1b" not in raw
    assert r"+3. Show the \x1b[2Jcode" in screen


def test_the_users_pager_for_diffs(project: Project) -> None:
    two_rounds(project)
    project.git("config", "core.pager", "sed s/^/CORE:/")
    assert "CORE:+4. Get in" in seen(project, "--full", "--color=never")[1]
    project.git("config", "pager.diff", "sed s/^/DIFF:/")
    assert "DIFF:+4. Get in" in seen(project, "--full", "--color=never")[1]
    lines = seen(project, "--full", "--color=never", GIT_PAGER="sed s/^/ENV:/")[1]
    assert "ENV:+4. Get in" in lines
    project.git("config", "pager.diff", "false")
    assert "+4. Get in" in seen(project, "--full", "--color=never")[1]


def test_a_pager_that_is_quit_is_no_error_and_the_rest_is_not_made(project: Project) -> None:
    first_round(project)
    text = "".join(f"line {number}\n" for number in range(5000))
    project.commit("Many", {f"f{number:03}.txt": text for number in range(60)})
    project.gate("open").ok()
    project.git("config", "pager.diff", "head -n 7")
    _, screen = seen(project, "--full", "--color=never")
    assert screen[3:] == [
        "diff --git a/f000.txt b/f000.txt",
        "new file mode 100644",
        "--- /dev/null",
        "+++ b/f000.txt",
    ]


def test_the_first_screen_does_not_wait_for_the_whole(project: Project) -> None:
    first_round(project)
    project.commit("Many", {f"f{number:03}.txt": "one\ntwo\n" for number in range(300)})
    project.gate("open").ok()
    world = World(Repository.open(project.top), EPOCH + 3600)
    try:
        loaded = world.load(world.policy(), "main", "feature")
        changes = Changes(world, loaded, rounds.chosen(loaded, None))
        measured: list[object] = []
        measure = changes.measure
        changes.measure = lambda *pair: measured.append(pair) or measure(*pair)  # type: ignore[method-assign]
        pieces = diffing._pieces(diffing.full_diff(changes, Palette()))
        assert next(pieces).count(b"\n") == 60
        assert len(measured) < 20
        assert sum(piece.count(b"diff --git") for piece in pieces) > 280
    finally:
        world.close()


def test_what_was_viewed_at_a_terminal_is_remembered(project: Project) -> None:
    two_rounds(project)
    file: Path = project.top / ".git" / "git-gate" / "viewed"
    project.gate("diff").ok()
    assert not file.exists(), "nobody looked: the output was no terminal"
    seen(project)
    seen(project, "--full")
    request = project.rev("refs/aiwg/gates/main/feature^2")
    assert file.read_text() == f"{request}\n"
    project.commit("Third", {"third.md": "3\n"})
    project.gate("open").ok()
    project.git("config", "user.email", "stranger@example.com")
    project.git("config", "--unset", "user.signingKey")
    found = project.gate("diff", "--since-mine", "--json").ok().json
    assert found["from"]["iteration"] == 2
