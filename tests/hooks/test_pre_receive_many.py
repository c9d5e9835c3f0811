"""Many pushes to one server at the same moment: none lands unauthorised, and none is lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from landingkit import MAIN, Templates, plain_project
from support.project import Project
from support.server import LONG, at, guard, received, sound

from gitgate.core import ids
from gitgate.core.events import Event, EventName
from gitgate.core.person import Person, Stamp
from gitgate.git import ledger as ledgers
from gitgate.git.ledger import Draft
from gitgate.git.repository import Repository

EACH = 10 if LONG else 2
KINDS = 5


@pytest.fixture
def served(templates: Templates, tmp_path: Path, home: Path) -> Project:
    project = templates.copy("unguarded", plain_project(), tmp_path)
    guard(project.remote)
    return project


def ledger(subject: str) -> str:
    return ids.ledger_ref("main", subject)


def prepared(project: Project, name: str) -> str:
    project.branch(name)
    commit = project.commit(name, {f"{name}.md": "# Page\n"})
    project.gate("open").ok()
    project.gate("approve").ok()
    return commit


def rivals(project: Project, count: int) -> list[str]:
    """Tips of one ledger that all go on from the same one."""
    repo = Repository.open(project.top)
    before = ledgers.read(repo, "main", "shared")
    newest = before.newest.id if before.newest else None
    found = []
    for number in range(count):
        who = Stamp(Person(f"Rival {number}", "rival@example.com"), 1_764_565_200 + number)
        fields = {"deadline": who.time}
        event = Event("", 0, EventName.EXPIRED, who.time, who.person, newest, None, fields)
        found.append(ledgers._write(repo, before, Draft(event, 1, "open"), who))
    return found


def test_at_the_same_moment(served: Project) -> None:
    """Ledgers, approved work, work that nobody approved, rivals for one ledger, plain branches."""
    approved = {name: prepared(served, name) for name in (f"good{n}" for n in range(EACH))}
    alone = {name: prepared(served, name) for name in (f"own{n}" for n in range(EACH))}
    prepared(served, "shared")
    received(served, ledger("shared"), *map(ledger, approved))
    evil = []
    for number in range(EACH):
        served.branch(f"evil{number}")
        evil.append(served.commit("evil", {"evil.md": f"{number}\n"}))
    shared = rivals(served, EACH)
    asked = {
        **{f"{commit}:{MAIN}": True for commit in approved.values()},
        **{f"{commit}:{MAIN}": False for commit in evil},
        **{f"{ledger(name)}:{ledger(name)}": True for name in alone},
        **{f"{tip}:{ledger('shared')}": True for tip in shared},
        **{f"{commit}:refs/heads/topic{n}": True for n, commit in enumerate(evil)},
    }
    assert len(asked) == KINDS * EACH
    pushes = {
        refspec: subprocess.Popen(
            ["git", "push", "--no-verify", "--quiet", f"file://{served.remote}", refspec],
            cwd=served.top,
            stderr=subprocess.PIPE,
            text=True,
        )
        for refspec in asked
    }
    through = {
        refspec for refspec, one in pushes.items() if one.communicate() and one.returncode == 0
    }
    assert not [refspec for refspec in through if not asked[refspec]]
    by_ref: dict[str, list[str]] = {}
    for refspec in through:
        new, _, ref = refspec.partition(":")
        by_ref.setdefault(ref, []).append(served.rev(new))
    assert set(by_ref) == {refspec.partition(":")[2] for refspec in asked}
    for ref, came in by_ref.items():
        chain = at(served.remote, "rev-list", "--first-parent", ref).split()
        assert len(came) == 1 and came[0] in chain, (ref, came)
    [landed] = [name for name, commit in approved.items() if commit == served.remote_tip()]
    assert at(served.remote, "log", "-1", "--format=%s", ledger(landed)) == (
        f"main of {landed}: landed"
    )
    sound(served.remote)
