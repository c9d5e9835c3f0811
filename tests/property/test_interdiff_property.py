"""Generated rebases: what git's range-diff calls the same commits is no change of the author's."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from support.difflab import LONG

from gitgate.core.change import Pair
from gitgate.git import interdiff
from gitgate.git.diffs import Diffs
from gitgate.git.interdiff import Side, Start
from gitgate.git.merge import GitTrees
from gitgate.git.repository import Repository

REBASES = 100 if LONG else 15
FILES = ("a.txt", "b.md", "sub/c.py")


class Lab:
    """A repository in which an author and a base go on, at random."""

    def __init__(self, folder: Path, rng: Random) -> None:
        self.folder, self.rng = folder, rng
        self.git("init", "-q")
        for name in FILES:
            self.write(name, [f"{name} line {number}" for number in range(60)])
        self.commit("start")

    def git(self, *args: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", *args], cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip() if done.returncode == 0 else "failed"

    def write(self, name: str, lines: list[str]) -> None:
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(f"{line}\n" for line in lines))

    def commit(self, message: str) -> str:
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def edit(self, word: str, first: int, last: int) -> str:
        """Change, add or drop a line of a file, between two lines; the file."""
        name = self.rng.choice(FILES)
        lines = (self.folder / name).read_text().splitlines()
        at = self.rng.randrange(first, last)
        how = self.rng.randrange(3) if len(lines) > 58 else 1
        if how == 0:
            lines[at] = f"{word} {self.rng.randrange(10**6)}"
        elif how == 1:
            lines.insert(at, f"{word} {self.rng.randrange(10**6)}")
        else:
            del lines[at]
        self.write(name, lines)
        return name

    def side(self, base: str, work: str) -> Side:
        trees = self.git("rev-parse", f"{base}^{{tree}}", f"{work}^{{tree}}")
        return Side(*trees.split())


def rebased(lab: Lab) -> tuple[str, str, str, str] | None:
    """(B1, W1, B2, W2) of a random branch and its clean rebase; None where it conflicts."""
    start = lab.git("rev-parse", "HEAD")
    lab.git("checkout", "-q", "-B", "author", start)
    for number in range(lab.rng.randrange(1, 4)):
        lab.edit("author", 20, 40)
        work = lab.commit(f"author {number}")
    lab.git("checkout", "-q", "-B", "base", start)
    for number in range(lab.rng.randrange(1, 4)):
        lab.edit("base", *lab.rng.choice([(0, 15), (45, 55), (18, 42)]))
        base = lab.commit(f"base {number}")
    lab.git("checkout", "-q", "author")
    if lab.git("rebase", "-q", "base", check=False) == "failed":
        lab.git("rebase", "--abort")
        lab.git("checkout", "-q", "--detach", base)
        return None
    return start, work, base, lab.git("rev-parse", "HEAD")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path, Random(11))


@pytest.fixture
def trees(lab: Lab) -> Iterator[GitTrees]:
    with GitTrees(Repository.open(lab.folder)) as found:
        yield found


def between(trees: GitTrees, old: Side, new: Side) -> tuple[Start, list[Pair]]:
    start = interdiff.start(trees, old, new)
    pairs = Diffs(trees).pairs(start.tree, new.work)
    return start, list(interdiff.apart(pairs, start.conflicts))


def test_rebases(lab: Lab, trees: GitTrees) -> None:
    same = 0
    for number in range(REBASES):
        found = rebased(lab)
        if found is None:
            continue
        b1, w1, b2, w2 = found
        marks = lab.git("range-diff", "--no-color", "--no-patch", f"{b1}..{w1}", f"{b2}..{w2}")
        old, new = lab.side(b1, w1), lab.side(b2, w2)
        start, pairs = between(trees, old, new)
        if all(line.split()[2] == "=" for line in marks.splitlines()):
            same += 1
            assert (start.conflicts, pairs) == ((), []), f"rebase {number}: {found}\n{marks}"
        # What the author then changes, in a commit or hidden in an amended one, is what is shown.
        name = lab.edit("later", 24, 36)
        lab.git("add", "--all")
        how = lab.rng.choice([["--amend", "--no-edit"], ["-m", "later"]])
        lab.git("commit", "-q", "--allow-empty", *how)
        mine = lab.side(b2, lab.git("rev-parse", "HEAD"))
        _, after = between(trees, old, mine)
        if not pairs and not start.conflicts:
            assert [one.path.decode() for one in after] == [name], f"rebase {number}"
            diffs = Diffs(trees)
            (only,) = after
            (alone,) = diffs.pairs(new.work, mine.work)
            assert diffs.patch(only, 3) == diffs.patch(alone, 3), f"rebase {number}"
        lab.git("checkout", "-q", "--detach", "HEAD")
    assert same > REBASES // 3
