"""What `check` and `verify` say of a gate or of a whole landing (design, section 8)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from gitgate.errors import Exit


class Outcome(StrEnum):
    """The word for scripts; which of several gates decides is the order of `_ATTENTION`."""

    SATISFIED = "satisfied"
    SKIPPED = "skipped"
    PENDING = "pending"
    REJECTED = "rejected"
    EXPIRED = "expired"
    STALE = "stale"
    UNTRUSTED = "untrusted"
    BLOCKED = "blocked"
    NOT_REPRODUCIBLE = "not-reproducible"
    WITHDRAWN = "withdrawn"
    NOT_OPENED = "not-opened"
    NOT_NEEDED = "not-needed"
    ADOPTION = "adoption"
    NO_POLICY = "no-policy"

    @property
    def exit(self) -> Exit:
        return _EXIT[self]

    @property
    def allowed(self) -> bool:
        return self.exit is Exit.OK


_EXIT = {
    Outcome.SATISFIED: Exit.OK,
    Outcome.SKIPPED: Exit.OK,
    Outcome.NOT_NEEDED: Exit.OK,
    Outcome.ADOPTION: Exit.OK,
    Outcome.PENDING: Exit.PENDING,
    Outcome.REJECTED: Exit.REJECTED,
    Outcome.EXPIRED: Exit.EXPIRED,
    Outcome.STALE: Exit.STALE,
    Outcome.UNTRUSTED: Exit.UNTRUSTED,
    Outcome.BLOCKED: Exit.BLOCKED,
    Outcome.NOT_REPRODUCIBLE: Exit.BLOCKED,
    Outcome.WITHDRAWN: Exit.NOT_OPENED,
    Outcome.NOT_OPENED: Exit.NOT_OPENED,
    Outcome.NO_POLICY: Exit.FATAL,
}

_ATTENTION = (
    Outcome.NO_POLICY,
    Outcome.UNTRUSTED,
    Outcome.REJECTED,
    Outcome.EXPIRED,
    Outcome.STALE,
    Outcome.BLOCKED,
    Outcome.NOT_REPRODUCIBLE,
    Outcome.WITHDRAWN,
    Outcome.NOT_OPENED,
    Outcome.PENDING,
    Outcome.SKIPPED,
    Outcome.SATISFIED,
    Outcome.ADOPTION,
    Outcome.NOT_NEEDED,
)


def most_urgent(outcomes: Iterable[Outcome]) -> Outcome:
    """Of several gates the one that needs a person's attention most.

    Raises ValueError for none: nothing that was looked at is never an answer.
    """
    return min(outcomes, key=_ATTENTION.index)
