"""The journal of a `sync`: brought together before the ledgers, told of them after they moved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

from gitgate.app.exchange import exchangedone, journalling
from gitgate.app.exchange.exchange import Change, Exchange, What
from gitgate.core import ids
from gitgate.core.person import Stamp
from gitgate.errors import Exit, GateError
from gitgate.git import journal as journals
from gitgate.git import ledger as store
from gitgate.git import refs
from gitgate.git.journal import Entry, Index
from gitgate.git.remote import Move

NAME = "journal"


class Journal:
    """Which ledger tips everybody has agreed on: what it names, the shared ref has to go on from.

    Only what the remote has accepted is named, so no race over a ledger ever contradicts it.
    """

    def __init__(self, shared: Exchange) -> None:
        self._shared = shared
        self._repo = shared.world.repo
        self._seen = self._own()

    def tip(self, gate: str, subject: str) -> str | None:
        """The ledger tip that the journal names; None where it names none that can be read."""
        try:
            return self._index.tip(gate, subject)
        except GateError:
            return None

    def tip_there(self, gate: str, subject: str) -> str | None:
        """The ledger tip that this remote's journal is known to have named; None where it named
        none that can be read. What only another remote's journal named says nothing of this one."""
        try:
            return self._index_there.tip(gate, subject)
        except GateError:
            return None

    def is_there(self) -> bool:
        """Whether the remote is known to have, or to have had, a journal."""
        return self._index_there.commit is not None

    @cached_property
    def _index(self) -> Index:
        return Index(self._repo, self._own())

    @cached_property
    def _index_there(self) -> Index:
        """The newest commit of the own journal that the remote is known to have had."""
        shared, own, newest = self._shared, self._own(), None
        known = (
            shared.there.get(ids.JOURNAL),
            shared.had.get(ids.JOURNAL),
            exchangedone.confirmed(shared).get(ids.JOURNAL),
        )
        for tip in dict.fromkeys(one for one in known if one is not None):
            if own and self._holds(own, tip) and (newest is None or self._holds(tip, newest)):
                newest = tip
        return Index(self._repo, newest)

    def _holds(self, newer: str, older: str) -> bool:
        try:
            return journals.goes_on_from(self._repo, newer, older)
        except GateError:  # an object that is not here any more
            return False

    def secure(self) -> None:
        """Take in what the remote was last known to have, before a fetch overwrites it."""
        known, ours = self._shared.had.get(ids.JOURNAL), self._own()
        if known is None or known == ours:
            return
        with suppress(GateError):  # said where the journals are brought together
            goes_on = ours is None or journals.goes_on_from(self._repo, known, ours)
            if goes_on and not journals.defects(self._repo, ours, known):
                self._shared.swap(ids.JOURNAL, known, ours)

    def look(self) -> None:
        """Bring the journals here and there together; what the remote lacks goes out later."""
        for kept in ("_index", "_index_there"):
            vars(self).pop(kept, None)
        ours, theirs = self._own(), self._shared.there.get(ids.JOURNAL)
        if ours == theirs:
            return
        try:
            self._together(ours, theirs)
        except GateError as error:
            self._shared.fail(ids.JOURNAL, NAME, What.UNTRUSTED, error)

    def _together(self, ours: str | None, theirs: str | None) -> None:
        if theirs is None:
            if ours and ids.JOURNAL in self._shared.had:
                self._put_back("it was deleted")
            return
        if ours is None:
            self._begin(theirs)
            return
        if journals.goes_on_from(self._repo, ours, theirs):
            self._ahead(ours, theirs)
            return
        wrong = self._wrong(ours, theirs)
        if not wrong and journals.goes_on_from(self._repo, theirs, ours):
            tip = theirs
        elif wrong:
            tip = self._without_lies(ours, theirs)
        else:
            tip = journals.remake(self._repo, theirs, ours, self._stamp())
        if self._shared.swap(ids.JOURNAL, tip, ours):
            what = What.TAKEN if tip == theirs else What.MERGED
            self._shared.tell(Change(ids.JOURNAL, NAME, what))
            if wrong:
                self._put_back(wrong)

    def _ahead(self, ours: str, theirs: str) -> None:
        """What only this clone has goes out; a commit that somebody made here on a checkout that
        was behind is made again first, so that it takes nothing back."""
        if journals.defects(self._repo, theirs, ours):
            tip = journals.remake(self._repo, theirs, ours, self._stamp(), believed=False)
            if not self._shared.swap(ids.JOURNAL, tip, ours):
                return
            said = ("commits made here took back what it names, and were made again without that",)
            self._shared.tell(Change(ids.JOURNAL, NAME, What.MERGED, said))
        known = self._shared.had.get(ids.JOURNAL)
        if known and self._holds(ours, known) and not self._holds(theirs, known):
            self._put_back("it was taken back to an earlier commit")

    def _without_lies(self, ours: str, theirs: str) -> str:
        """This clone's journal with what is sound in the remote's; a further file that both sides
        changed stays as it is here."""
        try:
            return journals.remake(self._repo, ours, theirs, self._stamp(), believed=False)
        except GateError as error:
            self._shared.details.append(error.message)
            return ours

    def _begin(self, theirs: str) -> None:
        wrong = journals.defects(self._repo, None, theirs)
        if wrong:
            remote = self._shared.remote
            said = f"the journal of {remote} is not to be trusted: {wrong[0]}"
            way = f"git gate sync {remote} in a clone that had it before puts it back"
            raise GateError(Exit.UNTRUSTED, said, way)
        if refs.read(self._repo, journalling.BRANCH) is not None:
            raise journalling.in_the_way()
        if self._shared.swap(ids.JOURNAL, theirs, None):
            self._shared.tell(Change(ids.JOURNAL, NAME, What.TAKEN))

    def _wrong(self, ours: str, theirs: str) -> str:
        """What the remote's journal does against the rules; empty where it only went on."""
        known = self._shared.had.get(ids.JOURNAL)
        if known in (None, theirs):
            known = self._fork(ours, theirs)
        elif not journals.goes_on_from(self._repo, theirs, str(known)):
            return "it was rewritten"
        defects = journals.defects(self._repo, known, theirs)
        return defects[0] if defects else ""

    def _put_back(self, lost: str) -> None:
        said = f"{lost} on {self._shared.remote}, and this is put back"
        self._shared.tell(Change(ids.JOURNAL, NAME, What.PUT_BACK, (said,)))

    def named_anew(self) -> dict[str, tuple[str, str]]:
        """The ledger refs of instances that the journal names since this `sync` began and that
        have not ended, as it says: they are looked at even where nobody has a ref of them."""
        own = self._own()
        if own is None or own == self._seen:
            return {}
        seen = self._seen
        if seen and not journals.goes_on_from(self._repo, own, seen):
            seen = None
        return {
            ids.ledger_ref(entry.gate, entry.subject): (entry.gate, entry.subject)
            for entry in journals.changes(self._repo, seen, own)
            if entry.status not in journalling.ENDED
        }

    def name_accepted(self) -> list[Move]:
        """Name the ledger tips that the remote has, where the policy wants a journal, and say what
        the remote's journal has to become."""
        shared = self._shared
        policy, theirs = shared.policy, shared.there.get(ids.JOURNAL)
        if ids.JOURNAL in shared.problems:
            return []
        ours = self._own()
        if policy is not None and policy.policy.journal and not shared.dry_run:
            ours = self._named(ours)
        if ours is None or ours == theirs:
            if theirs is not None:
                shared.had[ids.JOURNAL] = theirs
            return []
        if ids.JOURNAL not in shared.changes:
            shared.tell(Change(ids.JOURNAL, NAME, What.PUSHED))
        return [Move(ids.JOURNAL, theirs, ours)]

    def _named(self, ours: str | None) -> str | None:
        entries = list(self._accepted())
        if not entries:
            return ours
        try:
            if refs.read(self._repo, journalling.BRANCH) is not None:
                raise journalling.in_the_way()
            said = self._shared.warnings
            tip = journals.append(
                self._repo, ours, entries, self._stamp(), lambda error: said.append(error.message)
            )
            self._shared.swap(ids.JOURNAL, tip, ours)
        except GateError as error:
            self._shared.fail(ids.JOURNAL, NAME, What.UNTRUSTED, error)
        return self._own()

    def _accepted(self) -> Iterator[Entry]:
        """The ledgers of which the remote has this clone's tip and the journal another one."""
        there = self._shared.there
        for ref, tip in refs.listing(self._repo, ids.GATES).items():
            summary = store.instance(self._repo, ref, tip).summary
            if summary is None or there.get(ref) != tip:
                continue
            if self.tip(summary.gate, summary.subject) != tip:
                yield Entry(summary.gate, summary.subject, tip)

    def _fork(self, ours: str, theirs: str) -> str | None:
        """The newest commit that both chains have."""
        chain = {commit.id for commit in self._repo.first_parents(ours) or ()}
        other = self._repo.first_parents(theirs) or []
        return next((commit.id for commit in other if commit.id in chain), None)

    def _stamp(self) -> Stamp:
        return replace(self._repo.identity(), time=self._shared.world.now)

    def _own(self) -> str | None:
        return refs.read(self._repo, ids.JOURNAL)
