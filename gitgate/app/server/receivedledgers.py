"""Ledgers that are pushed: they only grow, each by events that may follow (design, section 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.server.receivedpush import MAX_NEW_EVENTS, Objection, Push, Update
from gitgate.core import decision as codec
from gitgate.core import ids
from gitgate.core.events import Event, EventName
from gitgate.core.trust import SignatureStatus
from gitgate.errors import GateError
from gitgate.git import ledger as ledgers
from gitgate.git.chain import BRINGS_REQUEST, object_id, root_commit
from gitgate.git.known import SYNC
from gitgate.git.ledger import Ledger
from gitgate.git.objects import MAX_OBJECT
from gitgate.git.repository import Repository

# On the strength of these an answer is used; whoever pushes one has to hear that it is too late.
_USES = (EventName.CLAIMED, EventName.RESUMED)


def ledger_objections(push: Push, update: Update) -> Iterator[Objection]:
    """Why the ref of a ledger may not move so; its deletion is the journal's matter."""
    if update.new is None:
        return
    gate, _, name = update.ref.removeprefix(ids.GATES).partition("/")
    if not ids.is_gate(gate) or not ids.is_encoded(name):
        yield Objection(f"no instance of a gate has the name {update.ref}", "git gate list --all")
        return
    subject = subject_of(push.world.repo, update.ref, update.new)
    if subject is None:
        yield Objection(f"{update.new[:12]} is no ledger of this instance", SYNC)
        return
    yield from growth_objections(push, gate, subject, update.new)


def subject_of(repo: Repository, ref: str, tip: str) -> str | None:
    """The subject of the ledger `ref` that ends in `tip`; None where that is no such ledger."""
    gate, _, name = ref.removeprefix(ids.GATES).partition("/")
    if not ids.is_gate(gate) or not ids.is_encoded(name) or repo.kind(tip) != "commit":
        return None
    return ledgers.subject_of(repo, ledgers.instance(repo, ref, tip))


def growth_objections(push: Push, gate: str, subject: str, new: str) -> tuple[Objection, ...]:
    """Why a ledger may not grow to `new` from what ref and journal had of it; judged once.

    Raises GateError where the push brings too many events, and where the policy cannot be read.
    """
    key = (ids.ledger_ref(gate, subject), new)
    if key not in push.judged:
        push.judged[key] = tuple(_growth(push, gate, subject, new))
    return push.judged[key]


def _growth(push: Push, gate: str, subject: str, new: str) -> Iterator[Objection]:
    repo = push.world.repo
    known = _known(push, gate, subject)
    push.count(_new_events(repo, new, known))
    before = [ledgers.read(repo, gate, subject, tip) for tip in known]
    ledger = ledgers.read(repo, gate, subject, new)
    if ledger.faults:
        yield _fault(ledger)
        return
    if not ledger.events:
        yield Objection(f"the ledger of {gate} of {subject} has no event", SYNC)
        return
    for earlier in before:
        if not holds(ledger, earlier.tip or "") and not _heals(ledger, earlier):
            yield Objection(
                f"the ledger of {gate} of {subject} would lose events: it only grows", SYNC
            )
            return
    there = {event.id for earlier in before for event in earlier.events}
    events = [event for event in ledger.events if event.id not in there]
    yield from _record_objections(push, ledger, events)
    if push.policy is not None:
        yield from _order_objections(push, push.policy, ledger, events)


def _known(push: Push, gate: str, subject: str) -> list[str]:
    """The tips that the server had of an instance: of its ref, and of the journal."""
    index = push.journal_before
    named = index.tip(gate, subject) if index is not None else None
    found = (push.before(ids.ledger_ref(gate, subject)), named)
    return list(dict.fromkeys(tip for tip in found if tip))


def holds(ledger: Ledger, tip: str) -> bool:
    """Whether a sound ledger goes on from `tip`."""
    root = object_id("commit", root_commit(ledger.gate, ledger.subject))
    return tip == root or any(event.id == tip for event in ledger.events)


