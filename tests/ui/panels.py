"""A document of `show --json` for tests of how it is drawn."""

from __future__ import annotations

from typing import Any

from gitgate.core.policy import Display, Options
from gitgate.ui.look import Look


def finding(text: str, level: str = "error", line: int | None = 3) -> dict[str, Any]:
    return {"line": line, "level": level, "text": text, "reported_by": ["links"]}


def item(path: str, status: str = "validated", about: str = "", *found: Any) -> dict[str, Any]:
    return {"path": path, "oid": "0" * 40, "status": status, "description": about} | {
        "findings": list(found),
        "messages": [],
        "reported_by": [],
    }


def document(**changes: Any) -> dict[str, Any]:
    """An instance that waits, with one error and one warning."""
    return {
        "gate": "elaboration",
        "title": "Lifecycle Architecture",
        "transition": {"from": "elaboration", "to": "construction"},
        "subject": "feature/login",
        "target": "refs/heads/main",
        "status": "open",
        "iteration": 2,
        "work": "b3db4a5dc023" + "0" * 28,
        "base": "a" * 40,
        "agent": "claude",
        "opened_by": "Agent <agent@example.com>",
        "opened_at": "2025-12-01T05:00:00Z",
        "summary": "",
        "reviewer_edit": None,
        "context": {
            "artifact_count": 3,
            "validation_errors": 1,
            "warnings": 1,
            "iteration": 2,
            "time_elapsed": "PT2H14M",
        },
        "deliverables": [
            item("docs/UC-001-login.md", about="User Login"),
            item("docs/security.md", "warning", "Security", finding("short", "warning", None)),
            item("docs/UC-002.md", "error", "Register", finding("no such page")),
        ],
        "findings": [],
        "validated": [],
        "next_steps": ["Start iteration C1"],
        "waited": "PT2H14M",
        "deadline": "2025-12-01T06:00:00Z",
        "time_left": "PT43M",
        "waiting_for": ["ada@example.com"],
        "reasons": ["nobody has approved it yet"],
        "warnings": [],
        "decisions": [],
        **changes,
    }


def look(columns: int = 80, *, accessible: bool = False, **settings: Any) -> Look:
    """A look without colours; `settings` are those of `display` and `options`."""
    of_display = {k: v for k, v in settings.items() if not k.startswith("show_")}
    of_options = {k: v for k, v in settings.items() if k.startswith("show_")}
    display, options = Display(**of_display), Options(**of_options)
    return Look(display, options, columns, accessible=accessible)
