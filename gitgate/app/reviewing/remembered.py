"""What a reviewer did in this clone and has not signed yet: a folder in git's own folder.

What was viewed and edited is kept by object id, so a new iteration keeps it for what it left as it
was. Nobody else's word depends on it; a file that cannot be read is an empty one. Sessions that
are open at the same time each write what they changed themselves into what is there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from gitgate.app.reviewing import drafts
from gitgate.core.decision import Action, Comment, Reviewed
from gitgate.core.quoting import path_bytes, path_text
from gitgate.core.request import Request
from gitgate.git.repository import Repository

_LARGEST = 64 << 20
_SCHEMA = 2
_ACTIONS = (Action.APPROVE, Action.REJECT, Action.SKIP, Action.QUIT)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Noted:
    """A comment that is not signed yet, on the content with this object id."""

    comment: Comment
    oid: str


@dataclass
class Memory:
    """The reviewer's own notes on one instance. `viewed` and `edited` map paths to the object ids
    that were seen and written, `begun` paths to the comment whose text is not finished; `seconds`
    are those spent on `request`."""

    viewed: dict[str, str] = field(default_factory=dict)
    edited: dict[str, str] = field(default_factory=dict)
    comments: tuple[Noted, ...] = ()
    begun: dict[str, Noted] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    request: str = ""
    seconds: int = 0

    def about(self, request: str) -> None:
        """From now on time is spent on this request."""
        if self.request != request:
            self.request, self.seconds = request, 0

    def copy(self) -> Memory:
        """The same notes, which do not change with these."""
        return replace(
            self,
            viewed=dict(self.viewed),
            edited=dict(self.edited),
            begun=dict(self.begun),
            words=dict(self.words),
        )

    def reviewed(self, request: Request) -> tuple[Reviewed, ...]:
        """What the record says of each deliverable."""
        return tuple(
            Reviewed(
                one.path,
                viewed=self.viewed.get(path_text(one.path)) == one.oid,
                edited=self.edited.get(path_text(one.path)) == one.oid,
            )
            for one in request.deliverables
        )


def recall(repo: Repository, gate: str, subject: str) -> Memory:
    """What this clone remembers of an instance."""
    folder = drafts.folder(repo, gate, subject)
    if not folder.is_dir():
        return Memory()
    with suppress(OSError), drafts.held(folder):
        drafts.recover(folder)
    return _found(folder)


def store(repo: Repository, gate: str, subject: str, before: Memory, now: Memory) -> Memory:
    """Write down what became `now` of `before`; the notes as they are then.

    Each file is tried, then OSError is raised where one could not be written.
    """
    folder, failed = drafts.folder(repo, gate, subject), None
    with drafts.held(folder):
        found = _found(folder)
        merged = _merged(found, before, now)
        for action in _ACTIONS:
            old, new = before.words.get(action, ""), now.words.get(action, "")
            try:
                words = drafts.change(folder / f"{action}.md", old, new)
            except OSError as error:
                failed = error
                continue
            if words:
                merged.words[action.value] = words
            else:
                merged.words.pop(action.value, None)
        if _document(merged) != _document(found):
            drafts.write(folder / "review.json", json.dumps(_document(merged), indent=1))
    if failed is not None:
        raise failed
    return merged


def place(repo: Repository, gate: str, subject: str) -> Path:
    """The file of one instance with all but the words."""
    return drafts.folder(repo, gate, subject) / "review.json"


def _merged(found: Memory, before: Memory, now: Memory) -> Memory:
    """What is found on disk, with what became `now` of `before`."""
    merged = found.copy()
    _change(merged.viewed, before.viewed, now.viewed)
    _change(merged.edited, before.edited, now.edited)
    _change(merged.begun, before.begun, now.begun)
    gone = set(before.comments) - set(now.comments)
    stayed = [one for one in found.comments if one not in gone]
    known = {*before.comments, *stayed}
    merged.comments = (*stayed, *(one for one in now.comments if one not in known))
    if found.request == now.request:
        begun = before.seconds if before.request == now.request else 0
        merged.seconds = found.seconds + max(now.seconds - begun, 0)
    elif now.request != before.request or not found.request:
        merged.request, merged.seconds = now.request, now.seconds
    return merged


def _change(merged: dict[str, _T], before: Mapping[str, _T], now: Mapping[str, _T]) -> None:
    for key in {**before, **now}:
        if before.get(key) == now.get(key):
            continue
        if key in now:
            merged[key] = now[key]
        else:
            merged.pop(key, None)


# The file.


def _found(folder: Path) -> Memory:
    words = {action.value: drafts.read(folder / f"{action}.md") for action in _ACTIONS}
    memory, path = Memory(), folder / "review.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        if path.stat().st_size <= _LARGEST:
            memory = _read(json.loads(path.read_text("utf-8")))
    memory.words = {action: text for action, text in words.items() if text}
    return memory


def _document(memory: Memory) -> dict[str, Any]:
    return {
        "schema": _SCHEMA,
        "request": memory.request,
        "seconds": memory.seconds,
        "viewed": memory.viewed,
        "edited": memory.edited,
        "comments": [_row(one) for one in memory.comments],
        "begun": [_row(one) for one in memory.begun.values()],
    }


def _row(one: Noted) -> dict[str, Any]:
    comment = one.comment
    where = {"path": path_text(comment.path), "object": one.oid, "line": comment.line}
    return {**where, "text": comment.text}


def _read(found: Any) -> Memory:
    if found["schema"] != _SCHEMA:
        raise ValueError("another version of the program wrote it")
    begun = [_noted(row) for row in found["begun"]]
    return Memory(
        viewed=_texts(found["viewed"]),
        edited=_texts(found["edited"]),
        comments=tuple(_noted(row) for row in found["comments"]),
        begun={path_text(one.comment.path): one for one in begun},
        request=str(found["request"]),
        seconds=max(int(found["seconds"]), 0),
    )


def _noted(row: Any) -> Noted:
    comment = Comment(path_bytes(str(row["path"])), int(row["line"]), str(row["text"]))
    return Noted(comment, str(row["object"]))


def _texts(found: Mapping[str, Any]) -> dict[str, str]:
    return {str(key): str(value) for key, value in found.items()}
