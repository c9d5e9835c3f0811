"""May a guarded ref make this move? The one function behind `check`, the hooks and `verify`.

Which chain is walked and by which policy (design, sections 5 and 6): along a ref, on the policy
ref, where a ref comes into being, and where one would go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.app.judging.discarded import discarded
from gitgate.app.judging.judge import ends, judge_chain, total
from gitgate.app.judging.judgement import Judgement, Move
from gitgate.app.judging.phasing import unnamed_moves
from gitgate.core.landing import Step
from gitgate.core.outcome import Outcome, most_urgent
from gitgate.errors import GateError

PolicyAt = Callable[[int], PolicyCommit | None]


def judge_move(
    world: World,
    ref: str,
    old: str | None,
    new: str | None,
    *,
    subject: str | None = None,
) -> Judgement:
    """May `ref` move from `old` to `new`? None is a ref that does not exist.

    `old` is the ref's own value where the move happens: the policy ref is judged by the policy
    at each stretch's start, any other by the policy in force. Raises GateError where the policy
    or an object cannot be read.
    """
    where = world.policy_ref(ref)
    if where is None:
        return Judgement(Outcome.NO_POLICY, ref, old, new, None, reasons=(_NO_POLICY,))
    if where.name == ref:
        return _on_policy_ref(world, ref, old, new, subject)
    policy = world.policy_at(where.tip) if where.tip else None
    if policy is None:
        return Judgement(Outcome.NO_POLICY, ref, old, new, None, reasons=(_NO_POLICY,))
    if not policy.policy.guarding(ref):
        return _not_guarded(ref, old, new, policy.commit)
    if new is None:
        return _refused(ref, old, new, policy, f"{ref} is guarded and may not be deleted", "")
    if old is None:
        return _created(world, ref, new, policy, subject)
    if ref.startswith("refs/tags/"):
        return _refused(ref, old, new, policy, f"{ref} is a guarded tag and may not be moved", "")
    return _along(world, ref, old, new, lambda _: policy, False, subject)


_NO_POLICY = "neither end of the move has a policy, so nothing is gated"


def _on_policy_ref(
    world: World, ref: str, old: str | None, new: str | None, subject: str | None
) -> Judgement:
    if old is None and new is not None:
        return _adoption_or_return(world, ref, new)
    policy = world.policy_at(old) if old else None
    if new is None:
        if policy is None:
            return Judgement(Outcome.NO_POLICY, ref, old, new, None, reasons=(_NO_POLICY,))
        return _refused(ref, old, new, policy, f"{ref} holds the policy and may not be deleted", "")
    chain = chain_of(world, old or "", new)
    if chain is None:
        if policy is None:
            return _first_policy(world, ref, old, new)
        return _hidden(ref, old, new, policy)
    policies = policies_along(world, chain)
    return _along(world, ref, old or "", new, policies, True, subject)


def policies_along(world: World, chain: Sequence[Step]) -> PolicyAt:
    """The policy at each position; reading them all now refuses one that could never be read."""
    found = [world.policy_at(step.commit) for step in chain]
    last: PolicyCommit | None = None
    in_force: list[PolicyCommit | None] = []
    for position, policy in enumerate(found):
        brought = position + 1 < len(found) and found[position + 1] is not None
        if policy is None and brought:
            # Only the first policy of a history is an adoption: one that comes back after it was
            # taken away is judged by the one that was.
            last = last or _last_policy_before(world, chain[0].commit)
            in_force.append(last)
        else:
            in_force.append(policy)
        last = policy or last
    return in_force.__getitem__


def _last_policy_before(world: World, commit: str) -> PolicyCommit | None:
    for ancestor in world.repo.first_parents(commit) or ():
        policy = world.policy_at(ancestor.id)
        if policy is not None:
            return policy
    return None


def _along(
    world: World,
    ref: str,
    old: str,
    new: str,
    policy_at: PolicyAt,
    on_policy_ref: bool,
    subject: str | None,
) -> Judgement:
    chain = chain_of(world, old, new)
    if chain is None:
        policy = policy_at(0)
        return _hidden(ref, old, new, policy)
    move = Move(ref, chain, policy_at, on_policy_ref, subject, (new,))
    return judgement(world, move, old, new)


def judgement(world: World, move: Move, old: str | None, new: str | None) -> Judgement:
    """The rows of `move` and what they say together."""
    rows = judge_chain(world, move)
    first = move.policy_at(0)
    status = total(rows)
    unnamed = list(unnamed_moves(world, move))
    if unnamed:
        status = most_urgent((Outcome.BLOCKED, status))
    policies = [move.policy_at(place) for place in range(len(move.chain))]
    if not any(policies):
        return Judgement(Outcome.NO_POLICY, move.ref, old, new, None, reasons=(_NO_POLICY,))
    if first is None and status.allowed:
        status = Outcome.ADOPTION
    reasons = [reason for row in rows if not row.status.allowed for reason in row.reasons]
    reasons += unnamed
    if status is Outcome.ADOPTION:
        reasons = [f"this brings the first policy of {move.ref}"]
    elif not rows and not unnamed:
        reasons = [f"no gate guards {move.ref}"]
    elif status is Outcome.NOT_NEEDED:
        reasons = [f"{row.gate}: {reason}" for row in rows for reason in row.reasons]
    hint = next((row.hint for row in rows if row.status is status and row.hint), "")
    return Judgement(
        status,
        move.ref,
        old,
        new,
        first.commit if first else None,
        rows,
        tuple(reasons),
        hint,
        warnings=tuple(discarded(world, move)),
    )


def chain_of(world: World, old: str, new: str) -> list[Step] | None:
    """The first-parent chain old..new, oldest first; None where `old` does not lie on it."""
    commits = world.repo.first_parents(new, old)
    return None if commits is None else [Step(c.id, c.tree) for c in reversed(commits)]


def _hidden(ref: str, old: str | None, new: str, policy: PolicyCommit | None) -> Judgement:
    return _refused(
        ref,
        old,
        new,
        policy,
        f"{ref} would move to {new[:12]}, on whose first-parent chain its present commit"
        f" {(old or '')[:12]} does not lie: commits of {ref} would leave its own history",
        "git merge --no-ff the branch on top of the ref's present commit",
    )


def _refused(
    ref: str,
    old: str | None,
    new: str | None,
    policy: PolicyCommit | None,
    reason: str,
    hint: str,
) -> Judgement:
    commit = policy.commit if policy else None
    return Judgement(Outcome.BLOCKED, ref, old, new, commit, reasons=(reason,), hint=hint)


def _not_guarded(ref: str, old: str | None, new: str | None, policy: str) -> Judgement:
    return Judgement(Outcome.NOT_NEEDED, ref, old, new, policy, reasons=(f"no gate guards {ref}",))


def _adoption_or_return(world: World, ref: str, new: str) -> Judgement:
    """The policy ref comes into being: an adoption where there is nothing else yet.

    Otherwise it comes back, or comes late: all that landed on it since its adoption was authorised
    or is a landing now, and no other branch may have adopted another policy.
    """
    chain = list(reversed(world.repo.first_parents(new) or []))
    first = next((commit.id for commit in chain if world.policy_at(commit.id) is not None), None)
    if first is None:
        return Judgement(Outcome.NO_POLICY, ref, None, new, None, reasons=(_NO_POLICY,))
    for name, tip in _known_commits(world):
        if world.policy_at(tip) is not None and not world.repo.is_ancestor(first, tip):
            return Judgement(
                Outcome.BLOCKED,
                ref,
                None,
                new,
                None,
                reasons=(f"{ref} is gone, and {name} has adopted another policy than this one",),
                hint=f"restore {ref} to its last value, then push",
            )
    if world.known_refs():
        steps = [Step(commit.id, commit.tree) for commit in chain]
        stands = chain[max(_allowed(world, ref, steps))].id
        if stands != new:
            onward = policies_along(world, chain_of(world, stands, new) or ())
            return replace(_along(world, ref, stands, new, onward, True, None), old=None)
    return Judgement(
        Outcome.ADOPTION, ref, None, new, None, reasons=(f"this brings {ref} and its policy",)
    )


def _known_commits(world: World) -> Iterator[tuple[str, str]]:
    """The branches and tags with their commits; a tag may be on a file or a folder as well."""
    for name, tip in world.known_refs().items():
        if world.repo.kind(tip) == "commit":
            yield name, tip
        elif world.repo.kind(tip) == "tag":
            with suppress(GateError):
                yield name, world.repo.resolve(tip)


def _allowed(world: World, ref: str, chain: Sequence[Step]) -> set[int]:
    """The positions of the policy ref's own whole chain at which it was allowed to stand."""
    then = World(world.repo, world.now, world.remote, historic=True)
    try:
        return ends(then, Move(ref, chain, policies_along(then, chain), True))
    finally:
        then.close()


