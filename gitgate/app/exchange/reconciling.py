"""One ledger of this clone and of a remote brought together: read, decided, written as objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gitgate.app.gather.policies import PolicyCommit
from gitgate.core import decision as decisions
from gitgate.core import events as codec
from gitgate.core import ids
from gitgate.core.events import Event, EventName
from gitgate.core.gate import Facts, Instance, Status, fold
from gitgate.core.reconcile import Chain, Fold, Outcome, Plan, reconcile, whole
from gitgate.core.replay import identity, replay
from gitgate.core.trust import SignatureStatus
from gitgate.errors import GateError
from gitgate.git import ledger as store
from gitgate.git.chain import object_id, root_commit
from gitgate.git.ledger import Draft, Ledger

if TYPE_CHECKING:
    from gitgate.app.gather.world import World


@dataclass(frozen=True, slots=True)
class Settled:
    """Where a ledger of this clone goes: to `tip`. The remote's is to go there too where the
    outcome is PUSH or REPLAY; `lost` says what the remote lost of it. `here` and `there` are how
    many events each side gains."""

    outcome: Outcome
    tip: str | None
    lost: str = ""
    said: tuple[str, ...] = ()
    here: int = 0
    there: int = 0


class Reconciler:
    """Brings ledgers together; without a policy nobody is known, and every record is kept."""

    def __init__(self, world: World, policy: PolicyCommit | None) -> None:
        self._world = world
        self._repo = world.repo
        self._policy = policy

    def settle(
        self,
        gate: str,
        subject: str,
        ours: str | None,
        theirs: str | None,
        known: Sequence[str] = (),
        named: str | None = None,
        *,
        dry_run: bool = False,
    ) -> Settled:
        """Bring `ours` and `theirs` together, the tips of one ledger here and there; `known` are
        tips that it is known to have had there, `named` is what the journal there is known to have
        named. Objects are written, no ref moves.

        Only what this clone has noted of this remote is known: who made a commit says nothing of
        where it has been.

        Raises GateError: fatal where git does not know who commits, and what reading raises.
        """
        all_tips = (ours, theirs, named, *known)
        read = {tip: self._read(gate, subject, tip) for tip in all_tips if tip}
        chains = {tip: self.chain(ledger) for tip, ledger in read.items()}
        own = chains[ours] if ours else None
        other = chains[theirs] if theirs else None
        had = [chains[tip] for tip in known if chains[tip].sound]
        anchor = chains[named] if named and chains[named].sound else None
        fold = self._fold(gate, subject, [*read.values()])
        plan = reconcile(own, other, had, fold, anchor)
        return self._written(plan, read, own, other, dry_run=dry_run)

    def joined(self, gate: str, subject: str, ours: str | None, named: str) -> str | None:
        """This clone's state on top of the one that the journal names; objects only.

        None where nothing here verifies.
        """
        other = self._read(gate, subject, named)
        beside = self.chain(other)
        if ours is None:
            return named if beside.sound else None
        mine = self._read(gate, subject, ours)
        chain = self.chain(mine)
        if not beside.sound or (chain.sound and chain.has(beside)):
            return ours
        if beside.has(chain):
            return named
        requests = {**mine.requests, **other.requests}
        events = chain.events if chain.sound else whole(chain, requests)
        done, _ = replay(other.events, events, requests, self._fold(gate, subject, [mine, other]))
        return self._append(other, done, [mine, other]).tip

    def has_ended(self, gate: str, subject: str, tip: str) -> bool:
        """Whether a ledger verifies and no life runs at its end."""
        ledger = self._read(gate, subject, tip)
        if ledger.faults or not ledger.events:
            return False
        return self._fold(gate, subject, [ledger])(ledger.events).running is None

    def chain(self, ledger: Ledger) -> Chain:
        """A ledger as the rules see it."""
        sound = not ledger.faults
        root = object_id("commit", root_commit(ledger.gate, ledger.subject))
        commits = (root, *(event.id for event in ledger.events)) if sound else (str(ledger.tip),)
        records = {oid for oid in ledger.records if sound or self._counts(ledger, oid)}
        junk = {one.record for one in ledger.events if sound and self._never_counts(ledger, one)}
        return Chain(
            *(commits, ledger.events, ledger.requests, frozenset(records), sound),
            frozenset(oid for oid in junk if oid is not None),
        )

    def _read(self, gate: str, subject: str, tip: str) -> Ledger:
        return store.read(self._repo, gate, subject, tip)

    def _counts(self, ledger: Ledger, oid: str) -> bool:
        """Whether a record of an altered ledger is to be kept: junk is not."""
        try:
            record = decisions.parse(
                ledger.records[oid], tag=ids.tag_name(ledger.gate, ledger.subject)
            )
        except decisions.Defect:
            return False
        return self._policy is None or not self._world.judged(self._policy, record).junk

    def _never_counts(self, ledger: Ledger, event: Event) -> bool:
        """Whether an event holds what can never be anybody's word, as the server's hook sees it."""
        if event.name is not EventName.DECIDED or event.record is None:
            return False
        tag = ids.tag_name(ledger.gate, ledger.subject)
        try:
            record = decisions.parse(ledger.records[event.record], tag=tag, request=event.request)
        except decisions.Defect:
            return True
        if self._policy is None:
            return False
        checked = self._world.judged(self._policy, record).verification
        return checked.status is SignatureStatus.BAD

    def _fold(self, gate: str, subject: str, read: Sequence[Ledger]) -> Fold:
        """The fold over events of any of these states, signatures and landings looked at."""
        world, policy = self._world, self._policy
        all_of_it = _united(gate, subject, read)
        kinds = {oid: request.kind for oid, request in all_of_it.requests.items()}

        def look(events: Sequence[Event]) -> Instance:
            if policy is not None:
                try:
                    return world.fold_of(policy, replace(all_of_it, events=tuple(events)))
                except GateError:  # what is not known of a landing is no reason to lose a word
                    pass
            good = frozenset(e.id for e in events if e.name is EventName.DECIDED)
            ends = frozenset(e.id for e in events if e.name is EventName.LANDED)
            return fold(events, kinds, Facts(good, ends))

        return look

    def _written(
        self,
        plan: Plan,
        read: dict[str, Ledger],
        ours: Chain | None,
        theirs: Chain | None,
        *,
        dry_run: bool,
    ) -> Settled:
        base = plan.base
        if base is None:
            return Settled(plan.outcome, None, plan.lost, plan.said)
        tip: str | None = base.tip
        if plan.outcome is Outcome.REPLAY and not dry_run:
            tip = self._append(read[base.tip], plan.replayed, [*read.values()]).tip
        after = {identity(event) for event in (*base.events, *plan.replayed)}
        here, there = (
            len(after - {identity(event) for event in (state.events if state else ())})
            for state in (ours, theirs)
        )
        return Settled(plan.outcome, tip, plan.lost, plan.said, here, there)

    def _append(self, base: Ledger, replayed: Sequence[Event], read: Sequence[Ledger]) -> Ledger:
        if not replayed:
            return base
        all_of_it = _united(base.gate, base.subject, read)
        look = self._fold(base.gate, base.subject, read)
        stamp = replace(self._repo.identity(), time=self._world.now)
        done, after = list(base.events), base
        for event in replayed:
            done.append(event)
            draft = self._draft(event, look(done), after, all_of_it)
            after = store.extended(self._repo, after, draft, stamp)
        return after

    def _draft(self, event: Event, instance: Instance, after: Ledger, all_of_it: Ledger) -> Draft:
        """The event with what comes with it, and the summary that lists show."""
        found = instance.find(event.request or "")
        iteration = found[1] if found else instance.newest
        newest = iteration is not None and iteration is instance.newest
        status = self._status(event.id if newest or after.tip is None else after.tip)
        number = iteration.number if iteration else 0
        if event.name is not EventName.DECIDED or event.record is None:
            return Draft(event, number, status)
        data = tuple(self._repo.read(oid, "blob") for oid in all_of_it.data[event.record])
        return Draft(event, number, status, None, all_of_it.records[event.record], data)

    def _status(self, commit: str) -> str:
        try:
            return codec.parse_summary(self._repo.commit(commit).message).status
        except (GateError, ValueError):
            return Status.OPEN.value


def _united(gate: str, subject: str, read: Sequence[Ledger]) -> Ledger:
    """All that several states of one ledger hold, without an order."""
    found = Ledger(gate, subject, ids.ledger_ref(gate, subject))
    for one in read:
        found = replace(
            found,
            records={**found.records, **one.records},
            data={**found.data, **one.data},
            requests={**found.requests, **one.requests},
            trees={**found.trees, **one.trees},
        )
    return found


def name_of(gate: str, subject: str) -> str:
    """How people call an instance."""
    return f"{gate} of {subject}"
