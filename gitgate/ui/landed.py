"""What `land` prints: what landed as what, or why nothing did, and what comes next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitgate.ui import plain
from gitgate.ui.sanitise import safe

Document = Mapping[str, Any]

_WORDS = {
    "landed": "landed {work} of {subject} on {place} as {new} ({method})",
    "would-land": "would land {work} of {subject} on {place} ({method}); nothing was changed",
    "already-landed": "{place} has {work} of {subject} already, as {new}",
}


def landed(doc: Document) -> list[str]:
    """A landing: which gates it is by, whether it moves the phase, what can be done next."""
    place = safe(doc["ref"]) + (f" of {safe(doc['remote'])}" if doc["remote"] else "")
    said = _WORDS[doc["result"]].format(
        work=doc["work"][:12],
        subject=safe(doc["subject"]),
        place=place,
        new=(doc["new"] or "")[:12],
        method=doc["method"],
    )
    lines = [said, *_gates(doc)]
    if doc["phase"]:
        before, after = (safe(doc["phase"][end] or "nothing") for end in ("from", "to"))
        lines.append(f"  phase: {before} → {after}")
    lines += [f"warning: {safe(warning)}" for warning in doc["warnings"]]
    if doc["next"]:
        lines.append(f"next: {safe(' && '.join(doc['next']))}")
    return lines


def refused(doc: Document) -> list[str]:
    """Why the rule lets nothing land."""
    lines = [
        f"git-gate: {safe(doc['subject'])} did not land on {safe(doc['ref'])}: {doc['status']}",
        *plain.judgement({**doc, "allowed": False, "methods": []})[1:],
    ]
    return lines + ([f"hint: {safe(doc['hint'])}"] if doc["hint"] else [])


def _gates(doc: Document) -> list[str]:
    lines = []
    for row in doc["gates"]:
        if row["subject"] is None:
            continue
        number = f", iteration {row['iteration']}" if row["iteration"] else ""
        about = f"{safe(row['gate'])} of {safe(row['subject'])}"
        lines.append(f"  gate {about}{number}: {row['status']}")
    return lines
