"""What the landing rule costs in a tree of 100,000 files, beside libgit2's merge of whole trees.

`python tests/benchmarks/bench_landing.py [ROUNDS]`: a landing of a few files over a target that
has moved, judged by `walk` on caches that hold nothing; exit 1 where it takes more than 20 ms or
more than a tenth of the time of libgit2's merge.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pygit2

sys.path.insert(0, str(Path(__file__).parents[2]))

from gitgate.core.landing import Candidate, Reviewed, Rule, Step, landed_before, walk
from gitgate.git.merge import GitTrees
from gitgate.git.repository import Repository
from gitgate.git.trees import DIRECTORY, REGULAR

FOLDERS, FILES = 1_000, 100
LIMIT_MS, LIMIT_RATIO = 20.0, 0.1
HISTORY = 2_000

Folder = dict[bytes, tuple[int, str]]


class Monorepo:
    """A thousand folders, ten to a parent, with a hundred files each."""

    def __init__(self, folder: Path) -> None:
        subprocess.run(["git", "init", "-q", "--bare", str(folder)], check=True)
        self.repo = Repository.open(folder)
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


def median(question: Callable[[], float], rounds: int) -> float:
    question()
    return statistics.median(question() for _ in range(rounds))


def main(rounds: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        mono = Monorepo(Path(folder) / "mono.git")
        new = mono.edited(l1=b"work\n")
        here = {number: dict.fromkeys(range(5), new) for number in range(0, 20, 5)}
        there = {
            number: {file: mono.edited(l2=b"main\n") for file in range(3)} for number in (3, 700)
        }
        clash = {0: {0: mono.edited(l40=b"main\n")}}
        both = {0: {**here[0], 0: mono.edited(l1=b"work\n", l40=b"main\n")}}
        base, work = mono.tree({}), mono.tree(here)
        main_tree = mono.tree({**there, **clash})
        landed = mono.tree({**here, **there, **both})
        subprocess.run(["git", "-C", folder + "/mono.git", "gc", "-q"], check=False)
        library = pygit2.Repository(folder + "/mono.git")
        chain = [Step("old", main_tree), Step("new", landed)]
        told = Told(base, work, chain[:1])
        request = Candidate("R", base, work, "old")

        def rule() -> float:
            with GitTrees(Repository.open(Path(folder) / "mono.git")) as trees:
                started = time.perf_counter()
                result = walk(chain, lambda place: Rule(everything, (request,)), trees, told)
                seconds = time.perf_counter() - started
                assert result.stopped is None, result.misses
                return seconds * 1000

        def whole() -> float:
            started = time.perf_counter()
            index = library.merge_trees(base, main_tree, work)
            seconds = time.perf_counter() - started
            assert index.conflicts is None
            return seconds * 1000

        def once() -> float:
            files = [mono.edited(l5=b"%d\n" % number) for number in range(40)]
            states = [mono.tree({**there, **clash, 500: {1: content}}) for content in files]
            past = [Step(f"p{n}", states[n % 40]) for n in range(HISTORY)]
            with GitTrees(mono.repo) as trees:
                started = time.perf_counter()
                assert landed_before(request, (), past, trees, everything) is None
                return (time.perf_counter() - started) * 1000

        by_rule, by_library = median(rule, rounds), median(whole, rounds)
        ratio = by_rule / by_library
        print(f"landing rule, {FOLDERS * FILES} files: {by_rule:.1f} ms (at most {LIMIT_MS})")
        print(f"libgit2's whole merge: {by_library:.1f} ms")
        print(f"ratio: {ratio:.3f} (at most {LIMIT_RATIO})")
        print(f"has it landed in {HISTORY} commits: {once():.0f} ms")
        return int(by_rule > LIMIT_MS or ratio > LIMIT_RATIO)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
