"""The events of a ledger and its commits' messages, to the byte."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitgate.core import gate
from gitgate.core.events import (
    FIELDS,
    MAX_EVENT,
    ROOT_STAMP,
    STATUSES,
    Event,
    EventName,
    Located,
    Summary,
    body,
    data_folder,
    file_name,
    parse_body,
    parse_summary,
    record_name,
    root_message,
    summary_message,
)
from gitgate.core.person import Person, format_stamp
from gitgate.core.request import Finding, Level
from gitgate.process import run

R, T, OLD, NEW = (letter * 40 for letter in "abcd")
AGENT = Person("agent", "agent@example.com")
AT = 1764565200
HEAD = b'at: "2025-12-01T05:00:00Z"\nby: "agent <agent@example.com>"\n'
REQUEST = b'request: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"\n'
RECORD = b'record: "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"\n'


def event(
    name: EventName, request: str | None = None, record: str | None = None, **fields: Any
) -> Event:
    return Event("", 3, name, AT, AGENT, request, record, fields)


FINDINGS = (
    Located(b"a.md", Finding(4, Level.ERROR, "dead link", "agent <agent@example.com>")),
    Located(None, Finding(None, Level.WARNING, "no index", "ci")),
)
EVENTS = [
    (event(EventName.OPENED, R), REQUEST),
    (event(EventName.ITERATED, R), REQUEST),
    (event(EventName.VALIDATED, R, findings=()), REQUEST + b"findings: []\n"),
    (
        event(EventName.VALIDATED, R, findings=FINDINGS),
        REQUEST
        + b"""\
findings:
  - path: "a.md"
    line: 4
    level: "error"
    text: "dead link"
    reported_by: "agent <agent@example.com>"
  - path: null
    line: null
    level: "warning"
    text: "no index"
    reported_by: "ci"
""",
    ),
    (event(EventName.ASKED, R), REQUEST),
    (
        event(EventName.STARTED, attempt=2, input=NEW),
        b'attempt: 2\ninput: "dddddddddddddddddddddddddddddddddddddddd"\n',
    ),
    (event(EventName.ESCALATED, R), REQUEST),
    (event(EventName.PARKED), b""),
    (event(EventName.PARKED, R), REQUEST),
    (event(EventName.DECIDED, R, T), REQUEST + RECORD),
    (event(EventName.CLAIMED, record=T, consumer="run-42"), RECORD + b'consumer: "run-42"\n'),
    (event(EventName.RESUMED, record=T, consumer="run-42"), RECORD + b'consumer: "run-42"\n'),
    (
        event(EventName.EXPIRED, R, deadline=AT + 3600),
        REQUEST + b'deadline: "2025-12-01T06:00:00Z"\naction: "reject"\nuser: "(deadline)"\n',
    ),
    (event(EventName.STRIPPED, record=T), RECORD),
    (
        event(EventName.COMPENSATED, command=("make", "clean up"), status=2),
        b'command:\n  - "make"\n  - "clean up"\nstatus: 2\n',
    ),
    (event(EventName.COMPLETED), b""),
    (event(EventName.TERMINATED), b""),
    (
        event(EventName.LANDED, R, target="refs/heads/main", old=OLD, new=NEW),
        REQUEST
        + b"""\
