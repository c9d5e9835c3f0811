"""The patch between two texts: libgit2's, without the memory that it need not take.

libgit2 keeps some 110 bytes for each line of both texts, whether it changed or not. A text that is
new or gone needs none of that, and of two large texts it gets only the stretches that differ.
"""

from __future__ import annotations

import re

import pygit2

from gitgate.core.alike import stretches
from gitgate.errors import Exit, GateError

COUNTED = pygit2.enums.DiffOption.FORCE_TEXT
SHOWN = COUNTED | pygit2.enums.DiffOption.INDENT_HEURISTIC

_LARGE = 4 << 20  # bytes of both texts
_HEADER = re.compile(rb"^@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@", re.MULTILINE)

Counts = tuple[int, int]
"""How many lines are added, and how many deleted."""


def compare(old: bytes, new: bytes, context: int, near: int = 0) -> bytes:
    """The patch between two texts from its first `@@` on, as a person reads it best."""
    return counted(old, new, context, near, SHOWN)[1]


def counted(
    old: bytes, new: bytes, context: int, near: int, flags: pygit2.enums.DiffOption
) -> tuple[Counts, bytes]:
    """The patch between two texts, and the lines that it adds and deletes.

    `context` lines are around each change; of changes that are `near`, both are in one hunk.
    The line that git names behind a header is looked for in the stretch, so far above a change in
    a large text it is not found. Raises GateError (untrusted) where libgit2 cannot compare them.
    """
    if not old or not new:
        return one_side(old, new)
    if len(old) + len(new) <= _LARGE:
        return _hunks(*_library(old, new, context, near, flags))
    added = deleted = above_old = above_new = 0
    last_old = last_new = 0
    pieces: list[bytes] = []
    for one in stretches(old, new):
        above_old += old.count(b"\n", last_old, one.old)
        above_new += new.count(b"\n", last_new, one.new)
        last_old, last_new = one.old, one.new
        sides = old[one.old : one.old_end], new[one.new : one.new_end]
        (more, less), patch = _hunks(*_library(*sides, context, near, flags))
        added, deleted = added + more, deleted + less
        pieces.append(_further_down(patch, above_old, above_new))
    return (added, deleted), b"".join(pieces)


def _library(
    old: bytes, new: bytes, context: int, near: int, flags: pygit2.enums.DiffOption
) -> tuple[Counts, bytes]:
    try:
        patch = pygit2.Patch.create_from(old, new, "file", "file", flags, context, near)
        _, added, deleted = patch.line_stats
        return (added, deleted), patch.data or b""
    except (pygit2.GitError, ValueError) as error:
        raise GateError(Exit.UNTRUSTED, f"two texts cannot be compared: {error}") from None


def _hunks(counts: Counts, data: bytes) -> tuple[Counts, bytes]:
    """What is behind the header of the file."""
    start = data.find(b"\n@@ ")
    return counts, data[start + 1 :] if start >= 0 else b""


def _further_down(patch: bytes, old: int, new: int) -> bytes:
    """The patch of a part that has so many lines above it."""
    if not old and not new:
        return patch

    def moved(header: re.Match[bytes]) -> bytes:
        numbers = int(header[1]) + old, header[2], int(header[3]) + new, header[4]
        return b"@@ -%d%s +%d%s @@" % numbers

    return _HEADER.sub(moved, patch)


def one_side(old: bytes, new: bytes) -> tuple[Counts, bytes]:
    """The patch where one of the two is empty: all lines of the other."""
    text, sign = (new, b"+") if new else (old, b"-")
    if not text:
        return (0, 0), b""
    whole = text.endswith(b"\n")
    count = text.count(b"\n") + (not whole)
    span = b"1" if count == 1 else b"1,%d" % count
    header = b"@@ -0,0 +%s @@\n" % span if new else b"@@ -%s +0,0 @@\n" % span
    lines = text.removesuffix(b"\n").replace(b"\n", b"\n" + sign)
    ending = b"\n" if whole else b"\n\\ No newline at end of file\n"
    patch = b"".join((header, sign, lines, ending))
    return ((count, 0) if new else (0, count)), patch
