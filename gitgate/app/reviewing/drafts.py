"""Words that a person typed and did not sign yet: a folder for each instance in git's own folder,
in it a file for each action.

Several sessions and commands may be at work on one instance: what changes a file holds the
folder's lock, and what another one wrote meanwhile is put aside, never written over.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from gitgate.core.ids import encode_subject
from gitgate.git.repository import Repository

SCISSORS = "# ------------------------ >8 ------------------------"
"""The line from which on an editor's file is left out."""

_EDITING = "editing"


def folder(repo: Repository, gate: str, subject: str) -> Path:
    """The folder of one instance."""
    return repo.common_dir / "git-gate" / "drafts" / gate / encode_subject(subject)


def place(repo: Repository, gate: str, subject: str, action: str) -> Path:
    """The file with the words for one action."""
    return folder(repo, gate, subject) / f"{action}.md"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """The folder, made where it is not there, with nobody else at its files."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def read(path: Path) -> str:
    """The words of a file, bytes that are no UTF-8 as surrogates; "" where there are none."""
    try:
        return path.read_text("utf-8", errors="surrogateescape").strip()
    except OSError:
        return ""


def edited(path: Path) -> str:
    """The words of a file that an editor has or had, without what it was shown below them."""
    return read(path).split(SCISSORS, 1)[0].strip()


def write(path: Path, text: str) -> None:
    """Write a file as a whole: a write that fails changes nothing and leaves nothing."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.write_text(text, "utf-8", errors="surrogateescape")
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink()
        raise


def aside(path: Path, text: str) -> Path:
    """Keep `text` in a new file beside `path`; that file."""
    for number in count(1):
        new = path.with_suffix(f".{number}.md")
        try:
            os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            break
        except FileExistsError:
            continue
    try:
        new.write_text(text, "utf-8", errors="surrogateescape")
    except OSError:
        with suppress(OSError):
            new.unlink()
        raise
    return new


def change(path: Path, before: str, now: str) -> str:
    """Make `now` of the words that were `before` when they were read; what the file has then.

    What somebody else wrote there meanwhile stays where `now` is nothing or nothing new, and is
    put aside else. The caller holds the folder.
    """
    there, before, now = read(path), before.strip(), now.strip()
    if now in (before, there) or (not now and there != before):
        return there
    if there not in ("", before):
        aside(path, there)
    if now:
        write(path, now)
    else:
        path.unlink(missing_ok=True)
    return now


def recorded(path: Path, text: str) -> None:
    """`text` is on record: no file of this action keeps it any more. The folder is held."""
    for one in (path, *path.parent.glob(f"{path.stem}.[0-9]*.md")):
        if read(one) == text.strip():
            one.unlink(missing_ok=True)


# What an editor is given.


def for_editor(path: Path) -> Path:
    """The file that this process gives to an editor for the words of `path`."""
    return path.with_suffix(f".{_EDITING}.{os.getpid()}.md")


def recover(folder: Path) -> None:
    """What an editor saved whose session was killed becomes the words. The folder is held."""
    for path in sorted(folder.glob(f"*.{_EDITING}.*.md")):
        action, _, pid, _ = path.name.split(".")
        if pid.isdecimal() and not _runs(int(pid)):
            words, text = folder / f"{action}.md", edited(path)
            there = read(words)
            if text and there not in ("", text):
                aside(words, there)
            if text and text != there:
                write(words, text)
            path.unlink(missing_ok=True)


def _runs(pid: int) -> bool:
    """Whether another process has this id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return pid != os.getpid()
