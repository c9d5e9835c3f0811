"""Refs: exact reads, complete lists, and writes that are compare-and-swap."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from gitworld import commit, git, make, python, race

from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.repository import Repository

NAME = "refs/aiwg/gates/g/s"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "a", commits=3)


@pytest.fixture
def repo(root: Path) -> Repository:
    return Repository.open(root)


def fatal(repo: Repository, name: str, old: str | None = None) -> GateError:
    with pytest.raises(GateError) as caught:
        refs.compare_and_swap(repo, name, repo.resolve("HEAD"), old, "m")
    assert caught.value.kind is Exit.FATAL
    return caught.value


def lost(repo: Repository, name: str, new: str, old: str | None) -> None:
    with pytest.raises(refs.LostRace) as caught:
        refs.compare_and_swap(repo, name, new, old, "m")
    assert caught.value.kind is Exit.LOST_RACE
    assert name in caught.value.message


def test_a_ref_moves_only_from_where_it_was_seen(repo: Repository) -> None:
    one, two, three = (repo.resolve(word) for word in ("HEAD~2", "HEAD~1", "HEAD"))
    lost(repo, NAME, two, one)
    refs.compare_and_swap(repo, NAME, one, None, "first")
    assert refs.read(repo, NAME) == one
    lost(repo, NAME, two, None)
    lost(repo, NAME, three, two)
    refs.compare_and_swap(repo, NAME, two, one, "second")
    git(repo.git_dir, "update-ref", NAME, three)
    lost(repo, NAME, one, two)
    assert refs.read(repo, NAME) == three
    assert not list(repo.git_dir.rglob("*.lock"))


def test_packed_refs(repo: Repository) -> None:
    one, two = repo.resolve("HEAD~1"), repo.resolve("HEAD")
    refs.compare_and_swap(repo, NAME, one, None, "m")
    git(repo.git_dir, "pack-refs", "--all", "--prune")
    assert not (repo.git_dir / NAME).exists()
    assert refs.read(repo, NAME) == one
    lost(repo, NAME, two, None)
    refs.compare_and_swap(repo, NAME, two, one, "m")
    assert refs.read(repo, NAME) == two
    assert git(repo.git_dir, "rev-parse", NAME) == two


def test_a_value_without_its_object_is_refused(repo: Repository) -> None:
    with pytest.raises(GateError, match="no such object"):
        refs.compare_and_swap(repo, NAME, "1" * 40, None, "m")


def test_forbidden_names(repo: Repository) -> None:
    for name in ("HEAD", "main", "refs/a..b", "refs/heads/x.lock", "refs/a b", "../x", "refs/-\0"):
        for question in (
            lambda name=name: refs.read(repo, name),
            lambda name=name: refs.compare_and_swap(repo, name, "1" * 40, None, "m"),
        ):
            with pytest.raises(GateError) as caught:
                question()
            assert caught.value.kind is Exit.USAGE, name


@pytest.mark.parametrize("packed", [False, True])
def test_names_in_each_other_s_way(repo: Repository, packed: bool) -> None:
    """Libgit2 would create a ref below or above a packed one, and git then lists both."""
    refs.compare_and_swap(repo, NAME, repo.resolve("HEAD"), None, "m")
    if packed:
        git(repo.git_dir, "pack-refs", "--all", "--prune")
    for name in ("refs/aiwg/gates/g", "refs/aiwg", f"{NAME}/deeper", f"{NAME}/still/deeper"):
        error = fatal(repo, name)
        assert f"while there is a ref {NAME}" in error.message, name
        assert NAME in error.hint
        assert refs.read(repo, name) is None, name
    assert [*refs.listing(repo, "refs/aiwg")] == [NAME]
    git(repo.git_dir, "fsck", "--strict")


def test_left_folders_are_in_nobody_s_way(repo: Repository) -> None:
    refs.compare_and_swap(repo, f"{NAME}/deeper", repo.resolve("HEAD"), None, "m")
    git(repo.git_dir, "update-ref", "-d", f"{NAME}/deeper")
    (repo.git_dir / NAME / "empty" / "folder").mkdir(parents=True)
    refs.compare_and_swap(repo, NAME, repo.resolve("HEAD"), None, "m")
    assert refs.read(repo, NAME) == repo.resolve("HEAD")


def test_a_lock_that_goes_away_is_waited_for(repo: Repository) -> None:
    lock = repo.git_dir / f"{NAME}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    script = "import sys, time, pathlib; time.sleep(0.3); pathlib.Path(sys.argv[1]).unlink()"
    with python(script, lock):
        refs.compare_and_swap(repo, NAME, repo.resolve("HEAD"), None, "m")
    assert refs.read(repo, NAME) == repo.resolve("HEAD")


def test_a_lock_that_a_killed_process_left(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refs, "LOCK_PATIENCE", 0.1)
    lock = repo.git_dir / f"{NAME}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    error = fatal(repo, NAME)
    assert str(lock) in error.message
    assert error.hint.startswith(f"rm {lock}")
    assert refs.stale_locks(repo) == []
    assert refs.stale_locks(repo, older_than=0) == [lock]
    old = time.time() - 3600
    os.utime(lock, (old, old))
    packed = repo.git_dir / "packed-refs.lock"
    packed.touch()
    os.utime(packed, (old, old))
    assert refs.stale_locks(repo) == [packed, lock]
    lock.unlink()
    refs.compare_and_swap(repo, NAME, repo.resolve("HEAD"), None, "m")
    assert refs.stale_locks(repo) == [packed]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user can reach (pytest's own cannot be entered by others)."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(folder)


_READ_ONLY = """
import os, sys
from pathlib import Path
from gitgate.errors import GateError
from gitgate.git import refs
from gitgate.git.repository import Repository
if os.geteuid() == 0:
    os.setuid(65534)
