from __future__ import annotations

from dataclasses import replace

import pytest

from gitgate.core import events, findings
from gitgate.core.events import Event, EventName, Located
from gitgate.core.findings import (
    MAX_FINDINGS,
    MAX_TEXT,
    attached,
    line_of,
    parse_output,
    recordable,
    trouble,
)
from gitgate.core.person import Person, Stamp
from gitgate.core.request import Deliverable, Finding, Kind, Level, Request
from gitgate.core.request import body as request_body

ADA = Person("Ada", "ada@example.com")
E, W = Level.ERROR, Level.WARNING


def at(path: bytes | None, line: int | None, level: Level, text: str) -> Located:
    return Located(path, Finding(line, level, text, "links"))


def read(output: bytes, *paths: bytes) -> list[Located]:
    return list(parse_output(output, paths or (b"a.md",), "links"))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b"a.md:3: error: dead link", at(b"a.md", 3, E, "dead link")),
        (b"a.md:3: warning: dead link", at(b"a.md", 3, W, "dead link")),
        (b"a.md: error: dead link", at(b"a.md", None, E, "dead link")),
        (b"a.md:3:17: error: dead link", at(b"a.md", 3, E, "dead link")),
        (b"./a.md:3: error: dead link", at(b"a.md", 3, E, "dead link")),
        (b'"a.md":3: error: dead link', at(b"a.md", 3, E, "dead link")),
        (b"a.md:3: error: dead link\r", at(b"a.md", 3, E, "dead link")),
        (b"a.md:3: error:", at(b"a.md", 3, E, "(no text)")),
        (b"a.md:0: error: x", at(b"a.md", None, E, "x")),
        (b"a.md:99999999999: error: x", at(b"a.md", None, E, "x")),
        (b"a.md:3: error: x: warning: y", at(b"a.md", 3, E, "x: warning: y")),
        (b"a.md:3: warning: x: error: y", at(b"a.md", 3, W, "x: error: y")),
        (b"b.md:3: error: x", at(None, None, E, "b.md:3: x")),
        (b"b.md: warning: x", at(None, None, W, "b.md: x")),
        (b"b\0\xff.md: warning: x", at(None, None, W, "b\0\\xff.md: x")),
        (b"a.md:3: error: \xff\xc3\xa9", at(b"a.md", 3, E, "\\xff\u00e9")),
        (b"a.md:3: error: \x1b[2J\xe2\x80\xae", at(b"a.md", 3, E, "\x1b[2J\u202e")),
    ],
)
def test_a_line_is_read(line: bytes, found: Located) -> None:
    assert read(line) == [found]


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"error: x", b": error: x", b"a.md:3: Error: x", b"a.md:3: note: x"),
        *(b"a.md:3:error: x", b"a.md 3 error x", b"a.md:3: errors: x", b"a.md:3: error:x"),
    ],
)
def test_other_lines_are_passed_over(line: bytes) -> None:
    assert read(line + b"\nchecking a.md\n") == []


def test_lines_end_at_newlines_only() -> None:
    assert read(b"a.md:1: error: x\x0cb.md:2: error: y\xc2\x85\n") == [
        at(b"a.md", 1, E, "x\x0cb.md:2: error: y\x85")
    ]


@pytest.mark.parametrize(
    "path",
    [
        *(b"b:1.md", b"b:1", b"b: warning: c.md", b"b.md:1: warning: c.md", b" b.md", b"\xff.md"),
        *(b'"b"', b"a.md: warning: b", b"b: error: c", b"x/" * 900 + b": warning: b"),
    ],
)
def test_no_name_of_a_file_hides_an_error(path: bytes) -> None:
    both = (b"a.md", path)
    assert read(path + b":7: error: bad", *both) == [at(path, 7, E, "bad")]
    assert read(path + b": error: bad", *both)[0].finding.level is E


