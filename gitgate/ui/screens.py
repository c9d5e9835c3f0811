"""What each screen of a session shows: what scrolls, what stands above it, and the keys below."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from gitgate.core.decision import Action
from gitgate.ui import plain
from gitgate.ui.body import Body, Shown
from gitgate.ui.confirming import confirmation, words_for
from gitgate.ui.look import Look
from gitgate.ui.paint import Line, box_of, cells, fill, wrap
from gitgate.ui.panel import panel
from gitgate.ui.preview import Preview
from gitgate.ui.sanitise import safe, width
from gitgate.ui.sections import GLYPHS, SHORT, WAITING, counted, offered
from gitgate.ui.state import Artifact, Asked, Purpose, Screen, State

_HELP = (
    ("a r s q", "approve, reject, skip, quit: each shows first what would be signed"),
    ("y", "signs, and only there; Enter decides nothing anywhere"),
    ("v", "the artifacts; Enter opens one, n and p go to the next and the previous one"),
    ("d", "what changed since the previous iteration; v shows every line"),
    ("e", "edit an artifact: a commit of yours, and the next iteration"),
    ("c", "a comment on a line, signed with your decision"),
    ("m", "Markdown: rendered, or its source"),
    ("o", "the artifact in your pager (git var GIT_PAGER)"),
    ("/", "search; / and Enter finds the next place"),
    ("space, Enter", "one page on; arrows, Page Up, Page Down, g and G go about"),
    ("Ctrl-E", "while you type: the words in your editor (git var GIT_EDITOR)"),
    ("b, Esc", "back"),
    ("x", "leave: nothing is decided, what you wrote is kept"),
    ("Ctrl-C", "leave at once, in the same way"),
    ("Ctrl-Z", "stop for a while: your time does not run"),
)


_UNBROKEN = 1 << 16  # cells: a screen reader reads a fact in one go, and the terminal wraps it


class Source(Protocol):
    """Where a session's texts come from."""

    def preview(self, artifact: Artifact) -> Preview:
        """An artifact of the work commit."""

    def changes(self, columns: int, *, full: bool) -> Sequence[Shown]:
        """What changed since the previous iteration; in full with the lines of the new files."""


@dataclass(frozen=True, slots=True)
class Page:
    """A screen: `head` and `foot` stand, `body` scrolls between them in the frame of `boxed`.

    `prompt` is what is typed after, with the cells before the cursor; None where nothing is.
    `again` says it in short where it was printed before.
    """

    head: tuple[Line, ...]
    body: Body
    foot: tuple[Line, ...]
    boxed: bool
    prompt: str | None = None
    cursor: int = 0
    again: tuple[Line, ...] = ()


def rows_of(state: State, look: Look, source: Source | None) -> list[Shown]:
    """All lines of what is seen; `state.content` says which screen that is."""
    screen = state.content.screen
    inner = _UNBROKEN if look.accessible else look.columns - 4
    artifact = state.chosen
    if screen is Screen.VIEW and artifact is not None and source is not None:
        preview = source.preview(artifact)
        return preview.lines(inner, rendered=state.rendered, colored=look.palette is not None)
    if screen is Screen.CHANGES and source is not None:
        changed = source.changes(inner, full=state.full)
        return list(changed) if state.full or not look.accessible else _in_words(changed)
    return [Shown(0, line) for line in _lines(state, screen, look, inner)]


def _lines(state: State, screen: Screen, look: Look, inner: int) -> Sequence[Line]:
    seat = state.seat
    match screen:
        case Screen.PANEL if seat is not None:
            return panel(seat.doc, look, session=True)
        case Screen.LIST:
            return list(_listed(state, look))
        case Screen.ARTIFACTS:
            return [line for one in _artifacts(state, look) for line in wrap(one, inner, 6)]
        case Screen.HELP:
            return [line for one in _help(look) for line in wrap(one, inner, 14)]
        case Screen.CONFIRM:
            return [line for one in confirmation(state) for line in wrap(one, inner, 4)]
        case Screen.WORDS:
            asked = [*words_for(state), ()]
            typed = [((line, ""),) for line in _typed(state).split("\n")]
            if look.flows:
                typed = []
            return [line for one in (*asked, *typed) for line in wrap(one, inner)]
        case _:
            return [line for one in state.told for line in wrap(((one, ""),), inner, 2)]


def _in_words(rows: Sequence[Shown]) -> list[Shown]:
    return [
        Shown(one.number, tuple((text.replace(" → ", " to "), style) for text, style in one.line))
        for one in rows
    ]


def _typed(state: State) -> str:
    """What is typed, with the place of the cursor."""
    text, at = state.typed.text, state.typed.at
    return safe(text[:at], multiline=True) + "▏" + safe(text[at:], multiline=True)


