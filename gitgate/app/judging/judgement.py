"""The values of a judgement: a move, a gate's row, the whole answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.policies import PolicyCommit
from gitgate.core.landing import Step
from gitgate.core.outcome import Outcome
from gitgate.core.request import Request


@dataclass(frozen=True, slots=True)
class Row:
    """What one gate says of the move, for one subject where it found one."""

    gate: str
    subject: str | None
    status: Outcome
    iteration: int | None
    work: str | None
    reasons: tuple[str, ...]
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer for one ref: `rows` one or more a gate, `reasons` those of the whole."""

    status: Outcome
    ref: str
    old: str | None
    new: str | None
    policy: str | None
    rows: tuple[Row, ...] = ()
    reasons: tuple[str, ...] = ()
    hint: str = ""
    methods: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass
class Move:
    """A chain to be judged, and the policy at each of its positions.

    `pushed` are the commits that the move brings beyond the old tip; `subject` is the instance
    that the asker has in mind.
    """

    ref: str
    chain: Sequence[Step]
    policy_at: Callable[[int], PolicyCommit | None]
    on_policy_ref: bool
    subject: str | None = None
    tips: tuple[str, ...] = ()
    used: dict[str, Loaded] = field(default_factory=dict)
    requests: dict[str, Request] = field(default_factory=dict)

    @property
    def commits(self) -> tuple[str, ...]:
        return tuple(step.commit for step in self.chain)


def document(judged: Judgement) -> dict[str, Any]:
    """The document of `check --json` (docs/reference.md)."""
    return {
        "schema": 1,
        "allowed": judged.status.allowed,
        "status": judged.status.value,
        "exit": int(judged.status.exit),
        "ref": judged.ref,
        "old": judged.old,
        "new": judged.new,
        "policy": judged.policy,
        "methods": list(judged.methods),
        "hint": judged.hint,
        "gates": [
            {
                "gate": row.gate,
                "subject": row.subject,
                "status": row.status.value,
                "iteration": row.iteration,
                "work": row.work,
                "reasons": list(row.reasons),
            }
            for row in judged.rows
        ],
        "reasons": list(judged.reasons),
        "warnings": list(judged.warnings),
    }
