"""What a person types in a session: the words of an action, a comment, a line, a search.

A text is never dropped by a key: it is kept until it is signed or was emptied on purpose.
"""

from __future__ import annotations

from dataclasses import replace

from gitgate.core.decision import Action
from gitgate.ui import remarking
from gitgate.ui.body import Body
from gitgate.ui.decoder import Key
from gitgate.ui.field import LONGEST, Field
from gitgate.ui.sanitise import says_something
from gitgate.ui.sections import counted
from gitgate.ui.state import Asked, Do, Screen, State, Step, back, show

SEVERAL = (Asked.WORDS, Asked.REMARK)
"""What may have several lines, and is kept where it is not finished."""


def ask_words(state: State, message: str = "") -> State:
    """The words of the action, from what was typed before."""
    asked = show(state, Screen.WORDS, asked=Asked.WORDS, typed=Field.of(state.said))
    return replace(asked, message=message)


def typing(state: State, key: Key, body: Body) -> Step:
    """What `key` makes of a text that is being typed."""
    if key.name == "esc":
        return _left(state)
    if key.name == "line":
        return _whole(replace(state, typed=Field.of(key.text)), body)
    if key.name == "ctrl-e":
        words = state.asked is Asked.WORDS
        return kept(state, key), Do.EDITOR if words else Do.NOTHING
    if key.name in ("up", "down") and state.asked is Asked.LINE:
        return remarking.move(state, key, body), Do.NOTHING
    if not state.typed.takes(key):
        return replace(state, message=_too_long(state, key)), Do.NOTHING
    if key.name == "enter":
        return _entered(state, body)
    return replace(state, typed=state.typed.press(key)), Do.NOTHING


def _whole(state: State, body: Body) -> Step:
    """A whole line was typed at a prompt."""
    text = state.typed.text.strip()
    if state.asked is Asked.WORDS and text == "e":
        return replace(state, typed=Field.of(state.said)), Do.EDITOR
    if state.asked is Asked.WORDS and state.words_required and not text:
        return back(state, "nothing was written"), Do.NOTHING
    return _entered(state, body)


def _entered(state: State, body: Body) -> Step:
    match state.asked:
        case Asked.WORDS:
            return worded(state, state.typed.text)
        case Asked.SEARCH:
            return _search(state, body)
        case Asked.LINE:
            return remarking.chosen(state, body)
        case Asked.REMARK:
            return remarking.noted(state)


def _left(state: State) -> Step:
    after = back(kept(state))
    begun = state.asked is Asked.REMARK and bool(state.typed.text.strip())
    said = "what you began to write is kept: c on this file offers it again" if begun else ""
    return replace(after, message=said), Do.KEEP


def _too_long(state: State, key: Key) -> str:
    room = LONGEST - len(state.typed.text)
    how = "Ctrl-E, and paste it in your editor" if state.asked is Asked.WORDS else "shorten it"
    return (
        f"not taken: {counted(len(key.text), 'character')}, where {LONGEST} is the most and {room}"
        f" are left: {how}"
    )


def worded(state: State, text: str) -> Step:
    """The action with these words, before it is confirmed."""
    text = text.strip()
    words = {**state.words, (state.action or Action.QUIT).value: text}
    state = replace(state, words=words, typed=Field.of(text))
    if state.words_required and not says_something(text):
        return replace(state, message="at least one word is needed"), Do.KEEP
    return show(replace(state, screen=Screen.PANEL, back=()), Screen.CONFIRM), Do.KEEP


def kept(state: State, key: Key | None = None) -> State:
    """What was typed so far, as the words of the action or as a comment that was begun; `key`
    has it where a whole line was being typed."""
    if state.screen is not Screen.WORDS or state.asked not in SEVERAL:
        return state
    text = key.text if key is not None and key.text else state.typed.text
    state = replace(state, typed=Field.of(text))
    if state.asked is Asked.WORDS and state.action is not None:
        return replace(state, words={**state.words, state.action.value: text})
    return remarking.left(state, text) if state.asked is Asked.REMARK else state


def _search(state: State, body: Body) -> Step:
    wanted = state.typed.text or state.searched
    below = replace(back(state), searched=wanted)
    if not wanted:
        return below, Do.NOTHING
    found = body.find(wanted, below.top)
    if found is None:
        return replace(below, message=f"nothing has {wanted!r}"), Do.NOTHING
    said = f"found {wanted!r}; / and Enter finds the next"
    return replace(below, top=found, found=found, message=said), Do.NOTHING
