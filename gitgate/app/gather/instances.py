"""One instance as a policy commit sees it: its ledger, who signed its records, and the fold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from shlex import join
from typing import TYPE_CHECKING

from gitgate.app.gather.landed import is_landing
from gitgate.app.gather.policies import PolicyCommit
from gitgate.core import decision as codec
from gitgate.core import ids
from gitgate.core.decision import Action, Record
from gitgate.core.events import Event, EventName
from gitgate.core.gate import Facts, Instance, fold
from gitgate.core.request import Request
from gitgate.core.trust import SignatureStatus
from gitgate.core.verdict import Judged
from gitgate.errors import Exit, GateError
from gitgate.git.known import SYNC
from gitgate.git.ledger import Ledger

if TYPE_CHECKING:
    from gitgate.app.gather.world import World


KEY_NEEDED = "gpg --import KEY, or git config gpg.program where the program does not run"
"""What makes a record verifiable that is not."""


@dataclass(frozen=True)
class Held:
    """What an instance holds, each signature checked, and what keeps it from being trusted.

    `strays` stand in notes and not in the ledger, and `lost` says of those that block until newer
    work is asked about that their requests are nowhere; `remedy` is the command against `faults`;
    `raws` has the records of the ledger by id; `junk` says which of them are no records.
    """

    gate: str
    subject: str
    ledger: Ledger
    records: tuple[Judged, ...]
    strays: tuple[Record, ...]
    faults: tuple[str, ...]
    remedy: str
    junk: tuple[str, ...]
    raws: Mapping[str, Record] = field(repr=False)
    lost: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.gate} of {self.subject}"

    def check_trusted(self) -> None:
        """GateError (untrusted) where something that should be there is missing or altered.

        What is lost for good is no reason not to write on: newer work is the way out.
        """
        faults = [fault for fault in self.faults if fault not in self.lost]
        if faults:
            said = f"{self.name} is not to be trusted: {faults[0]}"
            raise GateError(Exit.UNTRUSTED, said, self.remedy)


@dataclass(frozen=True, kw_only=True)
class Loaded(Held):
    """One instance as a policy commit sees it."""

    instance: Instance
    reports: tuple[str, ...]

    @property
    def newest(self) -> Request | None:
        iteration = self.instance.newest
        return self.ledger.requests.get(iteration.request) if iteration else None


def held(world: World, policy: PolicyCommit, gate: str, subject: str) -> Held:
    """Read an instance without folding it (design, section 4)."""
    ledger = world.ledger(gate, subject)
    records, raws, junk = _records(world, policy, ledger)
    strays = tuple(_missing_from(world, policy, ledger, raws))
    apart = world.ledgers.apart(gate, subject)
    unsure = any(one.verification.status is SignatureStatus.UNVERIFIABLE for one in records)
    orphans = [record for record in strays if not _is_asked(world, ledger, record)]
    blocking = [one for one in orphans if _blocks(world, ledger, one)]
    lost = tuple(map(_nowhere, blocking))
    here = [one for one in strays if one not in orphans]
    others = (*((apart,) if apart else ()), *ledger.faults, *_faults(records, here))
    remedy = SYNC if apart else KEY_NEEDED if unsure else "git gate repair"
    if lost and not others:
        asked = join(["git", "gate", "open", gate, "--subject", subject])
        remedy = f"{SYNC}; where nobody has its request, commit more work, then {asked}"
    idle = [one for one in orphans if one not in blocking]
    junk += [f"{_nowhere(one)}; it blocks nothing any more" for one in idle]
    return Held(
        *(gate, subject, ledger, records, strays, (*others, *lost), remedy, tuple(junk), raws, lost)
    )


def _nowhere(record: Record) -> str:
    return f"{_stands_in_a_note(record)}, and its request {record.decision.request[:12]} is nowhere"


def _stands_in_a_note(record: Record) -> str:
    named = f"record {record.id[:12]} ({record.decision.title})"
    return f"{named} stands in a note and not in the ledger"


def _is_asked(world: World, ledger: Ledger, record: Record) -> bool:
    """Whether the request of a record is in its ledger, or at least in this repository."""
    request = record.decision.request
    return request in ledger.requests or world.repo.kind(request) is not None


def _blocks(world: World, ledger: Ledger, record: Record) -> bool:
    """Whether a record whose request is nowhere says that something is missing.

    Not where the newest request was asked after the record; a rejection of the very commit that is
    asked about blocks all the same, and one of the same change as a veto does (app.judging.vetoes).
    """
    newest = ledger.newest
    if newest is None or record.decision.tagger.time >= newest.opened.time:
        return True
    noted = world.noted_on(ledger.gate, ledger.subject, record.id)
    return record.decision.action is Action.REJECT and noted == newest.work


def load(world: World, policy: PolicyCommit, gate: str, subject: str) -> Loaded:
    """Read an instance and fold its events."""
    found = held(world, policy, gate, subject)
    instance = _fold(world, policy, found.ledger, found.records)
    idle = (
        f"event {one.event.number:04d}-{one.event.name} has no effect: {one.reason}"
        for one in instance.ignored
    )
    return Loaded(
        gate=gate,
        subject=subject,
        ledger=found.ledger,
        records=found.records,
        strays=found.strays,
        faults=found.faults,
        remedy=found.remedy,
        junk=found.junk,
        raws=found.raws,
        lost=found.lost,
        instance=instance,
        reports=(*found.junk, *idle),
    )


def fold_of(world: World, policy: PolicyCommit, ledger: Ledger) -> Instance:
    """The fold of a ledger that was just read, its signatures checked."""
    records, _, _ = _records(world, policy, ledger)
    return _fold(world, policy, ledger, records)


def _faults(records: tuple[Judged, ...], strays: Sequence[Record]) -> Iterator[str]:
    known = {record.id for record in records}
    for record in records:
        if record.verification.status is SignatureStatus.UNVERIFIABLE:
            yield f"record {record.id[:12]} cannot be verified: {record.verification.reason}"
        for previous in record.decision.previous if record.good else ():
            if previous not in known:
                yield (
                    f"record {record.id[:12]} names an earlier one, {previous[:12]},"
                    " that is nowhere"
                )
    for stray in strays:
        yield _stands_in_a_note(stray)


def _records(
    world: World, policy: PolicyCommit, ledger: Ledger
) -> tuple[tuple[Judged, ...], dict[str, Record], list[str]]:
    """The well-formed records in order of the ledger, and a sentence for each that is not."""
    judged: list[Judged] = []
    raws: dict[str, Record] = {}
    junk: list[str] = []
    tag = ids.tag_name(ledger.gate, ledger.subject)
    for event in ledger.events:
        raw = ledger.records.get(event.record) if event.record else None
        if raw is None:
            continue
        try:
            record = codec.parse(raw, tag=tag, request=event.request)
        except codec.Defect as defect:
            junk.append(f"the record of event {event.number:04d} never counts: {defect}")
            continue
        if record.id not in raws:
            raws[record.id] = record
            judged.append(world.judged(policy, record))
    return tuple(judged), raws, junk


def _missing_from(
    world: World, policy: PolicyCommit, ledger: Ledger, known: Mapping[str, Record]
) -> Iterator[Record]:
    """The good records that stand in a note of the instance and not in its ledger, and those that
    may be good: what cannot be verified is never junk."""
    seen = {(world.judged(policy, record).person, record.payload) for record in known.values()}
    for record in world.strays(ledger.gate, ledger.subject):
        judged = world.judged(policy, record)
        word = (judged.person, record.payload)
        unsure = judged.verification.status is SignatureStatus.UNVERIFIABLE
        if (judged.good or unsure) and word not in seen:
            seen.add(word)
            yield record


def _fold(
    world: World, policy: PolicyCommit, ledger: Ledger, records: tuple[Judged, ...]
) -> Instance:
    kinds = {one: request.kind for one, request in ledger.requests.items()}
    by_id = {record.id: record for record in records}
    good = {
        event.id
        for event in ledger.events
        if event.record in by_id and by_id[event.record].good and _fits(event, by_id[event.record])
    }
    ends = {
        event.id
        for event in ledger.events
        if event.name is EventName.LANDED and _really_landed(world, policy, ledger, event)
    }
    before: list[Judged] = []
    for event in ledger.events:
        record = by_id.get(event.record or "")
        if record is None or not _fits(event, record):
            continue
        before.append(record)
        if record.good and record.decision.action is Action.QUIT:
            request = ledger.requests.get(record.decision.request)
            if request and _quits(world, policy, request, before):
                ends.add(event.id)
    return fold(ledger.events, kinds, Facts(frozenset(good), frozenset(ends)))


def _fits(event: Event, record: Judged) -> bool:
    """Whether a record stands beside the request that was signed."""
    return record.decision.request == event.request


def _quits(world: World, policy: PolicyCommit, request: Request, records: list[Judged]) -> bool:
    if request.gate not in policy.policy.gates:
        return False
    return world.judge(policy, None, request, tuple(records)).quit == records[-1].id


def _really_landed(world: World, policy: PolicyCommit, ledger: Ledger, event: Event) -> bool:
    request = ledger.requests.get(event.request or "")
    return request is not None and is_landing(
        world, policy, request, str(event.fields["old"]), str(event.fields["new"])
    )
