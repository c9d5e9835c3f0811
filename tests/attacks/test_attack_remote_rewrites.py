"""Hazards 2, 3 and 28: somebody with push access rewrites what is on a server without our hooks.

Found by each clone that had more, and undone by its `sync`; beside each its honest twin.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from forger import MAIN, copy_of, note_on, rebuilt, repository, work
from support.project import TEAM, Answer, Project, make_project

from gitgate.core import ids
from gitgate.core.events import Event, EventName
from gitgate.core.person import Person, Stamp
from gitgate.git import ledger as ledgers
from gitgate.git.journal import defects
from gitgate.git.ledger import Draft, Ledger

LEDGER = ids.ledger_ref("main", "feature")
PEOPLE = (("Ada Lovelace", "ada@example.com"), ("Bob Babbage", "bob@example.com"))
JOURNALED = TEAM.replace("policy_gate: main", "journal: true\n  policy_gate: main")


@pytest.fixture
def ada(tmp_path: Path, home: Path) -> Project:
    """Ada's clone, where Bob has rejected the feature; all of it is on the server."""
    project = make_project(tmp_path, home, JOURNALED, PEOPLE, hook=False)
    work(project)
    project.gate("open").ok()
    project.be(project.people["bob"])
    project.gate("reject", "-m", "no minimum length").ok()
    project.be(project.people["ada"])
    project.gate("sync").ok()
    return project


@pytest.fixture
def mallory(ada: Project) -> Project:
    """A clone of somebody who may push, with all that the server has."""
    top = ada.top.parent / "mallory"
    subprocess.run(["git", "clone", "--quiet", ada.remote, top], check=True)
    clone = replace(ada, top=top)
    clone.git("config", "user.name", "Mallory")
    clone.git("config", "user.email", "mallory@example.com")
    clone.git(
        "fetch", "--quiet", "origin", "+refs/aiwg/*:refs/aiwg/*", "+refs/notes/*:refs/notes/*"
    )
    clone.git("branch", "aiwg/journal", "origin/aiwg/journal")
    return clone


