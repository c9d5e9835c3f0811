"""The journal as it is written: a branch that only ever grows.

A commit of it has the journal commit before it as first parent and the newly named ledger tips as
further parents, so the one branch keeps all ledgers alive (design, section 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gitgate.core import events, journal
from gitgate.core.journal import Line
from gitgate.core.person import Stamp
from gitgate.errors import Exit, GateError
from gitgate.git import journaltree
from gitgate.git.journalcheck import changes, defects
from gitgate.git.journalindex import (
    Entry,
    Index,
    Malformed,
    goes_on_from,
    heads,
    in_order,
    lines_of,
    newest,
    places,
    readable,
    sound_file,
    tracking_ref,
)
from gitgate.git.known import SYNC
from gitgate.git.repository import Repository
from gitgate.git.trees import REGULAR

__all__ = [
    "Entry",
    "Index",
    "Malformed",
    "append",
    "changes",
    "defects",
    "goes_on_from",
    "heads",
    "newest",
    "places",
    "remake",
    "tracking_ref",
    "write_root",
]


def write_root(repo: Repository) -> str:
    """Store the commit that every journal begins with, the same object everywhere."""
    stamp = events.ROOT_STAMP
    return repo.write_commit(repo.write_tree({}), (), stamp, stamp, journal.ROOT_MESSAGE)


def append(
    repo: Repository,
    parent: str | None,
    entries: Iterable[Entry],
    stamp: Stamp,
    left_out: Callable[[GateError], None] | None = None,
) -> str:
    """The journal with these instances at these tips: commits on `parent`, or on the first commit
    of all journals where there is none. Objects only; no ref moves.

    Gives `parent` back where it names all of them, or newer tips. `stamp` is author and committer.
    Raises GateError (untrusted) where a ledger does not verify, or went apart from the tip that
    the journal names (with `left_out` that is told, and the instance left as it is); (blocked)
    where a further file is in the way.
    """
    tip = parent or write_root(repo)
    index = Index(repo, tip)
    named = {(entry.gate, entry.subject): entry.tip for entry in entries}
    due: list[tuple[str, tuple[Line, ...]]] = []
    for gate, subject in in_order(named):
        try:
            lines = _due(index, gate, subject, named[gate, subject])
        except GateError as error:
            if left_out is None:
                raise
            left_out(error)
            continue
        if lines:
            due.append((gate, lines))
    for start in range(0, len(due), journal.MAX_TIPS):
        tip = _commit(repo, tip, due[start : start + journal.MAX_TIPS], stamp)
    return tip


def _due(index: Index, gate: str, subject: str, wanted: str) -> tuple[Line, ...]:
    """The lines to write for an instance; none where the journal has them or newer ones."""
    before = sound_file(index, gate, journal.shard_of(subject)).get(subject, ())
    there = before[-1].tip if before else wanted
    if there != wanted:
        if index.repo.is_ancestor(wanted, there):
            return ()
        if not index.repo.is_ancestor(there, wanted):
            said = f"the ledger of {gate} of {subject} went apart from {there}, which the journal"
            raise GateError(Exit.UNTRUSTED, f"{said} names", SYNC)
    lines = lines_of(index.repo, gate, subject, wanted)
    try:
        return lines if lines != index.of(gate, subject) else ()
    except Malformed:
        return lines


def _commit(
    repo: Repository, parent: str, named: Sequence[tuple[str, tuple[Line, ...]]], stamp: Stamp
) -> str:
    index = Index(repo, parent)
    files: dict[bytes, dict[str, tuple[Line, ...]]] = {}
    tips: list[str] = []
    for gate, lines in named:
        subject = lines[0].subject
        path = journal.file_of(gate, subject)
        if path not in files:
            files[path] = dict(sound_file(index, gate, journal.shard_of(subject)))
        instances = files[path]
        if instances.get(subject) != lines:
            tips.append(lines[-1].tip)
            instances[subject] = lines
    changes = {
        path: (REGULAR, repo.write_blob(journal.format_lines(journal.flat(instances))))
        for path, instances in files.items()
    }
    tree = journaltree.edited(repo, repo.commit(parent).tree, changes)
    message = journal.message([(gate, lines[-1]) for gate, lines in named])
    return repo.write_commit(tree, (parent, *tips), stamp, stamp, message)


def remake(
    repo: Repository, winner: str, loser: str, stamp: Stamp, *, believed: bool = True
) -> str:
    """The commits that the loser of a race made, made again on the winner's tip; objects only.
    Where the loser goes on from the winner it is taken as it is, unless it is not `believed`.

    What `winner` does not name yet is drawn anew from the ledgers, so no line is taken over that
    its ledger does not give; an instance whose tips went apart stays as `winner` has it. Changes
    of further files are made again one by one, with their authors and messages.

    Raises GateError (blocked) where both sides changed a further file otherwise.
    """
    if goes_on_from(repo, winner, loser):
        return winner
    if believed and goes_on_from(repo, loser, winner):
        return loser
    fork = _fork(repo, winner, loser)
    tip = _remake_further(repo, winner, loser, fork, stamp) if fork is not None else winner
    return append(repo, tip, _lost(repo, winner, loser, fork), stamp)


def _fork(repo: Repository, one: str, other: str) -> str | None:
    """The newest commit that the chains of both have; None where they have none."""
    seen: set[str] = set()
    waiting: list[str | None] = [one, other]
    while any(waiting):
        for side, commit in enumerate(waiting):
            if commit is None:
                continue
            if commit in seen:
                return commit
            seen.add(commit)
            parents = repo.commit(commit).parents
            waiting[side] = parents[0] if parents else None
    return None


def _lost(repo: Repository, winner: str, loser: str, fork: str | None) -> list[Entry]:
    """The instances of which the loser names a newer tip, where its ledger verifies."""
    entries: list[Entry] = []
    sides = [Index(repo, fork), Index(repo, winner), Index(repo, loser)]
    for gate, shard in journaltree.index_difference(repo, winner, loser):
        base, ours, theirs = (sound_file(side, gate, shard) for side in sides)
        merged = journal.merge(base, ours, theirs, lambda one, old: _is_newer(repo, one, old))
        for subject, lines in merged.instances.items():
            tip = lines[-1].tip
            if lines != ours.get(subject) and readable(repo, gate, subject, tip):
                entries.append(Entry(gate, subject, tip))
    return entries


def _is_newer(repo: Repository, one: str, other: str) -> bool:
    try:
        return repo.is_ancestor(other, one)
    except GateError:  # one of them is no commit that is here: nothing to take over
        return False


def _remake_further(repo: Repository, winner: str, loser: str, fork: str, stamp: Stamp) -> str:
    since = repo.first_parents(loser, fork) or []
    tip = winner
    for before, commit in zip(since[:0:-1], since[-2::-1], strict=True):
        changed = journaltree.further_difference(repo, before.id, commit.id)
        if not changed:
            continue
        tree = repo.commit(tip).tree
        for path, (old, new) in changed.items():
            if repo.entry(tree, path) not in (old, new):
                name = path.decode("utf-8", "replace")
                raise GateError(
                    Exit.BLOCKED,
                    f"{name!r} on the branch aiwg/journal was changed here and elsewhere",
                    f"git branch -f aiwg/journal {winner}, then {SYNC}, and change it again",
                )
        edits = {path: new for path, (_, new) in changed.items()}
        tree = journaltree.edited(repo, tree, edits)
        tip = repo.write_commit(tree, (tip,), commit.author, stamp, commit.message)
    return tip
