"""What `git gate diff` shows: the display rules' example, statistics, comments, one's own."""

from __future__ import annotations

import pytest
from rebasing import DOC, edit, first_round
from support.project import EPOCH, Project

from gitgate.app.deciding.deciding import Word, decide
from gitgate.app.gather.world import World
from gitgate.core.decision import Action, Comment
from gitgate.git.repository import Repository

LOGIN = """\
# UC-001: User Login

## Primary Actor

End User

## Goal

Get into the system

## Preconditions

Before the flow starts:

- User has an account
- User is not locked out
- System runs
- Clock is right

## Main Flow

1. User navigates to login page
2. User enters email and password
3. System validates credentials
4. System starts a session
5. System shows the start page

## Alternate Flows

- Wrong password: the user tries again
- Five failures: the account is locked
- Forgotten password: see the reset

## Postconditions

- The session is logged
- The user is known

## References

- NFR-PERF-001: login within two seconds

## Rules

- Sessions end after one hour
- One session for each device
- The name is an email address

## History

- Approved once before
- Written by the architect

## Open questions

- None
"""
RESET = """\
# UC-003: Password Reset

## Main Flow

1. User asks for a reset
"""
PATH = ".aiwg/requirements/use-cases/UC-001-login.md"
SECOND = ".aiwg/requirements/use-cases/UC-003-password-reset.md"


def seed(project: Project) -> None:
    """The display rules' example: iterations 2 and 3 of two use cases."""
    project.branch("feature")
    project.commit("Write the login", {PATH: edit(LOGIN, "Get into the system", "Log in")})
    project.gate("open").ok()
    project.gate("reject", "-m", "say what for").ok()
    project.commit("Say what for", {PATH: LOGIN})
    project.gate("open").ok()
    project.gate("reject", "-m", "the password policy is missing, and the reset").ok()
    text = edit(
        LOGIN,
        "- User has an account\n- User is not locked out\n- System runs\n- Clock is right\n",
        "- User has a verified account\n- User is not locked\n- System is up\n- Clock is set\n",
    )
    text = edit(text, "two seconds\n", "two seconds\n- NFR-SEC-003: security of passwords\n")
    text = edit(
        text,
        "- Written by the architect\n",
        "- Written by the architect\n\n## Password complexity\n\n- At least twelve characters\n",
    )
    project.commit("Add the password reset", {PATH: text, SECOND: RESET})
    project.gate("open", "-m", "Password policy and reset, as asked").ok()


def test_the_example_of_the_display_rules(project: Project) -> None:
    seed(project)
    assert project.gate("diff").ok().out.splitlines() == [
        "Changes from iteration 2 → 3",
        "The asking side says: Password policy and reset, as asked",
        "Its commits say: “Add the password reset”",
        "",
        f"Modified: {PATH}",
        "  + References: NFR-SEC-003: security of passwords (line 42)",
        "  + Password complexity (line 55-57)",
        "  ~ Preconditions: User has a verified account (line 15-18)",
        "",
        f"Added: {SECOND}",
        "  UC-003: Password Reset (5 lines)",
        "",
        "Deleted: (none)",
        "",
        "Summary: 1 modified, 1 added, 0 deleted",
        "",
        "next: git gate diff main --subject feature 2..3 --full shows every line",
    ]


def test_the_statistics(project: Project) -> None:
    seed(project)
    project.gate("reject", "-m", "no").ok()
    project.git("mv", SECOND, "reset.md")
    (project.top / "picture").write_bytes(b"\0" * 10)
    project.commit("Move", {"many.txt": "x\n" * 200})
    project.gate("open").ok()
    assert project.gate("diff", "--stat").ok().out.splitlines() == [
        "Changes from iteration 3 → 4",
        "Its commits say: “Move”",
        "",
        f" many.txt{' ' * 56} | 200 {'+' * 40}",
        f" picture{' ' * 57} | binary",
        "     note: binary: 10 bytes",
        f" {SECOND} → reset.md |   0",
        " 3 files changed, 200 insertions(+), 0 deletions(-)",
    ]


def remark(project: Project, *comments: Comment, message: str = "see there") -> None:
    """Reject the current round with comments on lines, as a session does."""
    repo = Repository.open(project.top)
    world = World(repo, EPOCH + 3600)
    try:
        word = Word(Action.REJECT, message, comments=comments)
        decide(world, world.policy(), "main", "feature", word)
    finally:
        world.close()


