"""Which ledgers the remote is not known to have (design, section 6, "Where")."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from gitgate.app.judgement import Row
from gitgate.app.world import World
from gitgate.core import ids
from gitgate.git import refs


def unpushed(world: World, rows: Iterable[Row]) -> Iterator[str]:
    """A warning for each instance that a landing relies on and the remote is not known to have."""
    if world.remote is None:
        return
    for gate, subject in dict.fromkeys((row.gate, row.subject) for row in rows):
        if subject is None:
            continue
        ref = ids.ledger_ref(gate, subject)
        tip = refs.read(world.repo, ref)
        if tip is None or tip == refs.read(world.repo, known_at(world.remote, ref)):
            continue
        notes = [ids.NOTES] if refs.read(world.repo, ids.NOTES) else []
        command = shlex.join(["git", "push", world.remote, ref, *notes])
        yield f"{world.remote} is not known to have the ledger of {gate} of {subject}: {command}"


def known_at(remote: str, ref: str) -> str:
    """The ref of this clone that shows what `remote` was last known to have of a ledger."""
    return f"{ids.TRACKING}{remote}/gates/{ref.removeprefix(ids.GATES)}"
