"""A reviewer's edit of an artifact: a commit of theirs on the subject's branch, and the next
iteration; where that branch is in somebody's way, a branch beside it.

Nothing that is not committed is touched: the content comes from the reviewed commit.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from gitgate.app.asking.opening import Ask, Opened, open_gate
from gitgate.app.asking.validations import Watch
from gitgate.app.gather.world import World
from gitgate.app.reviewing.reviewercommit import TRAILER
from gitgate.core.person import Stamp
from gitgate.core.quoting import path_text
from gitgate.core.request import Request
from gitgate.core.trailers import format_trailers
from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.repository import Repository
from gitgate.git.trees import DIRECTORY

_ASIDE = 100  # branches beside one that are tried


@dataclass(frozen=True, slots=True)
class Edit:
    """What an edit became: its commit, the branch it is on, and why that is another than the
    subject's; `opened` is the next iteration."""

    commit: str
    branch: str
    aside: str
    opened: Opened | None


def original(world: World, request: Request, path: bytes) -> bytes:
    """The reviewed content of a file. Raises GateError (usage) for what is no regular file."""
    data = world.repo.blob_at(request.work, path)
    if data is None:
        raise GateError(
            Exit.USAGE, f"{path_text(path)} is no regular file, so an editor cannot change it"
        )
    return data


def commit_edit(
    world: World, request: Request, iteration: int, path: bytes, data: bytes, watch: Watch
) -> Edit:
    """Commit `data` as the new content of `path`, and open the next iteration with it.

    Raises GateError where the commit cannot be made; once it is there it stays on a branch.
    """
    repo, stamp = world.repo, world.repo.identity()
    tree = _with(repo, repo.commit(request.work).tree, path.split(b"/"), data)
    message = (
        f"Edit {path_text(path)} in review of {request.gate}, iteration {iteration}\n\n"
        + format_trailers([(TRAILER, request.id)])
    )
    commit = _commit(repo, tree, request.work, stamp, message)
    name = f"refs/heads/{request.subject}"
    aside = _obstacle(world, request, name)
    if not aside:
        try:
            _advance(world, name, request.work, commit)
        except GateError as error:
            aside = error.message
    if aside:
        return Edit(commit, _beside(repo, request.subject, commit), aside, None)
    ask = Ask(
        gate=request.gate,
        subject=request.subject,
        target=request.target,
        commit=commit,
        base=request.base,
        summary=f"{stamp.person.name} edited {path_text(path)} in review",
    )
    world.forget()
    return Edit(commit, request.subject, "", open_gate(world, ask, watch))


def _commit(repo: Repository, tree: str, parent: str, stamp: Stamp, message: str) -> str:
    """Store the commit, signed where the reviewer's git signs commits."""
    if not repo.flag("commit.gpgsign"):
        return repo.write_commit(tree, (parent,), stamp, stamp, message)
    done = repo.git("commit-tree", "-S", "-p", parent, tree, stdin=message.encode())
    if done.status != 0:
        raise GateError(
            Exit.BLOCKED,
            f"git could not sign the commit of your edit: {done.complaint}",
            "git config commit.gpgSign",
        )
    return done.text


def _with(repo: Repository, tree: str, path: list[bytes], data: bytes) -> str:
    """A tree with another content of one file."""
    entries = dict(repo.children(tree))
    name, *rest = path
    mode, oid = entries[name]
    if rest:
        entries[name] = (DIRECTORY, _with(repo, oid, rest, data))
    else:
        entries[name] = (mode, repo.write_blob(data))
    return repo.write_tree(entries)


def _obstacle(world: World, request: Request, name: str) -> str:
    """Why the commit may not go onto the subject's branch; "" where it may."""
    repo = world.repo
    tip = refs.read(repo, name)
    if tip is None:
        remote = f"refs/remotes/{world.remote}/{request.subject}"
        there = refs.read(repo, remote) if world.remote else None
        if there is None:
            return f"the subject {request.subject} is no branch here"
        return "" if there == request.work else f"{remote} is not at the reviewed commit any more"
    if tip != request.work:
        return f"the branch {request.subject} is not at the reviewed commit any more"
    here = repo.head_ref() == name and repo.work_tree is not None
    if len(_checkouts(repo, name)) > (1 if here else 0):
        return f"the branch {request.subject} is checked out in another work tree"
    if here and repo.git("status", "--porcelain", "--untracked-files=no").stdout:
        return f"the branch {request.subject} is checked out here with changes not committed"
    return ""


def _checkouts(repo: Repository, name: str) -> list[bytes]:
    """The work trees that have the branch `name`."""
    listed = repo.git("worktree", "list", "--porcelain", "-z").stdout.split(b"\0")
    return [line for line in listed if line == b"branch " + name.encode()]


def _advance(world: World, name: str, old: str, new: str) -> None:
    """Move the branch to `new`, with index and work tree where it is checked out here."""
    repo = world.repo
    here = repo.head_ref() == name and repo.work_tree is not None
    tip = refs.read(repo, name)
    if tip not in (None, old):
        raise GateError(Exit.STALE, f"{name} is not at the reviewed commit any more")
    if here:
        done = repo.git("read-tree", "-m", "-u", old, new)
        if done.status != 0:
            raise GateError(Exit.BLOCKED, f"git could not change the work tree: {done.complaint}")
    try:
        refs.compare_and_swap(repo, name, new, tip, "git-gate: edited in review")
    except GateError:
        if here:
            repo.git("read-tree", "-m", "-u", new, old)
        raise


def _beside(repo: Repository, subject: str, commit: str) -> str:
    """A new branch for an edit that has no place on its own one."""
    for number in range(1, _ASIDE):
        branch = f"review/{subject}" if number == 1 else f"review/{subject}-{number}"
        if refs.read(repo, f"refs/heads/{branch}") is not None:
            continue
        done = repo.git("branch", "--no-track", "--", branch, commit)
        if done.status == 0:
            return branch
    raise GateError(
        Exit.BLOCKED,
        f"your edit is commit {commit}, and no branch could be made for it",
        f"git branch NAME {commit}",
    )


def following(edit: Edit) -> str:
    """The command by which the asking side takes an edit that stands beside its branch."""
    return f"git merge {shlex.quote(edit.branch)}"
