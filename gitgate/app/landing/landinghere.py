"""The guarded branch of a repository without a remote: moved here, with the files of the work tree
that has it checked out.

One landing does this at a time, under a lock that ends with its process. What a refused move left
in index and files is taken back: else the next commit there would land it.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitgate import process
from gitgate.app.landing.landingtext import said
from gitgate.app.landing.worktrees import WorkTree, holders, unfinished
from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.refs import LostRace
from gitgate.git.repository import Repository

_PATIENCE = 60.0  # seconds; hooks of the project run while the lock is held
_PAUSE = 0.05


def move_here(repo: Repository, ref: str, old: str, new: str, again: str) -> None:
    """Move `ref` from `old` to `new`; where it is checked out its files move with it.

    `again` is the command that tries it once more, for a hint. Raises LostRace where the ref is
    not at `old` any more, and GateError: blocked where git, a hook or the state of the work tree
    refuses, lost race where another landing does not come to its end.
    """
    with _alone(repo, ref, again):
        if refs.read(repo, ref) != old:
            raise LostRace(ref)
        trees = holders(repo, ref)
        if trees:
            _check_ready(trees, ref)
            _forward(repo, trees[0], ref, old, new, again)
            return
        command = ["git", "update-ref", "-m", "gate: land", ref, new, old]
        place = repo.work_tree or repo.git_dir
        answer = process.run_alone(command, cwd=place, env=repo.environment)
        if refs.read(repo, ref) != new:
            raise _refused(repo, ref, old, f"git refused to move {ref}", answer, again)


@contextmanager
def _alone(repo: Repository, ref: str, again: str) -> Iterator[None]:
    file = repo.common_dir / "git-gate" / "landing"
    try:
        file.parent.mkdir(exist_ok=True)
        lock = os.open(file, os.O_RDONLY | os.O_CREAT, 0o666)
    except OSError as error:
        raise _no_lock(file, error) from None
    deadline = time.monotonic() + _PATIENCE
    try:
        while not _is_taken(lock, file):
            if time.monotonic() > deadline:
                raise GateError(
                    Exit.LOST_RACE,
                    f"another landing has been moving {ref} for {_PATIENCE:.0f} seconds;"
                    " nothing landed",
                    again,
                )
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(lock)


def _is_taken(lock: int, file: Path) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise _no_lock(file, error) from None
    return True


def _no_lock(file: Path, error: OSError) -> GateError:
    return GateError(
        Exit.FATAL,
        f"{file} cannot be locked, so nothing landed: {error.strerror}",
        f"check the access rights of {file.parent}",
    )


def _check_ready(trees: list[WorkTree], ref: str) -> None:
    """GateError (blocked) where the branch cannot move in the work trees that have it."""
    for tree in trees:
        place = _place(tree)
        if not tree.path.is_dir():
            raise GateError(
                Exit.BLOCKED,
                f"{ref} is checked out in {tree.path}, which is not there",
                "git worktree prune",
            )
        busy = unfinished(tree.git_dir)
        if busy is not None:
            raise GateError(
                Exit.BLOCKED,
                f"{ref} is in use in {tree.path}, where a {busy.name} is not finished: finish it"
                " first, or give it up",
                f"git -C {place} {busy.end}",
            )
    if len(trees) > 1:
        raise GateError(
            Exit.BLOCKED,
            f"{ref} is checked out in {len(trees)} work trees, one of them {trees[0].path}",
            f"git -C {_place(trees[0])} switch --detach",
        )
    _check_clean(trees[0], ref)


def _check_clean(tree: WorkTree, ref: str) -> None:
    """Submodules stay as they are; only what is staged of them would come into the next commit."""
    where = f"{ref} is checked out in {tree.path}, which has"
    if _git(tree, "ls-files", "--unmerged").stdout:
        raise GateError(
            Exit.BLOCKED,
            f"{where} conflicts: resolve and commit them, or give them up",
            f"git -C {_place(tree)} reset --merge",
        )
    options = ("--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all")
    files = _git(tree, "status", *options)
    named = [os.fsdecode(line[3:]) for line in files.stdout.split(b"\0") if line[:3] == b" A "]
    staged = _git(tree, "diff-index", "--cached", "--quiet", "--ignore-submodules=none", "HEAD")
    if named:  # which git does not stash
        raise GateError(
            Exit.BLOCKED,
            f"{where} files that were added without their content (git add -N)",
            f"git -C {_place(tree)} reset --quiet -- {shlex.join(named)}",
        )
    if files.status != 0 or files.stdout:
        raise GateError(
            Exit.BLOCKED,
            f"{where} changes that are in no commit",
            f"git -C {_place(tree)} stash",
        )
    if staged.status != 0:
        raise GateError(
            Exit.BLOCKED,
            f"{where} submodules staged that are in no commit",
            f"git -C {_place(tree)} reset --quiet",
        )


def _forward(repo: Repository, tree: WorkTree, ref: str, old: str, new: str, again: str) -> None:
    # A file that git ignores is somebody's, too.
    command = ["git", "merge", "--ff-only", "--no-overwrite-ignore", new]
    left = ""
    try:
        answer = process.run_alone(command, cwd=tree.path)
    finally:
        if refs.read(repo, ref) != new:
            left = _put_back(tree, old, new)
    if refs.read(repo, ref) != new:
        what = f"{ref} cannot be moved in {tree.path}"
        raise _refused(repo, ref, old, what, answer, again, left)


def _put_back(tree: WorkTree, old: str, new: str) -> str:
    """Git moves index and files before the ref. This moves no ref, so no hook has a say in it, and
    leaves alone what somebody has changed meanwhile: a sentence where that is of the landing."""
    _git(tree, "update-index", "-q", "--refresh")
    if _git(tree, "diff-index", "--cached", "--quiet", new).status != 0:
        return ""
    if _git(tree, "read-tree", "-m", "-u", new, old).status == 0:
        return ""
    _git(tree, "read-tree", old)
    _git(tree, "update-index", "-q", "--refresh")
    return f"{tree.path} keeps, in no commit, files of it that changed meanwhile"


def _refused(
    repo: Repository,
    ref: str,
    old: str,
    what: str,
    answer: process.Completed,
    again: str,
    left: str = "",
) -> GateError:
    if refs.read(repo, ref) != old:
        return LostRace(ref)
    lines = [f"{what}; nothing landed:", *said(answer.stdout + answer.stderr)]
    lines += [f"  {left}"] if left else []
    return GateError(Exit.BLOCKED, "\n".join(lines), f"mend that, then {again}")


def _git(tree: WorkTree, *args: str) -> process.Completed:
    return process.run(["git", *args], cwd=tree.path)


def _place(tree: WorkTree) -> str:
    return shlex.quote(str(tree.path))
