"""Which tips of ledgers and journal a remote is known to have had, in a file of this clone.

A plain `git fetch` overwrites the refs that say so. The file is below git's own folder; of several
lines about one ref the last one holds, so a line can be added without reading the others.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from gitgate.core import ids
from gitgate.errors import GateError
from gitgate.git.repository import Repository


def place(repo: Repository, remote: str) -> Path:
    """Where this clone keeps what it knows of a remote, without an ending."""
    name = hashlib.sha256(remote.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return repo.common_dir / "git-gate" / "exchanged" / name


def read(repo: Repository, remote: str) -> dict[str, str]:
    """The tips by their refs; a line that is none of ours counts as absent."""
    try:
        lines = os.fsdecode(_file(repo, remote).read_bytes()).split("\n")
    except OSError:
        return {}
    pairs = (line.partition(" ") for line in lines)
    return {ref: tip for tip, _, ref in pairs if ids.is_oid(tip) and ids.is_ref(ref)}


def write(repo: Repository, remote: str, tips: Mapping[str, str]) -> None:
    """Keep these tips and no others. A file that cannot be written is no error."""
    file = _file(repo, remote)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh = file.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(b"".join(_line(*one) for one in sorted(tips.items())))
        fresh.replace(file)


def add(repo: Repository, remote: str, ref: str, tip: str) -> None:
    """Keep a tip that a fetch showed, where it goes on from what was known of this ref."""
    before = read(repo, remote).get(ref)
    try:
        if before == tip or (before is not None and not repo.is_ancestor(before, tip)):
            return
    except GateError:  # what was known is not here any more, and stays known
        return
    file = _file(repo, remote)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab") as lines:
            lines.write(_line(ref, tip))


def _file(repo: Repository, remote: str) -> Path:
    return place(repo, remote).with_suffix(".tips")


def _line(ref: str, tip: str) -> bytes:
    return os.fsencode(f"{tip} {ref}\n")
