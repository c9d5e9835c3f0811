"""Notes go after the ledgers: a record whose request nobody has would block its instance."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.project import TEAM, Project, make_project
from synckit import another, opened, refs_of

PEOPLE = (("Ada Lovelace", "ada@example.com"), ("Bob Babbage", "bob@example.com"))
LEDGER, NOTES = "refs/aiwg/gates/main/feature", "refs/notes/aiwg/gates"


@pytest.fixture
def team(tmp_path: Path, home: Path) -> Project:
    """Two features, each with Bob's word, nothing of which is on the server."""
    project = make_project(tmp_path, home, TEAM, PEOPLE, hook=False)
    for branch in ("feature", "other"):
        opened(project, branch)
        project.be(project.people["bob"])
        project.gate("reject", "-m", f"no {branch}").ok()
        project.be(project.people["ada"])
    return project


def refuse(project: Project, what: str) -> Path:
    hook = project.remote / "hooks" / "update"
    hook.write_text(f'#!/bin/sh\n[ "$1" != {what} ]\n')
    hook.chmod(0o755)
    return hook


def test_a_note_waits_for_its_ledger(team: Project) -> None:
    hook = refuse(team, LEDGER)
    done = team.gate("sync")
    assert done.status == 1
    assert done.out == (
        "main of feature: refused by origin\nmain of other: 2 events to origin\n"
        "notes: sent to origin\n"
    )
    noted = refs_of(team.remote)[NOTES]
    assert team.git("ls-tree", "-r", "--name-only", noted).out.split() == [team.rev("other")]
    assert team.gate("sync").status == 1
    assert refs_of(team.remote)[NOTES] == noted
    bob = another(team, "bob", team.people["bob"])
    bob.gate("sync").ok()
    bob.git("switch", "--quiet", "feature")
    bob.commit("more", {"more.md": "more\n"})
    bob.gate("open", "main", "--subject", "anew").ok()
    hook.unlink()
    assert team.gate("sync").ok().out.startswith("main of feature: 2 events to origin\n")
    bob.gate("sync").ok()
    team.gate("sync").ok()
    assert refs_of(bob.top) == refs_of(team.top) == refs_of(team.remote)


def test_nothing_is_sent_where_no_ledger_is_taken(team: Project) -> None:
    hook = team.remote / "hooks" / "update"
    hook.write_text("#!/bin/sh\ncase $1 in refs/aiwg/*) exit 1;; esac\n")
    hook.chmod(0o755)
    done = team.gate("sync")
    assert done.out == "main of feature: refused by origin\nmain of other: refused by origin\n"
    assert refs_of(team.remote) == {}
