"""Whose hooks folder is it, and where else is written down what git is to run there?

Git-gate puts a hook only into a folder that is this repository's alone and that nobody commits or
generates. Elsewhere a line in the owner's own file asks git-gate.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from gitgate.errors import Exit, GateError
from gitgate.git.repository import Repository
from gitgate.process import run

_LEFTHOOK_FILES = tuple(
    f"{folder}{stem}.{kind}"
    for stem in ("lefthook", ".lefthook", "lefthook-local", ".lefthook-local")
    for folder in ("", ".config/")
    for kind in ("yml", "yaml", "toml", "json", "jsonc")
)
_MAX_FILE = 1 << 20
_OF_A_SERVER = ("pre-receive", "post-receive")


class Owner(StrEnum):
    """Who says what a hooks folder holds."""

    NOBODY = "nobody"
    TRACKED = "tracked"
    SHARED = "shared"
    HUSKY = "husky"
    LEFTHOOK = "lefthook"
    DELEGATES = "delegates"
    NO_FOLDER = "no-folder"


@dataclass(frozen=True, slots=True)
class HookPlace:
    """Where git looks for the hook `name` here.

    `setting` is the scope of git's configuration in which `core.hooksPath` stands ("" where it
    stands nowhere), `relative` whether it depends on the work tree; `file` where the owner's
    people write what is to run, and `line` what asks git-gate there; `asks`: it stands there, and
    git would come to it.
    """

    name: str
    folder: Path
    setting: str
    relative: bool
    owner: Owner
    file: Path
    line: str
    asks: bool

    @property
    def why(self) -> str:
        """Why git-gate puts no hook there, and where the line belongs."""
        return {
            Owner.NOBODY: "",
            Owner.TRACKED: f"the hooks folder {self.folder} is part of a project",
            Owner.SHARED: f"the hooks folder {self.folder} is shared by all repositories"
            " (core.hooksPath)",
            Owner.HUSKY: f"husky writes the hooks folder {self.folder} anew when it is installed",
            Owner.LEFTHOOK: f"lefthook writes the hook {self.folder / self.name} anew when its"
            " configuration changes",
            Owner.DELEGATES: f"the hook {self.folder / self.name} runs the programs in"
            f" {self.name}.d, and a forge writes it anew",
            Owner.NO_FOLDER: f"core.hooksPath is {self.folder}, which is no folder: git runs no"
            " hook at all",
        }[self.owner]

    @property
    def mend(self) -> str:
        """What makes git ask git-gate, as a command where one line is enough."""
        if self.owner is Owner.NO_FOLDER:
            return f"git config --{self.setting} --unset-all core.hooksPath"
        if self.owner is Owner.HUSKY and not (self.folder / self.name).is_file():
            if self.name == "pre-push":
                return "npx husky"
            return f"husky knows no {self.name} hook: unset core.hooksPath to have one"
        file = shlex.quote(str(self.file))
        command = f"echo {shlex.quote(self.line)} >>{file}"
        if self.owner is Owner.LEFTHOOK:
            folder = shlex.quote(str(self.file.parent))
            job = _LEFTHOOK_JOB.format(name=self.name)
            return f"mkdir -p {folder} && {command}, then add to lefthook.yml:\n{job}"
        if self.owner is Owner.HUSKY:
            return command
        if not self.file.exists():
            command = f"printf '#!/bin/sh\\n%s\\n' {shlex.quote(self.line)} >{file}"
        return f"{command} && chmod +x {file}"

    def refusal(self) -> GateError:
        """That git-gate does not write here, and what asks it all the same."""
        return GateError(Exit.FATAL, f"{self.why}: git-gate puts no hook there", self.mend)


def find(repo: Repository, name: str) -> HookPlace:
    """The place of the hook `name`, as git sees it from this work tree."""
    top = repo.work_tree or repo.git_dir
    folder = Path(os.path.normpath(top / repo.git("rev-parse", "--git-path", "hooks").text))
    scope, _, value = repo.git("config", "--show-scope", "--get", "core.hooksPath").text.partition(
        "\t"
    )
    relative = bool(value) and not value.startswith(("/", "~"))
    owner = _owner(repo, folder, name, scope)
    file, line = folder / name, f'git-gate hook run {name} "$@"'
    if owner is Owner.HUSKY:
        file = folder.parent / name
    elif owner is Owner.LEFTHOOK:
        file = top / ".lefthook" / name / "git-gate"
    elif owner is Owner.DELEGATES:
        file = folder / f"{name}.d" / "git-gate"
    asks = owner is not Owner.NOBODY and _can_run(folder / name) and _asks(file, name)
    if owner is Owner.DELEGATES:
        asks = asks and _can_run(file)
    if owner is Owner.LEFTHOOK:
        asks = asks and any(_LEFTHOOK_SCRIPT.search(_content(top / one)) for one in _LEFTHOOK_FILES)
    return HookPlace(name, folder, scope, relative, owner, file, line, asks)


# A script: jobs with `run` are left out where HEAD has nothing that its own remote branch lacks,
# whatever is pushed (lefthook 2.2).
_LEFTHOOK_JOB = """\
{name}:
  jobs:
    - script: git-gate
      runner: sh
      use_stdin: true"""
_LEFTHOOK_SCRIPT = re.compile(rb"^[^#\n]*\bgit-gate\b", re.MULTILINE)


def _owner(repo: Repository, folder: Path, name: str, scope: str) -> Owner:
    if folder.exists() and not folder.is_dir():
        return Owner.NO_FOLDER
    if scope and folder.name == "_" and ((folder / "h").is_file() or not folder.exists()):
        return Owner.HUSKY
    if scope and _is_tracked(folder):
        return Owner.TRACKED
    within = [repo.common_dir, *([repo.work_tree] if repo.work_tree else [])]
    own = any(folder.resolve().is_relative_to(place) for place in within)
    if scope not in ("", "local", "worktree") and not own:
        return Owner.SHARED
    if _is_delegating(folder, name):
        return Owner.DELEGATES
    return Owner.LEFTHOOK if _is_lefthook(folder / name) else Owner.NOBODY


def _is_tracked(folder: Path) -> bool:
    """Whether some file in it belongs to the work tree, whichever, in which it lies."""
    if not folder.is_dir():
        return False
    inside = run(["git", "rev-parse", "--is-inside-work-tree"], cwd=folder)
    return inside.text == "true" and run(["git", "ls-files", "--", "."], cwd=folder).stdout != b""


def _is_delegating(folder: Path, name: str) -> bool:
    """Whether a forge's hook is there that runs what lies in a folder beside it (Gitea's does)."""
    beside = name in _OF_A_SERVER and (folder / f"{name}.d").is_dir() and (folder / name).is_file()
    return beside and b"# git-gate hook: " not in _content(folder / name)


def _is_lefthook(hook: Path) -> bool:
    return re.search(rb"^call_lefthook run ", _content(hook), re.MULTILINE) is not None


def _asks(file: Path, name: str) -> bool:
    """Whether a line of `file` that is no comment starts git-gate's hook `name`."""
    called = rb"^(?![ \t]*#).*\bgit[- ]gate[\"']? +hook +run +" + name.encode() + rb"\b"
    return re.search(called, _content(file), re.MULTILINE) is not None


def _content(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_MAX_FILE)
    except OSError:
        return b""


def _can_run(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
