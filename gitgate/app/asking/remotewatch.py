"""What a remote gains while somebody waits: its ledger and the guarded branch, now and then."""

from __future__ import annotations

import time
from collections.abc import Callable

from gitgate.app.exchange.syncing import sync
from gitgate.app.gather.world import World
from gitgate.app.landing.landingremote import fetch
from gitgate.errors import Exit, GateError

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 15.0
"""Seconds between two looks; each is later than the one before."""


class RemoteWatch:
    """Looks at the remote when it is time to. That it cannot be reached is told once."""

    def __init__(self, gate: str, subject: str, tell: Callable[[str], None]) -> None:
        self._key = (gate, subject)
        self._tell = tell
        self._pause = _FIRST_PAUSE
        self._next = 0.0
        self._failed = False

    def look(self, world: World) -> None:
        """Exchange the ledger, and fetch the policy ref and the request's target, if it is time.

        Raises GateError (usage) where there is no such remote.
        """
        if time.monotonic() < self._next:
            return
        try:
            sync(world, world.remote, only=[self._key])
            request = world.ledger(*self._key).newest
            where = world.policy_ref()
            if request is not None:
                fetch(world, request.target, *([where.name] if where else []))
        except GateError as error:
            if error.kind is Exit.USAGE:
                raise
            if not self._failed:
                self._tell(f"warning: {error.message}: still waiting")
            self._failed = True
        else:
            self._failed = False
        self._next = time.monotonic() + self._pause
        self._pause = min(_LONGEST_PAUSE, self._pause * 1.5)
