"""What `doctor` finds: the value, and how many of a kind are said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: `level` is good, note or fault.

    `hint` is the command that mends it, several joined by `, then `, or what to do.
    """

    level: str
    about: str
    text: str
    hint: str = ""


def capped(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The first findings of one kind, and how many more there are."""
    more = 0
    for number, one in enumerate(findings):
        if number < _SHOWN:
            yield one
        else:
            more += 1
            last = one
    if more:
        yield Finding(last.level, last.about, f"and {more} more of this kind", last.hint)
