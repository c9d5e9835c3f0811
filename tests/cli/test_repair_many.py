"""Several gates and subjects: one that cannot be trusted keeps no other one from landing, and what
was rejected stays rejected under any name."""

from __future__ import annotations

from pathlib import Path

import pytest
from mending import (
    copied,
    decide,
    everything,
    findings,
    fsck,
    is_whole,
    ledger_of,
    make_team,
    records_of,
    status,
    texts,
)
from support.project import TEAM, Project
from tampering import blob, tell, told

from gitgate.core.ids import ledger_ref

NOTES = "refs/notes/aiwg/gates"
_made: list[Project] = []

SECOND = TEAM.replace(
    "  policy_gate: main\n",
    "    docs:\n      guards: [refs/heads/main]\n      when: [docs/**]\n  policy_gate: main\n",
)


@pytest.fixture
def several(tmp_path: Path, home: Path) -> Project:
    """Bob has rejected `bad` and approved `good` and `docs/page`, which needs two gates."""
    if not _made:
        (tmp_path / "first").mkdir()
        team = make_team(tmp_path / "first", home, SECOND)
        for branch, path in (("bad", "bad.md"), ("good", "good.md"), ("docs/page", "docs/a.md")):
            team.branch(branch)
            team.commit(f"work on {branch}", {path: f"# {branch}\n"})
            team.gate("open", "main").ok()
        team.gate("open", "docs").ok()
        decide(team, "bob", "reject", "main", "--subject", "bad", "-m", "no")
        decide(team, "bob", "approve", "main", "--subject", "good")
        decide(team, "bob", "approve", "main")
        decide(team, "bob", "approve", "docs")
        _made.append(team)
    return copied(_made[0], tmp_path)


def checked(project: Project, subject: str) -> str:
    found: str = status(project, subject, f"origin/main..{subject}")
    return found


def test_an_untrusted_instance_blocks_no_other(several: Project) -> None:
    bad, docs = several.ledger(subject="bad"), ledger_ref("docs", "docs/page")
    several.git("update-ref", "-d", bad)
    tell(several, [event.saying("Gate: docs", "Gate: main") for event in told(several, docs)], docs)
    assert checked(several, "bad") == "untrusted"
    assert checked(several, "good") == "satisfied"
    found = several.gate("check", "origin/main..docs/page", "--subject", "docs/page", "--json")
    rows = {row["gate"]: row["status"] for row in found.json["gates"]}
    assert (found.status, rows) == (14, {"main": "satisfied", "docs": "untrusted"})
    assert {one["hint"] for one in findings(several)} == {"git gate repair"}
    several.push("good:refs/heads/main").ok()
    several.gate("repair").ok()
    several.git("switch", "--quiet", "bad")
    assert status(several, "bad") == "rejected"
    assert findings(several) == []


def test_what_cannot_be_mended_stops_nothing_else(several: Project) -> None:
    """One ledger is locked, one lacks what is nowhere: the third is mended all the same."""
    bad, good = several.ledger(subject="bad"), several.ledger(subject="good")
    docs = ledger_ref("docs", "docs/page")
    for ref in (bad, good, docs):
        tell(several, told(several, ref)[:1], ref)
    lock = several.top / ".git" / f"{bad}.lock"
    lock.touch()
    request = ledger_of(several, "good").newest
    assert request
    several.git("update-ref", "-d", good)
    path = several.top / ".git" / "objects" / request.id[:2] / request.id[2:]
    path.chmod(0o644)
    path.unlink()
    repaired = several.gate("repair", "--json")
    assert repaired.status == 14
    assert [one for one in repaired.json["done"] if "ledger of docs of docs/page" in one]
    left = "\n".join(repaired.json["left"])
    assert f"main of bad cannot be mended: {bad} is locked by {lock}" in left
    assert "(Approve main of good) cannot be taken in: its request" in left
    assert checked(several, "good") == "untrusted"
    assert checked(several, "bad") == "untrusted"
    assert checked(several, "docs/page") == "satisfied"
    lock.unlink()
    assert several.gate("repair").status == 14
    assert checked(several, "bad") == "rejected"


