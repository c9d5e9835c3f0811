"""Who had a hand in the work under review (design, section 5, "Who counts")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gitgate.app.gather.policies import PolicyCommit
from gitgate.core.authors import Author, co_authors
from gitgate.core.person import Person
from gitgate.core.request import Request
from gitgate.git.mailmap import Mailmap
from gitgate.git.objects import Commit

if TYPE_CHECKING:
    from gitgate.app.gather.world import World


def authors_of(
    world: World, policy: PolicyCommit, requests: Iterable[Request]
) -> tuple[Author, ...]:
    """Everybody who wrote, committed or co-wrote a commit of B..W, or opened one of `requests`.

    Pure merges of the base are left out. Raises GateError where the commits are absent.
    """
    mailmap = Mailmap(policy.mailmap)
    found: dict[tuple[Person, str | None], Author] = {}
    for request in requests:
        opener = Author(mailmap.resolve(request.opened.person), "opened the gate")
        found.setdefault((opener.identity, None), opener)
        for commit in world.repo.between(request.base, request.work):
            if _is_base_merge(world, request, commit):
                continue
            for author in _hands(world, policy, mailmap, commit):
                found.setdefault((author.identity, author.signer), author)
    return tuple(found.values())


def _hands(
    world: World, policy: PolicyCommit, mailmap: Mailmap, commit: Commit
) -> Iterator[Author]:
    short = commit.id[:12]
    yield Author(mailmap.resolve(commit.author.person), f"wrote {short}")
    signer = _signer(world, policy, commit)
    yield Author(mailmap.resolve(commit.committer.person), f"committed {short}", signer)
    for person in co_authors(commit.message):
        yield Author(mailmap.resolve(person), f"co-wrote {short}")


def _signer(world: World, policy: PolicyCommit, commit: Commit) -> str | None:
    """The listed person whose key made a good signature on the commit itself."""
    if commit.signature is None or commit.signed_payload is None:
        return None
    return world.signer_of(policy, commit.signed_payload, commit.signature, commit.committer.time)


def _is_base_merge(world: World, request: Request, commit: Commit) -> bool:
    """A merge of the base into the branch that changes nothing which git would not have.

    Its author decided nothing: the tree is what git's own merge gives, and what came in by the
    further parents is not of this work (it is reachable from the base or the target's tip).
    """
    if len(commit.parents) != 2:
        return False
    ours, theirs = commit.parents
    outside = [side for side in (request.base, request.tip) if side]
    if not any(world.repo.is_ancestor(theirs, side) for side in outside):
        return False
    merged = world.trees.merge_commits(ours, theirs)
    return merged is not None and not merged.conflicts and merged.tree == commit.tree
