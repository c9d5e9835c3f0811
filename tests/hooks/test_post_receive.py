"""The server's post-receive: what has landed is recorded, and nothing there fails a push."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from landingkit import MAIN, Templates, by_merge, by_squash, plain_project
from support.project import Project
from support.server import LONG, NOTES, at, guard, long, push, received, sound

from gitgate.core.ids import ledger_ref

SERVER = "git-gate <git-gate@git-gate.invalid>"


@pytest.fixture
def served(templates: Templates, tmp_path: Path, home: Path) -> Project:
    """A clone of a server with hooks, of which git's settings say nobody's name."""
    project = templates.copy("unguarded", plain_project(), tmp_path)
    guard(project.remote)
    settings = home / ".gitconfig"
    settings.write_text("[init]" + settings.read_text().partition("[init]")[2])
    return project


def approved(project: Project, name: str) -> str:
    project.branch(name)
    commit = project.commit(name, {f"{name}.md": "# Page\n"})
    project.gate("open").ok()
    project.gate("approve").ok()
    return commit


def newest(project: Project, subject: str) -> str:
    form = "--format=%an <%ae>|%s|%(trailers:key=Status,valueonly,separator=)"
    return at(project.remote, "log", "-1", form, ledger_ref("main", subject))


def test_a_landing_ends_the_life(served: Project) -> None:
    """In whatever way it landed; whoever fetches it may open the next life."""
    ways = (None, by_merge, by_squash) if LONG else (None, by_squash)
    for number, land in enumerate(ways):
        name = f"work{number}"
        approved(served, name)
        received(served, served.ledger(subject=name))
        if land:
            land(served, name)
        new = served.rev()
        said = received(served, f"HEAD:{MAIN}")
        landed = f"main of {name}: iteration 1 has landed on {MAIN} as {new[:12]}"
        assert f"remote: git-gate: {landed}" in said
        assert newest(served, name) == f"{SERVER}|main of {name}: landed|landed"
        served.git("fetch", "--quiet")
    served.git("fetch", "--quiet", "origin", "+refs/aiwg/*:refs/aiwg/*")
    shown = served.gate("show", "--subject", "work0", "--json").ok().json
    assert shown["status"] == "landed"
    sound(served.remote)


@long
def test_several_landings_in_one_push(served: Project) -> None:
    served.git("switch", "--quiet", "--create", "all", "main")
    for name in ("one", "two"):
        approved(served, name)
    served.git("switch", "--quiet", "all")
    for name in ("one", "two"):
        served.git("merge", "--quiet", "--no-ff", "-m", f"Merge {name}", name)
    served.commit("and a step of nobody's")
    received(served, "refs/aiwg/*:refs/aiwg/*")
    said = received(served, f"all:{MAIN}")
    assert said.count("has landed on") == 2
    assert "landed" in newest(served, "one")
    assert "landed" in newest(served, "two")


def test_records_are_copied_to_the_notes(served: Project) -> None:
    """A client may push its ledger alone; the notes have the decision all the same."""
    commit = approved(served, "feature")
    received(served, served.ledger())
    note = at(served.remote, "notes", "--ref=aiwg/gates", "show", commit)
    assert note == served.git("notes", "--ref=aiwg/gates", "show", commit).out.strip()
    assert at(served.remote, "log", "-1", "--format=%cn <%ce>", NOTES) == SERVER
    tip = at(served.remote, "rev-parse", NOTES)
    received(served, "HEAD:refs/heads/feature")
    assert at(served.remote, "rev-parse", NOTES) == tip


@long
def test_the_servers_own_name(served: Project) -> None:
    at(served.remote, "config", "user.name", "Forge")
    at(served.remote, "config", "user.email", "forge@example.com")
    approved(served, "feature")
    received(served, served.ledger())
    received(served, f"HEAD:{MAIN}")
    assert newest(served, "feature").startswith("Forge <forge@example.com>|")


def test_nothing_fails_the_push(served: Project) -> None:
    """A ledger that cannot be written: the push stands, and says what is missing."""
    new = approved(served, "feature")
    received(served, served.ledger(), NOTES)
    lock = served.remote / f"{served.ledger()}.lock"
    lock.touch()
    said = received(served, f"HEAD:{MAIN}")
    assert f"remote: git-gate: {MAIN} has moved, and not all of it is recorded: " in said
    assert f"{served.ledger()} is locked by" in said
    assert served.remote_tip() == new
    lock.unlink()
    sound(served.remote)


def test_without_a_policy(tmp_path: Path, served: Project) -> None:
    remote = tmp_path / "fresh.git"
    subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
    guard(remote)
    served.git("remote", "set-url", "origin", str(remote))
    approved(served, "feature")
    assert "git-gate" not in push(served, served.ledger(), NOTES, "HEAD:refs/heads/x").err
