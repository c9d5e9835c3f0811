"""The text of a note: signed records, one after another (design, section 4)."""

from __future__ import annotations

import re

_OTHER = re.compile(rb"[^\n]")
_START = re.compile(rb"\n\nobject [0-9a-f]{40}\ntype ")


def split_note(data: bytes) -> list[bytes]:
    """The records of one note, in order, in linear time.

    A record ends with the last line of an armor, before a blank line, the next `object` line or
    the end of the note. What is no record comes out as a piece of its own: `parse` names its
    defect.
    """
    pieces: list[bytes] = []
    start = _behind_newlines(data, 0)
    while start < len(data):
        end = _end_of_record(data, start)
        while cut := _next_record(data, start, end):
            pieces.append(data[start : cut - 1])
            start = cut
        pieces.append(data[start:end])
        start = _behind_newlines(data, end)
    return pieces


def _next_record(data: bytes, start: int, end: int) -> int:
    """Where a record begins inside of data[start:end] that cannot be part of this one; 0: nowhere.

    The text of a record may hold what looks like another; its armor, or a human's words, may not.
    """
    begin = start
    if data.startswith(b"object ", start):
        begin = data.find(b"\n-----BEGIN ", start, end)
    found = _START.search(data, begin, end) if begin >= 0 else None
    return found.start() + 2 if found else 0


def _behind_newlines(data: bytes, at: int) -> int:
    found = _OTHER.search(data, at)
    return found.start() if found else len(data)


def _end_of_record(data: bytes, start: int) -> int:
    """The offset behind the first armor's last line that nothing but a new record follows."""
    at = data.find(b"\n-----END ", start)
    while at >= 0:
        newline = data.find(b"\n", at + 1)
        if newline < 0:
            return len(data)
        end = newline + 1
        if end == len(data) or data.startswith((b"\n", b"object "), end):
            return end
        at = data.find(b"\n-----END ", newline)
    return len(data)