def test_a_name_with_a_newline_leaves_an_error_of_no_file() -> None:
    [found] = read(b"b\nc.md:7: error: bad", b"b\nc.md", b"a.md")
    assert (found.path, found.finding.level, found.finding.text) == (None, E, "c.md:7: bad")
    quoted = read(b'"b\\nc.md":7: error: bad', b"b\nc.md")
    assert quoted == [at(b"b\nc.md", 7, E, "bad")]


def test_long_texts_are_cut_and_say_so() -> None:
    [found] = read(b"a.md:1: error: " + b"x" * 10_000)
    assert found.finding.text == "x" * (MAX_TEXT - 1) + "…"
    [other] = read(b"p/" * 5_000 + b":1: error: x", b"a.md")
    assert (other.path, len(other.finding.text) <= MAX_TEXT) == (None, True)


def test_of_too_many_findings_the_errors_are_kept() -> None:
    warnings = b"".join(b"a.md:%d: warning: w\n" % n for n in range(1, MAX_FINDINGS + 6))
    found = read(warnings + b"a.md:1: error: at last\n")
    assert len(found) == MAX_FINDINGS + 1
    assert found[-2:] == [
        at(b"a.md", 1, E, "at last"),
        at(None, None, W, "6 more findings were cut, 0 of them errors"),
    ]
    errors = read(b"a.md:1: error: e\n" * (MAX_FINDINGS + 3))
    assert errors[-1] == at(None, None, E, "3 more findings were cut, 3 of them errors")


def test_hostile_output_of_full_size_is_read_quickly() -> None:
    assert len(read(b": error: " * (findings.MAX_OUTPUT // 9))) == 1
    assert len(read(b"x" * findings.MAX_OUTPUT)) == 0
    assert len(read(b"x: error: " * (findings.MAX_OUTPUT // 10))) == 1


@pytest.mark.parametrize("text", ["a", "\U0001f600", "\x1b", "\U000e0001"])
def test_what_is_recorded_fits_into_an_event(text: str) -> None:
    many = [at(b"a/deliverable.md", n, W, text * MAX_TEXT) for n in range(1, 2000)]
    found = recordable([*many, at(b"a.md", 7, E, "last")], "main")
    event = Event("", 0, EventName.VALIDATED, 0, ADA, "1" * 40, None, {"findings": found})
    data = events.body(event)
    assert events.parse_body("", 1, "validated", data).fields["findings"] == found
    assert at(b"a.md", 7, E, "last") in found
    cut = 2000 - len(found) + 1
    assert found[-1].finding.text == f"{cut} more findings were cut, 0 of them errors"
    few = (at(None, None, E, text),)
    assert recordable(few, "main") == few


def test_findings_go_to_their_deliverables() -> None:
    stamp = Stamp(ADA, 0)
    old = (Finding(1, E, "of before", "x"),)
    request = Request(
        "", Kind.APPROVAL, "main", "s", "refs/heads/main", "1" * 40, "2" * 40, None, None, None,
        "0" * 32, stamp,
        deliverables=(
            Deliverable(b"a.md", "3" * 40, "A", old), Deliverable(b"b.md", "4" * 40, "B"),
        ),
    )  # fmt: skip
    found = attached(
        request,
        [at(b"b.md", 2, W, "w"), at(None, None, W, "all"), at(b"b.md", 1, E, "e")],
    )
    first, second = found.deliverables
    assert (first.findings, first.status) == ((), "validated")
    assert ([one.text for one in second.findings], second.status) == (["w", "e"], "error")
    assert [one.text for one in found.general] == ["all"]
    assert replace(found, deliverables=request.deliverables, general=()) == request
    assert b'text: "all"' in request_body(found)


def test_findings_are_written_as_validations_print_them() -> None:
    assert line_of(at(b"a.md", 3, E, "x")) == "a.md:3: error: x"
    assert line_of(at(b"a\n.md", None, W, "x")) == '"a\\n.md": warning: x'
    assert line_of(trouble("it hangs", "links")) == "error: it hangs"
