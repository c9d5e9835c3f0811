"""Whatever clones do, once each has synced twice they hold the same, and no signed word is lost.

Real repositories, commands in this process. `GIT_GATE_LONG=1` takes ten clones, 200 operations and
50 runs; `GIT_GATE_SEED=N` repeats one run.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from fleet import Clone, Fleet, fleet

from gitgate.core import ids
from gitgate.git import ledger as ledgers
from gitgate.git import refs

LONG = bool(os.environ.get("GIT_GATE_LONG"))
CLONES, STEPS, RUNS = (10, 200, 50) if LONG else (4, 40, 2)
SEEDS = [int(os.environ["GIT_GATE_SEED"])] if "GIT_GATE_SEED" in os.environ else range(RUNS)


@pytest.mark.parametrize("seed", SEEDS)
def test_clones_that_have_synced_twice_hold_the_same(seed: int, tmp_path: Path, home: Path) -> None:
    print(f"GIT_GATE_SEED={seed} repeats this run")
    found = fleet(tmp_path, home, CLONES, seed)
    try:
        for _ in range(STEPS):
            found.step()
        for _ in range(2):
            for clone in found.clones:
                clone.offline = 0
                found.connect(clone)
                found.log.append(f"{clone.project.top.name}: last: {found.sync(clone)}")
        check(found)
    except BaseException:
        print("\n".join(found.log))
        raise


def check(found: Fleet) -> None:
    first, *others = found.clones
    shared = held(first)
    for clone in others:
        assert held(clone) == shared
        assert statuses(clone) == statuses(first)
    server = {ref: tip for ref, tip in refs_of(found.base.remote).items() if ref in shared}
    assert server == shared
    for record, (gate, subject) in found.signed.items():
        ledger = ledgers.read(first.repo, gate, subject)
        assert not ledger.faults
        assert record in ledger.records, f"{record} of {gate} of {subject} is missing"
    for folder in (found.base.remote, first.project.top, others[-1].project.top):
        fsck = subprocess.run(
            ["git", "fsck", "--strict", "--no-dangling"], cwd=folder, capture_output=True, text=True
        )
        assert fsck.returncode == 0, fsck.stderr


def held(clone: Clone) -> dict[str, str]:
    own = refs.listing(clone.repo, ids.GATES)
    for ref in (ids.NOTES, ids.JOURNAL):
        tip = refs.read(clone.repo, ref)
        own |= {ref: tip} if tip else {}
    return own


def statuses(clone: Clone) -> list[tuple[str, str, str, int]]:
    clone.project.git("fetch", "--quiet", "origin", "+refs/heads/main:refs/remotes/origin/main")
    listed = clone.project.gate("list", "--all", "--json").ok().json["instances"]
    return [(one["gate"], one["subject"], one["status"], one["iteration"]) for one in listed]


def refs_of(folder: Path) -> dict[str, str]:
    done = subprocess.run(
        ["git", "for-each-ref", "--format=%(refname) %(objectname)"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(line.split() for line in done.stdout.splitlines())
