"""Commits as values, and the object database: what is read is checked, what is written is exact.

Objects are read raw and parsed here, so neither replace refs nor a shallow boundary change what a
commit says. Library objects and library exceptions end in this module.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pygit2

from gitgate.core import ids
from gitgate.core.person import Person, Stamp, format_stamp, read_stamp
from gitgate.errors import Exit, GateError

MAX_COMMIT = 16 * 1024 * 1024
MAX_OBJECT = 64 * 1024 * 1024

_KINDS = {
    int(pygit2.enums.ObjectType.COMMIT): "commit",
    int(pygit2.enums.ObjectType.TREE): "tree",
    int(pygit2.enums.ObjectType.BLOB): "blob",
    int(pygit2.enums.ObjectType.TAG): "tag",
}
_TYPES = {kind: number for number, kind in _KINDS.items()}

# What each value of core.sharedRepository takes out of the umask; an octal mode replaces it.
_OPENED = {
    **dict.fromkeys(("umask", "0", "false", "no", "off", ""), 0),
    **dict.fromkeys(("group", "1", "true", "yes", "on"), 0o070),
    **dict.fromkeys(("all", "world", "everybody", "2"), 0o075),
}


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit. Bytes that are not UTF-8 are surrogates in `message` and in names.

    `signature` is what the header `gpgsig` holds, `signed_payload` the bytes it was made over.
    """

    id: str
    tree: str
    parents: tuple[str, ...]
    author: Stamp
    committer: Stamp
    message: str
    signature: bytes | None
    signed_payload: bytes | None


def parse_commit(oid: str, data: bytes) -> Commit:
    """The commit of a raw object; ValueError, with a phrase, where it is malformed."""
    head, blank, message = data.partition(b"\n\n")
    if not blank:
        head, message = data.removesuffix(b"\n"), b""
    lines = head.split(b"\n")
    tree = _object_id(lines[0], b"tree ")
    at = 1
    parents = []
    while at < len(lines) and lines[at].startswith(b"parent "):
        parents.append(_object_id(lines[at], b"parent "))
        at += 1
    if len(lines) < at + 2:
        raise ValueError("it has no author or no committer")
    author, committer = _stamp(lines[at], b"author "), _stamp(lines[at + 1], b"committer ")
    signature, payload = None, None
    if b"\ngpgsig" in head:
        signature, payload = _split_signature(lines, message if blank else None)
    text = message.decode("utf-8", "surrogateescape")
    return Commit(oid, tree, tuple(parents), author, committer, text, signature, payload)


def _object_id(line: bytes, key: bytes) -> str:
    oid = line.removeprefix(key).decode("ascii", "replace")
    if not line.startswith(key) or not ids.is_oid(oid):
        raise ValueError(f"its {key.decode().strip()} is missing or malformed")
    return oid


def _stamp(line: bytes, key: bytes) -> Stamp:
    if not line.startswith(key):
        raise ValueError(f"its {key.decode().strip()} is missing")
    text = line.removeprefix(key).decode("utf-8", "surrogateescape")
    try:
        return read_stamp(text)
    except ValueError:  # commits of old tools: nobody's, but no reason to refuse the history
        return Stamp(Person(text, ""), 0)


def _split_signature(lines: list[bytes], message: bytes | None) -> tuple[bytes | None, bytes]:
    """What `gpgsig` holds, and the rest, without any header that begins so (commit.c of git)."""
    signature: list[bytes] = []
    rest: list[bytes] = []
    place = rest
    for line in lines:
        if line.startswith(b"gpgsig "):
            place = signature
            place.append(line.removeprefix(b"gpgsig "))
        elif line.startswith(b" "):
            place.append(line if place is rest else line[1:])
        elif line.startswith(b"gpgsig"):
            place = []
        else:
            place = rest
            place.append(line)
    tail = b"\n" if message is None else b"\n\n" + message
    return (b"\n".join(signature) + b"\n" if signature else None), b"\n".join(rest) + tail


def format_commit(
    tree: str, parents: tuple[str, ...], author: Stamp, committer: Stamp, message: str
) -> bytes:
    """The raw object of a commit; ValueError for what git could not read back as it was given."""
    if "\0" in message:
        raise ValueError("a commit message cannot have a NUL")
    head = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    head += [f"author {format_stamp(author)}", f"committer {format_stamp(committer)}"]
    return ("\n".join(head) + "\n\n" + message).encode("utf-8", "surrogateescape")


class Objects:
    """The object database of one repository."""

    def __init__(self, library: pygit2.Repository) -> None:
        self._odb = library.odb

    def add_folder(self, folder: str) -> None:
        """Read objects of this folder too (a quarantine)."""
        self._odb.add_disk_alternate(folder)

    def header(self, oid: str) -> tuple[str, int] | None:
        """Kind and size in bytes of an object, without reading it; None where it is missing.

        Raises GateError (untrusted) where it is there and cannot be read.
        """
        try:
            number, size = self._odb.read_header(oid)
        except KeyError:
            return None
        except pygit2.GitError as error:
            raise _corrupt(oid, error) from None
        return _KINDS[int(number)], size

    def read(self, oid: str) -> bytes:
        """The content of an object that is there; GateError (untrusted) where it is corrupt."""
        try:
            return bytes(self._odb.read(oid)[1])
        except pygit2.GitError as error:
            raise _corrupt(oid, error) from None

    def write(self, kind: str, data: bytes) -> str:
        """Store an object and give its id; GateError (fatal) where the folder cannot be written."""
        try:
            return str(self._odb.write(_TYPES[kind], data))
        except (pygit2.GitError, OSError) as error:
            raise GateError(
                Exit.FATAL,
                f"a new {kind} cannot be stored: {error}",
                "check the free space and the access rights of the repository's objects folder",
            ) from None


def _corrupt(oid: str, error: Exception) -> GateError:
    return GateError(Exit.UNTRUSTED, f"object {oid} cannot be read: {error}", "git fsck")


@contextmanager
def shared_access(config: Mapping[str, str]) -> Iterator[None]:
    """Create files as core.sharedRepository wants them, which libgit2 does not know."""
    before = os.umask(0)
    os.umask(_shared_umask(config.get("core.sharedrepository", "").lower(), before))
    try:
        yield
    finally:
        os.umask(before)


def _shared_umask(setting: str, umask: int) -> int:
    if setting in _OPENED:
        return umask & ~_OPENED[setting]
    try:
        mode = int(setting, 8)
    except ValueError:
        return umask
    return 0o777 & ~(mode | (mode & 0o444) >> 2)
