"""Which repository is meant: `git rev-parse` decides, in one process.

Git knows `GIT_DIR`, linked work trees, submodules, ceilings and `safe.directory`; libgit2 knows
only some of them. This is the one module that reads git's own variables from the environment:
every process that starts here gets a clean one, so they are handed on by name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gitgate import process
from gitgate.core import quoting
from gitgate.errors import Exit, GateError

_LOCATION = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
)

_QUESTIONS = (
    "--show-object-format",
    "--is-shallow-repository",
    "--absolute-git-dir",
    "--git-common-dir",
    "--show-cdup",  # prints nothing, and no empty line either, where there is no work tree
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a repository is, and what a child git needs in its environment to find just that.

    `further_objects` are object directories that only the environment names: the quarantine of a
    push that is being received. `quarantine` forbids every write (githooks and git-receive-pack:
    a ref to a quarantined object is corrupt once the push is refused).
    """

    git_dir: Path
    common_dir: Path
    work_tree: Path | None
    shallow: bool
    quarantine: bool
    further_objects: tuple[Path, ...]
    environment: Mapping[str, str]


def find(start: Path | None) -> Place:
    """The repository that git would use in the folder `start`.

    Without `start` the current folder and git's variables decide, as for any git command; with it
    the variables, which speak of another place, are left out.

    Raises GateError (fatal): no repository, one that git refuses to trust, or one of a kind that
    is not supported (SHA-256 objects, reftable, grafts).
    """
    folder = _folder(start)
    given = {} if start else {name: os.environ[name] for name in _LOCATION if name in os.environ}
    answer = process.run(["git", "rev-parse", *_QUESTIONS], cwd=folder, env=given)
    if answer.status != 0:
        raise _refusal(answer, folder)
    lines = answer.text.split("\n") if answer.stdout else []
    if not 4 <= len(lines) <= 5:
        raise GateError(Exit.FATAL, f"the path of the repository at {folder} has a line break")
    git_dir, common_dir = Path(lines[2]).resolve(), (folder / lines[3]).resolve()
    _check_supported(lines[0], git_dir, common_dir)
    work_tree = (folder / lines[4]).resolve() if len(lines) == 5 else None
    if work_tree == git_dir:  # what git takes for the work tree in a hook that runs in the git dir
        work_tree = None
    return Place(
        git_dir=git_dir,
        common_dir=common_dir,
        work_tree=work_tree,
        shallow=lines[1] == "true",
        quarantine="GIT_QUARANTINE_PATH" in os.environ,
        further_objects=tuple(_object_folders(given, folder)),
        environment=_handed_on(given, folder, git_dir, work_tree),
    )


def object_directories(place: Place) -> tuple[Path, ...]:
    """Every folder that holds objects of the repository, alternates of alternates included."""
    waiting = [place.common_dir / "objects", *place.further_objects]
    found: list[Path] = []
    while waiting:
        folder = waiting.pop(0)
        if folder not in found:
            found.append(folder)
            waiting.extend(_alternates(folder))
    return tuple(found)


def _folder(start: Path | None) -> Path:
    try:
        folder = (start or Path.cwd()).resolve()
    except OSError:
        raise GateError(Exit.FATAL, "the current folder does not exist any more") from None
    if not folder.is_dir():
        raise GateError(Exit.FATAL, f"{folder} is not a folder")
    return folder


def _refusal(answer: process.Completed, folder: Path) -> GateError:
    complaint = answer.stderr.decode("utf-8", "replace").strip()
    if "refstorage" in complaint.lower():
        return _reftable(folder)
    first, _, rest = complaint.partition("\n")
    advice = [line.strip() for line in rest.split("\n") if line.startswith("\t")]
    hint = advice[-1] if advice else "run it inside a git repository, or make one with `git init`"
    return GateError(Exit.FATAL, first.removeprefix("fatal: "), hint)


def _check_supported(object_format: str, git_dir: Path, common_dir: Path) -> None:
    if object_format != "sha1":
        raise GateError(
            Exit.FATAL,
            f"the repository {common_dir} has {object_format} objects, which are not supported",
            "use a repository with SHA-1 objects (git's default)",
        )
    if (common_dir / "reftable").is_dir():
        raise _reftable(common_dir)
    if common_dir != git_dir and not (git_dir / "commondir").is_file():
        raise GateError(
            Exit.FATAL,
            "GIT_COMMON_DIR names another repository than GIT_DIR, which is not supported",
            "unset GIT_COMMON_DIR",
        )
    grafts = common_dir / "info" / "grafts"
    if grafts.is_file() and grafts.stat().st_size:
        raise GateError(
            Exit.FATAL,
            f"the repository {common_dir} has grafts, so its history is not what the commits say",
            "git replace --convert-graft-file (replacements are ignored here)",
        )


def _reftable(folder: Path) -> GateError:
    return GateError(
        Exit.FATAL,
        f"the repository {folder} keeps its refs in a reftable, which is not supported",
        "git refs migrate --ref-format=files",
    )


def _handed_on(
    given: Mapping[str, str], folder: Path, git_dir: Path, work_tree: Path | None
) -> dict[str, str]:
    handed = {name: value for name, value in given.items() if name == "GIT_QUARANTINE_PATH"}
    if "GIT_OBJECT_DIRECTORY" in given:
        handed["GIT_OBJECT_DIRECTORY"] = str(folder / given["GIT_OBJECT_DIRECTORY"])
    further = _split_paths(given.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", ""))
    if further:
        quoted = [quoting.quote(os.fsencode(folder / path)) for path in further]
        handed["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = os.pathsep.join(quoted)
    handed["GIT_DIR"] = str(git_dir)
    if work_tree:
        handed["GIT_WORK_TREE"] = str(work_tree)
    else:
        handed["GIT_IMPLICIT_WORK_TREE"] = "0"
    return handed


def _object_folders(given: Mapping[str, str], folder: Path) -> list[Path]:
    own = [given["GIT_OBJECT_DIRECTORY"]] if given.get("GIT_OBJECT_DIRECTORY") else []
    further = _split_paths(given.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", ""))
    return [(folder / path).resolve() for path in own + further]


def _alternates(objects: Path) -> list[Path]:
    """The folders that `info/alternates` names (gitrepository-layout)."""
    try:
        lines = os.fsdecode((objects / "info" / "alternates").read_bytes()).split("\n")
    except OSError:
        return []
    paths = [_unquoted(line) for line in lines if not line.startswith("#")]
    return [(objects / path).resolve() for path in paths if path]


def _split_paths(value: str) -> list[str]:
    """The entries of GIT_ALTERNATE_OBJECT_DIRECTORIES: a quoted one may hold a separator."""
    entries: list[str] = []
    while value:
        if value.startswith('"'):
            end = _closing_quote(value)
            entries.append(_unquoted(value[:end]))
            value = value[end:].removeprefix(os.pathsep)
        else:
            entry, _, value = value.partition(os.pathsep)
            entries.append(entry)
    return [entry for entry in entries if entry]


def _unquoted(path: str) -> str:
    try:
        return os.fsdecode(quoting.unquote(path)) if path.startswith('"') else path
    except ValueError:
        return ""


def _closing_quote(value: str) -> int:
    position = 1
    while position < len(value) and value[position] != '"':
        position += 2 if value[position] == "\\" else 1
    return min(position + 1, len(value))
