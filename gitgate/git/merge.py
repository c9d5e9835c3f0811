"""The trees of a repository as the landing rule sees them, and git's merges of them.

Trees are read by our own parser, which refuses what git's fsck would; sizes have limits, since
whoever pushes can make a tree of a few kilobytes that unfolds to more files than there are atoms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from types import TracebackType
from typing import TYPE_CHECKING

from gitgate.core.merging import Entry, Malformed, Value, WholeMerge
from gitgate.errors import Exit, GateError
from gitgate.git.scratch import Scratch
from gitgate.git.trees import DIRECTORY, EMPTY_TREE, parse_tree

if TYPE_CHECKING:
    from gitgate.git.repository import Repository
    from gitgate.process import Completed

MAX_PATHS = 500_000
MAX_FOLDERS = 500_000
MAX_PATH_LENGTH = 4096  # PATH_MAX: what is longer can be checked out nowhere
MAX_FETCHED = 2_000

Children = Mapping[bytes, tuple[int, str]]
Changes = Mapping[bytes, tuple[Value, Value]]
_NOTHING: Children = {}


class GitTrees:
    """The trees of one repository; a context manager, since merges need a scratch repository.

    Raises GateError (untrusted) for what is missing, and Malformed for what no tree may be.
    """

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._merged_here = False
        self._contents: dict[tuple[str, str, str], str | None] = {}
        self._children = lru_cache(4096)(self._load)
        self.changes = lru_cache(2048)(self._changes)
        self.merge_whole = lru_cache(512)(self._merge_whole)
        self._holds_files = lru_cache(4096)(self._has_files)

    def __enter__(self) -> GitTrees:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the scratch repository; the trees can be used on without their merges."""
        if "_scratch" in self.__dict__:
            self._scratch.close()

    def entry(self, tree: str, path: bytes) -> Value:
        """The file at `path`; None where there is none, or a folder."""
        found = self._find(tree, path)
        return Entry(*found) if found and found[0] != DIRECTORY else None

    def folder(self, tree: str, path: bytes) -> bool:
        """Whether some file lies below `path`."""
        found = self._find(tree, path)
        return found is not None and found[0] == DIRECTORY and self._holds_files(found[1])

    def files(self, tree: str, folder: bytes) -> Mapping[bytes, Entry]:
        """The files below `folder`, with their whole paths."""
        found = self._find(tree, folder)
        if found is None or found[0] != DIRECTORY:
            return {}
        listed = self._compare(None, found[1], folder + b"/")
        return {path: entry for path, (_, entry) in listed.items() if entry}

    def everything(self, tree: str) -> Mapping[bytes, Entry]:
        """All files of a tree."""
        listed = self._compare(None, tree, b"")
        return {path: entry for path, (_, entry) in listed.items() if entry}

    def merge_files(self, sides: Mapping[bytes, tuple[Entry, Entry, Entry]]) -> dict[bytes, str]:
        """The ids of the content merges of (base, ours, theirs); a conflict is left out."""
        wanted = {path: _oids(entries) for path, entries in sides.items()}
        new = sorted({oids for oids in wanted.values() if oids not in self._contents})
        for oid in {oid for oids in new for oid in oids}:
            self._repo.read(oid, "blob")
        if new:
            self._contents.update(zip(new, self._scratch.merge_contents(new), strict=True))
        merged = {path: self._contents[oids] for path, oids in wanted.items()}
        return {path: oid for path, oid in merged.items() if oid is not None}

    def _merge_whole(self, base: str, ours: str, theirs: str) -> WholeMerge | None:
        """Git's own merge of whole trees; None where this git is older than 2.38."""
        # What git is about to read has passed our own parser before.
        sides = (self.changes(base, ours), self.changes(base, theirs))
        answer = self._scratch.merge_trees(base, ours, theirs)
        if answer is not None and answer.status not in (0, 1) and self._repo.partial:
            self._fetch(sides)
            answer = self._scratch.merge_trees(base, ours, theirs)
        if answer is None:
            return None
        if answer.status not in (0, 1):
            raise GateError(
                Exit.UNTRUSTED,
                f"git cannot merge the trees {base}, {ours} and {theirs}: {answer.complaint}",
                "git fetch --refetch --filter=blob:none" if self._repo.partial else "git fsck",
            )
        return self._read_answer(answer, sides)

    def merge_commits(self, ours: str, theirs: str) -> WholeMerge | None:
        """Git's merge of two commits, over all their merge bases; None where git cannot.

        Raises GateError where their history or an object is absent.
        """
        bases = [self._repo.commit(base).tree for base in self._repo.merge_bases(ours, theirs)]
        one, other = self._repo.commit(ours).tree, self._repo.commit(theirs).tree
        if len(bases) == 1:
            return self.merge_whole(bases[0], one, other)
        answer = self._scratch.merge_commits(ours, theirs) if bases else None
        if answer is None or answer.status not in (0, 1):
            return None
        return self._read_answer(answer, (self.changes(one, other),))

    def blob(self, oid: str, limit: int) -> tuple[int, bytes]:
        """Size and content of a blob; no content where it has more than `limit` bytes."""
        found = self._scratch.blob(oid, limit) if self._merged_here else None
        if found is not None:
            return found
        data = self._repo.read_small(oid, limit)
        if data is not None:
            return len(data), data
        header = self._repo.header(oid)
        return header[1] if header else 0, b""

    def raw_changes(self, old: str, new: str, limit: int) -> bytes | None:
        """Git's raw list of what differs between two trees, with renames; None where git cannot
        make it, as in a partial clone that lacks a blob."""
        self.changes(old, new)  # what git is about to read has passed our own parser before
        answer = self._scratch.raw_changes(old, new, limit)
        return answer.stdout if answer.status == 0 else None

    def patch(self, old: str, new: str) -> Iterator[bytes]:
        """Git's own patch from one tree to another, in pieces, for `git apply`."""
        self.changes(old, new)
        return self._scratch.patch(old, new)

    def _read_answer(self, answer: Completed, sides: tuple[Changes, ...]) -> WholeMerge:
        self._merged_here = True
        merged = _parse_answer(answer.stdout)
        if answer.status == 0 or merged.conflicts:
            return merged
        # A conflict of a kind that names nothing: then nothing is clean.
        return WholeMerge(merged.tree, frozenset(path for side in sides for path in side))

    @cached_property
    def _scratch(self) -> Scratch:
        return Scratch(self._repo.object_directories())

    def _fetch(self, sides: tuple[Changes, ...]) -> None:
        """Have git fetch the blobs that a merge may read in a partial clone."""
        wanted = {
            value.oid
            for changes in sides
            for values in changes.values()
            for value in values
            if value is not None and value.regular
        }
        if len(wanted) > MAX_FETCHED:
            raise GateError(
                Exit.BLOCKED,
                f"git's merge needs {len(wanted)} blobs that this partial clone may lack",
                "git fetch --refetch --no-filter",
            )
        for oid in sorted(wanted):
            self._repo.read(oid, "blob")

    def _load(self, tree: str) -> Children:
        if tree == EMPTY_TREE:  # which git knows, whether it is stored or not
            return _NOTHING
        data = self._scratch.tree(tree) if self._merged_here else None
        try:
            return parse_tree(self._repo.read(tree, "tree") if data is None else data)
        except ValueError as error:
            raise Malformed(Exit.UNTRUSTED, f"tree {tree} is malformed: {error}") from None

    def _find(self, tree: str, path: bytes) -> tuple[int, str] | None:
        *folders, name = path.split(b"/")
        for folder in folders:
            found = self._children(tree).get(folder)
            if found is None or found[0] != DIRECTORY:
                return None
            tree = found[1]
        return self._children(tree).get(name)

    def _has_files(self, tree: str) -> bool:
        return next(iter(self._walk(None, tree, b"")), None) is not None

    def _changes(self, old: str, new: str) -> Changes:
        """The files that differ between two trees, each with its two values."""
        return self._compare(old, new, b"") if old != new else {}

    def _compare(self, old: str | None, new: str | None, prefix: bytes) -> Changes:
        found: dict[bytes, tuple[Value, Value]] = {}
        for path, before, after in self._walk(old, new, prefix):
            found[path] = before, after
            if len(found) > MAX_PATHS:
                raise _too_large(old, new, f"more than {MAX_PATHS} paths")
        return found

    def _walk(
        self, old: str | None, new: str | None, prefix: bytes
    ) -> Iterator[tuple[bytes, Value, Value]]:
        """The files that differ, descending only where tree ids do; None is an empty tree."""
        folders: list[tuple[bytes, str | None, str | None]] = [(prefix, old, new)]
        seen = 0
        while folders:
            prefix, left, right = folders.pop()
            seen += 1
            if seen > MAX_FOLDERS:
                raise _too_large(old, new, f"more than {MAX_FOLDERS} folders")
            before = self._children(left) if left else _NOTHING
            after = self._children(right) if right else _NOTHING
            for name in {name for name, _ in before.items() ^ after.items()}:
                path = prefix + name
                if len(path) > MAX_PATH_LENGTH:
                    raise _too_large(old, new, f"a path of more than {MAX_PATH_LENGTH} bytes")
                old_file, old_folder = _split(before.get(name))
                new_file, new_folder = _split(after.get(name))
                if old_file != new_file:
                    yield path, old_file, new_file
                if old_folder != new_folder:
                    folders.append((path + b"/", old_folder, new_folder))