def server(project: Project, ref: str) -> str:
    done = subprocess.run(
        ["git", "--git-dir", project.remote, "rev-parse", "-q", "--verify", ref],
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def forced(mallory: Project, *refspecs: str) -> None:
    mallory.git("push", "--quiet", "--force", "--no-verify", "origin", *refspecs)


def results(answer: Answer) -> dict[str, Any]:
    return {change["name"]: change["result"] for change in answer.json["changes"]}


def is_rejected(project: Project) -> None:
    """Bob's word stands, and the work may not land."""
    found = project.gate("check", "origin/main..feature", "--ref", MAIN, "--json").json
    assert found["status"] in ("rejected", "blocked"), found["reasons"]
    assert [b"no minimum length" in raw for raw in copy_of(project)] == [True]


def asked_again(project: Project, after: str) -> str:
    """Iteration 1 asked by Mallory once more, by its bytes, on the tip `after`."""
    repo = repository(project)
    known = ledgers.read(repo, "main", "feature")
    stamp = Stamp(Person("Mallory", "mallory@example.com"), 1_764_565_300)
    base = ledgers.read(repo, "main", "feature", after)
    request = known.newest
    assert request
    event = Event("", 0, EventName.OPENED, stamp.time, stamp.person, None)
    anew = replace(request, id="", nonce="f" * 32, opened=stamp)
    return str(ledgers.extended(repo, base, Draft(event, 1, "open", anew), stamp).tip)


def rewind(mallory: Project) -> None:
    forced(mallory, f"{LEDGER}~1:{LEDGER}")


def empty(mallory: Project) -> None:
    root = mallory.git("rev-list", "--max-parents=0", "--first-parent", LEDGER).out.strip()
    forced(mallory, f"{root}:{LEDGER}")


def delete(mallory: Project) -> None:
    forced(mallory, f":{LEDGER}")


def replace_chain(mallory: Project) -> None:
    root = mallory.git("rev-list", "--max-parents=0", "--first-parent", LEDGER).out.strip()
    forced(mallory, f"{asked_again(mallory, root)}:{LEDGER}")


def drop_a_file(mallory: Project) -> None:
    rebuilt(mallory, lambda files: {n: o for n, o in files.items() if not n.endswith(".tag")})
    forced(mallory, f"{LEDGER}:{LEDGER}")


def another_object(mallory: Project) -> None:
    forced(mallory, f"origin/main:{LEDGER}")


ATTACKS = [rewind, empty, delete, replace_chain, drop_a_file, another_object]


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_ledger_is_put_back(
    ada: Project, mallory: Project, attack: Callable[[Project], None]
) -> None:
    """2: whatever became of it on the server, the clone that knew the rejection puts it there."""
    before = server(ada, LEDGER)
    attack(mallory)
    assert server(ada, LEDGER) != before
    done = ada.gate("sync", "--json").ok()
    assert results(done)["main of feature"] == "put-back"
    said = done.json["changes"][0]["reasons"][0]
    assert said.endswith("on origin, and this is put back")
    tip = server(ada, LEDGER)
    assert tip == ada.rev(LEDGER)
    assert ada.git("merge-base", "--is-ancestor", before, tip).status == 0
    is_rejected(ada)
    assert ada.gate("sync").ok().out == "nothing new: what is here and on origin is the same\n"


@pytest.mark.parametrize("attack", [rewind, delete, replace_chain, drop_a_file])
def test_a_clone_that_deleted_its_own_ref_knows_from_the_remote(
    ada: Project, mallory: Project, attack: Callable[[Project], None]
) -> None:
    """2: what the remote was last seen to have is knowledge too."""
    before = server(ada, LEDGER)
    attack(mallory)
    ada.git("update-ref", "-d", LEDGER)
    assert results(ada.gate("sync", "--json").ok())["main of feature"] == "put-back"
    assert ada.git("merge-base", "--is-ancestor", before, LEDGER).status == 0
    is_rejected(ada)


@pytest.mark.parametrize("attack", [rewind, delete, replace_chain, drop_a_file])
def test_a_new_clone_knows_from_the_journal(
    ada: Project, mallory: Project, attack: Callable[[Project], None]
) -> None:
    """2: nobody who had the ledger comes by, and the journal's branch is as it was."""
    before = server(ada, LEDGER)
    attack(mallory)
    top = ada.top.parent / "new"
    subprocess.run(["git", "clone", "--quiet", ada.remote, top], check=True)
    clone = replace(ada, top=top)
    clone.be(ada.people["ada"])
    assert results(clone.gate("sync", "--json").ok())["main of feature"] == "put-back"
    assert clone.git("merge-base", "--is-ancestor", before, server(ada, LEDGER)).status == 0
    assert copy_of(clone) == copy_of(ada)


@pytest.mark.parametrize("attack", [rewind, replace_chain, drop_a_file])
def test_a_plain_fetch_in_between_takes_nothing_away(
    ada: Project, mallory: Project, attack: Callable[[Project], None]
) -> None:
    """2: `git fetch` has overwritten what the remote was known to have; own refs stay."""
    ada.gate("init").ok()
    before = server(ada, LEDGER)
    attack(mallory)
    ada.git("fetch", "--quiet", "origin")
    ada.gate("sync").ok()
    assert server(ada, LEDGER) == ada.rev(LEDGER)
    assert len(copy_of(ada)) == 1
    is_rejected(ada)
    assert before


def in_another_order(mallory: Project, ledger: Ledger) -> str:
    """Two requests and the record about the first, the second request before the first."""
    repo = repository(mallory)
    first, second = ledger.requests.values()
    [record] = ledger.records.values()
    stamp = Stamp(Person("Mallory", "mallory@example.com"), 1_764_565_300)
    root = ledgers.write_root(repo, "main", "feature")
    found = ledgers.read(repo, "main", "feature", root)
    for name, request, raw in (
        (EventName.OPENED, second.id, None),
        (EventName.ITERATED, first.id, None),
        (EventName.DECIDED, first.id, record),
    ):
        event = Event("", 0, name, stamp.time, stamp.person, request)
        found = ledgers.extended(repo, found, Draft(event, 1, "open", None, raw), stamp)
    return str(found.tip)


@pytest.mark.parametrize("fetched", [False, True])
def test_requests_in_another_order(ada: Project, mallory: Project, fetched: bool) -> None:
    """28: an older request is made the newest one, so that it would authorise again."""
    time.sleep(1.1)  # requests of one second are ordered by their ids
    ada.git("switch", "--quiet", "feature")
    ada.commit("better", {"feature.md": "# feature, better\n"})
    ada.gate("open").ok()
    ada.gate("sync").ok()
    ledger = ledgers.read(repository(ada), "main", "feature")
    newest = ada.rev(LEDGER)
    mallory.git("fetch", "--quiet", "origin", f"+{LEDGER}:{LEDGER}")
    forced(mallory, f"{in_another_order(mallory, ledger)}:{LEDGER}")
    if fetched:
        ada.git("fetch", "--quiet", "origin", "+refs/aiwg/gates/*:refs/gitgate/origin/gates/*")
    done = ada.gate("sync", "--json").ok()
    [said] = [c["reasons"] for c in done.json["changes"] if c["ref"] == LEDGER]
    assert said == ["its requests stand in another order on origin, and this is put back"]
    assert server(ada, LEDGER) == newest


@pytest.mark.parametrize("fetched", [False, True])
@pytest.mark.parametrize("taken", [False, True])
def test_requests_in_the_order_of_their_times(
    ada: Project, mallory: Project, fetched: bool, taken: bool
) -> None:
    """28: Ada's clock went back between two requests, so their order alone shows nothing: the
    journal does, also where a plain fetch brought the rewritten ledger, and where this clone's
    own ref took it over (a mirror)."""
    repo = repository(ada)
    before = ledgers.read(repo, "main", "feature")
    early = Stamp(Person("Ada Lovelace", "ada@example.com"), 1_764_565_100)
    again = replace(next(iter(before.requests.values())), id="", nonce="e" * 32, opened=early)
    event = Event("", 0, EventName.ITERATED, early.time, early.person, None)
    honest = str(ledgers.extended(repo, before, Draft(event, 2, "open", again), early).tip)
    ada.git("update-ref", LEDGER, honest)
    ada.gate("sync").ok()
    ledger = ledgers.read(repo, "main", "feature")
    mallory.git("fetch", "--quiet", "origin", f"+{LEDGER}:{LEDGER}")
    forced(mallory, f"{in_another_order(mallory, ledger)}:{LEDGER}")
    if fetched:
        ada.git("fetch", "--quiet", "origin", "+refs/aiwg/gates/*:refs/gitgate/origin/gates/*")
    if taken:
        ada.git("fetch", "--quiet", "origin", "+refs/aiwg/gates/*:refs/aiwg/gates/*")
    done = ada.gate("sync", "--json").ok()
    [said] = [c["reasons"] for c in done.json["changes"] if c["ref"] == LEDGER]
    assert said[:1] == [
        "it does not go on from what the journal names on origin, and this is put back"
    ]
    assert server(ada, LEDGER) == ada.rev(LEDGER) == honest
    assert ada.gate("sync").ok().out == "nothing new: what is here and on origin is the same\n"


def test_honest_twin_of_a_rewrite(ada: Project, mallory: Project) -> None:
    """What others append is taken, and nothing is said to be put back."""
    mallory.be(ada.people["bob"])
    mallory.gate("sync").ok()
    mallory.git("switch", "--quiet", "--create", "feature", f"{LEDGER}^2^1", check=False)
    mallory.gate("retract", "main", "--subject", "feature").ok()
    mallory.gate("sync").ok()
    done = ada.gate("sync", "--json").ok()
    assert results(done) == {"main of feature": "taken", "notes": "taken", "journal": "taken"}
    assert server(ada, LEDGER) == ada.rev(LEDGER) == mallory.rev(LEDGER)


def without_a_note(mallory: Project) -> None:
    noted = mallory.git("notes", f"--ref={ids.NOTES}", "list").out.split()
    for commit in noted[1::2]:
        mallory.git("notes", f"--ref={ids.NOTES}", "remove", commit)
    forced(mallory, f"{ids.NOTES}:{ids.NOTES}")


def without_notes(mallory: Project) -> None:
    forced(mallory, f":{ids.NOTES}")


def other_notes(mallory: Project) -> None:
    forced(mallory, f"origin/main:{ids.NOTES}")


@pytest.mark.parametrize("attack", [without_a_note, without_notes, other_notes])
def test_notes_get_their_records_back(
    ada: Project, mallory: Project, attack: Callable[[Project], None]
) -> None:
    """3: a note is removed, all of them, or others are put in their place."""
    commit = ada.rev("feature")
    before = note_on(ada, commit)
    attack(mallory)
    done = ada.gate("sync", "--json").ok()
    assert results(done) == {"notes": "put-back"}
    assert server(ada, ids.NOTES) == ada.rev(ids.NOTES)
    assert note_on(ada, commit) == before
    assert ada.gate("sync").ok().out == "nothing new: what is here and on origin is the same\n"


def test_honest_twin_of_notes(ada: Project, mallory: Project) -> None:
    """A note on another commit, or more text on the same, is taken."""
    mallory.git("notes", f"--ref={ids.NOTES}", "append", "-m", "seen", mallory.rev("origin/main"))
    forced(mallory, f"{ids.NOTES}:{ids.NOTES}")
    assert results(ada.gate("sync", "--json").ok()) == {"notes": "taken"}
    assert note_on(ada, ada.rev("origin/main")) == "seen\n"


def journal_rewound(mallory: Project) -> None:
    forced(mallory, f"aiwg/journal~1:{ids.JOURNAL}")


def journal_deleted(mallory: Project) -> None:
    forced(mallory, f":{ids.JOURNAL}")


def journal_rewritten(mallory: Project) -> None:
    root = mallory.git("rev-list", "--max-parents=0", "--first-parent", "aiwg/journal").out.strip()
    empty_tree = mallory.git("rev-parse", f"{root}^{{tree}}").out.strip()
    other = mallory.git("commit-tree", empty_tree, "-p", root, "-m", "nothing").out.strip()
    forced(mallory, f"{other}:{ids.JOURNAL}")


def lied(mallory: Project, change: Callable[[str], str], *tips: str) -> None:
    """A commit that goes on from the real journal; the file goes where it gets empty."""
    [path] = mallory.git("ls-tree", "-r", "--name-only", "aiwg/journal").out.split()
    text = change(mallory.git("cat-file", "blob", f"aiwg/journal:{path}").out)
    lie = mallory.git("hash-object", "-w", "--stdin", stdin=text).out.strip()
    index = {"GIT_INDEX_FILE": str(mallory.top / ".git" / "lie")}
    mallory.git("read-tree", "aiwg/journal", env=index)
    entry = ("--cacheinfo", f"100644,{lie},{path}") if text else ("--force-remove", path)
    mallory.git("update-index", *entry, env=index)
    tree = mallory.git("write-tree", env=index).out.strip()
    parents = [word for tip in ("aiwg/journal", *tips) for word in ("-p", tip)]
    commit = mallory.git("commit-tree", tree, *parents, "-m", "lie").out.strip()
    forced(mallory, f"{commit}:{ids.JOURNAL}")


def journal_with_a_lie(mallory: Project) -> None:
    """It names an older tip of the ledger."""
    tip, older = mallory.rev(LEDGER), mallory.rev(f"{LEDGER}~1")
    lied(mallory, lambda text: text.replace(tip, older), older)


def journal_without_a_file(mallory: Project) -> None:
    lied(mallory, lambda text: "")


def journal_with_another_status(mallory: Project) -> None:
    lied(mallory, lambda text: text.replace("\trejected\t", "\twithdrawn\t"))


GONE = [journal_rewound, journal_deleted, journal_rewritten]
LIES = [journal_with_a_lie, journal_without_a_file, journal_with_another_status]


@pytest.mark.parametrize("attack", [*GONE, *LIES])
def test_the_journal_is_put_back(
    ada: Project, mallory: Project, attack: Callable[[Project], None]
) -> None:
    """2: the journal on the server lost what it named, or says what is not so."""
    before = server(ada, ids.JOURNAL)
    attack(mallory)
    assert results(ada.gate("sync", "--json").ok()) == {"journal": "put-back"}
    after = server(ada, ids.JOURNAL)
    assert ada.git("merge-base", "--is-ancestor", before, after).status == 0
    assert after == ada.rev("aiwg/journal")
    assert defects(repository(ada), None, after) == ()
    assert ada.gate("sync").ok().out == "nothing new: what is here and on origin is the same\n"


def test_a_ledger_that_no_ref_shows_any_more(ada: Project, mallory: Project) -> None:
    """2: it was deleted on the server, and a mirror's `git fetch --prune` took both refs here."""
    delete(mallory)
    everything = (
        "+refs/aiwg/gates/*:refs/aiwg/gates/*",
        "+refs/aiwg/gates/*:refs/gitgate/origin/gates/*",
    )
    before = ada.rev(LEDGER)
    for refspec in everything:
        ada.git("fetch", "--quiet", "--prune", "origin", refspec)
    ada.git("gc", "--quiet", "--prune=now")
    assert ada.git("rev-parse", "--quiet", "--verify", LEDGER, check=False).status == 1
    assert results(ada.gate("sync", "--json").ok())["main of feature"] == "put-back"
    assert server(ada, LEDGER) == ada.rev(LEDGER) == before


def test_what_somebody_else_has_put_back_is_taken(ada: Project, mallory: Project) -> None:
    """A plain fetch saw the ledger rewound; until the next `sync` another clone had mended it."""
    mallory.be(ada.people["bob"])
    rewind(mallory)
    ada.git("fetch", "--quiet", "origin", "+refs/aiwg/gates/*:refs/gitgate/origin/gates/*")
    mallory.git("push", "--quiet", "--no-verify", "origin", f"{LEDGER}:{LEDGER}")
    mallory.gate("sync").ok()
    mallory.git("branch", "feature", f"{LEDGER}^2^1", check=False)
    mallory.gate("retract", "main", "--subject", "feature").ok()
    mallory.gate("sync").ok()
    assert results(ada.gate("sync", "--json").ok())["main of feature"] == "taken"
