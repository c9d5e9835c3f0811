"""A ledger in which anything was altered, dropped, forged or lost says so, and never raises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from gitworld import STAMP, git
from ledgerworld import GATE, REF, SUBJECT, add, ask, decide, decided, event, opened, record, world

from gitgate.core import events, ids
from gitgate.core.events import EventName, Summary
from gitgate.errors import GateError
from gitgate.git import chain, refs
from gitgate.git import ledger as ledgers
from gitgate.git.ledger import Ledger
from gitgate.git.repository import Repository
from gitgate.git.requests import nested, read_request, write_request
from gitgate.git.trees import DIRECTORY, EMPTY_TREE, EXECUTABLE, REGULAR, SYMLINK

Files = dict[bytes, tuple[int, str] | bytes | None]
FOLDERS = (b".aiwg", b"gates", GATE.encode())


class Forge:
    """An honest ledger (opened, decided with two files), and commits that nobody honest makes."""

    def __init__(self, folder: Path) -> None:
        self.repo = world(folder)
        add(self.repo, opened(self.repo))
        self.honest = decide(self.repo, data=(b"one", b"two"))
        assert self.honest.newest and self.honest.tip
        self.request = self.honest.newest
        self.tip = self.honest.tip

    def files(self, commit: str) -> dict[bytes, tuple[int, str]]:
        folder = self.repo.entry(self.repo.commit(commit).tree, b"/".join(FOLDERS))
        return dict(self.repo.children(folder[1])) if folder else {}

    def commit(
        self,
        number: int,
        changes: Files,
        /,
        *,
        name: EventName = EventName.WITHDRAWN,
        parents: tuple[str, ...] | None = None,
        folders: tuple[bytes, ...] = FOLDERS,
        message: str | None = None,
        **summary: object,
    ) -> Ledger:
        """Read a ledger whose newest commit has the files of the first parent with `changes`."""
        parents = parents or (self.tip,)
        files = self.files(parents[0])
        for path, what in changes.items():
            if what is None:
                files.pop(path)
            else:
                blob = (REGULAR, self.repo.write_blob(what)) if isinstance(what, bytes) else what
                files[path] = blob
        honest = Summary(GATE, SUBJECT, name, number, 1, "open", self.request.id)
        if message is None:
            message = events.summary_message(replace(honest, **summary))  # type: ignore[arg-type]
        tree = nested(self.repo, folders, self.repo.write_tree(files))
        made = self.repo.write_commit(tree, parents, STAMP, STAMP, message)
        return ledgers.read(Repository.open(self.repo.git_dir), GATE, SUBJECT, made)


@pytest.fixture
def forge(tmp_path: Path) -> Forge:
    return Forge(tmp_path / "a")


def fault(ledger: Ledger, *phrases: str) -> None:
    assert ledger.faults, phrases
    for phrase in phrases:
        assert any(phrase in one for one in ledger.faults), (phrase, ledger.faults)


GONE = events.body(event(EventName.WITHDRAWN, reason="gone"))
THIRD = b"0003-withdrawn.yml"


def test_the_forge_can_be_honest(forge: Forge) -> None:
    ledger = forge.commit(3, {THIRD: GONE})
    assert ledger.faults == ()
    assert [one.number for one in ledger.events] == [1, 2, 3]


@pytest.mark.parametrize(
    "changes",
    [
        {b"0001-opened.yml": GONE},
        {b"0001-opened.yml": None},
        {b"0002-decided.tag": b"another record"},
        {b"0002-decided.tag": None},
        {b"0002-data": None},
        {b"0002-decided.yml": None, b"0002-decided.tag": None, b"0002-data": None},
        {b"0002-landed.yml": GONE},
    ],
    ids=lambda changes: b",".join(changes).decode(),
)
def test_a_later_commit_that_alters_an_earlier_event(forge: Forge, changes: Files) -> None:
    fault(forge.commit(3, {THIRD: GONE, **changes}), "does not only add")


def test_an_altered_event_that_was_put_back(forge: Forge) -> None:
    """Attack: a commit whose tree drops an event; the next one restores it."""
    dropped = forge.commit(3, {THIRD: GONE, b"0002-decided.tag": None})
    assert dropped.tip
    restored = forge.files(forge.tip)[b"0002-decided.tag"]
    again = {b"0004-withdrawn.yml": GONE, b"0002-decided.tag": restored}
    ledger = forge.commit(4, again, parents=(dropped.tip,))
    assert [one for one in ledger.faults if "does not only add" in one] == list(ledger.faults)
    assert "event 3" in ledger.faults[0]


@pytest.mark.parametrize(
    ("changes", "phrase"),
    [
        ({}, "has 0 files that say what happened"),
        ({b"0004-withdrawn.yml": GONE}, "has files of an event 4"),
        ({b"0000-withdrawn.yml": GONE, THIRD: GONE}, "has files of an event 0"),
        ({THIRD: GONE, b"0003-expired.yml": GONE}, "has 2 files"),
        ({THIRD: GONE, b"0003-decided.tag": b"x"}, "which does not belong to it"),
        ({THIRD: GONE, b"0003-data": (DIRECTORY, EMPTY_TREE)}, "which does not belong to it"),
        ({b"0003-unheard.yml": GONE}, "cannot be read: 'unheard'"),
        ({b"3-withdrawn.yml": GONE}, "belongs to no event"),
        ({b"00003-withdrawn.yml": GONE}, "belongs to no event"),
        ({THIRD: GONE, b"README": b"x"}, 'holds "README", which belongs to no event'),
        ({THIRD: b"not: yaml: at all"}, "cannot be read"),
        ({THIRD: GONE + b"reason: twice\n"}, "cannot be read"),
        ({THIRD: b"x" * (events.MAX_EVENT + 1)}, "are the most allowed"),
        ({THIRD: (REGULAR, "1" * 40)}, f"object {'1' * 40} is missing"),
    ],
)
def test_files_that_no_event_has(forge: Forge, changes: Files, phrase: str) -> None:
    fault(forge.commit(3, changes), phrase)


@pytest.mark.parametrize("mode", [EXECUTABLE, SYMLINK])
def test_files_that_are_not_regular(forge: Forge, mode: int) -> None:
    blob = forge.repo.write_blob(GONE)
    fault(forge.commit(3, {THIRD: (mode, blob)}), "something else than a regular file")


def test_trees_that_hold_more_than_the_gate(forge: Forge) -> None:
    phrase = f"does not hold .aiwg/gates/{GATE} and nothing else"
    fault(forge.commit(3, {THIRD: GONE}, folders=(b".aiwg", b"gates", b"other")), phrase)
    fault(forge.commit(3, {THIRD: GONE}, folders=(b"x", *FOLDERS)), phrase)


@pytest.mark.parametrize(
    "summary",
    [
        {"gate": "other"},
        {"subject": "other"},
        {"event": EventName.EXPIRED},
        {"number": 4},
        {"request": None},
        {"request": "1" * 40},
    ],
    ids=str,
)
def test_trailers_that_disagree(forge: Forge, summary: dict[str, object]) -> None:
    fault(forge.commit(3, {THIRD: GONE}, **summary), "does not say what the event says")


def test_messages_that_are_no_summary(forge: Forge) -> None:
    for message in ("withdrawn\n", "a\n\nGate: elaboration\n", "\udcff\n"):
        fault(forge.commit(3, {THIRD: GONE}, message=message), "a message that cannot be read")


def test_parents_that_do_not_fit(forge: Forge) -> None:
    second = forge.honest.events[0].id
    phrase = "as second parent"
    fault(forge.commit(3, {THIRD: GONE}, parents=(forge.tip, forge.request.id)), phrase)
    fault(forge.commit(3, {THIRD: GONE}, parents=(forge.tip, second)), phrase)
    other = write_request(forge.repo, ask(forge.repo, number=2))
    body = events.body(event(EventName.ITERATED, other.id))
    files: Files = {b"0003-iterated.yml": body}
    brought = (forge.tip, other.id)
    honest = forge.commit(3, files, name=EventName.ITERATED, parents=brought, request=other.id)
    assert honest.faults == ()
    for parents in ((forge.tip,), (forge.tip, forge.request.id), (*brought, forge.request.id)):
        forged = forge.commit(3, files, name=EventName.ITERATED, parents=parents, request=other.id)
        fault(forged, phrase)


def test_the_same_request_brought_again(forge: Forge) -> None:
    """Attack: an old request appended again would be the newest one."""
    body = events.body(event(EventName.ITERATED, forge.request.id))
    again = forge.commit(
        3,
        {b"0003-iterated.yml": body},
        name=EventName.ITERATED,
        parents=(forge.tip, forge.request.id),
    )
    fault(again, "a second time")


def test_events_about_a_strange_request(forge: Forge) -> None:
    body = events.body(event(EventName.WITHDRAWN, "1" * 40))
    fault(forge.commit(3, {THIRD: body}), "which no event brought")


def test_records_that_do_not_fit_their_event(forge: Forge) -> None:
    def third(raw: bytes | tuple[int, str] | None, named: bytes, data: Files) -> Ledger:
        tag = chain.object_id("tag", named)
        body = events.body(replace(event(EventName.DECIDED, forge.request.id), record=tag))
        files: Files = {b"0003-decided.yml": body, **data}
        if raw is not None:
            files[b"0003-decided.tag"] = raw
        return forge.commit(3, files, name=EventName.DECIDED)

    raw = record(forge.request.id, "third")
    assert third(raw, raw, {}).faults == ()
    fault(third(None, raw, {}), "has no record")
    fault(third(raw + b"\n", raw, {}), "has another record than")
    fault(third((SYMLINK, forge.repo.write_blob(raw)), raw, {}), "has no record")
    huge = b"x" * ((1 << 20) + 1)
    fault(third(huge, huge, {}), "are the most allowed")
    blob = (REGULAR, forge.repo.write_blob(b"x"))
    for entries in ({}, {b"2": blob}, {b"01": blob}, {b"1": blob, b"x": blob}):
        data = forge.repo.write_tree(entries)
        fault(third(raw, raw, {b"0003-data": (DIRECTORY, data)}), "no list of files")
    fault(third(raw, raw, {b"0003-data": blob}), "no list of files")
    junk = b"what nobody signed"
    assert third(junk, junk, {}).faults == ()  # reported by who judges it, and blocks nobody


def test_another_beginning(forge: Forge) -> None:
    other = ledgers.write_root(forge.repo, GATE, "other")
    files = {name: entry for name, entry in forge.files(forge.tip).items() if name < b"0002"}
    opened_again = forge.commit(
        1, {**files}, name=EventName.OPENED, parents=(other, forge.request.id)
    )
    fault(opened_again, "does not begin with the first commit")
    assert [one.number for one in opened_again.events] == [1]
    head = forge.repo.resolve("HEAD")
    fault(ledgers.read(forge.repo, GATE, SUBJECT, head), "does not hold .aiwg")
    fault(ledgers.read(forge.repo, GATE, "other", forge.tip), "does not begin with")
    fault(ledgers.read(forge.repo, GATE, SUBJECT, "1" * 40), "is missing")
    fault(
        ledgers.read(forge.repo, GATE, SUBJECT, git(forge.repo.git_dir, "rev-parse", "HEAD:f")), ""
    )


def forged_request(forge: Forge, alter: Callable[[dict[bytes, tuple[int, str]]], None]) -> str:
    commit = forge.repo.commit(forge.request.id)
    tree = dict(forge.repo.children(commit.tree))
    alter(tree)
    stored = forge.repo.write_tree(tree)
    return forge.repo.write_commit(
        stored, commit.parents, commit.author, commit.committer, commit.message
    )


def test_requests_that_show_something_else(forge: Forge) -> None:
    """Attack: what the reviewer sees is not what the commits W and B hold."""
    work = forge.repo.commit(forge.request.id)
    blob = (REGULAR, forge.repo.write_blob(b"x"))
    for alter in (
        lambda tree: tree.update({b"work": tree[b"base"]}),
        lambda tree: tree.update({b"base": tree[b"work"]}),
        lambda tree: tree.pop(b"work"),
        lambda tree: tree.update({b"more": blob}),
        lambda tree: tree.update({b"work": blob}),
    ):
        with pytest.raises(GateError, match="exactly the trees of its base and its work"):
            read_request(forge.repo, forged_request(forge, alter), GATE, SUBJECT)
    for alter, phrase in (
        (lambda tree: tree.update({b".aiwg": blob}), "has no request.yml"),
        (lambda tree: tree.update({b".aiwg": tree[b"work"]}), "has no request.yml"),
    ):
        with pytest.raises(GateError, match=phrase):
            read_request(forge.repo, forged_request(forge, alter), GATE, SUBJECT)
    for parents in ((), work.parents[:1], work.parents[::-1], (*work.parents, forge.tip)):
        made = forge.repo.write_commit(work.tree, parents, STAMP, STAMP, work.message)
        with pytest.raises(GateError, match="as parents"):
            read_request(forge.repo, made, GATE, SUBJECT)
    with pytest.raises(GateError, match=f"was made for {GATE} of {SUBJECT}"):
        read_request(forge.repo, forge.request.id, GATE, "other")
    with pytest.raises(GateError, match="for the gate other"):
        read_request(forge.repo, forge.request.id, "other", SUBJECT)
    with pytest.raises(GateError, match="cannot be read"):
        made = forge.repo.write_commit(work.tree, work.parents, STAMP, STAMP, "x\n")
        read_request(forge.repo, made, GATE, SUBJECT)


def test_a_forged_request_in_a_ledger(forge: Forge) -> None:
    def alter(tree: dict[bytes, tuple[int, str]]) -> None:
        tree[b"work"] = tree[b"base"]

    made = forged_request(forge, alter)
    body = events.body(event(EventName.ITERATED, made))
    parents = (forge.tip, made)
    files: Files = {b"0003-iterated.yml": body}
    ledger = forge.commit(3, files, name=EventName.ITERATED, parents=parents, request=made)
    fault(ledger, "event 3", "exactly the trees")
    assert made not in ledger.requests


def test_every_missing_object_is_a_fault(forge: Forge) -> None:
    """One object after the other is taken away, of all that the ledger is made of."""
    repo = forge.repo
    listed = git(repo.git_dir, "rev-list", "--objects", "--no-object-names", forge.tip).split()
    assert len(listed) > 15
    needed = 0
    for oid in listed:
        path = repo.git_dir / "objects" / oid[:2] / oid[2:]
        content = path.read_bytes()
        path.unlink()
        ledger = ledgers.read(Repository.open(repo.git_dir), GATE, SUBJECT)
        # Older trees and what B and W hold are not read: their ids are known from what is.
        assert ledger.faults or ledger == forge.honest, oid
        needed += bool(ledger.faults)
        path.write_bytes(content)
    assert needed >= 12
    assert ledgers.read(Repository.open(repo.git_dir), GATE, SUBJECT) == forge.honest


def test_a_missing_object_can_come_later(forge: Forge) -> None:
    record_blob = forge.files(forge.tip)[b"0002-decided.tag"][1]
    path = forge.repo.git_dir / "objects" / record_blob[:2] / record_blob[2:]
    content = path.read_bytes()
    path.unlink()
    repo = Repository.open(forge.repo.git_dir)
    fault(ledgers.read(repo, GATE, SUBJECT), "event 2", f"object {record_blob} is missing")
    path.write_bytes(content)
    assert ledgers.read(repo, GATE, SUBJECT) == forge.honest


def test_a_shallow_clone_says_what_it_lacks(forge: Forge, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--no-local", "--depth=1", (tmp_path / "a").as_uri(), str(clone))
    git(clone, "fetch", "-q", "--depth=1", "origin", f"{REF}:{REF}")
    fault(ledgers.read(Repository.open(clone), GATE, SUBJECT), "is missing")
    git(clone, "fetch", "-q", "--unshallow", "origin", "main", f"{REF}:{REF}")
    assert ledgers.read(Repository.open(clone), GATE, SUBJECT).faults == ()


def test_nothing_is_added_to_a_faulty_ledger(forge: Forge) -> None:
    bad = forge.commit(3, {THIRD: b"junk"})
    assert bad.tip
    refs.compare_and_swap(forge.repo, REF, bad.tip, forge.tip, "m")
    with pytest.raises(GateError, match="nothing can be added") as caught:
        add(forge.repo, decided(forge.request.id, "late"))
    assert caught.value.hint == "git gate repair"


def test_lists_have_caps(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, phrase in (("MAX_EVENTS", "more than 1 events"), ("MAX_DATA", "no list of files")):
        with monkeypatch.context() as patch:
            patch.setattr(chain, name, 1)
            fault(ledgers.read(Repository.open(forge.repo.git_dir), GATE, SUBJECT), phrase)
    monkeypatch.setattr(chain, "MAX_FAULTS", 1)
    many = forge.commit(3, {b"0003-unheard.yml": GONE, b"0009-expired.yml": GONE})
    assert len(many.faults) == 2
    assert many.faults[-1] == "and 2 more"
    monkeypatch.setattr(ledgers, "MAX_EVENTS", 2)
    with pytest.raises(GateError, match="is full"):
        add(forge.repo, decided(forge.request.id, "one too many"))


def test_ledgers_of_other_instances_are_not_mixed_up(forge: Forge) -> None:
    """Attack: a whole good ledger under another instance's name."""
    refs.compare_and_swap(forge.repo, ids.ledger_ref(GATE, "other"), forge.tip, None, "m")
    stolen = ledgers.read(forge.repo, GATE, "other")
    fault(stolen, "does not begin with the first commit", "was made for")
    assert stolen.requests == {}
