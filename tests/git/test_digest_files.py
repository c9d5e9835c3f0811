"""The files of what a clone remembers: their bytes, and that several writers do no harm."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

from gitworld import git, make, race

from gitgate.app.digests.digests import (
    DIGESTS,
    NOTED,
    Book,
    Place,
    load,
    read_book,
    save,
    write_book,
)
from gitgate.core.digest import Digest
from gitgate.git.repository import Repository

A, B, C = (letter * 40 for letter in "abc")
QUIET = Digest("main/x", "x", A, A, "e-", B, "-", f"0:{C}", f"{B},{C}")
OTHER = Digest("main/y", "y", A, A, "er", B, "-", f"0:{C}", B)
REST = (
    f"journal {C}\nrows 225\n"
    f"landed main refs/heads/main 0123456789abcdef {C} 265 {2 * 48}\n\n"
    f"main/y\ty\t{A}\t{A}\ter\t{B}\t-\t0:{C}\t{B}\t-\t\n"
    f"main/x\tx\t{A}\t{A}\te-\t{B}\t-\t0:{C}\t{B},{C}\t-\t\n"
    f"main/x:{B}\nmain/x:{C}\n"
)


def book() -> Book:
    places = [Place("main", "refs/heads/main", "0123456789abcdef", C)]
    return Book(C, places, {one.place: one for one in (QUIET, OTHER)})


def test_the_bytes(tmp_path: Path) -> None:
    repo = Repository.open(make(tmp_path / "repo"))
    write_book(repo, book(), [])
    file = repo.common_dir / "git-gate" / "digests"
    told = hashlib.sha1(REST.encode(), usedforsecurity=False).hexdigest()
    assert file.read_bytes().decode() == f"git-gate digests 2 {told}\n{REST}"
    assert list(file.parent.iterdir()) == [file]
    found = read_book(repo)
    assert (found.journal, found.rows, found.size()) == (C, {"main/y": OTHER}, 2)
    assert found.places[0].noted == f"\nmain/x:{B}\nmain/x:{C}\n".encode()
    assert found.row("main/x") == QUIET
    assert (found.places[0].quiet, found.places[0].noted) == (b"\n", b"\n")
    assert found.row("main/z") is None


def test_an_instance_with_a_ref_is_not_quiet(tmp_path: Path) -> None:
    repo = Repository.open(make(tmp_path / "repo"))
    write_book(repo, book(), ["main/x"])
    assert read_book(repo).rows == {"main/y": OTHER, "main/x": QUIET}


def test_a_shared_repository(tmp_path: Path) -> None:
    """Whoever else pushes to a server reads what one of them has verified."""
    folder = make(tmp_path / "repo")
    git(folder, "config", "core.sharedRepository", "group")
    repo = Repository.open(folder)
    save(repo, NOTED, [f"tree {A}"], [b"x\n"])
    mode = (repo.common_dir / "git-gate" / "noted").stat().st_mode
    assert stat.S_IMODE(mode) & 0o060 == 0o060
    assert load(repo, NOTED) == ([f"tree {A}"], b"\nx\n")


_WRITERS = """
from gitgate.app.digests.digests import load, save
from gitgate.git.repository import Repository

def run(folder, number, wait):
    repo = Repository.open(folder)
    wait()
    for _ in range(50):
        save(repo, "digests", [f"writer {number}"], [b"%d\\n" % number * 10_000])
        head, body = load(repo, "digests")
        (writer,) = {*body.split()}
        assert head == [f"writer {int(writer)}"], head
"""


def test_many_writers(tmp_path: Path) -> None:
    """The file is always the whole file of one of them."""
    folder = make(tmp_path / "repo")
    race(_WRITERS, folder, 6)
    left = list((folder / ".git" / "git-gate").iterdir())
    assert [file.name for file in left] == [DIGESTS]
