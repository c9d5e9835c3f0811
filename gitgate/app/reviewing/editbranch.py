"""The branch that a reviewer's edit goes on: the subject's where that is in nobody's way, else a
new one beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitgate.app.gather.world import World
from gitgate.core import ids
from gitgate.core.request import Request
from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.repository import Repository

_BESIDE = 100  # branches beside one that are tried
_LONGEST = 60
_PATIENCE = 20.0
"""Seconds that a remote has to answer."""

_GOING_ON = {
    "rebase-merge/head-name": "is being rebased",
    "rebase-merge/update-refs": "is being rebased",
    "rebase-apply/head-name": "is being rebased",
    "BISECT_START": "is being bisected",
}
"""Where git keeps the branch that a work tree will come back to, though its HEAD is detached."""


def obstacle(world: World, request: Request, commit: str) -> str:
    """Why the commit may not go onto the subject's branch here; "" where it may."""
    repo, name = world.repo, _branch(request)
    if not ids.is_ref(name):
        return f"the subject {request.subject!r} is no name for a branch"
    tip = refs.read(repo, name)
    if tip is None:
        return _elsewhere(world, request)
    if tip != request.work:
        return f"the branch {request.subject} is not at the reviewed commit any more"
    here = _here(repo, name)
    if len(_checkouts(repo, name)) > (1 if here else 0):
        return f"the branch {request.subject} is checked out in another work tree"
    if going := next(_going_on(repo, request.subject), ""):
        return f"the branch {request.subject} {going}"
    return _changes(repo, request, commit) if here else ""


def remote_obstacle(world: World, request: Request, *, answers: bool) -> str:
    """Why the commit would not fit on the subject's branch at the remote: that has commits which
    the reviewed one does not contain. A remote that gives no answer is taken as it was last seen.
    """
    repo, remote, name = world.repo, world.remote, _branch(request)
    if remote is None:
        return ""
    tip = _remote_tip(repo, remote, name) if answers else None
    if tip is None:
        tip = refs.read(repo, f"refs/remotes/{remote}/{request.subject}") or ""
    if not tip or (repo.kind(tip) is not None and repo.is_ancestor(tip, request.work)):
        return ""
    return (
        f"the branch {request.subject} of {remote} has {tip[:12]},"
        " which the reviewed commit does not contain"
    )


def advance(world: World, request: Request, commit: str) -> None:
    """Move the branch to `commit`, with index and work tree where it is checked out here."""
    repo, name, old = world.repo, _branch(request), request.work
    here = _here(repo, name)
    tip = refs.read(repo, name)
    if tip not in (None, old):
        raise GateError(Exit.STALE, f"{name} is not at the reviewed commit any more")
    if here:
        done = repo.git("read-tree", "-m", "-u", old, commit)
        if done.status != 0:
            raise GateError(Exit.BLOCKED, f"git could not change the work tree: {done.complaint}")
    try:
        refs.compare_and_swap(repo, name, commit, tip, "git-gate: edited in review")
    except GateError:
        if here:
            repo.git("read-tree", "-m", "-u", commit, old)
        raise


def beside(repo: Repository, subject: str, commit: str) -> str:
    """A new branch for an edit that has no place on its own one."""
    stem = f"review/{_plain(subject)}"
    complaint = ""
    for number in range(1, _BESIDE):
        branch = stem if number == 1 else f"{stem}-{number}"
        if refs.read(repo, f"refs/heads/{branch}") is not None:
            continue
        done = repo.git("branch", "--no-track", "--", branch, commit)
        if done.status == 0:
            return branch
        complaint = done.complaint
        if refs.read(repo, f"refs/heads/{branch}") is None:
            break
    raise GateError(
        Exit.BLOCKED,
        f"your edit is commit {commit}, and no branch {stem} could be made for it: {complaint}",
        f"git branch NAME {commit}",
    )


def _plain(subject: str) -> str:
    """The subject where it can name a branch, else the letters and digits of it."""
    if ids.is_ref(f"refs/heads/{subject}") and len(subject) <= _LONGEST:
        return subject
    return re.sub(r"\W+", "-", subject)[:_LONGEST].strip("-") or "edit"


def _branch(request: Request) -> str:
    return f"refs/heads/{request.subject}"


def _here(repo: Repository, name: str) -> bool:
    return repo.head_ref() == name and repo.work_tree is not None


def _elsewhere(world: World, request: Request) -> str:
    """What stands against making the branch, which there is none of here."""
    remote = f"refs/remotes/{world.remote}/{request.subject}"
    there = refs.read(world.repo, remote) if world.remote else None
    if there is None:
        return f"the subject {request.subject} is no branch here"
    return "" if there == request.work else f"{remote} is not at the reviewed commit any more"


def _changes(repo: Repository, request: Request, commit: str) -> str:
    """What stands against changing the work tree, which has the branch checked out."""
    about = f"the branch {request.subject} is checked out here"
    if repo.git("status", "--porcelain", "--untracked-files=no").stdout:
        return f"{about} with changes not committed"
    # A file that `status` was told not to look at may differ all the same.
    tried = repo.git("read-tree", "--dry-run", "-m", "-u", request.work, commit)
    return f"{about}, and git could not change it: {tried.complaint}" if tried.status else ""


def _checkouts(repo: Repository, name: str) -> list[bytes]:
    """The work trees that have the branch `name`."""
    listed = repo.git("worktree", "list", "--porcelain", "-z").stdout.split(b"\0")
    return [line for line in listed if line == b"branch " + name.encode()]


def _going_on(repo: Repository, branch: str) -> Iterator[str]:
    """What is going on in a work tree that will move the branch in the end."""
    names = {branch.encode(), f"refs/heads/{branch}".encode()}
    for folder in (repo.common_dir, *sorted((repo.common_dir / "worktrees").glob("*"))):
        for file, what in _GOING_ON.items():
            try:
                lines = (folder / file).read_bytes().splitlines()
            except OSError:
                continue
            if names.intersection(lines):
                yield what


def _remote_tip(repo: Repository, remote: str, name: str) -> str | None:
    """The commit that the remote has there now, "" for none; None where it gives no answer."""
    try:
        done = repo.git("ls-remote", "--refs", "--", remote, name, timeout=_PATIENCE)
    except GateError:
        return None
    if done.status != 0:
        return None
    lines = [line.partition("\t") for line in done.text.splitlines()]
    return next((oid for oid, _, found in lines if found == name), "")
