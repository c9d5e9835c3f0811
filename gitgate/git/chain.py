"""Reading a ledger: the chain of commits is verified whole before anything in it is believed.

A ledger commit's tree is that of the commit before it and the files of its own event, and nothing
else. So the newest tree holds all events, and the tree ids of all older commits can be computed
from it: one tree is read, and a commit that changed or dropped anything has another id.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from gitgate.core import decision, events, ids
from gitgate.core.events import Event, EventName
from gitgate.core.quoting import quote
from gitgate.core.request import Request
from gitgate.errors import GateError
from gitgate.git.objects import Commit, format_commit
from gitgate.git.repository import Repository
from gitgate.git.requests import read_request
from gitgate.git.trees import DIRECTORY, EMPTY_TREE, REGULAR, format_tree

MAX_EVENTS = 9_999
"""Events of one ledger: up to here the names of their files sort as their numbers do."""

MAX_FAULTS = 100
MAX_DATA = 1_000
"""Files beside one record."""

BRINGS_REQUEST = frozenset(
    [EventName.OPENED, EventName.ITERATED, EventName.ESCALATED, EventName.ASKED]
)
"""The events whose commits have the request as second parent."""

_FILE = re.compile(rb"([0-9]{4})-(?:[a-z]+\.yml|decided\.tag|data)")

Files = Mapping[bytes, tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Ledger:
    """One instance's ledger as verified; `tip` is None where there is none yet.

    `records` has the signed bytes by tag id, `data` the blobs beside each of them in the order of
    their numbers, `requests` every request by id, `trees` the trees of its base and of its work.
    Each of `faults` is a sentence about a breach: with any, nothing here may be relied on.
    """

    gate: str
    subject: str
    ref: str
    tip: str | None = None
    events: tuple[Event, ...] = ()
    records: Mapping[str, bytes] = field(default_factory=dict)
    data: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    requests: Mapping[str, Request] = field(default_factory=dict)
    trees: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @property
    def newest(self) -> Request | None:
        """The request that was brought last."""
        return list(self.requests.values())[-1] if self.requests else None


def object_id(kind: str, raw: bytes) -> str:
    """The id that git gives an object, without storing it."""
    header = b"%b %d\0" % (kind.encode(), len(raw))
    return hashlib.sha1(header + raw, usedforsecurity=False).hexdigest()


def root_commit(gate: str, subject: str) -> bytes:
    """The first commit of an instance's ledger: the same object everywhere."""
    stamp = events.ROOT_STAMP
    return format_commit(EMPTY_TREE, (), stamp, stamp, events.root_message(gate, subject))


def verify(
    repo: Repository, gate: str, subject: str, tip: str, known: Mapping[str, Ledger]
) -> Ledger:
    """The ledger that ends in `tip`; `known` has faultless earlier readings of it by their tips."""
    reading = _Reading(repo, gate, subject)
    try:
        reading.run(tip, known)
    except GateError as error:
        reading.faults.append(error.message)
    except _Broken as error:
        reading.faults.append(f"the ledger {error}")
    return reading.result(tip)


class _Broken(Exception):  # noqa: N818 - never leaves this module
    """What one part of the ledger breaks, as a phrase."""


