"""Refs: read by exact name, listed without gaps, moved only by compare-and-swap.

A write takes git's own lock file, reads the ref under it and compares: of several writers that
saw the same value exactly one wins, also for the first write of a ref. (libgit2's own creation
checks before it locks, and so loses such a race now and then.)
"""

from __future__ import annotations

import os
import random
import re
import shlex
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pygit2

from gitgate.core import ids
from gitgate.errors import Exit, GateError
from gitgate.git.objects import shared_access
from gitgate.git.repository import Repository

LOCK_PATIENCE = 2.0
"""Seconds that a writer waits for another one's lock file."""

STALE_AGE = 10.0
"""Seconds after which a lock file is nobody's any more: a ref is locked for milliseconds."""

_SYMBOLIC_DEPTH = 5  # as in git's refs.c

_OURS = ("refs/aiwg", "refs/notes/aiwg", "refs/heads/aiwg", "refs/gitgate")


class LostRace(GateError):  # noqa: N818 - an outcome to react to, named in the design
    """The ref is not where the writer saw it: somebody else was faster."""

    def __init__(self, name: str) -> None:
        super().__init__(
            Exit.LOST_RACE, f"{name} was moved by somebody else meanwhile", "run the command again"
        )


def read(repo: Repository, name: str) -> str | None:
    """The object id that a ref has, through symbolic refs; None where there is no such ref.

    Raises GateError: usage for a name that git forbids, untrusted where the ref is damaged.
    """
    _check_name(name)
    file = repo.common_dir / name
    try:
        found = repo.ask_library(lambda library: _target(library, name))
        if found is None and file.is_symlink():
            raise GateError(Exit.UNTRUSTED, "its file is a link that leads to none", "")
        return found
    except GateError as error:
        if not (file.is_file() or file.is_symlink()):
            raise
        damaged = f"the ref {name} is damaged: {error.message}"
        raise GateError(error.kind, damaged, f"rm {shlex.quote(str(file))}") from None


def _target(library: pygit2.Repository, name: str) -> str | None:
    for _ in range(_SYMBOLIC_DEPTH):
        found = _raw_target(library, name)
        if not isinstance(found, bytes):
            return None if found is None else str(found)
        name = found.decode("utf-8", "surrogateescape")
    raise pygit2.GitError(f"{name} is a symbolic ref without an end")


def stands_for(repo: Repository, name: str) -> str:
    """The ref that a symbolic ref stands for in the end, born or not; another ref's own name.

    Whoever pushes to a symbolic ref moves that one; a link among the files of refs is one, too.
    Raises GateError: usage for a name that git forbids, untrusted for symbolic refs that go round
    in a circle.
    """
    _check_name(name)
    for _ in range(_SYMBOLIC_DEPTH):
        target = repo.ask_library(partial(_raw_target, name=name))
        if not isinstance(target, bytes):
            linked = _linked(repo, name)
            if linked == name:
                return name
            name = linked
        else:
            name = target.decode("utf-8", "surrogateescape")
    raise GateError(Exit.UNTRUSTED, f"{name} is a symbolic ref without an end", "git symbolic-ref")


def _linked(repo: Repository, name: str) -> str:
    """The ref of which the file of `name` is a link to the file; `name` itself where it is none."""
    path = repo.common_dir / name
    if not path.is_symlink():
        return name
    end = os.path.relpath(os.path.realpath(path), os.path.realpath(repo.common_dir))
    return end if ids.is_ref(end) else name


def symbolic(repo: Repository) -> dict[str, str]:
    """The symbolic refs below `refs/`, each with the ref that it stands for in the end.

    Git never packs one. Those without an end are left out.
    """
    top = str(repo.common_dir)
    found: dict[str, str] = {}
    for folder, _, files in os.walk(f"{top}/refs", followlinks=True):
        for path in (f"{folder}/{file}" for file in files):
            with suppress(OSError, GateError):
                if Path(path).is_symlink() or _starts_with_ref(path):
                    name = path[len(top) + 1 :]
                    found[name] = stands_for(repo, name)
    return found


def _starts_with_ref(path: str) -> bool:
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 4) == b"ref:"
    finally:
        os.close(file)


def _raw_target(library: pygit2.Repository, name: str) -> object:
    """The object id, or the name of a symbolic ref's target in bytes; None without such a ref."""
    try:
        return library.lookup_reference(name).raw_target
    except KeyError:
        return None
    except UnicodeDecodeError as error:
        # pygit2 cannot say that it found no ref of a name that is not UTF-8.
        if error.object == name.encode("utf-8", "surrogateescape"):
            return None
        raise


