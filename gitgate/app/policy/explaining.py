"""`policy explain`: what guards a ref, who may decide, and what a landing would need."""

from __future__ import annotations

from typing import Any

from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.app.judging.judge import gates_of
from gitgate.app.judging.phasing import current_phase
from gitgate.core.patterns import is_own_ref
from gitgate.core.policy import POLICY_FILES, Gate
from gitgate.core.verdict import may_approve, may_skip

Document = dict[str, Any]


def explain_ref(world: World, ref: str) -> Document:
    """The document of `policy explain --json`: `ref` is a full name, or a branch's short one.

    Raises GateError (fatal) where no policy is in force.
    """
    name = ref if ref.startswith("refs/") else f"refs/heads/{ref}"
    policy = world.policy(name)
    where = world.policy_ref(name)
    on_policy_ref = where is not None and where.name == name
    gates = gates_of(policy.policy, name, on_policy_ref)
    _, tip = world.target_tip(name)
    return {
        "schema": 1,
        "ref": name,
        "guarded": bool(gates) or on_policy_ref,
        "own": is_own_ref(name),
        "policy": policy.commit,
        "policy_ref": where.name if where else None,
        "read_from": where.read_from if where else None,
        "policy_files": [path.decode() for path in POLICY_FILES] if on_policy_ref else [],
        "exists": tip is not None,
        "phases": _phases(world, policy, name, tip),
        "gates": [_gate(policy, gate, name, on_policy_ref) for gate in gates],
    }


def _phases(world: World, policy: PolicyCommit, ref: str, tip: str | None) -> Document | None:
    phases = policy.policy.phases
    if phases is None or not policy.policy.guarding(ref):
        return None
    current = current_phase(world, policy, tip) if tip else None
    return {"file": phases.file, "order": list(phases.order), "current": current}


def _gate(policy: PolicyCommit, gate: Gate, ref: str, on_policy_ref: bool) -> Document:
    approvals, skip = gate.approvals, gate.skip
    able = may_approve(policy.people, gate)
    return {
        "gate": gate.id,
        "title": gate.title,
        "guards_ref": gate.guards_ref(ref),
        "guards_policy": on_policy_ref and policy.policy.policy_gate in (None, gate.id),
        "transition": {"from": gate.transition.from_phase, "to": gate.transition.to_phase}
        if gate.transition
        else None,
        "when": list(gate.when),
        "deliverables": list(gate.deliverables),
        "validations": [
            {"name": one.name, "on_error": one.on_error.value} for one in gate.validations
        ],
        "approvals": {
            "required": approvals.required,
            "by": sorted(able),
            "unlisted": _unlisted(policy, approvals.by),
            "possible": len(able) >= approvals.required,
            "self_approval": approvals.self_approval,
            "unknown_authors": approvals.unknown_authors.value,
            "bots": list(policy.policy.bots),
            "require_comment": approvals.require_comment,
            "presence": approvals.presence.value,
            "agents": approvals.agents.value,
        },
        "rejections": gate.rejections.value,
        "skip": {
            "allowed": skip.allowed,
            "by": sorted(may_skip(policy.people, gate)),
            "named": skip.by is not None,
            "unlisted": _unlisted(policy, skip.by) if skip.allowed else [],
            "require_reason": skip.require_reason,
        },
        "deadline": {"minutes": gate.deadline.minutes, "action": gate.deadline.action.value}
        if gate.deadline
        else None,
        "escalation": [
            {"after_minutes": tier.after_minutes, "notify": list(tier.notify)}
            for tier in gate.escalation
        ],
        "next_steps": list(gate.next_steps),
    }


def _unlisted(policy: PolicyCommit, by: tuple[str, ...] | None) -> list[str]:
    """Who is named and has no key that the policy commit knows: nothing that they sign counts."""
    names = policy.policy.members(by or ())
    return sorted(name for name in names if policy.people.person_of(name) is None)
