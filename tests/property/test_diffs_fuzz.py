"""Whatever comes in: a sentence about what is wrong, or the right counts; never a crash."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path
from random import Random

import pygit2
from support.difflab import LINES, LONG, NAMES, changed, edited, lines, tree
from support.treekit import plant

from gitgate.core import lineage, remarkable, summary
from gitgate.core.change import File, Measured, Pair, counts, hunks, places
from gitgate.core.words import marked
from gitgate.errors import GateError
from gitgate.git.diffs import Diffs
from gitgate.git.merge import GitTrees
from gitgate.git.patches import compare
from gitgate.git.repository import Repository
from gitgate.ui import fulldiff

ROUNDS = 10_000 if LONG else 300
TREES = 1_000 if LONG else 40


def mutated(rng: Random, data: bytes) -> bytes:
    """The bytes with a few of them changed, dropped, repeated, or lines in another order."""
    some = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(some) + 1)
        how = rng.randrange(5)
        if how == 0 and at < len(some):
            some[at] = rng.randrange(256)
        elif how == 1:
            del some[at : at + rng.randrange(1, 20)]
        elif how == 2:
            some[at:at] = rng.choice([b"@@ -1 +1 @@\n", b"\n", b"\\ No newline\n", b"+", b"-"])
        elif how == 3:
            some[at:at] = some[at : at + rng.randrange(1, 40)]
        else:
            some[at:at] = rng.choice(LINES)
    return bytes(some)


def test_patches_that_are_whole_and_patches_that_are_not() -> None:
    rng = Random(12)
    for number in range(ROUNDS):
        old = lines(rng)
        new = edited(rng, old) if rng.randrange(4) else lines(rng)
        patch = compare(old, new, rng.choice([0, 0, 3]))
        added = sum(line.startswith(b"+") for line in patch.split(b"\n"))
        deleted = sum(line.startswith(b"-") for line in patch.split(b"\n"))
        found = [counts(hunk) for hunk in hunks(patch)]
        assert (sum(a for a, _ in found), sum(d for _, d in found)) == (added, deleted), number
        assert list(remarkable.of_text(old, new, patch)) is not None
        broken = mutated(rng, patch)
        with suppress(ValueError):
            for hunk in hunks(broken):
                context = sum(line.kind == " " for line in hunk.lines)
                more, less = counts(hunk)
                assert (less + context, more + context) == (hunk.old_length, hunk.new_length)
        assert sum(place.end - place.start for place in places(broken)) <= len(broken)


def test_the_summary_the_marks_and_the_comments() -> None:
    rng = Random(13)
    for number in range(ROUNDS):
        old = lines(rng)
        new = edited(rng, old)
        if not rng.randrange(50):
            new = new.replace(b"a", b"a\n" * 9000 if number % 2 else b"a " * 40_000, 1)
        patch = compare(old, new, 0, summary.NEAR)
        name = rng.choice([*NAMES, b"a.py", b"b.yml", b"c.json", b"d.rst"])
        told = summary.tell(name, patch, old, new, 5)
        assert len(told.items) <= 5
        assert bool(told.items) == (old != new), number
        for item in told.items:
            assert 0 < item.first <= item.last
            assert item.kind in "+~-"
        for line in (0, 1, rng.randrange(60)):
            now = lineage.carry(line, compare(old, new, 0), old, new)
            if now.line:
                before, after = old.split(b"\n")[line - 1], new.split(b"\n")[now.line - 1]
                assert before.strip() == after.strip(), number
        for hunk in hunks(compare(old, new, 3)):
            for line, pieces in zip(hunk.lines, marked(hunk.lines), strict=True):
                assert "".join(text for text, _ in pieces) == line.text
        pair = Pair(File(name, 0o100644, "1" * 40), File(name, 0o100644, "2" * 40))
        shown = fulldiff.file(
            Measured(pair, 1, 1, (0, 0)), hunks(compare(old, new, 3)), (), fulldiff.Palette()
        )
        for text in (row.text for row in shown):
            assert text.replace("\t", "").isprintable(), number


def test_trees_that_are_whole_and_trees_that_are_not(tmp_path: Path) -> None:
    rng = Random(14)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    repo = Repository.open(tmp_path)
    library = pygit2.Repository(str(tmp_path))
    kind = pygit2.enums.ObjectType.TREE
    refused = 0
    with GitTrees(repo) as trees:
        diffs = Diffs(trees)
        for _ in range(TREES):
            files = tree(rng)
            old = plant(repo, changed(rng, files))
            raw = mutated(rng, repo.read(plant(repo, files), "tree"))
            broken = str(library.odb.write(kind, raw))
            try:
                for pair in diffs.pairs(old, broken):
                    measured = diffs.measure(pair)
                    if measured.added is not None:
                        found = [counts(hunk) for hunk in hunks(diffs.patch(pair, 0))]
                        assert sum(a for a, _ in found) == measured.added
            except GateError:
                refused += 1
    assert refused > TREES // 2
