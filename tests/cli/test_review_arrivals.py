"""A session decides the request that it shows: what arrives meanwhile is noticed before signing."""

from __future__ import annotations

from pathlib import Path

from reviewkit import PAGES, agent, decisions, put_up, session, waiting
from support.project import EPOCH, Project

WORDS = "The lockout is missing."
MORE = {**PAGES, "docs/UC-001-login.md": "# UC-001: User Login\n\nLockout after five tries.\n"}


def elsewhere(project: Project, folder: Path) -> Project:
    """Another clone of the remote, in which the agent puts up the next iteration, and pushes it."""
    project.git("push", "--quiet", "origin", "feature", "refs/aiwg/gates/*:refs/aiwg/gates/*")
    top = folder / "elsewhere"
    project.git("clone", "--quiet", str(project.remote), str(top))
    other = Project(top, project.remote, project.people)
    other.git("config", "gate.policyRef", "refs/heads/main")
    other.git("fetch", "--quiet", "origin", "refs/aiwg/gates/*:refs/aiwg/gates/*")
    other.git("switch", "--quiet", "feature")
    other.git("config", "user.name", "Agent")
    other.git("config", "user.email", "agent@example.com")
    other.commit("Answer the feedback", MORE)
    return other


def test_another_clones_iteration(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    other = elsewhere(project, tmp_path)
    with session(project) as terminal:
        terminal.wait("[x] leave")
        terminal.press("r", "Your feedback")
        terminal.press(f"{WORDS}\r", "[y] sign and record")
        agent(other, "open", "main", "--agent", "claude", at=EPOCH + 60)
        other.git("push", "--quiet", "origin", "feature", "refs/aiwg/gates/*:refs/aiwg/gates/*")
        screen = terminal.press("y", "iteration 2 arrived while you looked at 1")
        said = " ".join(" ".join(screen).split())
        assert "nothing was signed, your words are kept" in said
        assert "Subject: feature → refs/heads/main, iteration 2" in said
        terminal.press("d", "Changes from iteration 1 → 2")
        terminal.press("b", "Options:")
        terminal.press("r", WORDS)
        terminal.press("\r", "iteration 2")
        terminal.press("y", "the instance is now rejected")
        assert terminal.end() == 0
    [rejected] = decisions(project)
    assert (rejected["iteration"], rejected["message"]) == (2, WORDS)


def test_an_iteration_of_this_clone_and_a_remote_that_does_not_answer(
    tmp_path: Path, home: Path
) -> None:
    project = waiting(tmp_path, home)
    with session(project) as terminal:
        terminal.wait("[x] leave")
        terminal.press("a", "[y] sign and record")
        put_up(project, MORE)
        terminal.press("y", "iteration 2 arrived while you looked at 1")
        project.git("remote", "set-url", "origin", str(tmp_path / "gone.git"))
        terminal.press("a", "[y] sign and record")
        terminal.press("y", "the instance is now approved")
        assert terminal.end() == 0
        assert "warning: origin could not be asked for news" in "\n".join(terminal.screen)
    [approved] = decisions(project)
    assert approved["iteration"] == 2


def test_what_was_decided_meanwhile_is_seen(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    with session(project) as terminal:
        terminal.wait("[x] leave")
        terminal.press("a", "[y] sign and record")
        agent(project, "quit", "main", "--subject", "feature")
        screen = terminal.press("y", "nothing was recorded")
        assert "there is nothing to decide" in " ".join(screen)
    assert [one["action"] for one in decisions(project)] == ["quit"]
