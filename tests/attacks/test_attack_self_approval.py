"""Hazard 5: the author approves, under whatever name, key, or hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forger import (
    append,
    asked_anew,
    blocked,
    decided,
    passes,
    push_lands,
    push_refused,
    record,
    repository,
    request_of,
    show,
    word,
)
from support.project import TEAM, Person, Project, make_project, person

from gitgate.core.decision import Action
from gitgate.core.events import EventName
from gitgate.git import ledger as ledgers

ADA = "Ada Lovelace <ada@example.com>"
HOME = "Ada <ada@home.example>"
CO = "work\n\nCo-authored-by: {} \n\nand more text"


def _forged(project: Project, who: Person, subject: str) -> str:
    """Put `who`'s approval into the ledger without asking our command; the reason it gets."""
    request = request_of(project, subject=subject)
    decided(project, request, record(word(request, who, subject=subject), who), subject=subject)
    one = show(project, subject=subject)["decisions"][-1]
    assert (one["by"], one["signature"], one["counts"]) == ("ada@example.com", "good", False)
    reason: str = one["reason"]
    return reason


@contextmanager
def _case(project: Project, subject: str) -> Iterator[None]:
    """Somebody's work on a branch of its own, opened by the agent unless the case does."""
    project.be(project.people["agent"], signs=False)
    project.git("switch", "--quiet", "--create", subject, "origin/main")
    project.write(f"{subject}.md", f"{subject}\n")
    project.git("add", "--all")
    yield
    project.be(project.people["agent"], signs=False)
    project.gate("open", "--subject", subject)


def test_as_author_committer_co_author_or_opener(team: Project) -> None:
    """5: each way to have had a hand in the work, by the person's two addresses."""
    ada, bob = team.people["ada"], team.people["bob"]
    team.write(
        ".aiwg/allowed_signers", f"{ada.email},ada@home.example {ada.public}\n{bob.line()}\n"
    )
    team.write(".mailmap", "Ada Lovelace <ada@example.com> <countess@example.org>\n")
    team.commit("two addresses")
    team.land()
    said = {}
    with _case(team, "author"):
        team.git("commit", "--quiet", "--message", "w", "--author", ADA)
    with _case(team, "committer"):
        team.git("-c", f"user.email={ada.email}", "commit", "--quiet", "--message", "w",
                 "--author", "Agent <agent@example.com>")  # fmt: skip
    with _case(team, "second-address"):
        team.git("commit", "--quiet", "--message", "w", "--author", "X <ADA@HOME.example>")
    with _case(team, "mailmap"):
        team.git("commit", "--quiet", "--message", "w", "--author", "X <countess@example.org>")
    with _case(team, "co-author"):
        team.git("commit", "--quiet", "--message", CO.format(HOME))
    with _case(team, "opener"):
        team.git("commit", "--quiet", "--message", "w")
        team.be(ada)
        team.gate("open").ok()
    with _case(team, "signer"):
        team.be(ada)
        team.git("-c", "user.email=agent@example.com", "-c", "user.name=Agent", "commit",
                 "--quiet", "--gpg-sign", "--message", "w")  # fmt: skip
    with _case(team, "below"):
        team.git("commit", "--quiet", "--message", "w", "--author", ADA)
        team.git("rm", "--quiet", "below.md")
        team.write("other.md", "the agent's, on top of what Ada wrote and removed\n")
        team.commit("w")
    for subject in ("author", "committer", "second-address", "mailmap", "co-author", "opener",
                    "signer", "below"):  # fmt: skip
        team.git("switch", "--quiet", subject)
        team.be(ada)
        refused = team.gate("approve", "--subject", subject)
        assert refused.status == 1, subject
        assert "the gate takes no self-approval" in refused.err, subject
        said[subject] = _forged(team, ada, subject).partition(";")[0].split()[1]
        blocked(team, "pending", "nobody has approved it yet", subject=subject)
    assert said == {
        "author": "wrote",
        "committer": "committed",
        "second-address": "wrote",
        "mailmap": "wrote",
        "co-author": "co-wrote",
        "opener": "opened",
        "signer": "committed",
        "below": "wrote",
    }
    request = request_of(team, subject="opener")
    skip = word(request, ada, Action.SKIP, subject="opener", message="it is urgent")
    decided(team, request, record(skip, ada), subject="opener")
    assert "`skip.by` does not name them" in show(team, subject="opener")["decisions"][-1]["reason"]
    push_refused(team, "pending", "nobody has approved it yet")
    team.be(bob)
    for subject in said:
        team.gate("approve", "--subject", subject).ok()
        passes(team, moves=f"origin/main..{subject}")
    push_lands(team)


def test_by_a_second_key(tmp_path: Path, home: Path) -> None:
    """5: two keys of one person are one person: neither two approvals nor somebody else's."""
    policy = TEAM.replace("self_approval: false", "self_approval: false, required: 2")
    people = (("Ada Lovelace", "ada@example.com"), ("Bob Babbage", "bob@example.com"),
              ("Cyd", "cyd@example.com"))  # fmt: skip
    project = make_project(tmp_path, home, policy, people)
    ada, bob, cyd = (project.people[name] for name in ("ada", "bob", "cyd"))
    second = person("Ada", "ada@example.com", home, "ecdsa")
    listed = (project.top / ".aiwg" / "allowed_signers").read_text()
    project.commit("a second key", {".aiwg/allowed_signers": listed + second.line() + "\n"})
    project.land()
    project.people["agent"] = person("Agent", "agent@example.com", home)
    with _case(project, "hers"):
        project.git("commit", "--quiet", "--message", "w", "--author", ADA)
    assert "the gate takes no self-approval" in _forged(project, second, "hers")
    blocked(project, "pending", "0 of 2 approvals")
    with _case(project, "twice"):
        project.git("commit", "--quiet", "--message", "w")
    request = request_of(project, subject="twice")
    for who in (ada, second):
        raw = record(word(request, who, subject="twice"), who)
        decided(project, request, raw, subject="twice")
    blocked(project, "pending", "1 of 2 approvals")
    project.be(bob)
    project.gate("approve", "--subject", "twice").ok()
    passes(project)
    project.gate("approve", "--subject", "hers").ok()
    blocked(project, "pending", "1 of 2 approvals", moves="origin/main..hers")
    project.be(cyd)
    project.gate("approve", "--subject", "hers").ok()
    passes(project, moves="origin/main..hers")