def listing(repo: Repository, prefix: str) -> dict[str, str]:
    """The refs whose full name begins with `prefix`, a folder of refs such as `refs/heads/`.

    Loose refs are read before packed ones: `git pack-refs` writes the pack first, so no ref can
    be missed. Raises GateError (untrusted) for a damaged ref.
    """
    folder = prefix.rpartition("/")[0]
    loose = {
        name: oid
        for name in _loose_names(repo.common_dir, folder)
        if name.startswith(prefix) and (oid := read(repo, name))
    }
    return dict(sorted({**_packed(repo.common_dir, prefix), **loose}.items()))


def _loose_names(common_dir: Path, folder: str) -> Iterator[str]:
    for path, folders, files in os.walk(common_dir / folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for file in files:
            name = str((Path(path) / file).relative_to(common_dir))
            if ids.is_ref(name):
                yield name


def _packed(common_dir: Path, prefix: str) -> dict[str, str]:
    try:
        data = (common_dir / "packed-refs").read_bytes()
    except FileNotFoundError:
        return {}
    line = rb"^([0-9a-f]{40}) (" + re.escape(os.fsencode(prefix)) + rb"[^\n]*)$"
    return {
        os.fsdecode(name): oid.decode("ascii") for oid, name in re.findall(line, data, re.MULTILINE)
    }


def compare_and_swap(repo: Repository, name: str, new: str, old: str | None, message: str) -> None:
    """Move a ref from `old` (None: it must not exist) to `new`; `message` is for the reflog.

    Raises LostRace where the ref has another value, and GateError (fatal) where the ref cannot be
    written: another ref's name is in the way, a lock file was left behind, the folder is
    read-only, a push is being received.
    """
    _check_name(name)
    repo.check_writable(f"the ref {name}")
    if repo.kind(new) is None:
        raise GateError(Exit.FATAL, f"{name} cannot point to {new}: there is no such object")
    if old is None:
        _check_free(repo, name)
    lock = repo.common_dir / f"{name}.lock"

    def swap(library: pygit2.Repository) -> None:
        try:
            with library.transaction() as transaction:
                _lock(transaction, name, lock)
                if _target(library, name) != old:
                    raise LostRace(name)
                transaction.set_target(name, new, message=message)
        except (pygit2.GitError, OSError) as error:
            raise _not_written(name, lock, error) from None

    with shared_access(repo.config):
        repo.ask_library(swap)


def _check_name(name: str) -> None:
    if not ids.is_ref(name):
        raise GateError(Exit.USAGE, f"{name[:200]!r} is no full ref name", "git check-ref-format")


def _check_free(repo: Repository, name: str) -> None:
    """Git has no ref `a` beside a ref `a/b`; libgit2 would create it beside a packed one."""
    parts = name.split("/")
    above = ["/".join(parts[:count]) for count in range(2, len(parts))]
    blocking = [ref for ref in above if read(repo, ref)] or list(listing(repo, name + "/"))
    if blocking:
        raise GateError(
            Exit.FATAL,
            f"{name} cannot be created while there is a ref {blocking[0]}",
            f"rename or delete that ref (git update-ref -d {shlex.quote(blocking[0])})",
        )


def _lock(transaction: pygit2.ReferenceTransaction, name: str, lock: Path) -> None:
    deadline = time.monotonic() + LOCK_PATIENCE
    while True:
        try:
            return transaction.lock_ref(name)
        except (pygit2.GitError, OSError):
            if time.monotonic() > deadline or not (lock.exists() or _is_free(lock)):
                raise
        time.sleep(random.uniform(0.002, 0.02))  # noqa: S311 - jitter, no secret


def _is_free(lock: Path) -> bool:
    """Whether the lock could be had now, so that its holder went away since the last try."""
    folder = lock.parent
    while not folder.exists():
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _not_written(name: str, lock: Path, error: Exception) -> GateError:
    if lock.exists():
        return GateError(
            Exit.FATAL,
            f"{name} is locked by {lock}, which a killed process may have left",
            f"rm {shlex.quote(str(lock))} (only while no git command runs in this repository)",
        )
    return GateError(
        Exit.FATAL,
        f"{name} cannot be written: {error}",
        f"check the access rights of {lock.parent}",
    )


def stale_locks(repo: Repository, older_than: float = STALE_AGE) -> list[Path]:
    """The lock files that block writes of our refs, at least `older_than` seconds old.

    Those of one ref each, and `packed-refs.lock`, which blocks every deletion.
    """
    found = [repo.common_dir / "packed-refs.lock"]
    for folder in _OURS:
        found += sorted((repo.common_dir / folder).rglob("*.lock"))
    limit = time.time() - older_than
    return [lock for lock in found if lock.is_file() and lock.stat().st_mtime <= limit]