repo = Repository.open(Path(sys.argv[1]))
for attempt in (
    lambda: refs.compare_and_swap(repo, "refs/aiwg/gates/g/s", repo.resolve("HEAD"), None, "m"),
    lambda: repo.write_blob(b"new"),
):
    try:
        attempt()
    except GateError as error:
        print(int(error.kind), error.message, "|", error.hint)
"""


def test_read_only_folders(open_folder: Path) -> None:
    root = make(open_folder / "a")
    for folder in [*(root / ".git" / "refs").rglob("*"), *(root / ".git" / "objects").rglob("*")]:
        if folder.is_dir():
            folder.chmod(0o555)
    (root / ".git" / "refs").chmod(0o555)
    (root / ".git" / "objects").chmod(0o555)
    git(open_folder, "config", "--global", "safe.directory", "*")
    Path(os.environ["HOME"]).chmod(0o755)
    started = time.monotonic()
    config = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory"}
    env = {**config, "GIT_CONFIG_VALUE_0": "*", "HOME": str(open_folder)}
    out, err = python(_READ_ONLY, root, env=env).communicate()
    first, second = out.decode().splitlines() or [err.decode(), ""]
    assert first.startswith("128 refs/aiwg/gates/g/s cannot be written: ")
    assert f"check the access rights of {root / '.git/refs/aiwg/gates/g'}" in first
    assert second.startswith("128 a new blob cannot be stored: ")
    assert time.monotonic() - started < 60


def test_a_listing_is_what_git_lists(root: Path, repo: Repository) -> None:
    head = repo.resolve("HEAD")
    for name in (
        "refs/aiwg/gates/g/s",
        "refs/aiwg/gates/g2/s%41",
        "refs/aiwg/other",
        "refs/tags/t",
    ):
        git(root, "update-ref", name, head)
    git(root, "pack-refs", "--all")
    git(root, "update-ref", "refs/aiwg/gates/g/s", "HEAD~1")
    git(root, "update-ref", "refs/aiwg/gates/g/new", "HEAD~1")
    git(root, "update-ref", "-d", "refs/tags/t")
    git(root, "symbolic-ref", "refs/aiwg/gates/g/symbolic", "refs/heads/main")
    git(root, "symbolic-ref", "refs/aiwg/gates/g/dangling", "refs/heads/none")
    (root / ".git" / "refs" / "aiwg" / "gates" / "g" / "locked.lock").touch()
    (root / ".git" / "refs" / "aiwg" / ".hidden").mkdir()
    for prefix in ("refs/", "refs/aiwg/", "refs/aiwg/gates/g/", "refs/heads/", "refs/none/"):
        lines = git(root, "for-each-ref", "--format=%(refname) %(objectname)", prefix).split("\n")
        expected = dict(line.split() for line in lines if line)
        assert refs.listing(repo, prefix) == expected
        assert list(refs.listing(repo, prefix)) == sorted(expected)
    assert set(refs.listing(repo, "refs/aiwg/gates/g")) == {
        *refs.listing(repo, "refs/aiwg/gates/g/"),
        "refs/aiwg/gates/g2/s%41",
    }


def test_a_ref_without_its_object_is_listed(root: Path, repo: Repository) -> None:
    """Git leaves it out with a warning; here it has to be seen."""
    target = root / ".git" / NAME
    target.parent.mkdir(parents=True)
    target.write_text("1" * 40 + "\n")
    assert refs.listing(repo, "refs/aiwg/") == {NAME: "1" * 40}


def test_a_damaged_ref_is_no_absent_ref(root: Path, repo: Repository) -> None:
    target = root / ".git" / NAME
    target.parent.mkdir(parents=True)
    target.write_text("")
    for question in (lambda: refs.read(repo, NAME), lambda: refs.listing(repo, "refs/aiwg/")):
        with pytest.raises(GateError, match=NAME) as caught:
            question()
        assert caught.value.kind is Exit.UNTRUSTED


_PACKER_AND_LISTER = """
import subprocess
from gitgate.git import refs
from gitgate.git.repository import Repository

