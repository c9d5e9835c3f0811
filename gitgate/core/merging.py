"""merge(B, a, W), path by path: what a tree must hold after a request has landed on it.

Pure: trees are known by their ids and seen through `Trees`. The rule is design, section 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol, TypeVar

from gitgate.errors import Exit, GateError

Compared = Callable[[bytes], bool]
T = TypeVar("T")

_REGULAR_FILE = 0o100000
_KIND_OF_FILE = 0o170000


class Entry(NamedTuple):
    """A file of a tree: its canonical mode and its object id. A folder is no entry."""

    mode: int
    oid: str

    @property
    def regular(self) -> bool:
        return self.mode & _KIND_OF_FILE == _REGULAR_FILE


Value = Entry | None


class Both(Enum):
    """Both sides changed a path, and no rule about whole entries settles it."""

    CHANGED = "changed"


class Malformed(GateError):  # noqa: N818 - an answer about one tree
    """A tree that is no tree, or beyond every limit: nothing can ever have landed with it."""


class WholeMerge(NamedTuple):
    """Git's own merge of three whole trees; `conflicts` are the paths that are not clean."""

    tree: str
    conflicts: frozenset[bytes]


class Trees(Protocol):
    """The trees of a repository, each known by its id. Every method may raise GateError."""

    def changes(self, old: str, new: str) -> Mapping[bytes, tuple[Value, Value]]:
        """The files that differ, each with its two values."""
        ...

    def entry(self, tree: str, path: bytes) -> Value:
        """The file at `path`; None where there is none, or a folder."""
        ...

    def folder(self, tree: str, path: bytes) -> bool:
        """Whether some file lies below `path`."""
        ...

    def files(self, tree: str, folder: bytes) -> Mapping[bytes, Entry]:
        """The files below `folder`, with their whole paths."""
        ...

    def merge_files(self, sides: Mapping[bytes, tuple[Entry, Entry, Entry]]) -> Mapping[bytes, str]:
        """The object ids of the content merges of (base, ours, theirs), all regular files.

        A path that the answer leaves out is a conflict.
        """
        ...

    def merge_whole(self, base: str, ours: str, theirs: str) -> WholeMerge | None:
        """Git's own merge of whole trees; None where this git has none."""
        ...


@dataclass(frozen=True, slots=True)
class Overlay:
    """A tree in which some paths have other values: what stands between the links of a chain."""

    tree: str
    values: Mapping[bytes, Value]

    def entry(self, trees: Trees, path: bytes) -> Value:
        return self.values[path] if path in self.values else trees.entry(self.tree, path)

    def files(self, trees: Trees, folder: bytes) -> dict[bytes, Entry]:
        below = folder + b"/"
        found = dict(trees.files(self.tree, folder))
        for path, value in self.values.items():
            if value is None:
                found.pop(path, None)
            elif path.startswith(below):
                found[path] = value
        return found

    def folder(self, trees: Trees, folder: bytes) -> bool:
        if not self.values:
            return trees.folder(self.tree, folder)
        return bool(self.files(trees, folder))


@dataclass(frozen=True, slots=True)
class Merged:
    """The compared paths that a merge changes in the tree it starts from, and its conflicts.

    `beside` are further changes, at paths that are not compared, as far as they are plain; `idle`
    the places of the links that change no compared path when it is their turn.
    """

    values: Mapping[bytes, Value]
    conflicts: frozenset[bytes] = frozenset()
    beside: Mapping[bytes, Value] | None = None
    idle: frozenset[int] = frozenset()

    @property
    def clean(self) -> bool:
        return not self.conflicts


def parents(path: bytes) -> Iterator[bytes]:
    """The folders that `path` lies in, the nearest first."""
    while b"/" in path:
        path = path.rpartition(b"/")[0]
        yield path


