"""`policy test`: a policy replayed over history, to see what it would have asked for.

Only trees are looked at: which landings each gate compares something of. What was approved, and by
whom, is not asked, so that no ledger is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from gitgate.app.asking.choose import guarded_branch
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.app.judging.judge import gates_of
from gitgate.app.judging.judgement import Move
from gitgate.app.judging.phasing import concerns, unnamed_moves
from gitgate.core.compared import compared_paths
from gitgate.core.landing import Step
from gitgate.core.person import format_time
from gitgate.core.policy import POLICY_FILE
from gitgate.core.policyreader import PolicyError, parse_policy
from gitgate.core.stretches import Rule
from gitgate.errors import Exit, GateError
from gitgate.git.objects import Commit

MAX_LISTED = 10_000


@dataclass(frozen=True, slots=True)
class Landing:
    """One step of the ref's first-parent chain: which gates it would have needed, each with how
    many paths it compares there, and why no gate could have let it pass."""

    old: str
    commit: Commit
    gates: tuple[tuple[str, int], ...]
    blocked: tuple[str, ...]


def rehearse(world: World, since: str, ref: str | None) -> dict[str, Any]:
    """The document of `policy test --json`: the policy of the work tree (without one, of HEAD) over
    the landings on `ref` (default: the one guarded branch) since the date `since`.

    Raises GateError: usage for what is no date in the past and where `ref` is not clear, fatal
    where there is no valid policy.
    """
    start = _time_of(world, since)
    policy, source = _policy(world)
    name = _full(ref) if ref else _guarded(world, policy)
    read_from, tip = world.target_tip(name)
    if tip is None:
        raise GateError(Exit.USAGE, f"there is no {name} here", "git gate policy test --ref REF")
    newest_first = world.repo.first_parents(tip) or []
    chain = list(reversed(newest_first))
    rules = _rules(world, policy, name)
    found = list(_landings(world, policy, name, chain, rules, start))
    needed = [one for one in found if one.gates or one.blocked]
    return {
        "schema": 1,
        "ref": name,
        "read_from": read_from,
        "since": format_time(start),
        "policy": source,
        "landings": len(found),
        "needed": sum(bool(one.gates) for one in found),
        "blocked": sum(bool(one.blocked) for one in found),
        "gates": {gate: _count(found, gate) for gate in rules},
        "steps": [_document(one) for one in needed[-MAX_LISTED:]],
        "left_out": max(0, len(needed) - MAX_LISTED),
    }


def _rules(world: World, policy: PolicyCommit, ref: str) -> dict[str, Rule]:
    """What each gate of the ref compares, and which steps it is asked about."""
    on_policy_ref = _holds_policy(world, ref)
    return {
        gate.id: Rule(
            compared_paths(policy.policy, gate, ref, on_policy_ref=on_policy_ref),
            (),
            concerns=concerns(world, policy.policy, gate, on_policy_ref=on_policy_ref),
        )
        for gate in gates_of(policy.policy, ref, on_policy_ref)
    }


def _holds_policy(world: World, ref: str) -> bool:
    """Before the adoption no ref has a policy: it is going to be this one."""
    where = world.policy_ref(ref)
    return where is None or where.name == ref


def _landings(
    world: World,
    policy: PolicyCommit,
    ref: str,
    chain: Sequence[Commit],
    rules: Mapping[str, Rule],
    start: int,
) -> Iterator[Landing]:
    on_policy_ref = _holds_policy(world, ref)
    for old, new in pairwise(chain):
        if new.committer.time < start:
            continue
        changes = world.trees.changes(old.tree, new.tree)
        counts = {
            gate: sum(rule.compared(path) for path in changes)
            for gate, rule in rules.items()
            if rule.concerned(changes)
        }
        step = (Step(old.id, old.tree), Step(new.id, new.tree))
        move = Move(ref, step, lambda _: policy, on_policy_ref)
        yield Landing(old.id, new, tuple(counts.items()), tuple(unnamed_moves(world, move)))


def _policy(world: World) -> tuple[PolicyCommit, str]:
    """The policy to try, and where it is from."""
    top = world.repo.work_tree
    file = top / POLICY_FILE.decode() if top else None
    if file is None or not file.is_file() or file.is_symlink():
        commit = world.repo.resolve("HEAD")
        found = world.policy_at(commit)
        if found is None:
            raise GateError(
                Exit.FATAL, "neither the work tree nor HEAD has a policy", "git gate init"
            )
        return found, commit
    data = file.read_bytes()
    try:
        policy = parse_policy(data)
    except PolicyError as error:
        raise GateError(
            Exit.FATAL,
            f"the policy of the work tree is not valid: {error}",
            "git gate policy check",
        ) from None
    if policy is None:
        raise GateError(Exit.FATAL, f"{file.name} has no `human_gates`", "git gate init")
    return PolicyCommit("", policy, data, b"", b""), "work tree"


def _time_of(world: World, text: str) -> int:
    """A date as ISO 8601 has it, a day beginning at its midnight, else as git understands it."""
    try:
        seconds = int(datetime.fromisoformat(text).timestamp())
    except (ValueError, OverflowError):
        answer = world.repo.git("rev-parse", f"--since={text}").text.removeprefix("--max-age=")
        seconds = int(answer) if answer.isdigit() else world.now
    # Git takes what it does not understand for this moment.
    if not 0 <= seconds < world.now:
        raise GateError(
            Exit.USAGE,
            f"{text[:80]!r} is no date in the past",
            "git gate policy test --since 2025-01-31, or --since '3 months ago'",
        )
    return seconds


def _count(found: Sequence[Landing], gate: str) -> int:
    return sum(gate in dict(one.gates) for one in found)


def _document(one: Landing) -> dict[str, Any]:
    return {
        "old": one.old,
        "new": one.commit.id,
        "at": format_time(one.commit.committer.time),
        "title": one.commit.message.split("\n", 1)[0].strip(),
        "gates": [{"gate": gate, "paths": paths} for gate, paths in one.gates],
        "blocked": list(one.blocked),
    }


def _guarded(world: World, policy: PolicyCommit) -> str:
    try:
        return guarded_branch(world, tuple(policy.policy.gates.values()))
    except GateError as error:
        raise GateError(error.kind, error.message, "git gate policy test --ref REF") from None


def _full(ref: str) -> str:
    return ref if ref.startswith("refs/") else f"refs/heads/{ref}"
