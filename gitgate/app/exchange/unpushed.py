"""Which ledgers the remote is not known to have (design, section 6, "Where")."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from gitgate.app.gather.world import World
from gitgate.app.judging.judgement import Row
from gitgate.core import ids
from gitgate.git import refs
from gitgate.git.known import tracking_ref


def unpushed(world: World, rows: Iterable[Row]) -> Iterator[str]:
    """A warning for each instance that a landing relies on and the remote is not known to have."""
    if world.remote is None:
        return
    for gate, subject in dict.fromkeys((row.gate, row.subject) for row in rows):
        if subject is None:
            continue
        there = refs.read(world.repo, tracking_ref(world.remote, ids.ledger_ref(gate, subject)))
        if world.ledger(gate, subject).tip not in (None, there):
            named = f"the ledger of {gate} of {subject}"
            command = shlex.join(["git", "gate", "sync", world.remote])
            yield f"{world.remote} is not known to have {named}: {command}"
