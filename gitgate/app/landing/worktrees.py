"""The user's own work trees: which branch each has, and what it is in the middle of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gitgate.errors import Exit, GateError
from gitgate.git.repository import Repository


@dataclass(frozen=True, slots=True)
class WorkTree:
    """A work tree of the repository, whose own part of git's folder is `git_dir`; `branch` is the
    ref checked out in it, None for none."""

    path: Path
    git_dir: Path
    branch: str | None


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A git command that stopped half-way in a work tree: its name, and the words after `git` that
    give it up."""

    name: str
    end: str


_UNFINISHED = {
    "MERGE_HEAD": Unfinished("merge", "merge --abort"),
    "rebase-merge": Unfinished("rebase", "rebase --abort"),
    "rebase-apply/applying": Unfinished("am", "am --abort"),
    "rebase-apply": Unfinished("rebase", "rebase --abort"),
    "CHERRY_PICK_HEAD": Unfinished("cherry-pick", "cherry-pick --abort"),
    "REVERT_HEAD": Unfinished("revert", "revert --abort"),
    "BISECT_LOG": Unfinished("bisect", "bisect reset"),
}

# Each names the branch that its command goes back to, or moves, in the end.
_BRANCHES = ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START")
_MOVED = "rebase-merge/update-refs"


def work_trees(repo: Repository) -> list[WorkTree]:
    """The repository's work trees, the main one first."""
    answer = repo.git("worktree", "list", "--porcelain", "-z")
    if answer.status != 0:
        raise GateError(
            Exit.FATAL, f"git cannot list its work trees: {answer.complaint}", "git worktree list"
        )
    found: list[WorkTree] = []
    blocks = answer.stdout.decode("utf-8", "surrogateescape").split("\0\0")
    for number, block in enumerate(blocks):
        fields = dict(line.partition(" ")[::2] for line in block.split("\0") if line)
        if "worktree" in fields and "bare" not in fields:
            path = Path(fields["worktree"])
            git_dir = _linked(path) if number else repo.common_dir
            found.append(WorkTree(path, git_dir, fields.get("branch")))
    return found


def _linked(path: Path) -> Path:
    """The folder that the file `.git` of a linked work tree names."""
    try:
        text = (path / ".git").read_text("utf-8", "surrogateescape")
    except OSError:
        return path / ".git"
    return path / text.removeprefix("gitdir: ").rstrip("\n")


def holders(repo: Repository, ref: str) -> list[WorkTree]:
    """The work trees that have the branch `ref` checked out, or will have it or move it when what
    they are in the middle of ends: in those git moves it for nobody else."""
    return [tree for tree in work_trees(repo) if tree.branch == ref or ref in _waiting(tree)]


def _waiting(tree: WorkTree) -> Iterator[str]:
    for name in _BRANCHES:
        branch = _text(tree.git_dir / name).strip()
        yield branch if branch.startswith("refs/") else f"refs/heads/{branch}"
    yield from _text(tree.git_dir / _MOVED).split("\n")


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def unfinished(git_dir: Path) -> Unfinished | None:
    """What the work tree with this part of git's folder is in the middle of."""
    return next((what for name, what in _UNFINISHED.items() if (git_dir / name).exists()), None)
