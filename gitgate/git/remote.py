"""A remote repository, reached by git itself: what it has, what it is given, what it made of that.

Fetches go to `refs/gitgate/<remote>/…` alone. A push names the exact value that it replaces, ref by
ref, and the status line of each ref (git-push, "OUTPUT") says what became of it. Whatever the
user configured for this remote (mirror, prune, tags, submodules, refspecs) has no say in it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from gitgate import process
from gitgate.core import ids
from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.repository import Repository

BATCH = 200
"""Refs of one push: each needs two words of a command line."""

_MAX_WORDS = 20
_STATUS = re.compile(r"([ +\-*!=])\t([^\t]*):([^\t:]+)\t(.*)")
_SUMMARY = re.compile(r"\[(.*?)\](?: \((.*)\))?")


@dataclass(frozen=True, slots=True)
class Move:
    """A ref of the remote that is to go from `old` (None: it does not exist) to `new` (None: it is
    deleted)."""

    ref: str
    old: str | None
    new: str | None


class Fate(StrEnum):
    """What became of one move."""

    MOVED = "moved"
    LOST = "lost"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Pushed:
    """A move and its fate. LOST: somebody else moved the ref. REFUSED: the remote said no, for
    `reason`. UNKNOWN: git said nothing about this ref, and `reason` is its last word. `words` is
    what the remote had to say of the whole push, for people."""

    move: Move
    fate: Fate
    reason: str = ""
    words: tuple[str, ...] = ()


def named(repo: Repository, remote: str | None) -> str:
    """The remote that is meant; GateError (usage) where there is none or no such one."""
    if remote is None:
        raise GateError(Exit.USAGE, "this repository has no remote", "git remote add origin URL")
    known = [key for key in repo.config if key.startswith(f"remote.{remote}.")]
    if not known or not ids.is_ref(f"{ids.TRACKING}{remote}/x"):
        raise GateError(Exit.USAGE, f"there is no remote {remote[:200]!r} here", "git remote -v")
    return remote


def tracking(remote: str) -> Mapping[str, str]:
    """Where each kind of ref of the remote is kept here, by the beginnings of their names."""
    here = f"{ids.TRACKING}{remote}/"
    return {
        ids.GATES: f"{here}gates/",
        "refs/notes/aiwg/": f"{here}notes/",
        ids.JOURNAL: f"{here}journal",
    }


def tracked(repo: Repository, remote: str) -> dict[str, str]:
    """What the remote was last known to have of ledgers, notes and journal, by the names there."""
    found: dict[str, str] = {}
    here = refs.listing(repo, f"{ids.TRACKING}{remote}/")
    for there, prefix in tracking(remote).items():
        for name, tip in here.items():
            if name.startswith(prefix):
                found[there + name.removeprefix(prefix)] = tip
    return found


def place(remote: str, ref: str) -> str:
    """The ref of this clone that shows the remote's `ref`."""
    for there, here in tracking(remote).items():
        if ref.startswith(there):
            return here + ref.removeprefix(there)
    raise ValueError(f"no ref of ours: {ref}")


def fetch(repo: Repository, remote: str, only: Sequence[str] | None = None) -> None:
    """Bring what the remote has of ledgers, notes and journal; with `only`, of these ledgers.

    What is gone there goes from `refs/gitgate/<remote>/…` too. Raises GateError (fatal) where the
    remote cannot be reached or read.
    """
    repo.check_writable("what a remote has")
    patterns = dict(tracking(remote))
    if only is not None:
        del patterns[ids.GATES]
        patterns |= {ref: place(remote, ref) for ref in only}
    # A pattern that matches nothing is no error, as a missing ref would be.
    lines = [f"+{there}*:{here}*\n" for there, here in patterns.items()]
    _fetch(repo, remote, "".join(lines), "--prune")


def fetch_objects(repo: Repository, remote: str, names: Sequence[str]) -> None:
    """Bring the objects of these refs of the remote; no ref of this clone moves."""
    if names:
        _fetch(repo, remote, "".join(f"{name}\n" for name in names))


def _fetch(repo: Repository, remote: str, refspecs: str, *further: str) -> None:
    settings = ("--no-tags", "--no-write-fetch-head", "--refmap=", "--no-recurse-submodules")
    # A ledger is of no use without its content, also in a partial clone.
    whole = ("--no-filter", "--no-prune-tags")
    answer = repo.git(
        *("fetch", "--quiet", *settings, *whole, *further, "--stdin", "--", remote),
        stdin=refspecs.encode(),
    )
    if answer.status != 0:
        raise unreachable(remote, answer)


def listed(repo: Repository, remote: str) -> dict[str, str]:
    """The ledgers, notes and journal that the remote has now; GateError where it is not reached."""
    patterns = [f"{there}*" for there in tracking(remote)]
    answer = repo.git("ls-remote", "--quiet", "--refs", "--", remote, *patterns)
    if answer.status != 0:
        raise unreachable(remote, answer)
    found = {}
    for line in answer.text.splitlines():
        oid, _, name = line.partition("\t")
        # git matches a pattern with the end of any name
        if ids.is_oid(oid) and name.startswith(tuple(tracking(remote))):
            found[name] = oid
    return found


