"""What differs between two trees, file by file, and the patches of the files.

Paths, modes and ids come from the trees themselves, patches and counts from libgit2 over the bytes
of the blobs, so no attribute, driver, text conversion or setting has a say (design, section 10).
Renames are git's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitgate.core import remarkable
from gitgate.core.change import File, Measured, Pair, Status
from gitgate.core.merging import Value
from gitgate.core.remarkable import About, Remark
from gitgate.core.summary import NEAR
from gitgate.git.merge import GitTrees
from gitgate.git.patches import COUNTED, SHOWN, compare, counted

MAX_COUNTED = 32 << 20
"""Bytes of a file beyond which its lines are not even counted."""

RENAME_LIMIT = 400
"""Files on a side that are compared by content to find renames; identical ones always are."""

_WORTH_KEEPING = 1 << 20  # bytes of a patch that takes long to make
_MOST_KEPT = 16 << 20
_RAW = re.compile(rb":\d+ \d+ [0-9a-f]+ [0-9a-f]+ ([A-Z])(\d*)")


class Diffs:
    """The diffs between the trees of one repository, with those that its merges made."""

    def __init__(self, trees: GitTrees) -> None:
        self._trees = trees
        self._contents: dict[File, tuple[int, bytes]] = {}
        self._kept: dict[Pair, bytes] = {}
        self._shown: tuple[Pair, int, bytes] | None = None

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

    def measure(self, pair: Pair, context: int | None = None) -> Measured:
        """The counts of a file as `git diff --numstat` gives them, and the remarks on it.

        With `context` this makes the patch that `patch` is asked for next.
        """
        old, new = (self._content(one) if one else (0, b"") for one in (pair.old, pair.new))
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
        elif context is not None:
            counts, patch = counted(old[1], new[1], context, 0, SHOWN)
            self._shown = pair, context, patch
        else:
            counts, patch = counted(old[1], new[1], 0, NEAR, COUNTED)
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
        made, self._shown = self._shown, None
        if made is not None and made[:2] == (pair, context):
            return made[2]
        return self._patch(pair, context, 0)

    def _patch(self, pair: Pair, context: int, near: int) -> bytes:
        old, new = (self._content(one)[1] if one else b"" for one in (pair.old, pair.new))
        return compare(old, new, context, near)

    def content(self, file: File) -> bytes:
        """The content of a file; empty where it is too large, a line with the commit for a
        submodule."""
        return self._content(file)[1]

    def _content(self, file: File) -> tuple[int, bytes]:
        if file not in self._contents:
            for oldest in [*self._contents][:-1]:  # each may be large: only both sides are kept
                del self._contents[oldest]
            self._contents[file] = self._read(file)
        return self._contents[file]

    def _read(self, file: File) -> tuple[int, bytes]:
        if file.submodule:
            line = f"Subproject commit {file.oid}\n".encode("ascii")
            return len(line), line
        return self._trees.blob(file.oid, MAX_COUNTED)


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
