"""Notes on a server with hooks: each new record comes with its request, or after it.

A record that stands in a note and in no ledger makes its instance untrusted for everybody; where
its request is nowhere, nobody can take it in, and the notes only grow.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from landingkit import MAIN, Templates, plain_project
from support.project import Project
from support.server import JOURNAL, NOTES, at, guard, received, refused, sound

from gitgate.core import ids
from gitgate.core.person import Person, Stamp
from gitgate.git import journal
from gitgate.git.repository import Repository

LEDGER = ids.ledger_ref("main", "feature")
WHO = Stamp(Person("Ada Lovelace", "ada@example.com"), 1_764_565_200)


@pytest.fixture
def served(templates: Templates, tmp_path: Path, home: Path) -> Project:
    """A clone of a server with hooks; Ada has opened and approved her work in the clone alone."""
    project = templates.copy("noted", _approved, tmp_path)
    guard(project.remote)
    return project


def _approved(folder: Path, home: Path) -> Project:
    project = plain_project()(folder, home)
    project.branch("feature")
    project.commit("feature", {"feature.md": "# Page\n"})
    project.gate("open").ok()
    project.gate("approve").ok()
    return project


def test_a_note_without_its_request(served: Project) -> None:
    said = refused(served, (f"{NOTES}:{NOTES}", "and no ledger here has its request"))
    assert "(Approve main of feature)" in said
    assert "hint: push the ledger as well: git gate sync" in said
    opened = f"{served.rev(LEDGER)}~1"
    request = served.gate("show", "--json").json["request"]
    refused(served, (f"{NOTES}:{NOTES}", "has its request"))
    received(served, f"{request}:refs/heads/the-request-alone")
    refused(served, (f"{NOTES}:{NOTES}", "has its request"))
    received(served, f"{opened}:{LEDGER}", NOTES)
    received(served, LEDGER)
    received(served, f"HEAD:{MAIN}")
    sound(served.remote)


def test_a_note_of_a_ledger_that_the_journal_keeps(served: Project) -> None:
    """Its request is here, though its ref has gone."""
    received(served, LEDGER)
    received(served, f"HEAD:{MAIN}")
    served.git("fetch", "--quiet", "origin", f"+{LEDGER}:{LEDGER}")
    repo = Repository.open(served.top)
    entry = journal.Entry("main", "feature", served.rev(LEDGER))
    served.git("update-ref", JOURNAL, journal.append(repo, None, [entry], WHO))
    received(served, JOURNAL, f":{LEDGER}")
    at(served.remote, "update-ref", "-d", NOTES)
    assert at(served.remote, "for-each-ref", "refs/aiwg", "refs/notes") == ""
    received(served, NOTES)


def test_junk_in_a_note_needs_no_request(served: Project) -> None:
    """10: what can never count blocks nobody, and is in the way of nobody's notes."""
    notes = ["notes", "--ref=aiwg/gates"]
    record = served.git(*notes, "show", "HEAD").out
    altered = record.replace("Via: terminal", "Via: session")
    assert altered != record
    served.git("update-ref", "-d", NOTES)
    served.git(*notes, "add", "-m", altered, "HEAD")
    received(served, NOTES)
    served.git(*notes, "append", "-m", record, "HEAD")
    refused(served, (f"{NOTES}:{NOTES}", "and no ledger here has its request"))
    received(served, LEDGER, NOTES)
    received(served, f"HEAD:{MAIN}")
