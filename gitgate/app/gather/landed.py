"""What has landed on a target, and the histories that the landing rule asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gitgate.app.gather.policies import PolicyCommit
from gitgate.core.compared import Compared, compared_paths
from gitgate.core.landing import (
    Absent,
    Candidate,
    Reviewed,
    Step,
    Stretch,
    Undecided,
    landed_before,
)
from gitgate.core.request import Request
from gitgate.errors import Exit, GateError

if TYPE_CHECKING:
    from gitgate.app.gather.world import World


class GitHistory:
    """The histories of a repository for the landing rule; `more` maps commits not written in it.

    Requests are known by their ids through `requests`.
    """

    def __init__(self, world: World, requests: dict[str, Request]) -> None:
        self._world = world
        self._requests = requests
        self._chains: dict[tuple[str | None, str], list[Step]] = {}

    def since(self, tip: str | None, commit: str) -> Sequence[Step]:
        """The first-parent chain from `tip` (all of it, where it is not on it) to `commit`.

        A shallow clone can tell where it has the commits from `tip` on.
        """
        if (tip, commit) not in self._chains:
            newest_first = self._world.repo.first_parents(commit, tip)
            if newest_first is None:
                return self.since(None, commit)
            self._chains[tip, commit] = [Step(c.id, c.tree) for c in reversed(newest_first)]
        return self._chains[tip, commit]

    def reviewed(self, request: str) -> Sequence[Reviewed]:
        """The commits of B..W with the trees that each may be merged over."""
        asked = self._requests[request]
        repo = self._world.repo
        try:
            base = repo.commit(asked.base).tree
            return [
                Reviewed((base, *self._merge_bases(asked.base, commit.id)), commit.tree)
                for commit in repo.between(asked.base, asked.work)
            ]
        except GateError as error:
            raise Absent(f"{error.message}: {error.hint}") from None

    def _merge_bases(self, base: str, commit: str) -> Iterator[str]:
        repo = self._world.repo
        for found in repo.merge_bases(base, commit):
            if found != base:
                yield repo.commit(found).tree


def candidate(world: World, request: Request) -> Candidate:
    """The request as the landing rule sees it."""
    commit = world.repo.commit
    return Candidate(request.id, commit(request.base).tree, commit(request.work).tree, request.tip)


def is_landing(world: World, policy: PolicyCommit, request: Request, old: str, new: str) -> bool:
    """Whether old→new is a stretch of the target's first-parent chain that is `request`'s."""
    gate = policy.policy.gates.get(request.gate)
    _, tip = world.target_tip(request.target)
    if gate is None or tip is None:
        return False
    line = world.mainline(tip)
    try:
        line.reach(old, request.tip)
    except GateError:
        if line.place(old) is None:
            raise
    first, last, asked = line.place(old), line.place(new), line.place(request.tip or "")
    # The chain begins at the request's tip where that lies on it.
    if first is None or last is None or last >= first or (asked is not None and asked < first):
        return False
    commit = world.repo.commit
    stretch = [Step(old, commit(old).tree), Step(new, commit(new).tree)]
    compared = compared_of(world, policy, request)
    # Alone as a rule: then nobody else's requests have to be looked for.
    return (
        _landed_on(world, request, stretch, compared, ()) is not None
        or _landed_on(world, request, stretch, compared) is not None
    )


def has_landed(world: World, policy: PolicyCommit, request: Request) -> tuple[str, str] | None:
    """The stretch (old, new) of the target by which `request` has landed, None where it has not.

    Only the target's first-parent chain since the request's `Tip` decides (design, section 6).
    """
    _, tip = world.target_tip(request.target)
    if tip is None or request.gate not in policy.policy.gates:
        return None
    chain = GitHistory(world, {}).since(request.tip, tip)
    found = _landed_on(world, request, chain, compared_of(world, policy, request))
    return (chain[found.start].commit, chain[found.end].commit) if found else None


def compared_of(world: World, policy: PolicyCommit, request: Request) -> Compared:
    """The paths that the request's gate compares on the request's target."""
    gate = policy.policy.gates[request.gate]
    on_policy_ref = holds_policy(world, request.target)
    return compared_paths(policy.policy, gate, request.target, on_policy_ref=on_policy_ref)


def holds_policy(world: World, ref: str) -> bool:
    """Whether `ref` is the policy ref."""
    where = world.policy_ref(ref)
    return where is not None and where.name == ref


def partners(
    world: World, gate: str, target: str, around: Sequence[Candidate] | None = None
) -> tuple[Candidate, ...]:
    """All requests of a gate and target, approved or not: a chain that landed may hold any. With
    `around` only those that can stand in a chain with one of these."""
    return world.sieve.partners(gate, target, around)


def elsewhere(world: World, request: Request, chain: Sequence[str]) -> str:
    """Why `request` was not asked of the ref with this first-parent chain (commits, oldest first);
    empty where it was.

    Its `Tip` lies on that chain; where the target did not exist yet, its base shares history with
    it. A ledger copied from an unrelated repository authorises nothing (design, sections 3, 4).
    """
    try:
        if request.tip is None:
            related = bool(world.repo.merge_bases(request.base, chain[0]))
        else:
            related = request.tip in chain or bool(world.repo.first_parents(chain[0], request.tip))
    except GateError as error:
        return f"was asked of a history that is not all here: {error.message}"
    return "" if related else f"was asked of another history than that of {request.target}"


def _landed_on(
    world: World,
    request: Request,
    chain: Sequence[Step],
    compared: Compared,
    others: Sequence[Candidate] | None = None,
) -> Stretch | None:
    one = candidate(world, request)
    if others is None:
        others = partners(world, request.gate, request.target, [one])
    try:
        return landed_before(one, others, chain, world.trees, compared)
    except Undecided as error:
        raise GateError(
            Exit.BLOCKED,
            f"nobody can tell whether {request.gate} of {request.subject} has landed: {error}",
            f"git gate open {request.gate} --subject {request.subject}",
        ) from None
