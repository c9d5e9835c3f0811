"""The journal's ref moved together with the work trees that have it checked out.

Whoever keeps further files in it works in such a tree. Left behind, its next commit would take
back whatever the journal gained meanwhile.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from gitgate.core import ids
from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.known import SYNC
from gitgate.git.repository import Repository


def move(repo: Repository, new: str, old: str | None, message: str) -> None:
    """Move the journal from `old` (None: there is none) to `new`, with index and files of the work
    trees that have it checked out; what is changed in those stays.

    Raises GateError: blocked where such a change is in the way, and what `refs.compare_and_swap`
    raises.
    """
    trees = [Repository.open(path) for path in _places(repo)] if old is not None else []
    for tree in trees:
        _check_free(tree, str(old), new)
    refs.compare_and_swap(repo, ids.JOURNAL, new, old, message)
    for tree in trees:
        tree.git("read-tree", "-m", "-u", str(old), new)


def _check_free(tree: Repository, old: str, new: str) -> None:
    tried = tree.git("read-tree", "-n", "-m", "-u", old, new)
    if tried.status != 0:
        place = str(tree.work_tree)
        raise GateError(
            Exit.BLOCKED,
            f"the journal is checked out in {place}, with changes that are in its way:"
            f" {tried.complaint}",
            f"{shlex.join(['git', '-C', place, 'stash'])}, then {SYNC}",
        )


def _places(repo: Repository) -> Iterator[Path]:
    """The work trees that have the journal checked out; git is asked only where there is one."""
    if not any(_names_journal(file) for file in _heads(repo)):
        return
    listed = repo.git("worktree", "list", "--porcelain", "-z").stdout
    for block in listed.split(b"\0\0"):
        fields = dict(line.partition(b" ")[::2] for line in block.split(b"\0") if line)
        if fields.get(b"branch") == ids.JOURNAL.encode():
            path = Path(os.fsdecode(fields[b"worktree"]))
            if path.is_dir():
                yield path


def _heads(repo: Repository) -> Iterator[Path]:
    yield repo.common_dir / "HEAD"
    yield from (repo.common_dir / "worktrees").glob("*/HEAD")


def _names_journal(file: Path) -> bool:
    try:
        return ids.JOURNAL in file.read_text("utf-8", "surrogateescape")
    except OSError:
        return False