def test_comments_of_earlier_rounds_are_carried_on(project: Project) -> None:
    project.branch("feature")
    project.commit("Login", {"login.md": DOC, "same.md": DOC, "old.md": DOC})
    project.gate("open").ok()
    remark(
        project,
        Comment(b"login.md", 5, "which name?"),
        Comment(b"login.md", 6, "say password"),
        Comment(b"login.md", 7, "and then?"),
        Comment(b"login.md", 1, "a better title"),
        Comment(b"same.md", 3, "what flow?"),
        Comment(b"old.md", 0, "not needed"),
        Comment(b"none.md", 1, "where is it?"),
    )
    text = edit(DOC, "# Login\n", "# Login\n\nSomething new\n")
    text = edit(text, "2. Enter the word\n", "2. Enter the password\n")
    text = edit(text, "3. Get in\n", "") + "\n## End\n\n3. Get in\n"
    project.git("rm", "--quiet", "old.md")
    project.commit("Better", {"login.md": text})
    project.gate("open").ok()
    shown = project.gate("diff").ok().out.splitlines()
    ada = "ada@example.com on iteration 1"
    assert [line for line in shown if line.startswith("  >") or "Comments" in line] == [
        f"  > {ada}, line 5, moved to line 7: which name?",
        f"  > {ada}, line 6, the line is gone: say password",
        f"  > {ada}, line 7, moved to line 12: and then?",
        f"  > {ada}, line 1: a better title",
        f"  > {ada}, the file is gone: not needed",
        "Comments on files that did not change:",
        f"  > {ada}, same.md, line 3: what flow?",
        f"  > {ada}, none.md, line 1, the line is gone: where is it?",
    ]
    full = project.gate("diff", "--full").ok().out.split("diff --git ")
    assert full[1].splitlines() == [
        "a/login.md b/login.md",
        f"comment: {ada}, line 6, the line is gone: say password",
        "--- a/login.md",
        "+++ b/login.md",
        "@@ -1,7 +1,12 @@",
        " # Login",
        f"comment: {ada}, line 1: a better title",
        " ",
        "+Something new",
        "+",
        " ## Flow",
        " ",
        " 1. Enter the name",
        f"comment: {ada}, line 5, moved to line 7: which name?",
        "-2. Enter the word",
        "+2. Enter the password",
        "+",
        "+## End",
        "+",
        " 3. Get in",
        f"comment: {ada}, line 7, moved to line 12: and then?",
    ]
    found = project.gate("diff", "--json").ok().json
    assert found["comments"][1] == {
        "by": "ada@example.com",
        "iteration": 1,
        "text": "say password",
        "path": "login.md",
        "line": 6,
        "now": {"path": "login.md", "state": "gone", "line": None},
    }


def test_a_comment_follows_its_file_and_goes_with_a_retraction(project: Project) -> None:
    project.branch("feature")
    project.commit("Login", {"login.md": DOC})
    project.gate("open").ok()
    remark(project, Comment(b"login.md", 5, "which name?"))
    project.git("mv", "login.md", "sign-in.md")
    project.commit("Move")
    project.gate("open").ok()
    (comment,) = project.gate("diff", "--json").ok().json["comments"]
    assert comment["now"] == {"path": "sign-in.md", "state": "same", "line": 5}
    project.gate("retract", "--iteration", "1").ok()
    assert project.gate("diff", "--json").ok().json["comments"] == []


def rounds(project: Project) -> tuple[int, int]:
    found = project.gate("diff", "--since-mine", "--json").ok().json
    return (found["from"] or {"iteration": 0})["iteration"], found["to"]["iteration"]


def test_since_mine_starts_from_the_last_round_that_the_person_decided(team: Project) -> None:
    team.branch("feature")
    for number in range(1, 5):
        team.commit(f"Round {number}", {"page.md": f"round {number}\n"})
        team.gate("open").ok()
        if number in (1, 3):
            team.be(team.people["ada" if number == 1 else "bob"])
            team.gate("reject", "-m", "no").ok()
            team.be(team.people["agent"], signs=False)
    team.be(team.people["ada"])
    assert rounds(team) == (1, 4)
    team.be(team.people["bob"])
    assert rounds(team) == (3, 4)
    team.git("config", "--unset", "user.signingKey")
    assert rounds(team) == (3, 4), "known by the address alone"
    team.git("config", "user.email", "stranger@example.com")
    assert rounds(team) == (0, 4)
    viewed = team.git("rev-parse", "refs/aiwg/gates/main/feature~2^2").out
    (team.top / ".git" / "git-gate").mkdir(exist_ok=True)
    (team.top / ".git" / "git-gate" / "viewed").write_text(f"junk\n{viewed}")
    found = team.gate("diff", "--since-mine", "--json").ok().json
    assert found["from"]["request"] == viewed.strip()


def test_a_range_and_since_mine_exclude_each_other(project: Project) -> None:
    first_round(project)
    answer = project.gate("diff", "0..1", "--since-mine")
    assert answer.status == 129
    assert answer.err == (
        "git-gate: a range and --since-mine both say where to start\nhint: leave one of them out\n"
    )


@pytest.mark.parametrize("what", [("main", "other"), ("0..1", "1..2"), ("main", "0..1", "x")])
def test_too_many_words(project: Project, what: tuple[str, ...]) -> None:
    first_round(project)
    answer = project.gate("diff", *what)
    assert answer.status == 129
    assert answer.err.startswith("git-gate: a gate and a range N..M are all that can be named\n")


def test_a_base_that_the_target_lacks_is_pointed_out(project: Project) -> None:
    project.branch("hidden")
    project.commit("Under it", {"under.md": "smuggled\n"})
    project.branch("feature", "hidden")
    project.commit("Over it", {"over.md": "shown\n"})
    project.gate("open", "--base", "hidden").ok()
    assert project.gate("diff").ok().out.splitlines()[1] == (
        "note: the base has 1 commit that refs/heads/main lacks: what is in there is not shown"
        " here, and cannot land with this"
    )