def _listed(state: State, look: Look) -> Iterator[Line]:
    rows = plain.table(state.waiting, look.columns - 5)
    for at, row in enumerate(rows):
        mark = f"{at + 1}: " if look.accessible else ("▶ " if at == state.content.at else "  ")
        yield ((mark, "key"), (row, ""))


def _help(look: Look) -> Iterator[Line]:
    yield (("The keys", "heading"),)
    for keys, meaning in _HELP:
        yield ((f"{keys}: " if look.accessible else f"{keys:<12}  ", "key"), (meaning, ""))


def _artifacts(state: State, look: Look) -> Iterator[Line]:
    for at, one in enumerate(state.seat.artifacts if state.seat else ()):
        found = [counted(one.errors, "error")] if one.errors else []
        found += [counted(one.warnings, "warning")] if one.warnings else []
        seen = {"viewed": "viewed", "changed": "changed since you viewed it"}.get(one.seen)
        marks = [*found, *([seen] if seen else []), *(["edited by you"] if one.edited else [])]
        marks += [
            f"{number} of your comments"
            for number in [sum(remark.path == one.path for remark in state.remarks)]
            if number
        ]
        said = f" ({', '.join(marks)})" if marks else ""
        apart = ": " if look.accessible else "  "
        about = f"{apart}{safe(one.about)}" if one.about else ""
        slot = {"validated": "good"}.get(one.status, one.status)
        if look.accessible:
            yield ((f"{at + 1}: {one.status}: {safe(one.path)}{said}{about}", ""),)
            continue
        mark = "▶ " if at == state.content.at else "  "
        glyph = GLYPHS.get(one.status, " ")
        yield ((mark, "key"), (f"{glyph} ", slot), (safe(one.path), ""), (said + about, "dim"))


# What stands above and below.


def page(state: State, look: Look, rows: Sequence[Shown]) -> Page:
    """The whole screen around these rows."""
    boxed = state.content.screen in (Screen.VIEW, Screen.CHANGES, Screen.ARTIFACTS)
    boxed = boxed and not look.accessible
    head = tuple(_head(state, look, boxed=boxed))
    keys = _keys(state, look, len(rows))
    if look.flows and state.screen in (Screen.WORDS, Screen.LIST, Screen.ARTIFACTS):
        keys = ""  # a whole line is typed, and the prompt says what it takes
    elif look.accessible:
        keys = _aloud(keys)
    message = wrap(((safe(state.message), "warning"),), look.columns, 2) if state.message else []
    prompt, cursor, typed = None, 0, ""
    if state.screen is Screen.WORDS and state.asked is not Asked.WORDS:
        prompt, typed = prompt_of(state), state.typed.text
        cursor = cells(((prompt + safe(typed[: state.typed.at]), ""),))
    asked = [] if prompt is None else [((prompt + safe(typed), "key"),)]
    around = len(head) + len(message) + len(asked)
    height = max(look.rows - around - len(_closing(look, keys, rows, 1, 0, boxed=boxed)), 1)
    top = state.content.top
    closing = _closing(look, keys, rows, height, top, boxed=boxed)
    foot = (*closing, *message, *asked) if boxed else (*message, *closing, *asked)
    again = tuple(_again(state, look)) if look.flows else ()
    return Page(head, Body(rows, height), foot, boxed, prompt, cursor, again)


def _again(state: State, look: Look) -> Iterator[Line]:
    """The panel in short, for who has read it."""
    if state.screen is not Screen.PANEL or state.seat is None:
        return
    doc = state.seat.doc
    yield (
        (f"Gate {safe(doc['gate'])} of {safe(doc['subject'])}, iteration {doc['iteration']}", ""),
    )
    keys = " | ".join(f"[{key}] {SHORT[key]}" for key in offered(look.options))
    yield ((_aloud(keys) if look.accessible else keys, "key"),)


def _aloud(keys: str) -> str:
    """The keys in words."""
    named = re.sub(r"\[([^\]]+)\] ", r"\1: ", keys.replace("[ENTER]", "[Enter]"))
    return f"Keys: {named.replace(' | ', ', ')}"


def prompt_of(state: State) -> str:
    """What stands before a line that is typed."""
    if state.screen in (Screen.LIST, Screen.ARTIFACTS):
        return "A number, or nothing to go back: "
    words = "One line, e for your editor, or nothing to go back: "
    if state.said.strip():
        words = "Your words so far; Enter takes them, Ctrl-E: your editor, Ctrl-U empties them: "
    return {
        Asked.WORDS: words,
        Asked.LINE: f"Comment on which line (0: the whole file) [{state.line}]: ",
        Asked.REMARK: f"Comment on line {state.line}: " if state.line else "Comment on the file: ",
        Asked.SEARCH: "Search: ",
    }[state.asked]


