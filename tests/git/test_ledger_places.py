"""Ledgers and notes are written alike in every kind of repository."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from gitworld import git, make
from ledgerworld import GATE, REF, SUBJECT, add, decide, opened, record, world

from gitgate.core import ids
from gitgate.git import ledger as ledgers
from gitgate.git import notes, refs
from gitgate.git.repository import Repository


def plain(source: Path, place: Path) -> Path:
    git(source, "clone", "-q", ".", str(place))
    return place


def bare(source: Path, place: Path) -> Path:
    git(source, "clone", "-q", "--bare", ".", str(place))
    return place


def linked(source: Path, place: Path) -> Path:
    git(source, "worktree", "add", "-q", "--detach", str(place))
    return place


def submodule(source: Path, place: Path) -> Path:
    make(place)
    git(place, "submodule", "--quiet", "add", str(source), "sub")
    return place / "sub"


def alternates(source: Path, place: Path) -> Path:
    git(source, "clone", "-q", "--shared", ".", str(place))
    return place


def shared(source: Path, place: Path) -> Path:
    git(source, "clone", "-q", "-c", "core.sharedRepository=group", ".", str(place))
    return place


def partial(source: Path, place: Path) -> Path:
    git(source, "config", "uploadpack.allowFilter", "true")
    git(source, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(source, "clone", "-q", "--filter=blob:none", source.as_uri(), str(place))
    return place


@pytest.mark.parametrize(
    "kind",
    [plain, bare, linked, submodule, alternates, shared, partial],
    ids=lambda kind: kind.__name__,
)
def test_ledger_and_notes(tmp_path: Path, kind: Callable[[Path, Path], Path]) -> None:
    world(tmp_path / "source")
    place = kind(tmp_path / "source", tmp_path / "place")
    repo = Repository.open(place)
    head = repo.resolve("HEAD")
    add(repo, opened(repo))
    git(place, "pack-refs", "--all", "--prune")
    written = decide(repo, data=(b"data",))
    notes.add(repo, head, record(head))
    git(place, "gc", "-q")
    notes.add(repo, head, record(head, "after gc"))

    fresh = Repository.open(place)
    assert ledgers.read(fresh, GATE, SUBJECT) == written
    assert (written.faults, len(written.events)) == ((), 2)
    assert sorted(refs.listing(fresh, "refs/aiwg/")) == [REF]
    assert notes.read(fresh, head) == record(head) + b"\n" + record(head, "after gc")
    assert git(place, "notes", f"--ref={ids.NOTES}", "list").split()[1:] == [head]
    assert git(place, "rev-parse", REF) == written.tip
    git(place, "fsck", "--strict", "--no-dangling")
    if kind is linked:
        assert git(tmp_path / "source", "rev-parse", REF) == written.tip
    if kind is shared:
        mode = (fresh.common_dir / ids.NOTES).stat().st_mode
        assert mode & stat.S_IWGRP