def has(repo: Repository, remote: str, ref: str) -> bool:
    """Whether the remote has a ref of exactly this name."""
    answer = repo.git("ls-remote", "--quiet", "--refs", "--", remote, ref)
    return any(line.partition("\t")[2] == ref for line in answer.text.splitlines())


def unreachable(remote: str, answer: process.Completed) -> GateError:
    """The error for a git command that did not get an answer from `remote`."""
    return GateError(
        Exit.FATAL,
        f"{remote} cannot be reached: {last_word(answer)}",
        shlex.join(["git", "ls-remote", remote]),
    )


def last_word(answer: process.Completed) -> str:
    """What git said last of what went wrong, for people to read."""
    lines = answer.stderr.decode("utf-8", "replace").splitlines()
    grave = [line for line in lines if line.startswith(("fatal: ", "error: ", "ERROR: "))]
    said = (grave or [line for line in lines if line.strip()] or ["git said nothing"])[-1]
    return said.partition(": ")[2] if grave else said.strip()


def push(
    repo: Repository, remote: str, moves: Sequence[Move], *, batch: int = BATCH
) -> list[Pushed]:
    """Move refs of the remote, each from exactly the value that is named or not at all.

    Of several refs some can move and others not. No hook of this clone runs: what is pushed here
    are ledgers, notes and the journal, never a guarded ref.
    """
    found: list[Pushed] = []
    for start in range(0, len(moves), batch):
        found += _push(repo, remote, moves[start : start + batch])
    return found


def _push(repo: Repository, remote: str, moves: Sequence[Move]) -> list[Pushed]:
    leases = [f"--force-with-lease={move.ref}:{move.old or ''}" for move in moves]
    refspecs = [f"{move.new or ''}:{move.ref}" for move in moves]
    answer = repo.git(
        *("-c", f"remote.{remote}.mirror=false"),
        *("push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"),
        *(*leases, "--", remote, *refspecs),
    )
    said: dict[str, list[tuple[str, str]]] = {}
    for flag, ref, summary in _statuses(answer.text):
        said.setdefault(ref, []).append((flag, summary))
    return [_pushed(move, _worst(said.get(move.ref, ())), answer) for move in moves]


def _worst(said: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """Of what several push addresses of one remote said of a ref, what counts: it is not there
    before all have it."""
    return min(said, key=_gravity, default=None)


def _gravity(said: tuple[str, str]) -> int:
    flag, summary = said
    return 0 if flag == "!" and _is_rejected(summary) else 1 if flag == "!" else 2


def _is_rejected(summary: str) -> bool:
    found = _SUMMARY.match(summary)
    return found is not None and found[1] == "remote rejected"


def answers_pushes(repo: Repository, remote: str, move: Move) -> bool:
    """Whether the remote says anything of a ref that is to be pushed, were nothing sent."""
    answer = repo.git(
        *("-c", f"remote.{remote}.mirror=false"),
        *("push", "--dry-run", "--porcelain", "--no-verify", "--recurse-submodules=no"),
        *("--", remote, f"{move.new or ''}:{move.ref}"),
    )
    return any(True for _ in _statuses(answer.text))


def _statuses(text: str) -> Iterator[tuple[str, str, str]]:
    """Flag, ref and summary of each status line."""
    for line in text.split("\n"):
        found = _STATUS.fullmatch(line)
        if found:
            yield found[1], found[3], found[4]


def _pushed(move: Move, said: tuple[str, str] | None, answer: process.Completed) -> Pushed:
    if said is None:
        return Pushed(move, Fate.UNKNOWN, last_word(answer))
    flag, summary = said
    if flag != "!":
        return Pushed(move, Fate.MOVED)
    found = _SUMMARY.match(summary)
    if found is None or not _is_rejected(summary):
        return Pushed(move, Fate.LOST, summary)
    lines = answer.stderr.decode("utf-8", "replace").splitlines()
    words = [
        line.removeprefix("remote: ").rstrip() for line in lines if line.startswith("remote: ")
    ]
    return Pushed(move, Fate.REFUSED, found[2] or summary, tuple(words[:_MAX_WORDS]))


def note(repo: Repository, remote: str, ref: str, tip: str | None) -> None:
    """Keep in mind what the remote has after a push that was heard of."""
    here = place(remote, ref)
    old = refs.read(repo, here)
    if tip is None:
        repo.git("update-ref", "--no-deref", "-d", here, stdin=b"")
    elif old != tip:
        with suppress(refs.LostRace):  # a fetch at the same moment knows better
            refs.compare_and_swap(repo, here, tip, old, "gate: pushed")
