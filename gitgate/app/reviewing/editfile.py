"""The file that an editor gets for an artifact: one session's own, and kept until the edit is a
commit on a branch.

Each has a folder of its own in git's folder, named after the instance, the path and the content
that the edit began with; who has the lock in it writes and removes there, and nobody else.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gitgate.errors import Exit, GateError
from gitgate.git.repository import Repository

_TOGETHER = 100  # edits of one content at one time


class EditFile:
    """`kept`: it holds an edit that was begun earlier; `older` are files with edits of what the
    artifact was before."""

    def __init__(self, file: Path, before: bytes, older: tuple[Path, ...]) -> None:
        self.file, self.before, self.older = file, before, older
        self.kept = file.exists() and file.read_bytes() != before
        if not self.kept:
            new = file.with_name("new")
            new.write_bytes(before)
            new.replace(file)
        self._written = self._stamp()

    def read(self) -> bytes:
        """What the editor left. Raises GateError (blocked) where it left no file."""
        try:
            return self.file.read_bytes()
        except OSError as error:
            raise GateError(
                Exit.BLOCKED,
                f"the editor left no file {self.file} ({error.strerror}), so nothing was put up",
                "e begins again",
            ) from None

    @property
    def saved(self) -> bool:
        """Whether anything wrote it since it was given out."""
        return self._stamp() != self._written

    def drop(self) -> None:
        """The edit is no longer needed."""
        with suppress(OSError):
            self.file.unlink(missing_ok=True)
            (self.file.parent / "lock").unlink(missing_ok=True)
            self.file.parent.rmdir()  # stays where the editor left something beside it

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = self.file.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns


@contextmanager
def edit_file(
    repo: Repository, gate: str, subject: str, path: str, before: bytes
) -> Iterator[EditFile]:
    """A file with an edit of `before` that was kept and nobody is at, else a new one with `before`.

    Raises OSError where it cannot be written.
    """
    root = repo.common_dir / "git-gate" / "edits"
    artifact = _digest(f"{gate}\0{subject}\0{path}".encode("utf-8", "surrogateescape"))
    stem, name = f"{artifact}-{_digest(before)}", _name(path)
    folders = sorted(root.glob(f"{artifact}-*"))
    older = tuple(
        one / name for one in folders if not one.name.startswith(stem) and (one / name).is_file()
    )
    for number in range(1, _TOGETHER):
        folder = root / f"{stem}-{number}"
        lock = _locked(folder)
        if lock is None:
            continue
        try:
            yield EditFile(folder / name, before, older)
        finally:
            os.close(lock)
        return
    raise GateError(
        Exit.BLOCKED, f"{_TOGETHER - 1} sessions edit {path}: their files are in {root}"
    )


def _locked(folder: Path) -> int | None:
    """The lock of a folder, which is made where there is none; None where another session has it
    or has just removed it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "lock"
    try:
        lock = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        return None
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if file.stat().st_ino == os.fstat(lock).st_ino:
            return lock
    os.close(lock)
    return None


def _name(path: str) -> str:
    """The artifact's name where that is a plain one: an editor goes by its ending."""
    name = path.rsplit("/", 1)[-1]
    plainly = name.isascii() and name.isprintable() and not set("\\\"'") & set(name)
    return f"edit-{name}" if plainly and len(name) < 100 else "edit"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
