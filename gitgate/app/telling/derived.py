"""The derived files of a work tree: appended to after each decision, rebuilt by `export`.

They are never read back as truth, and are no business of the work tree's status.
"""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.app.telling.exporting import as_json, rounds_of
from gitgate.core import decisionlog, provenance
from gitgate.core.decisionlog import Entry
from gitgate.core.events import Event
from gitgate.core.provenance import Round
from gitgate.errors import Exit, GateError
from gitgate.git.repository import Repository

DECISION_LOG = ".aiwg/gates/decisions.log"
PROVENANCE = ".aiwg/provenance/gates.prov.json"

_LARGEST = 64 << 20
"""Bytes of a derived file that are read: a work tree's content is anybody's."""


def note_decision(world: World, policy: PolicyCommit, loaded: Loaded, event: Event) -> list[str]:
    """Add a decision, or a deadline that passed, to the derived files of the work tree; a sentence
    for each that failed.

    The files are never read back as truth, so that what goes wrong here undoes nothing.
    """
    top = world.repo.work_tree
    if top is None:
        return []
    told = next(one for one in rounds_of(world, policy, loaded) if one.request.id == event.request)
    entries = [entry for entry in told.entries if entry.record == event.record]
    logging = policy.policy.logging
    log = logging.log_path
    failed = _failing(lambda: exclude(world.repo, (log, PROVENANCE)))
    said = [f"the derived files are in the work tree's status: {why}" for why in failed]
    if logging.log_all_decisions:
        failed = [why for one in entries for why in _failing(partial(_add_to_log, top, log, one))]
        said += [_unwritten(log, "log", why) for why in failed]
    failed = _failing(lambda: _update_provenance(top, [told]))
    return said + [_unwritten(PROVENANCE, "prov", why) for why in failed]


def _unwritten(name: str, form: str, why: str) -> str:
    mend = f"git gate export --format {form} -o {shlex.quote(name)}"
    return f"{name} was not written, the decision stands: {why}; once that is mended: {mend}"


def _failing(write: Callable[[], object]) -> list[str]:
    """Why `write` could not be done; empty where it was."""
    try:
        write()
    except GateError as error:
        return [error.message]
    except OSError as error:
        return [f"{error.filename}: {error.strerror}"]
    except (ValueError, RecursionError) as error:
        return [str(error)]
    return []


def _add_to_log(top: Path, name: str, entry: Entry) -> None:
    """Append the entry, or put it before those of the same second that come after it."""
    path = safe_path(top, name)
    there = path.read_bytes() if path.exists() and path.stat().st_size <= _LARGEST else b""
    place = decisionlog.place_of(entry, there)
    new = decisionlog.document(entry)
    if place < len(there):
        replace(path, there[:place] + new + there[place:])
        return
    gap = b"\n" if there and not there.endswith(b"\n") else b""
    with path.open("ab") as file:
        file.write(gap + new)


def _update_provenance(top: Path, told: list[Round]) -> None:
    path = safe_path(top, PROVENANCE)
    new = provenance.document(told)
    if path.exists():
        if path.stat().st_size > _LARGEST:
            raise ValueError(f"it is larger than {_LARGEST >> 20} MiB")
        new = provenance.merge(json.loads(path.read_bytes()), new)
    replace(path, as_json(new))


def safe_path(top: Path, name: str) -> Path:
    """A file of the work tree, its folders made; GateError where something else is in its place
    or a link leads out of the work tree."""
    path = top
    for part in Path(name).parts:
        if part in ("..", "/"):
            raise GateError(Exit.BLOCKED, "it leads out of the work tree")
        path = path / part
        if path.is_symlink():
            raise GateError(Exit.BLOCKED, f"it leads through the symbolic link {path}")
    if path.exists() and not path.is_file():
        raise GateError(Exit.BLOCKED, "there is something that is no file")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def replace(path: Path, data: bytes) -> None:
    """Put `data` in the place of a file, whole or not at all."""
    handle, name = tempfile.mkstemp(prefix=".git-gate-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def exclude_derived(repo: Repository, policy: PolicyCommit, written: Path) -> None:
    """Exclude the derived files where `written` is one of those of this work tree."""
    names = (policy.policy.logging.log_path, PROVENANCE)
    top = repo.work_tree
    if top is not None and written.resolve() in [(top / name).resolve() for name in names]:
        exclude(repo, names)


def exclude(repo: Repository, names: Iterable[str]) -> bool:
    """List files in `info/exclude`; whether anything was missing there."""
    path = repo.common_dir / "info" / "exclude"
    there = path.read_bytes() if path.exists() else b""
    wanted = [f"/{name}".encode() for name in names]
    missing = [line for line in wanted if line not in there.split(b"\n")]
    if missing:
        path.parent.mkdir(parents=True, exist_ok=True)
        gap = b"\n" if there and not there.endswith(b"\n") else b""
        path.write_bytes(there + gap + b"\n".join(missing) + b"\n")
    return bool(missing)
