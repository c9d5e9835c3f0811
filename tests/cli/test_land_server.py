"""`land` against a server that judges pushes by itself, by what it had before each of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from landkit import (
    another_clone,
    approved,
    left_over,
    own_temporary_folder,
    remote_events,
    seen,
    server_hook,
)
from support.project import Project, gate, make_project


@pytest.fixture
def served(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose remote has git-gate's own server hooks, and whose clone has none."""
    own_temporary_folder(tmp_path, monkeypatch)
    project = make_project(tmp_path, home, hook=False)
    gate("hook", "install", "--server", at=project.remote).ok()
    return project


@pytest.mark.parametrize("method", ["merge", "rebase"])
def test_the_server_takes_it(served: Project, method: str) -> None:
    approved(served)
    served.gate("land", "--method", method).ok()
    assert served.git("show", f"{served.remote_tip()}:feature.md").out.endswith("Text\n")
    served.gate("sync").ok()
    assert remote_events(served) == ["opened", "decided", "landed"]
    assert served.gate("show", "--json").json["status"] == "landed"


def test_a_server_that_takes_no_ledger_gets_no_branch_either(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_temporary_folder(tmp_path, monkeypatch)
    project = make_project(tmp_path, home, hook=False)
    approved(project)
    server_hook(
        project,
        "update",
        "case $1 in refs/aiwg/*) echo 'no such refs here' >&2; exit 1 ;; esac",
    )
    before = seen(project)
    answer = project.gate("land")
    assert answer.status == 1
    assert answer.err.startswith("git-gate: nothing landed, since its ledger comes first:\n")
    assert "no such refs here" in answer.err
    assert answer.err.endswith("hint: git gate sync origin\n")
    assert seen(project) == before


def test_another_clone_lands_what_was_decided_here(served: Project) -> None:
    approved(served)
    served.gate("sync").ok()
    other = another_clone(served)
    other.gate("land", "--subject", "feature").ok()
    assert left_over(other) == {"work trees": [], "folders": []}
    served.gate("sync").ok()
    assert served.gate("land", "--json").ok().json["result"] == "already-landed"
    assert remote_events(served) == ["opened", "decided", "landed"]
