"""`check`: may HEAD land, in which ways, and may a ref make exactly this move?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gitgate.app.asking.choose import guarded_branch
from gitgate.app.exchange.unpushed import unpushed
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.app.judging.judgement import Judgement, Move
from gitgate.app.judging.moves import chain_of, judge_move, judgement
from gitgate.core.landing import Step
from gitgate.core.outcome import Outcome
from gitgate.errors import Exit, GateError


def check(world: World, ref: str | None, moves: str | None, subject: str | None) -> Judgement:
    """The judgement of `moves` (OLD..NEW) of `ref`, or of HEAD's landing on it.

    `ref` None is the one guarded branch. Raises GateError (usage) for an empty range that was
    spelled out, and where it is not clear which ref is meant.
    """
    judged = _answer(world, _ref(world, ref), moves, subject)
    return replace(judged, warnings=(*judged.warnings, *unpushed(world, judged.rows)))


def _answer(world: World, ref: str, moves: str | None, subject: str | None) -> Judgement:
    if moves is None:
        return may_land(world, ref, world.repo.resolve("HEAD"), subject)
    old, dots, new = moves.partition("..")
    if not dots or new.startswith("."):
        raise GateError(Exit.USAGE, f"{moves!r} is not a range", "git gate check OLD..NEW")
    first, last = world.repo.resolve(old or "HEAD"), world.repo.resolve(new or "HEAD")
    if first == last:
        raise GateError(
            Exit.USAGE,
            f"the range {moves} is empty: nothing was checked",
            "git gate check, without a range, asks whether HEAD may land",
        )
    return judge_move(world, ref, first, last, subject=subject)


def may_land(world: World, ref: str, head: str, subject: str | None) -> Judgement:
    """May `head` land on `ref` as one merge or squash commit, and which ways pass as they are?"""
    read_from, tip = world.target_tip(ref)
    if tip is None:
        return judge_move(world, ref, None, head, subject=subject)
    if world.repo.is_ancestor(head, tip):
        policy = world.policy_ref(ref)
        return Judgement(
            Outcome.NOT_NEEDED,
            ref,
            tip,
            head,
            policy.tip if policy else None,
            reasons=(f"{read_from} has all of {head[:12]} already",),
        )
    merged = world.trees.merge_commits(tip, head)
    if merged is None:
        raise GateError(
            Exit.BLOCKED,
            f"git cannot merge {head[:12]} into {read_from} here, so nothing says what would land",
            "use git 2.38 or newer; in a shallow clone first: git fetch --unshallow",
        )
    chain = [Step(tip, world.repo.commit(tip).tree), Step(head, merged.tree)]
    judged = _judge(world, ref, chain, subject, head)
    if not judged.status.allowed or judged.status is Outcome.ADOPTION:
        return judged
    return replace(judged, methods=_methods(world, ref, tip, head, subject))


def _methods(world: World, ref: str, tip: str, head: str, subject: str | None) -> tuple[str, ...]:
    chains = {
        "ff": chain_of(world, tip, head),
        "rebase": _rebased(world, tip, head),
    }
    passing = [
        name
        for name, chain in chains.items()
        if chain is not None and _judge(world, ref, chain, subject, head).status.allowed
    ]
    return tuple(
        name
        for name in ("ff", "merge", "squash", "rebase")
        if name in {"merge", "squash", *passing}
    )


def _judge(
    world: World, ref: str, chain: Sequence[Step], subject: str | None, head: str
) -> Judgement:
    where = world.policy_ref(ref)
    if where is None or where.tip is None:
        return judge_move(world, ref, chain[0].commit, head, subject=subject)
    policy = world.policy_at(where.tip)
    on_policy_ref = where.name == ref
    if on_policy_ref:
        world.policy_at(head)  # a policy that cannot be read must not land
    move = Move(ref, chain, _always(policy), on_policy_ref, subject, (head,))
    if policy is None and world.policy_at(head) is not None:
        move = replace(move, policy_at=_last(world.policy_at(head), len(chain) - 1))
    return judgement(world, move, chain[0].commit, head)


def _always(policy: PolicyCommit | None) -> Callable[[int], PolicyCommit | None]:
    return lambda position: policy


def _last(policy: PolicyCommit | None, last: int) -> Callable[[int], PolicyCommit | None]:
    return lambda position: policy if position == last else None


def _rebased(world: World, tip: str, head: str) -> list[Step] | None:
    """The chain that `git rebase` onto `tip` would make; None where it would stop."""
    repo = world.repo
    chain = [Step(tip, repo.commit(tip).tree)]
    for commit in reversed(repo.between(tip, head)):
        if len(commit.parents) != 1:
            continue
        merged = world.trees.merge_whole(
            repo.commit(commit.parents[0]).tree, chain[-1].tree, commit.tree
        )
        if merged is None or merged.conflicts:
            return None
        if merged.tree != chain[-1].tree:
            chain.append(Step(commit.id, merged.tree))
    return chain


def _ref(world: World, given: str | None) -> str:
    if given is not None:
        return given if given.startswith("refs/") else f"refs/heads/{given}"
    return guarded_branch(world, tuple(world.policy().policy.gates.values()))
