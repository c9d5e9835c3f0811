"""Who counts at the command line: several people, groups, authors, co-authors, bots, keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from outputs import ADA, BOB, Clock, Names
from support.project import TEAM, Answer, Project, make_project, person

PEOPLE = (
    ("Ada Lovelace", ADA),
    ("Bob Babbage", BOB),
    ("Cyd Charisse", "cyd@example.com"),
)
CYD = "cyd@example.com"


def made(
    tmp_path: Path,
    home: Path,
    approvals: str = "{self_approval: false}",
    more: str = "",
    gate: str = "",
) -> Project:
    """Three people and the team policy with these `approvals`, lines of the gate and of policy."""
    policy = TEAM.replace("{self_approval: false}", approvals)
    policy = policy.replace(
        "  policy_gate",
        "".join(f"      {x}\n" for x in gate.splitlines())
        + "".join(f"  {x}\n" for x in more.splitlines())
        + "  policy_gate",
    )
    project = make_project(tmp_path, home, policy, PEOPLE)
    project.people["agent"] = person("Agent", "agent@example.com", home)
    return project


def by_agent(project: Project, content: str = "one\n") -> str:
    """The agent's work, put up by the agent."""
    project.be(project.people["agent"], signs=False)
    if project.git("branch", "--show-current").out.strip() != "feature":
        project.branch("feature")
    work = project.commit("Work", {"page.md": content})
    project.gate("open").ok()
    return work


def as_(project: Project, who: str, *command: str) -> Answer:
    project.be(project.people[who])
    return project.gate(*command)


def state(project: Project) -> dict[str, Any]:
    found: dict[str, Any] = project.gate("show", "--json").ok().json
    return found


def reasons(project: Project) -> list[tuple[str, str, bool, str]]:
    return [
        (one["by"], one["action"], one["counts"], one["reason"])
        for one in state(project)["decisions"]
    ]


def vain(answer: Answer, why: str) -> None:
    assert (answer.status, answer.out) == (1, "")
    assert f"git-gate: your {why}\nhint: git gate show main --subject feature" in answer.err


