"""Which instances a question needs to be read for, by their digests.

Each answer may name instances that turn out to say nothing, and leaves out none that does: what
has no digest, and what a note has a record of that no ledger has, is always named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from gitgate.app.digests.catalogue import Catalogue
from gitgate.app.digests.digests import Book, tokens, write_book
from gitgate.app.digests.rejections import Rejections
from gitgate.app.digests.requestlinks import Links, linked
from gitgate.app.digests.settling import Settling
from gitgate.app.gather.landed import candidate
from gitgate.app.gather.policies import PolicyCommit
from gitgate.core.digest import (
    CONSENT,
    CONSENTED,
    ENDED,
    NONE,
    UNKNOWN,
    WAITS,
    Asked,
    Digest,
    Waits,
)
from gitgate.core.landing import Candidate
from gitgate.core.request import Request
from gitgate.errors import GateError

if TYPE_CHECKING:
    from gitgate.app.gather.world import World

_WORTH = 1_000
"""The file is written anew for one new digest among so many: it is written whole."""


class Sieve:
    """The instances of one moment, and what is remembered of them."""

    def __init__(self, world: World, book: Book) -> None:
        self._world = world
        self._book = book
        self.catalogue = Catalogue(world, book)
        self.settling = Settling(world, book)
        self._strays: dict[str, dict[str, None]] = {}
        self._links: dict[tuple[str, str], Links] = {}
        self._rejections: dict[str, Rejections] = {}

    def subjects(self, gate: str) -> list[str]:
        """The subjects of a gate: those that have a ledger, and those of which a note has a record
        though the ledger is gone."""
        found = dict.fromkeys(row.subject for row in self.catalogue.every(gate))
        return [*found, *(one for one in self._stray(gate) if one not in found)]

    def consenting(self, policy: PolicyCommit, gate: str, ref: str) -> list[str]:
        """The instances that may authorise something on `ref`."""
        self._wake(policy, gate)
        return [
            row.subject
            for row in self.catalogue.awake(gate)
            if row.tip == NONE or self._consents(policy, row, ref)
        ]

    def waiting(self, policy: PolicyCommit, gate: str) -> list[str]:
        """The instances that may have a running life."""
        self._wake(policy, gate)
        return self._named(gate, lambda row: self.settling.state(policy, row) != ENDED)

    def unanswered(self, policy: PolicyCommit, gate: str) -> dict[str, Waits]:
        """Those of the instances that wait of which it is known that no record is about the newest
        request, with what a list says of them; no others."""
        self._wake(policy, gate)
        strays = self._stray(gate)
        found: dict[str, Waits] = {}
        for row in self.catalogue.awake(gate):
            if row.tip != NONE and row.waits != NONE and row.subject not in strays:
                with suppress(TypeError, ValueError):
                    waits = row.waiting
                    if waits is not None and self.settling.state(policy, row) == WAITS:
                        found[row.subject] = waits
        return found

    def rejecting(self, policy: PolicyCommit, request: Request) -> list[str]:
        """The instances of which a rejection may be about the same content as `request`."""
        gate = request.gate
        if gate not in self._rejections:
            self._stray(gate)
            self._rejections[gate] = Rejections(self._world, self.catalogue.awake(gate))
        like = self._rejections[gate].like(policy, request)
        return self._named(gate, lambda row: row.place in like)

    def near(
        self,
        policy: PolicyCommit,
        gate: str,
        subject: str | None,
        wanted: Callable[[Asked], bool],
    ) -> list[str]:
        """The instance `subject`, and those of which the newest request may be `wanted`."""

        def fits(row: Digest) -> bool:
            if row.subject == subject:
                return True
            if self.settling.state(policy, row) == UNKNOWN:
                return _any(row, wanted)
            return _any(row, lambda one: one.id == row.latest and wanted(one))

        self.catalogue.every(gate)
        return self._named(gate, fits)

    def partners(
        self, gate: str, target: str, around: Sequence[Candidate] | None
    ) -> tuple[Candidate, ...]:
        """The requests of a gate and target; with `around` those that a chain may link to them."""
        key = gate, target
        if key not in self._links:
            awake = self._awake_candidates(gate, target)
            self._links[key] = Links(awake, self.catalogue.quiet_links(gate, target), target)
        links = self._links[key]
        return links.every() if around is None else links.around(around)

    def keep(self) -> None:
        """Write down what this command has learned, where that saves more than it takes."""
        if self._book.changed and self._book.changed > self._book.size() // _WORTH:
            self.catalogue.forget_gone()
            self.settling.tidy()
            write_book(self._world.repo, self._book, self.catalogue.here)

    def _named(self, gate: str, fits: Callable[[Digest], bool]) -> list[str]:
        strays = self._stray(gate)
        rows = self.catalogue.awake(gate)
        found = [
            row.subject for row in rows if row.tip == NONE or row.subject in strays or fits(row)
        ]
        if strays:
            known = {row.subject for row in rows}
            found += [one for one in strays if one not in known]
        return found

    def _consents(self, policy: PolicyCommit, row: Digest, ref: str) -> bool:
        state = self.settling.state(policy, row)
        if state in (ENDED, WAITS):
            return False
        latest = row.latest if state == CONSENTED else None
        return _any(
            row,
            lambda one: (
                CONSENT in one.marks and one.target == ref and (latest is None or one.id == latest)
            ),
        )

    def _wake(self, policy: PolicyCommit, gate: str) -> None:
        self.catalogue.wake(gate, lambda number: self.settling.wakes(policy, number))

    def _stray(self, gate: str) -> dict[str, None]:
        """The subjects of which notes have a record that no ledger has."""
        if gate not in self._strays:
            rows = self.catalogue.awake(gate)
            unknown = self._world.note_index.tokens()
            unknown.difference_update(*(map(tokens, rows)))
            for noted in self.catalogue.quiet_records(gate):
                unknown.difference_update(noted.split(b"\n"))
            prefix = f"{gate}/".encode()
            strange = {one.decode() for one in unknown if one.startswith(prefix)}
            found: dict[str, None] = {}
            for place in self._world.note_index.places(strange):
                row = self._book.row(place)
                subject = row.subject if row else self._world.subject_of(gate, f"gate/{place}")
                if subject is not None:
                    found[subject] = None
            self._strays[gate] = found
            if strange:
                self.catalogue.again(gate)
        return self._strays[gate]

    def _awake_candidates(self, gate: str, target: str) -> Iterator[Candidate]:
        for row in self.catalogue.awake(gate):
            try:
                if row.tip != NONE:
                    yield from list(linked(row.asked, target))
                    continue
            except ValueError:
                pass
            for request in self._world.ledger(gate, row.subject).requests.values():
                if request.target == target:
                    with suppress(GateError):
                        yield candidate(self._world, request)


def _any(row: Digest, wanted: Callable[[Asked], bool]) -> bool:
    """Whether some request of a digest is wanted; so too where it cannot be read."""
    try:
        return any(map(wanted, row.requests()))
    except ValueError:
        return True
