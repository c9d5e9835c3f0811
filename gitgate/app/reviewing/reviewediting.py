"""A reviewer's edit of an artifact: a commit of theirs, the next iteration, and the subject's
branch at it; where that branch is in somebody's way, a branch beside it.

First the iteration is opened, then the branch moves: what is refused leaves both as they were.
Nothing that is not committed is touched: the content comes from the reviewed commit.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from gitgate.app.asking.opening import Ask, Opened, Result, open_gate
from gitgate.app.asking.validations import Report, Watch
from gitgate.app.gather.world import World
from gitgate.app.reviewing import reviewing
from gitgate.app.reviewing.editbranch import advance, beside, obstacle, remote_obstacle
from gitgate.app.reviewing.reviewercommit import TRAILER
from gitgate.app.reviewing.reviewing import Desk
from gitgate.core.findings import gravest_first, line_of
from gitgate.core.person import Stamp
from gitgate.core.quoting import path_text
from gitgate.core.request import Request
from gitgate.core.trailers import format_trailers
from gitgate.errors import Exit, GateError
from gitgate.git.repository import Repository
from gitgate.git.trees import DIRECTORY

_FINDINGS_SHOWN = 5
_NOTHING_TO_OPEN = {
    Result.NOT_NEEDED: "the gate compares nothing that your edit changes",
    Result.ALREADY_OPEN: "the gate compares nothing that your edit changes",
    Result.ALREADY_APPROVED: "the work with your edit is approved already",
}


@dataclass(frozen=True, slots=True)
class Put:
    """The commit of an edit as it was put up: `opened` where it is the next iteration, `aside` is
    why it may not be on the subject's branch, `unheard` the remote that gave no answer."""

    commit: str
    opened: bool
    aside: str = ""
    unheard: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """What an edit became: its commit, the branch that it is on, and why that is another one than
    the subject's; `opened` where it is the next iteration."""

    commit: str
    branch: str
    aside: str
    opened: bool


class _InTheWayError(GateError):
    """The subject's branch may not have the edit."""


def original(world: World, request: Request, path: bytes) -> bytes:
    """The reviewed content of a file. Raises GateError (usage) for what is no regular file."""
    data = world.repo.blob_at(request.work, path)
    if data is None:
        raise GateError(
            Exit.USAGE, f"{path_text(path)} is no regular file, so an editor cannot change it"
        )
    return data


def put_up(world: World, desk: Desk, path: bytes, data: bytes, watch: Watch) -> Put:
    """Commit `data` as the new content of `path`, and open the next iteration with that where the
    subject's branch may have it.

    No branch moves. Raises GateError where neither was possible: blocked where validations refuse
    the edit, stale where another request is the newest one, and what `open_gate` raises.
    """
    request, unheard = desk.request, ""
    commit = _committed(world.repo, request, desk.document["iteration"], path, data)
    aside = obstacle(world, request, commit)
    if aside:
        return Put(commit, False, aside)

    def last_look() -> None:
        nonlocal unheard
        if not reviewing.fetch(world, request.gate, request.subject):
            unheard = str(world.remote)
        world.forget()
        if reviewing.moved(world, desk) is not None:
            raise GateError(Exit.STALE, "another iteration arrived meanwhile")
        why = obstacle(world, request, commit)
        why = why or remote_obstacle(world, request, answers=not unheard)
        if why:
            raise _InTheWayError(Exit.BLOCKED, why)

    world.forget()
    try:
        opened = open_gate(world, _ask(request, commit), watch, last_look)
    except _InTheWayError as error:
        return Put(commit, False, error.message, unheard)
    except (GateError, KeyboardInterrupt):
        if not _is_newest(world, desk, commit):
            raise
        return Put(commit, True, "", unheard)
    if opened.report is not None:
        raise _refused(opened, opened.report)
    return Put(commit, opened.result is Result.ITERATED, _nothing_opened(opened), unheard)


def placed(world: World, request: Request, put: Put) -> Edit:
    """Give the commit a branch: the subject's, or one beside it. Raises GateError for neither."""
    aside = put.aside or obstacle(world, request, put.commit)
    if not aside:
        try:
            advance(world, request, put.commit)
            return Edit(put.commit, request.subject, "", put.opened)
        except GateError as error:
            aside = error.message
    return Edit(put.commit, beside(world.repo, request.subject, put.commit), aside, put.opened)


def following(edit: Edit) -> str:
    """The command by which the asking side takes an edit that stands beside its branch."""
    return f"git merge {shlex.quote(edit.branch)}"


def _ask(request: Request, commit: str) -> Ask:
    return Ask(
        gate=request.gate,
        subject=request.subject,
        target=request.target,
        commit=commit,
        base=request.base,
        follows=request.id,
    )


def _is_newest(world: World, desk: Desk, commit: str) -> bool:
    """Whether the commit is what the instance asks about by now."""
    world.forget()
    newest = world.load(desk.policy, desk.loaded.gate, desk.loaded.subject).newest
    return newest is not None and newest.work == commit


def _nothing_opened(opened: Opened) -> str:
    if opened.result is Result.ITERATED:
        return ""
    return _NOTHING_TO_OPEN.get(opened.result, f"the gate was not opened ({opened.result})")


def _refused(opened: Opened, report: Report) -> GateError:
    names = ", ".join(f"`{one.validation.name}`" for one in report.blocking)
    found = [located for one in report.blocking for located in gravest_first(one.findings)]
    lines = [line_of(one) for one in found[:_FINDINGS_SHOWN]]
    if len(found) > _FINDINGS_SHOWN:
        lines.append(f"and {len(found) - _FINDINGS_SHOWN} more")
    said = "; ".join(lines)
    return GateError(
        Exit.BLOCKED, f"the validation {names} of gate {opened.gate.id} refuses it: {said}"
    )


def _committed(repo: Repository, request: Request, iteration: int, path: bytes, data: bytes) -> str:
    stamp = repo.identity()
    tree = _with(repo, repo.commit(request.work).tree, path.split(b"/"), data)
    message = (
        f"Edit {path_text(path)} in review of {request.gate}, iteration {iteration}\n\n"
        + format_trailers([(TRAILER, request.id)])
    )
    return _commit(repo, tree, request.work, stamp, message)


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
