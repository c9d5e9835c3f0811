"""The state machine of a session: which keys decide, and what is left of what was typed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import document

from gitgate.core.decision import Action
from gitgate.ui.body import Body, Shown
from gitgate.ui.decoder import Key
from gitgate.ui.field import Field
from gitgate.ui.session import step
from gitgate.ui.state import Artifact, Asked, Do, Screen, Seat, State

BODY = Body([Shown(number, ((f"line {number}", ""),), "a.md") for number in range(1, 101)], 10)
ARTIFACTS = (Artifact("a.md", "1" * 40, "validated"), Artifact("b.md", "2" * 40, "error"))
SEAT = Seat(document(request="3" * 40), ARTIFACTS)
PANEL = State(Screen.PANEL, seat=SEAT, waiting=(document(), document()))


def typed(state: State, keys: str) -> tuple[State, list[Do]]:
    """Press one key after another; `\\r` is Enter, `\\x1b` Esc."""
    named = {"\r": Key("enter"), "\x1b": Key("esc")}
    done: list[Do] = []
    for char in keys:
        state, do = step(state, named.get(char, Key("char", char)), BODY)
        done.append(do)
    return state, done


@pytest.mark.parametrize(
    ("keys", "action", "words"),
    [
        ("a", Action.APPROVE, ""),
        ("rNo.\r", Action.REJECT, "No."),
        ("sHot fix\r", Action.SKIP, "Hot fix"),
        ("q", Action.QUIT, ""),
    ],
)
def test_only_y_where_it_says_what_is_signed_decides(keys: str, action: Action, words: str) -> None:
    asked, done = typed(PANEL, keys)
    assert (asked.screen, asked.action, asked.said) == (Screen.CONFIRM, action, words)
    assert asked.guarded and Do.DECIDE not in done
    for other in "\rnarsvdec Y":
        assert typed(asked, other)[1] != [Do.DECIDE]
    assert typed(asked, "y")[1] == [Do.DECIDE]
    assert typed(asked, "b")[0].screen is Screen.PANEL


_NAMES = st.sampled_from(
    ["enter", "esc", "up", "down", "pgdn", "pgup", "tab", "paste", "burst", "resize", "ctrl-e"]
)
_KEYS = st.one_of(
    st.sampled_from("arsqvdecmnp?xblujkgGy/ 1").map(lambda char: Key("char", char)),
    _NAMES.map(lambda name: Key(name, "y\ny" if name == "paste" else "")),
)


@given(st.lists(_KEYS, max_size=40))
def test_whatever_is_pressed_nothing_is_decided_but_by_y_alone(keys: list[Key]) -> None:
    state = PANEL
    for key in keys:
        before = state
        state, do = step(state, key, BODY)
        if do is Do.DECIDE:
            assert before.screen is Screen.CONFIRM and key == Key("char", "y")
            return
        if do in (Do.LEAVE, Do.INTERRUPT):
            return
        assert 0 <= state.top <= BODY.last_top


@pytest.mark.parametrize("name", ["ctrl-c", "eof", "hangup"])
def test_what_was_typed_is_kept_when_the_terminal_goes(name: str) -> None:
    state, _ = typed(PANEL, "rHalf a sen")
    after, do = step(state, Key(name), BODY)
    assert do is Do.INTERRUPT and after.words == {"reject": "Half a sen"}


def test_esc_goes_back_and_keeps_the_words() -> None:
    state, done = typed(PANEL, "rHalf\x1b")
    assert state.screen is Screen.PANEL and done[-1] is Do.KEEP
    assert typed(state, "r")[0].typed.text == "Half"


def test_words_are_needed_where_they_are() -> None:
    assert typed(PANEL, "r  \r")[0].message == "at least one word is needed"
    assert typed(PANEL, "s\r")[0].message == "at least one word is needed"
    assert typed(PANEL, "r\u200b \u3164\r")[0].message == "at least one word is needed"
    assert typed(PANEL, "r\u200b👍\r")[0].screen is Screen.CONFIRM
    asked = replace(PANEL, seat=replace(SEAT, comment_required=True))
    assert typed(asked, "a")[0].screen is Screen.WORDS
    free = replace(PANEL, seat=replace(SEAT, reason_required=False))
    assert typed(free, "s\r")[0].screen is Screen.CONFIRM
    closed = replace(PANEL, seat=replace(SEAT, skip_allowed=False))
    assert typed(closed, "s")[0].message == "the policy does not let this gate be skipped"


def test_a_comment_has_its_line_and_can_be_taken_away() -> None:
    state, _ = typed(PANEL, "v\rc")
    assert (state.screen, state.asked, state.line) == (Screen.WORDS, Asked.LINE, 1)
    wrong, _ = typed(state, "101\r")
    assert wrong.message == "a line from 1 to 100, 0 for the whole file"
    noted, done = typed(state, "12\rToo  bold\r")
    assert done[-1] is Do.KEEP and noted.screen is Screen.VIEW
    assert [(one.path, one.line, one.text) for one in noted.remarks] == [("a.md", 12, "Too bold")]
    asked, _ = typed(noted, "bba")
    assert typed(asked, "u")[0].remarks == ()


def test_search_goes_round() -> None:
    state, _ = typed(PANEL, "v\r/line 9\r")
    assert state.top == 8
    assert typed(state, "/\r")[0].top == 89
    assert typed(state, "/nowhere\r")[0].message == "nothing has 'nowhere'"


def test_edit_tells_an_author_first_and_a_hidden_key_is_none() -> None:
    seat = replace(SEAT, authors="you become an author")
    state, done = typed(replace(PANEL, seat=seat), "e\r")
    assert done[-1] is Do.NOTHING and state.message == "you become an author"
    assert typed(state, "\r")[1] == [Do.EDIT]
    hidden = replace(PANEL, seat=replace(SEAT, hidden=("e", "s", "d")))
    for key in "esd":
        assert typed(hidden, key) == (
            replace(hidden, message=f"the policy does not offer {key} here"),
            [Do.NOTHING],
        )


@pytest.mark.parametrize(
    ("keys", "text", "at"),
    [
        (["char:a", "char:b", "left", "char:c"], "acb", 2),
        (["char:a", "backspace", "backspace"], "", 0),
        (["paste:one\r\ntwo", "ctrl-w"], "one\n", 4),
        (["paste:abc", "home", "delete", "end", "char:d"], "bcd", 3),
        (["paste:abc", "left", "ctrl-u"], "c", 0),
        (["paste:abc", "left", "ctrl-k"], "ab", 2),
    ],
)
def test_typing(keys: list[str], text: str, at: int) -> None:
    field = Field()
    for key in keys:
        name, _, what = key.partition(":")
        field = field.press(Key(name, what))
    assert (field.text, field.at) == (text, at)
