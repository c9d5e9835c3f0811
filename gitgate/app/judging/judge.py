"""What each gate says of a chain: which requests account for it (design, section 6).

Gathers the requests that the policy calls approved; the walk of `core.landing` decides;
`app.explain` finds the words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.landed import GitHistory, candidate, elsewhere, partners
from gitgate.app.gather.policies import PolicyCommit, PolicyKey
from gitgate.app.gather.world import World
from gitgate.app.judging.explain import explain
from gitgate.app.judging.judgement import Move, Row
from gitgate.app.judging.phasing import concerns, exact_paths
from gitgate.app.judging.vetoes import standing
from gitgate.core.compared import compared_paths
from gitgate.core.gate import Status
from gitgate.core.landing import Candidate, Rule, Walk, walk
from gitgate.core.outcome import Outcome, most_urgent
from gitgate.core.policy import POLICY_FILES, Gate, Policy
from gitgate.core.request import Kind, Request
from gitgate.errors import Exit, GateError


def judge_chain(world: World, move: Move) -> tuple[Row, ...]:
    """A row for each gate and subject that the move needs; empty where no gate guards the ref."""
    gates: dict[str, None] = {}
    for position in range(len(move.chain) - 1):
        policy = move.policy_at(position)
        for gate in gates_of(policy.policy, move.ref, move.on_policy_ref) if policy else ():
            gates.setdefault(gate.id)
    rows: list[Row] = []
    for name in gates:
        rows += _judge_gate(world, move, name)
    return tuple(rows)


def gates_of(policy: Policy, ref: str, on_policy_ref: bool) -> tuple[Gate, ...]:
    """The gates of a ref: those that guard it and, on the policy ref, the one that guards the
    policy's own files, whatever it guards beside them."""
    gates = policy.guarding(ref)
    own = policy.gates[policy.policy_gate] if policy.policy_gate and on_policy_ref else None
    return gates if own is None or own in gates else (*gates, own)


def total(rows: Sequence[Row]) -> Outcome:
    """What the rows say together; not needed where no gate asks for anything."""
    return most_urgent(row.status for row in rows) if rows else Outcome.NOT_NEEDED


def _rule_at(world: World, move: Move, name: str) -> Callable[[int], Rule | None]:
    """The rule of one gate at each position of the move, worked out once for each policy."""
    rules: dict[PolicyKey, Rule] = {}

    def rule_at(position: int) -> Rule | None:
        policy = move.policy_at(position)
        gates = gates_of(policy.policy, move.ref, move.on_policy_ref) if policy else ()
        gate = next((gate for gate in gates if gate.id == name), None)
        if policy is None or gate is None:
            return None
        if policy.key not in rules:
            rules[policy.key] = _rule(world, move, policy, gate)
        return rules[policy.key]

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
    subjects = world.sieve.consenting(policy, gate.id, move.ref)
    for subject in world.each("reading approvals", subjects):
        loaded = world.load(policy, gate.id, subject)
        for request in loaded.ledger.requests.values():
            move.requests.setdefault(request.id, request)
        for request in authorising(world, policy, loaded, move.ref):
            if elsewhere(world, request, move.commits):
                continue
            move.used[request.id] = loaded
            found.append(candidate(world, request))
    return Rule(
        compared=compared_paths(policy.policy, gate, move.ref, on_policy_ref=move.on_policy_ref),
        candidates=tuple(found),
        partners=partners(world, gate.id, move.ref, found) if found else (),
        exact=exact_paths(policy.policy, gate),
        policy=POLICY_FILES.__contains__ if move.on_policy_ref else None,
        concerns=concerns(world, policy.policy, gate, on_policy_ref=move.on_policy_ref),
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


def ends(world: World, move: Move) -> set[int]:
    """The positions of the move's chain at which every gate lets the ref stand."""
    found = set(range(len(move.chain)))
    gates = {
        gate.id
        for position in range(len(move.chain))
        if (policy := move.policy_at(position))
        for gate in gates_of(policy.policy, move.ref, move.on_policy_ref)
    }
    for name in gates:
        history = GitHistory(world, move.requests)
        result = walk(move.chain, _rule_at(world, move, name), world.trees, history)
        found &= {0, *(stretch.end for stretch in result.stretches)}
    return found
