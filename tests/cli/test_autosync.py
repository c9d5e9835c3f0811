"""What is written goes to the remote at once where `gate.autoSync` says so, and `wait --remote`
hears of an answer that was given elsewhere."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.project import TEAM, Project, make_project

PEOPLE = (("Ann Agent", "agent@example.com"), ("Ada Lovelace", "ada@example.com"))
LEDGER = "refs/aiwg/gates/main/feature"
NOTES = "refs/notes/aiwg/gates"


@pytest.fixture
def asker(tmp_path: Path, home: Path) -> Project:
    project = make_project(tmp_path, home, TEAM, PEOPLE)
    project.gate("init").ok()
    project.branch("feature")
    project.commit("Add a page", {"page.md": "# Page\n"})
    return project


def other_clone(project: Project) -> Project:
    """Ada's clone, in which `init` has run."""
    top = project.top.with_name("ada")
    subprocess.run(["git", "clone", "--quiet", project.remote, top], check=True)
    ada = Project(top, project.remote, project.people)
    ada.be(project.people["ada"])
    ada.gate("init").ok()
    return ada


def there(project: Project) -> dict[str, str]:
    """The refs of ours that the remote has."""
    lines = project.git("ls-remote", "origin", "refs/aiwg/*", "refs/notes/*").out.splitlines()
    return {ref: oid for oid, ref in (line.split("\t") for line in lines)}


def test_an_opening_and_a_decision_are_there_at_once(asker: Project) -> None:
    answer = asker.gate("open").ok()
    assert answer.err == ""
    assert list(there(asker)) == [LEDGER]
    asker.push("feature").ok()
    ada = other_clone(asker)
    ada.gate("sync").ok()
    ada.git("fetch", "--quiet", "origin", "feature")
    ada.gate("approve", "--subject", "feature").ok()
    assert there(asker) == {LEDGER: ada.rev(LEDGER), NOTES: ada.rev(NOTES)}
    asker.git("fetch", "--quiet")
    assert asker.gate("check").ok().status == 0, "git fetch is enough to know of it"


def test_init_keeps_what_a_person_has_said(asker: Project) -> None:
    assert asker.git("config", "gate.autoSync").out == "true\n"
    asker.git("config", "gate.autoSync", "false")
    asker.gate("init").ok()
    asker.gate("open").ok()
    assert there(asker) == {}


def test_off_line_is_no_error_and_said_once(asker: Project) -> None:
    away = asker.remote.with_name("away.git")
    asker.remote.rename(away)
    answer = asker.gate("open").ok()
    [line] = answer.err.splitlines()
    assert line.startswith("warning: origin does not have it yet: origin cannot be reached: ")
    assert line.endswith(": git gate sync origin")
    away.rename(asker.remote)
    asker.gate("sync").ok()
    assert there(asker) == {LEDGER: asker.rev(LEDGER)}


def test_only_looking_sends_nothing(asker: Project) -> None:
    asker.git("config", "gate.autoSync", "false")
    asker.gate("open").ok()
    asker.git("config", "gate.autoSync", "true")
    for look in (["show"], ["list"], ["log"], ["check"]):
        asker.gate(*look)
    assert there(asker) == {}


def test_wait_remote_hears_of_it(asker: Project) -> None:
    asker.gate("open").ok()
    asker.push("feature").ok()
    ada = other_clone(asker)
    ada.git("switch", "--quiet", "feature")
    ada.gate("sync").ok()
    words = [str(Path(sys.executable).with_name("git-gate")), "reject", "-m", "The title is wrong"]
    late = threading.Timer(1.0, subprocess.run, [words], {"cwd": ada.top, "check": True})
    late.start()
    answer = asker.gate("wait", "--remote", "origin", "--json", "--timeout", "120")
    late.join()
    assert (answer.status, answer.json["action"]) == (11, "reject")
    assert answer.json["message"] == "The title is wrong"


def test_wait_remote_that_is_away_goes_on_waiting_and_says_so_once(asker: Project) -> None:
    asker.gate("open").ok()
    asker.remote.rename(asker.remote.with_name("away.git"))
    answer = asker.gate("wait", "--remote", "origin", "--timeout", "4")
    assert answer.status == 124
    assert answer.err.count("origin cannot be reached") == 1


def test_wait_for_a_remote_that_there_is_not(asker: Project) -> None:
    asker.gate("open").ok()
    answer = asker.gate("wait", "--remote", "nowhere", "--timeout", "4")
    assert (answer.status, "there is no remote 'nowhere' here" in answer.err) == (129, True)
