"""Lines made of styled spans: wrapped by the cells of a terminal, framed, and turned into ANSI.

The text of a span is safe already (`ui/sanitise.py`) and is never read as markup. A style is the
name of a slot (`ui/look.py`) or a style of rich, "" for none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from gitgate.core.policy import BoxStyle
from gitgate.ui.sanitise import width

if TYPE_CHECKING:
    from rich.box import Box
    from rich.style import Style

Span = tuple[str, "str | Style"]
Line = tuple[Span, ...]

NARROWEST = 20
"""Cells below which nothing is made narrower: the terminal cuts what does not fit."""


def text_of(line: Line) -> str:
    """A line without its styles."""
    return "".join(text for text, _ in line)


def apart(text: str, style: str | Style) -> Line:
    """`text` in a style that the blanks around it do not have: it may be reversed or underlined."""
    shown = text.strip(" ")
    before, _, after = text.partition(shown) if shown else (text, "", "")
    return tuple(span for span in ((before, ""), (shown, style), (after, "")) if span[0])


def cells(line: Line) -> int:
    """How many cells of a terminal a line takes."""
    return sum(width(text) for text, _ in line)


def wrap(line: Line, columns: int, hang: int = 0, *, words: bool = True) -> list[Line]:
    """A line as lines of at most `columns` cells, all but the first indented by `hang` blanks.

    Breaks at blanks, and inside what is longer than a line; no character is lost but the blanks
    at a break. Without `words` it breaks where the line is full and loses nothing.
    """
    if cells(line) <= columns:
        return [line]
    hang = min(hang, columns // 2)
    wrapped: list[Line] = []
    rest = line
    while True:
        room = columns if not wrapped else columns - hang
        head, rest = _split(rest, room, words=words)
        wrapped.append(((" " * hang, ""), *head) if wrapped else head)
        if not rest:
            return wrapped


def _split(line: Line, room: int, *, words: bool) -> tuple[Line, Line]:
    """The part of `line` that fits into `room` cells, at least one character, and the rest."""
    text = text_of(line)
    end = _fitting(text, room)
    if end >= len(text):
        return line, ()
    # A break in the last two thirds: a long path after a short word starts on the same line.
    blank = text.rfind(" ", room // 3, end + 1) if words else -1
    cut, begin = (blank, blank + 1) if blank > 0 else (end, end)
    return _part(line, 0, cut), _part(line, begin, len(text))


def _fitting(text: str, room: int) -> int:
    """How many characters of `text` fit; what has no width stays with what is before it."""
    if text.isascii():
        return max(room, 1)
    used = 0
    for at, char in enumerate(text):
        used += width(char)
        if used > room and at:
            return at
    return len(text)


def _part(line: Line, start: int, end: int) -> Line:
    found: list[Span] = []
    at = 0
    for text, style in line:
        piece = text[max(start - at, 0) : max(end - at, 0)]
        if piece:
            found.append((piece, style))
        at += len(text)
    return tuple(found)


def fill(line: Line, columns: int) -> Line:
    """A line with blanks up to `columns` cells."""
    missing = columns - cells(line)
    return (*line, (" " * missing, "")) if missing > 0 else line


def framed(sections: Sequence[Sequence[Line]], style: BoxStyle, columns: int) -> list[Line]:
    """Sections in one frame, with a rule between them; lines fit into `columns` - 4 cells."""
    box, inner = box_of(style), columns - 2
    edge: Span = (box.mid_left, "frame")
    other: Span = (box.mid_right, "frame")
    rule: Line = ((f"{box.row_left}{box.row_horizontal * inner}{box.row_right}", "frame"),)
    lines: list[Line] = [((f"{box.top_left}{box.top * inner}{box.top_right}", "frame"),)]
    for number, section in enumerate(sections):
        if number:
            lines.append(rule)
        for line in section:
            body = fill(((" ", ""), *line), inner)
            lines.append((edge, *body, other))
    return [*lines, ((f"{box.bottom_left}{box.bottom * inner}{box.bottom_right}", "frame"),)]


def box_of(style: BoxStyle) -> Box:
    """The characters of a frame."""
    from rich import box

    return {
        BoxStyle.SINGLE: box.SQUARE,
        BoxStyle.DOUBLE: box.DOUBLE,
        BoxStyle.ROUND: box.ROUNDED,
        BoxStyle.BOLD: box.HEAVY,
    }[style]


def ansi(lines: Iterable[Line], palette: Mapping[str, Style] | None) -> list[str]:
    """Lines for a terminal; without a palette they have no escape sequence at all."""
    if palette is None:
        return [text_of(line) for line in lines]
    from rich.color import ColorSystem

    system = ColorSystem.TRUECOLOR
    return [
        "".join(
            style.render(text, color_system=system)
            if (style := palette.get(named) if isinstance(named, str) else named)
            else text
            for text, named in line
        )
        for line in lines
    ]
