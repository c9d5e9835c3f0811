"""A comment on a line: which line of which file, and its words.

The place comes from what is on the screen, is named where it is typed, and can only be one that
the screen can show; what is signed is that place.
"""

from __future__ import annotations

from dataclasses import replace

from gitgate.ui.body import Body
from gitgate.ui.decoder import Key
from gitgate.ui.field import Field
from gitgate.ui.sanitise import safe
from gitgate.ui.state import Asked, Do, Remark, Screen, State, Step, back, show


def begin(state: State, body: Body) -> State | None:
    """Ask for the line, at first the one that was searched for where it is seen; None where
    nothing that is seen belongs to a file."""
    found = state.found if state.top <= state.found < state.top + body.height else -1
    at = found if found >= 0 and body.rows[found].path else body.place(state.top)
    if at is None:
        return None
    one = body.rows[at]
    asked = Asked.LINE if body.numbers(one.path) or len(body.paths()) > 1 else Asked.REMARK
    state = show(
        state,
        Screen.WORDS,
        asked=asked,
        typed=Field(),
        path=one.path,
        line=one.number,
        pointed=at,
    )
    return offered(state) if asked is Asked.REMARK else state


def whole(state: State, path: str) -> State:
    """Ask for a comment on all of a file of which no line is seen."""
    state = show(
        state,
        Screen.WORDS,
        asked=Asked.REMARK,
        typed=Field(),
        path=path,
        line=0,
        pointed=-1,
    )
    return offered(state)


def offered(state: State) -> State:
    """With the comment on this file that was begun and not finished."""
    begun = state.begun.get(state.path)
    if begun is None:
        return state
    where = f"line {begun.line}" if begun.line else "the whole file"
    said = f"you began this on {where}; Ctrl-U empties it"
    return replace(state, typed=Field.of(begun.text), message=said)


def left(state: State, text: str) -> State:
    """What was typed of a comment is one that was begun; none where there is no text."""
    begun = {path: one for path, one in state.begun.items() if path != state.path}
    if state.path and text.strip():
        begun[state.path] = Remark(state.path, state.line, text)
    return replace(state, begun=begun)


def move(state: State, key: Key, body: Body) -> State:
    """Another line, by an arrow; what was typed of a number is dropped."""
    at = max(body.at(state.path, state.line, state.pointed), 0)
    at = body.next_place(at, 1 if key.name == "down" else -1)
    one = body.rows[at]
    return _pointed(replace(state, path=one.path, line=one.number), body, at)


def _pointed(state: State, body: Body, at: int) -> State:
    """The state with the line at `at` pointed to and seen, and nothing typed; -1: no line."""
    below = state.back[-1]
    below = replace(below, top=body.holding(below.top, at, at) if at >= 0 else below.top)
    return replace(state, back=(*state.back[:-1], below), pointed=at, typed=Field())


def chosen(state: State, body: Body) -> Step:
    """The line that was typed, with or without its file, or the one that is pointed to."""
    text = state.typed.text.strip()
    path, line = state.path, state.line
    if text:
        file, _, number = text.rpartition(":")
        named = [one for one in body.paths() if file and file == safe(one)]
        path = named[0] if len(named) == 1 else path
        plain = number.isdecimal() and number.isascii() and len(number) < 9
        line = int(number) if plain and (not file or file == safe(path)) else -1
    shown = body.numbers(path)
    if line and line not in shown:
        return replace(state, typed=Field(), message=_possible(path, shown)), Do.NOTHING
    state = replace(state, asked=Asked.REMARK, path=path, line=line)
    return offered(_pointed(state, body, body.at(path, line, state.pointed))), Do.NOTHING


def _possible(path: str, shown: set[int]) -> str:
    first, last = min(shown, default=0), max(shown, default=0)
    if not shown:
        return f"no line of {safe(path)} is in the new file: 0 for the whole file"
    if len(shown) == last:
        return f"a line from 1 to {last}, 0 for the whole file"
    return f"a line of {safe(path)} that is shown, from {first} to {last}; 0 for the whole file"


def noted(state: State) -> Step:
    """The comment, to be signed with the decision."""
    text = " ".join(state.typed.text.split())
    if not state.path or not text:
        return back(left(state, ""), "nothing was written"), Do.KEEP
    remark = Remark(state.path, state.line, text)
    where = f"line {state.line} of {safe(state.path)}" if state.line else safe(state.path)
    state = replace(back(left(state, "")), remarks=(*state.remarks, remark), pointed=-1)
    return replace(state, message=f"noted on {where}; it is signed with your decision"), Do.KEEP
