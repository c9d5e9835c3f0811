"""Which instances a question needs to be read for, by their digests.

Each answer may name instances that turn out to say nothing, and leaves out none that does: what
has no digest, and what a note has a record of that no ledger has, is always named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from typing import TYPE_CHECKING

from gitgate.app.catalogue import Catalogue
from gitgate.app.digesting import node_text, value_text
from gitgate.app.digests import Book
from gitgate.app.landed import candidate, compared_of
from gitgate.app.policies import PolicyCommit
from gitgate.app.settling import Settling
from gitgate.core import ids
from gitgate.core.digest import (
    CONSENT,
    CONSENTED,
    ENDED,
    NONE,
    REJECTED,
    UNKNOWN,
    WAITS,
    Asked,
    Digest,
    Look,
    may_be_same,
    parse_asked,
)
from gitgate.core.landing import Candidate
from gitgate.core.request import Request
from gitgate.errors import GateError

if TYPE_CHECKING:
    from gitgate.app.world import World


class Sieve:
    """The instances of one moment, and what is remembered of them."""

    def __init__(self, world: World, book: Book) -> None:
        self._world = world
        self.catalogue = Catalogue(world, book)
        self.settling = Settling(world, book)
        self._strays: dict[str, dict[str, None]] = {}
        self._links: dict[tuple[str, str], _Links] = {}
        self._looks: dict[str, Look] = {}

    def subjects(self, gate: str) -> list[str]:
        """The subjects of a gate: those that have a ledger, and those of which a note has a record
        though the ledger is gone."""
        found = dict.fromkeys(row.subject for row in self.catalogue.of(gate))
        return [*found, *(one for one in self._stray(gate) if one not in found)]

    def consenting(self, policy: PolicyCommit, gate: str, ref: str) -> list[str]:
        """The instances that may authorise something on `ref`."""
        return [
            row.subject
            for row in self.catalogue.of(gate)
            if row.tip == NONE or self._consents(policy, row, ref)
        ]

    def waiting(self, policy: PolicyCommit, gate: str) -> list[str]:
        """The instances that may have a running life."""
        strays = self._stray(gate)
        rows = self.catalogue.of(gate)
        found = [
            row.subject
            for row in rows
            if row.tip == NONE
            or self.settling.state(policy, row) != ENDED
            or row.subject in strays
        ]
        known = {row.subject for row in rows}
        return [*found, *(one for one in strays if one not in known)]

    def rejecting(self, policy: PolicyCommit, request: Request) -> list[str]:
        """The instances of which a rejection may be about the same content as `request`."""
        suspects = self._suspects(policy, request)
        return self._named(
            request.gate,
            lambda row: row.state[1] == REJECTED
            and _any(row, lambda one: REJECTED in one.marks and suspects(one)),
        )

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

        return self._named(gate, fits)

    def partners(
        self, gate: str, target: str, around: Sequence[Candidate] | None
    ) -> tuple[Candidate, ...]:
        """The requests of a gate and target; with `around` those that a chain may link to them."""
        key = gate, target
        if key not in self._links:
            self._links[key] = _Links(self._candidates(gate, target))
        links = self._links[key]
        return links.every() if around is None else links.around(around)

    def _named(self, gate: str, fits: Callable[[Digest], bool]) -> list[str]:
        strays = self._stray(gate)
        rows = self.catalogue.of(gate)
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
            lambda one: CONSENT in one.marks
            and one.target == ref
            and (latest is None or one.id == latest),
        )

    def _stray(self, gate: str) -> dict[str, None]:
        """The subjects of which notes have a record that no ledger has."""
        if gate not in self._strays:
            notes = self._world.note_index
            said = ",".join(row.records for row in self.catalogue.of(gate))
            unknown = notes.ids(gate) - set(said.split(","))
            rows = {row.place: row.subject for row in self.catalogue.of(gate)} if unknown else {}
            found: dict[str, None] = {}
            for place in notes.places(gate, unknown):
                subject = rows.get(place) or self._world.subject_of(gate, f"gate/{place}")
                if subject is not None and ids.ledger_ref(gate, subject) == ids.GATES + place:
                    found[subject] = None
            self._strays[gate] = found
        return self._strays[gate]

    def _suspects(self, policy: PolicyCommit, request: Request) -> Callable[[Asked], bool]:
        """Whether a rejected request may be the same content as `request`."""
        try:
            own = candidate(self._world, request)
            compared = compared_of(self._world, policy, request)
            changes = self._world.trees.changes(own.base, own.work)
            asked = [path for path in changes if compared(path)]
        except GateError:
            return lambda one: one.id != request.id  # whoever compares them says what is missing
        look = self._look_at(own.base)

        def suspect(one: Asked) -> bool:
            if one.id == request.id or one.target != request.target:
                return False
            if one.work == request.work or (one.base_tree, one.work_tree) == own.link:
                return True
            try:
                return bool(asked) and may_be_same(one, asked, look)
            except GateError:
                return True

        return suspect

    def _look_at(self, tree: str) -> Look:
        if tree not in self._looks:
            trees = self._world.trees
            self._looks[tree] = Look(
                _remembered(lambda path: value_text(trees.entry(tree, path))),
                _remembered(lambda path: trees.folder(tree, path)),
                _remembered(lambda path: node_text(self._world, tree, path)),
            )
        return self._looks[tree]

    def _candidates(self, gate: str, target: str) -> Iterator[Candidate]:
        for row in self.catalogue.of(gate):
            try:
                if row.tip != NONE:
                    yield from list(_linked(row, target))
                    continue
            except ValueError:
                pass
            for request in self._world.ledger(gate, row.subject).requests.values():
                if request.target == target:
                    with suppress(GateError):
                        yield candidate(self._world, request)


class _Links:
    """Requests by the trees that they begin and end with."""

    def __init__(self, found: Iterable[Candidate]) -> None:
        self._all = list(found)
        self._after: dict[str, list[int]] = {}
        self._before: dict[str, list[int]] = {}
        for number, one in enumerate(self._all):
            self._after.setdefault(one.base, []).append(number)
            self._before.setdefault(one.work, []).append(number)

    def every(self) -> tuple[Candidate, ...]:
        return tuple(self._all)

    def around(self, some: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """Those that a chain with one of `some` can have behind or before it."""
        found = self._reached({one.work for one in some}, self._after, lambda one: one.work)
        found |= self._reached({one.base for one in some}, self._before, lambda one: one.base)
        return tuple(self._all[number] for number in sorted(found))

    def _reached(
        self,
        trees: Set[str],
        onward: Mapping[str, Sequence[int]],
        end: Callable[[Candidate], str],
    ) -> set[int]:
        found: set[int] = set()
        waiting = list(trees)
        seen = set(waiting)
        for tree in waiting:
            for number in onward.get(tree, ()):
                found.add(number)
                further = end(self._all[number])
                if further not in seen:
                    seen.add(further)
                    waiting.append(further)
        return found


def _linked(row: Digest, target: str) -> Iterator[Candidate]:
    for text in row.asked.split("\t") if row.asked else ():
        oid, where, tip, _, base, work, _ = text.split(" ", 6)
        if where == target:
            yield Candidate(oid, base[1:], work[1:], None if tip == NONE else tip)


def _any(row: Digest, wanted: Callable[[Asked], bool]) -> bool:
    """Whether some request of a digest is wanted; so too where it cannot be read."""
    try:
        return any(wanted(parse_asked(text)) for text in row.asked.split("\t") if text)
    except ValueError:
        return True


def _remembered[V](question: Callable[[bytes], V]) -> Callable[[bytes], V]:
    known: dict[bytes, V] = {}

    def answer(path: bytes) -> V:
        if path not in known:
            known[path] = question(path)
        return known[path]

    return answer
