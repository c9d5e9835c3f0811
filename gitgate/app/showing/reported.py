"""What validations found, as the opener and those who ran them again report it.

Nobody's run hides what another one's found: the findings of the request stand, and beside them the
newest of each person who has run the validations since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gitgate.core.events import Event, Located
from gitgate.core.findings import errors_in, gravest_first
from gitgate.core.gate import Iteration
from gitgate.core.quoting import path_text
from gitgate.core.request import Deliverable, Finding, Level, Request

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reported:
    """All findings about one iteration, at their deliverables or in `general`; `runs` are the
    newest `validated` events, one a person."""

    deliverables: tuple[Deliverable, ...]
    general: tuple[Finding, ...]
    runs: tuple[Event, ...]

    def deliverable_documents(self) -> list[Document]:
        """The deliverables as `show --json` prints them."""
        return [_deliverable(one) for one in self.deliverables]

    def general_documents(self) -> list[Document]:
        """The findings that are about no deliverable."""
        return _distinct(self.general)

    def run_documents(self) -> list[Document]:
        """Who ran the validations again, and what each of them found."""
        return [
            {"by": str(event.by), "at": event.at, **_counts(event.fields["findings"])}
            for event in self.runs
        ]

    def flat_documents(self) -> list[Document]:
        """All findings as `wait --json` prints them."""
        rows = [
            {"path": path_text(one.path), **row}
            for one in self.deliverables
            for row in _distinct(one.findings)
        ]
        return rows + [{"path": None, **row} for row in _distinct(self.general)]


def reported(request: Request, iteration: Iteration) -> Reported:
    """What is known of the validations of one iteration, with the request that it asked."""
    runs = {str(event.by): event for event in iteration.validated}
    more: dict[bytes | None, list[Finding]] = {}
    known = {one.path for one in request.deliverables}
    for event in runs.values():
        for path, finding in event.fields["findings"]:
            # An event is nobody's signature: what it says of other files is kept in sight.
            about = path if path in known else None
            more.setdefault(about, []).append(finding)
    deliverables = tuple(
        replace(one, findings=(*one.findings, *more[one.path])) if one.path in more else one
        for one in request.deliverables
    )
    return Reported(deliverables, (*request.general, *more.get(None, ())), tuple(runs.values()))


def count(deliverables: Iterable[Document], general: Iterable[Document], level: Level) -> int:
    """How many findings of `level` these documents have."""
    found = [*general, *(row for one in deliverables for row in one["findings"])]
    return sum(row["level"] == level.value for row in found)


def flat(findings: Iterable[Located]) -> list[Document]:
    """The findings of one run, errors first."""
    return [
        {"path": None if path is None else path_text(path), **row}
        for path, finding in gravest_first(findings)
        for row in _distinct([finding])
    ]


def _counts(findings: Iterable[Located]) -> Mapping[str, int]:
    found = list(findings)
    errors = errors_in(found)
    return {"errors": errors, "warnings": len(found) - errors}


def _deliverable(one: Deliverable) -> Document:
    rows = _distinct(one.findings) if one.findings else []
    return {
        "path": path_text(one.path),
        "oid": one.oid,
        "status": one.status,
        "messages": [
            (f"line {row['line']}: " if row["line"] else "") + f"{row['level']}: {row['text']}"
            for row in rows
        ],
        "description": one.description,
        "reported_by": sorted({finding.reported_by for finding in one.findings}),
        "findings": rows,
    }


def _distinct(findings: Iterable[Finding]) -> list[Document]:
    """Each finding once, with all who reported it; errors first."""
    reporters: dict[tuple[int | None, Level, str], dict[str, None]] = {}
    for one in findings:
        reporters.setdefault((one.line, one.level, one.text), {}).setdefault(one.reported_by)
    return [
        {"line": line, "level": level.value, "text": text, "reported_by": list(names)}
        for (line, level, text), names in sorted(
            reporters.items(), key=lambda item: item[0][1] is not Level.ERROR
        )
    ]
