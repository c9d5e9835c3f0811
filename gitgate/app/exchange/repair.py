"""`repair`: ledgers and notes made whole again from what this repository still has.

An altered ledger goes back to its longest sound beginning, and what is whole in the rest is
appended again. Good records that stand in notes are taken in with their requests, each request
before those that were asked later, so that the newest one stays the newest. Records that a note
lost are copied back. Junk is left where it is. Doing it twice changes nothing (design, section 4).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from shlex import join

from gitgate.app.gather.instances import Held
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.core.decision import Record
from gitgate.core.events import Event, EventName
from gitgate.core.gate import Instance, Status, may_follow
from gitgate.core.person import Stamp
from gitgate.core.request import Kind, Request
from gitgate.errors import GateError
from gitgate.git import ledger as ledgers
from gitgate.git import notes, refs
from gitgate.git.chain import BRINGS_REQUEST as BRINGS
from gitgate.git.chain import MAX_EVENTS
from gitgate.git.ledger import Draft, Ledger
from gitgate.git.requests import read_request

# The event that brings a request of this kind, whatever was before it.
_BROUGHT_BY = {Kind.STEP: EventName.ESCALATED, Kind.QUESTION: EventName.ASKED}


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
    _ = world.noted  # all of them, or nothing is mended
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


def mend(world: World, policy: PolicyCommit, gate: str, subject: str) -> Repaired:
    """Mend one instance's ledger, as `repair` does."""
    said = Repaired()
    _mend(world, policy, gate, subject, said)
    return said


def _mend(world: World, policy: PolicyCommit, gate: str, subject: str, said: Repaired) -> Held:
    """Mend one ledger, and give the instance as it is then."""
    before = world.held(policy, gate, subject)
    if not before.faults:
        return before
    other = _other_object(world, before.ledger)
    if other:
        said.left.append(other)
        return before
    work = _Work(world, policy, before, said)
    lost = work.lost_requests()
    start = work.go_back(lost)
    for event in before.ledger.events:
        if event.number > start:
            brought = work.requests.get(event.request or "") if event.name in BRINGS else None
            while brought and lost and work.age(lost[0]) < work.age(brought):
                work.take_in_all_of(lost.pop(0))
            work.append_again(event)
    for request in lost:
        work.take_in_all_of(request)
    for record in _in_order(before.strays):
        work.take_in(record)
    world.forget()
    after = world.held(policy, gate, subject)
    remedy = f" ({after.remedy})" if after.lost else ""
    said.left += [
        f"{after.name} is still not to be trusted: {fault}{remedy}" for fault in after.faults
    ]
    return after


def _other_object(world: World, ledger: Ledger) -> str:
    """Where the remote alone has the ref, of a blob, a tree or a tag: the command against it."""
    kind = world.repo.kind(ledger.tip) if ledger.tip else None
    if kind in (None, "commit") or world.remote is None or refs.read(world.repo, ledger.ref):
        return ""
    way = join(["git", "push", world.remote, "--delete", ledger.ref])
    return f"{ledger.ref} of {world.remote} is no ledger but a {kind}: {way}"


