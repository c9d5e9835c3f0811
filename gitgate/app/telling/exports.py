"""Temporary folders with the files of commits, in which commands of policy run."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from gitgate.core.landing import Entry
from gitgate.errors import Exit, GateError
from gitgate.git.export import export

if TYPE_CHECKING:
    from gitgate.app.gather.world import World


@dataclass(frozen=True)
class Exported:
    """The files of a tree in `folder`; `left_out` are those that are not there, and why."""

    folder: Path
    left_out: Mapping[bytes, str]


class Exports:
    """The files of the policy commit, and fresh ones of the work commit; gone with the context.

    Nothing in these folders is a repository, and git looks for none above them.
    """

    def __init__(self, world: World, policy: str, work: str) -> None:
        self._world = world
        self.policy_files = self._files(policy)
        self.work_files = self._files(work)
        self.root = Path(tempfile.mkdtemp(prefix="git-gate-")).resolve()
        (self.root / "tmp").mkdir()

    def __enter__(self) -> Exports:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        remove(self.root)

    @cached_property
    def policy(self) -> Exported:
        folder = self.root / "policy"
        return Exported(folder, export(self._world.repo, self.policy_files, folder))

    def may_have(self, path: str) -> bool:
        """Whether the policy commit has something where `path` begins, in any case."""
        first = os.fsencode(os.path.normpath(path)).split(b"/")[0].lower()
        return first in self._beginnings

    @cached_property
    def _beginnings(self) -> frozenset[bytes]:
        return frozenset(path.split(b"/", 1)[0].lower() for path in self.policy_files)

    def fresh_work(self) -> Exported:
        """The work as it is, whatever a command did to an earlier export of it."""
        folder = self.root / "work"
        remove(folder)
        if folder.exists():
            raise GateError(
                Exit.FATAL,
                f"what a validation left in {folder} cannot be removed",
                f"rm -rf {self.root}",
            )
        return Exported(folder, export(self._world.repo, self.work_files, folder))

    def variables(self) -> dict[str, str]:
        """What a command that runs here has to find in its environment."""
        return {
            "GIT_CEILING_DIRECTORIES": str(self.root),
            "GIT_TERMINAL_PROMPT": "0",
            "TMPDIR": str(self.root / "tmp"),
        }

    def _files(self, commit: str) -> Mapping[bytes, Entry]:
        return self._world.trees.everything(self._world.repo.commit(commit).tree)


def remove(folder: Path) -> None:
    """Remove a folder, also where folders in it are read-only; what cannot be removed stays."""
    if not folder.is_dir():
        return
    folder.chmod(0o700)
    for here, names, _ in os.walk(folder):
        for inner in (Path(here, name) for name in names):
            if not inner.is_symlink():
                inner.chmod(0o700)  # before the walk goes into it
    shutil.rmtree(folder, ignore_errors=True)
