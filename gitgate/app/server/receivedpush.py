"""A push as the server's hooks see it: its updates, the policy before it, what it comes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.core import ids
from gitgate.core.patterns import compile_refs
from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.journal import Index
from gitgate.git.ledger import Ledger

MAX_NEW_EVENTS = 20_000
"""Events that one push may bring, of all ledgers together."""


@dataclass(frozen=True, slots=True)
class Update:
    """A ref that a push moves; None is a ref that does not exist."""

    ref: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Objection:
    """Why an update is not received, as a sentence, and what the person who pushes can do."""

    reason: str
    hint: str = ""


@dataclass
class Push:
    """`world` is the server before the push; `events` counts the new events that were read.

    `remarks` are sentences about what is received and has no effect, by the ref of its ledger.
    """

    world: World
    updates: tuple[Update, ...]
    events: int = 0
    judged: dict[tuple[str, str], tuple[Objection, ...]] = field(default_factory=dict)
    remarks: dict[str, list[str]] = field(default_factory=dict)

    @cached_property
    def policy(self) -> PolicyCommit | None:
        """The policy in force before the push; None before one was adopted."""
        where = self.world.policy_ref()
        return self.world.policy_at(where.tip) if where is not None and where.tip else None

    @cached_property
    def ignores_case(self) -> bool:
        return self.world.repo.config.get("core.ignorecase") == "true"

    @cached_property
    def listing(self) -> dict[str, str]:
        """Every ref of the server before the push, by the name that it really has."""
        return refs.listing(self.world.repo, "refs/")

    def guards(self, ref: str, *, any_case: bool = False) -> bool:
        """Whether the policy guards `ref`, or a name that differs from it in capitals only."""
        where = self.world.policy_ref()
        patterns = [where.name] if where is not None else []
        for gate in self.policy.policy.gates.values() if self.policy else ():
            patterns += gate.guards
        return compile_refs(patterns, any_case=any_case)(ref)

    @cached_property
    def symbolic(self) -> dict[str, str]:
        """The symbolic refs of the server, each with the ref that it stands for."""
        return refs.symbolic(self.world.repo)

    def names(self, ref: str) -> list[str]:
        """Every name of the ref that a push to `ref` moves: its own first, then those of symbolic
        refs. GateError (untrusted) for a symbolic ref without an end."""
        own = refs.stands_for(self.world.repo, ref)
        return [own, *(name for name, end in self.symbolic.items() if name != own == end)]

    @cached_property
    def brings_ledgers(self) -> bool:
        return any(one.ref.startswith(ids.GATES) and one.new for one in self.updates)

    @cached_property
    def journal_before(self) -> Index | None:
        return self._index(self.before(ids.JOURNAL))

    @cached_property
    def journal_after(self) -> Index | None:
        return self._index(self.after(ids.JOURNAL))

    def _index(self, commit: str | None) -> Index | None:
        repo = self.world.repo
        return Index(repo, commit) if commit and repo.kind(commit) == "commit" else None

    def before(self, ref: str) -> str | None:
        return refs.read(self.world.repo, ref)

    def after(self, ref: str) -> str | None:
        """Where `ref` is if the push is received."""
        moved = self._moved
        own = self.symbolic.get(ref, ref)
        return moved[own] if own in moved else self.before(ref)

    @cached_property
    def _moved(self) -> dict[str, str | None]:
        return {self.symbolic.get(one.ref, one.ref): one.new for one in self.updates}

    def remark(self, ledger: Ledger, sentence: str) -> None:
        self.remarks.setdefault(ids.ledger_ref(ledger.gate, ledger.subject), []).append(sentence)

    def count(self, events: int) -> None:
        """Take new events into account; GateError (blocked) where they are too many."""
        self.events += events
        if self.events > MAX_NEW_EVENTS:
            raise GateError(
                Exit.BLOCKED,
                f"a push may bring {MAX_NEW_EVENTS} events, and this one brings more",
                "push fewer ledgers at a time: git push origin 'refs/aiwg/gates/GATE/*'",
            )
