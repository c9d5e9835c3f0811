"""The change between two rounds as the plain values that `diff --json` and the summary print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gitgate.app.showing.changes import Changes, of_policy
from gitgate.app.showing.rounds import Round
from gitgate.core.change import File, Hunk, Measured, Status, totals
from gitgate.core.lineage import Carry
from gitgate.core.quoting import path_text

SCHEMA = 1

MAX_TEXT = 16 << 20
"""Characters of hunks in one JSON document; the hunks of a file beyond that are null."""

ITEMS_A_FILE = 5
ITEMS_A_SCREEN = 24
FILES_SHOWN = 12
_LARGEST_READ = 8 << 20  # bytes of a file beyond which the summary does not read it

_SECTIONS = {
    Status.MODIFIED: "modified",
    Status.RETYPED: "modified",
    Status.ADDED: "added",
    Status.DELETED: "deleted",
    Status.RENAMED: "renamed",
}


def head(changes: Changes) -> dict[str, Any]:
    """What is compared, and what is known beside the files."""
    rounds, base = changes.rounds, changes.base
    return {
        "schema": SCHEMA,
        "gate": changes.loaded.gate,
        "subject": changes.loaded.subject,
        "from": _round(rounds.old),
        "to": _round(rounds.new),
        "target": rounds.new.request.target,
        "off_target": changes.off_target,
        "start": changes.start.tree,
        "renewed": changes.renewed,
        "base": {
            "commits": base.gained,
            "lost": base.lost,
            "files": base.paths,
            "touches": [path_text(path) for path in base.touched],
        }
        if base
        else None,
        "says": {"summary": rounds.new.request.summary, "commits": list(changes.subjects)},
        "warnings": [*changes.loaded.faults, *changes.loaded.reports],
    }


def document(changes: Changes, *, hunks: bool) -> dict[str, Any]:
    """The document of `diff --json` (docs/reference.md)."""
    files: list[dict[str, Any]] = []
    room = MAX_TEXT
    for file in changes.measured:
        found, used = _hunks(changes, file, room) if hunks else (None, 0)
        room -= used
        files.append({**_file(changes, file), "hunks": found})
    return {
        **head(changes),
        "statistics": _statistics(changes.measured),
        "files": files,
        "conflicts": [
            {"path": path_text(one.path), "hunks": [_hunk(hunk) for hunk in one.hunks]}
            for one in changes.conflicts()
        ],
        "comments": [_comment(one) for said in changes.comments.values() for one in said],
    }


def _hunks(changes: Changes, file: Measured, room: int) -> tuple[list[dict[str, Any]] | None, int]:
    """The hunks of a file and how many characters they have; None where there is no room."""
    found: list[dict[str, Any]] = []
    used = 0
    for hunk in changes.hunks(file):
        used += sum(len(line.text) + 1 for line in hunk.lines)
        if used > room:
            return None, 0
        found.append(_hunk(hunk))
    return found, used


def summary(changes: Changes) -> dict[str, Any]:
    """What the summary shows: the files by what happened to them, the largest first, and the few
    lines that say what changed in each."""
    sections: dict[str, list[Measured]] = {
        name: [] for name in ("policy", "modified", "added", "deleted", "renamed")
    }
    for file in sorted(changes.measured, key=lambda file: (-file.lines, file.pair.path)):
        own = of_policy(file.pair)
        sections["policy" if own else _SECTIONS[file.pair.status]].append(file)
    told = [file for files in sections.values() for file in files[:FILES_SHOWN] if _tells(file)]
    budget = max(min(ITEMS_A_SCREEN // max(len(told), 1), ITEMS_A_FILE), 2)
    shown: dict[str, list[dict[str, Any]]] = {}
    unseen: list[Measured] = []
    for name, files in sections.items():
        shown[name] = []
        unseen += files[FILES_SHOWN:]
        for file in files[:FILES_SHOWN]:
            row = _file(changes, file)
            row["items"], row["more"] = _told(changes, file, budget)
            row["description"] = changes.description(file) if _read(file) else ""
            shown[name].append(row)
    in_change = {file.pair.path for file in changes.measured}
    return {
        **head(changes),
        **shown,
        "more": {name: max(len(files) - FILES_SHOWN, 0) for name, files in sections.items()},
        "unseen": _unseen(unseen),
        "statistics": _statistics(changes.measured),
        "conflicts": [
            {"path": path_text(one.path), "differs": bool(one.hunks)} for one in changes.conflicts()
        ],
        "comments": [
            _comment(one)
            for path, said in changes.comments.items()
            if path not in in_change
            for one in said
        ],
    }


def _told(changes: Changes, file: Measured, budget: int) -> tuple[list[dict[str, Any]], int]:
    if not _tells(file):
        return [], 0
    told = changes.told(file, budget)
    items = [
        {"kind": one.kind, "text": one.text, "first": one.first, "last": one.last}
        for one in told.items
    ]
    return items, told.more


def _tells(file: Measured) -> bool:
    """Whether there is something to tell of what changed inside a file."""
    inside = file.pair.status in (Status.MODIFIED, Status.RENAMED, Status.RETYPED)
    return inside and file.lines > 0 and _read(file)


def _read(file: Measured) -> bool:
    return file.added is not None and max(file.sizes) <= _LARGEST_READ


def _unseen(files: Sequence[Measured]) -> list[dict[str, Any]]:
    """What is remarkable about files that the summary does not name, by what it is about."""
    found: dict[str, list[str]] = {}
    for file in files:
        for about in {remark.about for remark in file.remarks}:
            found.setdefault(about.value, []).append(path_text(file.pair.path))
    return [{"about": about, "paths": sorted(found[about])} for about in sorted(found)]


def _statistics(files: Sequence[Measured]) -> dict[str, int]:
    found = totals(files)
    return {
        "files": found.files,
        "modified": found.modified,
        "added": found.added,
        "deleted": found.deleted,
        "renamed": found.renamed,
        "insertions": found.insertions,
        "deletions": found.deletions,
        "uncounted": found.uncounted,
    }


def _round(one: Round | None) -> dict[str, Any] | None:
    if one is None:
        return None
    request = one.request
    return {
        "iteration": one.number,
        "request": request.id,
        "work": request.work,
        "base": request.base,
    }


def _file(changes: Changes, file: Measured) -> dict[str, Any]:
    old, new = file.pair.old, file.pair.new
    return {
        "path": path_text(file.pair.path),
        "old_path": path_text(old.path) if old and old.path != file.pair.path else None,
        "status": file.pair.status.value,
        "similarity": file.pair.similarity,
        "old": _side(old, file.sizes[0]),
        "new": _side(new, file.sizes[1]),
        "added": file.added,
        "deleted": file.deleted,
        "binary": file.binary,
        "too_large": file.too_large,
        "policy": of_policy(file.pair),
        "remarks": [
            {"about": one.about.value, "text": one.text, "lines": list(one.lines)}
            for one in file.remarks
        ],
        "comments": _comments(changes.comments.get(file.pair.path, ())),
    }


def _side(file: File | None, size: int) -> dict[str, Any] | None:
    return {"mode": f"{file.mode:06o}", "oid": file.oid, "size": size} if file else None


def _hunk(hunk: Hunk) -> dict[str, Any]:
    return {
        "old_start": hunk.old_start,
        "old_lines": hunk.old_length,
        "new_start": hunk.new_start,
        "new_lines": hunk.new_length,
        "section": _unicode(hunk.section),
        "lines": [
            {"kind": line.kind, "old": line.old, "new": line.new, "text": _unicode(line.text)}
            for line in hunk.lines
        ],
    }


def _unicode(text: str) -> str:
    r"""Text that every reader of JSON takes: a byte that is not UTF-8 becomes `\xff`."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _comments(said: Iterable[Carry]) -> list[dict[str, Any]]:
    return [_comment(one) for one in said]


def _comment(one: Carry) -> dict[str, Any]:
    return {
        "by": one.by,
        "iteration": one.iteration,
        "text": one.comment.text,
        "path": path_text(one.comment.path),
        "line": one.comment.line,
        "now": {
            "path": path_text(one.path),
            "state": one.now.fate.value,
            "line": one.now.line,
        },
    }
