"""Who is told, and of what: what the tests of `gate.notify.*` share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from outputs import ADA, START
from support.project import SOLO, Project

TIERS = SOLO.replace(
    "      approvals",
    "      escalation: [{after: 0m, notify: [lead]}, {after: 4h, notify: [lead, owner]}]\n"
    "      approvals",
)


def listen(project: Project, file: Path, key: str = "command") -> Path:
    project.git("config", f"gate.notify.{key}", f"cat >>'{file}'")
    return file


def told(file: Path) -> list[dict[str, Any]]:
    """What has been told since the last look."""
    lines = file.read_text().splitlines() if file.exists() else []
    file.unlink(missing_ok=True)
    return [json.loads(line) for line in lines]


def work(project: Project, name: str = "feature") -> str:
    project.branch(name)
    return project.commit("Add a page", {"page.md": f"# {name}\n"})


def said(event: str, **changes: Any) -> dict[str, Any]:
    """A document about the first iteration of `feature`."""
    return {
        "schema": 1,
        "event": event,
        "to": None,
        "repository": "project",
        "gate": "main",
        "title": "Changes to main",
        "kind": "approval",
        "subject": "feature",
        "target": "refs/heads/main",
        "iteration": 1,
        "status": "open",
        "request": "<id>",
        "work": "<work>",
        "agent": "claude",
        "by": ADA,
        "name": "Ada Lovelace",
        "action": None,
        "message": "",
        "at": START,
        "record": None,
        "counts": None,
        "comments": [],
        "commit": None,
        "next": ["git", "gate", "wait", "main", "--subject", "feature"],
        **changes,
    }
