"""Ledgers: what is appended is what is read, in objects that git and everybody else can read."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from gitworld import STAMP, WHEN, git, race
from ledgerworld import (
    FOLDER,
    GATE,
    REF,
    SUBJECT,
    add,
    ask,
    decide,
    decided,
    event,
    opened,
    record,
    world,
)

from gitgate.core import ids
from gitgate.core.events import EventName
from gitgate.core.request import Request
from gitgate.errors import Exit, GateError
from gitgate.git import ledger as ledgers
from gitgate.git import refs
from gitgate.git.chain import object_id
from gitgate.git.repository import Repository
from gitgate.git.requests import read_request
from gitgate.git.trees import EMPTY_TREE


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return world(tmp_path / "a")


def test_an_instance_without_a_ledger(repo: Repository) -> None:
    ledger = ledgers.read(repo, GATE, SUBJECT)
    assert (ledger.ref, ledger.tip, ledger.events, ledger.faults) == (REF, None, (), ())
    assert ledger.newest is None
    assert ledgers.listing(repo) == []


def test_appending_and_reading(repo: Repository) -> None:
    first = add(repo, opened(repo))
    [request] = first.requests.values()
    add(repo, decided(request.id, data=(b"one", b"two")))
    add(repo, opened(repo, number=2, name=EventName.ITERATED))
    add(repo, replace(opened(repo), event=event(EventName.WITHDRAWN, reason="no"), request=None))
    fresh = Repository.open(repo.git_dir.parent)
    ledger = ledgers.read(fresh, GATE, SUBJECT)
    assert ledger.faults == ()
    assert ledger == ledgers.read(repo, GATE, SUBJECT)
    assert [(one.number, one.name.value) for one in ledger.events] == [
        (1, "opened"),
        (2, "decided"),
        (3, "iterated"),
        (4, "withdrawn"),
    ]
    commits = git(repo.git_dir, "rev-list", "--first-parent", "--reverse", REF).split()
    assert [one.id for one in ledger.events] == commits[1:]
    raw = record(request.id)
    tag = object_id("tag", raw)
    assert (ledger.events[1].record, ledger.records, [*ledger.data]) == (tag, {tag: raw}, [tag])
    assert [repo.read(oid, "blob") for oid in ledger.data[tag]] == [b"one", b"two"]
    assert request == replace(ask(repo), id=request.id)
    assert ledger.newest == replace(
        ask(repo, number=2), id=ledger.newest.id if ledger.newest else ""
    )
    trees = tuple(git(repo.git_dir, "rev-parse", f"{word}^{{tree}}") for word in ("HEAD~1", "HEAD"))
    assert ledger.trees == dict.fromkeys(ledger.requests, trees)
    git(repo.git_dir, "fsck", "--strict")


def test_the_objects_are_as_the_design_says(repo: Repository) -> None:
    add(repo, opened(repo))
    decide(repo, data=(b"one",))
    newest = ledgers.read(repo, GATE, SUBJECT).newest
    assert newest
    root, first, second = git(repo.git_dir, "rev-list", "--first-parent", "--reverse", REF).split()
    assert git(repo.git_dir, "cat-file", "commit", root) == (
        f"tree {EMPTY_TREE}\n"
        "author git-gate <git-gate@git-gate.invalid> 946684800 +0000\n"
        "committer git-gate <git-gate@git-gate.invalid> 946684800 +0000\n\n"
        f"gate {GATE}: {SUBJECT}"
    )
    assert git(repo.git_dir, "rev-parse", f"{first}^@").split() == [root, newest.id]
    assert git(repo.git_dir, "rev-parse", f"{second}^@").split() == [first]
    listed = git(repo.git_dir, "ls-tree", "-r", "--name-only", second).split()
    names = ("0001-opened.yml", "0002-data/1", "0002-decided.tag", "0002-decided.yml")
    assert listed == [f"{FOLDER}/{name}" for name in names]
    trailers = git(repo.git_dir, "log", "-1", "--format=%(trailers:only)", second).strip()
    assert trailers.split("\n") == [
        f"Gate: {GATE}",
        f"Subject: {SUBJECT}",
        "Event: decided",
        "Number: 2",
        "Iteration: 1",
        "Status: approved",
        f"Request: {newest.id}",
    ]
    work, base = repo.resolve("HEAD"), repo.resolve("HEAD~1")
    assert git(repo.git_dir, "rev-parse", f"{newest.id}^@").split() == [work, base]
    for folder, original in (("base", base), ("work", work)):
        tree = git(repo.git_dir, "rev-parse", f"{newest.id}:{folder}")
        assert tree == git(repo.git_dir, "rev-parse", f"{original}^{{tree}}")
    body = git(repo.git_dir, "show", f"{newest.id}:{FOLDER}/request.yml")
    assert body.startswith('title: "Lifecycle Architecture"')


def test_a_record_can_be_taken_out_by_git_alone(repo: Repository) -> None:
    add(repo, opened(repo))
    ledger = decide(repo)
    raw = subprocess.run(
        ["git", "-C", repo.git_dir, "cat-file", "blob", f"{REF}:{FOLDER}/0002-decided.tag"],
        capture_output=True,
        check=True,
    ).stdout
    tag = git(repo.git_dir, "hash-object", "-t", "tag", "-w", "--stdin", stdin=raw)
    assert {tag: raw} == ledger.records
    assert git(repo.git_dir, "mktag", stdin=raw) == tag


def test_a_request_about_an_unchanged_commit_has_one_parent(repo: Repository) -> None:
    request = ledgers.write_request(repo, ask(repo, base="HEAD"))
    assert repo.commit(request.id).parents == (request.work,)
    stored = read_request(repo, request.id, GATE, SUBJECT)
    assert stored.request == request
    assert stored.base_tree == stored.work_tree == repo.commit(request.work).tree


def test_the_first_commit_is_the_same_object_everywhere(repo: Repository, tmp_path: Path) -> None:
    other = world(tmp_path / "b")
    root = ledgers.write_root(repo, GATE, SUBJECT)
    assert root == ledgers.write_root(other, GATE, SUBJECT)
    assert root != ledgers.write_root(other, GATE, SUBJECT.lower())
    refs.compare_and_swap(repo, REF, root, None, "m")
    bare = ledgers.read(repo, GATE, SUBJECT)
    assert (bare.tip, bare.events, bare.faults) == (root, (), ())
    assert [one.number for one in add(repo, opened(repo)).events] == [1]


def test_a_replayed_event_keeps_its_blob(repo: Repository) -> None:
    add(repo, opened(repo))
    late = decided(ledgers.write_request(repo, ask(repo)).id)
    once = git(repo.git_dir, "rev-parse", f"{add(repo, late).tip}:{FOLDER}/0002-decided.yml")
    decide(repo, "Another.")
    again = git(repo.git_dir, "rev-parse", f"{add(repo, late).tip}:{FOLDER}/0004-decided.yml")
    assert once == again


def test_nothing_to_write(repo: Repository) -> None:
    before = add(repo, opened(repo))
    after = ledgers.append(repo, GATE, SUBJECT, lambda ledger: None, stamp=STAMP)
    assert after == before == ledgers.read(repo, GATE, SUBJECT)


def test_what_could_not_be_read_back_is_not_written(repo: Repository) -> None:
    add(repo, opened(repo))
    tip = refs.read(repo, REF)
    for draft in (decided("1" * 40), opened(repo)):
        with pytest.raises(GateError, match="nothing can be added") as caught:
            add(repo, draft)
        assert caught.value.kind is Exit.UNTRUSTED
    with pytest.raises(ValueError, match="reason"):
        add(repo, replace(opened(repo), event=event(EventName.OPENED, reason="no such field")))
    assert refs.read(repo, REF) == tip


def test_a_lost_race_is_decided_anew(repo: Repository) -> None:
    add(repo, opened(repo))
    rival = Repository.open(repo.git_dir.parent)
    seen: list[int] = []

    def slowly(ledger: ledgers.Ledger) -> ledgers.Draft | None:
        seen.append(len(ledger.events))
        if len(seen) < 3:
            decide(rival, f"faster {len(seen)}")
        newest = ledger.newest
        return decided(newest.id, "slow") if newest else None

    ledger = ledgers.append(repo, GATE, SUBJECT, slowly, stamp=STAMP)
    assert seen == [1, 2, 3]
    assert len(ledger.events) == 4
    assert ledger == ledgers.read(rival, GATE, SUBJECT)


def test_races_end(repo: Repository) -> None:
    rival = Repository.open(repo.git_dir.parent)
    add(repo, opened(repo))

    def always_late(ledger: ledgers.Ledger) -> ledgers.Draft | None:
        decide(rival, f"faster {len(ledger.events)}")
        return decided(ledger.events[0].request or "", "slow")

    with pytest.raises(refs.LostRace):
        ledgers.append(repo, GATE, SUBJECT, always_late, stamp=STAMP, retries=2)
    assert len(ledgers.read(repo, GATE, SUBJECT).events) == 4


_WRITER = """
from ledgerworld import GATE, SUBJECT, decided, opened
from gitworld import STAMP
from gitgate.core.events import EventName
from gitgate.git import ledger as ledgers
from gitgate.git.repository import Repository

