"""The tree of a journal commit: which files are the index, and edits that touch no other file.

Whoever maintains the branch may keep further files in it, a forge's workflow for example. What is
no file of the index is left exactly as it is (design, section 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitgate.core import ids, journal
from gitgate.errors import Exit, GateError
from gitgate.git.repository import Repository
from gitgate.git.trees import DIRECTORY

MAX_FURTHER = 10_000
"""Files beside the index that one commit may change and still be made again on another tip."""

MAX_DEPTH = 50

Node = tuple[int, str]
"""Mode and object id of an entry of a tree."""

Changes = Mapping[bytes, Node | None]
"""Paths with what is to stand there, None for nothing."""


def children(repo: Repository, node: Node | None) -> Mapping[bytes, Node]:
    """The entries of a folder; none where it is no folder."""
    return repo.children(node[1]) if node is not None and node[0] == DIRECTORY else {}


def root(repo: Repository, commit: str | None) -> Node | None:
    """The tree of a commit as a folder."""
    return (DIRECTORY, repo.commit(commit).tree) if commit is not None else None


def index_difference(
    repo: Repository, before: str | None, after: str
) -> dict[tuple[str, str], tuple[Node | None, Node | None]]:
    """The files of the index, by gate and shard, that differ between two commits, with what
    stood there and what stands there. Of other folders nothing is read."""
    found: dict[tuple[str, str], tuple[Node | None, Node | None]] = {}
    old, new = children(repo, root(repo, before)), children(repo, root(repo, after))
    for folder in sorted({*old, *new}):
        if old.get(folder) == new.get(folder) or not ids.is_gate(folder.decode("latin-1")):
            continue
        were, are = children(repo, old.get(folder)), children(repo, new.get(folder))
        for name in sorted({*were, *are}):
            where = journal.parse_path(folder + b"/" + name)
            if where is not None and were.get(name) != are.get(name):
                found[where] = were.get(name), are.get(name)
    return found


def further_difference(
    repo: Repository, before: str, after: str
) -> dict[bytes, tuple[Node | None, Node | None]]:
    """The files beside the index that differ between two commits, by path.

    Raises GateError (blocked) where they are too many or nested too deep.
    """
    found: dict[bytes, tuple[Node | None, Node | None]] = {}
    for path, old, new in _difference(repo, root(repo, before), root(repo, after)):
        if journal.parse_path(path) is None:
            found[path] = old, new
        if len(found) > MAX_FURTHER:
            raise GateError(
                Exit.BLOCKED,
                f"commit {after} changes more than {MAX_FURTHER} files beside the journal",
            )
    return found


def _difference(
    repo: Repository, before: Node | None, after: Node | None, path: bytes = b""
) -> Iterator[tuple[bytes, Node | None, Node | None]]:
    if before == after:
        return
    if path.count(b"/") > MAX_DEPTH:
        raise GateError(Exit.BLOCKED, "the journal has folders that are nested too deep")
    old, new = children(repo, before), children(repo, after)
    for name in sorted({*old, *new}):
        inner = path + b"/" + name if path else name
        yield from _difference(repo, old.get(name), new.get(name), inner)
    one, other = _file(before), _file(after)
    if one != other:
        yield path, one, other


def _file(node: Node | None) -> Node | None:
    return None if node is None or node[0] == DIRECTORY else node


def edited(repo: Repository, tree: str, changes: Changes) -> str:
    """Store the tree with these changes and give its id; a folder that gets empty goes.

    Raises GateError (blocked) where a file stands in the way of a folder, or a folder in that of a
    file.
    """
    return _edited(repo, dict(repo.children(tree)), changes, b"")


def _edited(repo: Repository, entries: dict[bytes, Node], changes: Changes, above: bytes) -> str:
    below: dict[bytes, dict[bytes, Node | None]] = {}
    for path, node in changes.items():
        name, slash, rest = path.partition(b"/")
        if slash:
            below.setdefault(name, {})[rest] = node
        elif node is None:
            entries.pop(name, None)
        elif entries.get(name, node)[0] == DIRECTORY:
            raise _in_the_way("folder", above + name, "file")
        else:
            entries[name] = node
    for name, inner in below.items():
        mode, oid = entries.get(name, (DIRECTORY, ""))
        if mode != DIRECTORY:
            raise _in_the_way("file", above + name, "folder")
        there = dict(repo.children(oid)) if oid else {}
        written = _edited(repo, there, inner, above + name + b"/")
        entries[name] = (DIRECTORY, written)
        if not repo.children(written):
            del entries[name]
    return repo.write_tree(entries)


def _in_the_way(what: str, path: bytes, wanted: str) -> GateError:
    name = path.decode("utf-8", "replace")
    return GateError(
        Exit.BLOCKED,
        f"the journal has a {what} {name!r} where a {wanted} belongs",
        "give it another name in a commit on the branch aiwg/journal, and push that",
    )
