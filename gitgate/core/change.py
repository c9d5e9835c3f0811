"""What changed between two trees, as values: files, their statistics, hunks and lines.

Hunks are read by unidiff, behind a header of our own: it reads hunks well and the headers of files
badly (design, section 10). What it read is checked against the counts that libgit2 gave.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gitgate.core.remarkable import Remark

_KIND = 0o170000
_SUBMODULE = 0o160000
_SYMLINK = 0o120000
_REGULAR = 0o100000

_HEADER = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$", re.MULTILINE)
_SYNTHETIC = ("--- a/file\n", "+++ b/file\n")
_LONGEST_PIECE = 2_000  # lines of a hunk that are read at once


class Status(StrEnum):
    """What happened to a file; one that only moved is renamed, whatever else changed in it."""

    ADDED = "added"
    DELETED = "deleted"
    MODIFIED = "modified"
    RENAMED = "renamed"
    RETYPED = "type-changed"


@dataclass(frozen=True, slots=True)
class File:
    """A file of one tree: a blob, or the commit of a submodule."""

    path: bytes
    mode: int
    oid: str

    @property
    def symlink(self) -> bool:
        return self.mode & _KIND == _SYMLINK

    @property
    def submodule(self) -> bool:
        return self.mode & _KIND == _SUBMODULE

    @property
    def regular(self) -> bool:
        return self.mode & _KIND == _REGULAR


@dataclass(frozen=True, slots=True)
class Pair:
    """A file before and after; at least one of the two is there.

    `similarity` in percent is given where git calls it a rename.
    """

    old: File | None
    new: File | None
    similarity: int | None = None

    @property
    def path(self) -> bytes:
        """Where the file is now, or was before it was deleted."""
        one = self.new or self.old
        return one.path if one else b""

    @property
    def status(self) -> Status:
        if self.old is None or self.new is None:
            return Status.DELETED if self.old else Status.ADDED
        if self.old.path != self.new.path:
            return Status.RENAMED
        return Status.RETYPED if (self.old.mode ^ self.new.mode) & _KIND else Status.MODIFIED


@dataclass(frozen=True, slots=True)
class Measured:
    """A file of a change with its statistics; lines are counted as `git diff --numstat` does.

    `added` and `deleted` are None for a binary file and for one that is too large to be counted;
    `sizes` are bytes before and after.
    """

    pair: Pair
    added: int | None
    deleted: int | None
    sizes: tuple[int, int]
    binary: bool = False
    too_large: bool = False
    remarks: tuple[Remark, ...] = ()

    @property
    def lines(self) -> int:
        """How many lines were added and deleted, as far as that is known."""
        return (self.added or 0) + (self.deleted or 0)


@dataclass(frozen=True, slots=True)
class Totals:
    """The statistics of a change."""

    added: int = 0
    deleted: int = 0
    modified: int = 0
    renamed: int = 0
    insertions: int = 0
    deletions: int = 0
    uncounted: int = 0

    @property
    def files(self) -> int:
        return self.added + self.deleted + self.modified + self.renamed


def totals(files: Sequence[Measured]) -> Totals:
    """A file whose type changed is a modified one."""
    by = [file.pair.status for file in files]
    return Totals(
        added=by.count(Status.ADDED),
        deleted=by.count(Status.DELETED),
        modified=by.count(Status.MODIFIED) + by.count(Status.RETYPED),
        renamed=by.count(Status.RENAMED),
        insertions=sum(file.added or 0 for file in files),
        deletions=sum(file.deleted or 0 for file in files),
        uncounted=sum(file.added is None for file in files),
    )


@dataclass(frozen=True, slots=True)
class Line:
    r"""A line of a hunk: `kind` is " ", "-", "+", or "\" for the missing newline at the end.

    `old` and `new` count from 1. Bytes that are not UTF-8 are surrogates in `text`.
    """

    kind: str
    old: int | None
    new: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that belong together; `section` is the line above that git would name.

    `continued` is a further piece of a long hunk.
    """

    old_start: int
    old_length: int
    new_start: int
    new_length: int
    section: str
    lines: tuple[Line, ...]
    continued: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a hunk is in the bytes of a patch, and what its header says."""

    start: int
    end: int
    old_start: int
    old_length: int
    new_start: int
    new_length: int

    @property
    def size(self) -> int:
        return self.old_length + self.new_length


def places(patch: bytes) -> Iterator[Place]:
    """The hunks of a file's patch, from its first `@@` on, without reading their lines."""
    header = _HEADER.search(patch)
    while header is not None:
        following = _HEADER.search(patch, header.end())
        end = following.start() if following else len(patch)
        yield Place(header.start(), end, *_numbers(header))
        header = following