def run(folder, number, wait):
    repo = Repository.open(folder)
    wait()
    if number:
        for _ in range(300):
            found = refs.listing(repo, "refs/aiwg/")
            assert len(found) == 40, len(found)
    else:
        for count in range(60):
            value = "HEAD" if count % 2 else "HEAD~1"
            for args in (["update-ref", f"refs/aiwg/{count % 40}", value], ["pack-refs", "--all"]):
                subprocess.run(["git", "-C", folder, *args], check=True)
"""


def test_no_ref_is_missed_while_another_process_packs(root: Path) -> None:
    head = git(root, "rev-parse", "HEAD")
    for number in range(40):
        git(root, "update-ref", f"refs/aiwg/{number}", head)
    race(_PACKER_AND_LISTER, root, 2)


_FIRST_WRITER = """
from gitgate.git import refs
from gitgate.git.repository import Repository

def run(folder, number, wait):
    repo = Repository.open(folder)
    head = repo.commit(repo.resolve("HEAD"))
    mine = repo.write_commit(head.tree, (head.id,), head.author, head.author, str(number))
    wait()
    for name in range(20):
        try:
            refs.compare_and_swap(repo, f"refs/aiwg/gates/g/{name}", mine, None, "m")
            print(name, mine, flush=True)
        except refs.LostRace:
            pass
"""


def test_of_twenty_first_writers_each_ref_has_one_winner(root: Path, repo: Repository) -> None:
    claims = [line.split() for line in race(_FIRST_WRITER, root, 20)]
    assert sorted(int(number) for number, _ in claims) == list(range(20))
    for number, winner in claims:
        assert refs.read(repo, f"refs/aiwg/gates/g/{number}") == winner
    assert not list(repo.git_dir.rglob("*.lock"))


def test_the_reflog_says_why(repo: Repository) -> None:
    git(repo.git_dir, "config", "core.logAllRefUpdates", "always")
    fresh = Repository.open(repo.git_dir.parent)
    head = fresh.resolve("HEAD")
    refs.compare_and_swap(fresh, "refs/notes/x", head, None, "why it moved")
    assert "why it moved" in git(repo.git_dir, "reflog", "refs/notes/x")
    commit(repo.git_dir.parent, "and git goes on")
