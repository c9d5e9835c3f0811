"""What a session records: the answer, the words, what was viewed, the comments, the time."""

from __future__ import annotations

import time
from pathlib import Path

import yaml
from reviewkit import PAGES, SOLO, decisions, put_up, session, waiting


def viewed(decided: dict[str, object]) -> dict[str, tuple[bool, bool]]:
    rows = decided["reviewed"]
    assert isinstance(rows, list)
    return {row["path"]: (row["viewed"], row["edited"]) for row in rows}


def test_a_rejection_then_an_approval(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    begun = time.monotonic()
    with session(project) as terminal:
        terminal.wait("[x] leave")
        terminal.press("v", "Artifacts: 3")
        terminal.press("\r", "(1 of 3)")
        terminal.press("n", "(2 of 3)")
        terminal.press("c", "on which line")
        terminal.press("3\r", "Comment on line 3 of")
        terminal.press('Too "bold", ünd\r', "noted on line 3")
        terminal.press("b", "1 of your comments")
        terminal.press("b", "Options:")
        terminal.press("r", "Your feedback")
        terminal.press(
            "The lockout is \x1b[200~missing.\n\nAdd: five tries.\x1b[201~", "five tries."
        )
        terminal.press("\r", "[y] sign and record")
        screen = "\n".join(terminal.screen)
        assert 'comment: docs/UC-002-register.md:3: Too "bold", ünd' in screen
        assert "viewed: 2 of 3 artifacts; not docs/code.py" in screen
        assert "as: ada@example.com" in screen
        terminal.press("y", "the instance is now rejected")
        assert terminal.end() == 0
    [rejected] = decisions(project)
    assert (rejected["action"], rejected["via"], rejected["counts"]) == ("reject", "session", True)
    assert rejected["message"] == "The lockout is missing.\n\nAdd: five tries."
    assert rejected["comments"] == [
        {"path": "docs/UC-002-register.md", "line": 3, "text": 'Too "bold", ünd'}
    ]
    assert viewed(rejected) == {
        "docs/UC-001-login.md": (True, False),
        "docs/UC-002-register.md": (True, False),
        "docs/code.py": (False, False),
    }
    assert 0 <= rejected["time_spent_seconds"] <= time.monotonic() - begun
    [row] = yaml.safe_load_all((project.top / ".aiwg/gates/decisions.log").read_text())
    logged = row["gate_decision"]
    assert logged["feedback"] == rejected["message"]
    assert logged["time_spent_seconds"] == rejected["time_spent_seconds"]
    assert logged["artifacts_reviewed"] == rejected["reviewed"]
    assert logged["comments"] == rejected["comments"]

    # What is unchanged in the next iteration stays viewed; what changed is named.
    put_up(project, {**PAGES, "docs/UC-001-login.md": "# UC-001: User Login\n\nLockout.\n"})
    with session(project, minutes=10) as terminal:
        terminal.wait("[x] leave")
        listed = "\n".join(terminal.press("v", "Artifacts: 3"))
        assert "UC-001-login.md (changed since you viewed it)" in listed
        assert "UC-002-register.md (viewed)" in listed
        terminal.press("b", "Options:")
        # A comment on a line of the diff knows the file and the line.
        terminal.press("d", "Changes from iteration 1 → 2")
        terminal.press("v", "view the summary")
        terminal.press("/", "Search:")
        terminal.press("+Lockout\r", "found '+Lockout'")
        terminal.press("c", "on which line (0: the whole file) [3]")
        terminal.press("\r", "Comment on line 3 of")
        terminal.press("How long?\r", "noted on line 3")
        terminal.press("b", "[x] leave")
        terminal.press("a", "[y] sign and record")
        terminal.press("m", "Your comment")
        terminal.press("Good now.\r", "words: Good now.")
        terminal.press("y", "the instance is now approved")
        assert terminal.end() == 0
    approved = decisions(project)[-1]
    assert (approved["action"], approved["message"]) == ("approve", "Good now.")
    assert approved["comments"] == [
        {"path": "docs/UC-001-login.md", "line": 3, "text": "How long?"}
    ]
    assert viewed(approved)["docs/UC-002-register.md"] == (True, False)
    assert viewed(approved)["docs/UC-001-login.md"] == (False, False)


def test_skip_wants_a_reason_and_quit_says_what_it_ends(tmp_path: Path, home: Path) -> None:
    commented = SOLO.replace("self_approval: true", "self_approval: true, require_comment: true")
    project = waiting(tmp_path, home, commented)
    with session(project) as terminal:
        terminal.wait("[x] leave")
        # require_comment: the comment comes first, and an empty one is none.
        terminal.press("a", "Your comment")
        terminal.press("\r", "at least one word is needed")
        terminal.press("\x1b", "Options:")
        screen = terminal.press("s", "The reason")
        assert "Skipping lets it land without approval" in "\n".join(screen)
        terminal.press("  \r", "at least one word is needed")
        terminal.press("A hot fix.\r", "[y] sign and record")
        terminal.press("y", "the instance is now skipped")
        assert terminal.end() == 0
    put_up(project, {**PAGES, "docs/more.md": "# More\n"})
    with session(project) as terminal:
        terminal.wait("[x] leave")
        screen = terminal.press("q", "[x] leave, nothing decided")
        assert "Quitting ends this instance" in "\n".join(screen)
        terminal.press("y", "the instance is now withdrawn")
        assert terminal.end() == 0
    project.gate("list").ok()
    said = [(one["action"], one["message"], one["via"]) for one in decisions(project)]
    assert said[0] == ("skip", "A hot fix.", "session") and said[-1][0] == "quit"


def test_several_gates_one_after_another(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    put_up(project, {"docs/other.md": "# Other\n"}, "other")
    with session(project) as terminal:
        screen = terminal.wait("2 gates waiting")
        assert screen[0] == "2 gates waiting for a decision"
        assert screen[1].startswith("▶ open  main  feature") and "other" in screen[2]
        terminal.press("j", "▶ open  main  other")
        terminal.press("\r", "Subject: other")
        terminal.press("a", "[y] sign and record")
        terminal.press("y", "[n] next waiting gate")
        assert "the instance is now approved" in "\n".join(terminal.screen)
        terminal.press("\r", "[n] next waiting gate")
        terminal.press("n", "1 gate waiting")
        terminal.press("\r", "Subject: feature")
        terminal.keys("x")
        assert terminal.end() == 0
    assert [one["action"] for one in decisions(project, subject="other")] == ["approve"]
    assert decisions(project) == []
    with session(project, "main", "--subject", "feature") as terminal:
        terminal.wait("Subject: feature")
        terminal.resize(60, 20)
        screen = terminal.wait("[space] more")
        assert max(len(line) for line in screen) <= 60


def test_an_agents_environment_does_not_sign(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    with session(project, env={"CLAUDECODE": "1"}) as terminal:
        terminal.wait("[x] leave")
        terminal.press("a", "[y] sign and record")
        terminal.press("y", "nothing was recorded")
        assert "coding agent" in " ".join(terminal.screen)
    assert decisions(project) == []


def test_what_a_session_decides_is_on_the_remote_at_once(tmp_path: Path, home: Path) -> None:
    """With `gate.autoSync`; a remote that cannot be reached takes no decision back."""
    project = waiting(tmp_path, home)
    project.git("config", "gate.autoSync", "true")
    away = project.remote.with_name("away.git")
    for answer, key in (("rejected", "r"), ("approved", "a")):
        with session(project, "main", "--subject", "feature") as terminal:
            terminal.wait("[x] leave")
            if answer == "rejected":
                project.remote.rename(away)
                terminal.press(key, "Your feedback")
                terminal.press("Say more\r", "[y] sign and record")
            else:
                terminal.press(key, "[y] sign and record")
            said = terminal.press("y", f"the instance is now {answer}")
            assert ("origin does not have it yet" in " ".join(said)) == (answer == "rejected")
            assert terminal.end() == 0
        if answer == "rejected":
            away.rename(project.remote)
    assert project.git("ls-remote", "origin", project.ledger()).out.split()[0] == project.rev(
        project.ledger()
    )
    assert [one["action"] for one in decisions(project)] == ["reject", "approve"]
