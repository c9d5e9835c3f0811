"""The ledgers that this clone knows: its own, those that its remote was seen to have, and those
that the journal names."""

from __future__ import annotations

from functools import cached_property

from gitgate.core import ids
from gitgate.errors import GateError
from gitgate.git import confirmed, journal, known, refs
from gitgate.git import ledger as store
from gitgate.git.known import Known
from gitgate.git.ledger import Ledger
from gitgate.git.repository import Repository


class Ledgers:
    """Each ledger as first read, so that one command sees one state of it."""

    def __init__(self, repo: Repository, remote: str | None) -> None:
        self._repo = repo
        self._remote = remote
        self._read: dict[tuple[str, str], Ledger] = {}
        self._known: dict[tuple[str, str], Known] = {}

    def read(self, gate: str, subject: str) -> Ledger:
        """The ledger of one instance up to the newest event known."""
        key = (gate, subject)
        if key not in self._read:
            self._read[key] = store.read(self._repo, gate, subject, self.tip(gate, subject))
        return self._read[key]

    def tip(self, gate: str, subject: str) -> str | None:
        """The newest event known of the instance, a commit; None where it has no ledger."""
        return self._newest(gate, subject).tip

    def apart(self, gate: str, subject: str) -> str:
        """A sentence where what is known of the instance does not lie on one chain, else empty."""
        return self._newest(gate, subject).apart

    def catch_up(self, gate: str, subject: str) -> None:
        """Bring this clone's own ref to the newest event known, before it is written on.

        Raises GateError (untrusted) where the tips went apart.
        """
        found = self._look(gate, subject)
        known.catch_up(self._repo, found)
        if self._remote is None or found.tip in (None, found.own):
            return
        there = known.tracking_ref(self._remote, found.ref)
        if refs.read(self._repo, there) == found.tip:
            confirmed.add(self._repo, self._remote, found.ref, str(found.tip))

    @cached_property
    def _journals(self) -> list[journal.Index]:
        """What the journals known here name: one as a rule, two where they went apart."""
        return [journal.Index(self._repo, tip) for tip in journal.heads(self._repo, self._remote)]

    def _newest(self, gate: str, subject: str) -> Known:
        key = (gate, subject)
        if key not in self._known:
            self._known[key] = self._look(gate, subject)
        return self._known[key]

    def _look(self, gate: str, subject: str) -> Known:
        ref = ids.ledger_ref(gate, subject)
        elsewhere: dict[str, str | None] = {}
        if self._remote is not None:
            there = known.tracking_ref(self._remote, ref)
            elsewhere[there] = refs.read(self._repo, there)
        try:
            for index in self._journals:
                elsewhere[f"the journal {index.commit}"] = index.tip(gate, subject)
        except GateError as error:
            own = refs.read(self._repo, ref)
            return Known(ref, own, own, error.message)
        return known.newest(self._repo, ref, elsewhere)
