"""The files of a tree written into a folder, as they are: no filters, no hooks, no index."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
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
    links: list[bytes] = []
    try:
        folder.mkdir()
        root = folder.resolve()
        for path, entry in _links_last(repo, files):
            try:
                _write(repo, root / os.fsdecode(path), entry)
            except OSError as error:
                if error.errno not in _IMPOSSIBLE:
                    raise
                left_out[path] = f"this file system cannot hold it: {error.strerror}"
            except _LeftOut as reason:
                left_out[path] = str(reason)
            else:
                if entry.mode == SYMLINK:
                    links.append(path)
                    _remove_those_that_lead_out(root, [path], left_out)
        # A link can change where an earlier one leads.
        _remove_those_that_lead_out(root, links, left_out)
    except OSError as error:
        raise GateError(
            Exit.FATAL,
            f"the files of a commit cannot be written to {folder}: {error.strerror}",
            "check TMPDIR, its free space and its access rights",
        ) from None
    return left_out


class _LeftOut(Exception):  # noqa: N818 - never leaves this module
    """Why a file is not written, as a phrase."""


def _links_last(repo: Repository, files: Mapping[bytes, Entry]) -> list[tuple[bytes, Entry]]:
    """The files in an order in which none is written through a link."""
    headers = (repo.header(entry.oid) for entry in files.values() if entry.mode != SUBMODULE)
    if sum(header[1] for header in headers if header) > MAX_BYTES:
        raise GateError(
            Exit.BLOCKED, f"the files of the commit have more than {MAX_BYTES >> 30} GiB"
        )
    return sorted(files.items(), key=lambda item: item[1].mode == SYMLINK)


def _write(repo: Repository, place: Path, entry: Entry) -> None:
    if entry.mode == SUBMODULE:
        place.mkdir(parents=True, exist_ok=True)
        return
    header = repo.header(entry.oid)
    if header is not None and header[1] > MAX_OBJECT:
        raise _LeftOut(f"it has {header[1]} bytes")
    data = repo.read(entry.oid, "blob")
    place.parent.mkdir(parents=True, exist_ok=True)
    if entry.mode == SYMLINK:
        if not data or b"\0" in data:
            raise _LeftOut("it is a symbolic link to nothing")
        place.symlink_to(os.fsdecode(data))
        return
    mode = 0o755 if entry.mode == EXECUTABLE else 0o644
    with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(data)


def _remove_those_that_lead_out(
    root: Path, links: Sequence[bytes], left_out: dict[bytes, str]
) -> None:
    for path in links:
        place = root / os.fsdecode(path)
        if path not in left_out and not Path(os.path.realpath(place)).is_relative_to(root):
            place.unlink()
            left_out[path] = "it is a symbolic link that leads out of the tree"
