"""The session of a reviewer as a pure state machine: state and key give the next state and what
is to be done.

Enter decides nothing anywhere. Only `y` on the screen that says what would be signed does, and
whoever reads the keys takes it there only where it was pressed on its own (`guarded`).
"""

from __future__ import annotations

from dataclasses import replace

from gitgate.core.decision import Action
from gitgate.ui import remarking
from gitgate.ui.body import Body
from gitgate.ui.decoder import Key
from gitgate.ui.field import Field
from gitgate.ui.state import Asked, Do, Purpose, Screen, State, Step, back, show
from gitgate.ui.wording import ask_words, kept, typing

_ACTIONS = {"a": Action.APPROVE, "r": Action.REJECT, "s": Action.SKIP, "q": Action.QUIT}
_MOVES = {"j": "down", "k": "up", " ": "pgdn", "g": "home", "G": "end"}
_IGNORED = {
    "burst": "several keys came at once: none of them counts, press one",
    "paste": "what was pasted is ignored here: nothing was decided",
}


def step(state: State, key: Key, body: Body) -> Step:
    """What `key` makes of `state`; `body` is what the screen shows."""
    now = replace(state, message="")
    if key.name in ("ctrl-c", "eof", "hangup"):
        return kept(now, key), Do.INTERRUPT
    if key.name == "ctrl-z":
        return now, Do.SUSPEND
    if key.name in ("resize", "resume", "ctrl-l"):
        return state, Do.NOTHING
    if now.screen is Screen.WORDS:
        return typing(now, key, body)
    if key.name in _IGNORED:
        return replace(now, message=_IGNORED[key.name]), Do.NOTHING
    return _SCREENS[now.screen](now, key, body)


# Moving about.


def _scrolled(state: State, key: Key, body: Body) -> State:
    name = _MOVES.get(key.char, key.name)
    top = {
        "down": state.top + 1,
        "up": state.top - 1,
        "pgdn": state.top + body.height,
        "pgup": state.top - body.height,
        "home": 0,
        "end": body.last_top,
    }.get(name, state.top)
    return replace(state, top=min(max(top, 0), body.last_top))


def _moved(state: State, key: Key, count: int) -> State:
    """The cursor of a list after `key`."""
    name = _MOVES.get(key.char, key.name)
    at = {"down": state.at + 1, "up": state.at - 1, "home": 0, "end": count - 1}.get(name, state.at)
    at += {"pgdn": 10, "pgup": -10}.get(name, 0)
    return replace(state, at=min(max(at, 0), max(count - 1, 0)))


# The screens.


def _panel(state: State, key: Key, body: Body) -> Step:
    seat, char = state.seat, key.char
    if seat is None or char == "x" or key.name == "esc":
        return state, Do.LEAVE
    if char in seat.hidden:
        return replace(state, message=f"the policy does not offer {char} here"), Do.NOTHING
    if seat.ended and (char in _ACTIONS or char == "e"):
        return replace(state, message=seat.ended), Do.NOTHING
    if char in _ACTIONS:
        return _begin(state, _ACTIONS[char])
    if char in ("v", "e", "c"):
        return _choose(state, {"v": Purpose.VIEW, "e": Purpose.EDIT, "c": Purpose.COMMENT}[char])
    if char == "d":
        return show(state, Screen.CHANGES, full=False, found=-1), Do.NOTHING
    if char == "?":
        return show(state, Screen.HELP), Do.NOTHING
    if char in ("n", "l") and len(state.waiting) > 1:
        return show(state, Screen.LIST, at=0), Do.NOTHING
    if key.name == "enter":
        if state.top >= body.last_top:
            return replace(state, message="Enter decides nothing: press a key of the options"), (
                Do.NOTHING
            )
        return _scrolled(state, Key("pgdn"), body), Do.NOTHING
    return _scrolled(state, key, body), Do.NOTHING


def _choose(state: State, purpose: Purpose) -> Step:
    """An artifact, by itself where there is only one."""
    artifacts = state.seat.artifacts if state.seat else ()
    if not artifacts:
        return replace(state, message="there is no artifact to look at"), Do.NOTHING
    state = replace(state, purpose=purpose)
    if len(artifacts) > 1:
        return show(state, Screen.ARTIFACTS, at=state.artifact), Do.NOTHING
    return _taken(replace(state, artifact=0))


def _taken(state: State) -> Step:
    """The chosen artifact, for what it was chosen for."""
    if state.purpose is Purpose.EDIT:
        return _edit(state)
    state = show(state, Screen.VIEW, rendered=False, found=-1)
    if state.purpose is Purpose.COMMENT:
        state = replace(state, message="go to the line, then c")
    return state, Do.NOTHING


def _edit(state: State) -> Step:
    """The chosen artifact in the editor; who becomes an author by that is told so before."""
    if state.seat and "e" in state.seat.hidden:
        return replace(state, message="the policy does not offer e here"), Do.NOTHING
    if state.seat and state.seat.ended:
        return replace(state, message=state.seat.ended), Do.NOTHING
    if state.seat and state.seat.authors and not state.warned:
        return replace(state, warned=True, message=state.seat.authors), Do.NOTHING
    return state, Do.EDIT


def _artifacts(state: State, key: Key, body: Body) -> Step:
    artifacts = state.seat.artifacts if state.seat else ()
    if key.name == "line":
        if not key.text.strip() or key.text.strip() == "b":
            return back(state), Do.NOTHING
        number = _number(key.text, len(artifacts))
        if number is None:
            return replace(state, message=f"a number from 1 to {len(artifacts)}"), Do.NOTHING
        return _taken(replace(state, artifact=number - 1))
    if key.name == "esc" or key.char in ("b", "x"):
        return back(state), Do.NOTHING
    chosen = replace(state, artifact=state.at)
    if key.name == "enter" or key.char == "v":
        return _taken(
            replace(chosen, purpose=state.purpose if key.name == "enter" else Purpose.VIEW)
        )
    if key.char == "e":
        return _edit(chosen)
    return _moved(state, key, len(artifacts)), Do.NOTHING


