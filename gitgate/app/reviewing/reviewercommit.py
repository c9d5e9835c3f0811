"""Which work commit is a reviewer's own edit of what was under review before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.core.person import Person
from gitgate.core.quoting import path_text
from gitgate.core.request import Request
from gitgate.core.trailers import parse_trailers
from gitgate.errors import GateError
from gitgate.git.mailmap import Mailmap
from gitgate.git.objects import Commit

TRAILER = "Edited-In-Review"
"""The trailer of an edit's commit; its value is the request that was under review."""


@dataclass(frozen=True, slots=True)
class ReviewerEdit:
    """A reviewer's edit of one file; `signed`: a key of that person made a good signature on the
    commit. Without one it is a claim of whoever made the commit."""

    commit: str
    path: str
    person: str
    signed: bool

    def document(self) -> dict[str, Any]:
        return {
            "commit": self.commit,
            "path": self.path,
            "by": self.person,
            "signed": self.signed,
        }


def reviewer_edit(
    world: World, policy: PolicyCommit, loaded: Loaded, iteration: int
) -> ReviewerEdit | None:
    """What the work commit of an iteration of the latest life is, where it is a reviewer's edit of
    what the iteration before asked.

    It names that request, changes one file of that work, and has the same listed person as its
    author, as its committer and as who opened the iteration.
    """
    life = loaded.instance.life
    asked = {one.number: one.request for one in (life.iterations if life else ())}
    now = loaded.ledger.requests.get(asked.get(iteration, ""))
    before = loaded.ledger.requests.get(asked.get(iteration - 1, ""))
    if now is None or before is None:
        return None
    try:
        return _edit(world, policy, before, now)
    except GateError:  # a commit that is not here is shown as nobody's edit
        return None


def _edit(world: World, policy: PolicyCommit, before: Request, now: Request) -> ReviewerEdit | None:
    commit, reviewed = world.repo.commit(now.work), world.repo.commit(before.work)
    if commit.parents != (before.work,) or not _names(commit, before):
        return None
    person = _one_person(policy, now, commit)
    paths = world.trees.changes(reviewed.tree, commit.tree)
    if person is None or len(paths) != 1:
        return None
    return ReviewerEdit(
        commit.id, path_text(next(iter(paths))), person, _signer(world, policy, commit) == person
    )


def _names(commit: Commit, request: Request) -> bool:
    try:
        return (TRAILER, request.id) in parse_trailers(commit.message)
    except ValueError:
        return False


def _one_person(policy: PolicyCommit, request: Request, commit: Commit) -> str | None:
    """The listed person who is all of author, committer and opener; None for anybody else."""
    mailmap = Mailmap(policy.mailmap)

    def listed(person: Person) -> str | None:
        return policy.people.person_of(mailmap.resolve(person).email)

    hands = (commit.author.person, commit.committer.person, request.opened.person)
    people = {listed(one) for one in hands}
    return people.pop() if len(people) == 1 else None


def _signer(world: World, policy: PolicyCommit, commit: Commit) -> str | None:
    if commit.signature is None or commit.signed_payload is None:
        return None
    return world.signer_of(policy, commit.signed_payload, commit.signature, commit.committer.time)
