"""`list`: the instances that wait for somebody, or all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitgate.app.asking.expiring import record_expiry
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.app.showing.query import duration, show, until
from gitgate.core.digest import Waits
from gitgate.core.gate import Status
from gitgate.core.policy import Gate
from gitgate.core.verdict import deadline_of, undecided

_WAITING = (Status.OPEN.value, Status.PARKED.value)
_TREES = ("deliverables", "findings", "validated", "next_steps", "reviewer_edit")


def instances(world: World, policy: PolicyCommit, *, every: bool) -> Iterator[dict[str, Any]]:
    """The documents of `list --json`: of those that wait for somebody, or of all; without what
    needs a tree."""
    for gate in policy.policy.gates:
        for subject in world.subjects(gate) if every else world.sieve.waiting(policy, gate):
            document = _document(world, policy, gate, subject)
            if document is not None and (every or document["status"] in _WAITING):
                yield document


def lines(world: World, policy: PolicyCommit) -> Iterator[dict[str, Any]]:
    """What a table of those that wait prints, in the same order. An instance that nobody has
    answered is not read for it, where this clone has read it before."""
    for gate in policy.policy.gates.values():
        unanswered = world.sieve.unanswered(policy, gate.id)
        for subject in world.sieve.waiting(policy, gate.id):
            waits = unanswered.get(subject)
            found = _line(world, gate, subject, waits) if waits is not None else None
            if found is None:
                found = _document(world, policy, gate.id, subject)
            if found is not None and found["status"] in _WAITING:
                yield found


def _document(world: World, policy: PolicyCommit, gate: str, subject: str) -> dict[str, Any] | None:
    """None where it was never opened."""
    loaded = record_expiry(world, policy, world.load(policy, gate, subject))
    if loaded.instance.newest is None:
        return None
    document = show(world, policy, loaded, trees=False)
    return {name: value for name, value in document.items() if name not in _TREES}


def _line(world: World, gate: Gate, subject: str, waits: Waits) -> dict[str, Any] | None:
    """What a table prints of a request that nobody has answered; None where somebody has to be
    told of it or its deadline is to be written down."""
    waited = (world.now - waits.opened) // 60
    if any(0 < tier.after_minutes <= waited for tier in gate.escalation):
        return None
    status = undecided(gate, waits.opened, world.now)
    if status is Status.EXPIRED:
        return None
    return {
        "status": status.value,
        "gate": gate.id,
        "subject": subject,
        "iteration": waits.iteration,
        "waited": duration(world.now - waits.began),
        **until(deadline_of(gate, waits.opened), world.now),
    }
