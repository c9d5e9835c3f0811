"""Two notes commits become one: by record, whatever their fan-out, whoever deleted what."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitworld import commit, git
from ledgerworld import record, world

from gitgate.core import ids
from gitgate.git import notes, refs
from gitgate.git.repository import Repository

ONE, TWO, THREE = (record("1" * 40, text) for text in ("One.", "Two.", "Three."))


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return world(tmp_path / "r")


def noted(repo: Repository, *records: bytes, on: str = "HEAD", start: str | None = None) -> str:
    """The notes commit that has these records on one commit, on top of `start`."""
    git(repo.git_dir, "update-ref", *(["-d", ids.NOTES] if start is None else [ids.NOTES, start]))
    for raw in records:
        notes.add(repo, repo.resolve(on), raw)
    tip = refs.read(repo, ids.NOTES)
    assert tip
    return tip


def pieces(repo: Repository, tip: str, on: str = "HEAD") -> set[bytes]:
    found = dict(notes.every(repo, None, _ref(repo, tip)))
    return {one.rstrip(b"\n") for one in notes.split_note(found.get(repo.resolve(on), b""))}


def _ref(repo: Repository, tip: str) -> str:
    git(repo.git_dir, "update-ref", "refs/notes/looked-at", tip)
    return "refs/notes/looked-at"


def stripped(*records: bytes) -> set[bytes]:
    return {one.rstrip(b"\n") for one in records}


def test_one_that_has_all_of_the_other(repo: Repository) -> None:
    older = noted(repo, ONE)
    newer = noted(repo, TWO, start=older)
    assert notes.unite(repo, older, newer) == newer
    assert notes.unite(repo, newer, older) == newer
    assert notes.unite(repo, newer, newer) == newer


def test_both_have_something(repo: Repository) -> None:
    start = noted(repo, ONE)
    ours, theirs = noted(repo, TWO, start=start), noted(repo, THREE, start=start)
    tip = notes.unite(repo, ours, theirs)
    assert repo.commit(tip).parents == (theirs, ours)
    assert repo.commit(tip).message == "Notes united by git-gate\n"
    assert pieces(repo, tip) == stripped(ONE, TWO, THREE)
    assert notes.unite(repo, ours, tip) == notes.unite(repo, theirs, tip) == tip


def test_without_a_common_history(repo: Repository) -> None:
    ours, theirs = noted(repo, ONE), noted(repo, TWO, on="HEAD~1")
    tip = notes.unite(repo, ours, theirs)
    assert pieces(repo, tip) == stripped(ONE)
    assert pieces(repo, tip, "HEAD~1") == stripped(TWO)


def test_a_deletion_deletes_nothing(repo: Repository) -> None:
    both = noted(repo, TWO, on="HEAD~1", start=noted(repo, ONE))
    git(repo.git_dir, "notes", "--ref=aiwg/gates", "remove", repo.resolve("HEAD"))
    less = refs.read(repo, ids.NOTES)
    assert less
    assert notes.lacking(repo, both, less) == [repo.resolve("HEAD")]
    assert notes.lacking(repo, less, both) == []
    assert notes.unite(repo, less, both) == both
    tip = notes.unite(repo, both, less)
    assert repo.commit(tip).parents == (less, both)
    assert pieces(repo, tip) == stripped(ONE)
    assert pieces(repo, tip, "HEAD~1") == stripped(TWO)


def test_whatever_the_fan_out(repo: Repository, tmp_path: Path) -> None:
    """Stock git and ours split a large tree in their own ways: the same notes are no difference."""
    commits = [commit(tmp_path / "r", f"c{number}") for number in range(300)]
    git(repo.git_dir, "update-ref", "-d", ids.NOTES)
    notes.add_many(repo, {one: [ONE] for one in commits})
    ours = refs.read(repo, ids.NOTES)
    lines = "".join(f"N inline {one}\ndata {len(ONE)}\n{ONE.decode()}\n" for one in commits)
    who = "committer Ada <ada@example.com> 1764565200 +0000"
    stream = f"commit refs/notes/stock\n{who}\ndata 1\nx\n{lines}"
    git(repo.git_dir, "fast-import", "--quiet", stdin=stream.encode())
    theirs = refs.read(repo, "refs/notes/stock")
    assert ours
    assert theirs
    assert repo.commit(ours).tree != repo.commit(theirs).tree
    assert notes.lacking(repo, ours, theirs) == notes.lacking(repo, theirs, ours) == []
    assert notes.unite(repo, ours, theirs) == theirs


def test_a_note_that_would_become_too_large(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other notes are united all the same; the ledger has what did not fit."""
    ours = noted(repo, THREE, on="HEAD~1", start=noted(repo, ONE))
    theirs = noted(repo, TWO)
    monkeypatch.setattr(notes, "MAX_NOTE", len(TWO) + 10)
    cut: list[str] = []
    tip = notes.unite(repo, ours, theirs, cut)
    assert pieces(repo, tip) == stripped(TWO)
    assert pieces(repo, tip, "HEAD~1") == stripped(THREE)
    assert len(cut) == 1
    assert "would be larger than" in cut[0]
