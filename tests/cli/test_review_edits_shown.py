"""What the asking side and the next reviewer see of a reviewer's edit; what cannot be forged."""

from __future__ import annotations

from pathlib import Path

from editkit import PAGE, adds, edited
from reviewkit import agent, waiting
from support.project import Project

DID = "ada@example.com edited docs/a.md in review"
OWN = f"the reviewer's own change: {DID}"
CLAIM = f"said to be a reviewer's: {DID}"


def test_an_edit_is_a_fact_of_its_own(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    screen = edited(project, "your edit is iteration 2", editor=adds(tmp_path, "mine"))
    work = project.rev("feature")
    assert f"{CLAIM}, commit {work[:12]}, which is not signed" in screen
    assert "the asking side says" not in screen
    edit = {"commit": work, "path": "docs/a.md", "by": "ada@example.com", "signed": False}
    assert shown(project) == (edit, work)


def test_a_signed_edit_is_proven(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    project.git("config", "commit.gpgSign", "true")
    screen = edited(project, "your edit is iteration 2", editor=adds(tmp_path, "mine"))
    work = project.rev("feature")
    assert f"{OWN}, commit {work[:12]}, signed by them" in screen
    edit = {"commit": work, "path": "docs/a.md", "by": "ada@example.com", "signed": True}
    assert shown(project) == (edit, work)


def test_an_edits_iteration_is_sent_as_any_other(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    project.git("config", "gate.autoSync", "true")
    edited(project, "your edit is iteration 2", editor=adds(tmp_path, "mine"))
    there = project.git("ls-remote", "origin", project.ledger()).out
    assert there.split("\t")[0] == project.rev(project.ledger())


def test_an_agents_commit_is_no_reviewers(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    forge(project, "docs/a.md", name="Agent", email="agent@example.com")
    assert shown(project) == (None, None)
    # Nor is it one where only the author is a listed person, or where it changes more than a file.
    forge(project, "docs/a.md", author="Ada Lovelace <ada@example.com>")
    assert shown(project) == (None, None)
    project.write("docs/b.md", "more\n")
    forge(project, "docs/a.md", name="Ada Lovelace", email="ada@example.com")
    assert shown(project) == (None, None)


def test_nobodys_signature_but_the_authors_counts(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    project.git("config", "commit.gpgSign", "true")
    project.git("config", "user.signingKey", str(project.people["bob"].key))
    forge(project, "docs/a.md", name="Ada Lovelace", email="ada@example.com")
    edit, _ = shown(project)
    assert edit is not None
    assert edit["signed"] is False


def forge(
    project: Project, path: str, *, name: str = "", email: str = "", author: str = ""
) -> None:
    """Put up a commit that says of itself what a reviewer's edit says."""
    request = project.gate("show", "main", "--subject", "feature", "--json").json["request"]
    project.git("switch", "--quiet", "feature")
    if name:
        project.git("config", "user.name", name)
        project.git("config", "user.email", email)
    with (project.top / path).open("a") as file:
        file.write("forged\n")
    message = f"Edit {path} in review of main, iteration 1\n\nEdited-In-Review: {request}\n"
    project.commit(message, author=author or None)
    agent(project, "open", "-m", f"Ada Lovelace edited {path} in review")


def shown(project: Project) -> tuple[dict[str, object] | None, str | None]:
    """What `show` and `wait` say of the newest iteration."""
    about = ("main", "--subject", "feature", "--json")
    edit = project.gate("show", *about).json["reviewer_edit"]
    told = project.gate("wait", *about, "--timeout", "0").json["reviewer_commit"]
    return edit, told
