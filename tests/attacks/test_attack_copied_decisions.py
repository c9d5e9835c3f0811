"""Hazard 1: a decision is taken from where it was made to where it was not."""

from __future__ import annotations

from pathlib import Path

import pytest
from forger import (
    MAIN,
    append,
    approved,
    asked_anew,
    blocked,
    copy_of,
    decided,
    noted,
    passes,
    push_lands,
    push_refused,
    repository,
    request_of,
    show,
    work,
)
from support.project import SOLO, Project, make_project

from gitgate.core.events import EventName
from gitgate.git import ledger as ledgers

TWO_GATES = SOLO.replace(
    "  policy_gate: main\n",
    "    second:\n"
    "      title: The second pair of eyes\n"
    "      guards: [refs/heads/main]\n"
    "      approvals: {self_approval: true}\n"
    "  policy_gate: main\n",
)


def test_copied_to_another_gate(tmp_path: Path, home: Path) -> None:
    """1: the record of one gate in the ledger of another that guards the same ref."""
    project = make_project(tmp_path, home, TWO_GATES)
    work(project)
    project.gate("open", "main").ok()
    project.gate("open", "second").ok()
    project.gate("approve", "main").ok()
    decided(project, request_of(project, "second"), copy_of(project)[0], gate="second")
    blocked(project, "pending", "nobody has approved it yet")
    [warning] = show(project, "second")["warnings"]
    assert warning.endswith("signed for gate/main/feature, not gate/second/feature")
    push_refused(project, "pending", "nobody has approved it yet")
    project.gate("approve", "second").ok()
    passes(project)


def test_copied_to_another_iteration(project: Project) -> None:
    """1: the approval of iteration 1 for iteration 2."""
    approved(project)
    first = request_of(project)
    project.commit("more", {"more.md": "more\n"})
    project.gate("open").ok()
    second = request_of(project)
    decided(project, second, copy_of(project)[0])
    blocked(project, "pending", "nobody has approved it yet")
    [warning] = [one for one in show(project)["warnings"] if "never counts" in one]
    assert warning.endswith(f"signed for request {first}, not {second}")
    project.gate("approve").ok()
    push_lands(project)


def test_copied_to_another_branch(project: Project) -> None:
    """1: the approval of one branch in the ledger of another, as a record and as a whole ledger."""
    approved(project)
    work(project, "other", **{"evil.md": "evil\n"})
    project.gate("open").ok()
    decided(project, request_of(project, subject="other"), copy_of(project)[0], subject="other")
    blocked(project, "pending", "nobody has approved it yet")
    project.git("update-ref", project.ledger(subject="third"), project.ledger())
    not_its_own = "does not begin with the first commit of its instance"
    blocked(project, "untrusted", not_its_own, subject="third")
    project.git("branch", "third")
    push_refused(project, "untrusted", not_its_own, refspec="third:refs/heads/main")
    project.git("switch", "--quiet", "feature")
    passes(project)
    project.git("switch", "--quiet", "other")
    project.gate("approve").ok()
    push_lands(project)


def test_copied_to_another_target(tmp_path: Path, home: Path) -> None:
    """1: what was approved for one branch asked again for another, with the old record."""
    policy = SOLO.replace("[refs/heads/main]", "[refs/heads/main, refs/heads/next]")
    project = make_project(tmp_path, home, policy)
    project.git("push", "--quiet", "--no-verify", "origin", "main:next")
    work(project)
    project.gate("open", "--target", "next").ok()
    project.gate("approve").ok()
    blocked(project, "not-opened", "no gate `main` was opened for it")
    first = request_of(project)
    aimed = asked_anew(project, first, "main", "feature", target=MAIN)
    append(project, EventName.ITERATED, asked=aimed)
    decided(project, request_of(project), copy_of(project)[0])
    blocked(project, "pending", "nobody has approved it yet")
    push_refused(project, "pending")
    project.gate("approve").ok()
    push_lands(project)


@pytest.mark.parametrize("known", ["the record", "the whole ledger"])
def test_copied_to_another_repository(tmp_path: Path, home: Path, known: str) -> None:
    """1: two projects of the same people; the same file is approved in one and pushed in both."""
    here, there = _of_its_own(tmp_path / "here", home), _of_its_own(tmp_path / "there", home)
    approved(here, **{"deploy.sh": "rm -r /srv/www\n"})
    work(there, **{"deploy.sh": "rm -r /srv/www\n"})
    if known == "the record":
        there.gate("open").ok()
        decided(there, request_of(there), copy_of(here)[0])
        blocked(there, "pending", "nobody has approved it yet")
        push_refused(there, "pending")
        there.gate("approve").ok()
    else:
        there.git("fetch", "--quiet", str(here.top), f"{here.ledger()}:{here.ledger()}")
        assert not ledgers.read(repository(there), "main", "feature").faults
        elsewhere = "main feature was asked of another history than that of refs/heads/main"
        blocked(there, "blocked", elsewhere)
        push_refused(there, "blocked", elsewhere)
        assert there.gate("approve").status == 1
        there.gate("open").ok()
        there.gate("approve").ok()
    passes(there)
    passes(here)


def test_copied_into_a_note(tmp_path: Path, home: Path) -> None:
    """1: another repository's record in a note here counts for nothing; it may be one that a
    ledger lost, so it blocks its instance until the note is taken away or newer work is asked
    about."""
    here, there = _of_its_own(tmp_path / "here", home), _of_its_own(tmp_path / "there", home)
    work(there)
    there.gate("open").ok()
    approved(here)
    noted(there, "HEAD", copy_of(here)[0])
    blocked(there, "untrusted", "stands in a note and not in the ledger")
    repaired = there.gate("repair")
    assert (repaired.status, "cannot be taken in: its request" in repaired.out) == (14, True)
    there.git("notes", "--ref=aiwg/gates", "remove", "HEAD")
    blocked(there, "pending", "nobody has approved it yet")
    there.gate("approve").ok()
    passes(there)


def _of_its_own(folder: Path, home: Path) -> Project:
    folder.mkdir()
    project = make_project(folder, home)
    project.commit("what only this one has", {"README.md": f"# {folder.name}\n"})
    project.land()
    return project
