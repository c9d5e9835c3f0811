"""One repository: where it is, its configuration, its objects and its history."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeVar

import pygit2

from gitgate import process
from gitgate.core import ids
from gitgate.core.person import Stamp, parse_stamp
from gitgate.errors import Exit, GateError
from gitgate.git import discovery, history
from gitgate.git.objects import (
    MAX_COMMIT,
    MAX_OBJECT,
    Commit,
    Objects,
    format_commit,
    parse_commit,
    shared_access,
)
from gitgate.git.trees import DIRECTORY, EXECUTABLE, REGULAR, format_tree, parse_tree

T = TypeVar("T")

_CACHED_COMMITS = 20_000
_CACHED_ENTRIES = 500_000  # of all cached trees together: one tree can have a million

# Git has judged whether this repository is to be trusted (safe.directory) before libgit2 opens it.
pygit2.settings.owner_validation = False
# A missing object of a partial clone is fetched by git and then read again, so libgit2 need not
# know the extension. Never add refStorage here: it would show a reftable repository without refs.
pygit2.settings.set_extensions(["partialclone"])


class Repository:
    """A repository that git has found and trusts.

    Everything it reads is checked against its object id; in a push that is being received
    (`quarantine`) it reads the new objects and refuses every write.
    """

    def __init__(self, place: discovery.Place) -> None:
        self.git_dir = place.git_dir
        self.common_dir = place.common_dir
        self.work_tree = place.work_tree
        self.shallow = place.shallow
        self.quarantine = place.quarantine
        self._place = place
        self._library = _open_library(place.git_dir)
        self._objects = Objects(self._library)
        for folder in place.further_objects:
            self._objects.add_folder(str(folder))
        self._commits = lru_cache(_CACHED_COMMITS)(self._load_commit)
        self._trees: dict[str, Mapping[bytes, tuple[int, str]]] = {}
        self._entries = 0

    @classmethod
    def open(cls, start: Path | None = None) -> Repository:
        """The repository of the current folder and git's variables, or of the folder `start`.

        Raises GateError (fatal) where git finds none or does not trust it, and for SHA-256,
        reftable and grafted repositories.
        """
        return cls(discovery.find(start))

    # Git itself, and what it knows about the user.

    def git(
        self,
        *args: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> process.Completed:
        """Run git in this repository; `timeout` in seconds. A failure is an answer, no error."""
        return process.run(
            ["git", *args],
            cwd=self.work_tree or self.git_dir,
            stdin=stdin,
            env={**self._place.environment, **(env or {})},
            timeout=timeout,
        )

    @property
    def environment(self) -> Mapping[str, str]:
        """What a child git needs beside its folder to find just this repository."""
        return self._place.environment

    @cached_property
    def _settings(self) -> tuple[tuple[str, str], ...]:
        answer = self.git("config", "--list", "-z")
        if answer.status != 0:
            raise GateError(
                Exit.FATAL,
                f"git's configuration cannot be read: {answer.complaint}",
                "git config --list --show-origin",
            )
        entries = answer.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
        pairs = [entry.partition("\n") for entry in entries]
        # A key without a value (`[core] bare`) means true.
        return tuple((key, value if equals else "true") for key, equals, value in pairs)

    @cached_property
    def config(self) -> Mapping[str, str]:
        """The configuration as git sees it, `git -c` included; the last value of a key wins."""
        return dict(self._settings)

    def flag(self, key: str) -> bool:
        """Whether git config has a true value for `key`, whose name is in lower case."""
        return self.config.get(key, "").lower() in ("true", "yes", "on", "1")

    def config_all(self, key: str) -> tuple[str, ...]:
        """All values of a key, in git's order."""
        return tuple(value for name, value in self._settings if name == key)

    @property
    def partial(self) -> bool:
        """Whether this is a partial clone, in which git fetches missing objects on demand."""
        return "extensions.partialclone" in self.config or any(
            key.startswith("remote.") and key.endswith(".promisor") and value != "false"
            for key, value in self.config.items()
        )

    def identity(self) -> Stamp:
        """Who commits, and the time now, as git sees them; GateError (fatal) where nobody is."""
        answer = self.git("var", "GIT_COMMITTER_IDENT")
        try:
            if answer.status == 0:
                return parse_stamp(answer.text)
        except ValueError:
            pass
        raise GateError(
            Exit.FATAL,
            "git does not know who you are",
            "git config --global user.name 'Your Name'; git config --global user.email you@host",
        )

    def head_ref(self) -> str | None:
        """The full name of the ref that HEAD stands for, born or not; None where it is detached."""
        return self._symbolic("HEAD")

    def default_remote(self) -> str | None:
        """The remote of the current branch, else the only one, else `origin` where it exists."""
        head = self.head_ref() or ""
        chosen = self.config.get(f"branch.{head.removeprefix('refs/heads/')}.remote")
        if chosen and chosen != ".":
            return chosen
        remotes = {
            key.removeprefix("remote.").removesuffix(".url")
            for key in self.config
            if key.startswith("remote.") and key.endswith(".url")
        }
        if len(remotes) == 1:
            return remotes.pop()
        return "origin" if "origin" in remotes else None

    def remote_head(self, remote: str) -> str | None:
        """What refs/remotes/<remote>/HEAD stands for, as a full ref name; None where unknown."""
        return self._symbolic(f"refs/remotes/{remote}/HEAD")

    def _symbolic(self, name: str) -> str | None:
        try:
            target = self._library.lookup_reference(name).raw_target
        except (KeyError, ValueError, pygit2.GitError):
            return None
        return target.decode("utf-8", "surrogateescape") if isinstance(target, bytes) else None

    # Objects.

    def kind(self, oid: str) -> str | None:
        """`commit`, `tree`, `blob` or `tag`; None where the object is missing."""
        header = self.header(oid)
        return header[0] if header else None

    def read(self, oid: str, expect: str, limit: int = MAX_OBJECT) -> bytes:
        """The content of an object of the kind `expect`, at most `limit` bytes.

        Raises GateError (untrusted) where it is missing, corrupt, of another kind or larger. In a
        partial clone git fetches it first.
        """
        header = self.header(oid)
        if header is None:
            raise self._missing(oid)
        kind, size = header
        if kind != expect:
            raise GateError(Exit.UNTRUSTED, f"object {oid} is a {kind}, not a {expect}")
        if size > limit:
            raise GateError(
                Exit.UNTRUSTED, f"{kind} {oid} has {size} bytes, and {limit} are the most allowed"
            )
        return self._objects.read(oid)

    def read_small(self, oid: str, limit: int) -> bytes | None:
        """The content of a blob of at most `limit` bytes; None where it is larger."""
        header = self.header(oid)
        if header is None or header[0] != "blob":
            return self.read(oid, "blob")
        return self._objects.read(oid) if header[1] <= limit else None

    def pieces(self, oid: str) -> Generator[bytes]:
        """The content of a blob in pieces, for one that is too large to be held; GateError
        (untrusted) where it is missing or cannot be read to its end."""
        argv = ["git", "cat-file", "blob", oid]
        folder = self.work_tree or self.git_dir
        if (yield from process.stream(argv, cwd=folder, env=self._place.environment)) != 0:
            raise self._missing(oid)

    def header(self, oid: str) -> tuple[str, int] | None:
        """Kind and size in bytes of an object, without reading it; None where it is missing."""
        if not ids.is_oid(oid):
            return None
        header = self._objects.header(oid)
        if header is None and self.partial and self.git("cat-file", "-e", oid).status == 0:
            header = self._objects.header(oid)
        return header

    def _missing(self, oid: str) -> GateError:
        if self.shallow:
            hint = "git fetch --unshallow"
        else:
            hint = "git fetch" if self.partial else "git fsck; git fetch"
        return GateError(Exit.UNTRUSTED, f"object {oid[:80]} is missing", hint)

    def commit(self, oid: str) -> Commit:
        """A commit; GateError (untrusted) where it is missing or malformed."""
        return self._commits(oid)

    def _load_commit(self, oid: str) -> Commit:
        try:
            return parse_commit(oid, self.read(oid, "commit", MAX_COMMIT))
        except ValueError as error:
            raise GateError(Exit.UNTRUSTED, f"commit {oid} is malformed: {error}") from None

    def children(self, tree: str) -> Mapping[bytes, tuple[int, str]]:
        """The entries of a tree: name to mode and object id. Not to be changed.

        Raises GateError (untrusted) where the tree is missing or git's own fsck would refuse it.
        """
        if tree in self._trees:
            return self._trees[tree]
        try:
            entries = parse_tree(self.read(tree, "tree"))
        except ValueError as error:
            raise GateError(Exit.UNTRUSTED, f"tree {tree} is malformed: {error}") from None
        self._entries += len(entries)
        if self._entries > _CACHED_ENTRIES:
            self._trees.clear()
            self._entries = len(entries)
        self._trees[tree] = entries
        return entries

    def entry(self, tree: str, path: bytes) -> tuple[int, str] | None:
        """Mode and object id of what is at `path` in a tree, folders too; None where nothing is."""
        *folders, name = path.split(b"/")
        for folder in folders:
            mode, tree = self.children(tree).get(folder, (0, ""))
            if mode != DIRECTORY:
                return None
        return self.children(tree).get(name)

    def blob_at(self, commit: str, path: bytes, limit: int = MAX_OBJECT) -> bytes | None:
        """The content of the regular file at `path` in a commit; None where there is none."""
        found = self.entry(self.commit(commit).tree, path)
        if not found or found[0] not in (REGULAR, EXECUTABLE):
            return None
        return self.read(found[1], "blob", limit)

    def object_directories(self) -> tuple[Path, ...]:
        """The folders that hold this repository's objects: its own, a quarantine, alternates."""
        return discovery.object_directories(self._place)

    # New objects.

    def write_blob(self, data: bytes) -> str:
        """Store a blob and give its id."""
        return self._write("blob", data)

    def write_tree(self, entries: Mapping[bytes, tuple[int, str]]) -> str:
        """Store a tree of name to mode and object id, and give its id.

        Raises ValueError for entries that git's own fsck would refuse.
        """
        data = format_tree(entries)
        parse_tree(data)
        return self._write("tree", data)

    def write_commit(
        self,
        tree: str,
        parents: tuple[str, ...],
        author: Stamp,
        committer: Stamp,
        message: str,
    ) -> str:
        """Store a commit with exactly this message and give its id; no ref moves."""
        return self._write("commit", format_commit(tree, parents, author, committer, message))

    def _write(self, kind: str, data: bytes) -> str:
        self.check_writable(f"a new {kind}")
        with shared_access(self.config):
            return self._objects.write(kind, data)

    def check_writable(self, what: str) -> None:
        """GateError (fatal) inside a push that is being received: nothing is written there."""
        if self.quarantine:
            raise GateError(
                Exit.FATAL,
                f"{what} cannot be written while a push is being received",
                "run it after the push, not in its pre-receive or update hook",
            )

    # History.

    def resolve(self, rev: str) -> str:
        """The id of the commit that a person's word for it means, tags peeled.

        Raises GateError (usage) where it means none.
        """
        if ids.is_oid(rev) and self.kind(rev) == "commit":
            return rev
        if "\0" not in rev:
            word = rev + "^{commit}"
            answer = self.git("rev-parse", "--verify", "--quiet", "--end-of-options", word)
            if answer.status == 0 and ids.is_oid(answer.text):
                return answer.text
        if rev == "HEAD" and self.head_ref():
            raise GateError(
                Exit.USAGE, "HEAD has no commit yet", "make the first commit with `git commit`"
            )
        raise GateError(
            Exit.USAGE, f"{rev[:200]!r} names no commit here", "git log --all --oneline"
        )

    def first_parents(self, commit: str, until: str | None = None) -> list[Commit] | None:
        """The first-parent chain, newest first, to `until` inclusive, or to its root.

        None where `until` is not on it. Raises GateError (blocked) at a shallow boundary.
        """
        return history.first_parents(self, commit, until)

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether `older` is `newer` or one of its ancestors; GateError where that is unknown."""
        return history.is_ancestor(self, older, newer)

    def merge_bases(self, one: str, other: str) -> tuple[str, ...]:
        """The best common ancestors; GateError (blocked) where a shallow clone hides them."""
        return history.merge_bases(self, one, other)

    def between(self, base: str, work: str) -> tuple[Commit, ...]:
        """The commits of `base..work`, each before its parents, at most 10,000.

        Raises GateError (blocked) where there are more, and where a shallow clone hides some.
        """
        return history.between(self, base, work)

    def ask_library(self, question: Callable[[pygit2.Repository], T]) -> T:
        """Put a question to libgit2; what it cannot read becomes a GateError (untrusted)."""
        try:
            return question(self._library)
        except (pygit2.GitError, OSError, KeyError, ValueError) as error:
            raise GateError(
                Exit.UNTRUSTED, f"the repository cannot be read: {error}", "git fsck"
            ) from None


def _open_library(git_dir: Path) -> pygit2.Repository:
    flags = pygit2.enums.RepositoryOpenFlag
    try:
        return pygit2.Repository(str(git_dir), flags.NO_SEARCH | flags.NO_DOTGIT)
    except (pygit2.GitError, OSError) as error:
        raise GateError(
            Exit.FATAL, f"the repository {git_dir} is of a kind that is not supported: {error}"
        ) from None
