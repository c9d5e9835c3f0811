"""A writer that is killed at any moment leaves the old ledger or the new one, and sound objects."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from gitworld import git, python
from ledgerworld import GATE, REF, SUBJECT, add, decide, opened, world

from gitgate.core import ids
from gitgate.errors import GateError
from gitgate.git import ledger as ledgers
from gitgate.git import notes, refs
from gitgate.git.repository import Repository

# The child patches one step so that the process ends there by SIGKILL: after the n-th object, when
# the ref's lock is held, when the ref has moved, or (n past the last object) not at all.
_VICTIM = """
import os, signal, sys
from pathlib import Path
import pygit2
from ledgerworld import *
from gitgate.git import notes, objects, refs
from gitgate.git.repository import Repository

def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

folder, step, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
write, written = objects.Objects.write, []
def counted(self, kind, data):
    oid = write(self, kind, data)
    written.append(oid)
    if step == "object" and len(written) == count:
        die()
    return oid
objects.Objects.write = counted
if step == "before":
    refs.compare_and_swap = die
if step == "locked":
    pygit2.ReferenceTransaction.set_target = die
if step == "after":
    leave = pygit2.ReferenceTransaction.__exit__
    def left(self, *args):
        leave(self, *args)
        die()
    pygit2.ReferenceTransaction.__exit__ = left
repo = Repository.open(Path(folder))
if sys.argv[4] == "ledger":
    decide(repo, "killed", (b"data",))
else:
    notes.add(repo, repo.resolve("HEAD"), record(repo.resolve("HEAD"), "killed"))
print(len(written))
"""


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    repo = world(tmp_path / "a")
    add(repo, opened(repo))
    notes.add(repo, repo.resolve("HEAD~1"), b"first\n")
    return repo


def run(repo: Repository, step: str, count: int, what: str) -> tuple[int, str]:
    victim = python(_VICTIM, repo.git_dir, step, str(count), what)
    out, err = victim.communicate()
    assert victim.returncode in (0, -signal.SIGKILL), err.decode()
    return victim.returncode, out.decode().strip()


def is_sound(repo: Repository, what: str, old: str, arrived: bool) -> None:
    git(repo.git_dir, "fsck", "--strict")
    fresh = Repository.open(repo.git_dir)
    if what == "ledger":
        ledger = ledgers.read(fresh, GATE, SUBJECT)
        assert ledger.faults == ()
        assert len(ledger.events) == 1 + arrived
    else:
        assert (b"killed" in notes.read(fresh, fresh.resolve("HEAD"))) == arrived
        assert notes.read(fresh, fresh.resolve("HEAD~1")) == b"first\n"
    assert (refs.read(fresh, REF if what == "ledger" else ids.NOTES) != old) == arrived


@pytest.mark.parametrize("what", ["ledger", "notes"])
def test_killed_at_every_point(
    repo: Repository, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = REF if what == "ledger" else ids.NOTES
    old = refs.read(repo, name)
    assert old
    count = 0
    while True:
        count += 1
        status, objects = run(repo, "object", count, what)
        if status == 0:
            break
        is_sound(repo, what, old, arrived=False)
    assert count == int(objects) + 1 >= (10 if what == "ledger" else 3)
    is_sound(repo, what, old, arrived=True)
    git(repo.git_dir, "update-ref", name, old)

    assert run(repo, "before", 0, what)[0] != 0
    is_sound(repo, what, old, arrived=False)

    assert run(repo, "after", 0, what)[0] != 0
    is_sound(repo, what, old, arrived=True)
    git(repo.git_dir, "update-ref", name, old)

    assert run(repo, "locked", 0, what)[0] != 0
    is_sound(repo, what, old, arrived=False)
    lock = repo.git_dir / f"{name}.lock"
    assert refs.stale_locks(repo, older_than=0) == [lock]
    monkeypatch.setattr(refs, "LOCK_PATIENCE", 0.1)
    with pytest.raises(GateError, match="locked by") as caught:
        _write_again(repo, what)
    assert str(lock) in caught.value.hint
    lock.unlink()
    _write_again(repo, what)
    is_sound(repo, what, old, arrived=True)


def _write_again(repo: Repository, what: str) -> None:
    if what == "ledger":
        decide(repo, "killed", (b"data",))
    else:
        notes.add(repo, repo.resolve("HEAD"), b"killed\n")
