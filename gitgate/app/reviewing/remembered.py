"""What a reviewer did in this clone and has not signed yet: a file in git's own folder.

What was viewed and edited is kept by object id, so a new iteration keeps it for what it left as it
was. Nobody else's word depends on it; a file that cannot be read is an empty one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitgate.core.decision import Comment, Reviewed
from gitgate.core.ids import encode_subject
from gitgate.core.quoting import path_bytes, path_text
from gitgate.core.request import Request
from gitgate.git.repository import Repository

_LARGEST = 4 << 20
_SCHEMA = 1


@dataclass
class Memory:
    """The reviewer's own notes on one instance. `viewed` and `edited` map paths to the object ids
    that were seen and written; `seconds` are those spent on `request`."""

    viewed: dict[str, str] = field(default_factory=dict)
    edited: dict[str, str] = field(default_factory=dict)
    comments: tuple[Comment, ...] = ()
    words: dict[str, str] = field(default_factory=dict)
    request: str = ""
    seconds: int = 0

    def about(self, request: str) -> None:
        """From now on time is spent on this request."""
        if self.request != request:
            self.request, self.seconds = request, 0

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
    path = place(repo, gate, subject)
    try:
        if path.stat().st_size > _LARGEST:
            return Memory()
        return _read(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return Memory()


def keep(repo: Repository, gate: str, subject: str, memory: Memory) -> None:
    """Write it down. Raises OSError where that cannot be done."""
    path = place(repo, gate, subject)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_text(json.dumps(_document(memory), indent=1), "utf-8")
    new.replace(path)


def forget(repo: Repository, gate: str, subject: str) -> None:
    """The words and comments were signed, and are no drafts any more; what was viewed stays."""
    memory = recall(repo, gate, subject)
    memory.words, memory.comments = {}, ()
    with suppress(OSError):
        keep(repo, gate, subject, memory)


def place(repo: Repository, gate: str, subject: str) -> Path:
    """The file of one instance."""
    return repo.common_dir / "git-gate" / "reviews" / f"{gate}-{encode_subject(subject)}.json"


def _document(memory: Memory) -> dict[str, Any]:
    return {
        "schema": _SCHEMA,
        "request": memory.request,
        "seconds": memory.seconds,
        "viewed": memory.viewed,
        "edited": memory.edited,
        "comments": [
            {"path": path_text(one.path), "line": one.line, "text": one.text}
            for one in memory.comments
        ],
        "words": memory.words,
    }


def _read(found: Any) -> Memory:
    if found["schema"] != _SCHEMA:
        raise ValueError("a newer program wrote it")
    return Memory(
        viewed=_texts(found["viewed"]),
        edited=_texts(found["edited"]),
        comments=tuple(
            Comment(path_bytes(str(one["path"])), int(one["line"]), str(one["text"]))
            for one in found["comments"]
        ),
        words=_texts(found["words"]),
        request=str(found["request"]),
        seconds=max(int(found["seconds"]), 0),
    )


def _texts(found: Mapping[str, Any]) -> dict[str, str]:
    return {str(key): str(value) for key, value in found.items()}