def _heals(ledger: Ledger, broken: Ledger) -> bool:
    """Whether a ledger is put in the place of one that was altered before the hook was there."""
    signed = set(broken.records) <= set(ledger.records)
    return bool(broken.faults) and signed and set(broken.requests) <= set(ledger.requests)


def _new_events(repo: Repository, new: str, known: Sequence[str]) -> int:
    """The commits of a chain that are not known, as far as any push may bring them."""
    count, commit = 0, repo.commit(new)
    while commit.parents and commit.id not in known and count <= MAX_NEW_EVENTS:
        count += 1
        commit = repo.commit(commit.parents[0])
    return count


def _fault(ledger: Ledger) -> Objection:
    more = f"; and {len(ledger.faults) - 1} more" if len(ledger.faults) > 1 else ""
    named = f"the ledger of {ledger.gate} of {ledger.subject}"
    return Objection(
        f"{named} is not sound: {ledger.faults[0]}{more}", f"git gate repair, then {SYNC}"
    )


def _record_objections(push: Push, ledger: Ledger, events: Sequence[Event]) -> Iterator[Objection]:
    """Records that could be somebody's word elsewhere, and files that nobody could read.

    What can never count is received with a remark, since it blocks nobody, and a ledger that has
    it already cannot drop it.
    """
    for event in events:
        if event.record is None or event.name is not EventName.DECIDED:
            continue
        yield from _misplaced_or_junk(push, ledger, event, ledger.records[event.record])
        for blob in ledger.data[event.record]:
            header = push.world.repo.header(blob)
            if header is None or header[0] != "blob" or header[1] > MAX_OBJECT:
                limit = f"at most {MAX_OBJECT >> 20} MiB"
                yield Objection(
                    f"{_named(ledger, event)} has data that is no file of {limit}", SYNC
                )


def _misplaced_or_junk(push: Push, ledger: Ledger, event: Event, raw: bytes) -> Iterator[Objection]:
    """A record about another request of the ledger would be taken for there already, and so be
    missing, where it belongs."""
    never = f"{_named(ledger, event)} never counts"
    try:
        record = codec.parse(raw, tag=ids.tag_name(ledger.gate, ledger.subject))
    except codec.Defect as defect:
        push.remark(ledger, f"{never}: {defect}")
        return
    if push.policy is not None:
        checked = push.world.judged(push.policy, record).verification
        if checked.status is SignatureStatus.BAD:
            push.remark(ledger, f"{never}: {checked.reason}")
            return
    if record.decision.request != event.request:
        signed = record.decision.request[:12]
        yield Objection(f"{_named(ledger, event)} was signed for another request, {signed}", SYNC)


def _order_objections(
    push: Push, policy: PolicyCommit, ledger: Ledger, events: Sequence[Event]
) -> Iterator[Objection]:
    """The new events that may not follow where they stand, by the table that all writers ask.

    Received all the same, with a remark: every decision, since nothing signed is lost and a record
    counts once; a request of another kind that was decided elsewhere; and what came after the end
    of a life. None of them can authorise anything.
    """
    new = {event.id for event in events}
    decided = {event.request for event in events if event.name is EventName.DECIDED}
    for ignored in push.world.fold_of(policy, ledger).ignored:
        event = ignored.event
        if event.id not in new:
            continue
        said = f"{_named(ledger, event)} has no effect: {ignored.reason}"
        late = ignored.late and event.name not in _USES
        if late or event.name is EventName.DECIDED:
            push.remark(ledger, said)
        elif event.name not in BRINGS_REQUEST or event.request not in decided:
            yield Objection(said, SYNC)


def _named(ledger: Ledger, event: Event) -> str:
    named = f"event {event.number:04d}-{event.name} of {ledger.gate} of {ledger.subject}"
    return f"the record of {named}" if event.name is EventName.DECIDED else named


def has_ended(push: Push, gate: str, subject: str, tip: str) -> bool:
    """Whether the ledger that ends in `tip` is sound and has no running life.

    Raises GateError where the policy cannot be read.
    """
    ledger = ledgers.read(push.world.repo, gate, subject, tip)
    if ledger.faults or not ledger.events or push.policy is None:
        return False
    try:
        return push.world.fold_of(push.policy, ledger).running is None
    except GateError:
        return False