def test_two_approvals_and_one_person_is_one(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = made(tmp_path, home, "{required: 2}")
    by_agent(project)
    first = as_(project, "ada", "approve").ok()
    assert "the instance is now open: 1 of 2 approvals\n" in first.out
    assert as_(project, "ada", "approve").ok()
    assert state(project)["status"] == "open"
    assert state(project)["waiting_for"] == [BOB, CYD]
    assert project.gate("check").status == 10
    second = as_(project, "bob", "approve").ok()
    assert "the instance is now approved\n" in second.out
    assert project.gate("check").ok()
    as_(project, "bob", "retract").ok()
    assert project.gate("check").status == 10


def test_a_second_key_of_one_person_counts_once(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = made(tmp_path, home, "{required: 2}")
    second = person("Ada Lovelace", "ada+2@example.com", home, "ecdsa")
    lines = [
        project.people["ada"].line(),
        f'{ADA} namespaces="git" {second.public}',
        project.people["bob"].line(),
    ]
    project.commit("Another key", {".aiwg/allowed_signers": "\n".join(lines) + "\n"})
    project.land()
    project.people["twin"] = second
    by_agent(project)
    as_(project, "ada", "approve").ok()
    again = as_(project, "twin", "approve").ok()
    assert "the instance is now open: 1 of 2 approvals\n" in again.out
    assert reasons(project) == [
        (ADA, "approve", False, f"{ADA} has decided again since"),
        (ADA, "approve", True, ""),
    ]


def test_by_and_groups(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = made(
        tmp_path,
        home,
        '{by: ["@leads"]}',
        "groups: {leads: [bob@example.com]}",
        "skip: {by: [cyd@example.com]}",
    )
    by_agent(project)
    vain(
        as_(project, "ada", "approve"),
        f"approve would not count: {ADA} is not among those who approve this gate",
    )
    vain(
        as_(project, "ada", "skip", "-m", "x"),
        f"skip would not count: {ADA} is not among those who may skip this gate",
    )
    vain(
        as_(project, "ada", "quit"),
        f"quit would not count: {ADA} neither opened the gate nor decides it",
    )
    advice = as_(project, "ada", "reject", "-m", "I would not").ok()
    advisory = f"{ADA} is not among those who decide this gate: advisory"
    assert f"it does not count: {advisory}\n" in advice.out
    assert state(project)["waiting_for"] == [BOB]
    as_(project, "bob", "approve").ok()
    assert project.gate("check").ok()
    as_(project, "cyd", "skip", "-m", "Outside of the group").ok()
    assert state(project)["status"] == "skipped"
    assert reasons(project) == [
        (ADA, "reject", False, advisory),
        (BOB, "approve", True, ""),
        (CYD, "skip", True, ""),
    ]


def test_the_opener_may_quit_without_deciding(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = made(tmp_path, home, "{by: [bob@example.com]}")
    project.be(project.people["cyd"])
    project.branch("feature")
    project.commit("Work", {"page.md": "one\n"})
    project.gate("open").ok()
    project.gate("quit", "-m", "My own").ok()
    assert state(project)["status"] == "withdrawn"


@pytest.mark.parametrize("hand", ["wrote", "committed", "co-wrote", "opened"])
def test_nobody_approves_what_they_had_a_hand_in(
    tmp_path: Path, home: Path, clock: Clock, hand: str
) -> None:
    project = made(tmp_path, home)
    ada = "Ada Lovelace <ADA@example.com>"
    project.be(project.people["agent"], signs=False)
    project.branch("feature")
    if hand == "committed":
        project.be(project.people["ada"])
    message = f"Work\n\nCo-authored-by: {ada}" if hand == "co-wrote" else "Work"
    author = {"wrote": ada, "committed": "Agent <agent@example.com>"}.get(hand)
    work = project.commit(message, {"page.md": "one\n"}, author=author)
    project.be(project.people["ada" if hand == "opened" else "agent"])
    project.gate("open").ok()
    role = "opened the gate" if hand == "opened" else f"{hand} {work[:12]}"
    why = f"{ADA} {role}; the gate takes no self-approval"
    vain(as_(project, "ada", "approve"), f"approve would not count: {why}")
    by_default = f"{ADA} {role}; the gate's `skip.by` does not name them"
    vain(as_(project, "ada", "skip", "-m", "x"), f"skip would not count: {by_default}")
    assert state(project)["waiting_for"] == [BOB, CYD]
    as_(project, "bob", "approve").ok()
    assert project.gate("check").ok()


def test_over_all_iterations(tmp_path: Path, home: Path, clock: Clock) -> None:
    """Who wrote iteration 1 does not approve iteration 2, which the agent rewrote from scratch."""
    project = made(tmp_path, home)
    project.be(project.people["agent"], signs=False)
    project.branch("feature")
    work = project.commit("Hers", {"page.md": "one\n"}, author=f"Ada <{ADA}>")
    project.gate("open").ok()
    project.git("reset", "--quiet", "--hard", "origin/main")
    by_agent(project, "two\n")
    vain(
        as_(project, "ada", "approve"),
        f"approve would not count: {ADA} wrote {work[:12]}; the gate takes no self-approval",
    )


def test_a_signed_commit_says_more_than_its_address(
    tmp_path: Path, home: Path, clock: Clock
) -> None:
    project = made(tmp_path, home)
    project.be(project.people["ada"])
    project.git("config", "user.email", "agent@example.com")
    project.git("config", "commit.gpgSign", "true")
    project.branch("feature")
    work = project.commit("Under another name", {"page.md": "one\n"})
    project.git("config", "commit.gpgSign", "false")
    project.gate("open").ok()
    vain(
        as_(project, "ada", "approve"),
        f"approve would not count: {ADA} committed {work[:12]}; the gate takes no self-approval",
    )


def test_an_unknown_author_blocks_until_somebody_lists_them(
    tmp_path: Path, home: Path, clock: Clock
) -> None:
    project = made(tmp_path, home)
    project.branch("feature")
    project.be(project.people["agent"], signs=False)
    work = project.commit(
        "Work\n\nCo-authored-by: Lady <lady@old.example>",
        {"page.md": "one\n"},
        author="Eve <eve@example.net>",
    )
    project.gate("open").ok()
    names = Names(project, work=work)
    remedy = (
        "under review: list the address in .mailmap or .aiwg/allowed_signers, or in `bots` if it"
        " is nobody's"
    )
    eve = f"nobody knows who Eve <eve@example.net> is, who wrote work........ {remedy}"
    lady = f"nobody knows who Lady <lady@old.example> is, who co-wrote work........ {remedy}"
    assert names(state(project)["reasons"]) == [eve, lady]
    as_(project, "bob", "approve").ok()
    assert names(state(project)["reasons"]) == [eve, lady]
    assert project.gate("check").status == 1

    project.git("switch", "--quiet", "main")
    project.commit(
        "List them",
        {
            ".mailmap": "Ada Lovelace <ada@example.com> <lady@old.example>\n",
            "aiwg.yml": (project.top / "aiwg.yml")
            .read_text()
            .replace("[agent@example.com]", "[agent@example.com, eve@example.net]"),
        },
    )
    project.land()
    project.git("switch", "--quiet", "feature")
    assert state(project)["status"] == "approved"
    vain(
        as_(project, "ada", "approve"),
        f"approve would not count: {ADA} co-wrote {work[:12]}; the gate takes no self-approval",
    )


def test_unknown_authors_may_be_allowed(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = made(tmp_path, home, "{unknown_authors: allow}")
    project.be(project.people["agent"], signs=False)
    project.branch("feature")
    project.commit("Work", {"page.md": "one\n"}, author="Eve <eve@example.net>")
    project.gate("open").ok()
    as_(project, "bob", "approve").ok()
    assert project.gate("check").ok()


def test_nobody_is_left_who_may_approve(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = made(tmp_path, home, "{by: [ada@example.com]}")
    project.be(project.people["ada"])
    project.branch("feature")
    project.commit("Work", {"page.md": "one\n"})
    project.gate("open").ok()
    [reason] = state(project)["reasons"]
    assert reason == (
        "1 must approve and only 0 may: the others had a hand in the work and the gate takes no"
        " self-approval"
    )
    check = project.gate("check", "--json")
    assert (check.status, check.json["status"]) == (1, "blocked")


def test_merges_of_main_make_nobody_an_author(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = made(tmp_path, home)
    by_agent(project)
    project.be(project.people["bob"])
    project.git("switch", "--quiet", "main")
    project.commit("Bob's work on main", {"other.md": "x\n"})
    project.land()
    project.git("switch", "--quiet", "feature")
    project.git("merge", "--quiet", "--no-edit", "origin/main")
    project.be(project.people["agent"], signs=False)
    project.commit("More", {"page.md": "two\n"})
    project.gate("open").ok()
    as_(project, "bob", "approve").ok()
    assert state(project)["status"] == "approved"


def test_a_person_who_has_left_counts_no_more(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = made(tmp_path, home)
    by_agent(project)
    as_(project, "bob", "approve").ok()
    assert project.gate("check").ok()
    project.git("switch", "--quiet", "main")
    lines = "".join(project.people[who].line() + "\n" for who in ("ada", "cyd"))
    project.commit("Bob leaves", {".aiwg/allowed_signers": lines})
    project.land()
    project.git("switch", "--quiet", "feature")
    assert project.gate("check").status == 10
    [one] = state(project)["decisions"]
    assert (one["by"], one["name"], one["signature"], one["counts"]) == (
        None,
        "Bob Babbage",
        "unknown-key",
        False,
    )
    assert "  Bob Babbage, whom nobody listed, approved iteration 1" in project.gate("show").out
    assert project.gate("withdraw").ok().out == "withdrew main of feature\n"