target: "refs/heads/main"
old: "cccccccccccccccccccccccccccccccccccccccc"
new: "dddddddddddddddddddddddddddddddddddddddd"
""",
    ),
    (event(EventName.WITHDRAWN), b""),
    (event(EventName.WITHDRAWN, R, reason="no: later"), REQUEST + b'reason: "no: later"\n'),
]


@pytest.mark.parametrize(("made", "tail"), EVENTS)
def test_an_event_has_these_bytes_for_ever(made: Event, tail: bytes) -> None:
    assert body(made) == HEAD + tail
    assert parse_body("", 3, made.name, HEAD + tail) == made


def test_there_are_seventeen_events_and_each_is_pinned() -> None:
    assert " ".join(EventName) == (
        "opened iterated validated asked started escalated parked decided claimed resumed "
        "expired stripped compensated completed terminated landed withdrawn"
    )
    assert set(FIELDS) == set(EventName) == {made.name for made, _ in EVENTS}


def test_a_replayed_event_keeps_its_blob() -> None:
    for made, _ in EVENTS:
        assert body(replace(made, number=17, id="f" * 40)) == body(made)


def test_the_files_of_an_event() -> None:
    assert file_name(3, EventName.DECIDED) == b"0003-decided.yml"
    assert file_name(12345, EventName.OPENED) == b"12345-opened.yml"
    assert record_name(3) == b"0003-decided.tag"
    assert data_folder(12) == b"0012-data"
    for number in [0, -1, 10**9]:
        with pytest.raises(ValueError, match="no number of an event"):
            file_name(number, EventName.OPENED)


UNWRITABLE = {
    "a request missing": event(EventName.OPENED),
    "a record missing": event(EventName.DECIDED, R),
    "a record too many": event(EventName.OPENED, R, T),
    "a request too many": event(EventName.STARTED, R, attempt=1, input=NEW),
    "an unknown field": event(EventName.OPENED, R, iteration=1),
    "a number": event(EventName.OPENED, R, number=1),
    "a constant": event(EventName.EXPIRED, R, deadline=AT, action="approve"),
    "no id": event(EventName.OPENED, "HEAD"),
    "no number of an attempt": event(EventName.STARTED, attempt=0, input=NEW),
    "an attempt that is true": event(EventName.STARTED, attempt=True, input=NEW),
    "a target that is no ref": event(EventName.LANDED, R, target="main", old=OLD, new=NEW),
    "nobody who claims": event(EventName.CLAIMED, record=T, consumer=""),
    "a consumer of two lines": event(EventName.CLAIMED, record=T, consumer="a\nb"),
    "no command": event(EventName.COMPENSATED, command=(), status=0),
    "a command as one text": event(EventName.COMPENSATED, command="make", status=0),
    "a status that is none": event(EventName.COMPENSATED, command=("a",), status=256),
    "a deadline after the end": event(EventName.EXPIRED, R, deadline=10**15),
    "a finding out of the tree": event(
        EventName.VALIDATED, R, findings=[(b"../a", FINDINGS[0].finding)]
    ),
    "findings that are none": event(EventName.VALIDATED, R, findings=3),
    "nobody": replace(event(EventName.OPENED, R), by=Person("", "a@b")),
    "a time before all": replace(event(EventName.OPENED, R), at=-1),
    "too much": event(EventName.WITHDRAWN, reason="x" * MAX_EVENT),
}


@pytest.mark.parametrize("name", UNWRITABLE)
def test_what_has_no_form(name: str) -> None:
    with pytest.raises(ValueError):
        body(UNWRITABLE[name])


REFUSED = {
    "an unknown event": ("approved", HEAD + REQUEST),
    "an event in capitals": ("Opened", HEAD + REQUEST),
    "nothing": ("opened", b""),
    "no time": ("opened", HEAD.split(b"\n", 1)[1] + REQUEST),
    "nobody": ("opened", HEAD.split(b"\n", 1)[0] + b"\n" + REQUEST),
    "no request": ("opened", HEAD),
    "an unknown field": ("opened", HEAD + REQUEST + b'verdict: "good"\n'),
    "another event's field": ("opened", HEAD + REQUEST + b"attempt: 1\n"),
    "another order": ("opened", REQUEST + HEAD),
    "a field twice": ("opened", HEAD + REQUEST + REQUEST),
    "a time of another zone": ("opened", HEAD.replace(b"Z", b"+00:00") + REQUEST),
    "somebody without an address": ("opened", HEAD.replace(b" <agent@example.com>", b"") + REQUEST),
    "no id": ("opened", HEAD + REQUEST.replace(b"aaa", b"AAA")),
    "a null": ("parked", HEAD + b"request: null\n"),
    "a number as text": ("started", HEAD + b'attempt: "2"\ninput: "%s"\n' % (b"d" * 40)),
    "no constant": ("expired", HEAD + REQUEST + b'deadline: "2025-12-01T06:00:00Z"\n'),
    "another constant": (
        "expired",
        HEAD
        + REQUEST
        + b'deadline: "2025-12-01T06:00:00Z"\naction: "approve"\nuser: "(deadline)"\n',
    ),
    "a finding less": ("validated", HEAD + REQUEST + b'findings:\n  - path: "a"\n'),
    "findings that are none": ("validated", HEAD + REQUEST + b"findings: {}\n"),
    "a comment": ("opened", HEAD + REQUEST + b"# x\n"),
}


@pytest.mark.parametrize("label", REFUSED)
def test_another_body_is_refused(label: str) -> None:
    name, data = REFUSED[label]
    with pytest.raises(ValueError):
        parse_body("", 3, name, data)


def test_a_body_is_measured_before_it_is_read() -> None:
    with pytest.raises(ValueError, match="larger than"):
        parse_body("", 3, "opened", HEAD + REQUEST + b"#" * MAX_EVENT)
    with pytest.raises(ValueError, match="no number"):
        parse_body("", 0, "opened", HEAD + REQUEST)


def test_the_root_is_the_same_commit_everywhere(tmp_path: Path) -> None:
    assert root_message("elaboration", "feature/login") == "gate elaboration: feature/login\n"
    stamp = "git-gate <git-gate@git-gate.invalid> 946684800 +0000"
    assert format_stamp(ROOT_STAMP) == stamp
    run(["git", "init", "-q"], cwd=tmp_path)
    tree = run(["git", "mktree"], cwd=tmp_path).text
    text = root_message("elaboration", "feature/login")
    raw = f"tree {tree}\nauthor {stamp}\ncommitter {stamp}\n\n{text}"
    command = ["git", "hash-object", "-t", "commit", "--stdin"]
    assert (
        run(command, cwd=tmp_path, stdin=raw.encode()).text
        == "01bdcad25442d29494c4b8200750167eba6da50a"
    )


SUMMARY = Summary("elaboration", "feature/login", EventName.DECIDED, 3, 1, "open", R)
SUMMARY_TEXT = """\
elaboration of feature/login: decided

