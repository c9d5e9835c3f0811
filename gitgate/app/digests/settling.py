"""Which lives have ended: what digests say of it, and whether that still holds.

A landing that was found on its target's first-parent chain stays there while the chain goes on.
Where the target went elsewhere, the landings that it lost are looked for anew; where the gate
compares other paths now, all of them are. What rests on people holds for one policy only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitgate.app.digests import digesting
from gitgate.app.digests.digests import Book, Place, landings
from gitgate.app.gather.landed import holds_policy
from gitgate.app.gather.policies import PolicyCommit, PolicyKey
from gitgate.core import ids
from gitgate.core.digest import NONE, UNKNOWN, Digest
from gitgate.core.request import Request
from gitgate.errors import GateError

if TYPE_CHECKING:
    from gitgate.app.gather.instances import Loaded
    from gitgate.app.gather.world import World


_NOTHING: frozenset[str] = frozenset()


class Settling:
    """The states of the digests of `book` for one world."""

    def __init__(self, world: World, book: Book) -> None:
        self._world = world
        self._book = book
        self._gone: dict[tuple[PolicyKey, int], frozenset[str] | None] = {}
        self._people: dict[PolicyKey, str] = {}
        self._moved: dict[int, frozenset[str]] = {}

    def state(self, policy: PolicyCommit, row: Digest) -> str:
        """The state of a digest as it holds now, `?` where the ledger has to be folded anew."""
        state = row.state[0]
        if state == UNKNOWN or self._world.historic:
            return UNKNOWN
        if row.people != NONE and row.people != self._people_key(policy):
            return UNKNOWN
        try:
            return state if row.landed == NONE or self._all_stand(policy, row) else UNKNOWN
        except ValueError:  # nothing that was ever written here
            return UNKNOWN

    def learn(self, policy: PolicyCommit, loaded: Loaded) -> None:
        """Remember the state that the fold of a sound instance gave."""
        if self._world.historic or loaded.faults:
            return
        place = loaded.ledger.ref.removeprefix(ids.GATES)
        row = self._book.rows.get(place)
        if row is None or row.tip != loaded.ledger.tip or self.state(policy, row) != UNKNOWN:
            return
        try:
            new = digesting.settled(loaded, row, policy, lambda asked: self._number(policy, asked))
        except GateError:
            return
        if new != row:
            self._book.rows[place] = new
            self._book.changed += 1

    def wakes(self, policy: PolicyCommit, number: int) -> bool:
        """Whether the quiet instances of a place have to be looked at: its landings are no longer
        sure, or a world that looks back asks for each life."""
        return self._world.historic or self._gone_from(policy, number) != _NOTHING

    def tidy(self) -> None:
        """Make the book ready to be kept: landing places as the targets are now, in use only."""
        book = self._book
        for number, gone in self._moved.items():
            place = book.places[number]
            book.thaw(*([place] if gone else ()))
            for row in list(book.rows.values()) if gone else ():
                if any(at == number and commit in gone for at, commit in landings(row)):
                    book.rows[row.place] = unsettled(row)
            place.tip = self._tip(place.target) or place.tip
        used = {number for row in book.rows.values() for number, _ in landings(row)}
        used |= {number for number, place in enumerate(book.places) if len(place.quiet) > 1}
        if len(used) == len(book.places):
            return
        book.thaw(*book.places)
        kept = sorted(used)
        new = {number: at for at, number in enumerate(kept)}
        for row in list(book.rows.values()):
            if row.landed != NONE:
                said = ",".join(f"{new[number]}:{commit}" for number, commit in landings(row))
                book.rows[row.place] = row._replace(landed=said)
        book.places = [book.places[number] for number in kept]

    def _all_stand(self, policy: PolicyCommit, row: Digest) -> bool:
        """Whether all landings of a digest still are ones; as a rule no target has lost any."""
        number, _, rest = row.landed.partition(":")
        if "," not in rest and self._gone_from(policy, int(number)) == _NOTHING:
            return True
        for at, commit in landings(row):
            gone = self._gone_from(policy, at)
            if gone is None or commit in gone:
                return False
        return True

    def _gone_from(self, policy: PolicyCommit, number: int) -> frozenset[str] | None:
        key = (policy.key, number)
        if key not in self._gone:
            self._gone[key] = self._lost(policy, number)
        return self._gone[key]

    def _lost(self, policy: PolicyCommit, number: int) -> frozenset[str] | None:
        """The commits that a target has no more; None where nothing is known of its landings."""
        if number >= len(self._book.places):
            return None
        place = self._book.places[number]
        tip = self._tip(place.target)
        if tip is None or self._compared(policy, place.gate, place.target) != place.compared:
            return None
        if tip == place.tip:
            return frozenset()
        try:
            common, gone = self._world.mainline(tip).fork(self._world.mainline(place.tip))
        except GateError:
            return None
        if common != tip:  # a view that lags behind is no reason to forget what the target has
            self._moved[number] = gone
        return gone

    def _number(self, policy: PolicyCommit, request: Request) -> int | None:
        """The number of the place where a request has landed; None where that may change yet."""
        tip = self._tip(request.target)
        compared = self._compared(policy, request.gate, request.target)
        if tip is None or compared is None:
            return None
        if request.tip is not None and not self._world.mainline(tip).holds(request.tip):
            return None
        wanted = request.gate, request.target, compared
        for number, place in enumerate(self._book.places):
            if (place.gate, place.target, place.compared) == wanted:
                gone = self._lost(policy, number)
                return number if gone is not None else None
        self._book.places.append(Place(*wanted, tip))
        return len(self._book.places) - 1

    def _tip(self, target: str) -> str | None:
        return self._world.target_tip(target)[1]

    def _compared(self, policy: PolicyCommit, gate: str, target: str) -> str | None:
        found = policy.policy.gates.get(gate)
        if found is None:
            return None
        return digesting.compared_key(policy, found, target, holds_policy(self._world, target))

    def _people_key(self, policy: PolicyCommit) -> str:
        if policy.key not in self._people:
            self._people[policy.key] = digesting.people_key(policy)
        return self._people[policy.key]


def unsettled(row: Digest) -> Digest:
    """The digest without what rests on more than its ledger."""
    state = UNKNOWN + row.state[1]
    return row._replace(state=state, latest=NONE, people=NONE, landed=NONE, waits=NONE)
