"""The later tiers of a policy's `escalation`: whoever looks next tells those whose time has come.

No process waits for that time, as none waits for a deadline. Each clone tells its own: only whom
its git config names, each of them once for a request.
"""

from __future__ import annotations

from contextlib import suppress

from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.recording import Reminder, Written
from gitgate.app.gather.world import World
from gitgate.core.gate import Status

CONFIG = "gate.notify."


def remind(world: World, policy: PolicyCommit, loaded: Loaded) -> None:
    """Put into `world.reminders` who is to be told that the newest request still waits."""
    iteration, request = loaded.instance.newest, loaded.newest
    gate = policy.policy.gates.get(loaded.gate)
    if iteration is None or request is None or gate is None or loaded.instance.running is None:
        return
    if loaded.faults or not any(tier.after_minutes for tier in gate.escalation):
        return
    if world.verdict(policy, loaded, request).status not in (Status.OPEN, Status.PARKED):
        return
    waited = (world.now - request.opened.time) // 60
    due = [tier for tier in gate.escalation if 0 < tier.after_minutes <= waited]
    names = tuple(
        name
        for tier in due
        for name in tier.notify
        if world.repo.config_all(CONFIG + name.lower())
        and _first_time(world, request.id, f"{tier.after_minutes} {name}")
    )
    if names:
        opening = Written(policy, loaded.gate, loaded.subject, iteration.event)
        world.reminders.append(Reminder(opening, tuple(dict.fromkeys(names))))


def _first_time(world: World, request: str, line: str) -> bool:
    """Whether this clone has not told this before; it has from now on. Where that cannot be
    written down nobody is told, since it would be told at every look."""
    folder = world.repo.common_dir / "git-gate" / "told"
    file = folder / request
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if file.exists() and line in file.read_text().split("\n"):
            return False
        with file.open("a") as told:
            told.write(f"{line}\n")
        return True
    return False
