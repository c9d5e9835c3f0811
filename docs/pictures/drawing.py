"""Draws a terminal's screen as an SVG that looks alike in every viewer.

Each word stands at its own cell and frames are drawn as lines, so nothing depends on how wide a
font is or on what a viewer makes of blanks; nothing is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import NamedTuple

from rich.cells import cell_len
from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text

WIDE, HIGH, SIZE = 9.64, 20, 16
_EDGE = 14

# Which of its four sides a sign of a frame reaches: left, right, up, down.
_FRAME = {
    "─": "lr",
    "│": "ud",
    "┌": "rd",
    "┐": "ld",
    "└": "ru",
    "┘": "lu",
    "├": "rud",
    "┤": "lud",
    "╭": "rd",
    "╮": "ld",
    "╰": "ru",
    "╯": "lu",
}
_ROUND = "╭╮╰╯"


class Theme(NamedTuple):
    """A terminal's colours."""

    background: str
    text: str
    dim: str
    edge: str
    ansi: TerminalTheme


def _theme(background: str, text: str, dim: str, edge: str, colors: str) -> Theme:
    parts = [tuple(bytes.fromhex(one)) for one in colors.split()]
    ansi = TerminalTheme((0, 0, 0), (0, 0, 0), parts[:8], parts[8:] or None)  # type: ignore[arg-type]
    return Theme(background, text, dim, edge, ansi)


# Colours as common terminals have them, not chosen to flatter.
DARK = _theme(
    "#1e1e1e",
    "#d4d4d4",
    "#8a8a8a",
    "#3d3d3d",
    "000000 f14c4c 23d18b e5e510 3b8eea d670d6 29b8db e5e5e5",
)
LIGHT = _theme(
    "#ffffff",
    "#1f2328",
    "#6b7075",
    "#d1d9e0",
    "000000 cd3131 107c10 949800 0451a5 bc05bc 0598bc 555555",
)


def draw(lines: Iterable[str], path: Path, theme: Theme, columns: int) -> None:
    """Write the screen of these lines, which have a terminal's escape sequences."""
    rows = [Text.from_ansi(line) for line in lines]
    while rows and not rows[-1].plain.strip():
        rows.pop()
    width, height = round(columns * WIDE + 2 * _EDGE), len(rows) * HIGH + 2 * _EDGE
    console = Console(color_system="truecolor", width=10_000, _environ={})
    body = [one for at, row in enumerate(rows) for one in _row(row, at, theme, console)]
    words = escape("\n".join(row.plain.rstrip() for row in rows))
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" role="img">\n'
        f"<desc>{words}</desc>\n"
        '<style>text { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;'
        f" font-size: {SIZE}px; white-space: pre }}</style>\n"
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"'
        f' fill="{theme.background}" stroke="{theme.edge}"/>\n' + "\n".join(body) + "\n</svg>\n",
        encoding="utf-8",
    )


def _row(row: Text, at: int, theme: Theme, console: Console) -> Iterable[str]:
    cell, top = 0, _EDGE + at * HIGH
    frame: dict[str, list[str]] = {}
    for text, style, _ in Segment.simplify(row.render(console, end="")):
        front, back = _colors(style or Style(), theme)
        if back != theme.background:
            size = f'width="{cell_len(text) * WIDE:.1f}" height="{HIGH}"'
            yield f'<rect x="{_x(cell)}" y="{top}" {size} fill="{back}"/>'
        for word in re.finditer(r"\S+", text):
            start = cell + cell_len(text[: word.start()])
            for drawn, piece, place in _pieces(word[0], start):
                if drawn:
                    frame.setdefault(front, []).append(_strokes(piece, place, top))
                else:
                    yield _word(piece, place, top, front, style or Style())
        cell += cell_len(text)
    for color, strokes in frame.items():
        yield f'<path d="{"".join(strokes)}" stroke="{color}" fill="none" stroke-linecap="square"/>'


def _pieces(word: str, cell: int) -> Iterable[tuple[bool, str, int]]:
    signs = "".join(_FRAME)
    for piece in re.findall(f"─+|[{signs}]|[^{signs}]+", word):
        yield piece[0] in _FRAME, piece, cell
        cell += cell_len(piece)


def _strokes(piece: str, cell: int, top: int) -> str:
    if piece[0] == "─":
        return f"M{_x(cell)} {top + HIGH / 2}H{_x(cell + len(piece))}"
    x, y = _x(cell + 0.5), top + HIGH / 2
    ends = {"l": (_x(cell), y), "r": (_x(cell + 1), y), "u": (x, top), "d": (x, top + HIGH)}
    if piece in _ROUND:
        (x1, y1), (x2, y2) = (ends[side] for side in _FRAME[piece])
        return f"M{x1} {y1}Q{x} {y} {x2} {y2}"
    return "".join(f"M{x} {y}L{ends[side][0]} {ends[side][1]}" for side in _FRAME[piece])


def _word(word: str, cell: int, top: int, color: str, style: Style) -> str:
    about = f' fill="{color}"'
    about += ' font-weight="bold"' if style.bold else ""
    about += ' font-style="italic"' if style.italic else ""
    about += ' text-decoration="underline"' if style.underline else ""
    length = f' textLength="{cell_len(word) * WIDE:.1f}"' if len(word) > 1 else ""
    return f'<text x="{_x(cell)}" y="{top + 15}"{length}{about}>{escape(word)}</text>'


def _colors(style: Style, theme: Theme) -> tuple[str, str]:
    front = _color(style.color, theme, theme.dim if style.dim else theme.text)
    back = _color(style.bgcolor, theme, theme.background)
    return (back, front) if style.reverse else (front, back)


def _color(color: Color | None, theme: Theme, usual: str) -> str:
    return usual if color is None or color.is_default else color.get_truecolor(theme.ansi).hex


def _x(cell: float) -> str:
    return f"{_EDGE + cell * WIDE:.1f}"
