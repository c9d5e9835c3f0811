"""What a session keeps is what its person wrote there, for that action, on that content."""

from __future__ import annotations

import os
import resource
import signal
import time
from pathlib import Path

import pytest
from reviewkit import PAGES, agent, decisions, put_up, session, waiting
from support.project import Project
from support.terminal import Terminal

from gitgate.app.reviewing import remembered
from gitgate.app.reviewing.remembered import Memory
from gitgate.git.repository import Repository

WORDS = "The lockout is missing."
SECOND_GATE = """\
    main-docs:
      title: Docs
      guards: [refs/heads/main]
      approvals: {self_approval: true}
  policy_gate: main
"""


def kept(project: Project, gate: str = "main", subject: str = "feature") -> Memory:
    return remembered.recall(Repository.open(project.top), gate, subject)


def texts(project: Project) -> list[tuple[int, str]]:
    return [(one.comment.line, one.comment.text) for one in kept(project).comments]


def comment(terminal: Terminal, line: int, text: str, downs: int = 0) -> None:
    """From the panel, a comment on an artifact of the list; then the panel again."""
    terminal.press("v", "[ENTER] open")
    terminal.press("g", "▶")
    for _ in range(downs):
        terminal.press("j", "▶")
    terminal.press("\r", "[p] previous")
    terminal.press("c", "on which line (0")
    terminal.press(f"{line}\r", "Comment on ")
    terminal.press(f"{text}\r", "noted on")
    terminal.press("b", "[ENTER] open")
    terminal.press("b", "[x] leave")


def write(terminal: Terminal, key: str, text: str) -> None:
    """From the panel, words that are not sent; then the panel again."""
    terminal.press(key, "Enter: done")
    terminal.press(text, text)
    terminal.press("\x1b", "[x] leave")


def leave(terminal: Terminal) -> str:
    terminal.keys("x")
    assert terminal.end() == 10
    return " ".join(line.strip() for line in terminal.screen)


def script(folder: Path, text: str) -> str:
    path = folder / "editor"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_two_instances_whose_names_join_to_the_same(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, subject="docs-feature")
    policy = (project.top / "aiwg.yml").read_text()
    policy = policy.replace("  policy_gate: main\n", SECOND_GATE)
    project.commit("Another gate", {"aiwg.yml": policy})
    project.land()
    project.git("config", "user.email", "agent@example.com")
    project.branch("feature")
    project.commit("Other", {"docs/other.md": "# Other\n\nWork.\n"})
    agent(project, "open", "main-docs", "--agent", "claude")
    project.git("switch", "--quiet", "main")
    project.be(project.people["ada"])
    project.git("config", "user.signingKey", "~/keys/ada-at-example.com-ed25519")
    with session(project, "main", "--subject", "docs-feature") as terminal:
        terminal.wait("[x] leave")
        comment(terminal, 3, "On the first")
        write(terminal, "r", "Words for the first")
        leave(terminal)
    with session(project, "main-docs", "--subject", "feature") as terminal:
        terminal.wait("[x] leave")
        screen = terminal.press("r", "Your feedback")
        assert "Words for the first" not in " ".join(screen)
        terminal.press("Other words\r", "[y] sign and record")
        terminal.press("y", "the instance is now rejected")
        terminal.end()
    [rejected] = decisions(project, "main-docs", "feature")
    assert (rejected["message"], rejected["comments"]) == ("Other words", [])
    assert kept(project, "main", "docs-feature").words == {"reject": "Words for the first"}


