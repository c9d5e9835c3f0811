"""What differs between two trees, file by file, and the patches of the files.

Paths, modes and ids come from the trees themselves, patches and counts from libgit2 over the bytes
of the blobs, so no attribute, driver, text conversion or setting has a say (design, section 10).
Renames are git's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import pygit2

from gitgate.core import remarkable
from gitgate.core.change import File, Measured, Pair, Status
from gitgate.core.merging import Value
from gitgate.core.remarkable import About, Remark
from gitgate.core.summary import NEAR
from gitgate.errors import Exit, GateError
from gitgate.git.merge import GitTrees

MAX_COUNTED = 32 << 20
"""Bytes of a file beyond which its lines are not even counted."""

RENAME_LIMIT = 400
"""Files on a side that are compared by content to find renames; identical ones always are."""

_COUNTED = pygit2.enums.DiffOption.FORCE_TEXT
_SHOWN = _COUNTED | pygit2.enums.DiffOption.INDENT_HEURISTIC
_WORTH_KEEPING = 1 << 20  # bytes of a patch that takes long to make
_MOST_KEPT = 16 << 20
_RAW = re.compile(rb":\d+ \d+ [0-9a-f]+ [0-9a-f]+ ([A-Z])(\d*)")


class Diffs:
    """The diffs between the trees of one repository, with those that its merges made."""

    def __init__(self, trees: GitTrees) -> None:
        self._trees = trees
        self._contents = lru_cache(8)(self._content)
        self._kept: dict[Pair, bytes] = {}

    def pairs(self, old: str, new: str) -> tuple[Pair, ...]:
        """The files that differ between two trees, in the order of their paths.

        Raises GateError (untrusted) for trees that are missing, malformed or beyond all limits.
        """
        found = {
            path: self.pair(path, before, after)
            for path, (before, after) in self._trees.changes(old, new).items()
        }
        added = {path for path, pair in found.items() if pair.status is Status.ADDED}
        if added and any(pair.status is Status.DELETED for pair in found.values()):
            for source, target, similarity in self._renames(old, new):
                before, after = found.get(source), found.get(target)
                if before and after and target in added and before.new is None:
                    found[target] = Pair(before.old, after.new, similarity)
                    del found[source]
        return tuple(found[path] for path in sorted(found))

    def pair(self, path: bytes, old: Value, new: Value) -> Pair:
        """A file before and after at one path."""
        return Pair(_file(path, old), _file(path, new))

    def _renames(self, old: str, new: str) -> Iterator[tuple[bytes, bytes, int]]:
        fields = iter((self._trees.raw_changes(old, new, RENAME_LIMIT) or b"").split(b"\0"))
        for head in fields:
            match = _RAW.fullmatch(head)
            if match is None:
                return
            path = next(fields, b"")
            if match[1] in (b"R", b"C"):
                yield path, next(fields, b""), int(match[2])

    def measure(self, pair: Pair) -> Measured:
        """The counts of a file as `git diff --numstat` gives them, and the remarks on it."""
        old, new = (self._contents(one) if one else (0, b"") for one in (pair.old, pair.new))
        sizes = (old[0], new[0])
        if max(sizes) > MAX_COUNTED:
            said = f"too large to be shown: {_sizes(pair, sizes)}"
            remark = Remark(About.TOO_LARGE, said)
            return Measured(pair, None, None, sizes, False, True, (*_kinds(pair), remark))
        if remarkable.binary(old[1]) or remarkable.binary(new[1]):
            remark = Remark(About.BINARY, f"binary: {_sizes(pair, sizes)}")
            return Measured(pair, None, None, sizes, True, False, (*_kinds(pair), remark))
        if pair.old and pair.new and pair.old.oid == pair.new.oid:
            counts, patch = (0, 0), b""
        else:
            counts, patch = _compare(old[1], new[1], _COUNTED, 0, NEAR)
            if _WORTH_KEEPING < len(patch) <= _MOST_KEPT - sum(map(len, self._kept.values())):
                self._kept[pair] = patch
        remarks = list(_kinds(pair))
        for one in (pair.old, pair.new):
            if one and one.symlink:
                place = "is" if one is pair.new else "was"
                target = (new if one is pair.new else old)[1].decode("utf-8", "surrogateescape")
                remarks.append(Remark(About.SYMLINK, f"it {place} a symbolic link to {target}"))
        before = old[1] if pair.old and pair.old.regular else None
        after = new[1] if pair.new and pair.new.regular else None
        if before is not None or after is not None:
            remarks += remarkable.of_text(before, after, patch)
        return Measured(pair, *counts, sizes, remarks=tuple(remarks))

    def outline(self, pair: Pair) -> bytes:
        """The patch of a file without context, in which changes that are `NEAR` are one hunk."""
        return self._kept.get(pair) or self._patch(pair, 0, NEAR)

    def patch(self, pair: Pair, context: int) -> bytes:
        """The bytes of a file's patch from its first `@@` on, with `context` lines around a
        change; empty where no line differs. Binary content is taken for text."""
        return self._patch(pair, context, 0)

    def _patch(self, pair: Pair, context: int, near: int) -> bytes:
        old, new = (self._contents(one)[1] if one else b"" for one in (pair.old, pair.new))
        return compare(old, new, context, near)

    def content(self, file: File) -> bytes:
        """The content of a file; empty where it is too large, a line with the commit for a
        submodule."""
        return self._contents(file)[1]

    def _content(self, file: File) -> tuple[int, bytes]:
        if file.submodule:
            line = f"Subproject commit {file.oid}\n".encode("ascii")
            return len(line), line
        return self._trees.blob(file.oid, MAX_COUNTED)


def compare(old: bytes, new: bytes, context: int, near: int = 0) -> bytes:
    """The patch between two texts from its first `@@` on."""
    return _compare(old, new, _SHOWN, context, near)[1]


def _compare(
    old: bytes, new: bytes, flags: pygit2.enums.DiffOption, context: int = 0, near: int = 0
) -> tuple[tuple[int, int], bytes]:
    try:
        patch = pygit2.Patch.create_from(old, new, "file", "file", flags, context, near)
        _, added, deleted = patch.line_stats
        data = patch.data or b""
    except (pygit2.GitError, ValueError) as error:
        raise GateError(Exit.UNTRUSTED, f"two texts cannot be compared: {error}") from None
    start = data.find(b"\n@@ ")
    return (added, deleted), data[start + 1 :] if start >= 0 else b""


def _file(path: bytes, value: Value) -> File | None:
    return File(path, value.mode, value.oid) if value else None


def _kinds(pair: Pair) -> Iterator[Remark]:
    """What the modes say."""
    old, new = pair.old, pair.new
    if pair.status is Status.RETYPED and old and new:
        yield Remark(About.TYPE, f"{_kind(old)} becomes {_kind(new)}")
    elif old and new and old.mode != new.mode:
        said = "can be executed now" if new.mode & 0o100 else "cannot be executed any more"
        yield Remark(About.MODE, f"the mode changes from {old.mode:o} to {new.mode:o}: it {said}")
    elif new and not old and new.regular and new.mode & 0o100:
        yield Remark(About.MODE, "the file can be executed")
    if (old and old.submodule) or (new and new.submodule):
        yield Remark(About.SUBMODULE, _submodule(pair))
    if pair.path.rpartition(b"/")[2] == b".gitattributes" and new is not None:
        said = "git's attributes change: elsewhere they can hide or convert what a diff shows"
        yield Remark(About.ATTRIBUTES, said)


def _kind(file: File) -> str:
    if file.symlink:
        return "a symbolic link"
    return "a submodule" if file.submodule else "a file"


def _submodule(pair: Pair) -> str:
    old = pair.old.oid[:12] if pair.old and pair.old.submodule else ""
    new = pair.new.oid[:12] if pair.new and pair.new.submodule else ""
    if old and new:
        return f"a submodule moves from commit {old} to {new}: what that changes is not shown"
    return f"a submodule at commit {new}" if new else f"it was a submodule at commit {old}"


def _sizes(pair: Pair, sizes: tuple[int, int]) -> str:
    if pair.old is None or pair.new is None:
        return f"{sizes[1] if pair.new else sizes[0]:,} bytes"
    return f"{sizes[0]:,} bytes before, {sizes[1]:,} now"
