"""A desk of the application as the seat that the session shows, and the texts that it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from gitgate.core.quoting import path_bytes, path_text
from gitgate.ui.body import Shown
from gitgate.ui.paint import Line, wrap
from gitgate.ui.preview import Content, Preview
from gitgate.ui.sections import by_severity
from gitgate.ui.state import Artifact, Remark, Seat

if TYPE_CHECKING:
    from gitgate.app.gather.world import World
    from gitgate.app.reviewing.remembered import Memory, Noted
    from gitgate.app.reviewing.reviewing import Desk

_AUTHOR = (
    "an edit makes you an author of the work: this gate takes no approval by its authors"
    " (self_approval: false). The same key again edits"
)
_LONGEST_DIFF = 5_000  # lines


def seat_of(desk: Desk, memory: Memory) -> Seat:
    """What the session knows of one instance."""
    policy, gate = desk.policy.policy, desk.gate
    hidden = {"e": policy.options.show_edit, "s": policy.options.show_skip}
    hidden["d"] = policy.options.show_diff
    artifacts = [
        Artifact(
            path=one["path"],
            oid=one["oid"],
            status=one["status"],
            about=one["description"],
            errors=sum(row["level"] == "error" for row in one["findings"]),
            warnings=sum(row["level"] == "warning" for row in one["findings"]),
            seen=_seen(memory.viewed.get(one["path"]), one["oid"]),
            edited=memory.edited.get(one["path"]) == one["oid"],
        )
        for one in by_severity(desk.document["deliverables"])
    ]
    return Seat(
        doc=desk.document,
        artifacts=tuple(artifacts),
        signer=desk.signed_with,
        person=desk.person,
        obstacle=desk.obstacle,
        comment_required=gate.approvals.require_comment,
        reason_required=gate.skip.require_reason,
        skip_allowed=gate.skip.allowed,
        authors="" if gate.approvals.self_approval else _AUTHOR,
        hidden=tuple(key for key, offered in hidden.items() if not offered),
    )


def _seen(viewed: str | None, oid: str) -> str:
    if viewed is None:
        return ""
    return "viewed" if viewed == oid else "changed"


def remarks_of(notes: Iterable[Noted]) -> tuple[Remark, ...]:
    """Comments that are not signed yet, for the session."""
    return tuple(
        Remark(path_text(one.comment.path), one.comment.line, one.comment.text, one.oid)
        for one in notes
    )


def notes_of(remarks: Iterable[Remark]) -> tuple[Noted, ...]:
    """The same for what is remembered, and for the record."""
    from gitgate.app.reviewing.remembered import Noted
    from gitgate.core.decision import Comment

    return tuple(
        Noted(Comment(path_bytes(one.path), one.line, one.text), one.oid) for one in remarks
    )


class Texts:
    """What the session looks at, each read once."""

    def __init__(self, world: World, desk: Desk) -> None:
        self._world, self._desk = world, desk
        self._previews: dict[str, Preview] = {}
        self._changes: dict[tuple[int, bool], Sequence[Shown]] = {}

    def preview(self, artifact: Artifact) -> Preview:
        """An artifact of the work commit."""
        if artifact.path not in self._previews:
            from gitgate.app.reviewing.reviewing import content

            kind, oid, size, data, executable = content(self._world, self._desk, artifact.path)
            self._previews.clear()
            self._previews[artifact.path] = Preview(
                Content(artifact.path, oid, kind, size, data, executable)
            )
        return self._previews[artifact.path]

    def changes(self, columns: int, *, full: bool) -> Sequence[Shown]:
        """What changed since the previous iteration, as `git gate diff` says it."""
        if (columns, full) not in self._changes:
            from gitgate.app.showing import changedoc, rounds
            from gitgate.app.showing.changes import Changes
            from gitgate.cli.diffing import full_diff
            from gitgate.ui import changes as text
            from gitgate.ui.fulldiff import Palette

            found = Changes(self._world, self._desk.loaded, rounds.chosen(self._desk.loaded, None))
            if full:
                lines = list(islice(full_diff(found, Palette()), _LONGEST_DIFF + 1))
            else:
                summary = changedoc.summary(found)
                lines = text.summary(summary, columns, "v shows every line")
            drawn = [
                Shown(number, row)
                for number, line in _numbered(lines[:_LONGEST_DIFF])
                for row in wrap(_coloured(line), columns, words=False)
            ]
            if len(lines) > _LONGEST_DIFF:
                more = f"only the first {_LONGEST_DIFF} lines: git gate diff --full has them all"
                drawn.append(Shown(0, ((more, "warning"),)))
            self._changes[columns, full] = drawn
        return self._changes[columns, full]


_HUNK = re.compile(r"@@ -[0-9,]+ \+([0-9]+)")
_SLOTS = {
    "@@": "changed",
    "+": "new",
    "-": "old",
    "diff ": "heading",
    "  + ": "new",
    "  - ": "old",
    "  ~ ": "changed",
    "Changes from": "title",
}


def _numbered(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Each line of a full diff with its number in the new file; 0 where it is not in it."""
    number = 0
    for line in lines:
        if hunk := _HUNK.match(line):
            number = int(hunk[1])
            yield 0, line
        elif number and line.startswith((" ", "+")):
            yield number, line
            number += 1
        else:
            number = 0 if line.startswith("diff ") else number
            yield 0, line


def _coloured(line: str) -> Line:
    slot = next((slot for start, slot in _SLOTS.items() if line.startswith(start)), "")
    return ((line, slot),)
