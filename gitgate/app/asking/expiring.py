"""Whoever looks next records that a deadline has passed: for the log, never as the rule.

The verdict alone says `expired` (design, section 5, "Time"); this only leaves the event.
"""

from __future__ import annotations

from contextlib import suppress

from gitgate.app.asking.reminding import remind
from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.recording import append
from gitgate.app.gather.world import World
from gitgate.core.events import Event, EventName
from gitgate.core.gate import Status
from gitgate.core.person import Stamp
from gitgate.errors import GateError
from gitgate.git.ledger import Draft, Ledger


def record_expiry(world: World, policy: PolicyCommit, loaded: Loaded) -> Loaded:
    """The instance, with an `expired` event where its verdict is that and none says so yet; who is
    to be told that it still waits is in `world.reminders`.

    Where it cannot be written (a bare mirror, no identity) nothing changes.
    """
    remind(world, policy, loaded)
    iteration, request = loaded.instance.newest, loaded.newest
    if iteration is None or request is None or iteration.expired or loaded.faults:
        return loaded
    if loaded.instance.running is None or request.gate not in policy.policy.gates:
        return loaded
    verdict = world.verdict(policy, loaded, request)
    if verdict.status is not Status.EXPIRED or verdict.deadline is None:
        return loaded
    deadline = verdict.deadline
    with suppress(GateError):
        stamp = world.repo.identity()
        fields = {"deadline": deadline}
        event = Event("", 0, EventName.EXPIRED, world.now, stamp.person, request.id, None, fields)

        def draft(ledger: Ledger) -> Draft | None:
            newest = world.fold_of(policy, ledger).newest
            if newest is None or newest.request != request.id or newest.expired:
                return None
            return Draft(event, iteration.number, Status.EXPIRED.value)

        at = Stamp(stamp.person, world.now, stamp.offset)
        append(world, policy, loaded.gate, loaded.subject, draft, stamp=at)
        return world.reload(policy, loaded.gate, loaded.subject)
    return loaded
