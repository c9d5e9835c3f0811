"""What is remembered of ledgers changes no answer: with digests, without, with old ones, with
broken ones every question has the answer that reading everything gives."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from digesttown import GATE, MAIN, NOW, PlainWorld, Town
from hypothesis import given, settings
from hypothesis import strategies as st

from gitgate.app.digests import digesting
from gitgate.app.digests.rejections import Rejections
from gitgate.app.gather.landed import compared_of
from gitgate.app.gather.world import World
from gitgate.app.judging.moves import judge_move
from gitgate.app.judging.vetoes import standing
from gitgate.app.showing import listing
from gitgate.core.digest import Asked, Digest, digest_of, format_asked, is_sound, line_of
from gitgate.core.landing import same_change
from gitgate.errors import GateError
from gitgate.ui import plain

EXAMPLES = 400 if os.environ.get("GIT_GATE_LONG") else 6
STEPS = 70


def tried(question: Callable[[], Any]) -> Any:
    try:
        return question()
    except GateError as error:
        return error.kind, error.message, error.hint


def answers(world: World, moves: list[str], town: Town) -> dict[str, Any]:
    """All that digests are asked for."""
    policy = world.policy()
    found: dict[str, Any] = {
        "gates": world.gates(policy),
        "subjects": world.subjects(GATE),
        "list": tried(lambda: list(listing.instances(world, policy, every=False))),
    }
    found["table"] = tried(lambda: plain.table(list(listing.lines(world, policy)), 200))
    for new in moves:
        found[new] = tried(lambda new=new: judge_move(world, MAIN, town.mains[-1], new))
    for subject, requests in town.requests.items():
        found[subject] = tried(lambda one=requests[-1]: standing(world, policy, one))
    return found


def asked(kind: type[World], moves: list[str], town: Town) -> dict[str, Any]:
    world = kind(town.repo, NOW)
    try:
        return answers(world, moves, town)
    finally:
        world.close()


def check(town: Town, old: Path) -> None:
    subjects = list(town.requests)
    chosen = town.chance.sample(subjects, min(4, len(subjects)))
    merged = [town.merged(town.requests[subject][-1]) for subject in chosen]
    moves = [one for one in merged if one is not None]
    moves.append(town.commit(town.edited(town.mains[-1]), town.mains[-1]))
    expected = asked(PlainWorld, moves, town)
    kept = town.repo.common_dir / "git-gate"
    assert asked(World, moves, town) == expected, "as the last command left them"
    assert asked(World, moves, town) == expected, "as this one left them"
    if old.exists() and town.chance.random() < 0.5:
        shutil.rmtree(kept)
        shutil.copytree(old, kept)
        assert asked(World, moves, town) == expected, "older ones"
    if town.chance.random() < 0.3:
        for file in kept.iterdir():
            data = bytearray(file.read_bytes())
            data[town.chance.randrange(len(data))] ^= 1 << town.chance.randrange(8)
            file.write_bytes(data[: town.chance.choice([len(data), len(data) // 2])])
        assert asked(World, moves, town) == expected, "broken ones"
    if town.chance.random() < 0.3:
        shutil.rmtree(kept)
        assert asked(World, moves, town) == expected, "none"
    if town.chance.random() < 0.3:
        shutil.rmtree(old, ignore_errors=True)
        shutil.copytree(kept, old)


def step(town: Town) -> None:
    fate = town.chance.random()
    subjects = list(town.requests)
    if not subjects or fate < 0.28:
        new = f"s/{len(subjects)}"
        again = subjects and town.chance.random() < 0.3
        town.ask(town.chance.choice(subjects) if again else new)
    elif fate < 0.62:
        town.decide(town.chance.choice(subjects[-4:] if fate < 0.56 else subjects))
    elif fate < 0.8:
        town.land(town.chance.choice(subjects[-4:]))
    elif fate < 0.83:
        town.withdraw(town.chance.choice(subjects))
    elif fate < 0.91:
        town.advance()
    elif fate < 0.98:
        town.name_in_journal(drop=True)
    else:
        town.spoil(town.chance.choice(subjects))


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32))
def test_the_same_answers(seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        town = Town(Path(folder) / "town", random.Random(seed))
        for number in range(STEPS):
            step(town)
            if number % 14 == 13:
                check(town, Path(folder) / "old")


@settings(max_examples=EXAMPLES // 2, deadline=None)
@given(st.integers(0, 2**32))
def test_no_rejection_of_the_same_change_is_passed_over(seed: int) -> None:
    """Of all pairs of changes that are one change, as the exact comparison says, with bases that
    gained, lost and moved files meanwhile: the digest of the rejected one never says no."""
    with tempfile.TemporaryDirectory() as folder:
        town = Town(Path(folder) / "town", random.Random(seed))
        world = World(town.repo, NOW)
        try:
            for _ in range(12):
                check_pair(town, world)
        finally:
            world.close()


def check_pair(town: Town, world: World) -> None:
    base = town.mains[0]
    for _ in range(town.chance.randrange(3)):
        base = town.commit(town.edited(base), base)
    work = town.commit(town.edited(base), base)
    other = base
    for _ in range(town.chance.randint(1, 3)):
        other = town.commit(town.edited(other), other)
    tree = {commit: town.repo.commit(commit).tree for commit in (base, work, other)}
    merged = world.trees.merge_whole(tree[base], tree[other], tree[work])
    if merged is None or merged.conflicts:
        return
    again = town.repo.write_commit(merged.tree, (other,), town.stamp(), town.stamp(), "again\n")
    rejected, request = town.request("one", base, work), town.request("two", other, again)
    links = (tree[base], tree[work]), (tree[other], merged.tree)
    compared = compared_of(world, world.policy(), request)
    if same_change(world.trees, *links, compared):
        touches = digesting._touches(world, tree[base], tree[work], rejected=True)
        one = Asked("f" * 40, MAIN, None, rejected.work, *links[0], "r", touches)
        row = Digest("main/one", "one", tip="e" * 40, state="?r", asked=format_asked(one))
        assert is_sound(row)
        assert digest_of(line_of(row)) == row
        assert row.requests() == [one]
        assert Rejections(world, [row]).like(world.policy(), request) == {"main/one"}
