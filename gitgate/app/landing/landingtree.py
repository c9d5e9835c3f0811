"""The scratch work tree in which a landing is built by real git, beside the user's own.

It is a linked work tree (git-worktree) in a temporary folder, with a HEAD, an index and an
ORIG_HEAD of its own. Whoever holds it has a lock on that folder; the lock ends with the process,
so what a killed one left behind is found and taken away by the next.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gitgate import process
from gitgate.app.landing.landingtext import said
from gitgate.app.landing.worktrees import work_trees
from gitgate.errors import Exit, GateError
from gitgate.git.repository import Repository

_FOLDER = "git-gate-land-"
_NAME = "landing"

# What is this repository's own: more of it would be moved or asked than the landing.
_SETTINGS = (
    "rebase.updateRefs=false",
    "rebase.autoSquash=false",
    "rebase.autoStash=false",
    "rebase.rebaseMerges=false",
    "notes.rewrite.rebase=false",  # an approval's note does not go over to another commit
    "notes.rewrite.amend=false",
    "rerere.enabled=false",
    "submodule.recurse=false",
    "advice.detachedHead=false",
)
_PERSONAL = ("user.", "author.", "committer.", "gpg.")
_NO_HOOKS = ("-c", f"core.hooksPath={os.devnull}")
_OBJECTS = ("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")


@dataclass(frozen=True, slots=True)
class LandingTree:
    """The scratch work tree at `path`, below the folder `aside` for other files."""

    path: Path
    aside: Path
    _settings: tuple[str, ...]
    _environment: dict[str, str]

    def git(self, *args: str) -> process.Completed:
        """Run git there with the hooks and settings of the project and its user.

        Nobody can be asked for a text: editors leave what there is. A failure is an answer.
        """
        named = [part for setting in self._settings for part in ("-c", setting)]
        return process.run_alone(["git", *named, *args], cwd=self.path, env=self._environment)

    def commit(self) -> str:
        """What its HEAD is at; GateError (fatal) where git does not know."""
        answer = self.git("rev-parse", "--verify", "HEAD^{commit}")
        if answer.status != 0:
            raise GateError(Exit.FATAL, f"the landing cannot be read: {answer.complaint}")
        return answer.text

    def conflicts(self) -> tuple[bytes, ...]:
        """The paths that git could not merge."""
        listed = self.git("diff", "--name-only", "--diff-filter=U", "-z").stdout
        return tuple(sorted(set(listed.split(b"\0")) - {b""}))


@contextmanager
def landing_tree(repo: Repository, commit: str, again: str) -> Iterator[LandingTree]:
    """A scratch work tree with `commit` checked out, for as long as the context lasts.

    The project's post-checkout hook does not run for it. `again` is the command that lands once
    more, for a hint. Raises GateError (fatal) where git cannot make it.
    """
    aside, lock = _folder()
    path = aside / f"{_NAME}-{aside.name.removeprefix(_FOLDER)}"
    try:
        made = repo.git(*_NO_HOOKS, "worktree", "add", "--quiet", "--detach", str(path), commit)
        if made.status != 0:
            what = f"git cannot check out {commit[:12]} to build the landing; nothing landed:"
            raise GateError(
                Exit.FATAL, "\n".join([what, *said(made.stderr)]), f"mend that, then {again}"
            )
        settings = (*_SETTINGS, *_person_of(repo), *_hooks_of(repo))
        yield LandingTree(path, aside, settings, _environment(repo))
    finally:
        _remove(repo, path)
        os.close(lock)


def _folder() -> tuple[Path, int]:
    """A new temporary folder, and the descriptor that holds its lock."""
    try:
        aside = Path(tempfile.mkdtemp(prefix=_FOLDER)).resolve()
        lock = os.open(aside, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        raise GateError(
            Exit.FATAL,
            f"there is no temporary folder to build the landing in: {error}",
            "set TMPDIR to a folder that can be written",
        ) from None
    return aside, lock


def sweep(repo: Repository) -> None:
    """Take away the scratch work trees whose processes are gone."""
    repo.check_writable("a landing")
    if not (repo.common_dir / "worktrees").is_dir():
        return
    for tree in work_trees(repo):
        aside = tree.path.parent
        if aside.name.startswith(_FOLDER) and tree.path.name.startswith(_NAME) and _is_free(aside):
            _remove(repo, tree.path)


def _is_free(aside: Path) -> bool:
    """Whether nobody holds the folder of a scratch work tree any more, or it is gone itself."""
    try:
        lock = os.open(aside, os.O_RDONLY)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


def _remove(repo: Repository, path: Path) -> None:
    # The files first: git keeps a work tree with submodules or changes, and forgets an absent one.
    shutil.rmtree(path.parent, ignore_errors=True)
    repo.git(*_NO_HOOKS, "worktree", "remove", "--force", "--force", str(path))


def _hooks_of(repo: Repository) -> tuple[str, ...]:
    """A relative `core.hooksPath` means the user's work tree: the scratch one may lack the folder,
    and git would run no hook and say nothing."""
    configured = repo.config.get("core.hookspath", "")
    if not configured or configured.startswith(("/", "~")):
        return ()
    folder = (repo.work_tree or repo.git_dir) / configured
    return (f"core.hooksPath={folder}",)


def _person_of(repo: Repository) -> Iterator[str]:
    """Who commits and signs: a condition on the folder of a repository (`includeIf`) means the
    user's, and git would find it false in the scratch one."""
    for key, value in repo.config.items():
        if key.startswith(_PERSONAL) or key == "commit.gpgsign":
            yield f"{key}={value}"


def _environment(repo: Repository) -> dict[str, str]:
    kept = {name: value for name, value in repo.environment.items() if name in _OBJECTS}
    return {**kept, "GIT_EDITOR": ":", "GIT_SEQUENCE_EDITOR": ":", "GIT_MERGE_AUTOEDIT": "no"}
