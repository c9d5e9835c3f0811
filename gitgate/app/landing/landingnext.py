"""What can be done after a landing: come to the branch that has it, and be rid of the work's own.

Each command works when it is run as it stands, after those before it, or is left out; none takes
away a commit that is not on the target.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from gitgate.app.gather.world import World
from gitgate.app.landing.landingremote import tips, tracking
from gitgate.app.landing.landingwork import Work
from gitgate.app.landing.worktrees import holders, unfinished
from gitgate.errors import GateError
from gitgate.git import refs
from gitgate.git.repository import Repository


@dataclass(frozen=True, slots=True)
class _After:
    """Where the commands bring the user: HEAD's branch (None: it is detached) and commit."""

    commands: tuple[str, ...]
    branch: str | None
    commit: str | None


def next_commands(world: World, work: Work, new: str, *, whole: bool) -> Iterator[str]:
    """The commands that make sense once `work` is on its target as `new`; `whole` says that the
    reviewed commits themselves are there."""
    tip = world.target_tip(work.target)[1] or new
    after = _to_the_target(world, work, tip)
    yield from after.commands
    if work.branch is None:
        return
    if _is_spare(world.repo, work, tip, after):
        taken = whole and _takes_small_d(world.repo, work.branch, after)
        yield shlex.join(["git", "branch", "-d" if taken else "-D", *_words(work.branch)])
    yield from _deletion_there(world, work, tip)


def _to_the_target(world: World, work: Work, tip: str) -> _After:
    """To the target as it is now, from the branch that landed or from the target itself."""
    repo, head = world.repo, world.repo.head_ref()
    stay = _After((), head, _head_commit(repo))
    at_branch = work.branch is not None and head == f"refs/heads/{work.branch}"
    if repo.work_tree is None or unfinished(repo.git_dir) or not (at_branch or head == work.target):
        return stay
    local = refs.read(repo, work.target)
    if head == work.target:
        return _brought_up(world, work.target, stay, local, tip)
    if holders(repo, work.target):
        there = _After((f"git switch --detach {tip}",), None, tip)
        return there if _moves(repo, tip) else stay
    if local is None:
        return _created(world, work.target, tip) if _moves(repo, tip) else stay
    if not _moves(repo, local):
        return stay
    switched = _After((f"git switch {_short(work.target)}",), work.target, local)
    return _brought_up(world, work.target, switched, local, tip)


def _brought_up(world: World, target: str, after: _After, local: str | None, tip: str) -> _After:
    """The local branch, where HEAD is by now, forward to the remote's, if it can go there."""
    repo, remote = world.repo, world.remote
    if remote is None or local is None or not _holds(repo, local, tip) or not _moves(repo, tip):
        return after
    setting = f"branch.{target.removeprefix('refs/heads/')}"
    follows = [repo.config.get(f"{setting}.{key}") for key in ("remote", "merge")]
    forward = "git pull --ff-only" if follows == [remote, target] else f"git merge --ff-only {tip}"
    return _After((*after.commands, forward), target, tip)


def _created(world: World, target: str, tip: str) -> _After:
    """A local branch for a target that the user has none for."""
    remote = world.remote or ""
    start = f"--no-track {tip}"
    fetched = f"+refs/heads/*:{tracking(remote, 'refs/heads/*')}"
    if fetched in world.repo.config_all(f"remote.{remote}.fetch"):
        start = f"--track {shlex.quote(tracking(remote, target).removeprefix('refs/remotes/'))}"
    return _After((f"git switch --create {_short(target)} {start}",), target, tip)


def _moves(repo: Repository, commit: str) -> bool:
    """Whether git would bring index and files of this work tree to a commit: nothing that is not
    committed is in the way."""
    repo.git("update-index", "-q", "--refresh")
    return repo.git("read-tree", "--dry-run", "-m", "-u", "HEAD", commit).status == 0


def _is_spare(repo: Repository, work: Work, tip: str, after: _After) -> bool:
    """Whether the local branch is there, in no work tree by then, and has nothing that did not
    land."""
    ref = f"refs/heads/{work.branch}"
    own = refs.read(repo, ref)
    if own is None or ref == after.branch:
        return False
    here = repo.git_dir.resolve()
    kept = [
        tree for tree in holders(repo, ref) if tree.branch != ref or tree.git_dir.resolve() != here
    ]
    return not kept and any(_holds(repo, own, one) for one in (work.head, tip))


def _takes_small_d(repo: Repository, branch: str, after: _After) -> bool:
    """Git takes `-d` where the branch's upstream has all of it; without one, HEAD."""
    ref = f"refs/heads/{branch}"
    tip = refs.read(repo, ref)
    upstream = repo.git("for-each-ref", "--format=%(upstream)", ref).text
    holder = (refs.read(repo, upstream) if upstream else None) or after.commit
    return tip is not None and holder is not None and _holds(repo, tip, holder)


def _deletion_there(world: World, work: Work, tip: str) -> Iterator[str]:
    """The remote's branch, where all that it has now has landed and no gate guards it."""
    repo, remote, ref = world.repo, world.remote, f"refs/heads/{work.branch}"
    if remote is None or work.notes or work.policy.policy.guarding(ref):
        return
    if refs.read(repo, tracking(remote, ref)) is None:
        return
    tag = f"refs/tags/{work.branch}"
    try:
        there = tips(repo, remote, (ref, tag))
    except GateError:
        return
    theirs = there.get(ref)
    if theirs is not None and any(_holds(repo, theirs, one) for one in (work.head, tip)):
        words = [ref] if tag in there else _words(work.branch or "")
        yield shlex.join(["git", "push", remote, "--delete", *words])


def _head_commit(repo: Repository) -> str | None:
    try:
        return repo.resolve("HEAD")
    except GateError:
        return None


def _holds(repo: Repository, older: str, newer: str) -> bool:
    """Whether `newer` has all of `older`; in a shallow clone that can be unknown, which is no."""
    try:
        return repo.is_ancestor(older, newer)
    except GateError:
        return False


def _words(branch: str) -> list[str]:
    """A branch as the last words of a command, also where it is called like an option."""
    return ["--", branch] if branch.startswith("-") else [branch]


def _short(ref: str) -> str:
    return shlex.quote(ref.removeprefix("refs/heads/"))
