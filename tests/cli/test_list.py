"""`list`: what its table says, where this clone remembers instances and where it reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from outputs import Clock
from support.project import SOLO, Project, make_project

from gitgate.git import ledger

PARKING = SOLO.replace("approvals:", "deadline: {minutes: 60, action: park}\n      approvals:")
PHASED = """\
human_gates:
  version: 1
  gates:
    inception:
      title: Lifecycle Objectives
      transition: {from: inception, to: elaboration}
      guards: [refs/heads/main]
      approvals: {self_approval: true}
    elaboration:
      title: Lifecycle Architecture
      transition: {from: elaboration, to: construction}
      guards: [refs/heads/main]
      approvals: {self_approval: true}
  policy_gate: elaboration
  phases: {file: .aiwg/phase, order: [inception, elaboration, construction]}
  defaults: {timeout_minutes: 0}
"""


@pytest.fixture
def asked(tmp_path: Path, home: Path, clock: Clock) -> Project:
    """`one` waits in its second round, nobody has said a word of `two`."""
    project = make_project(tmp_path, home, PARKING)
    for name in ("one", "two"):
        project.branch(name)
        project.commit(f"Add {name}", {f"{name}.md": f"# {name}\n"})
        project.gate("open").ok()
        clock.later(minutes=1)
    project.git("switch", "--quiet", "one")
    project.gate("reject", "-m", "Say more").ok()
    clock.later(minutes=5)
    project.commit("Say more", {"one.md": "# one\n\nMore.\n"})
    project.gate("open").ok()
    return project


def table(project: Project) -> str:
    """The table as this clone remembers it, which is the one that it reads without."""
    remembered = project.gate("list").ok().out
    kept = project.top / ".git" / "git-gate" / "digests"
    assert kept.exists()
    kept.unlink()
    assert project.gate("list").ok().out == remembered
    return remembered


def test_the_table_goes_with_the_time(asked: Project, clock: Clock) -> None:
    assert table(asked) == (
        "open  main  one  iteration 2  for 7 min  until 2025-12-01T06:07:00Z (1 h left)\n"
        "open  main  two  iteration 1  for 6 min  until 2025-12-01T06:01:00Z (54 min left)\n"
    )
    clock.later(minutes=55)
    assert table(asked) == (
        "open    main  one  iteration 2  for 1 h 2 min  until 2025-12-01T06:07:00Z (5 min left)\n"
        "parked  main  two  iteration 1  for 1 h 1 min  until 2025-12-01T06:01:00Z\n"
    )
    asked.gate("reject", "--subject", "two", "-m", "No").ok()
    clock.later(minutes=1)
    assert table(asked) == (
        "open  main  one  iteration 2  for 1 h 3 min  until 2025-12-01T06:07:00Z (4 min left)\n"
    )


def test_what_is_remembered_is_not_read_again(
    asked: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = asked.gate("list").ok().out
    monkeypatch.setattr(ledger, "read", None)
    assert asked.gate("list").ok().out == before


def test_a_deadline_that_passed_is_written_down(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = make_project(tmp_path, home, PARKING.replace("action: park", "action: reject"))
    project.branch("one")
    project.commit("Add one", {"one.md": "# one\n"})
    project.gate("open").ok()
    assert project.gate("list").ok().out.startswith("open  main  one")
    clock.later(minutes=61)
    assert project.gate("list").ok().out == "nothing waits for a decision\n"
    assert [e["event"] for e in project.gate("log", "--json").ok().json["events"]] == [
        "opened",
        "expired",
    ]


def test_where_there_are_phases_the_time_is_that_of_the_phase(
    tmp_path: Path, home: Path, clock: Clock
) -> None:
    """Seed: `time_elapsed: Time spent in phase`; that of the wait stands beside it."""
    project = make_project(tmp_path, home, PHASED)
    project.branch("vision")
    project.commit("Write a vision", {"vision.md": "# Vision\n"})
    project.gate("open", "--advance").ok()
    first = project.gate("show", "--json").ok().json
    assert (first["context"]["time_elapsed"], first["waited"]) == ("PT0S", "PT0S")
    clock.later(minutes=10)
    first = project.gate("show", "--json").ok().json
    assert (first["context"]["time_elapsed"], first["waited"]) == ("PT10M", "PT10M")
    project.gate("approve").ok()
    project.git("switch", "--quiet", "main")
    when = {"GIT_COMMITTER_DATE": f"{clock.now} +0000"}
    project.git("merge", "--quiet", "--no-ff", "-m", "Merge vision", "vision", env=when)
    project.git("push", "--quiet", "origin", "main")
    clock.later(minutes=90)
    project.commit("Fix", {"fix.md": "# Fix\n"})
    project.branch("architecture")
    project.gate("open", "--advance").ok()
    clock.later(minutes=30)
    second = project.gate("show", "--json").ok().json
    assert (second["context"]["time_elapsed"], second["waited"]) == ("PT2H", "PT30M")
    shown = project.gate("show").ok().out
    assert "  • 2 h in phase elaboration\n" in shown
    assert "  • iteration 1, 30 min since it was opened\n" in shown
    assert "for 30 min" in project.gate("list").ok().out
