"""A request's message and its request.yml, to the byte."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitgate.core.person import Person, Stamp
from gitgate.core.request import (
    MAX_REQUEST,
    Deliverable,
    Finding,
    Kind,
    Level,
    Request,
    body,
    body_path,
    message,
    parse,
)
from gitgate.process import run

A, B, C, D, E = (letter * 40 for letter in "abcde")
ADA = Stamp(Person("Ada Lovelace", "ada@example.com"), 1764565200, "+0100")
AGENT = "agent <agent@example.com>"

SMALL = Request(
    id=E,
    kind=Kind.APPROVAL,
    gate="elaboration",
    subject="feature/login",
    target="refs/heads/main",
    base=A,
    work=B,
    tip=None,
    policy=None,
    agent=None,
    nonce="0f" * 16,
    opened=ADA,
)
SMALL_MESSAGE = """\
Approve elaboration of feature/login?

Kind: approval
Gate: elaboration
Subject: feature/login
Target: refs/heads/main
Base: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
Work: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
Nonce: 0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f
"""
SMALL_BODY = b"""\
title: ""
summary: ""
deliverables: []
findings: []
next_steps: []
"""

FULL = replace(
    SMALL,
    tip=C,
    policy=D,
    agent="coder 1.0",
    title="Lifecycle Architecture",
    summary="Adds the login.\n\nSee: no",
    deliverables=(
        Deliverable(
            b".aiwg/UC-001.md",
            C,
            "UC-001: User Login",
            (
                Finding(12, Level.WARNING, "a link is dead", AGENT),
                Finding(None, Level.ERROR, "too long", AGENT),
            ),
        ),
        Deliverable(b"na\xefve\n.md", D, ""),
    ),
    general=(Finding(None, Level.WARNING, "no index", AGENT),),
    next_steps=("Start iteration C1", "no"),
)
FULL_MESSAGE = """\
Approve elaboration of feature/login?

Kind: approval
Gate: elaboration
Subject: feature/login
Target: refs/heads/main
Base: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
Work: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
Tip: cccccccccccccccccccccccccccccccccccccccc
Policy: dddddddddddddddddddddddddddddddddddddddd
Agent: coder 1.0
Nonce: 0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f
"""
FULL_BODY = rb"""title: "Lifecycle Architecture"
summary: "Adds the login.\n\nSee: no"
deliverables:
  - path: ".aiwg/UC-001.md"
    oid: "cccccccccccccccccccccccccccccccccccccccc"
    description: "UC-001: User Login"
    findings:
      - line: 12
        level: "warning"
        text: "a link is dead"
        reported_by: "agent <agent@example.com>"
      - line: null
        level: "error"
        text: "too long"
        reported_by: "agent <agent@example.com>"
  - path: "\"na\\357ve\\n.md\""
    oid: "dddddddddddddddddddddddddddddddddddddddd"
    description: ""
    findings: []
findings:
  - line: null
    level: "warning"
    text: "no index"
    reported_by: "agent <agent@example.com>"
next_steps:
  - "Start iteration C1"
  - "no"
"""

STEP = replace(
    SMALL,
    kind=Kind.STEP,
    gate="plan",
    subject="run-42/plan",
    target="",
    base=B,
    extra={"diagnosis": {"class": "input-gap", "inputs": [{"path": "a", "oid": C}], "attempts": 2}},
)
STEP_MESSAGE = """\
Resolve plan of run-42/plan?

Kind: step
Gate: plan
Subject: run-42/plan
Base: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
Work: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
Nonce: 0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f
"""
STEP_BODY = (
    SMALL_BODY
    + b"""\
diagnosis:
  class: "input-gap"
  inputs:
    - path: "a"
      oid: "cccccccccccccccccccccccccccccccccccccccc"
  attempts: 2
"""
)
QUESTION = replace(
    STEP,
    kind=Kind.QUESTION,
    gate="ask",
    subject="q-1",
    extra={"question": {"question": "Which?", "allow_multiple": False}},
)
QUESTION_MESSAGE = (
    STEP_MESSAGE.replace("Resolve plan of run-42/plan", "Answer ask of q-1")
    .replace("Kind: step", "Kind: question")
    .replace("Gate: plan", "Gate: ask")
    .replace("Subject: run-42/plan", "Subject: q-1")
)
QUESTION_BODY = (
    SMALL_BODY
    + b"""\