def _split(found: tuple[int, str] | None) -> tuple[Value, str | None]:
    if found is None:
        return None, None
    return (None, found[1]) if found[0] == DIRECTORY else (Entry(*found), None)


def _oids(entries: tuple[Entry, Entry, Entry]) -> tuple[str, str, str]:
    base, ours, theirs = entries
    return base.oid, ours.oid, theirs.oid


def _too_large(old: str | None, new: str | None, what: str) -> Malformed:
    return Malformed(Exit.UNTRUSTED, f"the trees {old or 'none'} and {new or 'none'} have {what}")


def _parse_answer(output: bytes) -> WholeMerge:
    """The answer of `git merge-tree -z` (git-merge-tree, OUTPUT).

    A path is in conflict where it has stages, and where a message about a conflict names it: a
    few kinds of conflict leave no stages. Advice for people may stand at the end.
    """
    tree, *fields = output.split(b"\0")
    conflicts: set[bytes] = set()
    rest = iter(fields)
    for stage in rest:
        if not stage:
            break
        conflicts.add(stage.partition(b"\t")[2])
    for count in rest:
        if not count.isdigit():
            break
        named = [next(rest) for _ in range(int(count))]
        kind, _ = next(rest), next(rest)
        if kind.startswith((b"CONFLICT", b"ERROR")):
            conflicts.update(named)
    return WholeMerge(tree.decode("ascii"), frozenset(conflicts))
