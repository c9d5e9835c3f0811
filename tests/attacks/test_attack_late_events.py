"""Hazards 21 and 28: events that come after the end of a life, as pushes to a server with hooks.

Somebody who had not fetched main writes them in good faith, so they are received; they authorise
nothing, in that life or in the next.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from forger import (
    MAIN,
    append,
    approved,
    asked_anew,
    decided,
    record,
    repository,
    request_of,
    show,
    stamp,
    word,
)
from support.project import SOLO, Project, make_project
from support.server import NOTES, at, guard, received, refused, sound

from gitgate.core.events import Event, EventName
from gitgate.git import ledger as ledgers
from gitgate.git.ledger import Draft


@pytest.fixture
def landed(tmp_path: Path, home: Path) -> Project:
    """A clone of a server with hooks on which the first life has ended: its work has landed."""
    project = make_project(tmp_path, home, SOLO, hook=False)
    guard(project.remote)
    approved(project)
    received(project, project.ledger(), NOTES)
    received(project, f"HEAD:{MAIN}")
    project.git("fetch", "--quiet", "origin", f"+{project.ledger()}:{project.ledger()}")
    assert status(project) == "landed"
    return project


def status(project: Project) -> str:
    wanted = "--format=%(trailers:key=Status,valueonly)"
    return at(project.remote, "log", "-1", wanted, project.ledger())


def asked_late(project: Project, first: str) -> str:
    """A round about work that was never reviewed, behind the `landed` that ended the life."""
    work = project.commit("more", {"more.md": "# More\n"})
    new = replace(asked_anew(project, first, "main", "feature"), work=work)
    ledger = append(project, EventName.ITERATED, asked=new, status="open")
    return str(ledger.events[-1].request)


def test_a_round_that_came_after_the_landing(landed: Project) -> None:
    ada, first = landed.people["ada"], request_of(landed)
    late = asked_late(landed, first)
    said = received(landed, landed.ledger())
    assert "warning: event 0004-iterated of main of feature has no effect: `iterated` may" in said
    decided(landed, late, record(word(late, ada), ada))
    append(landed, EventName.WITHDRAWN, late)
    said = received(landed, landed.ledger())
    assert "warning: event 0006-withdrawn of main of feature has no effect: " in said
    refused(landed, (f"HEAD:{MAIN}", "nothing that was approved accounts for"))
    landed.gate("open").ok()
    assert show(landed)["request"] not in (first, late)
    append(landed, EventName.VALIDATED, late, fields={"findings": []})
    append(landed, EventName.WITHDRAWN, late)
    received(landed, landed.ledger())
    refused(landed, (f"HEAD:{MAIN}", "nothing that was approved accounts for"))
    landed.gate("approve").ok()
    received(landed, landed.ledger())
    received(landed, f"HEAD:{MAIN}")
    assert status(landed) == "landed"
    sound(landed.remote)


def test_a_late_claim_is_refused(landed: Project) -> None:
    """An answer is used on the strength of its claim, so whoever claims has to hear of the end."""
    repo, mallory = repository(landed), stamp()
    claim = Event(
        "",
        0,
        EventName.CLAIMED,
        mallory.time,
        mallory.person,
        None,
        landed.rev("HEAD"),
        {"consumer": "me"},
    )
    before = ledgers.read(repo, "main", "feature")
    new = ledgers._write(repo, before, Draft(claim, 1, "open"), mallory)
    refused(
        landed,
        (f"{new}:{landed.ledger()}", "`claimed` may not follow after the end of a life"),
    )
