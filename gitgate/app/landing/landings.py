"""`landed`: the event that ends the life of an instance whose request the target has gained."""

from __future__ import annotations

from gitgate.app.gather.landed import has_landed
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.recording import append
from gitgate.app.gather.world import World
from gitgate.core.events import Event, EventName
from gitgate.core.gate import Status
from gitgate.core.person import Stamp
from gitgate.git.ledger import Draft, Ledger


def record_landing(
    world: World, policy: PolicyCommit, gate: str, subject: str, stamp: Stamp
) -> tuple[str, ...]:
    """Write `landed` where the newest request of the running life is on its target already.

    The sentences that say so; none where there is nothing to write. `stamp` is who reports it,
    and when. Raises GateError where nobody can tell, and what `recording.append` raises.
    """
    loaded = world.load(policy, gate, subject)
    request = loaded.newest
    if loaded.instance.running is None or request is None or loaded.faults:
        return ()
    stretch = has_landed(world, policy, request)
    if stretch is None:
        return ()
    old, new = stretch
    fields = {"old": old, "new": new, "target": request.target}
    event = Event("", 0, EventName.LANDED, stamp.time, stamp.person, request.id, None, fields)
    newest = loaded.instance.newest
    number = newest.number if newest else 1

    def decide(ledger: Ledger) -> Draft | None:
        running = world.fold_of(policy, ledger).running
        if running is None or running.iterations[-1].request != request.id:
            return None
        return Draft(event, number, Status.LANDED.value)

    append(world, policy, gate, subject, decide, stamp=stamp)
    world.reload(policy, gate, subject)
    return (f"iteration {number} has landed on {request.target} as {new[:12]}",)
