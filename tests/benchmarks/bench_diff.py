"""What the summary of a 100,000-line change costs, against `git diff --numstat` of the same trees.

`python tests/benchmarks/bench_diff.py [ROUNDS]`: once with the change in 400 files, once in a
single one. What is compared is the time beyond start-up, which importing the same modules takes.
Also the most memory that the summary needs, and when the first screen of the full diff is there.
Exit 1 where a target is missed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import Sandbox, medians

TARGET = 5.0
MEMORY = 200  # MB
LINES = 100_000
IMPORTS = (
    "import pygit2, click, yaml, unidiff.patch;"
    "import gitgate.cli.main, gitgate.cli.diffing, gitgate.app.showing.changedoc;"
    "import gitgate.ui.changes, gitgate.app.asking.choose, gitgate.app.gather.world;"
    "import gitgate.cli.env, gitgate.git.repository"
)


def changed(box: Sandbox, name: str, files: int) -> tuple[Path, list[str]]:
    """A repository with two rounds between which half the lines are replaced by as many others;
    the command that has git count them."""
    work = box.root / name
    box.run("git", "init", "-q", str(work))
    box.run("git-gate", "init", "--preset", "solo", cwd=work)
    box.run("git", "add", "aiwg.yml", ".aiwg/allowed_signers", cwd=work)
    box.run("git", "commit", "-q", "-m", "adopt", cwd=work)
    box.run("git", "switch", "-q", "-c", "feature", cwd=work)
    for word in ("before", "after"):
        for number in range(files):
            lines = (
                f"line {line} of file {number}, {word if line % 2 else 'the same'}\n"
                for line in range(LINES // files)
            )
            (work / f"f{number:03}.txt").write_text("".join(lines))
        box.run("git", "add", "--all", cwd=work)
        box.run("git", "commit", "-q", "-m", word, cwd=work)
        box.run("git-gate", "open", cwd=work)
    return work, ["git", "diff", "--numstat", "HEAD~1", "HEAD"]


def first_screen(box: Sandbox, argv: list[str], cwd: Path) -> tuple[float, float]:
    """Seconds until the full diff has its first lines, and until it has all."""
    started = time.perf_counter()
    with subprocess.Popen(argv, cwd=cwd, env=box.env, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.read(1000)
        first = time.perf_counter() - started
        child.stdout.read()
    return first, time.perf_counter() - started


def main(rounds: int) -> int:
    missed = False
    program = str(Path(sys.executable).with_name("git-gate"))
    with tempfile.TemporaryDirectory() as folder:
        box = Sandbox(Path(folder))
        for name, files in (("in 400 files", 400), ("in one file", 1)):
            work, numstat = changed(box, name, files)
            things = {
                "numstat": lambda work=work, numstat=numstat: box.timed(numstat, work),
                "imports": lambda work=work: box.timed([sys.executable, "-c", IMPORTS], work),
                "summary": lambda work=work: box.timed([program, "diff"], work),
            }
            found = medians(things, rounds)
            beyond = found["summary"] - found["imports"]
            ratio = beyond / found["numstat"]
            memory = box.memory([program, "diff"], work)
            first, whole = first_screen(box, [program, "diff", "--full"], work)
            print(f"{LINES} lines {name}, medians of {rounds}:")
            for thing, seconds in found.items():
                print(f"  {thing}: {seconds * 1000:.1f} ms")
            print(f"  the summary beyond start-up: {ratio:.2f} × numstat (at most {TARGET})")
            print(f"  memory of the summary: {memory} MB (less than {MEMORY})")
            print(f"  full diff: first screen after {first:.2f} s, all of it after {whole:.2f} s")
            missed = missed or ratio > TARGET or memory >= MEMORY or first > whole / 2
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