Gate: elaboration
Subject: feature/login
Event: decided
Number: 3
Iteration: 1
Status: open
Request: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
"""
BARE = Summary("plan", "run-42/plan", EventName.STARTED, 10000, 0, "open")
BARE_TEXT = """\
plan of run-42/plan: started

Gate: plan
Subject: run-42/plan
Event: started
Number: 10000
Iteration: 0
Status: open
"""


@pytest.mark.parametrize(("summary", "text"), [(SUMMARY, SUMMARY_TEXT), (BARE, BARE_TEXT)])
def test_a_ledger_commit_has_this_message_for_ever(summary: Summary, text: str) -> None:
    assert summary_message(summary) == text
    assert parse_summary(text) == summary


def test_git_reads_the_trailers() -> None:
    parsed = run(["git", "interpret-trailers", "--parse"], stdin=SUMMARY_TEXT.encode()).text
    assert f"{parsed}\n" == SUMMARY_TEXT.partition("\n\n")[2]


def test_the_statuses_are_those_of_the_lifecycle() -> None:
    assert {status.value for status in gate.Status} == STATUSES
    for status in STATUSES:
        text = SUMMARY_TEXT.replace("Status: open", f"Status: {status}")
        assert parse_summary(text) == replace(SUMMARY, status=status)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("elaboration of", "elaboration in"),
        (": decided\n\n", ": decided\n\nApproved by all.\n\n"),
        ("Gate: elaboration\n", ""),
        ("Gate: elaboration", "Gate: Elaboration"),
        ("Subject: feature/login", "Subject: main"),
        ("Event: decided", "Event: approved"),
        ("Number: 3", "Number: 03"),
        ("Number: 3", "Number: 0"),
        ("Number: 3", "Number: -3"),
        ("Number: 3", "Number: ٣"),
        ("Number: 3", "Number: 1" + "0" * 5000),
        ("Status: open", "Status: stale"),
        ("Request: aa", "Request: AA"),
        ("Event:", "Gate: elaboration\nEvent:"),
        ("Request:", "Record:"),
        ("aaa\n", "aaa\nSigned-off-by: a\n"),
        ("aaa\n", "aaa\n\n"),
    ],
)
def test_another_message_is_refused(old: str, new: str) -> None:
    text = SUMMARY_TEXT.replace(old, new, 1)
    assert text != SUMMARY_TEXT
    with pytest.raises(ValueError):
        parse_summary(text)


@pytest.mark.parametrize(
    "fields",
    [
        {"gate": "A"},
        {"subject": "a\nb"},
        {"number": 0},
        {"iteration": -1},
        {"status": "stale"},
        {"request": "x"},
    ],
)
def test_what_has_no_message(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        summary_message(replace(SUMMARY, **fields))
