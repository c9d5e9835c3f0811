"""An edit that may not be put up leaves branch and instance as they were, and says why."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from editkit import PAGE, adds, edited, kept, on, state, validated
from reviewkit import SOLO, agent, decisions, put_up, session, waiting
from support.project import EPOCH, Project
from synckit import another

FORBIDS = validated("grep -q FORBIDDEN docs/a.md && echo docs/a.md:2: error: no such word")
HINDERED = "no iteration was opened; the asking side takes it by git merge review/feature"


def test_what_a_validation_refuses(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, FORBIDS, PAGE)
    before = state(project)
    editor = adds(tmp_path, "FORBIDDEN")
    with session(project, columns=400, env={"GIT_EDITOR": editor}) as terminal:
        terminal.wait("[x] leave")
        screen = " ".join(" ".join(terminal.press("e", "nothing was put up")).split())
        assert "the validation `words` of gate main refuses it: docs/a.md:2: error:" in screen
        assert "(e goes on with it)" in screen
        assert state(project) == before
        # The record of what is decided then is of the reviewed work, which nobody edited.
        terminal.press("a", "[y] sign and record")
        terminal.press("y", "the instance is now approved")
        assert terminal.end() == 0
    [approved] = decisions(project)
    assert approved["iteration"] == 1
    assert approved["reviewed"] == [{"path": "docs/a.md", "viewed": False, "edited": False}]


def test_what_was_refused_is_mended_and_goes_on_the_branch(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, FORBIDS, PAGE)
    edited(project, "nothing was put up", editor=adds(tmp_path, "FORBIDDEN"))
    edited(project, "your edit is iteration 2", editor="sed -i s/FORBIDDEN/fine/")
    assert on(project, "feature") == "# A\nfine\n"


def test_validations_are_named_and_can_be_stopped(tmp_path: Path, home: Path) -> None:
    slow = tmp_path / "slow"
    project = waiting(tmp_path, home, validated(f"while [ -e {slow} ]; do sleep 0.05; done"), PAGE)
    before = state(project)
    slow.touch()
    env = {"GIT_EDITOR": adds(tmp_path, "mine")}
    with session(project, columns=400, env=env) as terminal:
        terminal.wait("[x] leave")
        said = terminal.press("e", "goes through the validations of gate main now")
        assert "commands of the policy: words" in " ".join(said)
        terminal.wait("validation words: 1 path, 1 s")
        terminal.press("\x03", "interrupted: nothing was put up")
        assert state(project) == before
        terminal.press("x", "nothing was decided")
        assert terminal.end() == 10
    assert kept(project) == ["# A\nmine\n"]
    slow.unlink()
    edited(project, "your edit is iteration 2", editor=adds(tmp_path, "more"))
    assert on(project, "feature") == "# A\nmine\nmore\n"


def test_a_ledger_that_cannot_be_written(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    before = state(project)
    lock = project.top / ".git" / "refs" / "aiwg" / "gates" / "main" / "feature.lock"
    screen = edited(project, "is locked by", editor=adds(tmp_path, "mine", f": > {lock}"))
    assert f"rm {lock}" in screen and "(e goes on with it)" in screen
    lock.unlink()
    assert state(project) == before
    edited(project, "your edit is iteration 2", editor=adds(tmp_path, "more"))
    assert on(project, "feature") == "# A\nmine\nmore\n"


def test_an_iteration_that_arrived_at_the_remote(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    other = elsewhere(project)
    env = {"GIT_EDITOR": adds(tmp_path, "mine")}
    with session(project, columns=400, env=env) as terminal:
        terminal.wait("[x] leave")
        other.commit("Answer", {"docs/a.md": "# A\nagent\n"})
        agent(other, "open", "main", "--agent", "claude", at=EPOCH + 60)
        share(other)
        work = project.rev("feature")
        screen = terminal.press("e", "iteration 2 arrived while you edited iteration 1")
        assert "iteration 2, work" in " ".join(screen)
        assert kept(project) == ["# A\nmine\n"]
        assert project.rev("feature") == work
        terminal.press("r", "Your feedback")
        terminal.press("Not yet.\r", "[y] sign and record")
        terminal.press("y", "the instance is now rejected")
        assert terminal.end() == 0
    [rejected] = decisions(project)
    assert rejected["iteration"] == 2


def test_an_iteration_that_came_while_validations_ran(tmp_path: Path, home: Path) -> None:
    slow = tmp_path / "slow"
    waits = f"while grep -q mine docs/a.md && [ -e {slow} ]; do sleep 0.05; done"
    project = waiting(tmp_path, home, validated(waits), PAGE)
    env = {"GIT_EDITOR": adds(tmp_path, "mine", f": > {slow}")}
    with session(project, columns=400, env=env) as terminal:
        terminal.wait("[x] leave")
        terminal.press("e", "goes through the validations of gate main now")
        terminal.wait("validation words: 1 path, 1 s")
        put_up(project, {"docs/a.md": "# A\nagent\n"})
        slow.unlink()
        screen = terminal.wait("iteration 2 arrived while you edited iteration 1")
        assert "iteration 2, work" in " ".join(screen)
    assert kept(project) == ["# A\nmine\n"]
    assert on(project, "feature") == "# A\nagent\n"


def test_an_instance_that_ended_meanwhile(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    work = project.rev("feature")
    saved, go = tmp_path / "saved", tmp_path / "go"
    slow = adds(tmp_path, "mine", f": > {saved}\nwhile [ ! -e {go} ]; do sleep 0.05; done")
    with session(project, columns=400, env={"GIT_EDITOR": slow}) as terminal:
        terminal.wait("[x] leave")
        terminal.keys("e")
        while not saved.exists():
            time.sleep(0.05)
        agent(project, "quit", "main", "--subject", "feature")
        go.touch()
        screen = terminal.wait("main of feature changed meanwhile: it was ended")
        assert "Status: withdrawn" in "\n".join(screen)
    assert project.rev("feature") == work
    assert kept(project) == ["# A\nmine\n"]


def test_commits_at_the_remote_that_nobody_put_up(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    other = elsewhere(project)
    other.commit("More to come", {"docs/b.md": "# B\n"})
    share(other)
    work = project.rev("feature")
    screen = edited(project, HINDERED, editor=adds(tmp_path, "mine"))
    tip = other.rev("feature")[:12]
    assert f"feature of origin has {tip}, which the reviewed commit does not contain" in screen
    assert project.rev("feature") == work
    assert on(project, "review/feature") == "# A\nmine\n"


@pytest.mark.parametrize("going", ["rebased", "bisected"])
def test_a_branch_that_git_will_come_back_to(tmp_path: Path, home: Path, going: str) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    project.git("switch", "--quiet", "feature")
    work = project.rev("feature")
    if going == "rebased":
        todo = {"GIT_SEQUENCE_EDITOR": "sed -i s/^pick/edit/"}
        project.git("rebase", "--quiet", "--interactive", "HEAD~1", env=todo)
    else:
        project.git("bisect", "start", "HEAD", "HEAD~1")
        project.git("checkout", "--quiet", "--detach")
    screen = edited(project, HINDERED, editor=adds(tmp_path, "mine"))
    assert f"the branch feature is being {going}" in screen
    assert project.rev("feature") == work
    if going == "rebased":
        project.git("commit", "--quiet", "--amend", "--message", "The agent goes on")
        project.git("rebase", "--continue")


def test_a_subject_that_is_no_branch_name(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    subject = "fix: the thing"
    agent(project, "open", "--subject", subject, "--commit", "feature")
    editor = adds(tmp_path, "mine")
    screen = edited(project, "no iteration was opened", editor=editor, subject=subject)
    assert "the subject 'fix: the thing' is no name for a branch" in screen
    assert "git merge review/fix-the-thing" in screen
    assert on(project, "review/fix-the-thing") == "# A\nmine\n"


def test_an_edit_of_what_the_gate_does_not_compare(tmp_path: Path, home: Path) -> None:
    policy = SOLO.replace("      approvals:", "      when: [src/**]\n      approvals:")
    project = waiting(tmp_path, home, policy, {**PAGE, "src/a.py": "1\n"})
    before = project.rev("feature")
    screen = edited(project, HINDERED, editor=adds(tmp_path, "mine"))
    assert "the gate compares nothing that your edit changes" in screen
    assert project.rev("feature") == before
    assert on(project, "review/feature") == "# A\nmine\n"


def test_a_branch_that_cannot_move_once_the_iteration_is_opened(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    before = project.rev("feature")
    lock = project.top / ".git" / "refs" / "heads" / "feature.lock"
    screen = edited(project, "your edit is iter", editor=adds(tmp_path, "mine", f": > {lock}"))
    lock.unlink()
    work = project.rev("review/feature")
    assert f"iteration 2, commit {work[:12]}, on the branch review/feature: refs/heads/" in screen
    assert "is locked by" in screen and "git merge review/feature" in screen
    assert project.rev("feature") == before
    shown = project.gate("show", "main", "--subject", "feature", "--json").json
    assert (shown["iteration"], shown["work"]) == (2, work)


def test_an_edit_that_no_branch_can_have_stays_in_its_file(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    project.git("branch", "review", "main")
    project.git("branch", "--force", "feature", "main")
    before = state(project)
    screen = edited(project, "no branch review/feature could be", editor=adds(tmp_path, "mine"))
    assert "git branch NAME" in screen and "(e goes on with it)" in screen
    assert state(project) == before
    assert kept(project) == ["# A\nmine\n"]


def test_a_remote_that_does_not_answer_is_a_warning(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    project.git("remote", "set-url", "origin", str(tmp_path / "gone.git"))
    screen = edited(project, "your edit is iteration 2", editor=adds(tmp_path, "mine"))
    assert "warning: origin could not be asked for news" in screen
    assert on(project, "feature") == "# A\nmine\n"


def elsewhere(project: Project) -> Project:
    """The agent's clone, with what was asked here."""
    share(project)
    other = another(project, "elsewhere")
    other.git("config", "gate.policyRef", "refs/heads/main")
    other.git("fetch", "--quiet", "origin", "refs/aiwg/gates/*:refs/aiwg/gates/*")
    other.git("switch", "--quiet", "feature")
    other.git("config", "user.name", "Agent")
    other.git("config", "user.email", "agent@example.com")
    return other


def share(project: Project) -> None:
    project.git("push", "--quiet", "origin", "feature", "refs/aiwg/gates/*:refs/aiwg/gates/*")