def test_after_a_bot_rewrote_the_branch(team: Project) -> None:
    """5: what Ada wrote in iteration 1 stays hers when a bot rebases or squashes it."""
    ada, bob = team.people["ada"], team.people["bob"]
    with _case(team, "feature"):
        team.git("commit", "--quiet", "--message", "w", "--author", ADA)
    team.git("commit", "--quiet", "--amend", "--no-edit", "--reset-author")
    team.commit("more of the agent", {"more.md": "more\n"})
    assert (
        team.git("log", "--format=%ae %ce", "origin/main..").out.split()
        == ["agent@example.com"] * 4
    )
    team.gate("open").ok()
    assert show(team)["iteration"] == 2
    team.be(ada)
    assert "wrote" in team.gate("approve").err
    assert "the gate takes no self-approval" in _forged(team, ada, "feature")
    blocked(team, "pending", "nobody has approved it yet")
    team.be(bob)
    team.gate("approve").ok()
    passes(team)


def test_by_somebody_nobody_knows(team: Project) -> None:
    """5: an address of nobody might be anybody's: it blocks, and the reason says what to do."""
    bob = team.people["bob"]
    with _case(team, "stranger"):
        team.git("commit", "--quiet", "--message", "w", "--author", "Ada <ada@laptop.local>")
    team.be(bob)
    team.gate("approve", "--subject", "stranger")
    found = blocked(team, "blocked", "nobody knows who Ada <ada@laptop.local> is")
    assert "list the address in .mailmap or .aiwg/allowed_signers" in found["reasons"][1]
    team.git("switch", "--quiet", "main")
    team.commit("who that is", {".mailmap": "Ada Lovelace <ada@example.com> <ada@laptop.local>\n"})
    team.land()
    team.git("switch", "--quiet", "stranger")
    team.gate("approve", "--subject", "stranger")
    team.git("rebase", "--quiet", "origin/main")
    passes(team)


def test_a_merge_of_the_base_hides_no_author(team: Project) -> None:
    """5: Ada's edit inside a merge of main counts as hers; a pure merge by her does not."""
    ada, bob = team.people["ada"], team.people["bob"]
    for subject in ("pure", "edited"):
        with _case(team, subject):
            team.git("commit", "--quiet", "--message", "w")
    team.git("switch", "--quiet", "main")
    team.commit("meanwhile", {"meanwhile.md": "x\n"})
    team.land()
    for subject in ("pure", "edited"):
        team.git("switch", "--quiet", subject)
        team.be(ada)
        team.git("merge", "--quiet", "--no-edit", "origin/main")
        if subject == "edited":
            team.write("edited.md", "by Ada\n")
            team.git("add", "--all")
            team.git("commit", "--quiet", "--amend", "--no-edit")
        team.be(team.people["agent"], signs=False)
        team.gate("open", "--subject", subject).ok()
    team.be(ada)
    assert "the gate takes no self-approval" in team.gate("approve", "--subject", "edited").err
    team.gate("approve", "--subject", "pure").ok()
    blocked(team, "pending", moves=None)
    team.be(bob)
    team.gate("approve", "--subject", "edited").ok()
    passes(team, moves=None)
    team.git("switch", "--quiet", "pure")
    passes(team, moves=None)


def test_a_merge_of_something_that_is_no_base(team: Project) -> None:
    """5: a request that names Ada's own branch as the target's tip does not make her merge pure."""
    ada = team.people["ada"]
    team.be(ada)
    team.branch("hers")
    hers = team.commit("hers", {"hers.md": "x\n"})
    with _case(team, "feature"):
        team.git("commit", "--quiet", "--message", "w")
        team.be(ada)
        team.git("merge", "--quiet", "--no-edit", "hers")
    assert "the gate takes no self-approval" in _forged(team, ada, "feature")
    known = request_of(team)
    append(team, EventName.ITERATED, asked=asked_anew(team, known, "main", "feature", tip=hers))
    assert ledgers.read(repository(team), "main", "feature").newest.tip == hers  # type: ignore[union-attr]
    assert "the gate takes no self-approval" in _forged(team, ada, "feature")
    blocked(team, "pending", "nobody has approved it yet")


def test_by_a_bot_or_an_unlisted_key(team: Project) -> None:
    """5: a bot's own key approves nothing, and nobody becomes somebody by `user.email`."""
    agent, ada = team.people["agent"], team.people["ada"]
    with _case(team, "feature"):
        team.git("commit", "--quiet", "--message", "w")
    team.be(agent)
    refused = team.gate("approve")
    assert refused.status == 1
    assert "is not listed in .aiwg/allowed_signers" in refused.err
    request = request_of(team)
    lying = person("Bob Babbage", "bob@example.com", team.top.parent, "ecdsa")
    decided(team, request, record(word(request, lying), lying))
    [one] = show(team)["decisions"]
    assert (one["by"], one["signature"], one["counts"]) == (None, "unknown-key", False)
    blocked(team, "pending", "nobody has approved it yet")
    team.be(ada)
    team.gate("approve").ok()
    passes(team)
