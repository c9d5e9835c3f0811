"""The ledgers that this clone knows: its own, and those that its remote was seen to have."""

from __future__ import annotations

from gitgate.core import ids
from gitgate.git import known, refs
from gitgate.git import ledger as store
from gitgate.git.known import Known
from gitgate.git.ledger import Instance, Ledger
from gitgate.git.repository import Repository


class Ledgers:
    """Each ledger as first read, so that one command sees one state of it."""

    def __init__(self, repo: Repository, remote: str | None) -> None:
        self._repo = repo
        self._remote = remote
        self._read: dict[tuple[str, str], Ledger] = {}
        self._known: dict[str, Known] = {}
        self._listing: list[tuple[str, str | None]] | None = None

    def read(self, gate: str, subject: str) -> Ledger:
        """The ledger of one instance up to the newest event known."""
        key = (gate, subject)
        if key not in self._read:
            self._read[key] = store.read(self._repo, gate, subject, self.tip(gate, subject))
        return self._read[key]

    def tip(self, gate: str, subject: str) -> str | None:
        """The newest event known of the instance, a commit; None where it has no ledger."""
        return self._newest(ids.ledger_ref(gate, subject)).tip

    def apart(self, gate: str, subject: str) -> str:
        """A sentence where what is known of the instance does not lie on one chain, else empty."""
        return self._newest(ids.ledger_ref(gate, subject)).apart

    def catch_up(self, gate: str, subject: str) -> None:
        """Bring this clone's own ref to the newest event known, before it is written on.

        Raises GateError (untrusted) where the tips went apart.
        """
        known.catch_up(self._repo, self._look(ids.ledger_ref(gate, subject)))

    def listed(self) -> list[tuple[str, str | None]]:
        """The refs of ledgers with their subjects, None where nothing says what one is of."""
        if self._listing is None:
            own = refs.listing(self._repo, ids.GATES)
            names = sorted({*own, *known.tracked(self._repo, self._remote)})
            there = [self._listed(name) for name in names]
            self._listing = [(one.ref, store.subject_of(self._repo, one)) for one in there if one]
        return self._listing

    def _listed(self, ref: str) -> Instance | None:
        tip = self._newest(ref).tip
        return store.instance(self._repo, ref, tip) if tip else None

    def _newest(self, ref: str) -> Known:
        if ref not in self._known:
            self._known[ref] = self._look(ref)
        return self._known[ref]

    def _look(self, ref: str) -> Known:
        elsewhere: dict[str, str | None] = {}
        if self._remote is not None:
            there = known.tracking_ref(self._remote, ref)
            elsewhere[there] = refs.read(self._repo, there)
        return known.newest(self._repo, ref, elsewhere)
