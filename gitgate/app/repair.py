"""`repair`: ledgers and notes made whole again from what this repository still has.

An altered ledger goes back to its longest sound beginning; the whole requests and good records of
the altered part, and good records that stand in notes, are taken in after it; records that a note
lost are copied back. Junk is left where it is. Doing it twice changes nothing (design, section 4).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gitgate.app.instances import Held
from gitgate.app.policies import PolicyCommit
from gitgate.app.world import World
from gitgate.core.decision import Record
from gitgate.core.events import Event, EventName
from gitgate.core.gate import Status
from gitgate.core.person import Stamp
from gitgate.core.request import Request
from gitgate.errors import GateError
from gitgate.git import ledger as ledgers
from gitgate.git import notes, refs
from gitgate.git.ledger import Draft, Ledger
from gitgate.git.requests import read_request


@dataclass
class Repaired:
    """What was done, and what is left to be done elsewhere, in sentences."""

    done: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def repair(world: World, policy: PolicyCommit) -> Repaired:
    """Mend every instance that a ledger or a note is here of.

    What keeps one instance from being mended is in `left` and keeps no other one from it. Raises
    GateError where the notes cannot be read.
    """
    said = Repaired()
    lost: dict[str, list[Record]] = {}
    for gate in world.gates(policy):
        for subject in world.subjects(gate):
            try:
                held = _mend(world, policy, gate, subject, said)
            except GateError as error:
                said.left.append(f"{gate} of {subject} cannot be mended: {_with_hint(error)}")
                continue
            for commit, record in world.uncopied(held):
                lost.setdefault(commit, []).append(record)
    for ref in world.nameless():
        said.left.append(f"{ref} is no ledger of anything: git update-ref -d {ref}")
    _copy_to_notes(world, lost, said)
    return said


def _with_hint(error: GateError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message


def _mend(world: World, policy: PolicyCommit, gate: str, subject: str, said: Repaired) -> Held:
    """Mend one ledger, and give the instance as it is then."""
    before = world.held(policy, gate, subject)
    if not before.faults:
        return before
    if before.ledger.faults:
        _go_back(world, before, said)
        _append_again(world, policy, before, said)
    for record in _in_order(before.strays):
        _take_in(world, policy, before, record, said)
    world.forget()
    after = world.held(policy, gate, subject)
    said.left += [f"{after.name} is still not to be trusted: {fault}" for fault in after.faults]
    return after


def _go_back(world: World, held: Held, said: Repaired) -> None:
    """Put the ref to the longest sound beginning of the ledger; its old tip stays as an object."""
    ledger = held.ledger
    sound = _soundest(world, ledger)
    new = sound.tip or ledgers.write_root(world.repo, ledger.gate, ledger.subject)
    refs.compare_and_swap(world.repo, ledger.ref, new, ledger.tip, "git gate repair")
    said.done.append(
        f"{held.name}: the ledger went back to its last sound event, number"
        f" {len(sound.events)}; the altered one was {ledger.tip} ({ledger.faults[0]})"
    )


def _soundest(world: World, ledger: Ledger) -> Ledger:
    """The longest sound beginning: each beginning of a sound ledger is sound too."""

    def beginning(commit: str) -> Ledger:
        return ledgers.read(world.repo, ledger.gate, ledger.subject, commit)

    try:
        chain = world.repo.first_parents(ledger.tip or "") or []
    except GateError:  # where an object is missing nothing before it can be reached
        chain = []
    place = bisect_left(chain, True, key=lambda commit: not beginning(commit.id).faults)
    if place == len(chain):
        return Ledger(ledger.gate, ledger.subject, ledger.ref)
    return beginning(chain[place].id)


def _append_again(world: World, policy: PolicyCommit, altered: Held, said: Repaired) -> None:
    """Append what is whole in the altered part of a ledger, in its order."""
    good = {record.id for record in altered.records if not record.junk}
    for event in altered.ledger.events:
        request = altered.ledger.requests.get(event.request or "")
        if event.name in (EventName.OPENED, EventName.ITERATED) and request is not None:
            _bring(world, policy, request)
        elif event.name is EventName.DECIDED and event.record in good:
            _take_in(world, policy, altered, altered.raws[event.record], said)


def _in_order(records: Iterable[Record]) -> list[Record]:
    """Each record after those that it names, else by the signers' own times."""
    waiting = sorted(records, key=lambda record: (record.decision.tagger.time, record.id))
    there = {record.id for record in waiting}
    ordered: list[Record] = []
    while waiting:
        free = next((r for r in waiting if not there & set(r.decision.previous)), waiting[0])
        waiting.remove(free)
        there.discard(free.id)
        ordered.append(free)
    return ordered


def _take_in(
    world: World, policy: PolicyCommit, held: Held, record: Record, said: Repaired
) -> None:
    """Append a record, and first its request, where the ledger does not have them."""
    decision = record.decision
    named = f"record {record.id[:12]} ({decision.title})"
    known: Mapping[str, Request] = held.ledger.requests
    try:
        request = known.get(decision.request) or _stored(world, decision.request, held)
    except GateError as error:
        said.left.append(f"{named} cannot be taken in: {error.message}")
        return
    event = Event(
        "",
        0,
        EventName.DECIDED,
        decision.tagger.time,
        decision.tagger.person,
        request.id,
        record.id,
    )
    taken = False

    def decide(ledger: Ledger) -> Draft | None:
        nonlocal taken
        taken = record.id not in ledger.records
        found = world.fold_of(policy, ledger).find(request.id)
        number = found[1].number if found else 1
        return Draft(event, number, Status.OPEN.value, record=record.raw) if taken else None

    _bring(world, policy, request)
    ledgers.append(world.repo, held.gate, held.subject, decide, stamp=_stamp(world))
    if taken:
        said.done.append(f"{named} was taken into the ledger of {held.name}")


def _bring(world: World, policy: PolicyCommit, request: Request) -> None:
    """Append a request as the next iteration, where the ledger does not have it."""

    def draft(ledger: Ledger) -> Draft | None:
        if request.id in ledger.requests:
            return None
        running = world.fold_of(policy, ledger).running
        number = len(running.iterations) + 1 if running else 1
        name = EventName.ITERATED if running else EventName.OPENED
        event = Event("", 0, name, request.opened.time, request.opened.person, request.id)
        return Draft(event, number, Status.OPEN.value, request=request)

    ledgers.append(world.repo, request.gate, request.subject, draft, stamp=_stamp(world))


def _stamp(world: World) -> Stamp:
    stamp = world.repo.identity()
    return Stamp(stamp.person, world.now, stamp.offset)


def _stored(world: World, oid: str, held: Held) -> Request:
    return read_request(world.repo, oid, held.gate, held.subject).request


def _copy_to_notes(world: World, lost: Mapping[str, list[Record]], said: Repaired) -> None:
    """Copy all at once; where a note takes no more, each note for itself."""
    try:
        notes.add_many(world.repo, _raw(lost))
    except GateError:
        for commit, records in lost.items():
            try:
                notes.add_many(world.repo, _raw({commit: records}))
            except GateError as error:
                said.left.append(_with_hint(error))
            else:
                said.done += _copied({commit: records})
    else:
        said.done += _copied(lost)


def _raw(records: Mapping[str, list[Record]]) -> dict[str, list[bytes]]:
    return {commit: [record.raw for record in some] for commit, some in records.items()}


def _copied(records: Mapping[str, list[Record]]) -> list[str]:
    return [
        f"record {record.id[:12]} was copied to the note of {commit[:12]}"
        for commit, some in records.items()
        for record in some
    ]
