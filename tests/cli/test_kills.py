"""A command that is killed at any moment leaves the old state or the new one, and what mends it.

Each command is run once to learn its points (see `crowd_child`), and then killed at each of them in
a fresh copy of the same project. A stored blob or tree is a point of the long form only
(`GIT_GATE_LONG=1`): no ref can show it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from crowd import Crowd, Ran, Run, as_person, crowd
from mending import (
    age_locks,
    findings,
    fsck,
    is_whole,
    ledger_of,
    mend,
    noted,
    records_of,
    status,
)
from support.project import Project

LEDGER, NOTES = "refs/aiwg/gates/main/feature", "refs/notes/aiwg/gates"
WORDS = "The password policy is missing"

PASSED_OVER = () if os.environ.get("GIT_GATE_LONG") else ("stored blob", "stored tree")

Check = Callable[[Project, Ran], None]


@pytest.fixture
def one() -> Iterator[Crowd]:
    with crowd() as made:
        yield made


def kill_everywhere(
    project: Project,
    crowd: Crowd,
    args: Sequence[str],
    check: Check,
    who: str = "ada",
) -> tuple[str, ...]:
    """Run the command to its end in a copy, then kill it at each of its points in another one."""
    env = as_person(project.people[who])

    def ran(name: str, kill: int) -> tuple[Project, Ran]:
        copy = replace(project, top=project.top.with_name(name))
        shutil.copytree(project.top, copy.top, symlinks=True)
        return copy, crowd.alone(Run(args, copy.top, env, kill))

    _, whole = ran("whole", 0)
    whole.answer.ok()
    assert f"done {LEDGER}" in whole.points
    for number, point in enumerate(whole.points, 1):
        if point not in PASSED_OVER:
            copy, killed = ran(f"killed-{number}", number)
            assert killed.killed, killed.answer
            assert killed.points == whole.points[:number]
            check(copy, killed)
            shutil.rmtree(copy.top)
    return whole.points


def arrived(killed: Ran, ref: str = LEDGER) -> bool:
    return f"done {ref}" in killed.points


def names_what_was_left(project: Project, killed: Ran, words: int = 0) -> None:
    """`doctor` names the lock, the record that is not noted yet, and the words; hints mend it."""
    holding = [p.split()[1] for p in killed.points[-1:] if p.startswith(("locked", "writing"))]
    locks = [project.top / ".git" / f"{ref}.lock" for ref in holding]
    assert age_locks(project) == locks
    unnoted = {record.id for record in records_of(project)} - {r.id for r in noted(project)}
    found = findings(project, "fault", "note")
    assert [one["text"] for one in found if one["about"] == "locks"] == [
        f"{lock} was left by a process that is gone" for lock in locks
    ]
    missing = [one["text"] for one in found if one["about"] == "notes"]
    assert len(missing) == len(unnoted)
    assert all("is missing from the note of" in text for text in missing)
    assert len([one for one in found if one["about"] == "drafts"]) == words
    mend(project, [one for one in found if one["level"] == "fault"])
    assert findings(project) == []
    is_whole(project)


def test_open_killed_anywhere(team: Project, one: Crowd) -> None:
    team.branch("feature")
    team.commit("work", {"page.md": "# Page\n"})

    def check(project: Project, killed: Ran) -> None:
        fsck(project)
        ledger = ledger_of(project)
        assert ledger.faults == ()
        assert len(ledger.events) == arrived(killed)
        assert status(project) == ("pending" if arrived(killed) else "not-opened")
        names_what_was_left(project, killed)
        again = project.gate("open", "--json").ok().json
        assert again["result"] == ("already-open" if arrived(killed) else "opened")
        assert len(ledger_of(project).events) == 1

    points = kill_everywhere(team, one, ["open"], check, who="agent")
    assert points.count("stored commit") == 3


def test_the_next_iteration_killed_anywhere(team: Project, one: Crowd) -> None:
    """A killed `open` neither hides the rejection nor takes the first request away."""
    rejected(team)
    team.be(team.people["agent"])
    team.commit("more", {"page.md": "# Page\n\nMinimum length: 12\n"})

    def check(project: Project, killed: Ran) -> None:
        fsck(project)
        assert len(ledger_of(project).events) == 2 + arrived(killed)
        assert status(project) == ("pending" if arrived(killed) else "rejected")
        age_locks(project)
        mend(project)
        again = project.gate("open", "--json").ok().json
        assert again["result"] == ("already-open" if arrived(killed) else "iterated")
        names = [event.name for event in ledger_of(project).events]
        assert names == ["opened", "decided", "iterated"]
        is_whole(project)

    kill_everywhere(team, one, ["open"], check, "agent")


def rejected(team: Project) -> None:
    """Work of the agent's that Bob has rejected, with Bob at work."""
    team.branch("feature")
    team.commit("work", {"page.md": "# Page\n"})
    team.gate("open").ok()
    team.be(team.people["bob"])
    team.gate("reject", "-m", "no").ok()


def test_a_decision_killed_anywhere(team: Project, one: Crowd) -> None:
    rejected(team)
    team.gate("retract").ok()

    def check(project: Project, killed: Ran) -> None:
        fsck(project)
        said = [record.decision.message for record in records_of(project)]
        assert said == ["no", "", *([WORDS] if arrived(killed) else [])]
        assert status(project) == ("satisfied" if arrived(killed) else "pending")
        kept = [path.read_text() for path in drafts(project)]
        assert kept == ([] if killed.points[-1] == "words left" else [WORDS])
        names_what_was_left(project, killed, len(kept))
        if not arrived(killed):
            project.be(project.people["ada"])
            project.gate("approve", "-m", *kept).ok()
        assert status(project) == "satisfied"
        assert len(records_of(project)) == 3
        is_whole(project)

    points = kill_everywhere(team, one, ["approve", "-m", WORDS], check)
    assert {"words kept", "signed", f"done {NOTES}", "words left"} < set(points)


def drafts(project: Project) -> list[Path]:
    return sorted((project.top / ".git" / "git-gate" / "drafts").rglob("*.md"))


def test_a_repair_killed_anywhere(team: Project, one: Crowd) -> None:
    """The next `repair` goes on where the killed one stopped; nothing passes in between."""
    rejected(team)
    team.gate("retract").ok()
    team.gate("reject", "-m", "no, again").ok()
    team.git("update-ref", "-d", LEDGER)

    def check(project: Project, killed: Ran) -> None:
        fsck(project)
        whole = len(records_of(project)) == 3
        assert status(project) == ("rejected" if whole else "untrusted")
        age_locks(project)
        mend(project)
        assert findings(project) == []
        assert status(project) == "rejected"
        said = [record.decision.message for record in records_of(project)]
        assert said == ["no", "", "no, again"]
        is_whole(project)

    kill_everywhere(team, one, ["repair"], check)
