"""The part of a screen that scrolls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gitgate.ui.paint import Line, Span, text_of

_NEW_FILE = "+++ b/"


@dataclass(frozen=True, slots=True)
class Shown:
    """A line, and which line of an artifact it belongs to; 0 for none."""

    number: int
    line: Line


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

    def number_at(self, top: int) -> int:
        """The line of the artifact that is at `top`, or the next one that is one."""
        return next((one.number for one in self.rows[top : top + 500] if one.number), 0)

    @property
    def last_number(self) -> int:
        """The last line of the artifact; 0 where it has none."""
        return next((one.number for one in reversed(self.rows) if one.number), 0)

    def file_at(self, top: int) -> str:
        """The file of a full diff that is at `top`, as its header names it; "" for none."""
        for one in reversed(self.rows[: top + 1]):
            text = text_of(one.line)
            if text.startswith(_NEW_FILE):
                return text.removeprefix(_NEW_FILE)
        return ""

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
