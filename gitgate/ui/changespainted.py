"""What changed, as a session paints it: the summary, or every line of the diff."""

from __future__ import annotations

import re
from functools import lru_cache

from gitgate.core.quoting import path_text
from gitgate.ui.body import Shown
from gitgate.ui.fulldiff import Row
from gitgate.ui.paint import Line, wrap

_FULL = {
    "title": "title",
    "meta": "heading",
    "frag": "changed",
    "old": "old",
    "new": "new",
}
_SUMMARY = {
    "  + ": "new",
    "  - ": "old",
    "  ~ ": "changed",
    "Changes from": "title",
}
_path = lru_cache(maxsize=8)(path_text)  # one text for all rows of a file
_SAID = re.compile(r"(?:  )?(?:note|comment):(?= )")


def summarised(line: str, columns: int) -> list[Shown]:
    """A line of the summary; it is about no line of a file."""
    slot = next((slot for start, slot in _SUMMARY.items() if line.startswith(start)), "")
    drawn = _noted(line) or ((line, slot),)
    return [Shown(0, row) for row in wrap(drawn, columns, words=False)]


def painted(row: Row, columns: int) -> list[Shown]:
    """A line of the full diff in all the rows that it takes, each with the place that it shows."""
    drawn = (_noted(row.text) if row.kind == "said" else ()) or (
        (row.text, _FULL.get(row.kind, "")),
    )
    path = _path(row.path)
    return [Shown(row.number, one, path) for one in wrap(drawn, columns, words=False)]


def _noted(text: str) -> Line:
    """A note with its first word set off; empty where it is none."""
    note = _SAID.match(text)
    return ((note[0], "warning"), (text[note.end() :], "")) if note else ()
