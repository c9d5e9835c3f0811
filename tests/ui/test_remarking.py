"""A comment is about the line of the file that the person sees, and the prompt names both."""

from __future__ import annotations

from dataclasses import replace

import pytest
from panels import document

from gitgate.ui.body import Body, Shown
from gitgate.ui.decoder import Key
from gitgate.ui.pages import prompt_of
from gitgate.ui.session import step
from gitgate.ui.state import Artifact, Asked, Screen, Seat, State, show


def row(text: str, path: str = "", number: int = 0) -> Shown:
    return Shown(number, ((text, ""),), path)


DIFF = [
    row("Changes from the base → iteration 1"),
    row("diff --git a/a.md b/a.md", "a.md"),
    row("+++ b/a.md", "a.md"),
    row("@@ -1,2 +1,2 @@", "a.md"),
    row(" one", "a.md", 1),
    row("-++ b/gone.md", "a.md"),
    row("+two, which is wr", "a.md", 2),
    row("+++ b/z.md", "a.md", 2),
    row("diff --git a/gone.md b/gone.md", "gone.md"),
    row("deleted file mode 100644", "gone.md"),
    row("-x", "gone.md"),
    row("diff --git a/z.md b/z.md", "z.md"),
    row("@@ -7 +7 @@", "z.md"),
    row("+++ b/a.md", "z.md", 7),
]
ARTIFACTS = (Artifact("a.md", "1" * 40, "validated"), Artifact("z.md", "2" * 40, "validated"))
SEAT = Seat(document(request="3" * 40), ARTIFACTS)
READING = replace(show(State(Screen.PANEL, seat=SEAT), Screen.CHANGES), full=True)


def press(state: State, *keys: str, body: Body) -> State:
    for key in keys:
        named = Key(key) if len(key) > 1 else Key("char", key)
        state, _ = step(state, named, body)
    return state


@pytest.mark.parametrize(
    ("top", "height", "path", "line"),
    [
        (0, 3, "a.md", 0),
        (0, 20, "a.md", 1),
        (4, 3, "a.md", 1),
        (5, 3, "a.md", 2),
        (7, 3, "a.md", 2),
        (8, 6, "gone.md", 0),
        (11, 1, "z.md", 0),
        (11, 3, "z.md", 7),
        (13, 1, "z.md", 7),
    ],
)
def test_a_comment_names_what_is_seen(top: int, height: int, path: str, line: int) -> None:
    body = Body(DIFF, height)
    asked = press(replace(READING, top=top), "c", body=body)
    assert (asked.asked, asked.path, asked.line) == (Asked.LINE, path, line)
    assert prompt_of(asked) == f"{path}: on which line (0: the whole file) [{line}]: "
    typing = press(asked, "enter", body=body)
    where = f"line {line} of {path}" if line else path
    assert prompt_of(typing) == f"Comment on {where}: "
    noted = press(typing, "N", "o", "enter", body=body)
    assert [(one.path, one.line, one.text) for one in noted.remarks] == [(path, line, "No")]
    assert noted.message.startswith(f"noted on {where};") and noted.screen is Screen.CHANGES


def test_arrows_go_to_every_line_of_every_file_and_no_further() -> None:
    body = Body(DIFF, 20)
    state = press(READING, "c", body=body)
    places = []
    for _ in range(6):
        places.append((state.path, state.line, state.pointed))
        state = press(state, "down", body=body)
    assert places == [
        ("a.md", 1, 4),
        ("a.md", 0, 5),
        ("a.md", 2, 6),
        ("gone.md", 0, 8),
        ("z.md", 0, 11),
        ("z.md", 7, 13),
    ]
    assert press(state, "down", body=body) == state
    small = Body(DIFF, 2)
    state = press(READING, "c", "c", *["down"] * 6, body=small)
    assert state.back[-1].top <= state.pointed < state.back[-1].top + 2


def test_the_line_stays_where_the_rows_are_wrapped_anew() -> None:
    wide = [one for one in DIFF if one.line[0][0] != "+++ b/z.md"]
    state = press(READING, "c", *["down"] * 5, body=Body(DIFF, 5))
    assert (state.path, state.line, state.pointed) == ("z.md", 7, 13)
    after = press(state, "up", body=Body(wide, 5))
    assert (after.path, after.line, after.pointed) == ("z.md", 0, 11)


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ("1", ("a.md", 1)),
        ("0", ("a.md", 0)),
        ("z.md:7", ("z.md", 7)),
        ("gone.md:0", ("gone.md", 0)),
        ("3", None),
        ("7", None),
        ("z.md:1", None),
        ("gone.md:1", None),
        ("b.md:1", None),
        ("-1", None),
        ("1" * 20, None),
    ],
)
def test_only_a_line_that_is_shown_can_be_chosen(typed: str, place: tuple[str, int] | None) -> None:
    body = Body(DIFF, 20)
    state = press(READING, "c", *typed, "enter", body=body)
    if place is None:
        assert state.asked is Asked.LINE and "0 for the whole file" in state.message
    else:
        assert (state.asked, state.path, state.line) == (Asked.REMARK, *place)


def test_what_has_no_lines_is_commented_on_as_a_whole() -> None:
    viewing = show(State(Screen.PANEL, seat=SEAT), Screen.VIEW, artifact=1)
    rendered = Body([row("rendered"), row("Title", "z.md"), row("text", "z.md")], 5)
    for body in (rendered, Body([row("(binary)")], 5)):
        state = press(viewing, "c", body=body)
        assert prompt_of(state) == "Comment on z.md: "
        noted = press(state, "x", "enter", body=body)
        assert [(one.path, one.line) for one in noted.remarks] == [("z.md", 0)]


def test_a_summary_asks_for_the_artifact() -> None:
    state = press(replace(READING, full=False), "c", body=Body([row("Modified: a.md")], 5))
    assert state.screen is Screen.ARTIFACTS
