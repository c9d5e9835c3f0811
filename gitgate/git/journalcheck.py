"""What is wrong with a journal that somebody pushed.

Whoever may push can write lies into the index. Each is found: against the journal that was known
before, and against the ledgers, which are the further parents of its commits.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise

from gitgate.core import journal
from gitgate.core.events import ROOT_STAMP
from gitgate.core.journal import Instances, Line
from gitgate.errors import GateError
from gitgate.git import journaltree
from gitgate.git.journalindex import (
    Entry,
    Index,
    Malformed,
    in_order,
    lines_of,
    read_file,
    sound_file,
)
from gitgate.git.objects import Commit
from gitgate.git.repository import Repository
from gitgate.git.trees import EMPTY_TREE

MAX_DEFECTS = 100


def defects(repo: Repository, old: str | None, new: str) -> tuple[str, ...]:
    """What is wrong with the journal commits from `old` (None: from the first one) to `new`, as
    sentences, at most 100; empty where all is well. Only reads.

    Wrong is: a chain that does not go on from `old`; a file that no git-gate wrote; an instance
    that is no longer named, or whose tip went back; a tip that is not a further parent of the
    commit that names it, or a further parent that is no such tip; a line that its ledger does not
    give; a ledger that does not verify. What `old` already named wrongly is not looked at again.
    """
    try:
        found = tuple(islice(_defects(repo, old, new), MAX_DEFECTS + 1))
    except GateError as error:
        return (f"the journal cannot be read: {error.message}",)
    return found if len(found) <= MAX_DEFECTS else (*found[:MAX_DEFECTS], "and more")


def changes(repo: Repository, old: str | None, new: str) -> tuple[Entry, ...]:
    """The instances of which `new` has other lines than `old` (None: an empty journal), in order.

    Raises GateError (untrusted) for a file that cannot be read.
    """
    found: dict[tuple[str, str], tuple[Line, ...]] = {}
    differing = journaltree.index_difference(repo, old, new)
    for (gate, shard), (was, is_now) in differing.items():
        before = read_file(repo, old, gate, shard, was)
        after = read_file(repo, new, gate, shard, is_now)
        for subject, lines in after.items():
            if before.get(subject) != lines:
                found[gate, subject] = lines
    return tuple(_entry(*name, found[name]) for name in in_order(found))


def _entry(gate: str, subject: str, lines: tuple[Line, ...]) -> Entry:
    return Entry(gate, subject, lines[-1].tip, lines[-1].status)


def _defects(repo: Repository, old: str | None, new: str) -> Iterator[str]:
    chain = repo.first_parents(new, old)
    if chain is None:
        yield f"the journal {new} does not go on from {old}, which was known before"
        return
    commits = chain[::-1]
    if old is None and not _is_root(commits[0]):
        yield f"the journal {new} does not begin with the first commit of all journals"
        return
    touched: dict[tuple[str, str], None] = {}
    for before, commit in pairwise(commits):
        yield from _of_commit(repo, before, commit, touched)
    yield from _of_lines(Index(repo, new), touched)


def _is_root(commit: Commit) -> bool:
    said = commit.tree, commit.parents, commit.author, commit.committer, commit.message
    return said == (EMPTY_TREE, (), ROOT_STAMP, ROOT_STAMP, journal.ROOT_MESSAGE)


def _of_commit(
    repo: Repository, before: Commit, commit: Commit, touched: dict[tuple[str, str], None]
) -> Iterator[str]:
    """What one commit does against the rules; the instances that it names go into `touched`."""
    differing = journaltree.index_difference(repo, before.id, commit.id)
    named: dict[tuple[str, str], str] = {}
    for (gate, shard), (_, is_now) in differing.items():
        was = sound_file(Index(repo, before.id), gate, shard)
        try:
            after = read_file(repo, commit.id, gate, shard, is_now)
        except Malformed as error:
            yield error.message
            continue
        yield from _of_file(repo, commit, gate, was, after)
        for subject, lines in after.items():
            if was.get(subject) != lines:
                named[gate, subject] = lines[-1].tip
    touched.update(dict.fromkeys(named))
    tips = tuple(named[name] for name in in_order(named))
    if differing and commit.parents[1:] != tips:
        yield (
            f"journal commit {commit.id} has not the ledger tips that it names, and those alone,"
            " as further parents"
        )


def _of_file(
    repo: Repository, commit: Commit, gate: str, before: Instances, after: Instances
) -> Iterator[str]:
    for subject, lines in before.items():
        name, old = f"{gate} of {subject}", lines[-1].tip
        if subject not in after:
            yield f"journal commit {commit.id} no longer names {name}"
            continue
        tip = after[subject][-1].tip
        if tip != old and not _comes_after(repo, tip, old):
            yield (
                f"journal commit {commit.id} takes {name} from {old} to {tip}, which does not come"
                " after it"
            )


def _comes_after(repo: Repository, tip: str, old: str) -> bool:
    try:
        return repo.is_ancestor(old, tip)
    except GateError:
        return False


def _of_lines(index: Index, touched: dict[tuple[str, str], None]) -> Iterator[str]:
    for gate, subject in in_order(touched):
        try:
            there = index.of(gate, subject)
            given = lines_of(index.repo, gate, subject, there[-1].tip) if there else ()
        except Malformed:
            continue  # said of the commit that brought it
        except GateError as error:
            yield f"the journal names {gate} of {subject}, and {error.message}"
            continue
        if there != given:
            yield f"what the journal says of {gate} of {subject} is not what its ledger says"
