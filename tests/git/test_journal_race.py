"""Writers of the journal at one moment: each gets through, and nothing that one named is lost."""

from __future__ import annotations

from pathlib import Path

from gitworld import git, race
from ledgerworld import GATE, world

from gitgate.core import ids
from gitgate.git import journal as journals
from gitgate.git import refs
from gitgate.git.journal import Index

WRITERS, EACH = 8, 3

# Each writer names its own ledgers, one after another, on the ref that all share.
ONE_REF = f"""
from gitworld import STAMP
from ledgerworld import GATE
from test_journal_git import step
from gitgate.core import ids
from gitgate.git import refs
from gitgate.git.journal import append
from gitgate.git.repository import Repository

def run(folder, number, wait):
    repo = Repository.open(folder)
    entries = [step(repo, f"s{{number}}-{{count}}") for count in range({EACH})]
    wait()
    for entry in entries:
        while True:
            own = refs.read(repo, ids.JOURNAL)
            new = append(repo, own, [entry], STAMP)
            try:
                refs.compare_and_swap(repo, ids.JOURNAL, new, own, "journal")
                break
            except refs.LostRace:
                continue
"""


def test_writers_of_one_repository(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    race(ONE_REF, tmp_path / "r", WRITERS)
    tip = refs.read(repo, ids.JOURNAL)
    assert tip
    named = {entry.subject: entry.tip for entry in Index(repo, tip).instances()}
    assert named == {
        subject: refs.read(repo, ids.ledger_ref(GATE, subject))
        for subject in (f"s{n}-{count}" for n in range(WRITERS) for count in range(EACH))
    }
    assert journals.defects(repo, None, tip) == ()
    git(repo.git_dir, "fsck", "--strict", "--no-dangling")


# Each writer has a journal of its own and pushes it; who loses makes it again on the winner's tip.
ONE_REMOTE = """
import subprocess
from gitworld import STAMP
from test_journal_git import step
from gitgate.core import ids
from gitgate.git.journal import append, goes_on_from, remake
from gitgate.git.repository import Repository

def push(folder, old, new):
    lease, refspec = f"--force-with-lease={ids.JOURNAL}:{old}", f"{new}:{ids.JOURNAL}"
    command = ["git", "push", "-q", lease, str(folder / "remote.git"), refspec]
    return subprocess.run(command, cwd=folder, capture_output=True).returncode

def run(folder, number, wait):
    repo = Repository.open(folder)
    mine = append(repo, None, [step(repo, f"s{number}")], STAMP)
    wait()
    while True:
        where = str(folder / "remote.git"), ids.JOURNAL
        seen = repo.git("ls-remote", *where).text.split()
        old = seen[0] if seen else ""
        if old:
            assert repo.git("fetch", "-q", "--no-write-fetch-head", *where).status == 0
            mine = remake(repo, old, mine, STAMP)
        if mine == old or push(folder, old, mine) == 0:
            return
"""


def test_writers_that_push_to_one_remote(tmp_path: Path) -> None:
    repo = world(tmp_path / "r")
    remote = tmp_path / "r" / "remote.git"
    git(tmp_path, "init", "-q", "--bare", str(remote))
    race(ONE_REMOTE, tmp_path / "r", WRITERS)
    tip = git(remote, "rev-parse", ids.JOURNAL)
    assert {entry.subject for entry in Index(repo, tip).instances()} == {
        f"s{number}" for number in range(WRITERS)
    }
    assert journals.defects(repo, None, tip) == ()
    git(remote, "fsck", "--strict", "--no-dangling")
