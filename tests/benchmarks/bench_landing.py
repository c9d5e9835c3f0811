"""What the landing rule costs in a tree of 100,000 files, beside libgit2's merge of whole trees.

`python tests/benchmarks/bench_landing.py [ROUNDS]`: a landing of a few files over a target that
has moved, judged by `walk` on caches that hold nothing, with a merge of contents in it; exit 1
where it takes more than 20 ms or more than a quarter of the time of libgit2's merge.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pygit2
from measure import Sandbox, medians, report

from gitgate.core.landing import Candidate, Reviewed, Rule, Step, landed_before, walk
from gitgate.core.person import Person, Stamp
from gitgate.git.merge import GitTrees
from gitgate.git.repository import Repository
from gitgate.git.trees import DIRECTORY, REGULAR

FOLDERS, FILES = 1_000, 100
LIMIT_SECONDS, TARGET = 0.020, 0.25
HISTORY = 2_000

Folder = dict[bytes, tuple[int, str]]


class Monorepo:
    """A thousand folders, ten to a parent, with a hundred files each."""

    def __init__(self, box: Sandbox) -> None:
        self.box = box
        self.folder = box.root / "mono.git"
        box.run("git", "init", "-q", "--bare", str(self.folder))
        self.repo = Repository.open(self.folder)
        self.lines = [b"line %d\n" % number for number in range(50)]
        blob = self.repo.write_blob(b"".join(self.lines))
        files: Folder = {b"file-%03d.txt" % number: (REGULAR, blob) for number in range(FILES)}
        self.base: dict[int, Folder] = dict.fromkeys(range(FOLDERS), files)

    def tree(self, changed: dict[int, dict[int, bytes]]) -> str:
        """The tree with these contents: folder number to file number to content."""
        folders = dict(self.base)
        for number, contents in changed.items():
            new = {
                b"file-%03d.txt" % file: (REGULAR, self.repo.write_blob(content))
                for file, content in contents.items()
            }
            folders[number] = {**folders[number], **new}
        top: Folder = {}
        for start in range(0, FOLDERS, 10):
            inside: Folder = {
                b"folder-%03d" % number: (DIRECTORY, self.repo.write_tree(folders[number]))
                for number in range(start, start + 10)
            }
            top[b"area-%02d" % (start // 10)] = (DIRECTORY, self.repo.write_tree(inside))
        return self.repo.write_tree(top)

    def pack(self, *trees: str) -> None:
        """Put the trees into one pack, as a repository in use has them."""
        stamp = Stamp(Person("Ada Lovelace", "ada@example.com"), 1_764_565_200)
        for number, tree in enumerate(trees):
            commit = self.repo.write_commit(tree, (), stamp, stamp, "state\n")
            self.box.run("git", "update-ref", f"refs/heads/b{number}", commit, cwd=self.folder)
        self.box.run("git", "gc", "-q", "--prune=now", cwd=self.folder)

    def edited(self, **changed: bytes) -> bytes:
        """The content of a file with other lines: l3=b"x" replaces line 3."""
        lines = list(self.lines)
        for name, line in changed.items():
            lines[int(name[1:])] = line
        return b"".join(lines)


class Told:
    """A history in which B..W is one commit and the target's past is given."""

    def __init__(self, base: str, work: str, past: Sequence[Step]) -> None:
        self.base, self.work, self.past = base, work, past

    def since(self, tip: str | None, commit: str) -> Sequence[Step]:
        del tip, commit
        return self.past

    def reviewed(self, request: str) -> Sequence[Reviewed]:
        del request
        return [Reviewed((self.base,), self.work)]


def everything(path: bytes) -> bool:
    del path
    return True


class Case:
    """Work on twenty files in four folders; the target has edited others, and one of the same."""

    def __init__(self, mono: Monorepo) -> None:
        self.mono = mono
        work = mono.edited(l1=b"work\n")
        main = mono.edited(l2=b"main\n")
        here = {number: dict.fromkeys(range(5), work) for number in range(0, 20, 5)}
        self.there = {number: dict.fromkeys(range(3), main) for number in (3, 700)}
        self.there[0] = {0: mono.edited(l40=b"main\n")}
        both = {**here[0], 0: mono.edited(l1=b"work\n", l40=b"main\n")}
        self.base, self.work = mono.tree({}), mono.tree(here)
        self.old, self.new = mono.tree(self.there), mono.tree({**here, **self.there, 0: both})
        self.request = Candidate("R", self.base, self.work, "old")
        mono.pack(self.base, self.work, self.old, self.new)
        self.library = pygit2.Repository(str(mono.folder))

    def rule(self) -> float:
        chain = [Step("old", self.old), Step("new", self.new)]
        told = Told(self.base, self.work, chain[:1])
        with GitTrees(Repository.open(self.mono.folder)) as trees:
            started = time.perf_counter()
            result = walk(chain, lambda place: Rule(everything, (self.request,)), trees, told)
            seconds = time.perf_counter() - started
        assert result.stopped is None, result.misses
        return seconds

    def whole(self) -> float:
        started = time.perf_counter()
        index = self.library.merge_trees(self.base, self.old, self.work)
        seconds = time.perf_counter() - started
        assert index.conflicts is None
        return seconds

    def once(self) -> float:
        """Whether the request has landed in a long history of a busy target."""
        files = [self.mono.edited(l5=b"%d\n" % number) for number in range(40)]
        states = [self.mono.tree({**self.there, 500: {1: content}}) for content in files]
        past = [Step(f"c{number}", states[number % 40]) for number in range(HISTORY)]
        with GitTrees(self.mono.repo) as trees:
            started = time.perf_counter()
            assert landed_before(self.request, (), past, trees, everything) is None
            return time.perf_counter() - started


def main(rounds: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        case = Case(Monorepo(Sandbox(Path(folder))))
        things = {"libgit2's merge of whole trees": case.whole, "the landing rule": case.rule}
        found = medians(things, rounds)
        status = report(found, rounds, TARGET)
        print(f"has it landed in {HISTORY} commits: {case.once() * 1000:.0f} ms")
        return status or int(found["the landing rule"] > LIMIT_SECONDS)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
