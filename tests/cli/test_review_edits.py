"""A reviewer's edit: a commit of theirs and the next iteration, or a branch beside the work."""

from __future__ import annotations

from pathlib import Path

from reviewkit import TEAM, decisions, session, waiting
from support.project import Project

LOGIN = "docs/UC-001-login.md"
EDITOR = "sed -i 's/step 3$/step three/'"


def edited(project: Project, until: str, *, editor: str = EDITOR, first: str = "") -> str:
    """Press `e` on the first artifact; the screen once it shows `until`."""
    with session(project, columns=400, env={"GIT_EDITOR": editor}) as terminal:
        terminal.wait("[x] leave")
        terminal.press("e", "which one to edit?")
        if first:
            terminal.press("\r", first)
        return " ".join(line.strip() for line in terminal.press("\r", until))


def test_an_edit_is_the_next_iteration(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    before = project.rev("feature")
    screen = edited(project, "your edit is iteration 2")
    work = project.rev("feature")
    assert f"commit {work[:12]}" in screen
    assert project.rev(f"{work}^") == before
    assert project.git("diff", "--numstat", before, work).out == f"1\t1\t{LOGIN}\n"
    said = project.git("log", "-1", "--format=%an <%ae>%n%B", work).out.split("\n")
    assert said[0] == "Ada Lovelace <ada@example.com>"
    assert said[1] == f"Edit {LOGIN} in review of main, iteration 1"
    request = project.gate("show", "main", "--subject", "feature", "--iteration", "1", "--json")
    assert said[3] == f"Edited-In-Review: {request.json['request']}"
    # The record of the approval says what was edited, and the asking side learns of the commit.
    with session(project) as terminal:
        terminal.wait("[x] leave")
        listed = terminal.press("v", "Artifacts: 3")
        assert f"{LOGIN} (viewed, edited by you)" in "\n".join(listed)
        terminal.press("b", "Options:")
        terminal.press("a", "[y] sign and record")
        terminal.press("y", "the instance is now approved")
        assert terminal.end() == 0
    [approved] = decisions(project)
    assert approved["reviewed"][0] == {"path": LOGIN, "viewed": True, "edited": True}
    told = project.gate("wait", "main", "--subject", "feature", "--json").ok().json
    assert told["reviewer_commit"] == work


def test_who_edits_is_an_author_and_is_told_so_before(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, TEAM)
    screen = edited(project, "your edit is iteration 2", first="makes you an author of the work")
    assert "may approve: bob@example.com " in screen
    with session(project) as terminal:
        terminal.wait("[x] leave")
        terminal.press("a", "[y] sign and record")
        terminal.press("y", "nothing was recorded")
    assert decisions(project) == []


def test_work_that_is_not_committed_is_never_touched(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    work = project.rev("feature")

    # Checked out here with changes.
    project.git("switch", "--quiet", "feature")
    project.write("docs/code.py", "mine = True\n")
    screen = edited(project, "no iteration was opened")
    assert "checked out here with changes not committed" in screen
    assert "your edit is on the branch review/feature" in screen
    assert "git merge review/feature" in screen
    assert (project.top / "docs/code.py").read_text() == "mine = True\n"
    assert project.rev("feature") == work
    changed = project.git("diff", "--name-only", work, "review/feature").out
    assert changed == f"{LOGIN}\n"

    # Checked out here and clean: index and files go along.
    project.git("checkout", "--quiet", "docs/code.py")
    edited(project, "your edit is iteration 2")
    assert "step three" in (project.top / LOGIN).read_text()
    assert project.git("status", "--porcelain", "--untracked-files=no").out == ""
    second = project.rev("feature")

    # The branch went on.
    later = project.commit("Not put up yet", {"docs/later.md": "# Later\n"})
    screen = edited(project, "no iteration was opened", editor="sed -i s/User/Person/")
    assert "not at the reviewed commit any more" in screen and "review/feature-2" in screen
    assert project.rev("feature") == later
    project.git("reset", "--quiet", "--hard", second)

    # Another work tree has it.
    project.git("switch", "--quiet", "main")
    project.git("worktree", "add", "--quiet", str(tmp_path / "agent"), "feature")
    screen = edited(project, "no iteration was opened", editor="sed -i s/User/Person/")
    assert "checked out in another work tree" in screen
    assert project.rev("feature") == second


def test_an_editor_that_fails_leaves_all_as_it_was(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    work = project.rev("feature")
    assert "the work is as it was" in edited(project, "you changed nothing", editor="true")
    edited(project, "the editor ended with 127", editor="/no/such/editor")
    failing = """sh -c 'echo kept >> "$1"; exit 3' x"""
    screen = edited(project, "the editor ended with 3", editor=failing)
    kept = Path(screen.split("your edit is kept in ")[1].split(" ")[0])
    assert kept.read_text().endswith("kept\n")
    assert project.rev("feature") == work


def test_the_commit_is_signed_where_the_reviewer_signs_commits(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    project.git("config", "commit.gpgSign", "true")
    project.git("config", "gpg.ssh.allowedSignersFile", ".aiwg/allowed_signers")
    edited(project, "your edit is iteration 2")
    assert project.git("verify-commit", "feature").status == 0
    said = project.git("log", "-1", "--format=%G? %s", "feature").out
    assert said == f"G Edit {LOGIN} in review of main, iteration 1\n"
    # What cannot be signed is no commit, and the edit is kept.
    work = project.rev("feature")
    project.git("config", "gpg.ssh.program", "/nowhere/ssh-keygen")
    screen = edited(project, "your edit is kept in", editor="sed -i 's/step 2$/step two/'")
    assert "git could not sign the commit of your edit" in screen
    assert project.rev("feature") == work
    [kept] = (project.top / ".git" / "git-gate" / "edits").glob("*/edit-UC-001-login.md")
    assert "step two" in kept.read_text()