def merge_path(base: Value, ours: Value, theirs: Value) -> Value | Both:
    """One path of a three-way merge; `Both` where only a merge of contents can tell.

    Of regular files mode and content are merged each for itself.
    """
    if theirs in (base, ours):
        return ours
    if ours == base:
        return theirs
    if base is None or ours is None or theirs is None:
        return Both.CHANGED
    if not (base.regular and ours.regular and theirs.regular):
        return Both.CHANGED
    oid = _three_way(base.oid, ours.oid, theirs.oid)
    mode = _three_way(base.mode, ours.mode, theirs.mode)
    return Both.CHANGED if oid is None or mode is None else Entry(mode, oid)


def _three_way(base: T, ours: T, theirs: T) -> T | None:
    if theirs in (base, ours):
        return ours
    return theirs if ours == base else None


def merge_contents(
    trees: Trees, sides: Mapping[bytes, tuple[Value, Value, Value]]
) -> dict[bytes, Entry]:
    """What becomes of paths that both sides changed; those that are missing are conflicts."""
    mergeable: dict[bytes, tuple[Entry, Entry, Entry]] = {}
    for path, (base, ours, theirs) in sides.items():
        if base and ours and theirs and base.regular and ours.regular and theirs.regular:
            mergeable[path] = (base, ours, theirs)
    if not mergeable:
        return {}
    found: dict[bytes, Entry] = {}
    for path, oid in trees.merge_files(mergeable).items():
        mode = _three_way(*(entry.mode for entry in mergeable[path]))
        if mode is not None:
            found[path] = Entry(mode, oid)
    return found


def merge(trees: Trees, base: str, ours: str | Overlay, theirs: str, compared: Compared) -> Merged:
    """merge(base, ours, theirs) on the compared paths, relative to `ours`, without renames."""
    start = ours if isinstance(ours, Overlay) else Overlay(ours, {})
    before: dict[bytes, Value] = {}
    after: dict[bytes, Value | Both] = {}
    contents: dict[bytes, tuple[Value, Value, Value]] = {}
    for path, (old, new) in trees.changes(base, theirs).items():
        before[path] = start.entry(trees, path)
        after[path] = merge_path(old, before[path], new)
        if after[path] is Both.CHANGED and compared(path):
            contents[path] = (old, before[path], new)
    after.update(merge_contents(trees, contents))
    conflicts = {path for path in contents if after[path] is Both.CHANGED}
    for path, value in after.items():
        if before[path] is None and isinstance(value, Entry) and compared(path):
            conflicts |= _in_the_way(trees, start, after, path)
    changed = {
        path: value
        for path, value in after.items()
        if not isinstance(value, Both) and value != before[path] and path not in conflicts
    }
    return Merged(
        {path: value for path, value in changed.items() if compared(path)},
        frozenset(conflicts),
        {path: value for path, value in changed.items() if not compared(path)},
    )


def _in_the_way(
    trees: Trees, start: Overlay, after: Mapping[bytes, Value | Both], path: bytes
) -> set[bytes]:
    """`path`, where a file is to be there and a folder stays, or where a folder above is a file."""

    def stays(other: bytes) -> bool:
        value = after[other] if other in after else start.entry(trees, other)
        return value is not None

    if any(stays(folder) for folder in parents(path)):
        return {path}
    if any(stays(other) for other in start.files(trees, path)):
        return {path}
    return set()


Links = Sequence[tuple[str, str]]


def merge_chain(trees: Trees, links: Links, start: str, compared: Compared) -> Merged:
    """The merges of the links (base and work tree each), one after another, without renames."""
    if len(links) == 1:
        return merge(trees, links[0][0], start, links[0][1], compared)
    values: dict[bytes, Value] = {}
    conflicts: set[bytes] = set()
    idle: set[int] = set()
    for place, (base, work) in enumerate(links):
        merged = merge(trees, base, Overlay(start, values), work, compared)
        values.update(merged.values)
        values.update(merged.beside or {})
        conflicts |= merged.conflicts
        if not merged.values:
            idle.add(place)
    changed = {
        path: value
        for path, value in values.items()
        if compared(path) and value != trees.entry(start, path)
    }
    return Merged(changed, frozenset(conflicts), None, frozenset(idle))


