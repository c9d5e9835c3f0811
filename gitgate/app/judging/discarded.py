"""Merges that take nothing of what they merged: free for the gates, and reported (design, 6)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from gitgate.app.gather.world import World
from gitgate.app.judging.explain import describe
from gitgate.app.judging.judgement import Move
from gitgate.errors import GateError
from gitgate.git.objects import Commit


def discarded(world: World, move: Move) -> Iterator[str]:
    """A warning for each merge of the chain that leaves its tree as it was, against git's own.

    Such a merge (`git merge -s ours`) marks work as merged that is not there.
    """
    for before, step in pairwise(move.chain):
        if step.tree != before.tree:
            continue
        commit = world.repo.commit(step.commit)
        if commit.tree == step.tree and len(commit.parents) > 1 and _drops(world, commit):
            yield f"{describe(world, commit.id)} is a merge that takes nothing of what it merges"


def _drops(world: World, commit: Commit) -> bool:
    """Whether git's merge of some parent would have changed the tree, or stopped."""
    first, *others = commit.parents
    for other in others:
        try:
            merged = world.trees.merge_commits(first, other)
        except GateError:
            continue
        if merged is not None and (merged.conflicts or merged.tree != commit.tree):
            return True
    return False
