"""The journal on a server with hooks: it only grows, names nothing that could not be pushed, and
lets the refs of ended instances go, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest
from landingkit import MAIN, Templates, plain_project
from support.project import Project
from support.server import JOURNAL, LONG, NOTES, at, guard, push, received, refused, sound

from gitgate.core import ids
from gitgate.core.events import Event, EventName
from gitgate.core.person import Person, Stamp
from gitgate.git import journal
from gitgate.git import ledger as ledgers
from gitgate.git.ledger import Draft
from gitgate.git.repository import Repository

WHO = Stamp(Person("Ada Lovelace", "ada@example.com"), 1_764_565_200)


@pytest.fixture
def served(templates: Templates, tmp_path: Path, home: Path) -> Project:
    """A clone of a server with hooks: `done` has landed, `open` waits for a decision."""
    return templates.copy("journal", _with_instances, tmp_path)


def _with_instances(folder: Path, home: Path) -> Project:
    project = plain_project()(folder, home)
    guard(project.remote)
    for name in ("done", "open"):
        project.branch(name)
        project.commit(name, {f"{name}.md": "# Page\n"})
        project.gate("open").ok()
    project.gate("approve", "--subject", "done").ok()
    received(project, ledger("done"), ledger("open"))
    received(project, f"done:{MAIN}")
    project.git("fetch", "--quiet", "origin", "+refs/aiwg/*:refs/aiwg/*", f"+{NOTES}:{NOTES}")
    project.git("fetch", "--quiet")
    return project


def ledger(subject: str) -> str:
    return ids.ledger_ref("main", subject)


def named(project: Project, *subjects: str, parent: str | None = None) -> str:
    """A journal that names the ledgers as they are here; own ref and commit."""
    entries = [journal.Entry("main", one, project.rev(ledger(one))) for one in subjects]
    repo = Repository.open(project.top)
    new = journal.append(repo, parent or _own(project), entries, WHO)
    project.git("update-ref", JOURNAL, new)
    return new


def _own(project: Project) -> str | None:
    return project.git("rev-parse", "--verify", "--quiet", JOURNAL, check=False).out.strip() or None


def written(project: Project, subject: str, event: Event) -> str:
    """Append an event that no program of ours would."""
    repo = Repository.open(project.top)
    before = ledgers.read(repo, "main", subject)
    new = ledgers._write(repo, before, Draft(event, 1, "landed"), WHO)
    project.git("update-ref", ledger(subject), new)
    return new


def forged(project: Project, change: str, *parents: str) -> str:
    """A journal commit on the present one, with the tree that `change` makes of its listing."""
    sides = [word for one in parents for word in ("-p", one)]
    tree = project.git("mktree", stdin=change).out.strip()
    made = project.git("commit-tree", tree, "-p", JOURNAL, *sides, "-m", "forged").out.strip()
    project.git("update-ref", JOURNAL, made)
    return made


def test_it_only_grows(served: Project) -> None:
    first = named(served, "done")
    received(served, JOURNAL)
    second = named(served, "open")
    received(served, JOURNAL)

    def tried(reason: str) -> None:
        refused(served, (f"{JOURNAL}:{JOURNAL}", reason))
        served.git("update-ref", JOURNAL, second)

    refused(served, (f":{JOURNAL}", "keeps the ledgers and may not be deleted"))
    refused(served, (f"HEAD^{{tree}}:{JOURNAL}", "would be no commit"))
    served.git("update-ref", JOURNAL, first)
    tried("does not go on from")
    if LONG:
        served.git("update-ref", JOURNAL, "main")
        tried("does not go on from")
        served.git("update-ref", "-d", JOURNAL)
        named(served, "open", "done")
        tried("does not go on from")
    forged(served, "")
    tried("no longer names main of ")
    shard, blob = served.git("ls-tree", "-r", JOURNAL).out.split()[3], ""
    blob = served.git("hash-object", "-w", "--stdin", stdin="junk\n").out.strip()
    inner = f"100644 blob {blob}\t{shard.partition('/')[2]}\n"
    folder = served.git("mktree", stdin=inner).out.strip()
    forged(served, f"040000 tree {folder}\tmain\n")
    tried("cannot be read")
    sound(served.remote)


def test_what_it_names_is_judged(served: Project) -> None:
    """A ledger that may not be pushed cannot come by way of the journal."""
    named(served, "done", "open")
    received(served, JOURNAL)
    good, request = served.rev(ledger("open")), served.gate("show", "--subject", "open", "--json")
    fields = {"old": served.rev("main"), "new": served.rev("open"), "target": MAIN}
    landed = EventName.LANDED
    event = Event("", 0, landed, WHO.time, WHO.person, request.json["request"], None, fields)
    written(served, "open", event)
    named(served, "open")
    reason = "has no effect: the landing that it names is not on the target's chain"
    refused(served, (f"{JOURNAL}:{JOURNAL}", reason))
    both = push(served, JOURNAL, ledger("open"))
    assert (both.status, reason in both.err) == (1, True)
    served.git("update-ref", ledger("open"), good)
    served.git("fetch", "--quiet", "origin", f"+{JOURNAL}:{JOURNAL}")
    served.gate("approve", "--subject", "open").ok()
    named(served, "open")
    received(served, JOURNAL)
    received(served, ledger("open"))


def test_what_it_lets_go(served: Project) -> None:
    """A ref goes where the journal names exactly its tip and the instance has ended."""
    refused(served, (f":{ledger('done')}", "the journal does not name"))
    tip = served.rev(ledger("done"))
    served.git("update-ref", ledger("done"), f"{tip}~1")
    named(served, "done", "open")
    received(served, JOURNAL)
    refused(
        served,
        (f":{ledger('done')}", "the journal does not name"),
        (f":{ledger('open')}", "main of open has not ended"),
    )
    served.git("update-ref", ledger("done"), tip)
    named(served, "done")
    received(served, JOURNAL, f":{ledger('done')}")
    assert at(served.remote, "for-each-ref", ledger("done")) == ""
    lacks = f"{tip}~1:{ledger('done')}"
    refused(served, (lacks, "would lose events: it only grows"))
    served.git("switch", "--quiet", "done")
    served.commit("more", {"done.md": "# More\n"})
    served.gate("open").ok()
    received(served, ledger("done"))
    sound(served.remote)


def test_a_journal_lost_in_a_race(served: Project) -> None:
    """Git moves each ref of a push by itself: where the journal's part fails, the deletion that
    relied on it is undone."""
    update = served.remote / "hooks" / "update"
    update.write_text(f'#!/bin/sh\n[ "$1" != {JOURNAL} ]\n')
    update.chmod(0o755)
    tip = served.rev(ledger("done"))
    named(served, "done")
    done = push(served, JOURNAL, f":{ledger('done')}")
    assert done.status == 1
    assert f"remote: git-gate: {ledger('done')} is back: the journal does not name it" in done.err
    assert at(served.remote, "rev-parse", ledger("done")) == tip
    update.unlink()
    received(served, JOURNAL, f":{ledger('done')}")
