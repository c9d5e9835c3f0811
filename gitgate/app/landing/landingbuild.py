"""The four ways to land, each by the git commands that a person would type.

So the project's own hooks run, and commits are signed where the user signs.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import StrEnum

from gitgate import process
from gitgate.app.landing.landingtext import Grounds, merge_text, said, squash_text, with_trailers
from gitgate.app.landing.landingtree import LandingTree
from gitgate.core.quoting import path_text
from gitgate.errors import Exit, GateError
from gitgate.git.objects import Commit
from gitgate.git.repository import Repository

_SHOWN = 10


class Method(StrEnum):
    """How the work comes onto the branch; the words of `check`'s `methods`."""

    FF = "ff"
    MERGE = "merge"
    SQUASH = "squash"
    REBASE = "rebase"

    @property
    def commits(self) -> bool:
        """Whether it makes a commit of its own, which has a message."""
        return self in (Method.MERGE, Method.SQUASH)

    @property
    def keeps_commits(self) -> bool:
        """Whether the reviewed commits themselves are in the branch then."""
        return self in (Method.FF, Method.MERGE)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be built: the work `head` on `tip`; `name` is what people call the work.

    `text` is the message that was given; `base` is how the branch is called here; `again` and
    `reopen` are the commands that land the work and put it up for review, for hints.
    """

    method: Method
    tip: str
    head: str
    name: str
    is_branch: bool
    base: str
    again: str
    reopen: str
    text: str | None
    grounds: Grounds


def build(repo: Repository, tree: LandingTree, plan: Plan) -> str:
    """Make the landing in `tree`, which has the tip checked out; the commit that is to land.

    Raises GateError (blocked): a conflict, or what git or a hook of the project refused.
    """
    match plan.method:
        case Method.FF:
            _forward(repo, tree, plan)
        case Method.MERGE:
            text = plan.text or merge_text(plan.name, plan.is_branch)
            options = ("--no-ff", "--no-edit", "--no-log", "--no-squash", "--commit")
            _run(tree, plan, "merge", *options, "-F", _message(tree, plan, text), plan.head)
        case Method.SQUASH:
            text = plan.text or squash_text(plan.name, _commits(repo, plan))
            _run(tree, plan, "merge", "--ff", "--squash", plan.head)
            _run(tree, plan, "commit", "--quiet", "-F", _message(tree, plan, text))
        case Method.REBASE:
            _run(tree, plan, "rebase", "--no-fork-point", plan.tip, plan.head)
    return tree.commit()


def _forward(repo: Repository, tree: LandingTree, plan: Plan) -> None:
    if repo.first_parents(plan.head, plan.tip) is None:
        raise GateError(
            Exit.BLOCKED,
            f"{plan.name} cannot land as a fast-forward: {plan.base} is at {plan.tip[:12]}, which"
            " is not on the branch's own first-parent history",
            f"{plan.again} --method merge",
        )
    _run(tree, plan, "merge", "--ff-only", plan.head)


def _commits(repo: Repository, plan: Plan) -> list[Commit]:
    """The commits that a squash makes one of, oldest first, merges left out."""
    found = repo.between(plan.tip, plan.head)
    return [commit for commit in reversed(found) if len(commit.parents) == 1]


def _message(tree: LandingTree, plan: Plan, text: str) -> str:
    file = tree.aside / "MESSAGE"
    message = with_trailers(text, plan.grounds).replace("\0", "")
    file.write_text(message, encoding="utf-8", errors="surrogateescape", newline="")
    return str(file)


def _run(tree: LandingTree, plan: Plan, command: str, *args: str) -> None:
    answer = tree.git(command, *args)
    if answer.status == 0:
        return
    conflicts = tree.conflicts()
    raise _conflict(plan, conflicts) if conflicts else _stopped(plan, command, answer)


def _conflict(plan: Plan, paths: tuple[bytes, ...]) -> GateError:
    names = [path_text(path) for path in paths]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return GateError(
        Exit.BLOCKED,
        f"{plan.name} does not {_VERBS[plan.method]} {plan.base} cleanly: conflict in"
        f" {', '.join(names[:_SHOWN])}{more}",
        # By now the rule has found that the plain merge is clean.
        f"{plan.again} --method merge" if plan.method is Method.REBASE else base_merge(plan),
    )


_VERBS = {
    Method.FF: "fast-forward",
    Method.MERGE: "merge into",
    Method.SQUASH: "merge into",
    Method.REBASE: "rebase onto",
}


def base_merge(plan: Plan) -> str:
    """The commands by which a person resolves a conflict and has the result looked at."""
    switch = f"git switch {shlex.quote(plan.name)} && " if plan.is_branch else ""
    return f"{switch}git merge {shlex.quote(plan.base)} && {plan.reopen}"


def _stopped(plan: Plan, command: str, answer: process.Completed) -> GateError:
    return GateError(
        Exit.BLOCKED,
        "\n".join(
            [
                f"git {command}, or a hook of the project, refused; nothing landed:",
                *said(answer.stdout + answer.stderr),
            ]
        ),
        f"mend that, then {plan.again}",
    )
