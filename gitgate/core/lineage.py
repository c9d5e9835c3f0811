"""What became of a line that somebody commented on, when the file has changed since."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gitgate.core.change import Place, places
from gitgate.core.decision import Comment
from gitgate.core.structure import has_words


class Fate(StrEnum):
    """Where a commented line is now; the names are those of `--json`."""

    SAME = "same"
    MOVED = "moved"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Carried:
    """The line's number now, None where it is gone."""

    fate: Fate
    line: int | None


@dataclass(frozen=True, slots=True)
class Carry:
    """A comment of an earlier round, and where its line is in the new one, in the file `path`."""

    comment: Comment
    by: str
    iteration: int
    now: Carried
    path: bytes


GONE = Carried(Fate.GONE, None)


def carry(line: int, patch: bytes, old: bytes, new: bytes) -> Carried:
    """Where line `line` of `old` is in `new`; `patch` leads from one to the other, without context.

    A line that was changed is looked for by its content, nearest to where it was. Line 0 is the
    file as a whole.
    """
    if line == 0:
        return Carried(Fate.SAME, 0)
    text = _line(old, line)
    if text is None:
        return GONE
    shift = 0
    for place in places(patch):
        if line < _start(place):
            break
        if line < _start(place) + place.old_length:
            return _by_content(text, line + shift, new)
        shift += place.new_length - place.old_length
    return Carried(Fate.MOVED if shift else Fate.SAME, line + shift)


def _start(place: Place) -> int:
    """The first old line that is gone; of an insertion, the line that follows it."""
    return place.old_start + (place.old_length == 0)


def _line(data: bytes, number: int) -> bytes | None:
    lines = data.removesuffix(b"\n").split(b"\n")
    return lines[number - 1] if data and number <= len(lines) else None


def _by_content(text: bytes, near: int, new: bytes) -> Carried:
    wanted = text.strip()
    if not has_words(wanted.decode("utf-8", "surrogateescape")):
        return GONE
    found = [number for number, line in enumerate(new.split(b"\n"), 1) if line.strip() == wanted]
    if not found:
        return GONE
    return Carried(Fate.MOVED, min(found, key=lambda number: abs(number - near)))