class _Reading:
    """One ledger while it is read."""

    def __init__(self, repo: Repository, gate: str, subject: str) -> None:
        self.repo = repo
        self.gate = gate
        self.subject = subject
        self.ref = ids.ledger_ref(gate, subject)
        self.newest: str | None = None
        self.events: list[Event] = []
        self.records: dict[str, bytes] = {}
        self.data: dict[str, tuple[str, ...]] = {}
        self.requests: dict[str, Request] = {}
        self.trees: dict[str, tuple[str, str]] = {}
        self.faults: list[str] = []

    def run(self, tip: str, known: Mapping[str, Ledger]) -> None:
        start, commits = self.chain(tip, known)
        if start in known:
            self.go_on_from(known[start])
        elif start != object_id("commit", root_commit(self.gate, self.subject)):
            self.faults.append("the ledger does not begin with the first commit of its instance")
        if not commits:
            return
        files = self.files_by_number(commits[-1].tree)
        first = len(self.events) + 1
        for number in sorted(set(files) - set(range(1, first + len(commits)))):
            self.faults.append(f"the ledger has files of an event {number}, but no such commit")
        self.check_only_added(files, first, [self.repo.commit(start), *commits])
        for number, commit in enumerate(commits, first):
            self.read_event(number, commit, files.get(number, {}))

    def chain(self, tip: str, known: Mapping[str, Ledger]) -> tuple[str, list[Commit]]:
        """Where this reading starts, and the commits after it, oldest first."""
        commits: list[Commit] = []
        commit = self.repo.commit(tip)
        while commit.parents and commit.id not in known:
            commits.append(commit)
            if len(commits) > MAX_EVENTS:
                raise _Broken(f"has more than {MAX_EVENTS} events")
            commit = self.repo.commit(commit.parents[0])
        return commit.id, commits[::-1]

    def go_on_from(self, known: Ledger) -> None:
        self.events.extend(known.events)
        self.records.update(known.records)
        self.data.update(known.data)
        self.requests.update(known.requests)
        self.trees.update(known.trees)
        self.newest = known.newest.id if known.newest else None

    def files_by_number(self, tree: str) -> dict[int, dict[bytes, tuple[int, str]]]:
        """The files of each event, as the newest commit has them."""
        for folder in (b".aiwg", b"gates", self.gate.encode()):
            entries = self.repo.children(tree)
            mode, tree = entries.get(folder, (0, ""))
            if set(entries) != {folder} or mode != DIRECTORY:
                raise _Broken(f"does not hold .aiwg/gates/{self.gate} and nothing else")
        found: dict[int, dict[bytes, tuple[int, str]]] = {}
        for name, entry in self.repo.children(tree).items():
            match = _FILE.fullmatch(name)
            if not match:
                raise _Broken(f"holds {quote(name)}, which belongs to no event")
            found.setdefault(int(match[1]), {})[name] = entry
        return found

    def check_only_added(
        self, files: Mapping[int, Files], first: int, commits: Sequence[Commit]
    ) -> None:
        raw = b"".join(format_tree(files.get(number, {})) for number in range(1, first))
        for number, commit in enumerate(commits, first - 1):
            if number >= first:
                raw += format_tree(files.get(number, {}))
            if commit.tree != self.root_tree(raw):
                self.faults.append(
                    f"event {number}, commit {commit.id}, does not only add its own files to those "
                    "before it: the newest commit has others"
                )
                return

    def root_tree(self, folder: bytes) -> str:
        if not folder:
            return EMPTY_TREE
        tree = object_id("tree", folder)
        for name in (self.gate.encode(), b"gates", b".aiwg"):
            tree = object_id("tree", format_tree({name: (DIRECTORY, tree)}))
        return tree

    def read_event(self, number: int, commit: Commit, files: Files) -> None:
        """Each part is taken for itself: what is whole in an altered event is not lost with it."""
        with self.noting(number, commit):
            event = self.parse_event(number, commit, files)
            self.events.append(event)
            with self.noting(number, commit):
                self.check_parents(event, commit)
            with self.noting(number, commit):
                self.take_request(event)
            with self.noting(number, commit):
                self.check_summary(event, commit)
            self.take_record(event, files)

    @contextmanager
    def noting(self, number: int, commit: Commit) -> Iterator[None]:
        try:
            yield
        except (_Broken, ValueError) as error:
            self.faults.append(f"event {number}, commit {commit.id}, {error}")
        except GateError as error:
            self.faults.append(f"event {number}, commit {commit.id}: {error.message}")

    def parse_event(self, number: int, commit: Commit, files: Files) -> Event:
        bodies = [name for name in files if name.endswith(b".yml")]
        if len(bodies) != 1:
            raise _Broken(f"has {len(bodies)} files that say what happened, not one")
        mode, oid = files[bodies[0]]
        if mode != REGULAR:
            raise _Broken("has something else than a regular file")
        name = bodies[0][5:-4].decode("ascii")
        data = self.repo.read(oid, "blob", events.MAX_EVENT)
        try:
            return events.parse_body(commit.id, number, name, data)
        except ValueError as error:
            raise _Broken(f"cannot be read: {error}") from None

    def check_parents(self, event: Event, commit: Commit) -> None:
        brought = (event.request,) if event.name in BRINGS_REQUEST else ()
        if commit.parents[1:] != brought:
            raise _Broken("has not the request that it brings, and that alone, as second parent")

    def take_request(self, event: Event) -> None:
        if event.request is None:
            return
        if event.name in BRINGS_REQUEST:
            if event.request in self.requests:
                raise _Broken(f"brings the request {event.request} a second time")
            stored = read_request(self.repo, event.request, self.gate, self.subject)
            self.requests[event.request] = stored.request
            self.trees[event.request] = stored.base_tree, stored.work_tree
            self.newest = event.request
        elif event.request not in self.requests:
            raise _Broken(f"concerns the request {event.request}, which no event brought")

    def check_summary(self, event: Event, commit: Commit) -> None:
        try:
            summary = events.parse_summary(commit.message)
        except ValueError as error:
            raise _Broken(f"has a message that cannot be read: {error}") from None
        said = summary.gate, summary.subject, summary.event, summary.number, summary.request
        if said != (self.gate, self.subject, event.name, event.number, self.newest):
            raise _Broken("has a message that does not say what the event says")

    def take_record(self, event: Event, files: Files) -> None:
        """A record is taken as it is: whether it counts is no question of the ledger's form."""
        further = dict(files)
        further.pop(events.file_name(event.number, event.name))
        if event.name is EventName.DECIDED and event.record:
            mode, oid = further.pop(events.record_name(event.number), (0, ""))
            if mode != REGULAR:
                raise _Broken("has no record")
            raw = self.repo.read(oid, "blob", decision.MAX_RECORD)
            if object_id("tag", raw) != event.record:
                raise _Broken(f"has another record than {event.record}, which it names")
            self.records[event.record] = raw
            self.data[event.record] = self.read_data(
                further.pop(events.data_folder(event.number), None)
            )
        if further:
            raise _Broken(f"has a file {quote(sorted(further)[0])}, which does not belong to it")

    def read_data(self, folder: tuple[int, str] | None) -> tuple[str, ...]:
        if folder is None:
            return ()
        entries = self.repo.children(folder[1]) if folder[0] == DIRECTORY else {}
        names = [b"%d" % number for number in range(1, len(entries) + 1)]
        modes = {mode for mode, _ in entries.values()}
        if not 1 <= len(entries) <= MAX_DATA or set(entries) != set(names) or modes != {REGULAR}:
            raise _Broken("has a data folder that is no list of files numbered from 1")
        return tuple(entries[name][1] for name in names)

    def result(self, tip: str) -> Ledger:
        if len(self.faults) > MAX_FAULTS:
            self.faults[MAX_FAULTS:] = [f"and {len(self.faults) - MAX_FAULTS} more"]
        return Ledger(
            self.gate,
            self.subject,
            self.ref,
            tip,
            tuple(self.events),
            self.records,
            self.data,
            self.requests,
            self.trees,
            tuple(self.faults),
        )
