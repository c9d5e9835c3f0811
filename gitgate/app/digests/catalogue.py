"""The instances of each gate as one command sees them, with what is remembered of their ledgers.

Which tips there are is read anew each time, from refs and journal; what a tip holds is remembered.
An instance that has no digest here is one that has to be read: its ledger does not verify, or what
is known of it went apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gitgate.app.digests import digesting
from gitgate.app.digests.digests import Book, order
from gitgate.core import ids
from gitgate.core.digest import NONE, Digest
from gitgate.git import journal, journaltree, known, refs
from gitgate.git import ledger as store
from gitgate.git.repository import Repository

if TYPE_CHECKING:
    from gitgate.app.gather.world import World


class Catalogue:
    """What this clone knows at one moment; `book` is brought up to it."""

    def __init__(self, world: World, book: Book) -> None:
        repo = world.repo
        self._world = world
        self._book = book
        self._own = refs.listing(repo, ids.GATES)
        self._there = known.tracked(repo, world.remote)
        # The refs first: what `sync` takes away there the journal has named before.
        heads = journal.heads(repo, world.remote)
        _follow(repo, book, heads[0] if heads else None)
        self._others = _named_by_others(repo, book, heads[1:])
        self._gates: dict[str, list[Digest]] = {}
        self._named: list[tuple[str, str | None]] | None = None

    @property
    def listed(self) -> list[tuple[str, str | None]]:
        """The refs of ledgers with their subjects, None where nothing says what one is of: those
        that are here, then those that only the journal names, in its order."""
        if self._named is None:
            tips = self._there | self._own
            found = {ref: self._subject(ref, tip) for ref, tip in sorted(tips.items())}
            self._book.thaw(*self._book.places)
            for row in sorted(self._book.rows.values(), key=order):
                if row.journal != NONE:
                    found.setdefault(ids.GATES + row.place, row.subject)
            for place, subject in self._others.items():
                found.setdefault(ids.GATES + place, subject)
            self._named = list(found.items())
        return self._named

    def every(self, gate: str) -> list[Digest]:
        """The instances of a gate, in the order of `listed`; one whose `tip` is `-` has to be
        read."""
        self.wake(gate, lambda number: True)
        return self.awake(gate)

    def awake(self, gate: str) -> list[Digest]:
        """The same without the quiet ones."""
        if gate not in self._gates:
            self._gates[gate] = [*self._with_refs(gate), *self._journal_only(gate)]
        return self._gates[gate]

    def wake(self, gate: str, wanted: Callable[[int], bool]) -> None:
        """Let the instances no longer be quiet that landed at the places with these numbers."""
        for number, place in enumerate(self._book.places):
            if place.gate == gate and len(place.quiet) > 1 and wanted(number):
                self._book.thaw(place)
                self._gates.pop(gate, None)

    def again(self, gate: str) -> None:
        """Look at a gate anew: some of its instances are no longer quiet."""
        self._gates.pop(gate, None)

    def quiet_records(self, gate: str) -> list[bytes]:
        """The records of the quiet instances of a gate, as `Place.noted` has them."""
        return [place.noted for place in self._book.places if place.gate == gate]

    def quiet_links(self, gate: str, target: str) -> list[bytes]:
        """The lines of the quiet instances that have something to do with `target`."""
        # The place says where an instance landed last; its other requests may be for elsewhere.
        name = f" {target} ".encode()
        places = [place for place in self._book.places if place.gate == gate]
        return [one.quiet for one in places if one.target == target or name in one.quiet]

    def _with_refs(self, gate: str) -> Iterator[Digest]:
        prefix = f"{ids.GATES}{gate}/"
        for ref, tip in sorted((self._there | self._own).items()):
            subject = self._subject(ref, tip) if ref.startswith(prefix) else None
            if subject is not None:
                place = ref.removeprefix(ids.GATES)
                row = self._book.row(place)
                if row is not None and row.tip == self._plain_tip(ref, row):
                    yield row
                else:
                    yield self._read(gate, subject, place, row)

    def _journal_only(self, gate: str) -> list[Digest]:
        prefix = f"{gate}/"
        seen = {ref.removeprefix(ids.GATES) for ref in self._there | self._own}
        others = self._others
        found = [
            row
            for row in self._book.rows.values()
            if row.journal != NONE and row.place.startswith(prefix) and row.place not in seen
        ]
        found.sort(key=order)
        unread = [row for row in found if row.journal != row.tip or row.place in others]
        if unread:
            new = {
                row.place: self._read(gate, row.subject, row.place, row)
                for row in self._world.each("reading ledgers", unread)
            }
            found = [new.get(row.place, row) for row in found]
        named = {row.place for row in found} if others else set()
        for place, subject in others.items():
            if place.startswith(prefix) and place not in named and place not in seen:
                found.append(self._read(gate, subject, place, self._book.row(place)))
        return found

    def _subject(self, ref: str, tip: str) -> str | None:
        row = self._book.rows.get(ref.removeprefix(ids.GATES))
        if row is not None and row.tip == tip:
            return row.subject
        return store.subject_of(self._world.repo, store.instance(self._world.repo, ref, tip))

    def _plain_tip(self, ref: str, row: Digest | None) -> str | None:
        """The tip that all places agree on; None where they have to be compared."""
        if ref.removeprefix(ids.GATES) in self._others:
            return None
        named = row.journal if row is not None and row.journal != NONE else None
        tips = {tip for tip in (self._own.get(ref), self._there.get(ref), named) if tip}
        return tips.pop() if len(tips) == 1 else None

    def _read(self, gate: str, subject: str, place: str, row: Digest | None) -> Digest:
        """The digest of the newest tip, made anew where it is of another one."""
        world = self._world
        if not world.ledgers.apart(gate, subject):
            if row is not None and row.tip == world.ledgers.tip(gate, subject):
                return row
            named = row.journal if row is not None else NONE
            found = digesting.digest(world, world.ledger(gate, subject), named)
            if found is not None and found.place == place:
                self.keep(found)
                return found
        return Digest(place, subject)

    def keep(self, one: Digest) -> None:
        """Remember a digest from now on."""
        self._book.rows[one.place] = one
        self._book.changed += 1

    @property
    def here(self) -> list[str]:
        """The places of the instances that have refs."""
        return [ref.removeprefix(ids.GATES) for ref in self._there | self._own]

    def forget_gone(self) -> None:
        """Drop the digests of instances that nothing here names any more."""
        seen = frozenset(self.here)
        for row in list(self._book.rows.values()):
            if row.journal == NONE and row.place not in seen:
                del self._book.rows[row.place]


def _follow(repo: Repository, book: Book, head: str | None) -> None:
    """Bring what the journal names to its commit `head`, reading the files that differ."""
    before = book.journal
    if head == before:
        return
    if before is not None and repo.kind(before) != "commit":
        before = None
    moved = list(_moved(repo, before, head))
    if before is None:
        book.thaw(*book.places)
        for row in list(book.rows.values()):
            book.rows[row.place] = row._replace(journal=NONE)
    for place, subject, tip in moved:
        row = book.row(place) or Digest(place, subject)
        book.rows[place] = row._replace(subject=subject, journal=tip)
    book.journal = head
    book.changed += len(moved)


def _moved(
    repo: Repository, before: str | None, after: str | None
) -> Iterator[tuple[str, str, str]]:
    """Place, subject and tip of each instance that the journal names otherwise than before."""
    old, new = journal.Index(repo, before), journal.Index(repo, after)
    for gate, shard in _files(repo, before, after):
        were, are = old.file(gate, shard), new.file(gate, shard)
        for subject in {**were, **are}:
            lines = are.get(subject)
            if lines is None:
                yield _place(gate, subject), subject, NONE
            elif subject not in were or were[subject][-1].tip != lines[-1].tip:
                yield _place(gate, subject), subject, lines[-1].tip


def _files(repo: Repository, before: str | None, after: str | None) -> list[tuple[str, str]]:
    if after is None:
        index = journal.Index(repo, before)
        return [(gate, shard) for gate in index.gates() for shard in index.shards(gate)]
    return list(journaltree.index_difference(repo, before, after))


def _place(gate: str, subject: str) -> str:
    return ids.ledger_ref(gate, subject).removeprefix(ids.GATES)


def _named_by_others(repo: Repository, book: Book, heads: tuple[str, ...]) -> dict[str, str]:
    """The instances of which another journal, that went apart, names another tip."""
    found: dict[str, str] = {}
    for head in heads:
        for place, subject, _ in _moved(repo, book.journal, head):
            book.row(place)
            found.setdefault(place, subject)
    return found
