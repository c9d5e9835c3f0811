"""History: the same answers as git, and none at all where a shallow clone cannot know."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from gitworld import STAMP, commit, git, make

from gitgate.errors import Exit, GateError
from gitgate.git import history
from gitgate.git.objects import Commit
from gitgate.git.repository import Repository


def unknown(question: object, *args: object) -> None:
    with pytest.raises(GateError) as caught:
        question(*args)  # type: ignore[operator]
    assert caught.value.kind is Exit.BLOCKED
    assert caught.value.hint == "git fetch --unshallow"


def is_children_first(commits: Sequence[Commit]) -> bool:
    seen: set[str] = set()
    for found in commits:
        if seen.intersection(found.parents):
            return False
        seen.add(found.id)
    return True


def shallow_clone(source: Path, folder: Path, *options: str) -> Repository:
    git(source.parent, "clone", "-q", "--no-local", *options, source.as_uri(), str(folder))
    return Repository.open(folder)


def test_random_histories_as_git_sees_them(tmp_path: Path) -> None:
    """Merges at random make criss-crosses and several roots; git is asked about each pair."""
    root = make(tmp_path / "a", commits=0)
    repo = Repository.open(root)
    chance = random.Random(7)
    tree = repo.write_tree({})
    made: list[str] = []
    for number in range(30):
        count = min(len(made), chance.choice([0, 1, 1, 2, 2, 3]))
        parents = tuple(chance.sample(made[-6:], min(count, len(made[-6:]))))
        made.append(repo.write_commit(tree, parents, STAMP, STAMP, f"c{number}\n"))
    for _ in range(60):
        one, other = chance.sample(made, 2)
        answer = subprocess.run(
            ["git", "-C", root, "merge-base", "--all", one, other], capture_output=True, check=False
        )
        assert set(repo.merge_bases(one, other)) == set(answer.stdout.decode().split())
        between = set(git(root, "rev-list", f"{one}..{other}").split())
        assert {found.id for found in repo.between(one, other)} == between
        assert is_children_first(repo.between(one, other))
        is_ancestor = one not in git(root, "rev-list", one, f"^{other}").split()
        assert repo.is_ancestor(one, other) == is_ancestor
        chain = git(root, "rev-list", "--first-parent", one).split()
        assert [found.id for found in repo.first_parents(one) or ()] == chain
        until = repo.first_parents(one, other)
        assert [found.id for found in until or ()] == (
            chain[: chain.index(other) + 1] if other in chain else []
        )
        assert (until is None) == (other not in chain)


def test_missing_commits_are_an_error(tmp_path: Path) -> None:
    repo = Repository.open(make(tmp_path / "a", commits=2))
    head = repo.resolve("HEAD")
    lost = "1" * 40
    lonely = repo.write_commit(repo.commit(head).tree, (lost,), STAMP, STAMP, "m\n")
    for question, args in (
        (repo.first_parents, (lonely,)),
        (repo.is_ancestor, (head, lonely)),
        (repo.is_ancestor, (lost, head)),
        (repo.merge_bases, (head, lonely)),
        (repo.between, (head, lonely)),
    ):
        with pytest.raises(GateError) as caught:
            question(*args)  # type: ignore[operator]
        assert caught.value.kind is Exit.UNTRUSTED, question


def test_the_cap_on_commits_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MAX_BETWEEN", 3)
    repo = Repository.open(make(tmp_path / "a", commits=5))
    assert len(repo.between(repo.resolve("HEAD~3"), repo.resolve("HEAD"))) == 3
    with pytest.raises(GateError, match="more than 3 commits") as caught:
        repo.between(repo.resolve("HEAD~4"), repo.resolve("HEAD"))
    assert "--base" in caught.value.hint


def test_a_straight_shallow_clone_answers_what_it_can(tmp_path: Path) -> None:
    source = make(tmp_path / "a", commits=6)
    repo = shallow_clone(source, tmp_path / "b", "--depth=3")
    assert repo.shallow
    tip, second, third = git(repo.git_dir, "rev-list", "HEAD").split()
    assert repo.commit(third).parents  # the raw commit, not the boundary's fiction
    assert [one.id for one in repo.first_parents(tip, third) or ()] == [tip, second, third]
    unknown(repo.first_parents, tip)
    unknown(repo.first_parents, tip, "1" * 40)
    assert [one.id for one in repo.between(third, tip)] == [tip, second]
    assert repo.is_ancestor(third, tip)
    assert not repo.is_ancestor(tip, second)
    unknown(repo.is_ancestor, "1" * 40, second)
    assert repo.merge_bases(third, tip) == (third,)


def test_a_shallow_clone_never_invents_an_answer(tmp_path: Path) -> None:
    """The fork point of `side` and `main` lies behind the boundary."""
    source = make(tmp_path / "a", commits=3)
    git(source, "branch", "side")
    for number in range(3):
        commit(source, f"main {number}", f=f"main {number}\n")
    git(source, "checkout", "-q", "side")
    for number in range(3):
        commit(source, f"side {number}", g=f"{number}\n")
    repo = shallow_clone(source, tmp_path / "b", "--depth=2", "--no-single-branch")
    main, side = repo.resolve("origin/main"), repo.resolve("origin/side")
    assert git(source, "merge-base", "main", "side")
    unknown(repo.merge_bases, main, side)
    unknown(repo.between, main, side)
    unknown(repo.is_ancestor, main, side)


def test_a_shallow_base_may_have_had_the_commits_already(tmp_path: Path) -> None:
    """base has x through its hidden part; without that part x looks like new work."""
    source = make(tmp_path / "a", commits=1)
    git(source, "checkout", "-q", "-b", "x")
    commit(source, "x", x="x\n")
    git(source, "checkout", "-q", "main")
    git(source, "merge", "-q", "--no-ff", "-m", "merge x", "x")
    commit(source, "base", f="base\n")
    git(source, "checkout", "-q", "-b", "work")
    git(
        source,
        "merge",
        "-q",
        "--no-ff",
        "-s",
        "ours",
        "--allow-unrelated-histories",
        "-m",
        "w",
        "x",
    )
    head = git(source, "rev-parse", "main")
    tree = git(source, "rev-parse", "HEAD^{tree}")
    forged = git(source, "commit-tree", tree, "-p", head, "-p", "x", "-m", "work")
    git(source, "update-ref", "refs/heads/work", forged)
    repo = shallow_clone(source, tmp_path / "b", "--depth=2", "--branch=work")
    git(repo.git_dir, "fetch", "-q", "--depth=3", "origin", "x")
    base, work = git(repo.git_dir, "rev-parse", f"{forged}^1"), forged
    unknown(Repository.open(tmp_path / "b").between, base, work)
    full = Repository.open(source)
    assert [one.id for one in full.between(head, forged)] == [forged]


def test_unshallow_brings_the_answers(tmp_path: Path) -> None:
    source = make(tmp_path / "a", commits=4)
    shallow_clone(source, tmp_path / "b", "--depth=1")
    git(tmp_path / "b", "fetch", "-q", "--unshallow")
    repo = Repository.open(tmp_path / "b")
    assert not repo.shallow
    assert len(repo.first_parents(repo.resolve("HEAD")) or ()) == 4


def test_objects_that_a_shallow_clone_lacks(tmp_path: Path) -> None:
    source = make(tmp_path / "a", commits=3)
    repo = shallow_clone(source, tmp_path / "b", "--depth=1")
    with pytest.raises(GateError, match="is missing") as caught:
        repo.commit(git(source, "rev-parse", "HEAD~2"))
    assert caught.value.hint == "git fetch --unshallow"