def merge_chain_by_git(trees: Trees, links: Links, start: str, compared: Compared) -> Merged | None:
    """The same by git's own merges of whole trees; None where this git has none.

    Conflicts at paths that are not compared do not matter in the last link. Before it they do: a
    rename could carry them to a compared path.
    """
    tree = start
    conflicts: set[bytes] = set()
    idle: set[int] = set()
    for place, (base, work) in enumerate(links):
        whole = trees.merge_whole(base, tree, work)
        if whole is None:
            return None
        if not any(compared(path) for path in trees.changes(tree, whole.tree)):
            idle.add(place)
        tree = whole.tree
        last = place == len(links) - 1
        conflicts.update(path for path in whole.conflicts if not last or compared(path))
    values = {
        path: new
        for path, (_, new) in trees.changes(start, tree).items()
        if compared(path) and path not in conflicts
    }
    return Merged(values, frozenset(conflicts), None, frozenset(idle))


@dataclass(frozen=True, slots=True)
class Doubts:
    """Where git's own merge may say something else: at `paths`; with `names` anywhere."""

    paths: frozenset[bytes]
    names: bool

    def __bool__(self) -> bool:
        return bool(self.paths) or self.names


def doubts(trees: Trees, links: Links, start: str) -> Doubts:
    """Where git's merges of the links over `start` may differ from the merges by path.

    Contents: at a path that both sides changed. Names: where a rename may be at work, because such
    a path is gone on one side or new on both, or the folder of an added one is gone from the
    start, or a folder that B→W clears has got other files there. Then an added path is in doubt
    too: it may be the new name of what the start has edited.
    """
    overlay = Overlay(start, {})
    found: set[bytes] = set()
    added: set[bytes] = set()
    names = False
    for base, work in links:
        changes = trees.changes(base, work)
        for path, (old, new) in changes.items():
            ours = overlay.entry(trees, path)
            if old is None or len(links) > 1:
                added.add(path)
            if ours not in (old, new):
                found.add(path)
                names = names or None in (old, ours, new)
        names = names or _folders_moved(trees, base, overlay, work)
        if len(links) > 1:
            merged = merge(trees, base, overlay, work, _everything)
            overlay = Overlay(start, {**overlay.values, **merged.values})
    return Doubts(frozenset(found | added if names else found), names)


def _folders_moved(trees: Trees, base: str, start: Overlay, work: str) -> bool:
    changes = trees.changes(base, work)
    added_in = {up for path, (old, _) in changes.items() if old is None for up in parents(path)}
    for folder in added_in:
        if trees.folder(base, folder) and not start.folder(trees, folder):
            return True
    removed_in = {up for path, (_, new) in changes.items() if new is None for up in parents(path)}
    return any(
        not trees.folder(work, folder)
        and any(path not in changes for path in start.files(trees, folder))
        for folder in removed_in
    )


def _everything(path: bytes) -> bool:
    del path
    return True


def same_change(
    trees: Trees, first: tuple[str, str], second: tuple[str, str], compared: Compared
) -> bool:
    """Whether two requests (base and work tree each) ask for one change on the compared paths.

    So it is where merge(B1, B2, W1) is W2: a rejection of one then blocks the other too. Nothing
    at all is no change. Raises GateError (blocked) where only a later git could tell.
    """
    if first == second:
        return True
    base, work = second
    asked = {path: new for path, (_, new) in trees.changes(base, work).items() if compared(path)}
    merged = merge_chain(trees, (first,), base, compared)
    if not asked or (merged.clean and merged.values == asked):
        return bool(asked)
    doubtful = doubts(trees, (first,), base)
    certain = {path: new for path, new in merged.values.items() if path not in doubtful.paths}
    beside = not doubtful.names and not asked.keys() <= trees.changes(*first).keys()
    if not doubtful or beside or not certain.items() <= asked.items():
        return False
    by_git = merge_chain_by_git(trees, (first,), base, compared)
    if by_git is None:
        raise GateError(
            Exit.BLOCKED,
            "whether two requests ask for the same change takes git's own merge,"
            " and this git is older than 2.38",
            "install git 2.38 or later",
        )
    return by_git.clean and by_git.values == asked
