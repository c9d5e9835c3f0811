"""The message of a landing's commit with the trailers that point back to the decisions, and what
commands had to say, for people."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gitgate.core.trailers import format_trailers
from gitgate.git.objects import Commit

GATE, RECORD = "Gate", "Gate-Record"

_TRAILER = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]*): \S")
_SHOWN = 100
_SAID = 40

Grounds = Sequence[tuple[str, Sequence[str]]]
"""The gates in their order, each with the ids of the records by which it lets the work pass."""


def with_trailers(text: str, grounds: Grounds) -> str:
    """`text` with a `Gate` trailer for each gate, followed by a `Gate-Record` for each record.

    They join the trailers that the text ends in, unless one of those is called so, too: what a
    message claims by itself never stands among them (docs/formats.md).
    """
    body = "\n".join(line.rstrip() for line in text.strip().split("\n"))
    pairs = [
        pair
        for gate, records in grounds
        for pair in ((GATE, gate), *((RECORD, record) for record in records))
    ]
    if not pairs:
        return f"{body}\n"
    return f"{body}\n{'' if _ends_in_trailers(body) else chr(10)}{format_trailers(pairs)}"


def _ends_in_trailers(body: str) -> bool:
    _, blank, last = body.rpartition("\n\n")
    found = [_TRAILER.match(line) for line in last.split("\n")]
    names = [match[1].lower() for match in found if match]
    return bool(blank) and all(found) and not {GATE.lower(), RECORD.lower()} & set(names)


def merge_text(name: str, is_branch: bool) -> str:
    """What git itself would say of a merge."""
    return f"Merge branch '{name}'" if is_branch else f"Merge {name}"


def squash_text(name: str, commits: Sequence[Commit]) -> str:
    """The message of the one commit (oldest first), else a list of their subject lines."""
    if len(commits) == 1:
        return commits[0].message
    lines = [f"* {commit.message.strip().partition(chr(10))[0]}" for commit in commits]
    more = len(lines) - _SHOWN
    cut = [f"* and {more} more"] if more > 0 else []
    return "\n".join([f"Squash {name}", "", *lines[:_SHOWN], *cut])


def said(output: bytes) -> list[str]:
    """What a command and the hooks that it ran wrote: the last lines, indented."""
    text = output.decode("utf-8", "replace")
    lines = [f"  {line.rstrip()}" for line in text.split("\n") if line.strip()]
    return lines[-_SAID:] or ["  (nothing)"]
