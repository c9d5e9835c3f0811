"""Which two rounds of an instance are compared, and what is known of them beside their trees."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from dataclasses import dataclass

from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.world import World
from gitgate.app.showing.query import iteration_of
from gitgate.core.gate import Iteration
from gitgate.core.request import Request
from gitgate.errors import Exit, GateError

_RANGE = re.compile(r"(\d{1,9})\.\.(\d{1,9})?")
_SUBJECTS = 200


@dataclass(frozen=True, slots=True)
class Round:
    """One iteration with its request."""

    number: int
    request: Request


@dataclass(frozen=True, slots=True)
class Rounds:
    """What is compared: from the work of `old`, or from the base of `new` where that is None."""

    old: Round | None
    new: Round

    @property
    def first(self) -> int:
        return self.old.number if self.old else 0


@dataclass(frozen=True, slots=True)
class BaseMove:
    """What the base did meanwhile: `gained` and `lost` commits, None where that is not known;
    the paths that differ, and those of them that belong to the old work."""

    gained: int | None
    lost: int | None
    paths: int
    touched: tuple[bytes, ...]


def chosen(loaded: Loaded, spelled: str | None) -> Rounds:
    """The rounds that `N..M` names; without it the previous and the current one.

    Raises GateError: not opened, where there is no such iteration; usage, for anything else.
    """
    newest = _round(loaded, None)
    if spelled is None:
        before = newest.number - 1
        return Rounds(_round(loaded, before) if before else None, newest)
    match = _RANGE.fullmatch(spelled)
    if match is None:
        raise GateError(
            Exit.USAGE,
            f"{spelled[:80]!r} is no range of iterations",
            f"such as git gate diff {loaded.gate} 1..{newest.number}",
        )
    first = int(match[1])
    new = _round(loaded, int(match[2])) if match[2] else newest
    if first == new.number:
        raise GateError(
            Exit.USAGE,
            f"iteration {first} is compared with itself",
            f"git gate diff {loaded.gate} 0..{first} shows all of it",
        )
    return Rounds(_round(loaded, first) if first else None, new)


def since(loaded: Loaded, people: Collection[str], seen: Collection[str]) -> Rounds:
    """From the last iteration before the current one that one of `people` decided, or whose
    request is in `seen`; the whole change where there is none."""
    newest = _round(loaded, None)
    decided = {
        record.decision.request
        for record in loaded.records
        if record.good and record.person in people
    }
    life = loaded.instance.life
    mine = [
        one
        for one in (life.iterations if life else ())
        if one.number < newest.number and (one.request in decided or one.request in seen)
    ]
    return Rounds(_of(loaded, mine[-1]) if mine else None, newest)


def _round(loaded: Loaded, number: int | None) -> Round:
    if number == 0:
        raise GateError(
            Exit.USAGE, "iteration 0 is the base: it can only come first", "git gate diff 0..1"
        )
    return _of(loaded, iteration_of(loaded, number))


def _of(loaded: Loaded, iteration: Iteration) -> Round:
    request = loaded.ledger.requests.get(iteration.request)
    if request is None:
        raise GateError(
            Exit.UNTRUSTED,
            f"the request of iteration {iteration.number} of {loaded.name} cannot be read",
            f"git gate log {loaded.gate} --subject {shlex.quote(loaded.subject)}",
        )
    return Round(iteration.number, request)


def base_move(world: World, old: Request, new: Request) -> BaseMove | None:
    """What the base did between two rounds; None where it is the same commit."""
    if old.base == new.base:
        return None
    tree = {one: world.repo.commit(one).tree for one in (old.base, old.work, new.base)}
    moved = world.trees.changes(tree[old.base], tree[new.base])
    work = world.trees.changes(tree[old.base], tree[old.work])
    touched = tuple(sorted(moved.keys() & work.keys()))
    gained = _count(world, old.base, new.base)
    return BaseMove(gained, _count(world, new.base, old.base), len(moved), touched)


def off_target(world: World, request: Request) -> int:
    """How many commits of the request's base its target lacks, as far as that is known here: work
    that is under the one shown, that nobody is shown, and that cannot land with it."""
    tip = world.target_tip(request.target)[1] if request.target else None
    return _count(world, tip, request.base) or 0 if tip else 0


def _count(world: World, older: str, newer: str) -> int | None:
    try:
        return len(world.repo.between(older, newer))
    except GateError:  # a shallow clone, or more than anybody counts
        return None


def new_subjects(world: World, rounds: Rounds) -> tuple[str, ...]:
    """The first lines of the commits under review that the old round did not have, oldest first.

    A commit that was only rebased has the same first line as before and is not new.
    """
    new, old = rounds.new.request, rounds.old.request if rounds.old else None
    known = set(_subjects(world, old)) if old else set()
    found = [one for one in reversed(_subjects(world, new)) if one not in known]
    return tuple(dict.fromkeys(found))[:_SUBJECTS]


def _subjects(world: World, request: Request) -> list[str]:
    try:
        commits = world.repo.between(request.base, request.work)
    except GateError:
        return []
    return [one.message.lstrip("\n").partition("\n")[0] for one in commits]