def _view(state: State, key: Key, body: Body) -> Step:
    seat, char = state.seat, key.char
    count = len(seat.artifacts) if seat else 0
    if key.name == "esc" or char in ("b", "x"):
        return replace(back(state), at=state.artifact), Do.NOTHING
    if char in ("n", "p"):
        to = state.artifact + (1 if char == "n" else -1)
        if not 0 <= to < count:
            which = "last" if char == "n" else "first"
            return replace(state, message=f"this is the {which} artifact"), Do.NOTHING
        return replace(state, artifact=to, top=0, found=-1), Do.NOTHING
    if char == "m":
        return replace(state, rendered=not state.rendered, top=0, found=-1), Do.NOTHING
    if char == "o":
        return state, Do.PAGE
    if char == "e":
        return _edit(state)
    if char == "c" and state.chosen is not None:
        path = state.chosen.path
        return remarking.begin(state, body) or remarking.whole(state, path), Do.NOTHING
    return _reading(state, key, body)


def _reading(state: State, key: Key, body: Body) -> Step:
    """The keys of every screen that is read from top to bottom."""
    if key.char == "/":
        return show(state, Screen.WORDS, asked=Asked.SEARCH, typed=Field()), Do.NOTHING
    if key.name == "enter":
        if state.top >= body.last_top:
            return replace(state, message="this is the end"), Do.NOTHING
        key = Key("pgdn")
    return _scrolled(state, key, body), Do.NOTHING


def _changes(state: State, key: Key, body: Body) -> Step:
    if key.name == "esc" or key.char in ("b", "x"):
        return back(state), Do.NOTHING
    if key.char == "v":
        return replace(state, full=not state.full, top=0, found=-1), Do.NOTHING
    if key.char == "c":
        return _comment_on_change(state, body)
    return _reading(state, key, body)


def _comment_on_change(state: State, body: Body) -> Step:
    """A comment on a line of the full diff, else on an artifact that is chosen first."""
    asked = remarking.begin(state, body) if state.full else None
    return (asked, Do.NOTHING) if asked else _choose(state, Purpose.COMMENT)


def _help(state: State, key: Key, body: Body) -> Step:
    moved = _scrolled(state, key, body)
    return (moved if moved.top != state.top else back(state)), Do.NOTHING


def _list(state: State, key: Key, _body: Body) -> Step:
    if key.name == "line":
        if not key.text.strip() or key.text.strip() == "x":
            return state, Do.LEAVE
        number = _number(key.text, len(state.waiting))
        if number is None:
            return replace(state, message=f"a number from 1 to {len(state.waiting)}"), Do.NOTHING
        return replace(state, at=number - 1), Do.OPEN
    if key.name == "esc" or key.char in ("x", "b"):
        return (back(state), Do.NOTHING) if state.back and state.seat else (state, Do.LEAVE)
    if key.name == "enter":
        return state, Do.OPEN
    return _moved(state, key, len(state.waiting)), Do.NOTHING


def _told(state: State, key: Key, body: Body) -> Step:
    if key.char == "n" and state.waiting:
        return replace(state, screen=Screen.LIST, back=(), at=0, seat=None), Do.NOTHING
    if key.name == "esc" or key.char in ("x", "b", "q"):
        return state, Do.LEAVE
    return _scrolled(state, key, body), Do.NOTHING


# Deciding.


def _begin(state: State, action: Action) -> Step:
    seat = state.seat
    if action is Action.SKIP and seat and not seat.skip_allowed:
        return replace(state, message="the policy does not let this gate be skipped"), Do.NOTHING
    state = replace(state, action=action)
    asks = action in (Action.REJECT, Action.SKIP) or state.words_required
    if asks and (action is not Action.APPROVE or not state.said):
        return ask_words(state), Do.NOTHING
    return show(state, Screen.CONFIRM), Do.NOTHING


def _confirm(state: State, key: Key, body: Body) -> Step:
    if key.char == "y":
        return state, Do.DECIDE
    if key.name == "esc" or key.char == "b":
        return _to_panel(state, "nothing was decided"), Do.NOTHING
    if key.char == "x" and state.action is Action.QUIT:
        return state, Do.LEAVE
    if key.char == "m":
        return ask_words(state), Do.NOTHING
    if key.char == "u" and state.remarks:
        return replace(state, remarks=state.remarks[:-1]), Do.KEEP
    moved = _scrolled(state, key, body)
    if moved.top == state.top and (key.char or key.name == "enter"):
        moved = replace(moved, message="nothing was decided: y signs, b goes back")
    return moved, Do.NOTHING


def _to_panel(state: State, message: str = "") -> State:
    return replace(state, screen=Screen.PANEL, back=(), top=0, message=message)


def _number(text: str, most: int) -> int | None:
    text = text.strip()
    plain = text.isdecimal() and text.isascii() and len(text) < 9
    return int(text) if plain and 1 <= int(text) <= most else None


_SCREENS = {
    Screen.LIST: _list,
    Screen.PANEL: _panel,
    Screen.ARTIFACTS: _artifacts,
    Screen.VIEW: _view,
    Screen.CHANGES: _changes,
    Screen.HELP: _help,
    Screen.CONFIRM: _confirm,
    Screen.TOLD: _told,
}
