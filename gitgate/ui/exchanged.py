"""What `sync` came to, in lines: what came, what went, what was put together or put back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gitgate.ui.sanitise import safe

Document = Mapping[str, Any]


def lines(doc: Document) -> list[str]:
    """The lines for a person; `doc` is what `sync --json` prints."""
    remote = safe(doc["remote"])
    found = [line for change in doc["changes"] for line in _change(change, remote)]
    if not found:
        found = [f"nothing new: what is here and on {remote} is the same"]
    if doc["dry_run"]:
        found.insert(0, "a dry run: nothing was moved")
    return found


def _change(change: Document, remote: str) -> Iterator[str]:
    name = safe(change["name"])
    here, there = _events(change["events_here"]), _events(change["events_there"])
    yield {
        "taken": f"{name}: {here or 'taken'} from {remote}",
        "pushed": f"{name}: {there or 'sent'} to {remote}",
        "merged": f"{name}: put together with {remote}{_both(here, there)}",
        "put-back": f"{name}: put back on {remote}",
        "mended": f"{name}: {there or 'written'} to {remote}",
        "removed": f"{name}: removed here and on {remote}",
        "refused": f"{name}: refused by {remote}",
        "untrusted": f"{name}: not exchanged",
    }[change["result"]]
    if change["result"] not in ("refused", "untrusted"):
        yield from (f"  {safe(said)}" for said in change["reasons"])


def _events(count: int) -> str:
    return f"{count} event{'s' if count > 1 else ''}" if count else ""


def _both(here: str, there: str) -> str:
    parts = [f"{here} from there" if here else "", f"{there} to there" if there else ""]
    said = " and ".join(part for part in parts if part)
    return f", {said}" if said else ""
