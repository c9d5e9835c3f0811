"""`wait`: until an instance is decided."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable

from gitgate.app.asking.expiring import record_expiry
from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.ledgers import Ledgers
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.app.showing.query import status_of
from gitgate.core.gate import Status
from gitgate.errors import Exit, GateError
from gitgate.git import refs

_PAUSE = 0.5
"""Seconds between two looks at the ledger's ref."""


def wait(
    world: World,
    gate: str,
    subject: str,
    timeout: float | None,
    clock: Callable[[], int],
    tell: Callable[[str], None],
    watch: Callable[[World], None] = lambda world: None,
) -> tuple[World, PolicyCommit, Loaded]:
    """The instance once somebody has decided it, with the world in which it was read.

    `tell` gets a sentence once, where there is something to wait for; `watch` is called again and
    again, to bring what others know.
    Looks again when its ledger or the policy moves, and when the clock passes its deadline.
    Raises GateError (time-out, 124) after `timeout` seconds; None waits for ever.
    """
    until = None if timeout is None else time.monotonic() + timeout
    told = False
    watch(world)
    while True:
        policy = world.policy()
        loaded = record_expiry(world, policy, world.load(policy, gate, subject))
        loaded.check_trusted()
        if status_of(world, policy, loaded) not in (Status.OPEN, Status.PARKED):
            return world, policy, loaded
        if not told:
            tell(f"waiting for a decision on {loaded.name}: {_missing(world, policy, loaded)}")
            told = True
        _until_moved(world, policy, loaded, until, clock, watch)
        world.close()
        world = World(world.repo, clock(), world.remote)


def _missing(world: World, policy: PolicyCommit, loaded: Loaded) -> str:
    request = loaded.newest
    return "; ".join(world.verdict(policy, loaded, request).reasons) if request else "nothing asked"


def _until_moved(
    world: World,
    policy: PolicyCommit,
    loaded: Loaded,
    until: float | None,
    clock: Callable[[], int],
    watch: Callable[[World], None],
) -> None:
    request = loaded.newest
    deadline = world.verdict(policy, loaded, request).deadline if request else None
    where = world.policy_ref()
    while True:
        if until is not None and time.monotonic() >= until:
            raise GateError(
                Exit.TIMEOUT,
                f"nobody decided {loaded.name} in time; it is still open",
                f"git gate wait {loaded.gate} --subject {shlex.quote(loaded.subject)}",
            )
        time.sleep(_PAUSE)
        watch(world)
        now = Ledgers(world.repo, world.remote)
        moved = now.tip(loaded.gate, loaded.subject) != loaded.ledger.tip
        policy_moved = where is not None and refs.read(world.repo, where.read_from) != where.tip
        overdue = deadline is not None and world.now <= deadline < clock()
        if moved or policy_moved or overdue:
            return