def run(folder, number, wait):
    repo = Repository.open(folder)
    wait()

    def ask(ledger):
        name = EventName.ITERATED if ledger.events else EventName.OPENED
        return opened(repo, number=number, name=name)

    request = ledgers.append(repo, GATE, SUBJECT, ask, stamp=STAMP).events[-1].request
    answer = decided(request, str(number))
    ledgers.append(repo, GATE, SUBJECT, lambda ledger: answer, stamp=STAMP)
"""


def test_of_twenty_racing_writers_all_survive(repo: Repository) -> None:
    """From the very first write on, which is where a loser once vanished without an error."""
    race(_WRITER, repo.git_dir.parent, 20)
    ledger = ledgers.read(repo, GATE, SUBJECT)
    assert ledger.faults == ()
    assert [one.number for one in ledger.events] == list(range(1, 41))
    assert len(ledger.requests) == len(ledger.records) == 20
    assert [one.name for one in ledger.events].count(EventName.OPENED) == 1
    git(repo.git_dir, "fsck", "--strict")


def test_a_list_needs_the_newest_commits_only(repo: Repository) -> None:
    add(repo, opened(repo))
    decide(repo)
    long = "x" * 300
    for subject in ("a b", long):
        request = ask(repo, subject=subject)
        draft = ledgers.Draft(event(EventName.OPENED), 1, "open", request=request)
        assert add(repo, draft, subject).faults == ()
    head = repo.resolve("HEAD")
    git(repo.git_dir, "update-ref", ids.ledger_ref(GATE, "foreign"), head)
    git(repo.git_dir, "update-ref", ids.ledger_ref(GATE, "moved"), REF)
    (repo.git_dir / ids.ledger_ref(GATE, "lost")).write_text("1" * 40 + "\n")
    found = {one.ref: one for one in ledgers.listing(repo)}
    decided_one = found[REF].summary
    assert decided_one
    assert (decided_one.gate, decided_one.subject, decided_one.status) == (
        GATE,
        SUBJECT,
        "approved",
    )
    assert (decided_one.number, decided_one.event) == (2, EventName.DECIDED)
    assert decided_one.request == next(iter(ledgers.read(repo, GATE, SUBJECT).requests))
    assert {one.summary.subject for one in found.values() if one.summary} == {SUBJECT, "a b", long}
    faults = {ref.rpartition("/")[2]: one.fault for ref, one in found.items() if not one.summary}
    assert set(faults) == {"foreign", "moved", "lost"}
    assert f"is about {GATE} of {SUBJECT}" in faults["moved"]
    assert "is missing" in faults["lost"]
    assert head in faults["foreign"]


def test_a_given_tip_is_read_without_its_ref(repo: Repository) -> None:
    old = add(repo, opened(repo))
    new = decide(repo)
    assert old.tip and new.tip
    assert ledgers.read(repo, GATE, SUBJECT, old.tip) == old
    fresh = Repository.open(repo.git_dir.parent)
    assert ledgers.read(fresh, GATE, SUBJECT, new.tip) == new
    assert ledgers.read(fresh, GATE, SUBJECT, old.tip) == old


def test_several_lives_and_kinds_of_event(repo: Repository) -> None:
    head = repo.resolve("HEAD")
    [request] = add(repo, opened(repo)).requests
    landed = event(EventName.LANDED, request, target="refs/heads/main", old=head, new=head)
    add(repo, ledgers.Draft(landed, 1, "landed"))
    expired = event(EventName.EXPIRED, request, deadline=WHEN)
    add(repo, ledgers.Draft(expired, 1, "expired"))
    ledger = add(repo, opened(repo, number=2))
    assert [one.name.value for one in ledger.events] == ["opened", "landed", "expired", "opened"]
    assert isinstance(ledger.newest, Request)
