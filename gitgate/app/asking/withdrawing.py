"""`withdraw`: the asking side takes back what nobody has decided yet."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.recording import append
from gitgate.app.gather.world import World
from gitgate.core.events import Event, EventName
from gitgate.core.gate import Status, may_follow
from gitgate.core.person import Stamp
from gitgate.errors import Exit, GateError
from gitgate.git.ledger import Draft, Ledger


def withdraw(world: World, policy: PolicyCommit, gate: str, subject: str, reason: str) -> Loaded:
    """The asking side takes back what nobody has decided yet; GateError where it may not."""
    loaded = world.load(policy, gate, subject)
    stamp = world.repo.identity()
    newest = loaded.instance.newest
    fields = {"reason": reason} if reason else {}
    event = Event(
        "",
        0,
        EventName.WITHDRAWN,
        world.now,
        stamp.person,
        newest.request if newest else None,
        None,
        fields,
    )

    def draft(ledger: Ledger) -> Draft:
        instance = world.fold_of(policy, ledger)
        why_not = may_follow(instance, EventName.WITHDRAWN, request=event.request)
        about = f"{gate} --subject {shlex.quote(subject)}"
        if instance.life is None:
            raise GateError(
                Exit.NOT_OPENED, f"{loaded.name} was never opened", f"git gate open {about}"
            )
        if instance.running is None:
            raise GateError(
                Exit.NOT_OPENED,
                f"{loaded.name} is {instance.life.status}: there is nothing to withdraw",
                f"git gate open {about}",
            )
        if why_not:
            raise GateError(
                Exit.BLOCKED,
                f"{loaded.name} cannot be withdrawn: somebody has decided it, or asked anew",
                f"git gate show {about}",
            )
        number = newest.number if newest else 1
        return Draft(event, number, Status.WITHDRAWN.value)

    append(world, policy, gate, subject, draft, stamp=Stamp(stamp.person, world.now, stamp.offset))
    return world.reload(policy, gate, subject)


def own_undecided(world: World, policy: PolicyCommit) -> Iterator[tuple[str, str]]:
    """The instances that this identity opened and nobody has decided, as gate and subject."""
    me = world.repo.identity().person.email.lower()
    for gate in policy.policy.gates:
        for subject in list(world.subjects(gate)):
            loaded = world.load(policy, gate, subject)
            request = loaded.newest
            if loaded.instance.running is None or request is None or loaded.faults:
                continue
            mine = request.opened.person.email.lower() == me
            if mine and not may_follow(loaded.instance, EventName.WITHDRAWN):
                yield gate, subject
