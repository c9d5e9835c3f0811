"""`repair`: ledgers and notes made whole again from what this repository still has.

An altered ledger goes back to its longest sound beginning; good records that stand in a note, or
in the altered part, and their requests are taken in; records that a note lost are copied back.
Doing it twice changes nothing (design, section 4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gitgate.app.instances import Loaded
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


def repair(world: World, policy: PolicyCommit) -> list[str]:
    """Mend every instance of the policy's gates; the sentences say what was done and what is left.

    Raises GateError where the repository cannot be written.
    """
    said: list[str] = []
    for gate in policy.policy.gates:
        for subject in world.subjects(gate):
            said += _mend(world, policy, gate, subject)
    return said


def _mend(world: World, policy: PolicyCommit, gate: str, subject: str) -> Iterator[str]:
    loaded = world.load(policy, gate, subject)
    salvage = _good_records(world, policy, loaded)
    asked = dict(loaded.ledger.requests)
    if loaded.ledger.faults:
        yield from _go_back(world, loaded)
        loaded = world.reload(policy, gate, subject)
    missing = [record for record in salvage if record.id not in loaded.raws]
    for record in _in_order(missing):
        yield _take_in(world, policy, gate, subject, record, asked)
        loaded = world.reload(policy, gate, subject)
    yield from _copy_to_notes(world, loaded)
    for fault in world.reload(policy, gate, subject).faults:
        yield f"{loaded.name} is still not to be trusted: {fault}"


def _good_records(world: World, policy: PolicyCommit, loaded: Loaded) -> list[Record]:
    good = [record for record in loaded.records if record.good]
    return [loaded.raws[record.id] for record in good] + list(loaded.strays)


def _go_back(world: World, loaded: Loaded) -> Iterator[str]:
    """Put the ref to the longest sound beginning of the ledger; its old tip stays as an object."""
    ledger = loaded.ledger
    if ledger.tip is None:
        return
    sound = _soundest(world, ledger)
    new = sound.tip or ledgers.write_root(world.repo, ledger.gate, ledger.subject)
    refs.compare_and_swap(world.repo, ledger.ref, new, ledger.tip, "git gate repair")
    yield (
        f"{loaded.name}: the ledger went back to its last sound event, number"
        f" {len(sound.events)}; the altered one was {ledger.tip} ({ledger.faults[0]})"
    )


def _soundest(world: World, ledger: Ledger) -> Ledger:
    try:
        chain = world.repo.first_parents(ledger.tip or "") or []
    except GateError:
        chain = []
    for commit in chain:
        found = ledgers.read(world.repo, ledger.gate, ledger.subject, commit.id)
        if not found.faults:
            return found
    return Ledger(ledger.gate, ledger.subject, ledger.ref)


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
    world: World,
    policy: PolicyCommit,
    gate: str,
    subject: str,
    record: Record,
    asked: Mapping[str, Request],
) -> str:
    """Append the record, and first its request where the ledger does not have it."""
    decision = record.decision
    named = f"record {record.id[:12]} ({decision.title})"
    try:
        request = asked.get(decision.request) or _stored(world, decision.request, gate, subject)
    except GateError as error:
        return f"{named} cannot be taken in: {error.message}"
    stamp = world.repo.identity()
    stamp = Stamp(stamp.person, world.now, stamp.offset)

    def bring(ledger: Ledger) -> Draft | None:
        if request.id in ledger.requests:
            return None
        running = world.fold_of(policy, ledger).running
        number = len(running.iterations) + 1 if running else 1
        name = EventName.ITERATED if running else EventName.OPENED
        event = Event("", 0, name, request.opened.time, request.opened.person, request.id)
        return Draft(event, number, Status.OPEN.value, request=request)

    def decide(ledger: Ledger) -> Draft | None:
        if record.id in ledger.records:
            return None
        found = world.fold_of(policy, ledger).find(request.id)
        event = Event(
            "",
            0,
            EventName.DECIDED,
            decision.tagger.time,
            decision.tagger.person,
            request.id,
            record.id,
        )
        number = found[1].number if found else 1
        return Draft(event, number, Status.OPEN.value, record=record.raw)

    ledgers.append(world.repo, gate, subject, bring, stamp=stamp)
    ledgers.append(world.repo, gate, subject, decide, stamp=stamp)
    return f"{named} was taken into the ledger of {gate} of {subject}"


def _stored(world: World, oid: str, gate: str, subject: str) -> Request:
    return read_request(world.repo, oid, gate, subject).request


def _copy_to_notes(world: World, loaded: Loaded) -> Iterator[str]:
    """Copy what a note lost. Junk is left where it is."""
    lost: dict[str, list[bytes]] = {}
    for record in loaded.raws.values():
        request = loaded.ledger.requests.get(record.decision.request)
        if request is None:
            continue
        if record.raw.strip() not in notes.read(world.repo, request.work):
            lost.setdefault(request.work, []).append(record.raw)
            yield f"record {record.id[:12]} was copied to the note of {request.work[:12]}"
    if lost:
        notes.add_many(world.repo, lost)
