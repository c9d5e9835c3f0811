"""The whole screen around what scrolls: what stands above it, the keys below, and what is typed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gitgate.core.decision import Action
from gitgate.ui.body import Body, Shown
from gitgate.ui.look import Look
from gitgate.ui.paint import Line, box_of, cells, fill, wrap
from gitgate.ui.preview import MARKDOWN
from gitgate.ui.sanitise import safe, width
from gitgate.ui.sections import SHORT, WAITING, counted, offered
from gitgate.ui.state import Asked, Purpose, Screen, State

_FEWEST = 3  # lines of a text below which the frame and the words of the keys give way


@dataclass(frozen=True, slots=True)
class Page:
    """A screen: `head` and `foot` stand, `body` scrolls between them in the frame of `boxed`.

    `prompt` is what is typed after, with the row and column of the cursor from the last row up;
    None where nothing is. The body is seen from `top` on; its line `pointed` is marked, -1 for
    none. `again` says it in short where it was printed before.
    """

    head: tuple[Line, ...]
    body: Body
    foot: tuple[Line, ...]
    boxed: bool
    prompt: str | None = None
    cursor: tuple[int, int] = (0, 0)
    top: int = 0
    pointed: int = -1
    again: tuple[Line, ...] = ()


def page(state: State, look: Look, rows: Sequence[Shown]) -> Page:
    """The whole screen around these rows."""
    boxed = state.content.screen in (Screen.VIEW, Screen.CHANGES, Screen.ARTIFACTS)
    boxed = boxed and not look.accessible
    keys = _keys(state, look, len(rows))
    if look.flows and state.screen in (Screen.WORDS, Screen.LIST, Screen.ARTIFACTS):
        keys = ""  # a whole line is typed, and the prompt says what it takes
    elif look.accessible:
        keys = _aloud(keys)
    full = _framed(state, look, rows, keys, boxed=boxed)
    if look.flows or full.body.height >= _FEWEST:
        return full
    spare = " ".join(_KEY.findall(keys))
    return _framed(state, look, rows, spare, boxed=False)


def _framed(state: State, look: Look, rows: Sequence[Shown], keys: str, *, boxed: bool) -> Page:
    head = tuple(_head(state, look, boxed=boxed))
    prompt, cursor, asked = _typed(state, look)
    message = wrap(((safe(state.message), "warning"),), look.columns, 2) if state.message else []
    closing = _closing(look, keys, rows, 1, 0, boxed=boxed)
    if not look.flows:
        head = head[: max(look.rows - len(closing) - len(asked) - 1, 0)]
        room = max(look.rows - len(head) - len(closing) - len(asked) - 1, 0)
        message = _fitted(message, room)
    height = max(look.rows - len(head) - len(message) - len(asked) - len(closing), 1)
    body = Body(rows, height)
    held, pointed = _held(state, look, body), -1
    pointing = prompt is not None and state.asked in (Asked.LINE, Asked.REMARK)
    if pointing and state.pointed >= 0 and not look.flows:
        pointed = body.at(state.path, state.line, state.pointed)
        held = (pointed, pointed)
    top = min(state.content.top, body.last_top)
    top = body.holding(top, *held) if held[0] >= 0 else top
    closing = _closing(look, keys, rows, height, top, boxed=boxed)
    fits = len(head) + len(message) + len(asked) + len(rows) + len(closing) < look.rows
    if fits and not (boxed or look.flows or state.content.screen is Screen.PANEL):
        message = [(), *message]
    foot = (*closing, *message, *asked) if boxed else (*message, *closing, *asked)
    again = tuple(_again(state, look)) if look.flows else ()
    return Page(head, body, foot, boxed, prompt, cursor, top, pointed, again)


def _fitted(message: list[Line], room: int) -> list[Line]:
    """As much of a message as there is room for: its end says what to do, and stays."""
    if len(message) <= room:
        return message
    kept = message[len(message) - room :]
    return [(("…", "warning"),), *kept[1:]] if room > 1 else kept


def _held(state: State, look: Look, body: Body) -> tuple[int, int]:
    """The lines that have to be seen: the entry of a list that is chosen, or where one types."""
    if look.flows or state.screen not in (Screen.LIST, Screen.ARTIFACTS, Screen.WORDS):
        return -1, -1
    if state.screen is Screen.WORDS:
        return body.numbered(1) if state.asked is Asked.WORDS else (-1, -1)
    return body.numbered(state.at + 1)


def _typed(state: State, look: Look) -> tuple[str | None, tuple[int, int], list[Line]]:
    """A line that is typed: its prompt, the place of the cursor, and the rows that it takes."""
    if state.screen is not Screen.WORDS or state.asked is Asked.WORDS:
        return None, (0, 0), []
    prompt = prompt_of(state)
    if look.flows:
        return prompt, (0, 0), [((prompt + safe(state.typed.text), "key"),)]
    *above, last = wrap(((prompt, "key"),), look.columns)
    typed = safe(state.typed.text[: state.typed.at])
    after = safe(state.typed.text[state.typed.at :]) + " "
    up_to_cursor = wrap((*last, (typed + " ", "key")), look.columns, words=False)
    rows = above + wrap((*last, (typed + after, "key")), look.columns, words=False)
    row = len(above) + len(up_to_cursor) - 1
    room = max(look.rows // 2, 1)
    first = max(min(row - room + 1, len(rows) - room), 0)
    rows = rows[first : first + room]
    return prompt, (len(rows) - 1 - (row - first), cells(up_to_cursor[-1]) - 1), rows


def _again(state: State, look: Look) -> Iterator[Line]:
    """The panel in short, for who has read it."""
    if state.screen is not Screen.PANEL or state.seat is None:
        return
    doc = state.seat.doc
    yield (
        (f"Gate {safe(doc['gate'])} of {safe(doc['subject'])}, iteration {doc['iteration']}", ""),
    )
    shown = [key for key in offered(look.options) if not state.seat.ended or key in "vd"]
    keys = " | ".join(f"[{key}] {SHORT[key]}" for key in shown)
    yield ((_aloud(keys) if look.accessible else keys, "key"),)


def _aloud(keys: str) -> str:
    """The keys in words."""
    named = re.sub(r"\[([^\]]+)\] ", r"\1: ", keys.replace("[ENTER]", "[Enter]"))
    return f"Keys: {named.replace(' | ', ', ')}"


def prompt_of(state: State) -> str:
    """What stands before a line that is typed."""
    if state.screen in (Screen.LIST, Screen.ARTIFACTS):
        return "A number, or nothing to go back: "
    path = safe(state.path)
    words = "One line, e for your editor, or nothing to go back: "
    if state.said.strip():
        words = "Your words so far; Enter takes them, Ctrl-E: your editor, Ctrl-U empties them: "
    return {
        Asked.WORDS: words,
        Asked.LINE: f"{path}: on which line (0: the whole file) [{state.line}]: ",
        Asked.REMARK: f"Comment on {f'line {state.line} of ' * bool(state.line)}{path}: ",
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
    joined: list[str] = []
    for item in items:
        if joined and width(f"{joined[-1]} | {item}") <= inner:
            joined[-1] += f" | {item}"
        else:
            joined.append(item)
    lines = [line for one in joined for line in wrap(_keyed(one), inner)]
    if not boxed:
        return lines
    box, across = box_of(look.display.box_style), look.columns - 2
    bottom = f"{box.bottom_left}{box.bottom * across}{box.bottom_right}"
    return [*(in_frame(line, look) for line in ((), *lines)), ((bottom, "frame"),)]


_KEY = re.compile(r"(\[[^\]]+\]|(?:^|(?<=\| ))[^\[|:]+(?=: ))")


def _keyed(text: str) -> Line:
    """Keys and what they do; the keys stand out."""
    parts = _KEY.split(text)
    return tuple((part, "key" if at % 2 else "") for at, part in enumerate(parts) if part)


def _keys(state: State, look: Look, rows: int) -> str:
    """The keys of the screen, in the words of the display rules where they have some."""
    screen = state.screen
    if screen is Screen.WORDS:
        own = {Asked.WORDS: " | Ctrl-E: your editor", Asked.LINE: " | Up, Down: another line"}
        return f"Enter: done | Esc: back{own.get(state.asked, '')}"
    hidden = state.seat.hidden if state.seat else ()
    ended = state.seat is not None and state.seat.ended
    edit = "" if ended or "e" in hidden else " | [e] edit"
    match screen:
        case Screen.PANEL:
            return _panel_keys(state, look, rows)
        case Screen.VIEW:
            path = state.chosen.path.lower() if state.chosen else ""
            form = f" | [m] {'source' if state.rendered else 'rendered'}"
            form = form if path.endswith(MARKDOWN) else ""
            more = f" | [c] comment{form} | [/] search | [o] pager"
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
    fits = look.flows or rows + 2 <= look.rows  # what flows is printed whole
    if waits and fits:
        return rest
    ended = state.seat is not None and state.seat.ended
    shown = [key for key in offered(look.options) if not ended or key in "vd"]
    keys = " | ".join(f"[{key}] {SHORT[key]}" for key in shown)
    return f"{keys} | {rest}" + ("" if fits else " | [space] more")
