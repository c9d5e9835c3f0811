"""Diffs against git's own: the same files, statuses and counts, and patches that can be read."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from support.difflab import LONG, changed, numstat, raw, tree
from support.treekit import plant

from gitgate.core.change import Measured, Status, counts, hunks
from gitgate.git.diffs import Diffs
from gitgate.git.merge import GitTrees
from gitgate.git.repository import Repository

PAIRS = 500 if LONG else 60
LETTERS = {
    Status.ADDED: "A",
    Status.DELETED: "D",
    Status.MODIFIED: "M",
    Status.RENAMED: "R",
    Status.RETYPED: "T",
}


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return Repository.open(tmp_path)


@pytest.fixture
def diffs(repo: Repository) -> Iterator[Diffs]:
    with GitTrees(repo) as trees:
        yield Diffs(trees)


def names(file: Measured) -> tuple[bytes, bytes]:
    old, new = file.pair.old, file.pair.new
    return (old or new).path, (new or old).path  # type: ignore[union-attr]


def said(file: Measured) -> tuple[str, str]:
    return ("-", "-") if file.added is None else (str(file.added), str(file.deleted))


def shape(file: Measured) -> tuple[str, str, str]:
    old, new = (f"{one.mode:06o}" if one else "000000" for one in (file.pair.old, file.pair.new))
    return LETTERS[file.pair.status], old, new


def test_files_statuses_and_counts_are_gits(repo: Repository, diffs: Diffs) -> None:
    rng = Random(5)
    seen: set[str] = set()
    for number in range(PAIRS):
        files = tree(rng)
        old, new = plant(repo, files), plant(repo, changed(rng, files))
        measured = [diffs.measure(pair) for pair in diffs.pairs(old, new)]
        where = f"pair {number}: {old} {new}"
        assert {names(one): said(one) for one in measured} == numstat(repo.git_dir, old, new), where
        assert {names(one): shape(one) for one in measured} == raw(repo.git_dir, old, new), where
        seen |= {shape(one)[0] for one in measured} | {said(one)[0] for one in measured}
        for one in measured:
            for context in (0, 3):
                found = [counts(hunk) for hunk in hunks(diffs.patch(one.pair, context))]
                if one.added is not None:
                    assert sum(a for a, _ in found) == one.added, where
                    assert sum(d for _, d in found) == one.deleted, where
    assert {"A", "D", "M", "R", "T", "-", "0", "1"} <= seen


def test_the_lines_of_a_patch_make_the_new_text_of_the_old(repo: Repository, diffs: Diffs) -> None:
    rng = Random(6)
    for number in range(PAIRS):
        files = tree(rng)
        old, new = plant(repo, files), plant(repo, changed(rng, files))
        for pair in diffs.pairs(old, new):
            before, after = (diffs.content(one) if one else b"" for one in (pair.old, pair.new))
            patch = diffs.patch(pair, rng.randrange(4))
            assert applied(before, patch) == after, f"pair {number}: {pair}"


def applied(old: bytes, patch: bytes) -> bytes:
    """What the hunks make of a text, by their numbers and lines alone."""
    before = old.split(b"\n")
    before = [line + b"\n" for line in before[:-1]] + ([before[-1]] if before[-1] else [])
    after: list[bytes] = []
    at = 0
    for hunk in hunks(patch):
        start = hunk.old_start - (hunk.old_length > 0)
        after += before[at:start]
        at = start
        for line, following in zip(hunk.lines, [*hunk.lines[1:], None], strict=True):
            bare = following is not None and following.kind == "\\"
            text = line.text.encode("utf-8", "surrogateescape") + (b"" if bare else b"\n")
            if line.kind in " -":
                assert (before[at], line.old) == (text, at + 1)
                at += 1
            if line.kind in " +":
                after.append(text)
                assert line.new == len(after)
    return b"".join(after + before[at:])
