"""The landing rule: what lands is what was approved (design, section 6).

A guarded ref moves along a first-parent chain. `walk` goes along it: a step that is none of the
gate's business is free; from any other one some approved request, or a chain of them, must account
for a stretch, which is the three-way merge of what was reviewed. Everything is pure: trees and
histories come in as protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gitgate.core.interior import Absent, History, Reviewed
from gitgate.core.linking import Candidate, Undecided
from gitgate.core.merging import Compared, Entry, Malformed, Trees, Value, WholeMerge, same_change
from gitgate.core.once import Step, Stretch, landed_before
from gitgate.core.stretches import Ground, Miss, MissKind, Rule, Search

__all__ = [
    "Absent",
    "Candidate",
    "Compared",
    "Entry",
    "History",
    "Malformed",
    "Miss",
    "MissKind",
    "Reviewed",
    "Rule",
    "Step",
    "Stretch",
    "Trees",
    "Undecided",
    "Value",
    "Walk",
    "WholeMerge",
    "landed_before",
    "same_change",
    "walk",
]


@dataclass(frozen=True, slots=True)
class Walk:
    """The stretches of a chain, and where it `stopped`: the first commit nothing accounts for."""

    stretches: tuple[Stretch, ...]
    stopped: int | None
    misses: tuple[Miss, ...]


def walk(
    chain: Sequence[Step],
    rule_at: Callable[[int], Rule | None],
    trees: Trees,
    history: History,
) -> Walk:
    """Walk a chain (oldest first, from the ref's old value) under the rule at each position.

    `rule_at` gives None where nothing is gated, and the same object while the same policy is in
    force. A rule holds for the whole stretch that begins under it; on the policy ref it has to
    name the policy's own files. Raises GateError where a tree of the chain cannot be read.
    """
    grounds: dict[Rule, Ground] = {}
    stretches: list[Stretch] = []
    position = 0
    while position < len(chain) - 1:
        rule = rule_at(position)
        step = trees.changes(chain[position].tree, chain[position + 1].tree)
        if rule is None or not rule.concerned(step):
            stretches.append(Stretch(position, position + 1, ()))
        else:
            if rule not in grounds:
                grounds[rule] = Ground(chain, rule, trees, history)
            search = Search(grounds[rule], position)
            found = search.stretch()
            if found is None:
                return Walk(tuple(stretches), search.stopped(), search.misses())
            stretches.append(found)
        position = stretches[-1].end
    return Walk(tuple(stretches), None, ())
