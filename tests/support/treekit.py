"""Trees in a real repository from flat mappings of paths to contents."""

from __future__ import annotations

from collections.abc import Mapping

from gitgate.git.repository import Repository
from gitgate.git.trees import DIRECTORY, EXECUTABLE, REGULAR, SUBMODULE, SYMLINK

Content = bytes | tuple[int, bytes]
Flat = Mapping[bytes, Content]

__all__ = ["EXECUTABLE", "REGULAR", "SUBMODULE", "SYMLINK", "Content", "Flat", "plant", "read"]


def plant(repo: Repository, files: Flat) -> str:
    """Store the files and give the id of their tree; of a submodule the content is its id."""
    entries: dict[bytes, tuple[int, str]] = {}
    folders: dict[bytes, dict[bytes, Content]] = {}
    for path, content in files.items():
        name, slash, rest = path.partition(b"/")
        if slash:
            folders.setdefault(name, {})[rest] = content
            continue
        mode, data = content if isinstance(content, tuple) else (REGULAR, content)
        entries[name] = (mode, data.decode() if mode == SUBMODULE else repo.write_blob(data))
    for name, inside in folders.items():
        entries[name] = (DIRECTORY, plant(repo, inside))
    return repo.write_tree(entries)


def read(repo: Repository, tree: str) -> dict[bytes, Content]:
    """The files of a tree that `plant` would make it of."""
    found: dict[bytes, Content] = {}
    for name, (mode, oid) in repo.children(tree).items():
        if mode == DIRECTORY:
            found.update({name + b"/" + path: file for path, file in read(repo, oid).items()})
        else:
            data = oid.encode() if mode == SUBMODULE else repo.read(oid, "blob")
            found[name] = data if mode == REGULAR else (mode, data)
    return found
