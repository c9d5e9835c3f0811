"""What a person or an agent has just written goes to the remote at once, where git config
`gate.autoSync` says so (`init` writes it). Off-line is no error: `sync` brings it later."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from gitgate.app.exchange.syncing import sync
from gitgate.app.gather.recording import Written
from gitgate.app.gather.world import World
from gitgate.core.events import EventName
from gitgate.errors import GateError

_SHARED = frozenset(
    [
        EventName.OPENED,
        EventName.ITERATED,
        EventName.VALIDATED,
        EventName.DECIDED,
        EventName.WITHDRAWN,
    ]
)
"""What only looking leaves behind (`expired`, `landed`) waits for the next exchange."""


def share(world: World, written: Sequence[Written]) -> list[str]:
    """Exchange the ledgers that were written with the remote; sentences for what did not work."""
    keys = {(one.gate, one.subject) for one in written if one.event.name in _SHARED}
    if not keys or world.remote is None:
        return []
    again = shlex.join(["git", "gate", "sync", world.remote])
    try:
        found = sync(world, world.remote, only=keys)
    except GateError as error:
        return [f"{world.remote} does not have it yet: {error.message}: {again}"]
    failed = [f"{problem.message}: {problem.hint}" for problem in found.problems]
    return [*found.warnings, *failed]
