"""What a validation's output says: `path:line: error: text`, and which deliverable it is about.

Pure. The output is hostile as far as it repeats the work under review, so what cannot be read for
certain is read as the graver thing, and what is cut is never silently dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from gitgate.core import yamltext
from gitgate.core.events import Located
from gitgate.core.quoting import path_text, quote
from gitgate.core.request import MAX_LINE, Finding, Level, Request, format_findings

MAX_FINDINGS = 1_000
"""Findings of one validation; errors are kept before warnings."""

MAX_TEXT = 500
"""Characters of a finding's text."""

MAX_OUTPUT = 1 << 20
"""Bytes of a validation's output that are read."""

MAX_RECORDED = 900 << 10
"""Bytes that the findings of all validations of one run may take as YAML: an event has 1 MiB."""

_LEVEL = re.compile(rb": (error|warning):(?= |$)")
_NUMBER = re.compile(rb"[0-9]{1,18}")
_LONGEST_LINE = 20_000  # bytes: a path of PATH_MAX in quotes, and a text
_SHOWN_PATH = 300


def parse_output(output: bytes, paths: Iterable[bytes], reported_by: str) -> tuple[Located, ...]:
    """The findings in the output of a validation, in its order; other lines are passed over.

    `paths` are the deliverables; they may be named with `./` before them or in git's quotes. A
    finding about any other path belongs to none, and its text begins with its place. A column
    after the line is left out.
    """
    names = _names(paths)
    found = [
        one
        for line in output.split(b"\n")
        if (one := _finding(line.removesuffix(b"\r"), names, reported_by))
    ]
    return _fewer(found, MAX_FINDINGS, reported_by)


def trouble(text: str, reported_by: str, level: Level = Level.ERROR) -> Located:
    """A finding about the validation itself, or about the work as a whole."""
    return Located(None, Finding(None, level, _clipped(text), reported_by))


def recordable(findings: Sequence[Located], reported_by: str) -> tuple[Located, ...]:
    """As many of the findings of one run as can be recorded, errors first, and what says so."""
    taken = 0
    for kept, one in enumerate(gravest_first(findings)):
        taken += _size(one)
        if taken > MAX_RECORDED:
            return _fewer(findings, kept, reported_by)
    return tuple(findings)


def gravest_first(findings: Iterable[Located]) -> list[Located]:
    """Errors before warnings, each in the order in which they came."""
    return sorted(findings, key=lambda one: one.finding.level is not Level.ERROR)


def errors_in(findings: Iterable[Located]) -> int:
    """How many of them are errors."""
    return sum(one.finding.level is Level.ERROR for one in findings)


def line_of(one: Located) -> str:
    """A finding as a validation prints it; not for a terminal before it is sanitised."""
    finding = one.finding
    place = "" if one.path is None else path_text(one.path)
    place += "" if finding.line is None else f":{finding.line}"
    return f"{place}: {finding.level}: {finding.text}".removeprefix(": ")


def attached(request: Request, findings: Iterable[Located]) -> Request:
    """The request with these findings, each at its deliverable, and no other ones."""
    by_path: dict[bytes | None, list[Finding]] = {}
    for path, finding in findings:
        by_path.setdefault(path, []).append(finding)
    general = tuple(by_path.pop(None, ()))
    deliverables = tuple(
        replace(one, findings=tuple(by_path.get(one.path, ())))
        if one.findings or one.path in by_path
        else one
        for one in request.deliverables
    )
    return replace(request, deliverables=deliverables, general=general)


def _names(paths: Iterable[bytes]) -> Mapping[bytes, bytes]:
    plain = {path: path for path in paths}
    return {**{quote(path).encode(): path for path in plain}, **plain}


def _finding(line: bytes, names: Mapping[bytes, bytes], reported_by: str) -> Located | None:
    readings = list(_readings(line[:_LONGEST_LINE]))
    if not readings:
        return None
    # A path chosen for it (`a: warning: b.md`) gives a line two readings: the one about a
    # deliverable is meant, and of several an error, so that no name of a file hides one.
    known = [one for one in readings if one.path in names]
    one = min(known or readings[:1], key=lambda one: one.level is not Level.ERROR)
    number = one.line if one.line and one.line < MAX_LINE else None
    if known:
        finding = Finding(number, one.level, _clipped(_decoded(one.text)), reported_by)
        return Located(names[one.path], finding)
    place = _decoded(one.path[:_SHOWN_PATH]) + (f":{number}" if number else "")
    text = _clipped(f"{place}: {_decoded(one.text)}")
    return Located(None, Finding(None, one.level, text, reported_by))


class _Reading(NamedTuple):
    path: bytes
    line: int | None
    level: Level
    text: bytes


def _readings(line: bytes) -> Iterator[_Reading]:
    """What a line may say: with line and column, with a line, with a path alone."""
    for match in _LEVEL.finditer(line):
        place = line[: match.start()].removeprefix(b"./")
        level, text = Level(match[1].decode()), line[match.end() :]
        path, number = _numbered(place)
        if number is not None:
            further, before = _numbered(path)
            if before is not None:
                yield _Reading(further, before, level, text)
            yield _Reading(path, number, level, text)
        if place:
            yield _Reading(place, None, level, text)


def _numbered(place: bytes) -> tuple[bytes, int | None]:
    path, _, number = place.rpartition(b":")
    return (path, int(number)) if path and _NUMBER.fullmatch(number) else (place, None)


def _decoded(text: bytes) -> str:
    return text.strip().decode("utf-8", "backslashreplace") or "(no text)"


def _clipped(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _fewer(findings: Sequence[Located], most: int, reported_by: str) -> tuple[Located, ...]:
    """The `most` gravest findings in their order, and one more that says what was cut."""
    if len(findings) <= most:
        return tuple(findings)
    order = sorted(
        range(len(findings)), key=lambda place: findings[place].finding.level is not Level.ERROR
    )
    kept = [findings[place] for place in sorted(order[:most])]
    cut = len(findings) - most
    errors = errors_in(findings) - errors_in(kept)
    level = Level.ERROR if errors else Level.WARNING
    what = f"{cut} more findings were cut, {errors} of them errors"
    return (*kept, trouble(what, reported_by, level))


def _size(one: Located) -> int:
    """Bytes of the finding in an event; a little more than it takes in a request."""
    path = None if one.path is None else path_text(one.path)
    return len(yamltext.dump({"findings": [{"path": path, **format_findings([one.finding])[0]}]}))
