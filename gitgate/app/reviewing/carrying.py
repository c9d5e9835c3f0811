"""Comments that are not signed yet, when another iteration arrives: they go with their lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gitgate.app.reviewing.remembered import Noted
from gitgate.core import lineage
from gitgate.core.decision import Comment
from gitgate.core.lineage import GONE, Carried
from gitgate.core.request import Request
from gitgate.errors import GateError
from gitgate.git.diffs import MAX_COUNTED
from gitgate.git.patches import compare
from gitgate.git.repository import Repository


def carry(
    repo: Repository, request: Request, comments: Iterable[Noted]
) -> tuple[tuple[Noted, ...], str]:
    """The comments on the contents of `request`, and what a person has to know about that.

    A comment whose line is not there any more is one on the whole file, and its text says so.
    """
    carried: list[Noted] = []
    moved = gone = 0
    for one in comments:
        comment, oid = one.comment, content(repo, request, one.comment.path)
        if oid != one.oid:
            now = _now(repo, one, oid)
            moved += now.line not in (None, comment.line)
            gone += now.line is None
            one = Noted(_placed(comment, now), oid)
        carried.append(one)
    return tuple(carried), _told(moved, gone)


def content(repo: Repository, request: Request, path: bytes) -> str:
    """The object id of a file in the work under review; "" where it is not there."""
    try:
        found = repo.entry(repo.commit(request.work).tree, path)
    except GateError:
        return ""
    return found[1] if found else ""


def _now(repo: Repository, one: Noted, oid: str) -> Carried:
    if one.comment.line == 0:
        return Carried(lineage.Fate.SAME, 0)
    try:
        old, new = (repo.read_small(each, MAX_COUNTED) if each else None for each in (one.oid, oid))
    except GateError:
        return GONE
    if old is None or new is None:
        return GONE
    return lineage.carry(one.comment.line, compare(old, new, 0), old, new)


def _placed(comment: Comment, now: Carried) -> Comment:
    if now.line is not None:
        return replace(comment, line=now.line)
    said = f"(on line {comment.line} of an earlier iteration) {comment.text}"
    return Comment(comment.path, 0, said)


def _told(moved: int, gone: int) -> str:
    said = []
    if moved:
        said.append(f"{moved} moved with the line" if moved == 1 else f"{moved} moved with lines")
    if gone:
        said.append(f"{gone} on a line that is gone, about the whole file now")
    return f"of your comments: {', '.join(said)}" if said else ""
