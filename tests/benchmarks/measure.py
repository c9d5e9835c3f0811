"""What the benchmarks share: a sealed environment, and alternating runs whose medians are compared.

Runs of the two things that are compared alternate in random order, so that whatever else the
machine does meanwhile meets both alike.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_MEMORY = (
    "import resource, subprocess, sys;"
    "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True);"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)


class Sandbox:
    """A folder with a HOME of its own, and commands that see nothing else of the caller."""

    def __init__(self, root: Path) -> None:
        self.root = root
        home = root / "home"
        home.mkdir()
        (home / ".gitconfig").write_text(
            "[user]\n\tname = Ada Lovelace\n\temail = ada@example.com\n"
            "[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
        )
        self.env = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def run(self, *argv: str, cwd: Path | None = None) -> str:
        """Standard output of a command; the benchmark ends where it fails."""
        done = subprocess.run(
            argv, cwd=cwd or self.root, env=self.env, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{' '.join(argv)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def timed(self, argv: Sequence[str], cwd: Path) -> float:
        """Seconds that a command takes; it has to succeed."""
        started = time.perf_counter()
        self.run(*argv, cwd=cwd)
        return time.perf_counter() - started

    def memory(self, argv: Sequence[str], cwd: Path) -> int:
        """The most memory that a command has at a time, or one that it starts, in MB."""
        return int(self.run(sys.executable, "-c", _MEMORY, *argv, cwd=cwd)) // 1000


def medians(things: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of the seconds that each of `things` returns, over `rounds` rounds."""
    for measure in things.values():
        measure()
    seconds: dict[str, list[float]] = {name: [] for name in things}
    for _ in range(rounds):
        for name in random.sample([*things], len(things)):
            seconds[name].append(things[name]())
    return {name: statistics.median(values) for name, values in seconds.items()}


def report(found: Mapping[str, float], rounds: int, target: float) -> int:
    """Print the medians and the ratio of the second to the first; 1 where it is over `target`."""
    for name, seconds in found.items():
        print(f"{name}: {seconds * 1000:.1f} ms (median of {rounds})")
    base, measured = found.values()
    print(f"ratio: {measured / base:.3f} (target: at most {target})")
    return int(measured / base > target)
