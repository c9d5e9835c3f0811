"""The hooks of this repository: whose folder they are in, and what stands there."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitgate import hooks
from gitgate.app.clone.hookplace import HookPlace, Owner, find
from gitgate.cli.env import Env
from gitgate.errors import Exit, GateError
from gitgate.hooks import (
    POST_RECEIVE,
    PRE_PUSH,
    PRE_RECEIVE,
    REFERENCE_TRANSACTION,
    SERVER,
    HookState,
    HookStatus,
)

_OURS = (HookState.INSTALLED, HookState.OUTDATED)


@dataclass(frozen=True, slots=True)
class Standing:
    """One hook: the folder's owner with what they wrote down, and the file itself."""

    place: HookPlace
    found: HookStatus | None

    @property
    def ours(self) -> bool:
        """Whether git-gate is to be asked: by its own hook or by the owner's line."""
        return self.place.asks or (self.found is not None and self.found.state in _OURS)

    @property
    def works(self) -> bool:
        """Whether git would come to git-gate, by all that the files say."""
        return self.place.asks or (self.found is not None and self.found.sound)

    def document(self) -> dict[str, Any]:
        found = self.found
        return {
            "path": str(self.place.folder / self.place.name if found is None else found.path),
            "state": found.state.value if found else HookState.ABSENT.value,
            "runs": found is not None and found.runs,
            "program": str(found.program) if found and found.program else None,
            "program_runs": found is not None and found.program_runs,
            "earlier": str(found.earlier) if found and found.earlier else None,
            "behind": str(found.behind) if found and found.behind else None,
            "owner": self.place.owner.value,
            "asked_by": str(self.place.file) if self.place.asks else None,
        }

    def problem(self) -> tuple[str, str]:
        """What keeps git from asking git-gate, and what mends it; empty where nothing does."""
        if self.works:
            return "", ""
        if self.place.owner is Owner.NO_FOLDER:
            return self.place.why, self.place.mend
        if self.place.owner is Owner.NOBODY:
            return self._fault(), INSTALL[self.place.name]
        return f"{self._fault()}; {self.place.why}", self.place.mend

    def _fault(self) -> str:
        name, place, found = self.place.name, self.place, self.found
        if found is None or found.state is HookState.ABSENT:
            missing = place.relative and not place.folder.is_dir()
            where = f", and this work tree has no folder {place.folder}" if missing else ""
            return f"the {name} hook is absent{where}: {_UNCHECKED[name]}"
        if found.state is HookState.FOREIGN:
            return f"the {name} hook is foreign: {_UNCHECKED[name]} ({found.path})"
        if found.state is HookState.OUTDATED:
            return f"the {name} hook is not what this git-gate installs: {found.path}"
        if not found.runs:
            return f"{found.behind or found.path} has no run bit, so git passes over it"
        return f"the {name} hook starts {found.program}, which is gone"

    @property
    def summary(self) -> str:
        """Where git comes to git-gate."""
        if self.place.asks:
            return f"the {self.place.name} hook asks git-gate: {self.place.file}"
        path = self.found.path if self.found else self.place.folder
        return f"the {self.place.name} hook is installed: {path}"

    def lines(self) -> list[str]:
        """What `hook status` says of it."""
        name, place, found = self.place.name, self.place, self.found
        if place.asks:
            return [f"{name}: {place.why}; {place.file} asks git-gate"]
        text, mend = self.problem()
        state = found.state.value if found else HookState.ABSENT.value
        lines = [f"{name}: {state}: {found.path if found else place.folder}"]
        if text:
            lines += f"{text}: {mend}".split("\n")
        if found and found.earlier:
            lines.append(f"the hook that was here before runs first: {found.earlier}")
        if found and found.behind:
            lines.append(f"it is run by the hook in front of it: {found.behind}")
        return lines


_UNCHECKED = {
    PRE_PUSH: "nothing is checked before a push",
    REFERENCE_TRANSACTION: "nothing is checked before a branch moves here",
    PRE_RECEIVE: "this server receives every push unchecked",
    POST_RECEIVE: "this server does not record what lands",
}
INSTALL = {
    PRE_PUSH: "git gate hook install",
    REFERENCE_TRANSACTION: "git gate hook install --block-local",
    **dict.fromkeys(SERVER, "git gate hook install --server"),
}


def check_server(env: Env) -> None:
    """GateError (usage) where this is a repository that people work in, not one to push to."""
    if env.repo.work_tree is not None:
        raise GateError(
            Exit.USAGE,
            f"{env.repo.work_tree} is a work tree: the server's hooks are for a bare repository",
            "git gate hook install --server, in the bare repository on the server",
        )


def standing(env: Env, name: str) -> Standing:
    """The hook `name` as it is here."""
    place = find(env.repo, name)
    usable = place.owner is not Owner.NO_FOLDER
    return Standing(place, hooks.status(place.folder, name) if usable else None)


def install_hook(env: Env, name: str) -> list[str]:
    """Install the hook `name`, in sentences; GateError where the folder is somebody else's and
    nothing there asks git-gate."""
    place = find(env.repo, name)
    if place.asks:
        return [f"{place.why}; {place.file} asks git-gate, so there is nothing to install"]
    if place.owner is not Owner.NOBODY:
        if standing(env, name).works:
            return [f"the {name} hook is installed already: {place.folder / name}"]
        raise place.refusal()
    said = hooks.install(place.folder, env.repo.common_dir, program(), name)
    if place.relative:
        said.append(
            "core.hooksPath is relative: each linked work tree has hooks of its own, and needs"
            f" {INSTALL[name]}"
        )
    return said


def uninstall_hook(env: Env, name: str) -> list[str]:
    """Remove the hook `name` from where git looks now and from git's own folder, in sentences."""
    place = find(env.repo, name)
    folders = dict.fromkeys((place.folder, env.repo.common_dir / "hooks"))
    left = [one for one in folders if one.is_dir() and _is_left(one, name)]
    said = [line for one in left for line in hooks.uninstall(one, env.repo.common_dir, name)]
    if place.asks:
        said.append(f"{place.file} asks git-gate: take the line out of it")
    elif not left and name in (PRE_PUSH, PRE_RECEIVE) and place.owner is Owner.NOBODY:
        said += hooks.uninstall(place.folder, env.repo.common_dir, name)
    return said


def _is_left(folder: Path, name: str) -> bool:
    """Whether something of ours is there: the hook, or the one that it set aside."""
    return hooks.status(folder, name).state in _OURS or hooks.set_aside_at(folder, name).exists()


def try_to_install(env: Env, name: str) -> tuple[list[str], list[str]]:
    """As `install_hook`: what was done, and what is left to the person to do."""
    try:
        return install_hook(env, name), []
    except GateError as error:
        return [error.message], [*error.hint.split("\n")]


def program() -> Path:
    """The git-gate that runs now, for the hook to start."""
    beside = Path(sys.executable).with_name("git-gate")
    return beside if beside.is_file() else Path(sys.argv[0]).resolve()
