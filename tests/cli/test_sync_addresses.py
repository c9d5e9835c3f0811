"""A remote that is pushed to elsewhere, hides what it took, or breaks off."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from support.project import TEAM, Project, make_project
from synckit import SAME, opened, refs_of

PEOPLE = (("Ada Lovelace", "ada@example.com"),)
LEDGER = "refs/aiwg/gates/main/feature"
HIDDEN = "git-gate: origin took main of feature and does not show it to a fetch: "


@pytest.fixture
def team(tmp_path: Path, home: Path) -> Project:
    project = make_project(tmp_path, home, TEAM, PEOPLE, hook=False)
    opened(project)
    return project


def hook(remote: Path, name: str, text: str) -> Path:
    file = remote / "hooks" / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def test_another_repository_to_push_to(team: Project, tmp_path: Path) -> None:
    second = tmp_path / "second.git"
    shutil.copytree(team.remote, second)
    team.git("remote", "set-url", "--push", "origin", str(second))
    for _ in range(2):
        done = team.gate("sync")
        assert (done.status, done.out) == (1, "main of feature: refused by origin\n")
        assert done.err == (
            f"{HIDDEN}remote.origin.pushurl is another repository\n"
            "hint: git config --unset-all remote.origin.pushurl\n"
        )
    team.git("config", "--unset-all", "remote.origin.pushurl")
    assert team.gate("sync").ok().out == "main of feature: 1 event to origin\n"
    assert team.gate("sync").ok().out == SAME


def test_another_address_of_the_same_repository(team: Project) -> None:
    team.git("remote", "set-url", "--push", "origin", f"file://{team.remote}")
    assert team.gate("sync").ok().out == "main of feature: 1 event to origin\n"
    assert team.gate("sync").ok().out == SAME


def test_one_of_two_addresses_refuses(team: Project, tmp_path: Path) -> None:
    second = tmp_path / "second.git"
    shutil.copytree(team.remote, second)
    for address in (team.remote, second):
        team.git("remote", "set-url", "--add", "--push", "origin", str(address))
    refusing = hook(team.remote, "pre-receive", "exit 1")
    for _ in range(2):
        done = team.gate("sync")
        assert (done.status, done.out) == (1, "main of feature: refused by origin\n")
        assert done.err == (
            "git-gate: origin refused main of feature: pre-receive hook declined\n"
            "hint: mend what origin says, then git gate sync origin\n"
        )
    refusing.unlink()
    assert team.gate("sync").ok().out == "main of feature: 1 event to origin\n"
    assert refs_of(team.remote) == refs_of(second)


def test_a_remote_that_hides_what_it_took(team: Project) -> None:
    subprocess.run(
        ["git", "--git-dir", team.remote, "config", "uploadpack.hideRefs", "refs/aiwg"], check=True
    )
    for _ in range(2):
        done = team.gate("sync")
        assert (done.status, done.out) == (1, "main of feature: refused by origin\n")
        assert done.err == (
            f"{HIDDEN}its uploadpack.hideRefs or transfer.hideRefs covers it\n"
            f"hint: git ls-remote origin {LEDGER} once that is changed\n"
        )


def test_a_remote_that_breaks_off(team: Project) -> None:
    killing = hook(team.remote, "pre-receive", "kill -9 $PPID")
    done = team.gate("sync")
    assert (done.status, done.out) == (1, "main of feature: refused by origin\n")
    assert done.err.startswith("git-gate: origin refused main of feature: it broke off: ")
    assert done.err.endswith("\nhint: mend what origin says, then git gate sync origin\n")
    assert refs_of(team.remote) == {}
    killing.unlink()
    hook(team.remote, "post-update", "kill -9 $PPID")
    team.gate("sync").ok()
    assert list(refs_of(team.remote)) == [LEDGER]


@pytest.mark.parametrize("kind", ["blob", "tag"])
def test_another_object_in_the_place_of_a_ledger(team: Project, kind: str) -> None:
    """The hint takes it away, and what it was is not put back."""
    team.gate("sync").ok()
    team.git("tag", "-a", "-m", "a tag", "strange")
    source = "strange" if kind == "tag" else team.rev("HEAD:feature.md")
    team.git("push", "--quiet", "--no-verify", "origin", f"{source}:refs/aiwg/gates/main/strange")
    for _ in range(2):
        done = team.gate("sync")
        assert (done.status, done.out) == (14, "main of strange: not exchanged\n")
    way = "git push origin --delete refs/aiwg/gates/main/strange"
    assert done.err.endswith(f"is a {kind}, not a commit\nhint: {way}\n")
    said = f"refs/aiwg/gates/main/strange of origin is no ledger but a {kind}: {way}\n"
    assert team.gate("repair").out == said
    team.git(*way.split()[1:], "--quiet", "--no-verify")
    assert team.gate("sync").ok().out == SAME
    assert team.gate("repair").ok().out == "nothing to mend\n"


def test_an_altered_ledger_of_somebody_else_is_mended_as_the_hint_says(team: Project) -> None:
    team.git("push", "--quiet", "--no-verify", "origin", f"HEAD:{LEDGER}")
    team.git("update-ref", "-d", LEDGER)
    done = team.gate("sync")
    assert done.err.endswith("\nhint: git gate repair; git gate sync origin\n")
    team.gate("repair")
    team.gate("sync").ok()
    assert refs_of(team.top) == refs_of(team.remote)
    team.gate("open").ok()
    assert team.gate("sync").ok().out == "main of feature: 1 event to origin\n"


def test_a_name_that_is_not_utf_8(team: Project) -> None:
    """It is named, and the other ledgers are exchanged whenever they change."""
    team.gate("sync").ok()
    name = b"HEAD:refs/aiwg/gates/main/caf\xe9"
    push = [b"git", b"push", b"--quiet", b"--no-verify", b"origin", name]
    subprocess.run(push, cwd=team.top, check=True)
    assert team.gate("sync").status == 14
    team.commit("more", {"more.md": "more\n"})
    team.gate("open").ok()
    done = team.gate("sync")
    assert done.status == 14
    assert "main of feature: 1 event to origin\n" in done.out
    assert refs_of(team.remote, LEDGER) == {LEDGER: team.rev(LEDGER)}