class _Work:
    """The mending of one instance, of which `before` is what was found."""

    def __init__(self, world: World, policy: PolicyCommit, before: Held, said: Repaired) -> None:
        self.world = world
        self.policy = policy
        self.before = before
        self.said = said
        self.requests = dict(before.ledger.requests)
        self.good = {record.id for record in before.records if not record.junk}
        self.first: dict[str, int] = {}
        for place, record in enumerate(_in_order([*before.raws.values(), *before.strays])):
            self.first.setdefault(record.decision.request, place)

    def age(self, request: Request) -> tuple[int, int]:
        """What sorts requests as they were asked; within a second, as they were answered."""
        return request.opened.time, self.first.get(request.id, MAX_EVENTS)

    def lost_requests(self) -> list[Request]:
        """The requests that good records are about and the ledger lacks, oldest first."""
        lost: dict[str, Request] = {}
        good = [record for oid, record in self.before.raws.items() if oid in self.good]
        for record in (*good, *self.before.strays):
            oid = record.decision.request
            if oid not in self.requests:
                with suppress(GateError):  # said when the record is to be taken in
                    stored = read_request(
                        self.world.repo, oid, self.before.gate, self.before.subject
                    )
                    lost[oid] = stored.request
        self.requests.update(lost)
        return sorted(lost.values(), key=self.age)

    def go_back(self, lost: Sequence[Request]) -> int:
        """Put the ref to the longest sound beginning that has no request younger than those lost;
        the number of its events. The old tip stays as an object."""
        world, ledger = self.world, self.before.ledger
        sound = _soundest(world, ledger) if ledger.faults else ledger
        events = sound.events
        for event in sound.events if lost else ():
            asked = sound.requests.get(event.request or "") if event.name in BRINGS else None
            if asked is not None and self.age(asked) > self.age(lost[0]):
                events = sound.events[: event.number - 1]
                break
        if ledger.tip is None or (not ledger.faults and len(events) == len(ledger.events)):
            return len(events)
        root = ledgers.write_root(world.repo, ledger.gate, ledger.subject)
        new = events[-1].id if events else root
        old = ledger.tip if refs.read(world.repo, ledger.ref) is not None else None
        refs.compare_and_swap(world.repo, ledger.ref, new, old, "git gate repair")
        why = ledger.faults[0] if ledger.faults else "it lacks an earlier request"
        self.said.done.append(
            f"{self.before.name}: the ledger went back to its last sound event, number"
            f" {len(events)}; the altered one was {ledger.tip} ({why})"
        )
        return len(events)

    def append_again(self, event: Event) -> None:
        """Append what is whole of an event; junk, and what may not follow any more, is dropped."""
        if event.name in BRINGS:
            if event.request in self.requests:
                self.bring(self.requests[event.request])
        elif event.name is EventName.DECIDED:
            if event.record in self.good:
                self.take_in(self.before.raws[event.record or ""])
        else:
            self.append(lambda ledger: self.unsigned(ledger, event))

    def take_in_all_of(self, request: Request) -> None:
        records = [one for one in self.before.strays if one.decision.request == request.id]
        for record in _in_order(records):
            self.take_in(record)

    def take_in(self, record: Record) -> None:
        """Append a record, and first its request, where the ledger does not have them."""
        decision = record.decision
        named = f"record {record.id[:12]} ({decision.title})"
        if decision.request not in self.requests:
            why = f"its request {decision.request} is not here"
            self.said.left.append(f"{named} cannot be taken in: {why}")
            return
        event = Event(
            "",
            0,
            EventName.DECIDED,
            decision.tagger.time,
            decision.tagger.person,
            decision.request,
            record.id,
        )
        taken = False

        def draft(ledger: Ledger) -> Draft | None:
            nonlocal taken
            taken = record.id not in ledger.records
            found = self.fold(ledger).find(decision.request)
            number = found[1].number if found else 1
            return Draft(event, number, Status.OPEN.value, record=record.raw) if taken else None

        self.bring(self.requests[decision.request])
        self.append(draft)
        if taken:
            self.said.done.append(f"{named} was taken into the ledger of {self.before.name}")

    def bring(self, request: Request) -> None:
        """Append a request, where the ledger does not have it."""

        def draft(ledger: Ledger) -> Draft | None:
            if request.id in ledger.requests:
                return None
            running = self.fold(ledger).running
            number = len(running.iterations) + 1 if running else 1
            again = EventName.ITERATED if running else EventName.OPENED
            name = _BROUGHT_BY.get(request.kind, again)
            event = Event("", 0, name, request.opened.time, request.opened.person, request.id)
            return Draft(event, number, Status.OPEN.value, request=request)

        self.append(draft)

    def unsigned(self, ledger: Ledger, event: Event) -> Draft | None:
        instance = self.fold(ledger)
        if may_follow(instance, event.name, request=event.request):
            return None
        number = instance.newest.number if instance.newest else 1
        return Draft(event, number, Status.OPEN.value)

    def append(self, draft: Callable[[Ledger], Draft | None]) -> None:
        stamp = self.world.repo.identity()
        stamp = Stamp(stamp.person, self.world.now, stamp.offset)
        gate, subject = self.before.gate, self.before.subject
        ledgers.append(self.world.repo, gate, subject, draft, stamp=stamp)

    def fold(self, ledger: Ledger) -> Instance:
        return self.world.fold_of(self.policy, ledger)


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
