"""Where two large texts differ: the few stretches that a diff has to look at.

A diff algorithm keeps something for each line of both texts, changed or not. What is left out here
is the same on both sides, is no less than `_LEAST` bytes long, and leaves some lines around every
change, so the hunks stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_LEAST = 64 << 10  # bytes in common between two stretches
_ANCHOR = 256  # bytes that are looked for, at least, to find where both go on alike
_WINDOW = 128 << 10  # bytes in which they are looked for
_STEP = 32  # bytes by which each look is further from the one before than that was
_MOST_FOUND = 200  # differences; after them little is left out
_LINES_AROUND = 8
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Stretch:
    """Whole lines of both texts, by where they begin and end in the bytes."""

    old: int
    old_end: int
    new: int
    new_end: int


def stretches(old: bytes, new: bytes, least: int = _LEAST) -> list[Stretch]:
    """The stretches outside of which both texts are the same, in order."""
    found: list[Stretch] = []
    for one in _differences(old, new):
        if found and one.old - found[-1].old_end < least:
            last = found.pop()
            found.append(Stretch(last.old, one.old_end, last.new, one.new_end))
        else:
            found.append(one)
    wide: list[Stretch] = []
    for one in (_with_lines_around(old, one, len(new), least // 2) for one in found):
        if wide and one.old <= wide[-1].old_end:
            last = wide.pop()
            wide.append(Stretch(last.old, one.old_end, last.new, one.new_end))
        else:
            wide.append(one)
    return wide


def _differences(old: bytes, new: bytes) -> Iterator[Stretch]:
    begin = _line_start(old, _common(old, 0, new, 0))
    tail = _common_tail(old, new, begin)
    old_end, new_end = len(old) - tail, len(new) - tail
    at, to = begin, begin
    for _ in range(_MOST_FOUND):
        if (at, to) == (old_end, new_end):
            return
        met = _meeting(old, at, old_end, new, to, new_end)
        if met is None:
            break
        yield Stretch(at, met[0], to, met[1])
        same = _common(old, met[0], new, met[1], min(old_end - met[0], new_end - met[1]))
        at = met[0] + same
        if (at, met[1] + same) != (old_end, new_end):
            at = _line_start(old, at)
        to = met[1] + at - met[0]
    if (at, to) != (old_end, new_end):
        yield Stretch(at, old_end, to, new_end)


def _common(old: bytes, at: int, new: bytes, to: int, most: int | None = None) -> int:
    """How many bytes are the same from `at` and `to` on."""
    room = min(len(old) - at, len(new) - to) if most is None else most
    done = 0
    while done < room:
        size = min(_CHUNK, room - done)
        if old[at + done : at + done + size] != new[to + done : to + done + size]:
            while size > 1:  # the difference is in this chunk: halve it
                half = size // 2
                same = old[at + done : at + done + half] == new[to + done : to + done + half]
                done, size = (done + half, size - half) if same else (done, half)
            return done
        done += size
    return done


def _common_tail(old: bytes, new: bytes, begin: int) -> int:
    """How many bytes of whole lines are the same at the end of what follows `begin`."""
    room = min(len(old), len(new)) - begin
    done, size = 0, _CHUNK
    while done < room and size:
        part = min(size, room - done)
        one = old[len(old) - done - part : len(old) - done]
        if one == new[len(new) - done - part : len(new) - done]:
            done += part
        else:
            size = part // 2
    start = len(old) - done
    if _starts_line(old, start) and _starts_line(new, len(new) - done):
        return done
    after = old.find(b"\n", start) + 1
    return len(old) - after if after else 0


def _meeting(
    old: bytes, at: int, old_end: int, new: bytes, to: int, new_end: int
) -> tuple[int, int] | None:
    """The nearest place where both go on alike, at the start of a line."""
    start, tried, best, least = at, 0, None, _WINDOW
    while at - start < least and at < old_end:
        end = old.find(b"\n", at + _ANCHOR - 1, old_end) + 1
        if not end:
            break
        block = old[at:end]
        last = min(to + least - (at - start) + len(block), new_end)
        found = new.find(block, to, last)
        while found >= 0 and not _starts_line(new, found):
            found = new.find(block, found + 1, last)
        if found >= 0 and at - start + found - to < least:
            best, least = (at, found), at - start + found - to
        tried += 1
        at = old.find(b"\n", at + tried * _STEP) + 1 or old_end
    return best


def _with_lines_around(old: bytes, one: Stretch, new_length: int, margin: int) -> Stretch:
    """A stretch with what is around it, which is the same in both texts."""
    start, end = one.old, one.old_end
    for _ in range(_LINES_AROUND):
        start = _line_start(old, start - 1) if start else 0
        end = old.find(b"\n", end) + 1 or len(old)
    start = min(start, _line_start(old, max(one.old - margin, 0)))
    end = max(end, old.find(b"\n", min(one.old_end + margin, len(old))) + 1 or len(old))
    new_end = min(one.new_end + end - one.old_end, new_length)
    return Stretch(start, end, one.new - (one.old - start), new_end)


def _starts_line(data: bytes, at: int) -> bool:
    return at == 0 or data[at - 1 : at] == b"\n"


def _line_start(data: bytes, at: int) -> int:
    """The start of the line that the byte `at` is in."""
    return data.rfind(b"\n", 0, at) + 1
