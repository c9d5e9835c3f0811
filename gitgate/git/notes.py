"""Decisions as notes on work commits: the copy in which people and pushes find them.

Git's notes tree, read and written by our own code (`git notes` and libgit2 lose concurrent writes
without an error). A note stands in a tree under the hex digits of its object's id, after any
number of which a folder may split them: `ab/cdef…`. All spellings of one id are one note.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from gitgate.core import ids
from gitgate.core.decision import split_note
from gitgate.core.person import Person, Stamp
from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.repository import Repository
from gitgate.git.trees import DIRECTORY, EMPTY_TREE, EXECUTABLE, REGULAR

MAX_NOTE = 4 * 1024 * 1024
MAX_RECORDS = 10_000
MAX_NOTES = 200_000
MAX_FOLDERS = 100_000
RETRIES = 100

FULL = 256
"""Notes of one folder from which on new ones go to folders of two hex digits below it."""

_FALLBACK = Person("git-gate", "git-gate@git-gate.invalid")
_MESSAGE = "Notes added by git-gate\n"
_UNITED = "Notes united by git-gate\n"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.5

_HEX = re.compile(rb"[0-9a-f]+")
_FILES = (REGULAR, EXECUTABLE)

Place = tuple[bytes, ...]
"""Where a note stands: the names of the folders, and its own."""


def read(repo: Repository, commit: str, cut: list[str] | None = None) -> bytes:
    """The note on a commit, b"" where there is none; `cut` gets a sentence for what was left out.

    Raises GateError (untrusted) where the notes cannot be read.
    """
    root = _root(repo)
    places = _places(repo, root, commit) if root else {}
    return _content(repo, commit, places.values(), cut)


def every(
    repo: Repository, cut: list[str] | None = None, ref: str = ids.NOTES
) -> Iterator[tuple[str, bytes]]:
    """All notes of a notes ref, by the ids of their objects; `cut` gets what was left out.

    Raises GateError (untrusted) where the notes, or one of them, cannot be read.
    """
    tip = refs.read(repo, ref)
    try:
        places = _all_places(repo, repo.commit(tip).tree, cut) if tip else {}
    except GateError as error:
        raise _unreadable(ref, f"git update-ref -d {ref}", error) from None
    for commit, blobs in places.items():
        try:
            content = _content(repo, commit, blobs, cut)
        except GateError as error:
            way = f"git notes --ref={ref} remove {commit}"
            raise _unreadable(f"the note on {commit}", way, error) from None
        yield commit, content


def differences(
    repo: Repository, before: str | None, after: str, cut: list[str] | None = None
) -> Iterator[tuple[str, list[bytes], list[bytes]]]:
    """The notes that differ between two trees: the object, the pieces before and those after.

    `cut` gets a sentence for what was left out of the later tree. Raises GateError (untrusted)
    where one of them cannot be read.
    """
    old = _all_places(repo, before, None) if before else {}
    new = _all_places(repo, after, cut)
    for commit in {**old, **new}:
        was, is_now = old.get(commit, []), new.get(commit, [])
        if was != is_now:
            yield (
                commit,
                split_note(_content(repo, commit, was, None)),
                split_note(_content(repo, commit, is_now, cut)),
            )


def _unreadable(what: str, way: str, error: GateError) -> GateError:
    """Only the copy is lost: what the ledgers have comes back."""
    message = f"{what} cannot be read: {error.message}"
    return GateError(Exit.UNTRUSTED, message, f"{way}, then git gate repair")


def add(repo: Repository, commit: str, record: bytes, *, stamp: Stamp | None = None) -> bool:
    """Add a signed record to the note on a commit; False where it already is there."""
    return add_many(repo, {commit: [record]}, stamp=stamp)


def add_many(
    repo: Repository,
    records: Mapping[str, Sequence[bytes]],
    *,
    stamp: Stamp | None = None,
    retries: int = RETRIES,
) -> bool:
    """Add records to the notes on several commits, in one commit; False where all are there.

    A transaction of its own, tried again after a lost race. Raises LostRace after `retries`, what
    `refs.compare_and_swap` raises, and GateError (untrusted) for notes that cannot be read.
    """
    for attempt in range(retries + 1):
        tip = refs.read(repo, ids.NOTES)
        before = repo.commit(tip).tree if tip else None
        after = _with_records(repo, before, records)
        if after == before or after is None:
            return False
        who = stamp or Stamp(_FALLBACK, int(time.time()))
        new = repo.write_commit(after, (tip,) if tip else (), who, who, _MESSAGE)
        try:
            refs.compare_and_swap(repo, ids.NOTES, new, tip, "notes: added by git-gate")
        except refs.LostRace:
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
            time.sleep(random.uniform(0, pause))  # noqa: S311 - jitter, no secret
        else:
            return True
    raise refs.LostRace(ids.NOTES)


def unite(
    repo: Repository,
    ours: str,
    theirs: str,
    cut: list[str] | None = None,
    stamp: Stamp | None = None,
) -> str:
    """The notes commit that holds what either of two holds: one of them, else a merge of both.

    What one side deleted and the other has stays. `cut` gets what did not fit into a note any
    more. Raises GateError (untrusted) for notes that cannot be read.
    """
    if not lacking(repo, ours, theirs):
        return theirs
    if _comes_before(repo, theirs, ours) and not lacking(repo, theirs, ours):
        return ours
    before, tree = repo.commit(ours).tree, repo.commit(theirs).tree
    for commit in _differing(repo, before, tree):
        pieces = split_note(_content(repo, commit, _places(repo, before, commit).values(), cut))
        try:
            tree = _with_records(repo, tree, {commit: pieces}) or tree
        except GateError as error:
            _say(cut, error.message)
    who = stamp or Stamp(_FALLBACK, int(time.time()))
    return repo.write_commit(tree, (theirs, ours), who, who, _UNITED)


def part(
    repo: Repository, ours: str, theirs: str | None, goes: Callable[[bytes], bool]
) -> tuple[str | None, int]:
    """The notes commit that adds to `theirs` what `ours` has of pieces that may go, and how many
    may not: `ours` where all may, and `theirs` where none is new. `ours` holds all of `theirs`."""
    tree = other = repo.commit(theirs).tree if theirs else EMPTY_TREE
    mine, left = repo.commit(ours).tree, 0
    for commit in _differing(repo, mine, other):
        new = _pieces(repo, mine, commit) - _pieces(repo, other, commit)
        going = sorted(piece for piece in new if goes(piece + b"\n"))
        left += len(new) - len(going)
        if going:
            tree = _with_records(repo, tree, {commit: going}) or tree
    if not left or tree == other:
        return theirs if left else ours, left
    who = Stamp(_FALLBACK, int(time.time()))
    return repo.write_commit(tree, (theirs,) if theirs else (), who, who, _MESSAGE), left


def lacking(repo: Repository, ours: str, theirs: str) -> list[str]:
    """The objects whose notes in the commit `ours` hold something that those in `theirs` lack."""
    if ours == theirs:
        return []
    mine, other = repo.commit(ours).tree, repo.commit(theirs).tree
    return [
        commit
        for commit in _differing(repo, mine, other)
        if _pieces(repo, mine, commit) - _pieces(repo, other, commit)
    ]


def _pieces(repo: Repository, tree: str, commit: str) -> set[bytes]:
    content = _content(repo, commit, _places(repo, tree, commit).values(), None)
    return {piece.rstrip(b"\n") for piece in split_note(content)}


def _differing(repo: Repository, tree: str, other: str) -> list[str]:
    """The objects that have a note where the trees differ; equal folders are not looked into."""
    found: dict[str, None] = {}
    waiting: list[tuple[str, str, str]] = [("", tree, other)]
    visited = 0
    while waiting:
        prefix, mine, theirs = waiting.pop()
        there = repo.children(theirs) if theirs else {}
        for name, (mode, oid) in repo.children(mine).items():
            spelled = prefix + name.decode("ascii", "replace")
            if there.get(name) == (mode, oid) or not _HEX.fullmatch(name):
                continue
            if mode == DIRECTORY and len(name) == 2 and len(spelled) < 40:
                kind, beside = there.get(name, (0, ""))
                waiting.append((spelled, oid, beside if kind == DIRECTORY else ""))
            elif mode in _FILES and len(spelled) == 40:
                found[spelled] = None
        visited += 1
        if len(found) > MAX_NOTES or visited + len(waiting) > MAX_FOLDERS:
            raise GateError(Exit.UNTRUSTED, f"{ids.NOTES} is too large to be compared")
    return list(found)


def _comes_before(repo: Repository, older: str, newer: str) -> bool:
    try:
        return repo.is_ancestor(older, newer)
    except GateError:  # a shallow clone that cannot tell
        return False


# Reading.


def _root(repo: Repository) -> str | None:
    tip = refs.read(repo, ids.NOTES)
    return repo.commit(tip).tree if tip else None


def _places(repo: Repository, tree: str, commit: str) -> dict[Place, str]:
    """Every place at which the tree has a note on this commit, with its blob."""
    found: dict[Place, str] = {}
    folders: Place = ()
    rest = commit.encode("ascii")
    while True:
        entries = repo.children(tree)
        mode, blob = entries.get(rest, (0, ""))
        if mode in _FILES:
            found[*folders, rest] = blob
        mode, tree = entries.get(rest[:2], (0, ""))
        if mode != DIRECTORY or len(rest) <= 2:
            return found
        folders, rest = (*folders, rest[:2]), rest[2:]


def _all_places(repo: Repository, root: str, cut: list[str] | None) -> dict[str, list[str]]:
    """The blobs of the notes on each object. Every visit counts: a tree can hold itself often."""
    found: dict[str, list[str]] = {}
    waiting = [("", root)]
    visited = 0
    while waiting:
        prefix, tree = waiting.pop()
        for name, (mode, oid) in repo.children(tree).items():
            if not _HEX.fullmatch(name):
                continue
            spelled = prefix + name.decode("ascii")
            if mode == DIRECTORY and len(name) == 2 and len(spelled) < 40:
                waiting.append((spelled, oid))
            elif mode in _FILES and len(spelled) == 40:
                found.setdefault(spelled, []).append(oid)
        visited += 1
        if len(found) > MAX_NOTES or visited + len(waiting) > MAX_FOLDERS:
            _say(cut, f"{ids.NOTES} is too large: only {len(found)} of its notes were read")
            break
    return found


def _content(repo: Repository, commit: str, blobs: Iterable[str], cut: list[str] | None) -> bytes:
    contents = []
    for blob in dict.fromkeys(blobs):
        header = repo.header(blob)
        if header and header[1] > MAX_NOTE:
            _say(cut, f"a note on {commit} was left out: it is larger than {MAX_NOTE >> 20} MiB")
        else:
            contents.append(repo.read(blob, "blob"))
    data = contents[0] if len(contents) == 1 else _joined(b"", map(split_note, contents))
    if data.count(b"\n-----END ") > MAX_RECORDS:
        _say(cut, f"the note on {commit} was cut after {MAX_RECORDS} records")
        data = _joined(b"", [split_note(data)[:MAX_RECORDS]])
    return data


def _joined(note: bytes, further: Iterable[Iterable[bytes]]) -> bytes:
    """The note with the pieces that it does not have yet, as `git notes append` joins them."""
    known = {piece.rstrip(b"\n") for piece in split_note(note)}
    new: list[bytes] = []
    for piece in chain.from_iterable(further):
        text = piece.rstrip(b"\n")
        if text not in known:
            known.add(text)
            new.append(text + b"\n")
    if note and new:
        note = note.removesuffix(b"\n") + b"\n"
    return b"\n".join([note, *new] if note else new)


def _say(cut: list[str] | None, sentence: str) -> None:
    if cut is not None:
        cut.append(sentence)


# Writing.


class _Folder:
    """One level of the notes tree in memory: opened where needed, written where changed."""

    def __init__(self, repo: Repository, tree: str | None) -> None:
        self._repo = repo
        self._below: dict[bytes, _Folder] = {}
        self.entries = dict(repo.children(tree)) if tree else {}

    def open(self, name: bytes) -> _Folder:
        if name not in self._below:
            mode, tree = self.entries.get(name, (0, ""))
            self._below[name] = _Folder(self._repo, tree if mode == DIRECTORY else None)
            self.entries[name] = (DIRECTORY, tree)
        return self._below[name]

    def new_place(self, rest: bytes) -> Place:
        """Where a new note goes: along the folders that there are, into new ones beside others."""
        mode, _ = self.entries.get(rest[:2], (0, ""))
        if len(rest) > 2 and (mode == DIRECTORY or (not mode and self._is_split())):
            return (rest[:2], *self.open(rest[:2]).new_place(rest[2:]))
        return (rest,)

    def _is_split(self) -> bool:
        return len(self.entries) >= FULL or any(
            mode == DIRECTORY and len(name) == 2 and _HEX.fullmatch(name)
            for name, (mode, _) in self.entries.items()
        )

    def put(self, path: Place, blob: str | None) -> None:
        """Set the note at a place, or take it away."""
        if len(path) > 1:
            self.open(path[0]).put(path[1:], blob)
        elif blob:
            self.entries[path[0]] = (REGULAR, blob)
        else:
            self.entries.pop(path[0], None)

    def write(self) -> str:
        """Store what changed; the id of the tree. Empty folders go."""
        for name, folder in self._below.items():
            tree = folder.write()
            self.entries[name] = (DIRECTORY, tree)
            if tree == EMPTY_TREE:
                del self.entries[name]
        return self._repo.write_tree(self.entries)


def _with_records(
    repo: Repository, tree: str | None, records: Mapping[str, Sequence[bytes]]
) -> str | None:
    """The notes tree with these records; the same where it has them all."""
    root = _Folder(repo, tree)
    changed = False
    for commit, new in records.items():
        if not ids.is_oid(commit):
            raise ValueError(f"no object id: {commit[:80]!r}")
        places = _places(repo, tree, commit) if tree else {}
        before, after = _extended(repo, commit, places.values(), new)
        if after != before:
            for further in list(places)[1:]:
                root.put(further, None)
            place = next(iter(places), None) or root.new_place(commit.encode("ascii"))
            root.put(place, repo.write_blob(after))
            changed = True
    return root.write() if changed else tree


def _extended(
    repo: Repository, commit: str, blobs: Iterable[str], records: Sequence[bytes]
) -> tuple[bytes, bytes]:
    """A note before and after records are added to it."""
    cut: list[str] = []
    before = _content(repo, commit, blobs, cut)
    after = _joined(before, [records])
    if cut or len(after) > MAX_NOTE:
        raise GateError(
            Exit.UNTRUSTED,
            f"the note on {commit} would be larger than {MAX_NOTE >> 20} MiB, so it gets no copy "
            "of the decision, which is in its ledger",
            f"git notes --ref={ids.NOTES} remove {commit}",
        )
    return before, after
