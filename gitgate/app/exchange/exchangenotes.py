"""The notes of a `sync`: united by record, so that nobody's deletion takes anything away."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from gitgate.app.exchange.exchange import Change, Exchange, What
from gitgate.app.exchange.exchangejournal import Journal
from gitgate.core import decision, ids
from gitgate.errors import GateError
from gitgate.git import notes, refs
from gitgate.git.remote import Move

NAME = "notes"


class Notes:
    """The copies of decisions; the ledgers have them all, so nothing here keeps a ledger back."""

    def __init__(self, shared: Exchange, journal: Journal) -> None:
        self._shared = shared
        self._journal = journal
        self._repo = shared.world.repo

    def secure(self) -> None:
        """Take in what the remote was last known to have, before a fetch overwrites it."""
        known, ours = self._shared.had.get(ids.NOTES), self._own()
        if known is None or known == ours:
            return
        with suppress(GateError):  # said when they are looked at
            united = notes.unite(self._repo, ours, known) if ours else known
            self._shared.swap(ids.NOTES, united, ours)

    def look(self) -> None:
        """Unite the notes here and there."""
        ours, theirs = self._own(), self._shared.there.get(ids.NOTES)
        if ours == theirs:
            if theirs is not None:
                self._shared.had[ids.NOTES] = theirs
            return
        try:
            self._together(ours, theirs)
        except GateError as error:
            self._shared.fail(ids.NOTES, NAME, What.UNTRUSTED, error)

    def outgoing(self) -> list[Move]:
        """What the remote has to be given, after the ledgers: a record whose ledger it has not
        taken stays here, since a record without its request would block the instance there."""
        shared = self._shared
        ours, theirs = self._own(), shared.there.get(ids.NOTES)
        if ours is None or ours == theirs or ids.NOTES in shared.problems or shared.dry_run:
            return []
        try:
            tip, left = notes.part(self._repo, ours, theirs, self._goes)
        except GateError as error:
            shared.fail(ids.NOTES, NAME, What.UNTRUSTED, error)
            return []
        if left:
            said = "notes that are not sent before their ledgers are there"
            shared.details.append(f"{left} {said}")
        if tip != theirs:
            return [Move(ids.NOTES, theirs, tip)]
        told = shared.changes.get(ids.NOTES)
        if told is not None and told.what is What.PUSHED:
            del shared.changes[ids.NOTES]
        elif told is not None and told.what is What.MERGED:
            shared.changes[ids.NOTES] = replace(told, what=What.TAKEN)
        return []

    def _goes(self, piece: bytes) -> bool:
        """Whether the remote has the ledger that a record belongs to; all other text goes."""
        try:
            tag = decision.parse(piece).decision.tag
        except decision.Defect:
            return True
        place = tag.removeprefix("gate/")
        ref = ids.GATES + place
        ours, theirs = refs.read(self._repo, ref), self._shared.there.get(ref)
        if ours is not None or theirs is not None:
            return theirs is not None and ours in (None, theirs)
        gate, _, name = place.partition("/")
        subject = ids.decode_subject(name)
        journal = self._journal
        return journal.tip_there(gate, subject) is not None if subject else journal.is_there()

    def _together(self, ours: str | None, theirs: str | None) -> None:
        shared = self._shared
        known = shared.had.get(ids.NOTES)
        if theirs is None or ours is None:
            tip = ours or theirs or ""
            lost = "they were deleted" if known and theirs is None else ""
        else:
            lost = self._lost(known if known != theirs else None, theirs)
            tip = ours if lost == _UNREADABLE else self._united(ours, theirs)
        if not shared.swap(ids.NOTES, tip, ours):
            return
        self._tell(ours, theirs, tip, lost)
        if tip == theirs:
            shared.had[ids.NOTES] = tip

    def _united(self, ours: str, theirs: str) -> str:
        cut: list[str] = []
        united = notes.unite(self._repo, ours, theirs, cut)
        self._shared.warnings += cut
        return united

    def _lost(self, known: str | None, theirs: str) -> str:
        try:
            self._repo.children(self._repo.commit(theirs).tree)
            gone = notes.lacking(self._repo, known, theirs) if known else []
        except GateError:
            return _UNREADABLE
        if not gone:
            return ""
        more = f" and of {len(gone) - 1} more commits" if gone[1:] else ""
        return f"the note of {gone[0][:12]}{more} lost a record"

    def _tell(self, ours: str | None, theirs: str | None, tip: str, lost: str) -> None:
        shared = self._shared
        if lost:
            said = f"{lost} on {shared.remote}, and this is put back"
            shared.tell(Change(ids.NOTES, NAME, What.PUT_BACK, (said,)))
        elif tip == theirs:
            shared.tell(Change(ids.NOTES, NAME, What.TAKEN))
        else:
            what = What.PUSHED if tip == ours else What.MERGED
            shared.tell(Change(ids.NOTES, NAME, what))

    def _own(self) -> str | None:
        return refs.read(self._repo, ids.NOTES)


_UNREADABLE = "they cannot be read"
