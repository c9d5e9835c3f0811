"""The instances of each gate as one command sees them, with what is remembered of their ledgers.

Which tips there are is read anew each time, from refs and journal; what a tip holds is remembered.
An instance that has no digest here is one that has to be read: its ledger does not verify, or what
is known of it went apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitgate.app import digesting
from gitgate.app.digests import Book, in_order
from gitgate.core import ids
from gitgate.core.digest import NONE, Digest
from gitgate.git import journal, journaltree, known, refs
from gitgate.git import ledger as store
from gitgate.git.repository import Repository

if TYPE_CHECKING:
    from gitgate.app.world import World

_SAID_EVERY = 100


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
        self._reading = 0
        self._gates: dict[str, list[Digest]] = {}
        self._named: list[tuple[str, str | None]] | None = None

    @property
    def listed(self) -> list[tuple[str, str | None]]:
        """The refs of ledgers with their subjects, None where nothing says what one is of: those
        that are here, then those that only the journal names, in its order."""
        if self._named is None:
            tips = self._there | self._own
            found = {ref: self._subject(ref, tip) for ref, tip in sorted(tips.items())}
            for row in self._book.rows.values():
                if row.journal != NONE:
                    found.setdefault(ids.GATES + row.place, row.subject)
            for place, subject in self._others.items():
                found.setdefault(ids.GATES + place, subject)
            self._named = list(found.items())
        return self._named

    def of(self, gate: str) -> list[Digest]:
        """The instances of a gate, in the order of `listed`; one whose `tip` is `-` has to be
        read."""
        if gate not in self._gates:
            self._gates[gate] = [*self._with_refs(gate), *self._journal_only(gate)]
        return self._gates[gate]

    def _with_refs(self, gate: str) -> Iterator[Digest]:
        prefix = f"{ids.GATES}{gate}/"
        for ref, tip in sorted((self._there | self._own).items()):
            subject = self._subject(ref, tip) if ref.startswith(prefix) else None
            if subject is not None:
                place = ref.removeprefix(ids.GATES)
                row = self._book.rows.get(place)
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
        unread = sum(row.journal != row.tip for row in found)
        if unread or others:
            found = [
                row
                if row.journal == row.tip and row.place not in others
                else self._read(gate, row.subject, row.place, row, unread)
                for row in found
            ]
        named = {row.place for row in found} if others else set()
        for place, subject in others.items():
            if place.startswith(prefix) and place not in named and place not in seen:
                found.append(self._read(gate, subject, place, self._book.rows.get(place)))
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

    def _read(
        self, gate: str, subject: str, place: str, row: Digest | None, of: int = 0
    ) -> Digest:
        """The digest of the newest tip, made anew where it is of another one."""
        self._reading += 1
        if of >= _SAID_EVERY and self._reading % _SAID_EVERY == 0:
            self._world.watch(f"reading ledgers: {self._reading} of {of}")
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

    def gone(self) -> list[str]:
        """The places of digests whose instances nothing here names any more."""
        seen = self._there | self._own
        return [
            row.place
            for row in self._book.rows.values()
            if row.journal == NONE and ids.GATES + row.place not in seen
        ]


def _follow(repo: Repository, book: Book, head: str | None) -> None:
    """Bring what the journal names to its commit `head`, reading the files that differ."""
    before = book.journal
    if head == before:
        return
    if before is not None and repo.kind(before) != "commit":
        before = None
    old, new = journal.Index(repo, before), journal.Index(repo, head)
    rows = book.rows if before is not None else {}
    changed: dict[str, Digest] = {}
    if before is None:
        changed = {p: row._replace(journal=NONE) for p, row in book.rows.items()}
    for gate, shard in _files(repo, before, head):
        for subject in old.file(gate, shard):
            place = _place(gate, subject)
            if place in rows:
                changed[place] = rows[place]._replace(journal=NONE)
        for subject, lines in new.file(gate, shard).items():
            place = _place(gate, subject)
            row = changed.get(place) or rows.get(place) or Digest(place, subject)
            changed[place] = row._replace(subject=subject, journal=lines[-1].tip)
    _take_over(book, changed)
    book.journal = head


def _take_over(book: Book, changed: dict[str, Digest]) -> None:
    moved = {p: row for p, row in changed.items() if book.rows.get(p) != row}
    if moved.keys() <= book.rows.keys():
        book.rows.update(moved)
    else:
        book.rows = in_order({**book.rows, **moved})
    book.changed += len(moved)


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
        for entry in journal.Index(repo, head).instances():
            place = _place(entry.gate, entry.subject)
            row = book.rows.get(place)
            if row is None or row.journal != entry.tip:
                found.setdefault(place, entry.subject)
    return found
