"""Ten minutes of mixed work: memory does not grow, and git packs loose objects as usual.

`GIT_GATE_LONG=1` runs it for ten minutes, else it is a few operations that hold the test itself
right; `GIT_GATE_SECONDS` says another time.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from fleet import fleet

LONG = bool(os.environ.get("GIT_GATE_LONG"))
SECONDS = float(os.environ.get("GIT_GATE_SECONDS", "600" if LONG else "3"))
AUTO = 400
"""The number of loose objects from which on git packs them (`gc.auto`)."""

GROWTH = 48 << 20
"""Bytes by which this process may be larger in the second half of the time than in the first."""


def resident() -> int:
    """Bytes of memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def loose(folder: Path) -> int:
    """The objects that something still needs and that are in no pack; git keeps what nothing needs
    loose for two weeks."""
    argv = ["git", "rev-list", "--objects", "--all", "--reflog", "--unpacked"]
    done = subprocess.run(argv, cwd=folder, capture_output=True, check=True)
    return done.stdout.count(b"\n")


def test_mixed_work_for_a_long_time(tmp_path: Path, home: Path) -> None:
    found = fleet(tmp_path, home, 3, 1)
    repositories = [found.base.remote, *(clone.project.top / ".git" for clone in found.clones)]
    for clone in found.clones:
        clone.project.git("config", "gc.auto", str(AUTO))
        clone.project.git("config", "gc.autoDetach", "false")
    halves: tuple[list[int], list[int]] = ([], [])
    started = time.monotonic()
    while (past := time.monotonic() - started) < SECONDS:
        found.step()
        halves[past > SECONDS / 2].append(resident())
    for clone in found.clones:
        clone.offline = 0
        found.connect(clone)
        found.sync(clone)
        clone.project.git("gc", "--auto", "--quiet")
    print(f"{sum(map(len, halves))} operations", [max(half, default=0) >> 20 for half in halves])
    assert halves[0] and halves[1]
    assert max(halves[1]) - max(halves[0]) < GROWTH
    counts = {str(folder): loose(folder) for folder in repositories[1:]}
    assert max(counts.values()) < AUTO + 256, counts
