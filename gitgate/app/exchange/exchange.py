"""What one `sync` knows and tells: the state that its parts for ledgers, notes, journal share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.core import ids
from gitgate.errors import GateError
from gitgate.git import journalmove, refs, remote
from gitgate.git.remote import Fate, Pushed

Say = Callable[[str], None]
"""Takes a sentence about what is going on."""


class What(StrEnum):
    """What became of a ledger, the notes or the journal; the names are in `sync --json`."""

    TAKEN = "taken"
    PUSHED = "pushed"
    MERGED = "merged"
    PUT_BACK = "put-back"
    MENDED = "mended"
    REMOVED = "removed"
    REFUSED = "refused"
    UNTRUSTED = "untrusted"


@dataclass(frozen=True, slots=True)
class Change:
    """One of them; `said` are sentences, `here` and `there` the events that each side gained."""

    ref: str
    name: str
    what: What
    said: tuple[str, ...] = ()
    here: int = 0
    there: int = 0


@dataclass
class Exchange:
    """`had` is what the remote was known to have when this began and what it has confirmed since;
    `there` what it has now; `shows` is whether a fetch has shown a ledger of it. `only` are the
    ledgers that are meant, None for all."""

    world: World
    remote: str
    policy: PolicyCommit | None
    only: frozenset[str] | None
    dry_run: bool
    say: Say
    had: dict[str, str] = field(default_factory=dict)
    there: dict[str, str] = field(default_factory=dict)
    changes: dict[str, Change] = field(default_factory=dict)
    problems: dict[str, GateError] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)
    again: bool = False
    shows: bool = False

    def wants(self, ref: str) -> bool:
        return self.only is None or ref in self.only

    def fetches(self, ref: str) -> bool:
        """Whether a fetch can move what is known of this ledger: it asks by beginnings of names."""
        return self.only is None or ref.startswith(tuple(self.only))

    def tell(self, change: Change) -> None:
        """Keep what became of something; what an earlier round said of it is not forgotten."""
        before = self.changes.get(change.ref)
        if before is not None:
            said = tuple(dict.fromkeys((*before.said, *change.said)))
            kept = before.what if change.what in (What.TAKEN, What.PUSHED) else change.what
            here, there = max(before.here, change.here), max(before.there, change.there)
            change = Change(change.ref, change.name, kept, said, here, there)
        self.changes[change.ref] = change

    def fail(self, ref: str, name: str, what: What, error: GateError) -> None:
        """Keep what keeps one of them from being exchanged; the others go on."""
        self.problems[ref] = error
        self.tell(Change(ref, name, what, (error.message,)))

    def swap(self, ref: str, new: str, old: str | None) -> bool:
        """Move an own ref; False, and another round, where a writer here was faster."""
        if self.dry_run or new == old:
            return True
        message = f"gate: sync {self.remote}"
        try:
            if ref == ids.JOURNAL:
                journalmove.move(self.world.repo, new, old, message)
            else:
                refs.compare_and_swap(self.world.repo, ref, new, old, message)
        except refs.LostRace:
            self.details.append(f"{ref} was written to meanwhile; it is looked at again")
            self.again = True
            return False
        return True

    def confirmed(self, pushed: Pushed) -> bool:
        """Whether a ref of the remote moved; then it is kept in mind what it has."""
        if pushed.fate is not Fate.MOVED:
            return False
        move = pushed.move
        remote.note(self.world.repo, self.remote, move.ref, move.new)
        if move.new is None:
            self.had.pop(move.ref, None)
            self.there.pop(move.ref, None)
        else:
            self.had[move.ref] = self.there[move.ref] = move.new
        return True
