"""Twenty clones at one moment, and a `sync` that is killed at each of its points.

In the short form six clones, and every fourth point; `GIT_GATE_LONG=1` takes all.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from crowd import Crowd, Run, as_person, crowd
from support.project import TEAM, Project, make_project
from synckit import another, is_sound, opened, refs_of

PEOPLE = [(f"Person{n} Ny", f"p{n}@example.com") for n in range(5)]
LONG = bool(os.environ.get("GIT_GATE_LONG"))
CLONES, POINTS = (20, 1) if LONG else (6, 4)
JOURNALED = TEAM.replace("policy_gate: main", "journal: true\n  policy_gate: main")


@pytest.fixture
def many() -> Iterator[Crowd]:
    with crowd() as made:
        yield made


@pytest.fixture
def journaled(tmp_path: Path, home: Path) -> Project:
    return make_project(tmp_path, home, JOURNALED, PEOPLE, hook=False)


def test_many_clones_at_one_moment(journaled: Project, many: Crowd) -> None:
    """All get through; who had to try again says so with `-v` alone."""
    opened(journaled)
    journaled.gate("sync").ok()
    people = list(journaled.people.values())
    clones, runs = [], []
    for number in range(CLONES):
        who = people[number % len(people)]
        clone = another(journaled, f"clone{number}", who)
        clone.gate("sync").ok()
        if number % 2:
            clone.gate("reject", "main", "--subject", "feature", "-m", f"No {number}.").ok()
        else:
            clone.gate("open", "main", "--subject", f"own {number}", "--commit", "origin/feature")
        clones.append(clone)
        runs.append(
            Run(["sync", *(["-v"] if number < CLONES // 2 else [])], clone.top, as_person(who))
        )
    answers = many.at_once(*runs)
    assert [answer.status for answer in answers] == [0] * CLONES, answers
    assert "".join(answer.err for answer in answers[CLONES // 2 :]) == ""
    said = "".join(answer.err for answer in answers[: CLONES // 2]).splitlines()
    assert said
    assert all(line.endswith("; tried again") or "looked at again" in line for line in said), said
    for clone in clones:
        clone.gate("sync").ok()
    everywhere = [
        refs_of(clone.top) for clone in (*clones, replace(journaled, top=journaled.remote))
    ]
    assert everywhere == [everywhere[0]] * (CLONES + 1)
    found = clones[0].gate("show", "main", "--subject", "feature", "--json").ok().json
    assert len({one["message"] for one in found["decisions"]}) == CLONES // 2
    is_sound(journaled.remote)


def test_killed_at_each_point(journaled: Project, many: Crowd, tmp_path: Path) -> None:
    """A clone with events of its own, apart from the remote's: whatever was done before the end,
    the next `sync` does the rest."""
    opened(journaled)
    journaled.gate("sync").ok()
    one, two = list(journaled.people.values())[:2]
    bob = another(journaled, "bob", two)
    bob.gate("sync").ok()
    journaled.be(one)
    for clone, word in ((journaled, "mine"), (bob, "other")):
        clone.gate("reject", "main", "--subject", "feature", "-m", word).ok()
    bob.gate("sync").ok()

    def copied(name: str) -> Project:
        folder = tmp_path / name
        shutil.copytree(journaled.remote, folder / "remote.git", symlinks=True)
        shutil.copytree(journaled.top, folder / "project", symlinks=True)
        made = replace(journaled, top=folder / "project", remote=folder / "remote.git")
        made.git("remote", "set-url", "origin", str(made.remote))
        return made

    whole = copied("whole")
    ran = many.alone(Run(["sync"], whole.top, as_person(one)))
    ran.answer.ok()
    assert len(ran.points) > 10
    for number, point in [*enumerate(ran.points, 1)][::POINTS]:
        copy = copied(f"killed{number}")
        assert many.alone(Run(["sync"], copy.top, as_person(one), number)).killed, point
        for lock in (copy.top / ".git").rglob("*.lock"):
            lock.unlink()
        copy.gate("sync").ok()
        found = copy.gate("show", "main", "--subject", "feature", "--json").ok().json
        assert sorted(one["message"] for one in found["decisions"]) == ["mine", "other"], point
        assert refs_of(copy.top) == refs_of(copy.remote), point
        shutil.rmtree(copy.top.parent)
