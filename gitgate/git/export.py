"""The files of a tree written into a folder, as they are: no filters, no hooks, no index."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from gitgate.core.merging import Entry
from gitgate.errors import Exit, GateError
from gitgate.git.objects import MAX_OBJECT
from gitgate.git.repository import Repository
from gitgate.git.trees import EXECUTABLE, SUBMODULE, SYMLINK

MAX_BYTES = 4 << 30
"""Bytes of all files of one export: a small tree can hold the same blob a million times."""

# What a file system says of a name that it cannot hold, or takes for another one.
_IMPOSSIBLE = frozenset(
    [errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL, errno.EEXIST, errno.ENOTDIR, errno.EISDIR]
)


def export(repo: Repository, files: Mapping[bytes, Entry], folder: Path) -> dict[bytes, str]:
    """Write `files` into the new folder `folder`; what was left out, each with a phrase why.

    Left out are symbolic links that lead out of the folder, files of more than 64 MiB, and what
    this file system cannot hold. A submodule is an empty folder. Raises GateError where an object
    is missing, for more than 4 GiB, and where the folder cannot be written.
    """
    left_out: dict[bytes, str] = {}
    try:
        folder.mkdir()
        root = os.fsencode(folder.resolve())
        for path, entry in _by_kind(repo, files):
            try:
                _write(repo, root, path, entry)
            except OSError as error:
                if error.errno not in _IMPOSSIBLE:
                    raise
                left_out[path] = f"this file system cannot hold it: {error.strerror}"
            except _LeftOut as reason:
                left_out[path] = str(reason)
        for path, entry in files.items():
            if entry.mode == SYMLINK and path not in left_out and _leads_out(root, path):
                os.unlink(os.path.join(root, path))  # noqa: PTH108, PTH118 - bytes
                left_out[path] = "it is a symbolic link that leads out of the tree"
    except OSError as error:
        raise GateError(
            Exit.FATAL,
            f"the files of a commit cannot be written to {folder}: {error.strerror}",
            "check TMPDIR, its free space and its access rights",
        ) from None
    return left_out


class _LeftOut(Exception):  # noqa: N818 - never leaves this module
    """Why a file is not written, as a phrase."""


def _by_kind(
    repo: Repository, files: Mapping[bytes, Entry]
) -> list[tuple[bytes, Entry]]:
    """Links come last: no file is written through one."""
    sizes = (repo.header(entry.oid) for entry in files.values() if entry.mode != SUBMODULE)
    if sum(size[1] for size in sizes if size) > MAX_BYTES:
        raise GateError(
            Exit.BLOCKED, f"the files of the commit have more than {MAX_BYTES >> 30} GiB"
        )
    return sorted(files.items(), key=lambda item: item[1].mode == SYMLINK)


def _write(repo: Repository, root: bytes, path: bytes, entry: Entry) -> None:
    place = os.path.join(root, path)  # noqa: PTH118 - bytes
    if entry.mode == SUBMODULE:
        os.makedirs(place, exist_ok=True)  # noqa: PTH103
        return
    header = repo.header(entry.oid)
    if header is not None and header[1] > MAX_OBJECT:
        raise _LeftOut(f"it has {header[1]} bytes")
    data = repo.read(entry.oid, "blob")
    os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH118, PTH120
    if entry.mode == SYMLINK:
        if not data or b"\0" in data:
            raise _LeftOut("it is a symbolic link to nothing")
        os.symlink(data, place)
        return
    mode = 0o755 if entry.mode == EXECUTABLE else 0o644
    with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(data)


def _leads_out(root: bytes, path: bytes) -> bool:
    return not os.path.realpath(os.path.join(root, path)).startswith(root + b"/")  # noqa: PTH118
