"""Screens onto a terminal: painted over one another, or one after another.

Where screens are painted over, each is written at once; where they follow one another
(`auto_clear: false`, accessible, a dumb terminal) nothing but colours is an escape sequence, and
a page of a text is printed once.
"""

from __future__ import annotations

from gitgate.ui.body import marked
from gitgate.ui.keys import Terminal
from gitgate.ui.look import Look
from gitgate.ui.pages import Page, in_frame
from gitgate.ui.paint import Line, ansi, cells, text_of, wrap

_ENTER = "\x1b[?1049h\x1b[2J\x1b[H"
_LEAVE = "\x1b[H\x1b[J\x1b[?25h\x1b[?1049l"
_TOP, _TO_END, _BELOW = "\x1b[?25l\x1b[H", "\x1b[K", "\x1b[J"


class Stage:
    """What is painted on; `flows`: one screen after another."""

    def __init__(self, terminal: Terminal, *, flows: bool) -> None:
        self.terminal = terminal
        self.flows = flows
        self._entered = False
        self._last: tuple[object, ...] = ()
        self._printed: set[tuple[object, ...]] = set()

    def enter(self) -> None:
        """Take the screen."""
        if not self.flows and not self._entered:
            self.terminal.write(_ENTER)
            self._entered = True

    def leave(self) -> None:
        """Give the screen back as it was."""
        if self._entered:
            self.terminal.write(_LEAVE)
            self._entered = False

    def forget(self) -> None:
        """Print the next screen whatever was printed last."""
        self._last = ()

    def paint(self, page: Page, look: Look, wanted: str = "") -> None:
        """Show a page, with what is searched for and what is pointed to marked."""
        seen = [
            marked(one.line, wanted) if at != page.pointed else ((text_of(one.line), "found"),)
            for at, one in enumerate(page.body.seen(page.top), start=page.top)
        ]
        if page.boxed:
            seen = [in_frame(line, look) for line in seen]
        if self.flows:
            self._flow(page, look, page.top, seen)
            return
        self._over([*page.head, *seen, *page.foot], look, page)

    def _over(self, lines: list[Line], look: Look, page: Page) -> None:
        self.enter()
        rows = ansi([_cut(line, look.columns) for line in lines[: look.rows]], look.palette)
        text = f"{_TO_END}\r\n".join(rows)
        after = _BELOW
        if page.prompt is not None:
            up, column = page.cursor
            row = max(min(len(lines), look.rows) - up, 1)
            after += f"\x1b[{row};{min(column, look.columns - 1) + 1}H\x1b[?25h"
        self.terminal.write(f"{_TOP}{text}{_TO_END}{after}")

    def _flow(self, page: Page, look: Look, top: int, seen: list[Line]) -> None:
        """Only what is new: the same text is not printed twice."""
        now = (page.head, top, tuple(seen))
        foot = page.foot if page.prompt is None else page.foot[:-1]  # it is typed after it
        lines = [*foot] if now == self._last else [*page.head, *seen, *foot]
        if page.again and now in self._printed and now != self._last:
            lines = [*page.again, *foot]
        self._last = now
        if page.again:
            self._printed.add(now)
        printed = [row for row in ansi(lines, look.palette) if row.strip()]
        self.terminal.write("".join(f"{row}\n" for row in printed))


def _cut(line: Line, columns: int) -> Line:
    """A line that is never wider than the terminal, whatever made it."""
    if cells(line) <= columns:
        return line
    return wrap(line, columns, words=False)[0]
