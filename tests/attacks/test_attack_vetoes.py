"""Hazards 19 and 29: what was rejected comes again under another name, number or message."""

from __future__ import annotations

from forger import (
    append,
    asked_anew,
    blocked,
    decided,
    passes,
    push_lands,
    push_refused,
    record,
    request_of,
    show,
    word,
    work,
)
from support.project import Project

from gitgate.core.decision import Action
from gitgate.core.events import EventName

VETO = "ada@example.com rejected the same content as iteration 1 of feature"


def _rejected(team: Project) -> str:
    """The agent's work, which Ada rejects; Bob is at work afterwards, and would approve it."""
    commit = work(team)
    team.gate("open").ok()
    team.be(team.people["ada"])
    team.gate("reject", "-m", "not this").ok()
    team.be(team.people["agent"], signs=False)
    return commit


def _bob_approves(team: Project, subject: str) -> None:
    team.be(team.people["bob"])
    said = team.gate("approve", "--subject", subject).ok().out
    assert "still blocked: ada@example.com rejected the same content" in said
    team.be(team.people["agent"], signs=False)


def test_the_first_iteration_again(team: Project) -> None:
    """19: A is rejected, B approved, then A is pushed: as it is, and asked anew."""
    first = _rejected(team)
    team.commit("better", {"feature.md": "# better\n"})
    team.gate("open").ok()
    team.be(team.people["bob"])
    team.gate("approve").ok()
    team.be(team.people["agent"], signs=False)
    passes(team)
    found = blocked(team, "blocked", moves=f"origin/main..{first}")
    assert "this is not the merge of that" in found["reasons"][1]
    team.git("switch", "--quiet", "--create", "back", first)
    team.gate("open", "--subject", "feature").ok()
    _bob_approves(team, "feature")
    blocked(team, "rejected", VETO)
    push_refused(team, "rejected", VETO)
    team.git("switch", "--quiet", "feature")
    team.gate("open", "--subject", "feature").ok()
    team.be(team.people["bob"])
    team.gate("approve", "--subject", "feature").ok()
    push_lands(team)


def test_under_another_subject(team: Project) -> None:
    """29: the same commit, an amended message, another base, a squash: each for a new subject."""
    commit = _rejected(team)
    team.git("switch", "--quiet", "main")
    team.commit("meanwhile", {"meanwhile.md": "x\n"})
    team.land()
    team.git("switch", "--quiet", "--create", "same", commit)
    team.git("switch", "--quiet", "--create", "amended", commit)
    team.git("commit", "--quiet", "--amend", "--message", "another text")
    team.git("switch", "--quiet", "--create", "rebased", commit)
    team.git("rebase", "--quiet", "origin/main")
    team.git("switch", "--quiet", "--create", "split", "origin/main")
    team.commit("one half", {"half.md": "half\n"})
    team.git("rm", "--quiet", "half.md")
    team.git("checkout", "--quiet", commit, "--", "feature.md")
    team.commit("and the whole")
    for subject in ("same", "amended", "rebased", "split"):
        team.git("switch", "--quiet", subject)
        team.gate("open").ok()
        _bob_approves(team, subject)
        shown = show(team, subject=subject)
        assert shown["status"] == "rejected"
        assert (
            "ada@example.com rejected the same content as iteration 1 of feature"
            in shown["reasons"]
        )
    for subject in ("rebased", "split"):
        blocked(team, "rejected", VETO, moves=f"origin/main..{subject}", subject=subject)
    push_refused(team, "rejected", VETO)
    team.be(team.people["ada"])
    team.gate("retract", "--subject", "feature").ok()
    passes(team)


def test_with_one_line_more(team: Project) -> None:
    """29, its twin: what is really other work is not blocked by the veto on the old."""
    _rejected(team)
    team.git("switch", "--quiet", "--create", "other")
    team.commit("one line more", {"feature.md": "# feature\n\nmore\n"})
    team.gate("open").ok()
    team.be(team.people["bob"])
    team.gate("approve").ok()
    passes(team)
    push_lands(team)


def test_asked_again_in_the_same_life(team: Project) -> None:
    """29: an opener's own event asks the rejected content again, as iteration 2."""
    _rejected(team)
    assert team.gate("open").status == 1
    known = request_of(team)
    append(team, EventName.ITERATED, asked=asked_anew(team, known, "main", "feature"))
    assert show(team)["iteration"] == 2
    _bob_approves(team, "feature")
    blocked(team, "rejected", VETO)
    bob = team.people["bob"]
    decided(team, known, record(word(known, bob, Action.RETRACT), bob))
    blocked(team, "rejected", VETO)
    push_refused(team, "rejected", VETO)


def test_withdrawn_and_opened_again(team: Project) -> None:
    """29: nobody takes back what was decided, and a quit does not wash a rejection off."""
    _rejected(team)
    refused = team.gate("withdraw")
    assert (refused.status, "cannot be withdrawn" in refused.err) == (1, True)
    bob = team.people["bob"]
    team.be(bob)
    team.gate("quit", "-m", "start again").ok()
    team.be(team.people["agent"], signs=False)
    assert team.gate("open", "--json").ok().json["status"] == "open"
    _bob_approves(team, "feature")
    blocked(team, "rejected", VETO)
    team.be(team.people["ada"])
    team.gate("retract", "--iteration", "1").ok()
    passes(team)


def test_by_somebody_who_may_not(team: Project) -> None:
    """29, its twin: a rejection by a stranger, or by one whom `by` leaves out, blocks nobody."""
    agent, ada, bob = (team.people[name] for name in ("agent", "ada", "bob"))
    work(team)
    team.gate("open").ok()
    request = request_of(team)
    decided(team, request, record(word(request, agent, Action.REJECT, message="no"), agent))
    team.be(ada)
    team.gate("approve").ok()
    passes(team)
    rules = (team.top / "aiwg.yml").read_text()
    team.git("switch", "--quiet", "main")
    team.commit("only Ada", {"aiwg.yml": rules.replace(
        "self_approval: false", "self_approval: false, by: [ada@example.com]")})  # fmt: skip
    team.land()
    team.git("switch", "--quiet", "feature")
    team.git("rebase", "--quiet", "origin/main")
    team.be(bob)
    said = team.gate("reject", "-m", "not mine to decide").ok().out
    assert "it does not count: bob@example.com is not among those who decide this gate" in said
    passes(team)
    push_lands(team)