def _numbers(header: re.Match[bytes]) -> tuple[int, int, int, int]:
    old, old_length, new, new_length, _ = header.groups()
    return (
        int(old),
        1 if old_length is None else int(old_length),
        int(new),
        1 if new_length is None else int(new_length),
    )


def hunks(patch: bytes) -> Iterator[Hunk]:
    """The hunks of a file's patch, each read when it is asked for, a long one in pieces.

    Raises ValueError, with a phrase, where a hunk is not what its header says.
    """
    for place in places(patch):
        yield from read_hunk(patch, place.start, place.end)


def read_hunk(
    patch: bytes, start: int = 0, end: int | None = None, *, cut: bool = False
) -> Iterator[Hunk]:
    """The hunk in a part of `patch`, in pieces where it is long, each read when it is asked for;
    `cut` says that there is more of it than this part.

    Raises ValueError, with a phrase, where it is not what its header says.
    """
    end = len(patch) if end is None else end
    match = _HEADER.match(patch, start, end)
    if match is None:
        raise ValueError("a hunk has no header")
    old, old_length, new, new_length = _numbers(match)
    section = match[5].decode("utf-8", "surrogateescape")
    body = match.end() + 1
    stop = _piece_end(patch, body, end)
    if _piece_end(patch, stop, end) == stop and not cut:
        header = match[0].decode("utf-8", "surrogateescape")
        yield _parse(f"{header}\n", _lines(patch[body:stop]), continued=False)
        return
    # A side without lines is named by the line before it (the unified format of diffutils).
    old, new = old + (old_length == 0), new + (new_length == 0)
    at = body
    while at < stop:
        piece = _lines(patch[at:stop])
        removed = sum(line[0] in " -" for line in piece)
        added = sum(line[0] in " +" for line in piece)
        if removed + added == 0:  # just the remark that the newline is missing
            yield Hunk(old, 0, new, 0, "", (Line("\\", None, None, piece[0][2:-1]),), True)
        else:
            numbers = f"-{old - (removed == 0)},{removed} +{new - (added == 0)},{added}"
            yield _parse(f"@@ {numbers} @@{section}\n", piece, continued=at > body)
        old, new = old + removed, new + added
        at, stop = stop, _piece_end(patch, stop, end)


def _piece_end(patch: bytes, start: int, end: int) -> int:
    """Where the lines end that are read at once from `start` on."""
    for _ in range(_LONGEST_PIECE):
        found = patch.find(b"\n", start, end)
        if found < 0:
            break
        start = found + 1
    return start


def _lines(data: bytes) -> list[str]:
    return [f"{line}\n" for line in data.decode("utf-8", "surrogateescape").split("\n")[:-1]]


def _parse(header: str, body: list[str], *, continued: bool) -> Hunk:
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    try:
        (file,) = PatchSet(iter((*_SYNTHETIC, header, *body)))
        (found,) = file
    except (UnidiffParseError, ValueError) as error:
        raise ValueError(f"a hunk cannot be read: {error}") from None
    lines = tuple(
        Line(
            line.line_type,
            line.source_line_no,
            line.target_line_no,
            line.value.removesuffix("\n").removeprefix(" " if line.line_type == "\\" else ""),
        )
        for line in found
    )
    kinds = [line.kind for line in lines]
    if len(lines) != len(body):
        raise ValueError("a hunk has other lines than its header says")
    context = kinds.count(" ")
    if (kinds.count("-") + context, kinds.count("+") + context) != (
        found.source_length,
        found.target_length,
    ):
        raise ValueError("a hunk has other lines than its header says")
    return Hunk(
        found.source_start,
        found.source_length,
        found.target_start,
        found.target_length,
        found.section_header,
        lines,
        continued,
    )


def counts(hunk: Hunk) -> tuple[int, int]:
    """How many lines a hunk adds and deletes."""
    kinds = [line.kind for line in hunk.lines]
    return kinds.count("+"), kinds.count("-")
