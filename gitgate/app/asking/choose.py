"""Which gate, subject and target a command means where the person did not say."""

from __future__ import annotations

from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World, gate_of
from gitgate.app.judging.judge import gates_of
from gitgate.app.judging.phasing import current_phase
from gitgate.core import ids
from gitgate.core.gate import Stage
from gitgate.core.policy import Gate
from gitgate.errors import Exit, GateError

_GLOB = set("*?[\\")


def subject_of(world: World, given: str | None) -> str:
    """The subject that was given, else the current branch; GateError (usage) on a detached HEAD."""
    if given is not None:
        return ids.check_subject(given)
    head = world.repo.head_ref()
    if head is None or not head.startswith("refs/heads/"):
        raise GateError(
            Exit.USAGE, "HEAD is detached, so there is no branch to be the subject", "add --subject"
        )
    return ids.check_subject(head.removeprefix("refs/heads/"))


def gate_to_open(world: World, policy: PolicyCommit, given: str | None, target: str | None) -> Gate:
    """The gate to open: the one given, else the only one (that guards `target`).

    Where the project has phases it is the one that leads out of the phase at the target's tip.
    """
    if given is not None:
        return gate_of(policy, ids.check_gate(given))
    every = policy.policy.gates.values()
    fitting = [gate for gate in every if target is None or gate.guards_ref(target)]
    if fitting and policy.policy.phases is not None:
        fitting = [gate for gate in fitting if _leads_on(world, policy, gate, target)]
        if not fitting:
            raise _none_fits(policy, "no gate leads out of the phase that the project is in")
    if not fitting:
        raise _none_fits(policy, f"no gate guards {target}" if every else "the policy has no gates")
    return _only(fitting, "gates fit", "open")


def _leads_on(world: World, policy: PolicyCommit, gate: Gate, target: str | None) -> bool:
    if gate.transition is None:
        return False
    _, tip = world.target_tip(target or guarded_branch(world, (gate,)))
    phase = current_phase(world, policy, tip or policy.commit)
    return gate.transition.from_phase == phase


def gate_of_instance(world: World, policy: PolicyCommit, given: str | None, subject: str) -> Gate:
    """The gate of a command about an instance: the one given, else the only one that has a ledger
    for `subject` or a record of it in a note, an open one first."""
    if given is not None:
        return gate_of(policy, ids.check_gate(given))
    having = [
        gate
        for gate in policy.policy.gates.values()
        if world.ledger(gate.id, subject).tip or world.strays(gate.id, subject)
    ]
    if not having:
        hint = "git gate open, or add --subject"
        if world.remote is not None:
            hint = f"git gate sync, if it was opened elsewhere; else {hint}"
        raise GateError(Exit.NOT_OPENED, f"no gate is open for {subject}", hint)
    running = [gate for gate in having if _runs(world, policy, gate, subject)]
    return _only(running or having, f"gates of {subject} fit", "show")


def target_of(world: World, policy: PolicyCommit, gate: Gate, given: str | None) -> str:
    """The guarded ref that the work is for: the one given, else the gate's only one."""
    if given is None:
        return guarded_branch(world, (gate,))
    name = given if given.startswith("refs/") else f"refs/heads/{given}"
    where = world.policy_ref(name)
    guards_policy = where is not None and where.name == name
    if gate not in gates_of(policy.policy, name, guards_policy):
        raise GateError(
            Exit.USAGE,
            f"gate `{gate.id}` does not guard {name}",
            f"it guards {', '.join(gate.guards)}",
        )
    return name


def guarded_branch(world: World, gates: tuple[Gate, ...]) -> str:
    """The one branch that `gates` guard; GateError (usage) that lists them where there are more."""
    named = {ref: None for gate in gates for ref in gate.guards if not _GLOB & set(ref)}
    for ref in world.known_refs():
        if any(gate.guards_ref(ref) for gate in gates):
            named.setdefault(ref)
    if len(named) == 1:
        return next(iter(named))
    there = ", ".join(named) or "none that exists"
    raise GateError(
        Exit.USAGE, f"say which guarded ref is meant; there is: {there}", "--target REF"
    )


def _runs(world: World, policy: PolicyCommit, gate: Gate, subject: str) -> bool:
    running = world.load(policy, gate.id, subject).instance.running
    return running is not None and running.stage is not Stage.NONE


def _only(gates: list[Gate], what: str, command: str) -> Gate:
    if len(gates) == 1:
        return gates[0]
    raise GateError(
        Exit.USAGE,
        f"name the gate: {len(gates)} {what} ({', '.join(gate.id for gate in gates)})",
        f"such as git gate {command} {gates[0].id}",
    )


def _none_fits(policy: PolicyCommit, why: str) -> GateError:
    gates = policy.policy.gates.values()
    listed = "; ".join(f"{gate.id} guards {', '.join(gate.guards) or 'nothing'}" for gate in gates)
    return GateError(Exit.USAGE, why, listed or "git gate policy check")
