"""Notes go after the ledgers: a record whose request nobody has would block its instance."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from support.project import TEAM, Project, make_project
from synckit import another, opened, refs_of

PEOPLE = (("Ada Lovelace", "ada@example.com"), ("Bob Babbage", "bob@example.com"))
LEDGER, NOTES = "refs/aiwg/gates/main/feature", "refs/notes/aiwg/gates"
CHECK = ("check", "origin/main..HEAD", "--ref", "refs/heads/main")


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


@pytest.mark.parametrize("word", ["approve", "reject"])
def test_a_record_whose_request_is_nowhere(team: Project, word: str) -> None:
    """Stock git pushed the notes of a clone that was lost: newer work is the way out."""
    team.gate("sync").ok()
    bob = another(team, "bob", team.people["bob"])
    bob.gate("sync").ok()
    bob.git("switch", "--quiet", "feature")
    bob.be(bob.people["ada"])
    for name in ("first", "second"):
        bob.commit(name, {f"{name}.md": f"{name}\n"})
        bob.gate("open").ok()
    bob.push("feature", check=True)
    bob.be(bob.people["bob"])
    bob.gate(word, "-m", "Because.").ok()
    bob.git("push", "--quiet", "--no-verify", "origin", NOTES)
    assert team.gate("sync").status == 0
    team.git("switch", "--quiet", "feature")
    team.git("pull", "--quiet", "origin", "feature")
    before = team.gate(*CHECK)
    assert before.status == 14
    assert "and its request " in before.out
    assert "where nobody has its request, commit more work, then git gate open main" in before.err
    time.sleep(1.1)  # what is asked in the second of the record is not newer
    team.commit("newer", {"newer.md": "newer\n"})
    team.gate("open").ok()
    assert team.gate(*CHECK).status == 10
    team.be(team.people["bob"])
    team.gate("approve").ok()
    assert team.gate(*CHECK).status == 0
    assert "is nowhere; it blocks nothing any more" in team.gate("doctor").out


def test_a_record_of_an_instance_that_nobody_has(team: Project) -> None:
    """A rejection of the very commit stays in the way of that commit alone."""
    team.gate("sync").ok()
    ids = team.gate("show", "main", "--subject", "feature", "--json").ok().json["decisions"]
    fresh = another(team, "fresh", team.people["ada"])
    fresh.git("push", "--quiet", "--no-verify", "origin", f":{LEDGER}")
    fresh.gate("sync").ok()
    fresh.git("switch", "--quiet", "feature")
    assert fresh.gate(*CHECK).status == 14
    time.sleep(1.1)  # what is asked in the second of the record is not newer
    fresh.gate("open").ok()
    assert fresh.gate(*CHECK).status == 14
    fresh.commit("more", {"more.md": "more\n"})
    fresh.gate("open").ok()
    assert fresh.gate(*CHECK).status == 10
    assert "put back" in team.gate("sync").ok().out
    fresh.gate("sync").ok()
    found = fresh.gate("show", "main", "--subject", "feature", "--json").ok().json
    assert ids[0]["id"] in str(fresh.gate("log", "main", "--subject", "feature", "--json").out)
    assert found["iteration"] == 3


@pytest.mark.parametrize("way", ["amended", "rebased", "elsewhere"])
def test_the_same_change_again_after_its_rejection_was_lost(team: Project, way: str) -> None:
    """The ledger was deleted and nobody has the request: the note still says which commit it was,
    and where that was made."""
    team.gate("sync").ok()
    fresh = another(team, "fresh", team.people["ada"])
    fresh.git("push", "--quiet", "--no-verify", "origin", f":{LEDGER}")
    fresh.gate("sync").ok()
    fresh.git("switch", "--quiet", "feature")
    time.sleep(1.1)  # what is asked in the second of the record is not newer
    subject = "feature"
    if way == "rebased":
        fresh.git("switch", "--quiet", "main")
        fresh.commit("meanwhile", {"meanwhile.md": "x\n"})
        fresh.git("push", "--quiet", "--no-verify", "origin", "main")
        fresh.git("switch", "--quiet", "feature")
        fresh.git("rebase", "--quiet", "origin/main")
    else:
        fresh.git("commit", "--quiet", "--amend", "--message", "another text")
    if way == "elsewhere":
        subject = "another"
        fresh.git("branch", "-m", subject)
    fresh.gate("open", "main", "--subject", subject).ok()
    fresh.be(fresh.people["bob"])
    fresh.gate("approve", "main", "--subject", subject)
    found = fresh.gate(*CHECK, "--json").json
    assert not found["allowed"]
    assert any("rejected the same content" in reason for reason in found["reasons"]), found
