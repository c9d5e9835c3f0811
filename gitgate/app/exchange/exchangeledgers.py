"""The ledgers of a `sync`: each brought together with the remote's, own refs first."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property

from gitgate.app.exchange import exchangedone, journalling, reconciling
from gitgate.app.exchange.exchange import Change, Exchange, What
from gitgate.app.exchange.exchangejournal import Journal
from gitgate.app.exchange.reconciling import Reconciler, Settled
from gitgate.core import ids
from gitgate.core.reconcile import Outcome
from gitgate.errors import Exit, GateError
from gitgate.git import ledger as store
from gitgate.git import refs
from gitgate.git.journal import Index
from gitgate.git.remote import Move


class Ledgers:
    """Reconciles ledger by ledger; what is wrong with one keeps no other one from it."""

    def __init__(self, shared: Exchange, journal: Journal) -> None:
        self._shared = shared
        self._journal = journal
        self._repo = shared.world.repo
        self._reconciler = Reconciler(shared.world, shared.policy)
        self._names: dict[str, tuple[str, str]] = {}
        self._secured: dict[str, Settled] = {}
        self._going: dict[str, str] = {}

    def secure(self) -> None:
        """Take into own refs what the remote was last known to have, before a fetch overwrites
        the only refs that hold it."""
        own = self._own()
        for ref, tip in self._known():
            if own.get(ref) != tip and not self._is_let_go(ref, tip, own.get(ref)):
                with suppress(GateError):  # said when the ledger is looked at
                    while not self._secure(ref, tip):
                        pass

    def _secure(self, ref: str, tip: str) -> bool:
        """False where a writer here was faster."""
        ours = refs.read(self._repo, ref)
        known = [tip, *self._confirmed_tip(ref, ours)]
        gate, subject = self._name(ref, tip)
        anchor = None
        mine = ours
        if ours is not None:
            anchor = self._journal.tip_there(gate, subject)
            mine = self._with_named(gate, subject, ours, tip, self._journal.tip(gate, subject))
        settled = self._reconciler.settle(
            *(gate, subject, mine, tip, known, anchor), dry_run=self._shared.dry_run
        )
        if settled.tip is None or settled.outcome is Outcome.UNTRUSTED:
            return True
        self._secured[ref] = settled
        return self._shared.swap(ref, settled.tip, ours)

    def look(self) -> list[Move]:
        """Bring every ledger together, and say what the remote has to be given."""
        shared, own = self._shared, self._own()
        known = {**self._vanished(own), **dict(self._known())}
        theirs = {ref: tip for ref, tip in shared.there.items() if ref.startswith(ids.GATES)}
        named = self._journal.named_anew()
        done = exchangedone.is_done(shared)
        moves: list[Move] = []
        for ref in filter(shared.wants, sorted({*own, *theirs, *known, *named})):
            ours, other = own.get(ref), theirs.get(ref)
            if other is not None and ours == other and ref not in named:
                shared.had[ref] = other
                if not self._said(ref) and (done or not self._lacks_named(ref, other)):
                    continue
            shared.say(f"looking at {ref.removeprefix(ids.GATES)}")
            try:
                moves += self._one(ref, ours, other, known.get(ref), named.get(ref))
            except GateError as error:
                shared.fail(ref, self.name(ref), What.UNTRUSTED, error)
        return moves

    def _vanished(self, own: Mapping[str, str]) -> dict[str, str]:
        """What the remote had at the last exchange and no ref shows any more, as after a plain
        `git fetch --prune` of a mirror; an object that is gone as well cannot be put back."""
        shared = self._shared
        return {
            ref: tip
            for ref, tip in self._confirmed.items()
            if ref.startswith(ids.GATES)
            and not (ref in own or ref in shared.there or ref in shared.had)
            and self._repo.kind(tip) == "commit"
        }

    def _lacks_named(self, ref: str, tip: str) -> bool:
        """Whether a ledger that is the same here and there lacks what the journal names: both
        were taken back or rewritten, and a plain fetch (of a mirror) moved this clone's own ref."""
        try:
            named = self._journal.tip(*self._name(ref, tip))
            return named not in (None, tip) and not self._repo.is_ancestor(str(named), tip)
        except GateError:  # said where it is written on, or named
            return False

    def _one(
        self,
        ref: str,
        ours: str | None,
        theirs: str | None,
        known: str | None,
        named: tuple[str, str] | None,
    ) -> Iterator[Move]:
        if known is not None and self._repo.kind(known) in _OTHERS:
            known = None
            if ours is None and theirs is None:
                return
        gate, subject = named or self._name(ref, ours or theirs or known)
        self._names[ref] = gate, subject
        newest = self._journal.tip(gate, subject)
        earlier = self._secured.get(ref)
        mine = earlier.tip if earlier and self._shared.dry_run else ours or known
        mine = self._with_named(gate, subject, mine, theirs, newest)
        gone = theirs is None and mine is not None and newest == mine
        if gone and self._reconciler.has_ended(gate, subject, str(mine)):
            if ours is not None:
                self._shared.swap(ref, str(mine), ours)
            return
        had = [*([known] if known else []), *self._confirmed_tip(ref, mine)]
        anchor = self._journal.tip_there(gate, subject)
        settled = self._reconciler.settle(
            *(gate, subject, mine, theirs, had, anchor), dry_run=self._shared.dry_run
        )
        yield from self._apply(ref, ours, theirs, settled)

    def _with_named(
        self, gate: str, subject: str, mine: str | None, theirs: str | None, named: str | None
    ) -> str | None:
        """This clone's state with what the journal names, which is known here too."""
        if named is None or named in (mine, theirs):
            return mine
        return self._reconciler.joined(gate, subject, mine, named)

    def _apply(
        self, ref: str, ours: str | None, theirs: str | None, settled: Settled
    ) -> Iterator[Move]:
        shared, name = self._shared, self.name(ref)
        if settled.outcome is Outcome.UNTRUSTED or settled.tip is None:
            self._untrusted(ref, name, ours, theirs)
            return
        if not shared.swap(ref, settled.tip, ours):
            return
        if settled.tip != theirs and settled.outcome is not Outcome.SAME:
            yield Move(ref, theirs, settled.tip)
        elif theirs is not None:
            shared.had[ref] = theirs
        if settled.tip in (ours, theirs) and ours == theirs and not self._said(ref):
            return
        self._tell(ref, name, settled)

    def _said(self, ref: str) -> bool:
        """Whether people have to know of what became of a ledger when it was secured."""
        return ref in self._secured and bool(self._secured[ref].said)

    def _tell(self, ref: str, name: str, settled: Settled) -> None:
        """What became of a ledger, and what became of it when it was secured."""
        steps = [step for step in (self._secured.pop(ref, None), settled) if step]
        lost = next((step.lost for step in steps if step.lost), "")
        if settled.outcome in (Outcome.TAKE, Outcome.SAME):  # somebody else has put it back
            lost = ""
        what = _WHAT[settled.outcome]
        if any(step.outcome is Outcome.REPLAY for step in steps):
            what = What.MERGED
        said = [one for step in steps for one in step.said]
        if lost:
            what = What.PUT_BACK
            said.insert(0, f"{lost} on {self._shared.remote}, and this is put back")
        here = max(step.here for step in steps)
        self._shared.tell(Change(ref, name, what, tuple(said), here, settled.there))

    def _untrusted(self, ref: str, name: str, ours: str | None, theirs: str | None) -> None:
        gate, subject = self._names[ref]
        remote, tip = self._shared.remote, ours or theirs
        faults = store.read(self._repo, gate, subject, tip).faults if tip else ()
        why = faults[0] if faults else "it does not verify"
        said = f"the ledger of {name} is not to be trusted, here or on {remote}: {why}"
        way = shlex.join(["git", "gate", "sync", remote])
        if theirs and self._repo.kind(theirs) in _OTHERS:
            way = shlex.join(["git", "push", remote, "--delete", ref])
        elif ours and self._repo.kind(ours) in _OTHERS:
            way = f"{shlex.join(['git', 'update-ref', '-d', ref])} && {way}"
        else:
            way = f"git gate repair; {way}"
        self._shared.fail(ref, name, What.UNTRUSTED, GateError(Exit.UNTRUSTED, said, way))

    def let_go(self) -> list[Move]:
        """The refs of ended instances that the remote has no need of any more: the journal that it
        has names exactly these tips."""
        shared = self._shared
        there, policy = shared.there.get(ids.JOURNAL), shared.policy
        if policy is None or there is None or shared.only is not None or shared.dry_run:
            return []
        if not policy.policy.journal or there != refs.read(self._repo, ids.JOURNAL):
            return []
        shared.world.forget()
        self._going = journalling.removable(shared.world, policy, Index(self._repo, there))
        return [
            Move(ref, tip, None)
            for ref, tip in self._going.items()
            if shared.there.get(ref) == tip and shared.had.get(ref) == tip
        ]

    def remove(self) -> None:
        """Remove here what the remote has let go."""
        shared = self._shared
        gone = {ref: tip for ref, tip in self._going.items() if ref not in shared.there}
        for ref, tip in gone.items():
            self._name(ref, tip)
        for ref in journalling.remove(shared.world, gone):
            said = ("its instance ended long ago; the journal keeps its ledger",)
            shared.tell(Change(ref, self.name(ref), What.REMOVED, said))

    def _confirmed_tip(self, ref: str, ours: str | None) -> list[str]:
        """What the remote had at the last exchange, where this clone's own state still holds it."""
        tip = self._confirmed.get(ref)
        if tip is None or ours is None or self._repo.kind(tip) != "commit":
            return []
        try:
            return [tip] if self._repo.is_ancestor(tip, ours) else []
        except GateError:  # a shallow clone that cannot tell
            return []

    @cached_property
    def _confirmed(self) -> dict[str, str]:
        return exchangedone.confirmed(self._shared)

    def _is_let_go(self, ref: str, tip: str, ours: str | None) -> bool:
        """Whether the ref is gone here because its instance ended and the journal has it."""
        if ours is not None:
            return False
        try:
            return self._journal.tip(*self._name(ref, tip)) == tip
        except GateError:
            return False

    def _own(self) -> dict[str, str]:
        return refs.listing(self._repo, ids.GATES)

    def _known(self) -> list[tuple[str, str]]:
        """The ledgers of the remote that a fetch can move, as it was last known to have them."""
        fetched = self._shared.fetches
        return [
            (ref, tip)
            for ref, tip in self._shared.had.items()
            if ref.startswith(ids.GATES) and fetched(ref)
        ]

    def _name(self, ref: str, tip: str | None) -> tuple[str, str]:
        """Gate and subject of a ledger; GateError (untrusted) where nothing says them."""
        if ref not in self._names:
            listed = store.instance(self._repo, ref, tip or "")
            subject = store.subject_of(self._repo, listed)
            gate = ref.removeprefix(ids.GATES).partition("/")[0]
            if subject is None or not ids.is_gate(gate) or ids.ledger_ref(gate, subject) != ref:
                said = f"{ref} is no ledger: nothing says which instance it is of"
                raise GateError(
                    Exit.UNTRUSTED, said, f"git push --delete {self._shared.remote} {ref}"
                )
            self._names[ref] = gate, subject
        return self._names[ref]

    def name(self, ref: str) -> str:
        """How people call the instance of a ledger: the ref where nothing says of what it is."""
        return reconciling.name_of(*self._names[ref]) if ref in self._names else ref


_OTHERS = ("blob", "tree", "tag")
"""What a ledger's tip can never be."""

_WHAT = {
    Outcome.SAME: What.TAKEN,
    Outcome.TAKE: What.TAKEN,
    Outcome.PUSH: What.PUSHED,
    Outcome.REPLAY: What.MERGED,
}
