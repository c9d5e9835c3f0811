"""The part of a screen that scrolls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gitgate.ui.paint import Line, Span, text_of


@dataclass(frozen=True, slots=True)
class Shown:
    """A line as it is drawn, and what it shows: which line of the file at `path`; 0 for none of
    its lines, "" for no file."""

    number: int
    line: Line
    path: str = ""


@dataclass(frozen=True, slots=True)
class Body:
    """All lines of a screen, `height` of which are seen at once."""

    rows: Sequence[Shown] = ()
    height: int = 1

    @property
    def last_top(self) -> int:
        """The first line that is seen when the last one is."""
        return max(len(self.rows) - self.height, 0)

    def seen(self, top: int) -> Sequence[Shown]:
        """The lines that are seen from `top` on."""
        return self.rows[top : top + self.height]

    def place(self, top: int) -> int | None:
        """Which of the lines that are seen from `top` on a comment is about at first: the first
        that is a line of its file, else the first that is of a file; None where none is."""
        seen = range(top, min(top + self.height, len(self.rows)))
        first = next((at for at in seen if self.rows[at].path), None)
        if first is None:
            return None
        path = self.rows[first].path
        mine = (at for at in seen if self.rows[at].path == path and self.rows[at].number)
        return next(mine, first)

    def next_place(self, at: int, way: int) -> int:
        """The nearest line that shows another place than the one at `at`, down (1) or up (-1); `at`
        where there is none."""
        here = self._shows(at)
        others = range(at + way, len(self.rows) if way > 0 else -1, way)
        return next((to for to in others if self._shows(to) not in (here, ("", 0))), at)

    def _shows(self, at: int) -> tuple[str, int]:
        one = self.rows[at]
        return one.path, one.number if one.path else 0

    def numbers(self, path: str) -> set[int]:
        """The lines of a file that are shown."""
        return {one.number for one in self.rows if one.number and one.path == path}

    def paths(self) -> set[str]:
        """The files that something is shown of."""
        return {one.path for one in self.rows if one.path}

    def at(self, path: str, number: int, near: int) -> int:
        """The line that shows a place: the one at `near` if it does, else the first; -1: none."""
        if 0 <= near < len(self.rows) and self._shows(near) == (path, number):
            return near
        return next((at for at in range(len(self.rows)) if self._shows(at) == (path, number)), -1)

    def numbered(self, number: int) -> tuple[int, int]:
        """The first and the last of the lines that have a number."""
        found = [at for at, one in enumerate(self.rows) if one.number == number]
        return (found[0], found[-1]) if found else (0, 0)

    def holding(self, top: int, first: int, last: int) -> int:
        """Where the screen begins, at `top` if it can, so that these lines are seen, `first` at
        any rate."""
        return max(min(max(top, last - self.height + 1), first), 0)

    def find(self, wanted: str, after: int) -> int | None:
        """The next line after `after` that has `wanted`, whatever the case; from the top again
        where there is none; None where it is nowhere."""
        low = wanted.lower()
        hits = [at for at, one in enumerate(self.rows) if low in text_of(one.line).lower()]
        return next((at for at in hits if at > after), hits[0] if hits else None)


def marked(line: Line, wanted: str) -> Line:
    """A line with each place of `wanted` in it, whatever the case, drawn as found."""
    low = wanted.lower()
    spans: list[Span] = []
    for text, style in line:
        rest, lowered = text, text.lower()
        while low and len(lowered) == len(rest) and (at := lowered.find(low)) >= 0:
            spans += [(rest[:at], style), (rest[at : at + len(low)], "found")]
            rest, lowered = rest[at + len(low) :], lowered[at + len(low) :]
        spans.append((rest, style))
    return tuple(span for span in spans if span[0])
