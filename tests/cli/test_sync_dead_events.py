"""What can have no effect on a remote, or never counts, does not go out again and again."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import tampering
from support.project import TEAM, Project, make_project
from support.server import guard
from synckit import SAME, another, opened, refs_of

from gitgate.app.asking import opening

PEOPLE = (("Ada Lovelace", "ada@example.com"), ("Bob Babbage", "bob@example.com"))
LEDGER = "refs/aiwg/gates/main/feature"


@pytest.fixture
def team(tmp_path: Path, home: Path) -> Project:
    project = make_project(tmp_path, home, TEAM, PEOPLE, hook=False)
    opened(project)
    return project


@pytest.mark.parametrize("hooked", [False, True])
def test_a_round_after_a_landing_that_was_not_known_here(
    team: Project, hooked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of somebody whose program did not look whether what the ledger says had landed has."""
    if hooked:
        guard(team.remote)
    team.gate("sync").ok()
    bob = another(team, "bob", team.people["bob"])
    bob.git("config", "gate.policyRef", "refs/heads/main")
    bob.gate("sync").ok()
    bob.gate("approve", "main", "--subject", "feature").ok()
    bob.gate("land", "main", "--subject", "feature").ok()
    team.gate("sync").ok()
    team.commit("more", {"more.md": "more\n"})
    monkeypatch.setattr(opening, "_looks_again", lambda *_: False)
    team.gate("open").ok()
    team.git("fetch", "--quiet", "origin")
    assert "main of feature: put together with origin, " in team.gate("sync").ok().out
    assert team.gate("sync").ok().out == SAME
    found = team.gate("show", "--json").ok().json
    assert (found["status"], found["iteration"]) == ("open", 1)
    assert refs_of(team.top) == refs_of(team.remote)


@pytest.mark.parametrize("hooked", [False, True])
def test_junk_of_another_remote_blocks_nobody(team: Project, tmp_path: Path, hooked: bool) -> None:
    if hooked:
        guard(team.remote)
    team.gate("sync").ok()
    second = tmp_path / "second.git"
    subprocess.run(["git", "clone", "--quiet", "--mirror", team.remote, second], check=True)
    team.git("remote", "add", "second", str(second))
    team.gate("sync", "second").ok()
    mallory = another(team, "mallory", team.people["bob"], url=f"file://{second}")
    mallory.gate("sync").ok()
    mallory.gate("reject", "main", "--subject", "feature", "-m", "no").ok()
    files = tampering.told(mallory)[-1].files
    text, told = (mallory.git("cat-file", "blob", files[n]).out for n in NAMES)
    junk = text.replace("\nno\n", "\nyes\n", 1)
    hashed = ("hash-object", "-t", "tag", "--stdin")
    old = mallory.git(*hashed, stdin=text).out.strip()
    new = mallory.git(*hashed, "--literally", stdin=junk).out.strip()
    changed = zip(NAMES, (junk, told.replace(old, new)), strict=True)
    tampering.amended(mallory, {f"0002-{n}": tampering.blob(mallory, raw) for n, raw in changed})
    mallory.git("push", "--quiet", "--no-verify", "--force", "origin", f"{LEDGER}:{LEDGER}")
    team.gate("sync", "second").ok()
    said = f"  the record {new[:12]} can never count, and was left out\n"
    assert said in team.gate("sync").ok().out
    bob = another(team, "bob", team.people["bob"])
    bob.gate("sync").ok()
    bob.gate("approve", "main", "--subject", "feature").ok()
    bob.gate("sync").ok()
    team.gate("sync").ok()
    assert team.rev(LEDGER) == refs_of(team.remote)[LEDGER]


NAMES = ("decided.tag", "decided.yml")