def test_a_veto_whose_ledger_is_gone_follows_its_content(several: Project) -> None:
    """The same commit, the same change in another commit, and on another base: none gets by."""
    several.git("update-ref", "-d", several.ledger(subject="bad"))
    several.push("good:refs/heads/main").ok()
    several.git("fetch", "--quiet")
    work = several.rev("bad")
    for name, start in (("same", "bad"), ("again", "bad~1"), ("rebased", "origin/main")):
        several.branch(name, start)
        if name != "same":
            several.git("cherry-pick", "--no-commit", work)
            several.commit(f"not what was rejected, honestly: {name}")
        several.gate("open", "main").ok()
        decide(several, "ada", "approve", "main")
        found = several.gate("check", "--json")
        assert (found.status, found.json["status"]) == (11, "rejected"), name
        assert any(
            "bob@example.com rejected the same content as bad" in one
            for one in found.json["reasons"]
        ), found.json["reasons"]
        assert several.push("HEAD:refs/heads/main").status == 1
    several.gate("repair").ok()
    assert status(several, "rebased") == "rejected"
    decide(several, "bob", "retract", "main", "--subject", "bad")
    assert status(several, "rebased") == "satisfied"
    several.push("HEAD:refs/heads/main").ok()


def test_a_long_name_is_found_by_its_first_commit(several: Project) -> None:
    """A ref that holds only a digest of its subject: its newest commit lies, its notes are gone."""
    subject = "run-42/" + "very-long-step/" * 12
    several.git("switch", "--quiet", "bad")
    several.commit("worse", {"worse.md": "# Worse\n"})
    several.gate("open", "main", "--subject", subject).ok()
    decide(several, "bob", "reject", "main", "--subject", subject, "-m", "no")
    ref = several.ledger(subject=subject)
    assert "%-" in ref
    first, second = told(several, ref)
    tell(several, [first, second.saying("Subject: run-42", "Subject: run-43")], ref)
    several.git("update-ref", "-d", NOTES)
    several.gate("open", "main", "--subject", "other").ok()
    decide(several, "ada", "approve", "main", "--subject", "other")
    assert status(several, "other") == "rejected"
    assert status(several, subject) == "untrusted"
    several.gate("repair").ok()
    assert status(several, subject) == "rejected"
    assert [r.decision.message for r in records_of(several, subject)] == ["no"]


def test_refs_that_are_no_ledgers(several: Project) -> None:
    """What lies where ledgers are keeps nothing from landing; doctor says how it goes away."""
    junk = ["refs/aiwg/gates/main/%zz", "refs/aiwg/gates/loose", "refs/aiwg/gates/UP/x"]
    for ref in junk:
        several.git("update-ref", ref, "HEAD")
    assert checked(several, "good") == "satisfied"
    said = findings(several)
    assert [one["hint"] for one in said] == [f"git update-ref -d {ref}" for ref in sorted(junk)]
    assert several.gate("repair").status == 14
    for one in said:
        several.git(*one["hint"].split()[1:])
    assert findings(several) == []


def test_a_gate_that_the_policy_no_longer_has(several: Project) -> None:
    """Its instances are looked at and mended like all others."""
    several.git("switch", "--quiet", "main")
    several.commit("One gate is enough", {"aiwg.yml": TEAM})
    several.land()
    several.git("update-ref", "-d", ledger_ref("docs", "docs/page"))
    assert any("docs of docs/page is not to be trusted" in one for one in texts(several))
    several.gate("repair").ok()
    assert findings(several) == []
    assert len(records_of(several, "docs/page", "docs")) == 1
    fsck(several)


def test_all_at_once_and_only_once(several: Project) -> None:
    """Every ledger and every note gone or altered: one `repair` mends all, the next one nothing."""
    good, docs = several.ledger(subject="good"), ledger_ref("docs", "docs/page")
    several.git("update-ref", "-d", several.ledger(subject="bad"))
    events = told(several, good)
    events[0] = events[0].with_file("junk.yml", blob(several, "junk\n"))
    tell(several, events, good)
    several.git("update-ref", docs, "HEAD")
    assert {checked(several, one) for one in ("bad", "good", "docs/page")} == {"untrusted"}
    several.gate("repair").ok()
    refs = everything(several)
    assert several.gate("repair").ok().out == "nothing to mend\n"
    assert everything(several) == refs
    assert checked(several, "bad") == "rejected"
    assert checked(several, "good") == "satisfied"
    assert checked(several, "docs/page") == "satisfied"
    is_whole(several, "bad", "good", "docs/page")
    is_whole(several, "docs/page", gate="docs")
    assert findings(several) == []
