"""Diffs on a real history: git's counts, and a summary for each changed document."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from pathlib import Path

from gitworld import git
from support.corpora import bundle
from support.difflab import numstat

from gitgate.core import summary
from gitgate.core.change import Status
from gitgate.git.diffs import Diffs
from gitgate.git.merge import GitTrees
from gitgate.git.repository import Repository


def test_the_documents_of_a_real_project(tmp_path: Path) -> None:
    source = bundle("aiwg-requirements.bundle")
    subprocess.run(["git", "clone", "--quiet", source, tmp_path / "c"], check=True)
    commits = git(tmp_path / "c", "rev-list", "--reverse", "HEAD").split()
    trees = [git(tmp_path / "c", "rev-parse", f"{one}^{{tree}}") for one in commits]
    told = 0
    with GitTrees(Repository.open(tmp_path / "c")) as found:
        diffs = Diffs(found)
        for old, new in pairwise(trees):
            measured = [diffs.measure(pair) for pair in diffs.pairs(old, new)]
            counted = {
                (one.pair.old or one.pair.new).path: (str(one.added), str(one.deleted))  # type: ignore[union-attr]
                for one in measured
            }
            gits = numstat(tmp_path / "c", old, new)
            assert counted == {before: counts for (before, _), counts in gits.items()}
            for one in measured:
                if one.pair.status is Status.MODIFIED and one.pair.old and one.pair.new:
                    before, after = diffs.content(one.pair.old), diffs.content(one.pair.new)
                    items = summary.tell(
                        one.pair.path, diffs.outline(one.pair), before, after, 5
                    ).items
                    assert items
                    assert all(item.text for item in items)
                    told += 1
    assert told > 20
