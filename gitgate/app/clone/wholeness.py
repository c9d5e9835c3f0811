"""Doctor's look at ledgers and notes: read in full, each fault with the command that mends it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from shlex import quote

from gitgate.app.clone.findings import Finding, capped
from gitgate.app.gather.instances import Held
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.core import ids

_REPAIR = "git gate repair"
_REMOVE = f"git notes --ref={ids.NOTES} remove"


def look_at_ledgers(world: World, policy: PolicyCommit | None) -> Iterator[Finding]:
    """What keeps instances from being trusted, what the notes lack, and what counts for nothing."""
    gates = world.gates(policy)
    instances = [(gate, subject) for gate in gates for subject in world.subjects(gate)]
    yield Finding("good", "ledgers", f"ledgers of instances here: {len(instances)}")
    yield from capped(_nameless(world))
    if policy is None:
        yield from capped(_malformed(world, instances))
        return
    held = [world.held(policy, gate, subject) for gate, subject in instances]
    yield from capped(_untrusted(held))
    yield from capped(_uncopied(world, held))
    yield from capped(_cut(world))
    yield from capped(_junk(world, policy, held))


def _nameless(world: World) -> Iterator[Finding]:
    for ref in world.nameless():
        text = f"{ref} is no ledger: nothing says which instance it is of"
        yield Finding("fault", "ledgers", text, f"git update-ref -d {quote(ref)}")


def _malformed(world: World, instances: list[tuple[str, str]]) -> Iterator[Finding]:
    """Without a policy nobody is known, and the form is all that there is to look at."""
    for gate, subject in instances:
        for fault in world.ledger(gate, subject).faults:
            yield Finding("fault", "ledgers", f"{gate} of {subject}: {fault}", "git gate init")


def _untrusted(held: list[Held]) -> Iterator[Finding]:
    for one in held:
        for fault in one.faults:
            text = f"{one.name} is not to be trusted: {fault}"
            yield Finding("fault", "ledgers", text, one.remedy)


def _uncopied(world: World, held: list[Held]) -> Iterator[Finding]:
    for one in held:
        for commit, record in world.uncopied(one) if not one.faults else ():
            text = f"record {record.id[:12]} ({record.decision.title}) is missing from the note of"
            yield Finding("fault", "notes", f"{text} {commit[:12]}", _REPAIR)


def _cut(world: World) -> Iterator[Finding]:
    for sentence in world.noted.cut:
        commit = next(filter(ids.is_oid, sentence.split()), "")
        hint = f"{_REMOVE} {commit}, then {_REPAIR}" if commit else _REPAIR
        yield Finding("fault", "notes", sentence, hint)


def _junk(world: World, policy: PolicyCommit, held: list[Held]) -> Iterator[Finding]:
    """What counts for nothing, in ledgers and in notes. It blocks nobody and may stay."""
    for one in held:
        for sentence in chain(one.junk, _strange(one)):
            yield Finding("note", "ledgers", f"{one.name}: {sentence}")
    kept = {record.id for one in held for record in one.strays}
    works = {
        record.id: one.ledger.requests[record.decision.request].work
        for one in held
        for record in one.records
        if record.decision.request in one.ledger.requests
    }
    found: dict[str, list[str]] = {}
    for commit, defect in world.noted.junk:
        found.setdefault(commit, []).append(defect)
    for commit, record in chain.from_iterable(world.noted.records.values()):
        if record.id in kept:
            continue
        judged = world.judged(policy, record)
        if judged.junk:
            found.setdefault(commit, []).append(judged.verification.reason)
        elif works.get(record.id, commit) != commit:
            at = works[record.id][:12]
            found.setdefault(commit, []).append(f"record {record.id[:12]} belongs to {at}")
    for commit, reasons in found.items():
        text = f"the note on {commit[:12]} has what counts for nothing ({len(reasons)}): "
        hint = f"{_REMOVE} {commit}, then {_REPAIR}"
        yield Finding("note", "notes", text + reasons[0], hint)


def _strange(held: Held) -> Iterator[str]:
    for record in held.records:
        if record.junk:
            yield f"record {record.id[:12]} never counts: {record.verification.reason}"
