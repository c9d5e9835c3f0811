"""The journal in `sync`: what it names, what it keeps, and what is in its way."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from outputs import Clock
from support.project import TEAM, Project, make_project
from support.server import guard
from synckit import SAME, another, opened, refs_of

from gitgate.git.journal import Index
from gitgate.git.repository import Repository

PEOPLE = (("Ada Lovelace", "ada@example.com"), ("Bob Babbage", "bob@example.com"))
JOURNALED = TEAM.replace("policy_gate: main", "journal: true\n  policy_gate: main")
LEDGER, JOURNAL = "refs/aiwg/gates/main/feature", "refs/heads/aiwg/journal"
MONTH = 31 * 24 * 3600


@pytest.fixture
def journaled(tmp_path: Path, home: Path, clock: Clock) -> Project:
    return make_project(tmp_path, home, JOURNALED, PEOPLE, hook=False)


def test_a_plain_clone_has_everything(journaled: Project) -> None:
    opened(journaled)
    sent = "main of feature: 1 event to origin\njournal: sent to origin\n"
    assert journaled.gate("sync").ok().out == sent
    assert journaled.gate("sync").ok().out == SAME
    bob = another(journaled, "bob", journaled.people["bob"])
    assert bob.gate("show", "main", "--subject", "feature").ok()
    came = "main of feature: 1 event from origin\njournal: taken from origin\n"
    assert bob.gate("sync").ok().out == came
    assert refs_of(bob.top) == refs_of(journaled.remote)


def test_an_ended_instance_goes_and_comes_again(journaled: Project, clock: Clock) -> None:
    opened(journaled)
    journaled.gate("withdraw").ok()
    journaled.gate("sync").ok()
    bob = another(journaled, "bob", journaled.people["bob"])
    bob.gate("sync").ok()
    tip = journaled.rev(LEDGER)
    clock.now += MONTH
    assert journaled.gate("sync").ok().out == (
        "main of feature: removed here and on origin\n"
        "  its instance ended long ago; the journal keeps its ledger\n"
    )
    assert list(refs_of(journaled.top)) == list(refs_of(journaled.remote)) == [JOURNAL]
    assert journaled.gate("sync").ok().out == SAME
    # The clone that still has the ref does not bring it back; when it is due there, it goes too.
    bob.gate("sync").ok()
    assert list(refs_of(journaled.remote)) == list(refs_of(bob.top)) == [JOURNAL]
    bob.git("switch", "--quiet", "feature")
    bob.commit("again", {"feature.md": "# again\n"})
    bob.gate("open").ok()
    assert bob.git("merge-base", "--is-ancestor", tip, LEDGER).status == 0
    bob.gate("sync").ok()
    journaled.gate("sync").ok()
    assert refs_of(journaled.top) == refs_of(bob.top) == refs_of(journaled.remote)
    assert LEDGER in refs_of(journaled.top)


def test_a_branch_in_the_way_here(journaled: Project) -> None:
    opened(journaled)
    journaled.git("branch", "aiwg")
    done = journaled.gate("sync")
    assert done.status == 128
    assert done.out == "main of feature: 1 event to origin\njournal: not exchanged\n"
    assert done.err == (
        "git-gate: the branch aiwg of this repository is in the way of the journal, the branch"
        " aiwg/journal\nhint: git branch -m aiwg aiwg-branch\n"
    )
    journaled.git("branch", "-m", "aiwg", "aiwg-branch")
    assert journaled.gate("sync").ok().out == "journal: sent to origin\n"


def test_a_branch_in_the_way_there(journaled: Project) -> None:
    opened(journaled)
    journaled.git("push", "--quiet", "origin", "HEAD:refs/heads/aiwg")
    done = journaled.gate("sync")
    assert done.status == 128
    assert done.out == "main of feature: 1 event to origin\njournal: refused by origin\n"
    assert "git-gate: the branch aiwg of origin is in the way of the journal" in done.err
    hint = done.err.splitlines()[-1].removeprefix("hint: ")
    subprocess.run(hint, cwd=journaled.top, check=True, capture_output=True, shell=True)
    assert journaled.gate("sync").ok().out == "journal: sent to origin\n"


def test_two_journals_at_once(journaled: Project) -> None:
    opened(journaled)
    journaled.gate("sync").ok()
    bob = another(journaled, "bob", journaled.people["bob"])
    bob.gate("sync").ok()
    for clone, subject in ((journaled, "one"), (bob, "two")):
        clone.gate("open", "main", "--subject", subject, "--commit", "origin/feature").ok()
        clone.gate("sync").ok()
    journaled.gate("sync").ok()
    assert refs_of(journaled.top) == refs_of(bob.top) == refs_of(journaled.remote)
    assert bob.gate("sync").ok().out == SAME


def test_another_file_on_the_journal_stays(journaled: Project) -> None:
    opened(journaled)
    journaled.gate("sync").ok()
    beside = journaled.top.parent / "beside"
    journaled.git("worktree", "add", "--quiet", str(beside), "aiwg/journal")
    (beside / "workflow.yml").write_text("on: push\n")
    for args in (
        ["add", "."],
        ["commit", "-q", "-m", "A workflow"],
        ["push", "-q", "origin", "HEAD"],
    ):
        subprocess.run(["git", *args], cwd=beside, check=True)
    bob = another(journaled, "bob", journaled.people["bob"])
    bob.gate("sync").ok()
    bob.gate("open", "main", "--subject", "two", "--commit", "origin/feature").ok()
    bob.gate("sync").ok()
    assert journaled.gate("sync").ok().out == (
        "main of two: 1 event from origin\njournal: taken from origin\n"
    )
    assert journaled.git("show", "aiwg/journal:workflow.yml").out == "on: push\n"


def committed(tree: Path, message: str) -> None:
    for args in (["add", "--all"], ["commit", "--quiet", "-m", message]):
        subprocess.run(["git", *args], cwd=tree, check=True)


def checked_out(project: Project) -> Path:
    """A work tree of the journal, in which somebody writes a further file."""
    beside = project.top.parent / "beside"
    project.git("worktree", "add", "--quiet", str(beside), "aiwg/journal")
    (beside / "workflow.yml").write_text("on: push\n")
    return beside


def named(project: Project) -> set[str]:
    index = Index(Repository.open(project.top), project.rev("aiwg/journal"))
    return {entry.subject for entry in index.instances()}


@pytest.mark.parametrize("hooked", [False, True])
def test_a_checkout_of_the_journal_goes_along(journaled: Project, hooked: bool) -> None:
    if hooked:
        guard(journaled.remote)
    opened(journaled)
    journaled.gate("sync").ok()
    beside = checked_out(journaled)
    journaled.git("switch", "--quiet", "main")
    opened(journaled, "second")
    journaled.gate("sync").ok()
    committed(beside, "A workflow")
    assert journaled.gate("sync").ok().out == "journal: sent to origin\n"
    assert named(journaled) == {"feature", "second"}
    assert journaled.git("show", "aiwg/journal:workflow.yml").out == "on: push\n"
    bob = another(journaled, "bob", journaled.people["bob"])
    bob.gate("sync").ok()
    assert bob.gate("sync").ok().out == SAME


def test_a_change_in_the_way_of_the_journal(journaled: Project) -> None:
    opened(journaled)
    journaled.gate("sync").ok()
    beside = checked_out(journaled)
    [file] = beside.glob("main/*.tsv")
    file.write_text("mine\n")
    before = journaled.rev("aiwg/journal")
    journaled.gate("withdraw").ok()
    done = journaled.gate("sync")
    assert done.status == 1
    assert f"the journal is checked out in {beside}, with changes that are in its way" in done.err
    assert journaled.rev("aiwg/journal") == before
    [hint] = [line for line in done.err.splitlines() if line.startswith("hint: ")]
    command = hint.removeprefix("hint: ").partition(", then ")[0]
    subprocess.run(command, shell=True, check=True, capture_output=True)
    assert journaled.gate("sync").ok().out == "journal: sent to origin\n"
    assert "withdrawn" in file.read_text()


@pytest.mark.parametrize("hooked", [False, True])
def test_a_commit_that_takes_back_what_the_journal_names(journaled: Project, hooked: bool) -> None:
    """As a checkout that stayed behind made it: the file stays, the loss does not go out."""
    if hooked:
        guard(journaled.remote)
    opened(journaled)
    journaled.gate("sync").ok()
    beside = checked_out(journaled)
    for file in beside.glob("main/*.tsv"):
        file.unlink()
    committed(beside, "A workflow")
    assert journaled.gate("sync").ok().out == (
        "journal: put together with origin\n"
        "  commits made here took back what it names, and were made again without that\n"
    )
    assert named(journaled) == {"feature"}
    assert [*beside.glob("main/*.tsv")]
    assert journaled.git("show", "aiwg/journal:workflow.yml").out == "on: push\n"
    assert journaled.rev("aiwg/journal") == refs_of(journaled.remote)[JOURNAL]
    assert journaled.gate("sync").ok().out == SAME


def test_a_second_remote_has_deleted_nothing(journaled: Project, tmp_path: Path) -> None:
    """The journal that origin has names what another remote never had."""
    opened(journaled)
    journaled.gate("sync").ok()
    backup = tmp_path / "backup.git"
    subprocess.run(["git", "init", "--quiet", "--bare", backup], check=True)
    journaled.git("remote", "add", "backup", str(backup))
    assert journaled.gate("sync", "backup").ok().out == (
        "main of feature: 1 event to backup\njournal: sent to backup\n"
    )
    assert refs_of(backup) == refs_of(journaled.remote)
    subprocess.run(["git", "-C", backup, "update-ref", "-d", LEDGER], check=True)
    assert journaled.gate("sync", "backup").ok().out == (
        "main of feature: put back on backup\n  it was deleted on backup, and this is put back\n"
    )