question:
  question: "Which?"
  allow_multiple: false
"""
)
ACKNOWLEDGEMENT = replace(SMALL, kind=Kind.ACKNOWLEDGEMENT, subject=f"landing/{B}")
ACKNOWLEDGEMENT_MESSAGE = (
    SMALL_MESSAGE.replace("Approve", "Acknowledge")
    .replace("Kind: approval", "Kind: acknowledgement")
    .replace("feature/login", f"landing/{B}")
)

PINNED = [
    (SMALL, SMALL_MESSAGE, SMALL_BODY),
    (FULL, FULL_MESSAGE, FULL_BODY),
    (STEP, STEP_MESSAGE, STEP_BODY),
    (QUESTION, QUESTION_MESSAGE, QUESTION_BODY),
    (ACKNOWLEDGEMENT, ACKNOWLEDGEMENT_MESSAGE, SMALL_BODY),
]


@pytest.mark.parametrize(("request_", "text", "data"), PINNED)
def test_a_request_has_these_bytes_for_ever(request_: Request, text: str, data: bytes) -> None:
    assert message(request_) == text
    assert body(request_) == data
    assert parse(E, ADA, text, data) == request_


def test_git_reads_the_trailers() -> None:
    parsed = run(["git", "interpret-trailers", "--parse"], stdin=FULL_MESSAGE.encode()).text
    assert f"{parsed}\n" == FULL_MESSAGE.partition("\n\n")[2]


def test_the_place_of_the_body() -> None:
    assert body_path("elaboration") == b".aiwg/gates/elaboration/request.yml"


def test_the_names_on_disk() -> None:
    assert [kind.value for kind in Kind] == ["approval", "step", "question", "acknowledgement"]
    assert [level.value for level in Level] == ["error", "warning"]


def test_a_deliverable_is_as_good_as_its_gravest_finding() -> None:
    warning = Finding(None, Level.WARNING, "w", "a")
    error = Finding(None, Level.ERROR, "e", "a")
    for findings, status in [
        ((), "validated"),
        ((warning,), "warning"),
        ((warning, error, warning), "error"),
    ]:
        assert Deliverable(b"a", A, "", findings).status == status


UNWRITABLE: dict[str, dict[str, Any]] = {
    "a gate that is none": {"gate": "A"},
    "a subject that is none": {"subject": " a"},
    "a subject without UTF-8": {"subject": "a\udcff"},
    "no target": {"target": ""},
    "a target that is no full name": {"target": "main"},
    "a target that forges a trailer": {"target": "refs/heads/a\nWork: b"},
    "a base that is no id": {"base": "HEAD"},
    "a tip that is no id": {"tip": ""},
    "a policy that is no id": {"policy": "x"},
    "an agent of two lines": {"agent": "a\nPolicy: x"},
    "an agent without a name": {"agent": ""},
    "an agent without UTF-8": {"agent": "\udcff"},
    "a nonce that is none": {"nonce": "1"},
}
UNWRITABLE_BODY: dict[str, dict[str, Any]] = {
    "a text without UTF-8": {"summary": "\udcff"},
    "a path out of the tree": {"deliverables": (Deliverable(b"../a", A, ""),)},
    "a deliverable that is no blob": {"deliverables": (Deliverable(b"a", "x", ""),)},
    "line zero": {"general": (Finding(0, Level.ERROR, "", ""),)},
    "a diagnosis of an approval": {"extra": {"diagnosis": {}}},
    "a question without its text": {"kind": Kind.QUESTION},
    "a diagnosis that is none": {"kind": Kind.STEP, "extra": {"diagnosis": "x"}},
    "a key that is none": {"kind": Kind.STEP, "extra": {"diagnosis": {"No": 1}}},
}


@pytest.mark.parametrize("name", UNWRITABLE)
def test_what_has_no_message(name: str) -> None:
    with pytest.raises(ValueError):
        message(replace(SMALL, **UNWRITABLE[name]))


@pytest.mark.parametrize("name", UNWRITABLE_BODY)
def test_what_has_no_body(name: str) -> None:
    with pytest.raises(ValueError):
        body(replace(SMALL, **UNWRITABLE_BODY[name]))


MESSAGES = {
    "nothing": ("", ""),
    "another first line": ("Approve elab", "Reject elab"),
    "a paragraph more": ("?\n\n", "?\n\nSigned already.\n\n"),
    "CRLF": ("approval\n", "approval\r\n"),
    "a trailer less": ("Kind: approval\n", ""),
    "a trailer more": ("Nonce:", "Number: 1\nNonce:"),
    "a trailer twice": ("Nonce:", f"Tip: {A}\nNonce:"),
    "trailers in another order": (f"Base: {A}\nWork: {B}\n", f"Work: {B}\nBase: {A}\n"),
    "an unknown kind": ("Kind: approval", "Kind: merge"),
    "the kind of another body": ("Kind: approval", "Kind: step"),
    "a gate that is none": ("Gate: elaboration", "Gate: Elaboration"),
    "an id in capitals": (A, A.upper()),
    "a newline more": ("0f0f\n", "0f0f\n\n"),
    "no newline at the end": ("0f0f\n", "0f0f"),
}
BODIES = {
    "nothing": (FULL_BODY, b""),
    "a key less": (b'summary: "Adds the login.\\n\\nSee: no"\n', b""),
    "a key more": (b"findings:\n  -", b'verdict: "good"\nfindings:\n  -'),
    "a key twice": (b"title:", b'title: "a"\ntitle:'),
    "keys in another order": (b'"Lifecycle Architecture"\nsummary', b'"a"\nnext_steps'),
    "no text": (b'title: "Lifecycle Architecture"', b"title: 1"),
    "no list": (b'  - "Start iteration C1"\n  - "no"', b'  "a"'),
    "a step that is no text": (b'- "no"', b"- 1"),
    "a path quoted without need": (b'".aiwg/UC-001.md"', b'"\\".aiwg/UC-001.md\\""'),
    "a path out of the tree": (b".aiwg/UC", b"../UC"),
    "a path of bytes": (b".aiwg/UC", b"\\x00"),
    "an id that is none": (C.encode(), b"c"),
    "a level that is none": (b'"error"', b'"fatal"'),
    "a line that is none": (b"line: 12", b"line: 0"),
    "a line that is true": (b"line: 12", b"line: true"),
    "a line that is text": (b"line: 12", b'line: "12"'),
    "a line beyond all files": (b"line: 12", b"line: 1000000000"),
    "a finding less": (b"    text: ", b"    remark: "),
    "a diagnosis": (b"findings:\n  -", b'diagnosis:\n  a: "b"\nfindings:\n  -'),
    "a comment": (b"title:", b"# a\ntitle:"),
    "an alias": (b'"too long"', b"*x"),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_another_message_is_refused(name: str) -> None:
    old, new = MESSAGES[name]
    text = FULL_MESSAGE.replace(old, new, 1) if old else ""
    assert text != FULL_MESSAGE
    with pytest.raises(ValueError):
        parse(E, ADA, text, FULL_BODY)


@pytest.mark.parametrize("name", BODIES)
def test_another_body_is_refused(name: str) -> None:
    old, new = BODIES[name]
    data = FULL_BODY.replace(old, new, 1)
    assert data != FULL_BODY
    with pytest.raises(ValueError):
        parse(E, ADA, FULL_MESSAGE, data)


def test_an_author_that_git_would_not_write_is_refused() -> None:
    with pytest.raises(ValueError, match="not a person"):
        parse(E, replace(ADA, person=Person("", "a@b")), FULL_MESSAGE, FULL_BODY)


def test_a_body_is_measured_before_it_is_read() -> None:
    with pytest.raises(ValueError, match="larger than"):
        parse(E, ADA, SMALL_MESSAGE, b"x" * (MAX_REQUEST + 1))
    with pytest.raises(ValueError, match="larger than 16 MiB"):
        body(replace(SMALL, summary="x" * MAX_REQUEST))
