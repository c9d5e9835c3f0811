"""A desk of the application as the seat that the session shows, and the texts that it asks for."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gitgate.core.quoting import path_bytes, path_text
from gitgate.ui.body import Shown
from gitgate.ui.preview import Content, Preview
from gitgate.ui.sanitise import safe
from gitgate.ui.sections import by_severity
from gitgate.ui.state import Artifact, Remark, Seat

if TYPE_CHECKING:
    from gitgate.app.gather.world import World
    from gitgate.app.reviewing.remembered import Memory, Noted
    from gitgate.app.reviewing.reviewing import Desk
    from gitgate.ui.fulldiff import Row

_AUTHOR = (
    "an edit makes you an author of the work: this gate takes no approval by its authors"
    " (self_approval: false). The same key again edits"
)
_LONGEST_DIFF = 5_000  # lines
_MOST_ROWS = 20_000  # of long lines, which take many


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
        ended=_ended(desk),
        authors="" if gate.approvals.self_approval else _AUTHOR,
        hidden=tuple(key for key, offered in hidden.items() if not offered),
    )


def _ended(desk: Desk) -> str:
    """Why nothing can be decided any more, and what to do; "" while it can."""
    life = desk.loaded.instance.life
    if life is None or not life.ended:
        return ""
    about = f"{desk.loaded.gate} --subject {safe(shlex.quote(desk.loaded.subject))}"
    nothing = f"{safe(desk.loaded.name)} is {life.status}: there is nothing to decide"
    return f"{nothing}: git gate open {about}"


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

    def content(self, artifact: Artifact) -> Iterable[bytes]:
        """All bytes of an artifact in pieces, read as they are asked for."""
        return self._world.repo.pieces(self.preview(artifact).content.oid)

    def changes(self, columns: int, *, full: bool) -> Sequence[Shown]:
        """What changed since the previous iteration, as `git gate diff` says it."""
        if (columns, full) not in self._changes:
            from gitgate.app.showing import changedoc, rounds
            from gitgate.app.showing.changes import Changes
            from gitgate.cli.diffing import full_rows
            from gitgate.ui import changes as text
            from gitgate.ui.changespainted import summarised
            from gitgate.ui.fulldiff import Palette

            found = Changes(self._world, self._desk.loaded, rounds.chosen(self._desk.loaded, None))
            if full:
                drawn = _drawn(full_rows(found, Palette()), columns)
            else:
                lines = text.summary(changedoc.summary(found), columns, "v shows every line")
                drawn = [one for line in lines for one in summarised(line, columns)]
            self._changes[columns, full] = drawn
        return self._changes[columns, full]


def _drawn(rows: Iterable[Row], columns: int) -> list[Shown]:
    """The lines of a full diff in so many cells; of a long one only the beginning is made."""
    from gitgate.ui.changespainted import painted

    drawn: list[Shown] = []
    for count, row in enumerate(rows):
        if count == _LONGEST_DIFF or len(drawn) >= _MOST_ROWS:
            more = f"only the first {count} lines: git gate diff --full has them all"
            drawn.append(Shown(0, ((more, "warning"),)))
            break
        drawn += painted(row, columns)
    return drawn
