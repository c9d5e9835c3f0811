"""May a guarded ref make this move? The one function behind `check`, the hooks and `verify`.

Design, section 6. Gathers the chain, the policy at each of its positions and the requests that
may account for it; the walk of `core.landing` decides; `app.explain` finds the words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gitgate.app.explain import explain
from gitgate.app.instances import Loaded
from gitgate.app.judgement import Judgement, Move, Row
from gitgate.app.landed import GitHistory, candidate, partners
from gitgate.app.places import standing_places
from gitgate.app.policies import PolicyCommit
from gitgate.app.vetoes import standing
from gitgate.app.world import World
from gitgate.core.compared import compared_paths
from gitgate.core.gate import Status
from gitgate.core.landing import Candidate, Rule, Step, Walk, walk
from gitgate.core.outcome import Outcome, most_urgent
from gitgate.core.policy import Gate
from gitgate.core.request import Kind, Request
from gitgate.errors import Exit, GateError


def judge_chain(world: World, move: Move) -> tuple[Row, ...]:
    """A row for each gate and subject that the move needs; empty where no gate guards the ref."""
    gates: dict[str, None] = {}
    for position in range(len(move.chain) - 1):
        policy = move.policy_at(position)
        for gate in policy.policy.guarding(move.ref) if policy else ():
            gates.setdefault(gate.id)
    rows: list[Row] = []
    for name in gates:
        rows += _judge_gate(world, move, name)
    return tuple(rows)


def total(rows: Sequence[Row]) -> Outcome:
    """What the rows say together; not needed where no gate asks for anything."""
    return most_urgent(row.status for row in rows) if rows else Outcome.NOT_NEEDED


def _rule_at(world: World, move: Move, name: str) -> Callable[[int], Rule | None]:
    """The rule of one gate at each position of the move, worked out once for each policy."""
    rules: dict[str, Rule] = {}

    def rule_at(position: int) -> Rule | None:
        policy = move.policy_at(position)
        gate = policy.policy.gates.get(name) if policy else None
        if policy is None or gate is None or not gate.guards_ref(move.ref):
            return None
        if policy.commit not in rules:
            rules[policy.commit] = _rule(world, move, policy, gate)
        return rules[policy.commit]

    return rule_at


def _judge_gate(world: World, move: Move, name: str) -> list[Row]:
    history = GitHistory(world, move.requests)
    result = walk(move.chain, _rule_at(world, move, name), world.trees, history)
    rows = _accounted(world, move, name, result)
    if result.stopped is not None:
        started = result.stretches[-1].end if result.stretches else 0
        policy = move.policy_at(started)
        if policy is None:  # the walk stops only where a rule is in force
            raise GateError(Exit.FATAL, f"no policy at {move.chain[started].commit[:12]}")
        rows.append(explain(world, move, policy, policy.policy.gates[name], result))
    if not rows:
        rows.append(
            Row(
                name,
                None,
                Outcome.NOT_NEEDED,
                None,
                None,
                ("no path that the gate compares changes",),
            )
        )
    return rows


def _rule(world: World, move: Move, policy: PolicyCommit, gate: Gate) -> Rule:
    found: list[Candidate] = []
    for subject in world.subjects(gate.id):
        loaded = world.load(policy, gate.id, subject)
        for request in loaded.ledger.requests.values():
            move.requests.setdefault(request.id, request)
        for request in authorising(world, policy, loaded, move.ref):
            move.used[request.id] = loaded
            found.append(candidate(world, request))
    return Rule(
        compared=compared_paths(policy.policy, gate, on_policy_ref=move.on_policy_ref),
        candidates=tuple(found),
        partners=partners(world, gate.id, move.ref) if found else (),
    )


def authorising(
    world: World, policy: PolicyCommit, loaded: Loaded, ref: str
) -> tuple[Request, ...]:
    """The newest request of the running life, if the policy calls it approved or skipped for
    `ref`; of a world that looks back, that of each life.

    An instance that is untrusted, or whose content a veto blocks, authorises nothing.
    """
    if loaded.faults:
        return ()
    lives = loaded.instance.lives if world.historic else (loaded.instance.running,)
    newest = (life.iterations[-1].request for life in lives if life and life.iterations)
    requests = (loaded.ledger.requests.get(one) for one in newest)
    return tuple(
        request
        for request in requests
        if request is not None and _authorises(world, policy, loaded, request, ref)
    )


def _authorises(
    world: World, policy: PolicyCommit, loaded: Loaded, request: Request, ref: str
) -> bool:
    if request.kind is not Kind.APPROVAL or request.target != ref:
        return False
    if world.verdict(policy, loaded, request).status not in (Status.APPROVED, Status.SKIPPED):
        return False
    return world.historic or not standing(world, policy, request)


def _accounted(world: World, move: Move, gate: str, result: Walk) -> list[Row]:
    rows: list[Row] = []
    for stretch in result.stretches:
        policy = move.policy_at(stretch.start)
        for one in stretch.requests:
            loaded, request = move.used[one], move.requests[one]
            found = loaded.instance.find(one)
            skipped = (
                policy is not None
                and world.verdict(policy, loaded, request).status is Status.SKIPPED
            )
            rows.append(
                Row(
                    gate,
                    loaded.subject,
                    Outcome.SKIPPED if skipped else Outcome.SATISFIED,
                    found[1].number if found else None,
                    request.work,
                    (),
                )
            )
    return rows


def accepted_positions(
    world: World, ref: str, chain: Sequence[Step], policy: PolicyCommit
) -> list[int]:
    """The positions of a branch's whole first-parent chain at which it was allowed to stand.

    Up to its adoption each; since then the ends of stretches and free steps, up to the first
    landing that nothing accounts for.
    """
    then = World(world.repo, world.now, world.remote, historic=True)
    where = then.policy_ref(ref)
    if where is not None and where.name == ref:
        move = Move(ref, chain, _policies_along(then, chain), True)
    else:
        move = Move(ref, chain, lambda _: policy, False)
    ends = [set(range(len(chain)))]
    try:
        for gate in policy.policy.guarding(ref):
            result = walk(
                chain, _rule_at(then, move, gate.id), then.trees, GitHistory(then, move.requests)
            )
            ends.append({0, *(stretch.end for stretch in result.stretches)})
    finally:
        then.close()
    return sorted(set.intersection(*ends))


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
    policies = _policies_along(world, chain)
    return _along(world, ref, old or "", new, policies, True, subject)


def _policies_along(world: World, chain: Sequence[Step]) -> Callable[[int], PolicyCommit | None]:
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
    policy_at: Callable[[int], PolicyCommit | None],
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
    policies = [move.policy_at(place) for place in range(len(move.chain))]
    if not any(policies):
        return Judgement(Outcome.NO_POLICY, move.ref, old, new, None, reasons=(_NO_POLICY,))
    if first is None and status.allowed:
        status = Outcome.ADOPTION
    reasons = [reason for row in rows if not row.status.allowed for reason in row.reasons]
    if status is Outcome.ADOPTION:
        reasons = [f"this brings the first policy of {move.ref}"]
    elif not rows:
        reasons = [f"no gate guards {move.ref}"]
    elif status is Outcome.NOT_NEEDED:
        reasons = [f"{row.gate}: {reason}" for row in rows for reason in row.reasons]
    hint = next((row.hint for row in rows if row.status is status and row.hint), "")
    return Judgement(
        status, move.ref, old, new, first.commit if first else None, rows, tuple(reasons), hint
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
    """The policy ref comes into being: an adoption where the repository is new."""
    if world.policy_at(new) is None:
        return Judgement(Outcome.NO_POLICY, ref, None, new, None, reasons=(_NO_POLICY,))
    others = [name for name in world.known_refs() if name != ref]
    if others:
        where = ", ".join(others[:3])
        return Judgement(
            Outcome.BLOCKED,
            ref,
            None,
            new,
            None,
            reasons=(f"{ref} holds the policy and is not there, although {where} is",),
            hint=f"restore {ref} to its last value, then push",
        )
    return Judgement(
        Outcome.ADOPTION, ref, None, new, None, reasons=(f"this brings {ref} and its policy",)
    )


def _first_policy(world: World, ref: str, old: str | None, new: str) -> Judgement:
    """No policy at the old end, which is not on the new chain: nothing was gated there."""
    if world.policy_at(new) is None:
        return Judgement(Outcome.NO_POLICY, ref, old, new, None, reasons=(_NO_POLICY,))
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
