"""A bare repository of nobody's, in which merges give the same answer on every machine.

Merges depend on configuration and on attributes of the system, the user, the repository and the
trees themselves; a configured merge driver even runs (measured, for libgit2 and git alike). Here
none of that applies: the real objects are alternates, everything else is our own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pygit2

from gitgate import process
from gitgate.core import quoting
from gitgate.errors import Exit, GateError
from gitgate.git.trees import EMPTY_TREE, REGULAR

# The limits are git's own, spelled out: a later git may have other ones. So is what git does where
# a folder was renamed and the other side adds a file to it: it stops, since only a person can say
# where the file is to be.
_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tbare = true
\tattributesFile = /dev/null
\tautocrlf = false
[merge]
\tdefault = text
\trenames = true
\tdirectoryRenames = conflict
\trenameLimit = 7000
\trenormalize = false
\tconflictStyle = merge
[diff]
\trenames = true
\trenameLimit = 1000
"""

# The attributes that count most, in git and in libgit2: nothing can say otherwise.
_ATTRIBUTES = "* merge=text !conflict-marker-size\n"

_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_COUNT": "0",
    "GIT_CONFIG_PARAMETERS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_ATTR_SOURCE": EMPTY_TREE,
    "LC_ALL": "C",
}

_NOBODY = "git-gate <git-gate@git-gate.invalid> 946684800 +0000"
_TOO_OLD = 129  # what git says of an option that it does not know

Sides = tuple[str, str, str]


class Scratch:
    """The repository; it goes away with `close`, or with the object."""

    def __init__(self, objects: Sequence[Path]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="git-gate-"))
        self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        for name in ("objects", "refs", "info"):
            (self._folder / name).mkdir()
        (self._folder / "HEAD").write_text("ref: refs/heads/none\n", "ascii")
        (self._folder / "config").write_text(_CONFIG, "ascii")
        (self._folder / "info" / "attributes").write_text(_ATTRIBUTES, "ascii")
        self._library = _open(self._folder, objects)
        alternates = (quoting.quote(os.fsencode(path)) for path in objects)
        self._environment = {
            **_ENVIRONMENT,
            "GIT_DIR": str(self._folder),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join(alternates),
        }

    def close(self) -> None:
        """Remove the repository."""
        self._remove()

    def tree(self, oid: str) -> bytes | None:
        """The raw tree `oid`, of the scratch or its alternates; None where there is none."""
        try:
            kind, data = self._library.odb.read(oid)
        except (KeyError, pygit2.GitError):
            return None
        return bytes(data) if kind == pygit2.enums.ObjectType.TREE else None

    def blob(self, oid: str, limit: int) -> tuple[int, bytes] | None:
        """Size and content of a blob, empty where it has more than `limit` bytes; None where
        there is no such blob in the scratch or its alternates."""
        try:
            kind, size = self._library.odb.read_header(oid)
            if kind != pygit2.enums.ObjectType.BLOB:
                return None
            return size, bytes(self._library.odb.read(oid)[1]) if size <= limit else b""
        except (KeyError, pygit2.GitError):
            return None

    def raw_changes(self, old: str, new: str, limit: int) -> process.Completed:
        """What `git diff-tree --raw -z` says of two trees, renames found; at most `limit` files
        on a side are compared by content."""
        argv = ["git", "diff-tree", "-r", "--raw", "-z", "--no-abbrev", "-M", f"-l{limit}"]
        return process.run(
            [*argv, "--no-ext-diff", old, new], cwd=self._folder, env=self._environment
        )

    def patch(self, old: str, new: str) -> Iterator[bytes]:
        """The pieces of git's own patch from one tree to another, which `git apply` takes whole:
        binary files, modes and every path are in it.

        Raises GateError (untrusted) where git cannot make it.
        """
        argv = ["git", "diff-tree", "-r", "-p", "-M", "--binary", "--full-index", "--no-color"]
        plain = ["--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"]
        ended = yield from process.stream(
            [*argv, *plain, old, new], cwd=self._folder, env=self._environment
        )
        if ended != 0:
            raise GateError(
                Exit.UNTRUSTED, f"git cannot make the patch from {old} to {new}", "git fsck"
            )

    def merge_contents(self, sides: Sequence[Sides]) -> list[str | None]:
        """The ids of libgit2's merges of blobs (base, ours, theirs); None for a conflict.

        The blobs lie side by side in flat trees, under names that no attribute is about.
        """
        names = [f"{number:08}" for number in range(len(sides))]
        with _library_errors("files cannot be merged"):
            base, ours, theirs = (
                self._flat_tree(names, [triple[side] for triple in sides]) for side in range(3)
            )
            none = pygit2.enums.MergeFlag(0)
            index = self._library.merge_trees(base, ours, theirs, flags=none)
            conflicts = index.conflicts or ()
            return [None if name in conflicts else str(index[name].id) for name in names]

    def merge_trees(self, base: str, ours: str, theirs: str) -> process.Completed | None:
        """What `git merge-tree -z` says of whole trees; None where this git is too old for it."""
        first = self._commit(base)
        return self.merge_commits(self._commit(ours, first), self._commit(theirs, first))

    def merge_commits(self, ours: str, theirs: str) -> process.Completed | None:
        """What `git merge-tree -z` says of two commits; None where this git is too old for it."""
        answer = process.run(
            ["git", "merge-tree", "--write-tree", "-z", ours, theirs],
            cwd=self._folder,
            env=self._environment,
        )
        return None if answer.status == _TOO_OLD else answer

    def _flat_tree(self, names: Sequence[str], blobs: Sequence[str]) -> pygit2.Oid:
        builder = self._library.TreeBuilder()
        for name, blob in zip(names, blobs, strict=True):
            builder.insert(name, blob, REGULAR)
        return builder.write()

    def _commit(self, tree: str, *parents: str) -> str:
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
        lines += [f"author {_NOBODY}", f"committer {_NOBODY}", "", ""]
        with _library_errors("a merge cannot be prepared"):
            data = "\n".join(lines).encode("ascii")
            return str(self._library.odb.write(int(pygit2.enums.ObjectType.COMMIT), data))


def _open(folder: Path, objects: Sequence[Path]) -> pygit2.Repository:
    flags = pygit2.enums.RepositoryOpenFlag
    with _library_errors("no scratch repository can be made"):
        library = pygit2.Repository(str(folder), flags.NO_SEARCH | flags.NO_DOTGIT)
        for path in objects:
            library.odb.add_disk_alternate(str(path))
        return library


@contextmanager
def _library_errors(what: str) -> Iterator[None]:
    try:
        yield
    except (pygit2.GitError, KeyError, ValueError, OSError) as error:
        raise GateError(
            Exit.UNTRUSTED,
            f"{what}: {error}",
            "git fsck; and check TMPDIR, its free space and its access rights",
        ) from None
