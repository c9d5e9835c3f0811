"""Whole outputs to compare with: ids, keys and places by their names, documents with their fields.

Times are those of the `clock` fixture, which begins at `START`.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from support.project import EPOCH, Project

START = "2025-12-01T05:00:00Z"
ADA = "ada@example.com"
BOB = "bob@example.com"


@dataclass
class Clock:
    """A clock that is moved by hand."""

    now: int = EPOCH

    def later(self, *, minutes: int = 0, seconds: int = 0) -> str:
        """Move the clock, and say the new time."""
        self.now += 60 * minutes + seconds
        return datetime.fromtimestamp(self.now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Names:
    """Puts names in the place of what differs from run to run.

    An id that was given is `<name>`, its first twelve digits `name` filled up with dots to twelve
    (so columns stay); others `<id>` and `............`.
    """

    def __init__(self, project: Project, **ids: str) -> None:
        self._project = project
        self.ids = ids

    def add(self, **ids: str) -> None:
        self.ids.update(ids)

    def __call__(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self(one) for one in value]
        if isinstance(value, dict):
            return {key: self(one) for key, one in value.items()}
        return value

    def _text(self, text: str) -> str:
        for name, oid in self.ids.items():
            text = text.replace(oid, f"<{name}>").replace(oid[:12], f"{name[:12]:.<12}")
        text = re.sub(r"\b[0-9a-f]{40}\b", "<id>", text)
        text = re.sub(r"\b[0-9a-f]{12}\b", "............", text)
        text = re.sub(r"SHA256:[A-Za-z0-9+/]{43}", "<key>", text)
        places = {"<top>": self._project.top, "<remote>": self._project.remote}
        for name, place in {**places, "<home>": os.environ["HOME"]}.items():
            text = text.replace(str(place), name)
        return text


def same(found: Any, expected: Any) -> None:
    """Fail with the lines that differ."""
    there, wanted = (_lines(one) for one in (found, expected))
    differs = "\n".join(difflib.unified_diff(wanted, there, "expected", "found", n=2, lineterm=""))
    if differs:
        raise AssertionError(differs)


def _lines(value: Any) -> list[str]:
    text = value if isinstance(value, str) else json.dumps(value, indent=1, sort_keys=True)
    return text.split("\n")


def says(project: Project, names: Names, command: str, exit_: int, document: Any) -> None:
    """Run a command with `--json`: its exit status, its whole document, and nothing else."""
    answer = project.gate(*shlex.split(command), "--json")
    same(names(answer.json if answer.out else answer.err), document)
    assert (answer.status, answer.err) == (exit_, "")


def deliverable(path: str, description: str = "", **changes: Any) -> dict[str, Any]:
    """One of the `deliverables`."""
    return {
        "path": path,
        "oid": "<id>",
        "status": "validated",
        "messages": [],
        "findings": [],
        "description": description,
        "reported_by": [],
        **changes,
    }


PAGE = deliverable("page.md", "Page")


def shown(**changes: Any) -> dict[str, Any]:
    """The document of `show --json` for the first iteration of `feature`, which adds page.md."""
    return {
        "schema": 1,
        "gate": "main",
        "title": "Changes to main",
        "kind": "approval",
        "subject": "feature",
        "target": "refs/heads/main",
        "status": "open",
        "iteration": 1,
        "request": "<request>",
        "work": "<work>",
        "base": "<base>",
        "agent": None,
        "opened_by": "Ada Lovelace <ada@example.com>",
        "opened_at": START,
        "summary": "",
        "reviewer_edit": None,
        "transition": None,
        "context": context(),
        "deliverables": [PAGE],
        "findings": [],
        "validated": [],
        "next_steps": [],
        "waited": changes.get("context", context())["time_elapsed"],
        "deadline": None,
        "time_left": None,
        "waiting_for": [ADA],
        "reasons": ["nobody has approved it yet"],
        "warnings": [],
        "decisions": [],
        "diagnosis": None,
        "question": None,
        **changes,
    }


def context(**changes: Any) -> dict[str, Any]:
    return {
        "artifact_count": 1,
        "validation_errors": 0,
        "warnings": 0,
        "iteration": 1,
        "time_elapsed": "PT0S",
        **changes,
    }


def decision(action: str, **changes: Any) -> dict[str, Any]:
    """One of the `decisions`: Ada's on the first iteration."""
    return {
        "id": "<id>",
        "action": action,
        "by": ADA,
        "name": "Ada Lovelace",
        "at": START,
        "via": "terminal",
        "message": "",
        "iteration": 1,
        "request": "<request>",
        "signature": "good",
        "counts": True,
        "reason": "",
        "reviewed": [{"path": "page.md", "viewed": False, "edited": False}],
        "time_spent_seconds": None,
        "comments": [],
        "choices": [],
        "data": [],
        **changes,
    }


def waited(status: str, telling: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """The document of `wait --json`; `telling` is the decision that made it what it is."""
    told = telling or {"id": None, "action": None, "message": "", "by": None, "at": None}
    return {
        "schema": 1,
        "gate": "main",
        "subject": "feature",
        "kind": "approval",
        "iteration": 1,
        "status": status,
        **{key: told[key] for key in ("id", "action", "message", "by", "at")},
        "reviewer_commit": None,
        "decisions": [telling] if telling else [],
        "comments": [],
        "findings": [],
        "choices": [],
        "next": ["git", "gate", "open", "main", "--subject", "feature"],
        **changes,
    }


LAND = ["git", "gate", "land", "main", "--subject", "feature"]
UNPUSHED = "origin is not known to have the ledger of main of feature: git gate sync origin"
ACCOUNTS = "nothing that was approved accounts for work........ (Add a page)"


def checked(
    status: str,
    exit_: int,
    *reasons: str,
    of: dict[str, Any] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """The document of `check --json`: HEAD is the work commit, and gate `main` has one row; `of`
    is what is different in the row."""
    told = [] if exit_ == 0 else [ACCOUNTS, *reasons]
    return {
        "schema": 1,
        "allowed": exit_ == 0,
        "status": status,
        "exit": exit_,
        "ref": "refs/heads/main",
        "old": "<base>",
        "new": "<work>",
        "policy": "<base>",
        "methods": ["ff", "merge", "squash", "rebase"] if exit_ == 0 else [],
        "hint": "",
        "gates": [row(status, *told, **(of or {}))],
        "reasons": told,
        "warnings": [UNPUSHED],
        **changes,
    }


def row(status: str, *reasons: str, **changes: Any) -> dict[str, Any]:
    """One of the `gates` of `check --json`."""
    return {
        "gate": "main",
        "subject": "feature",
        "status": status,
        "iteration": 1,
        "work": "<work>",
        "reasons": list(reasons),
        **changes,
    }
