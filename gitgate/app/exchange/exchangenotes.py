"""The notes of a `sync`: united by record, so that nobody's deletion takes anything away."""

from __future__ import annotations

from contextlib import suppress

from gitgate.app.exchange.exchange import Change, Exchange, What
from gitgate.core import ids
from gitgate.errors import GateError
from gitgate.git import notes, refs
from gitgate.git.remote import Move

NAME = "notes"


class Notes:
    """The copies of decisions; the ledgers have them all, so nothing here keeps a ledger back."""

    def __init__(self, shared: Exchange) -> None:
        self._shared = shared
        self._repo = shared.world.repo

    def secure(self) -> None:
        """Take in what the remote was last known to have, before a fetch overwrites it."""
        known, ours = self._shared.had.get(ids.NOTES), self._own()
        if known is None or known == ours:
            return
        with suppress(GateError):  # said when they are looked at
            united = notes.unite(self._repo, ours, known) if ours else known
            self._shared.swap(ids.NOTES, united, ours)

    def look(self) -> list[Move]:
        """Unite the notes here and there, and say what the remote has to be given."""
        ours, theirs = self._own(), self._shared.there.get(ids.NOTES)
        if ours == theirs:
            if theirs is not None:
                self._shared.had[ids.NOTES] = theirs
            return []
        try:
            return self._together(ours, theirs)
        except GateError as error:
            self._shared.fail(ids.NOTES, NAME, What.UNTRUSTED, error)
            return []

    def _together(self, ours: str | None, theirs: str | None) -> list[Move]:
        shared = self._shared
        known = shared.had.get(ids.NOTES)
        if theirs is None or ours is None:
            tip = ours or theirs or ""
            lost = "they were deleted" if known and theirs is None else ""
        else:
            lost = self._lost(known if known != theirs else None, theirs)
            tip = ours if lost == _UNREADABLE else self._united(ours, theirs)
        if not shared.swap(ids.NOTES, tip, ours):
            return []
        self._tell(ours, theirs, tip, lost)
        if tip == theirs:
            shared.had[ids.NOTES] = tip
            return []
        return [Move(ids.NOTES, theirs, tip)]

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
