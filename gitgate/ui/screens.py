"""What each screen of a session shows: the lines that scroll."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from gitgate.ui import plain
from gitgate.ui.body import Shown
from gitgate.ui.confirming import confirmation, words_for
from gitgate.ui.look import Look
from gitgate.ui.paint import Line, apart, wrap
from gitgate.ui.panel import panel
from gitgate.ui.preview import Preview
from gitgate.ui.sanitise import safe
from gitgate.ui.sections import GLYPHS, counted
from gitgate.ui.state import Artifact, Screen, State

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


_CURSOR = "cursor"  # no slot: it is drawn in no colour, and found by its name
_UNBROKEN = 1 << 16  # cells: a screen reader reads a fact in one go, and the terminal wraps it


class Source(Protocol):
    """Where a session's texts come from."""

    def preview(self, artifact: Artifact) -> Preview:
        """An artifact of the work commit."""

    def changes(self, columns: int, *, full: bool) -> Sequence[Shown]:
        """What changed since the previous iteration; in full with the lines of the new files."""


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
    if screen in (Screen.LIST, Screen.ARTIFACTS):
        entries = _listed(state, look) if screen is Screen.LIST else _artifacts(state, look)
        inner = inner if screen is Screen.ARTIFACTS else _UNBROKEN
        return [
            Shown(at, line)
            for at, entry in enumerate(entries, start=1)
            for line in wrap(entry, inner, 6)
        ]
    if screen is Screen.WORDS:
        return _asked(state, look, inner)
    return [Shown(0, line) for line in _lines(state, screen, look, inner)]


def _lines(state: State, screen: Screen, look: Look, inner: int) -> Sequence[Line]:
    seat = state.seat
    match screen:
        case Screen.PANEL if seat is not None:
            return panel(seat.doc, look, session=True)
        case Screen.HELP:
            return [line for one in _help(look) for line in wrap(one, inner, 14)]
        case Screen.CONFIRM:
            return [line for one in confirmation(state) for line in wrap(one, inner, 4)]
        case _:
            return [line for one in state.told for line in wrap(((one, ""),), inner, 2)]


def _in_words(rows: Sequence[Shown]) -> list[Shown]:
    return [
        replace(one, line=tuple((text.replace(" → ", " to "), style) for text, style in one.line))
        for one in rows
    ]


def _asked(state: State, look: Look, inner: int) -> list[Shown]:
    """What is asked and what is typed; the row with the cursor has the number 1."""
    rows = [Shown(0, line) for one in (*words_for(state), ()) for line in wrap(one, inner)]
    if look.flows:
        return rows
    text, at = state.typed.text, state.typed.at
    *above, before = safe(text[:at], multiline=True).split("\n")
    after, *below = safe(text[at:], multiline=True).split("\n")
    here: Line = ((before, ""), ("▏", _CURSOR), (after, ""))
    typed = [*(((line, ""),) for line in above), here, *(((line, ""),) for line in below)]
    lines = [line for one in typed for line in wrap(one, inner)]
    return rows + [Shown(int(any(style == _CURSOR for _, style in one)), one) for one in lines]


def _listed(state: State, look: Look) -> Iterator[Line]:
    rows = plain.table(state.waiting, look.columns - 5)
    for at, row in enumerate(rows):
        mark = f"{at + 1}: " if look.accessible else _mark(state, look, at)
        yield (*apart(mark, "key"), (row, "title" if at == state.content.at else ""))


def _help(look: Look) -> Iterator[Line]:
    yield (("The keys", "heading"),)
    for keys, meaning in _HELP:
        named = f"{keys}: " if look.accessible else f"{keys:<12}  "
        yield (*apart(named, "key"), (meaning, ""))


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
        between = ": " if look.accessible else "  "
        about = f"{between}{safe(one.about)}" if one.about else ""
        slot = {"validated": "good"}.get(one.status, one.status)
        if look.accessible:
            yield ((f"{at + 1}: {one.status}: {safe(one.path)}{said}{about}", ""),)
            continue
        mark = _mark(state, look, at)
        glyph = GLYPHS.get(one.status, " ")
        marked = (*apart(mark, "key"), *apart(f"{glyph} ", slot))
        yield (*marked, (safe(one.path) + said, ""), (about, "dim"))


def _mark(state: State, look: Look, at: int) -> str:
    """The sign of the chosen line; the number of each where a number is typed."""
    return f"{at + 1}: " if look.flows else "▶ " if at == state.content.at else "  "
