"""The raw form of a git tree object, read and written by our own hand.

Whoever pushes chooses the bytes of a tree, and git and libgit2 forgive different faults in them.
A tree that git's own fsck would call an error is refused here, so no two readers can see two
different contents in one object id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from operator import lt

DIRECTORY = 0o040000
REGULAR = 0o100644
EXECUTABLE = 0o100755
SYMLINK = 0o120000
SUBMODULE = 0o160000

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

# Code points that HFS+ leaves out of a name, so that `.g<200c>it` is `.git` there.
_SILENT = rb"(?:\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf)*"
_DOT_GIT = _SILENT + _SILENT.join((rb"\.", rb"[Gg]", rb"[Ii]", rb"[Tt]")) + _SILENT
_NTFS_GIT = rb"(?:\.[Gg][Ii][Tt]|[Gg][Ii][Tt]~1)[ .]*(?:[:\\][^\0]*)?"
_NO_NAME = rb"(?!(?:\.\.?|" + _DOT_GIT + rb"|" + _NTFS_GIT + rb")\0)"

# The second branch eats the rest at the first fault: one pass, whatever the bytes are.
_ENTRY = re.compile(
    rb"([0-7]{5,7}) " + _NO_NAME + rb"([^\0/]+)\0([\s\S]{20})|[\s\S]++",
)

_MODES = {
    b"100644": REGULAR,
    b"100755": EXECUTABLE,
    b"40000": DIRECTORY,
    b"120000": SYMLINK,
    b"160000": SUBMODULE,
}


def canonical_mode(mode: int) -> int:
    """The mode that git takes `mode` for when it reads a tree (`canon_mode` in git's cache.h)."""
    kind = mode & 0o170000
    if kind == 0o100000:
        return EXECUTABLE if mode & 0o100 else REGULAR
    if kind in (SYMLINK, DIRECTORY):
        return kind
    return SUBMODULE


def parse_tree(data: bytes) -> dict[bytes, tuple[int, str]]:
    """The entries of a raw tree object: name to canonical mode and object id, in git's order.

    Raises ValueError, with a phrase that says what is wrong, for whatever `git fsck` calls an
    error: a malformed entry, an empty name, a name with a slash, `.`, `..` or `.git` (also as
    HFS+ and NTFS spell it), entries out of order, one name given twice.
    """
    found = _ENTRY.findall(data)
    if found and not found[-1][1]:
        raise ValueError(f"its entry {len(found)} is malformed or has a forbidden name")
    modes = [_MODES.get(mode) or canonical_mode(int(mode, 8)) for mode, _, _ in found]
    entries = {name: (mode, oid.hex()) for mode, (_, name, oid) in zip(modes, found, strict=True)}
    if len(entries) != len(found):
        raise ValueError("it has two entries of one name")
    keys = [
        name + b"/" if mode == DIRECTORY else name
        for mode, (_, name, _) in zip(modes, found, strict=True)
    ]
    if not all(map(lt, keys, keys[1:])):
        raise ValueError("its entries are not in git's order")
    return entries


def format_tree(entries: Mapping[bytes, tuple[int, str]]) -> bytes:
    """The raw tree object with these entries, in git's order."""
    return b"".join(
        b"%o %b\0%b" % (mode, name, bytes.fromhex(oid)) for name, (mode, oid) in _in_order(entries)
    )


def _in_order(
    entries: Mapping[bytes, tuple[int, str]],
) -> Iterable[tuple[bytes, tuple[int, str]]]:
    return sorted(
        entries.items(),
        key=lambda item: item[0] + b"/" if item[1][0] == DIRECTORY else item[0],
    )