def _title(state: State) -> str:
    content, artifact = state.content.screen, state.chosen
    if content is Screen.VIEW and artifact is not None:
        total = len(state.seat.artifacts) if state.seat else 0
        return f"Artifact: {safe(artifact.path)} ({state.artifact + 1} of {total})"
    if content is Screen.ARTIFACTS:
        total = len(state.seat.artifacts) if state.seat else 0
        what = {Purpose.EDIT: "which one to edit?", Purpose.COMMENT: "which one to comment on?"}
        return f"Artifacts: {what.get(state.purpose, counted(total, 'artifact'))}"
    if content is Screen.LIST:
        return f"{counted(len(state.waiting), 'gate')} waiting for a decision"
    return ""


def _head(state: State, look: Look, *, boxed: bool) -> Iterator[Line]:
    title = _title(state)
    if not boxed:
        if title:
            yield from wrap(((title, "title"),), look.columns, 2)
        return
    box, inner = box_of(look.display.box_style), look.columns - 2
    yield ((f"{box.top_left}{box.top * inner}{box.top_right}", "frame"),)
    if title:
        for line in wrap(((title, "title"),), look.columns - 4, 2):
            yield in_frame(line, look)
        yield ((f"{box.row_left}{box.row_horizontal * inner}{box.row_right}", "frame"),)


def in_frame(line: Line, look: Look) -> Line:
    """A line between the two sides of the frame."""
    box = box_of(look.display.box_style)
    body = fill(((" ", ""), *line), look.columns - 2)
    return (box.mid_left, "frame"), *body, (box.mid_right, "frame")


def _closing(
    look: Look, keys: str, rows: Sequence[Shown], height: int, top: int, *, boxed: bool
) -> list[Line]:
    """The keys, with how far one has read, and the end of the frame."""
    items = keys.split(" | ") if keys else []
    total = len(rows)
    if boxed:
        end = min(max(top, 0) + height, total)
        items.append(f"{end:>{len(str(total))}} of {counted(total, 'line')}")
    inner = look.columns - (4 if boxed else 0)
    lines: list[Line] = []
    for item in items:
        joined = f"{lines[-1][0][0]} | {item}" if lines else item
        if lines and width(joined) <= inner:
            lines[-1] = ((joined, "key"),)
        else:
            lines += wrap(((item, "key"),), inner)
    if not boxed:
        return lines
    box, across = box_of(look.display.box_style), look.columns - 2
    bottom = f"{box.bottom_left}{box.bottom * across}{box.bottom_right}"
    return [*(in_frame(line, look) for line in ((), *lines)), ((bottom, "frame"),)]


def _keys(state: State, look: Look, rows: int) -> str:
    """The keys of the screen, in the words of the display rules where they have some."""
    screen = state.screen
    if screen is Screen.WORDS:
        done = "Enter: done | Esc: back"
        return f"{done} | Ctrl-E: your editor" if state.asked is Asked.WORDS else done
    hidden = state.seat.hidden if state.seat else ()
    edit = "" if "e" in hidden else " | [e] edit"
    match screen:
        case Screen.PANEL:
            return _panel_keys(state, look, rows)
        case Screen.VIEW:
            more = " | [c] comment | [m] rendered | [/] search | [o] pager"
            return f"[ENTER] more | [b] back | [n] next artifact | [p] previous{more}{edit}"
        case Screen.CHANGES:
            which = "the summary" if state.full else "full diff"
            return f"[b] back to gate | [v] view {which} | [c] comment | [/] search"
        case Screen.ARTIFACTS:
            return f"[ENTER] open | [b] back{edit}"
        case Screen.LIST:
            return "[ENTER] open | [x] leave"
        case Screen.CONFIRM:
            leave = " | [x] leave, nothing decided" if state.action is Action.QUIT else ""
            drop = " | [u] take the last comment away" if state.remarks else ""
            return f"[y] sign and record | [b] back | [m] your words{drop}{leave}"
        case Screen.TOLD:
            return "[n] next waiting gate | [x] leave"
        case _ if rows >= look.rows and not look.flows:
            return "[space] more | any other key: back"
        case _:
            return "any key: back"


def _panel_keys(state: State, look: Look, rows: int) -> str:
    several = " | [l] all waiting gates" if len(state.waiting) > 1 else ""
    rest = f"[c] comment | [?] help | [x] leave{several}"
    waits = state.seat is not None and state.seat.doc["status"] in WAITING
    fits = rows + 2 <= look.rows
    if waits and fits:
        return rest
    keys = " | ".join(f"[{key}] {SHORT[key]}" for key in offered(look.options))
    return f"{keys} | {rest}" + ("" if fits else " | [space] more")
