"""What a `sync` itself adds to ledgers: records that only a note has, and landings that nobody has
recorded yet (design, sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gitgate.app.exchange import exchangedone, repair
from gitgate.app.exchange.exchange import Change, Exchange, What
from gitgate.app.exchange.reconciling import name_of
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.landing.landings import record_landing
from gitgate.core import ids
from gitgate.core.gate import Status
from gitgate.errors import GateError
from gitgate.git import ledger as store
from gitgate.git import notes, refs

_RUNNING = frozenset([Status.OPEN, Status.APPROVED, Status.SKIPPED, Status.REJECTED])


class Additions:
    """Looks only where notes or targets moved since nothing was left to do."""

    def __init__(self, shared: Exchange) -> None:
        self._shared = shared
        self._repo = shared.world.repo
        self._notes = refs.read(self._repo, ids.NOTES)
        self._looked = False

    def add(self) -> bool:
        """Whether a ledger has an event more, which has to be exchanged then."""
        shared = self._shared
        policy = shared.policy
        if policy is None or shared.only is not None or shared.dry_run:
            return False
        shared.world.forget()
        before = refs.listing(self._repo, ids.GATES)
        for gate, subject in list(self._of_gained_notes()):
            self._mend(policy, gate, subject)
        if not self._looked:
            self._looked = True
            self._record_landings(policy)
        return refs.listing(self._repo, ids.GATES) != before

    def _of_gained_notes(self) -> Iterator[tuple[str, str]]:
        """The instances of which a note has a record that it had not when this began."""
        before, now = self._notes, refs.read(self._repo, ids.NOTES)
        self._notes = now
        if now is None or now == before:
            return
        gained = set(notes.lacking(self._repo, now, before)) if before else None
        world = self._shared.world
        for tag, records in world.noted.records.items():
            if gained is not None and not any(commit in gained for commit, _ in records):
                continue
            gate = tag.removeprefix("gate/").partition("/")[0]
            yield from (
                (gate, one) for one in world.subjects(gate) if ids.tag_name(gate, one) == tag
            )

    def _mend(self, policy: PolicyCommit, gate: str, subject: str) -> None:
        shared = self._shared
        ref = ids.ledger_ref(gate, subject)
        if not shared.world.held(policy, gate, subject).strays or ref in shared.problems:
            return
        try:
            said = repair.mend(shared.world, policy, gate, subject)
        except GateError as error:
            shared.warnings.append(f"{name_of(gate, subject)}: {error.message}")
            return
        shared.warnings += said.left
        if said.done:
            shared.tell(Change(ref, name_of(gate, subject), What.MENDED, tuple(said.done)))

    def _record_landings(self, policy: PolicyCommit) -> None:
        """Of the ledgers that this exchange touched; of all, where a guarded ref has moved."""
        shared = self._shared
        moved = exchangedone.targets_moved(shared)
        for ref, tip in refs.listing(self._repo, ids.GATES).items():
            summary = store.instance(self._repo, ref, tip).summary
            if summary is None or summary.status not in _RUNNING or ref in shared.problems:
                continue
            if moved or ref in shared.changes:
                self._record_landing(policy, ref, summary.gate, summary.subject)

    def _record_landing(self, policy: PolicyCommit, ref: str, gate: str, subject: str) -> None:
        world = self._shared.world
        try:
            stamp = replace(self._repo.identity(), time=world.now)
            said = record_landing(world, policy, gate, subject, stamp)
        except GateError:  # whoever opens it next is told what nobody can know here
            return
        if said:
            self._shared.tell(Change(ref, name_of(gate, subject), What.MENDED, said))
