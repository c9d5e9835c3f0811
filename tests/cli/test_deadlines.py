"""A deadline in several clones: the time of the signed word decides, the same everywhere and in
whatever order the clones meet; and nobody's silence is ever a yes."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from outputs import Clock
from support.project import TEAM, Project, make_project

TIMED = TEAM.replace("timeout_minutes: 0", "timeout_minutes: 60")
PEOPLE = (("Ann Agent", "agent@example.com"), ("Ada Lovelace", "ada@example.com"))
DEADLINE = "(deadline)"


@dataclass
class Two:
    """Where the work was asked for, and the clone of the person who decides; each has a clock."""

    asker: Project
    ada: Project
    clock: Clock

    def ask(self) -> None:
        self.asker.branch("feature")
        self.asker.commit("Add a page", {"page.md": "# Page\n"})
        self.asker.gate("open").ok()
        self.asker.push("feature").ok()
        self.meet("asker")
        self.ada.git("fetch", "--quiet", "origin")
        self.ada.git("switch", "--quiet", "feature")
        self.meet("ada")

    def meet(self, *order: str) -> None:
        for name in order:
            getattr(self, name).gate("sync").ok()

    def say(self, *words: str, minutes: int) -> int:
        """What Ada's command ends with when her clock says this time after the opening."""
        self.clock.later(minutes=minutes)
        answer = self.ada.gate(*words)
        self.clock.later(minutes=-minutes)
        return answer.status

    def look(self, minutes: int) -> str:
        """The status that the asker's clone shows at this time; whoever looks records expiry."""
        self.clock.later(minutes=minutes)
        status: str = self.asker.gate("show", "--json").ok().json["status"]
        self.clock.later(minutes=-minutes)
        return status

    def agree(self, minutes: int) -> dict[str, object]:
        """What both clones say at this time, which has to be the same."""
        self.clock.later(minutes=minutes)
        said = []
        for clone in (self.asker, self.ada):
            shown = clone.gate("show", "--json").ok().json
            checked = clone.gate("check", "--ref", "main", "--json").json
            log = clone.gate("export", "--format", "log").ok().out
            said.append((shown["status"], checked["status"], checked["exit"], log))
        self.clock.later(minutes=-minutes)
        assert said[0] == said[1]
        status, check, exit_, log = said[0]
        return {"status": status, "check": check, "exit": exit_, "log": log}


@pytest.fixture
def two(tmp_path: Path, home: Path, clock: Clock) -> Two:
    asker = make_project(tmp_path, home, TIMED, PEOPLE)
    asker.git("switch", "--quiet", "main")
    top = tmp_path / "ada"
    subprocess.run(["git", "clone", "--quiet", asker.remote, top], check=True)
    ada = Project(top, asker.remote, asker.people)
    ada.be(asker.people["ada"])
    made = Two(asker, ada, clock)
    made.ask()
    return made


@pytest.mark.parametrize("order", [("asker", "ada", "asker"), ("ada", "asker", "ada")])
def test_a_decision_in_time_counts_whoever_recorded_the_deadline_first(
    two: Two, order: tuple[str, ...]
) -> None:
    assert two.say("approve", minutes=59) == 0
    assert two.look(61) == "expired", "this clone has not heard of it"
    two.meet(*order)
    said = two.agree(62)
    assert (said["status"], said["check"], said["exit"]) == ("approved", "satisfied", 0)


@pytest.mark.parametrize("order", [("asker", "ada", "asker"), ("ada", "asker", "ada")])
def test_a_rejection_after_it_is_a_veto_and_no_answer(two: Two, order: tuple[str, ...]) -> None:
    assert two.look(61) == "expired"
    assert two.say("reject", "-m", "Late, and no", minutes=70) == 0
    two.meet(*order)
    said = two.agree(71)
    assert (said["check"], said["exit"]) == ("rejected", 11)


def test_an_approval_after_it_does_not_count_wherever_it_is_written(two: Two) -> None:
    """This clone has no `expired` event, and its clock says what time it is."""
    assert two.say("approve", minutes=61) == 1
    two.meet("ada", "asker")
    said = two.agree(62)
    assert (said["status"], said["check"], said["exit"]) == ("expired", "expired", 12)


@pytest.mark.parametrize("days", [0, 1, 400])
def test_silence_is_no_consent(two: Two, days: int) -> None:
    said = two.agree(61 + days * 24 * 60)
    assert (said["status"], said["check"], said["exit"]) == ("expired", "expired", 12)
    assert f'user: "{DEADLINE}"' in str(said["log"])
    assert 'action: "reject"' in str(said["log"])


@pytest.mark.parametrize(("action", "status"), [("park", "parked"), ("none", "open")])
def test_silence_where_the_deadline_rejects_nothing(
    tmp_path: Path, home: Path, clock: Clock, action: str, status: str
) -> None:
    policy = TIMED.replace(
        "      approvals", f"      deadline: {{minutes: 60, action: {action}}}\n      approvals"
    )
    project = make_project(tmp_path, home, policy, PEOPLE)
    project.branch("feature")
    project.commit("Add a page", {"page.md": "# Page\n"})
    project.gate("open").ok()
    clock.later(minutes=400 * 24 * 60)
    assert project.gate("show", "--json").ok().json["status"] == status
    assert project.gate("check").status == 10
    assert project.push("HEAD:main").status != 0
