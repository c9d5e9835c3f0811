"""Which requests were looked at in this clone: a file in git's own folder, nobody else's."""

from __future__ import annotations

import os
from contextlib import suppress

from gitgate.core.ids import is_oid
from gitgate.git.repository import Repository

_KEPT = 5_000  # requests, the newest


def viewed(repo: Repository) -> frozenset[str]:
    """The ids of the requests; none where the file is missing or cannot be read."""
    return frozenset(_read(repo))


def mark(repo: Repository, request: str) -> None:
    """Remember that a request was looked at. What cannot be written is not worth an error."""
    known = [one for one in _read(repo) if one != request][-_KEPT + 1 :]
    folder = repo.common_dir / "git-gate"
    new = folder / f"viewed.{os.getpid()}"
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
        new.write_text("".join(f"{one}\n" for one in (*known, request)), "ascii")
        new.replace(folder / "viewed")


def _read(repo: Repository) -> list[str]:
    try:
        text = (repo.common_dir / "git-gate" / "viewed").read_text("ascii", "replace")
    except OSError:
        return []
    return [line for line in text.split("\n") if is_oid(line)]
