"""What a command writes to ledgers, kept in mind so that it can be told when it is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitgate.app.gather.policies import PolicyCommit
from gitgate.core.events import Event
from gitgate.core.person import Stamp
from gitgate.git import ledger as ledgers
from gitgate.git.ledger import Draft, Ledger

if TYPE_CHECKING:
    from gitgate.app.gather.world import World


@dataclass(frozen=True, slots=True)
class Written:
    """An event as it stands in the ledger, and the policy by which it was written."""

    policy: PolicyCommit
    gate: str
    subject: str
    event: Event


@dataclass(frozen=True, slots=True)
class Reminder:
    """An opening that has waited so long that those whom the policy calls `names` are told."""

    opening: Written
    names: tuple[str, ...]


def append(
    world: World,
    policy: PolicyCommit,
    gate: str,
    subject: str,
    decide: Callable[[Ledger], Draft | None],
    *,
    stamp: Stamp,
) -> Ledger:
    """As `ledger.append`; what was written is in `world.written` afterwards."""
    drafted: Draft | None = None

    def draft(ledger: Ledger) -> Draft | None:
        nonlocal drafted
        drafted = decide(ledger)
        return drafted

    world.ledgers.catch_up(gate, subject)
    ledger = ledgers.append(world.repo, gate, subject, draft, stamp=stamp)
    if drafted is not None:
        world.written.append(Written(policy, gate, subject, ledger.events[-1]))
    return ledger
