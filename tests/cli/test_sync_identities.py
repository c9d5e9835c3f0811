"""Several people or addresses in one clone, several remotes: nobody is accused of a rewrite."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.project import TEAM, Project, make_project, person
from support.server import guard
from synckit import SAME, another, opened, refs_of

LEDGER = "refs/aiwg/gates/main/feature"
TRACKED = "+refs/aiwg/gates/*:refs/gitgate/origin/gates/*"
PEOPLE = (
    ("Ada Lovelace", "ada@example.com"),
    ("Bob Babbage", "bob@example.com"),
    ("Carol Shaw", "carol@example.com"),
)


@pytest.fixture
def team(tmp_path: Path, home: Path) -> Project:
    return make_project(tmp_path, home, TEAM, PEOPLE, hook=False)


def clone_of(project: Project, name: str, url: str = "") -> Project:
    clone = another(project, name, project.people[name], url=url)
    clone.git("config", "gate.policyRef", "refs/heads/main")
    clone.gate("sync").ok()
    return clone


def asked_again(project: Project) -> None:
    project.commit("more", {"more.md": "more\n"})
    project.gate("open").ok()


def test_an_agent_asks_and_a_person_syncs(team: Project, home: Path) -> None:
    team.be(person("Agent", "agent@example.com", home), signs=False)
    opened(team)
    team.gate("sync").ok()
    asked_again(team)
    team.be(team.people["ada"])
    assert team.gate("sync").ok().out == "main of feature: 1 event to origin\n"


def test_an_address_that_changed(team: Project) -> None:
    opened(team)
    team.gate("sync").ok()
    asked_again(team)
    team.git("config", "user.email", "ada.lovelace@example.com")
    assert team.gate("sync").ok().out == "main of feature: 1 event to origin\n"


@pytest.mark.parametrize("fetched", [False, True])
@pytest.mark.parametrize("hooked", [False, True])
def test_the_loser_replays_whoever_made_its_events(
    team: Project, home: Path, hooked: bool, fetched: bool
) -> None:
    """The agent asks and Ada answers off-line while Carol rejects: Carol's order stands."""
    if hooked:
        guard(team.remote)
    team.be(person("Agent", "agent@example.com", home), signs=False)
    opened(team)
    team.gate("sync").ok()
    carol = clone_of(team, "carol")
    asked_again(team)
    team.be(team.people["ada"])
    team.gate("reject", "-m", "not yet").ok()
    carol.gate("reject", "main", "--subject", "feature", "-m", "no").ok()
    carol.gate("sync").ok()
    theirs = carol.rev(LEDGER)
    if fetched:
        team.git("fetch", "--quiet", "origin", TRACKED)
    assert team.gate("sync").ok().out == (
        "main of feature: put together with origin, 1 event from there and 2 events to there\n"
        "notes: put together with origin\n"
    )
    assert team.git("merge-base", "--is-ancestor", theirs, LEDGER).status == 0
    carol.gate("sync").ok()
    assert refs_of(team.top) == refs_of(carol.top) == refs_of(team.remote)
    assert team.gate("sync").ok().out == SAME


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("first", ["origin", "second"])
def test_two_remotes_in_which_others_decide(
    team: Project, tmp_path: Path, hooked: bool, first: str
) -> None:
    """Each remote keeps the order in which it was told; what was said is the same in both."""
    if hooked:
        guard(team.remote)
    second = tmp_path / "second.git"
    opened(team)
    team.gate("sync").ok()
    subprocess.run(["git", "clone", "--quiet", "--mirror", team.remote, second], check=True)
    team.git("remote", "add", "second", str(second))
    team.gate("sync", "second").ok()
    bob, carol = clone_of(team, "bob", f"file://{second}"), clone_of(team, "carol")
    for clone, word in ((bob, "approve"), (carol, "reject")):
        clone.gate(word, "main", "--subject", "feature", "-m", "Because.").ok()
        clone.gate("sync").ok()
    other = {"origin": "second", "second": "origin"}[first]
    said = [team.gate("sync", remote).ok().out for remote in (first, other, first, other)]
    assert "put back" not in "".join(said), said
    for clone in (carol, bob):
        assert "put back" not in clone.gate("sync").ok().out
        found = clone.gate("show", "main", "--subject", "feature", "--json").ok().json
        assert len(found["decisions"]) == 2
    before = refs_of(team.remote), refs_of(second)
    for remote in ("second", "origin"):
        assert "put back" not in team.gate("sync", remote).ok().out
    assert (refs_of(team.remote), refs_of(second)) == before
    assert len(team.gate("show", "--json").ok().json["decisions"]) == 2


def test_what_only_a_plain_fetch_showed_is_known(team: Project) -> None:
    """Carol's rejection came by `git fetch`, Bob's word went on it, and a push takes hers away."""
    opened(team)
    team.gate("sync").ok()
    before = team.rev(LEDGER)
    carol = clone_of(team, "carol")
    carol.gate("reject", "main", "--subject", "feature", "-m", "no").ok()
    carol.gate("sync").ok()
    team.git("fetch", "--quiet", "origin", TRACKED)
    team.be(team.people["bob"])
    team.gate("reject", "-m", "no").ok()
    carol.git("push", "--quiet", "--force", "--no-verify", "origin", f"{before}:{LEDGER}")
    team.git("fetch", "--quiet", "origin", TRACKED)
    assert (
        team.gate("sync")
        .ok()
        .out.startswith(
            "main of feature: put back on origin\n"
            "  it was taken back to an earlier event on origin, and this is put back\n"
        )
    )
