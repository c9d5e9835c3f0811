"""What ended instances cost: pushes and lists beside ten thousand of them, and beside ten.

`python tests/benchmarks/bench_many.py [--cpu] [ROUNDS [ENDED …]]`, by default 10 100 1000 10000
ended instances, which the journal names, and up to 100 open ones. Measured are a real `git push` of
a guarded branch, as a ratio to that beside the fewest; and what `git gate list` takes beyond
importing the same modules, as a ratio to `git for-each-ref` with the same fields. The first run in
a clone, which reads every ledger once, is shown by itself. Exit 1 where a ratio is over its target
at the most instances, or where a later run takes longer than a minute. `--cpu` counts the
processor's time instead, for a machine that is busy with something else.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from manyinstances import MAIN, PUSHED, Many
from measure import Sandbox, medians

from gitgate import hooks

PUSH_TARGET, LIST_TARGET = 1.15, 3.0
LONGEST = 60.0
FIELDS = (
    "%(refname)%09%(contents:trailers:key=Gate,valueonly)%(contents:trailers:key=Subject,valueonly)"
    "%(contents:trailers:key=Iteration,valueonly)%(contents:trailers:key=Status,valueonly)"
    "%(committerdate:unix)"
)

# Runs the command and writes a program that imports what it has imported.
_RECORDER = """
import sys
before = {*sys.modules}
from gitgate.cli.main import run
run(["list"])
names = sorted(name for name in {*sys.modules} - before if not name.startswith("__"))
with open(sys.argv[1], "w") as file:
    for name in names:
        file.write(f"try:\\n    import {name}\\nexcept ImportError:\\n    pass\\n")
"""


class TooSlow(Exception):  # noqa: N818 - an outcome
    """A run took longer than a minute."""


class Case:
    """One repository and what is measured in it."""

    def __init__(self, folder: Path, ended: int, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.box = Sandbox(folder)
        self.many = Many(self.box, ended, min(100, max(1, ended // 10)))
        self.program = Path(sys.executable).with_name("git-gate")
        git = self.many.work / ".git"
        hooks.install(git / "hooks", git, self.program)
        self.imports = folder / "imports.py"
        self.first = self._limited([sys.executable, "-c", _RECORDER, str(self.imports)], None)

    def _limited(self, argv: Sequence[str], limit: float | None = LONGEST) -> float:
        started = self.clock()
        try:
            done = subprocess.run(
                argv, cwd=self.many.work, env=self.box.env, capture_output=True, timeout=limit
            )
        except subprocess.TimeoutExpired:
            raise TooSlow from None
        if done.returncode:
            sys.exit(f"{argv}: exit {done.returncode}\n{done.stderr.decode()}")
        return self.clock() - started

    def push(self) -> float:
        """A push of the guarded branch that lands the approved work; then all is put back."""
        seconds = self._limited(["git", "push", "-q", "origin", f"{PUSHED}:{MAIN}"])
        for place, ref in (
            (self.many.remote, MAIN),
            (self.many.work, "refs/remotes/origin/main"),
        ):
            self.box.run("git", "update-ref", ref, self.many.main, cwd=place)
        return seconds

    def listed(self) -> float:
        return self._limited([str(self.program), "list"])

    def imported(self) -> float:
        return self._limited([sys.executable, str(self.imports)])

    def refs(self) -> float:
        return self._limited(["git", "for-each-ref", f"--format={FIELDS}", "refs/aiwg/gates"])


def processor() -> float:
    """Seconds that all child processes so far have kept a processor busy."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(ended: int, rounds: int, clock: Callable[[], float]) -> dict[str, float] | None:
    """The medians in seconds; None where a run takes longer than a minute."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            case = Case(Path(folder), ended, clock)
            things: dict[str, Callable[[], float]] = {
                "push": case.push,
                "list": case.listed,
                "imports": case.imported,
                "refs": case.refs,
            }
            return {"first": case.first, **medians(things, rounds)}
        except TooSlow:
            return None


def main(rounds: int, sizes: Sequence[int], clock: Callable[[], float]) -> int:
    print(" ended   first run      push  ratio  list beyond start-up  for-each-ref  ratio")
    first: float | None = None
    push_ratio = list_ratio = 0.0
    for ended in sizes:
        found = measured(ended, rounds, clock)
        if found is None:
            print(f"{ended:6}  a run took longer than {LONGEST:.0f} s: given up")
            return 1
        first = first or found["push"]
        beyond = found["list"] - found["imports"]
        push_ratio, list_ratio = found["push"] / first, beyond / found["refs"]
        push, listed, refs = (1000 * seconds for seconds in (found["push"], beyond, found["refs"]))
        print(
            f"{ended:6}  {found['first']:8.1f} s  {push:5.0f} ms  {push_ratio:5.2f}"
            f"  {listed:17.0f} ms  {refs:9.1f} ms  {list_ratio:5.1f}"
        )
    print(f"targets: push at most {PUSH_TARGET}, list at most {LIST_TARGET}")
    return int(push_ratio > PUSH_TARGET or list_ratio > LIST_TARGET)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:] if argument != "--cpu"]
    told_by = processor if "--cpu" in sys.argv else time.perf_counter
    sys.exit(main(numbers[0] if numbers else 10, numbers[1:] or [10, 100, 1000, 10_000], told_by))