def test_each_action_has_its_words(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    with session(project) as terminal:
        terminal.wait("[x] leave")
        write(terminal, "r", WORDS)
        terminal.press("a", "[y] sign and record")
        terminal.press("m", "Your comment")
        terminal.press("Looks nice", "Looks nice")
        terminal.press("\x1b", "[y] sign and record")
        terminal.press("b", "nothing was decided")
        leave(terminal)
    with session(project) as terminal:
        terminal.wait("[x] leave")
        terminal.press("r", WORDS)
        terminal.press("\x1b", "[x] leave")
        terminal.press("a", "words: Looks nice")
        terminal.press("y", "the instance is now approved")
        terminal.end()
    # What was not signed is still there.
    assert kept(project).words == {"reject": WORDS}


@pytest.mark.parametrize("how", ["closed", "killed"])
def test_a_session_that_ends_while_the_editor_runs(tmp_path: Path, home: Path, how: str) -> None:
    """What the editor saved is offered, without what it was shown below the words."""
    project = waiting(tmp_path, home)
    saved = tmp_path / "saved"
    editor = script(tmp_path, f"sed -i '1s/.*/Saved so far/' \"$1\"; : > {saved}; sleep 60")
    terminal = session(project, env={"GIT_EDITOR": editor})
    terminal.wait("[x] leave")
    terminal.press("r", "Your feedback")
    terminal.keys("\x05")
    while not saved.exists():
        time.sleep(0.05)
    if how == "killed":
        os.killpg(terminal.pid, signal.SIGKILL)
    os.close(terminal.fd)
    terminal._child.wait()
    with session(project) as terminal:
        terminal.wait("[x] leave")
        terminal.press("r", "Saved so far")
        screen = terminal.press("\r", "words: Saved so far")
        assert ">8" not in " ".join(screen)
        terminal.press("y", "the instance is now rejected")
        terminal.end()
    [rejected] = decisions(project)
    assert rejected["message"] == "Saved so far"


def test_the_last_session_to_leave_undoes_nothing(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    with session(project) as last:
        last.wait("[x] leave")
        with session(project) as first:
            first.wait("[x] leave")
            comment(first, 3, "From the first session")
            write(first, "r", WORDS)
            leave(first)
        leave(last)
    assert texts(project) == [(3, "From the first session")]
    assert kept(project).words == {"reject": WORDS}
    assert list(kept(project).viewed) == ["docs/UC-001-login.md"]


def test_what_another_session_signed_is_no_draft_again(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    with session(project) as terminal:
        terminal.wait("[x] leave")
        comment(terminal, 3, "Only once")
        leave(terminal)
    with session(project) as last:
        last.wait("[x] leave")
        last.press("a", "Only once")
        with session(project) as first:
            first.wait("[x] leave")
            first.press("r", "Your feedback")
            first.press(f"{WORDS}\r", "[y] sign and record")
            first.press("y", "the instance is now rejected")
            first.end()
        # The screen said a comment that is signed by now: nothing is signed by it.
        screen = last.press("y", "another session changed these words or comments")
        assert "Only once" not in " ".join(screen)
        last.press("b", "nothing was decided")
        leave(last)
    assert texts(project) == []
    assert [one["action"] for one in decisions(project)] == ["reject"]


def test_comments_go_with_their_lines_into_another_iteration(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    moved = {"docs/code.py": "# A line more\n" + PAGES["docs/code.py"]}
    changed = {"docs/UC-002-register.md": "# UC-002: Register\n\nOther words.\n"}
    with session(project, columns=120) as terminal:
        terminal.wait("[x] leave")
        comment(terminal, 2, "About the return", downs=2)
        comment(terminal, 3, "About the words", downs=1)
        put_up(project, {**PAGES, **moved, **changed})
        terminal.press("a", "[y] sign and record")
        screen = " ".join(" ".join(terminal.press("y", "arrived while you looked at")).split())
        assert "of your comments: 1 moved with the line, 1 on a line that is gone" in screen
        terminal.press("a", "comment: docs/code.py:3: About the return")
        terminal.press("y", "the instance is now approved")
        terminal.end()
    [approved] = decisions(project)
    said = {(one["path"], one["line"], one["text"]) for one in approved["comments"]}
    assert said == {
        ("docs/code.py", 3, "About the return"),
        ("docs/UC-002-register.md", 0, "(on line 3 of an earlier iteration) About the words"),
    }


def test_comments_of_an_earlier_session_go_with_their_lines(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    with session(project) as terminal:
        terminal.wait("[x] leave")
        comment(terminal, 2, "About the return", downs=2)
        leave(terminal)
    put_up(project, {**PAGES, "docs/code.py": "# A line more\n" + PAGES["docs/code.py"]})
    with session(project) as terminal:
        terminal.wait("of your comments: 1 moved with the line")
        leave(terminal)
    assert texts(project) == [(3, "About the return")]


def test_an_editor_that_writes_no_utf8(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    editor = script(tmp_path, 'printf "caf\\351 is wrong\\n" > "$1"')
    with session(project, columns=200, env={"GIT_EDITOR": editor}) as terminal:
        terminal.wait("[x] leave")
        terminal.press("r", "Your feedback")
        terminal.press("Before", "Before")
        screen = " ".join(terminal.press("\x05", "are not UTF-8: nothing was recorded"))
        assert "drafts/main/feature/reject.md" in screen and r"caf\xe9 is wrong" in screen
        terminal.press("\x1b", "[x] leave")
        leave(terminal)
    path = project.top / ".git/git-gate/drafts/main/feature/reject.md"
    assert path.read_bytes() == b"caf\xe9 is wrong"


def test_no_room_for_what_is_typed(tmp_path: Path, home: Path) -> None:
    """The farewell names no file that has nothing, and says the words instead."""
    project = waiting(tmp_path, home)
    with session(project, columns=140) as terminal:
        terminal.wait("[x] leave")
        terminal.press("v", "[ENTER] open")
        terminal.press("\r", "[p] previous")
        resource.prlimit(terminal.pid, resource.RLIMIT_FSIZE, (0, -1))
        terminal.press("c", "on which line (0")
        terminal.press("3\r", "Comment on line 3 of")
        terminal.press("Too bold\r", "could not be kept")
        terminal.press("b", "[ENTER] open")
        terminal.press("b", "[x] leave")
        terminal.press("r", "Your feedback")
        terminal.press(f"{WORDS}\r", "could not be kept")
        terminal.keys("\x03")
        assert terminal.end() == 130
        screen = "\n".join(terminal.screen)
    assert f"they are:\n{WORDS}\n" in screen
    assert "it is: docs/UC-001-login.md:3: Too bold" in screen
    assert "your words are kept in" not in screen
    left = [one.name for one in (project.top / ".git/git-gate/drafts").rglob("*")]
    assert sorted(left) == ["feature", "main", "review.json"]


def test_no_room_for_the_signature(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    with session(project, columns=200) as terminal:
        terminal.wait("[x] leave")
        terminal.press("r", "Your feedback")
        terminal.press(f"{WORDS}\r", "[y] sign and record")
        resource.prlimit(terminal.pid, resource.RLIMIT_FSIZE, (0, -1))
        screen = " ".join(terminal.press("y", "your words are kept in"))
        assert "drafts/main/feature/reject.md" in screen
        resource.prlimit(terminal.pid, resource.RLIMIT_FSIZE, (-1, -1))
        assert decisions(project) == []
        if "[x] leave" not in screen:
            terminal.press("b", "[x] leave")
        terminal.press("r", WORDS)
        terminal.press("\r", "[y] sign and record")
        terminal.press("y", "the instance is now rejected")
        terminal.end()
    assert decisions(project)[0]["message"] == WORDS
