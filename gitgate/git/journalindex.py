"""The journal as it is read: an index of all instances, file by file, and which commit is newest.

Nothing in it is signed: a reader takes from it which ledger commit is the newest, and believes
only what that ledger itself holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gitgate.core import events, ids, journal
from gitgate.core.journal import Instances, Line
from gitgate.errors import Exit, GateError
from gitgate.git import journaltree, ledger, refs
from gitgate.git.journaltree import Node
from gitgate.git.known import SYNC
from gitgate.git.repository import Repository
from gitgate.git.trees import REGULAR


class Entry(NamedTuple):
    """An instance as the journal names it; `status` is that of its newest request."""

    gate: str
    subject: str
    tip: str
    status: str = ""


class Malformed(GateError):  # noqa: N818 - what is wrong, as in the page of formats
    """A file of the index that no git-gate wrote."""

    def __init__(self, path: str, commit: str | None, why: str) -> None:
        said = f"the journal's file {path} in commit {commit} cannot be read: {why}"
        super().__init__(Exit.UNTRUSTED, said, SYNC)


class Index:
    """What one journal commit names; without a commit nothing. Each file is read once, when it is
    asked for.

    The methods raise GateError (untrusted): Malformed for a file that is none of ours, another
    one where an object is missing.
    """

    def __init__(self, repo: Repository, commit: str | None) -> None:
        self.repo = repo
        self.commit = commit
        self._read: dict[tuple[str, str], Instances] = {}

    def tip(self, gate: str, subject: str) -> str | None:
        """The newest ledger commit that is named for an instance; None where it is unknown."""
        lines = self.of(gate, subject)
        return lines[-1].tip if lines else None

    def of(self, gate: str, subject: str) -> tuple[Line, ...]:
        """The lines of one instance, the newest request last."""
        return self.file(gate, journal.shard_of(subject)).get(subject, ())

    def lines(self, gate: str) -> Iterator[Line]:
        """All lines of a gate, those of one instance together, the newest request last."""
        for shard in self.shards(gate):
            yield from journal.flat(self.file(gate, shard))

    def instances(self) -> Iterator[Entry]:
        """All instances, by gate and file."""
        for gate in self.gates():
            for shard in self.shards(gate):
                for subject, lines in self.file(gate, shard).items():
                    yield Entry(gate, subject, lines[-1].tip, lines[-1].status)

    def gates(self) -> list[str]:
        """The gates of which there is at least one file, sorted."""
        folders = journaltree.children(self.repo, journaltree.root(self.repo, self.commit))
        names = [name.decode("latin-1") for name in folders]
        return [name for name in names if ids.is_gate(name) and self.shards(name)]

    def shards(self, gate: str) -> list[str]:
        """The files of a gate, each by its two hex digits."""
        names = (journal.parse_path(gate.encode() + b"/" + name) for name in self._folder(gate))
        return [found[1] for found in names if found is not None]

    def file(self, gate: str, shard: str) -> Instances:
        """The lines of one file by subject; empty where there is no such file."""
        key = (gate, shard)
        if key not in self._read:
            node = self._folder(gate).get(journal.file_name(shard))
            self._read[key] = read_file(self.repo, self.commit, gate, shard, node)
        return self._read[key]

    def _folder(self, gate: str) -> Mapping[bytes, Node]:
        top = journaltree.children(self.repo, journaltree.root(self.repo, self.commit))
        return journaltree.children(self.repo, top.get(gate.encode()))


def read_file(
    repo: Repository, commit: str | None, gate: str, shard: str, node: Node | None
) -> Instances:
    """The lines of one file by subject; `node` is its entry in the folder of its gate."""
    if node is None:
        return {}
    path = f"{gate}/{shard}.tsv"
    if node[0] != REGULAR:
        raise Malformed(path, commit, "it is no regular file")
    data = repo.read_small(node[1], journal.MAX_FILE)
    if data is None:
        raise Malformed(path, commit, f"it has more than {journal.MAX_FILE >> 20} MiB")
    try:
        found = journal.by_subject(journal.parse_lines(data))
    except ValueError as error:
        raise Malformed(path, commit, str(error)) from None
    for subject in found:
        if journal.shard_of(subject) != shard:
            raise Malformed(path, commit, f"{subject[:80]!r} does not belong there")
    return found


def places(remote: str | None) -> tuple[str, ...]:
    """The refs that can have a journal: this clone's own, and what `remote` was seen to have."""
    if remote is None:
        return (ids.JOURNAL,)
    branch = ids.JOURNAL.removeprefix("refs/heads/")
    return (ids.JOURNAL, tracking_ref(remote), f"refs/remotes/{remote}/{branch}")


def tracking_ref(remote: str) -> str:
    """The ref of this clone that shows what journal `remote` was last known to have."""
    return f"{ids.TRACKING}{remote}/journal"


def heads(repo: Repository, remote: str | None) -> tuple[str, ...]:
    """The journal commits known here that no other one known here goes on from: one, as a rule."""
    found = dict.fromkeys(tip for name in places(remote) if (tip := refs.read(repo, name)))
    if len(found) < 2:
        return tuple(found)
    return tuple(
        one
        for one in found
        if not any(goes_on_from(repo, other, one) for other in found if other != one)
    )


def newest(repo: Repository, remote: str | None) -> str | None:
    """The newest journal commit known here: of the own ref, the tracking ref and the branch that
    git itself fetched; None where there is no journal.

    Raises GateError (untrusted) where they went apart.
    """
    found = heads(repo, remote)
    if len(found) > 1:
        said = f"the journals known here, {found[0]} and {found[1]}, went apart"
        raise GateError(Exit.UNTRUSTED, said, SYNC)
    return found[0] if found else None


def goes_on_from(repo: Repository, newer: str, older: str) -> bool:
    """Whether the journal `newer` holds the commit `older` on its own chain."""
    if not repo.is_ancestor(older, newer):
        return False
    return repo.first_parents(newer, older) is not None


def lines_of(repo: Repository, gate: str, subject: str, tip: str) -> tuple[Line, ...]:
    """The lines that the ledger which ends in `tip` gives, drawn from nothing else.

    Raises GateError (untrusted) for a ledger that does not verify or has no event.
    """
    found = ledger.read(repo, gate, subject, tip)
    if found.faults or not found.events:
        said = found.faults[0] if found.faults else "it has no event"
        raise GateError(Exit.UNTRUSTED, f"the ledger of {gate} of {subject}: {said}", SYNC)
    statuses: dict[str | None, str] = {}
    for event in found.events:
        summary = events.parse_summary(repo.commit(event.id).message)
        statuses[summary.request] = summary.status
    if not found.requests:
        return (Line(subject, tip, statuses[None]),)
    return tuple(
        Line(subject, tip, statuses[one], one, request.work, *found.trees[one])
        for one, request in found.requests.items()
    )


def sound_file(index: Index, gate: str, shard: str) -> Instances:
    """The lines of a file; where it is malformed, as the newest commit before had it that can be
    read."""
    while True:
        try:
            return index.file(gate, shard)
        except Malformed:
            parents = index.repo.commit(index.commit or "").parents
            if not parents:
                return {}
            index = Index(index.repo, parents[0])


def readable(repo: Repository, gate: str, subject: str, tip: str) -> bool:
    """Whether the ledger that ends in `tip` is here, whole, and verifies."""
    try:
        return bool(lines_of(repo, gate, subject, tip))
    except GateError:
        return False


def in_order(named: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Instances, by gate and subject, in the order in which a commit names their tips."""
    return sorted(named, key=lambda one: (one[0], journal.shard_of(one[1]), one[1].encode()))
