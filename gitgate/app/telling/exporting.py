"""`export`, and the derived files: the decision log and the provenance, drawn from ledgers."""

from __future__ import annotations

import json
from collections.abc import Iterator

from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.core import decisionlog, provenance
from gitgate.core.decisionlog import Entry
from gitgate.core.policy import Gate
from gitgate.core.provenance import Round
from gitgate.core.request import Request
from gitgate.core.trust import SignatureStatus
from gitgate.core.verdict import Judged
from gitgate.errors import Exit, GateError


def rounds(world: World, policy: PolicyCommit) -> Iterator[Round]:
    """Every request with the decisions on it, also of gates that the policy no longer has."""
    for gate in world.gates(policy):
        for subject in world.subjects(gate):
            then = _policy_that_has(world, policy, gate, subject)
            if then is not None:
                yield from rounds_of(world, then, world.load(then, gate, subject))


def rounds_of(world: World, policy: PolicyCommit, loaded: Loaded) -> Iterator[Round]:
    """The same of one instance."""
    gate = policy.policy.gates[loaded.gate]
    for life in loaded.instance.lives:
        for iteration in life.iterations:
            request = loaded.ledger.requests.get(iteration.request)
            if request is None:
                continue
            entries = [
                _entry(world, policy, loaded, gate, iteration.number, request, record)
                for record in loaded.records
                if record.decision.request == request.id
            ]
            if iteration.expired is not None:
                at = int(iteration.expired.fields["deadline"])
                entries.append(
                    Entry(gate, loaded.subject, iteration.number, request.work, at, "", "unsigned")
                )
            yield Round(request, tuple(sorted(entries, key=lambda one: one.at)))


def _entry(
    world: World,
    policy: PolicyCommit,
    loaded: Loaded,
    gate: Gate,
    iteration: int,
    request: Request,
    record: Judged,
) -> Entry:
    if not record.good:
        # Somebody who has left signed with a key that was listed when they were asked.
        then = _policy_of(world, policy, request)
        earlier = world.judged(then, loaded.raws[record.id]) if then else record
        record = earlier if earlier.good else record
    unknown = record.verification.status is SignatureStatus.UNVERIFIABLE
    status = SignatureStatus.UNKNOWN_KEY if unknown else record.verification.status
    return Entry(
        gate,
        loaded.subject,
        iteration,
        request.work,
        record.decision.tagger.time,
        record.person or "",
        status.value,
        record.id,
        record.decision,
    )


def _policy_that_has(
    world: World, policy: PolicyCommit, gate: str, subject: str
) -> PolicyCommit | None:
    """The policy; for a gate that it no longer has, the last one by which it was opened."""
    if gate in policy.policy.gates:
        return policy
    for request in reversed(list(world.ledger(gate, subject).requests.values())):
        then = _policy_of(world, policy, request)
        if then is not None and gate in then.policy.gates:
            return then
    return None


def _policy_of(world: World, policy: PolicyCommit, request: Request) -> PolicyCommit | None:
    """The policy commit that a request names; only one that the policy ref has had."""
    if request.policy is None:
        return None
    try:
        had = world.repo.first_parents(policy.commit, request.policy)
        return world.policy_at(request.policy) if had else None
    except GateError:
        return None


def as_log(world: World, policy: PolicyCommit) -> bytes:
    """The decision log of all ledgers, the same in every clone that has them."""
    return decisionlog.render(e for one in rounds(world, policy) for e in one.entries)


def as_prov(world: World, policy: PolicyCommit) -> bytes:
    """The provenance of all decisions as PROV-JSON."""
    return as_json(provenance.document(rounds(world, policy)))


def raw_record(world: World, policy: PolicyCommit, wanted: str) -> bytes:
    """A record as it was signed, byte for byte; GateError (usage) where there is none."""
    found = {
        one: record.raw
        for gate in world.gates(policy)
        for subject in world.subjects(gate)
        for one, record in world.load(policy, gate, subject).raws.items()
        if one.startswith(wanted)
    }
    if len(found) == 1 and len(wanted) >= 7:
        return next(iter(found.values()))
    raise GateError(Exit.USAGE, f"{len(found)} records are called {wanted[:40]!r}", "git gate log")


def as_json(document: object) -> bytes:
    """A derived JSON file's content."""
    return json.dumps(document, indent=1, sort_keys=True).encode() + b"\n"
