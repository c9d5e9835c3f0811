"""The derived files of a work tree: appended to after each decision, rebuilt by `export`.

They are never read back as truth, and are no business of the work tree's status.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from gitgate.app.exporting import as_json, rounds_of
from gitgate.app.instances import Loaded
from gitgate.app.policies import PolicyCommit
from gitgate.app.world import World
from gitgate.core import decisionlog, provenance
from gitgate.core.provenance import Round
from gitgate.errors import Exit, GateError
from gitgate.git.repository import Repository

DECISION_LOG = ".aiwg/gates/decisions.log"
PROVENANCE = ".aiwg/provenance/gates.prov.json"


def note_decision(world: World, policy: PolicyCommit, loaded: Loaded, record: str) -> list[str]:
    """Append a decision to the derived files of the work tree; a sentence for each that failed.

    They are never read back as truth, so that what goes wrong here undoes nothing.
    """
    top = world.repo.work_tree
    if top is None:
        return []
    exclude(world.repo, (policy.policy.logging.log_path, PROVENANCE))
    told = [one for one in rounds_of(policy, loaded) if record in _records(one)]
    failed: list[str] = []
    for write in (_append_log, _update_provenance):
        try:
            write(policy, top, told, record)
        except (GateError, OSError, ValueError) as error:
            what = error.message if isinstance(error, GateError) else str(error)
            failed.append(f"a derived file was not written: {what}: git gate export rebuilds it")
    return failed


def _append_log(policy: PolicyCommit, top: Path, told: list[Round], record: str) -> None:
    if not policy.policy.logging.log_all_decisions:
        return
    path = safe_path(top, policy.policy.logging.log_path)
    entries = [e for one in told for e in one.entries if e.record == record]
    with path.open("ab") as file:
        file.write(decisionlog.render(entries))


def _update_provenance(policy: PolicyCommit, top: Path, told: list[Round], record: str) -> None:
    del policy, record
    path = safe_path(top, PROVENANCE)
    new = provenance.document(told)
    if path.exists():
        new = provenance.merge(json.loads(path.read_bytes()), new)
    replace(path, as_json(new))


def _records(one: Round) -> list[str | None]:
    return [entry.record for entry in one.entries]


def safe_path(top: Path, name: str) -> Path:
    """A file of the work tree, its folders made; GateError where a link leads out of it."""
    path = top
    for part in Path(name).parts:
        if part in ("..", "/"):
            raise GateError(Exit.BLOCKED, f"{name} leads out of the work tree")
        path = path / part
        if path.is_symlink():
            raise GateError(Exit.BLOCKED, f"{name} leads through the symbolic link {path}")
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


def exclude(repo: Repository, names: Iterable[str]) -> bool:
    """List files in `info/exclude`; whether anything was missing there."""
    path = repo.common_dir / "info" / "exclude"
    there = path.read_text(encoding="utf-8") if path.exists() else ""
    missing = [f"/{name}" for name in names if f"/{name}" not in there.split("\n")]
    if missing:
        path.parent.mkdir(parents=True, exist_ok=True)
        gap = "\n" if there and not there.endswith("\n") else ""
        path.write_text(there + gap + "\n".join(missing) + "\n", encoding="utf-8")
    return bool(missing)