def _first_policy(world: World, ref: str, old: str | None, new: str) -> Judgement:
    """No policy at the old end, which is not on the new chain: an adoption, if there never was
    one."""
    if world.policy_at(new) is None:
        return Judgement(Outcome.NO_POLICY, ref, old, new, None, reasons=(_NO_POLICY,))
    last = _last_policy_before(world, old) if old else None
    if last is not None:
        return _hidden(ref, old, new, last)
    return Judgement(
        Outcome.ADOPTION, ref, old, new, None, reasons=(f"this brings the first policy of {ref}",)
    )


def _created(
    world: World, ref: str, new: str, policy: PolicyCommit, subject: str | None
) -> Judgement:
    """A guarded ref that is created may stand where a guarded branch was allowed to stand."""
    if not world.known_refs():
        return Judgement(
            Outcome.ADOPTION,
            ref,
            None,
            new,
            policy.commit,
            reasons=(f"this is the first ref: {ref}",),
        )
    places = standing_places(world, policy)
    for commit in world.repo.first_parents(new) or ():
        if commit.id == new and commit.id in places:
            return Judgement(
                Outcome.NOT_NEEDED,
                ref,
                None,
                new,
                policy.commit,
                reasons=(f"{new[:12]} is where {places[new]} stood",),
            )
        if commit.id in places:
            judged = _along(world, ref, commit.id, new, lambda _: policy, False, subject)
            return replace(judged, old=None)
    return _refused(
        ref,
        None,
        new,
        policy,
        f"{ref} would be created at {new[:12]}, which shares no commit with a guarded branch",
        f"create it from the guarded branch: git push origin <commit of main>:{ref}",
    )


def standing_places(world: World, policy: PolicyCommit) -> dict[str, str]:
    """The commits at which some guarded branch was allowed to stand, each with the branch.

    Up to the branch's adoption each of its first-parent chain; since then the ends of stretches
    and free steps, up to the first landing that nothing accounts for (design, section 5).
    """
    then = World(world.repo, world.now, world.remote, historic=True)
    places: dict[str, str] = {}
    try:
        for ref, tip in world.known_refs().items():
            if not ref.startswith("refs/heads/") or not policy.policy.guarding(ref):
                continue
            chain = [Step(c.id, c.tree) for c in reversed(world.repo.first_parents(tip) or [])]
            where = then.policy_ref(ref)
            on_policy_ref = where is not None and where.name == ref
            along = policies_along(then, chain) if on_policy_ref else lambda _: policy
            for position in ends(then, Move(ref, chain, along, on_policy_ref)):
                places.setdefault(chain[position].commit, ref)
    finally:
        then.close()
    return places
