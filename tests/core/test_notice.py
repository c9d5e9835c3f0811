"""What is said of an event: a document in which everything is data, and text that calls nobody."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitgate.core.decision import Comment
from gitgate.core.events import EventName
from gitgate.core.notice import Notice, document, headline, text
from gitgate.ui.sanitise import safe

NOTICE = Notice(
    event=EventName.DECIDED,
    gate="main",
    title="Changes to main",
    kind="approval",
    subject="feature/login",
    target="refs/heads/main",
    iteration=2,
    status="rejected",
    request="a" * 40,
    work="b" * 40,
    agent="claude",
    by="ada@example.com",
    name="Ada Lovelace",
    action="reject",
    message="No lockout.\nAnd no length.",
    at=1_764_590_400,
    record="c" * 40,
    counts=True,
    comments=(Comment(b"login.md", 3, "five times?"),),
    commit=None,
    next=("git", "gate", "open", "main", "--subject", "feature/login"),
    repository="shop",
)


def test_the_document_has_these_fields() -> None:
    assert document(NOTICE, "lead") == {
        "schema": 1,
        "event": "decided",
        "to": "lead",
        "repository": "shop",
        "gate": "main",
        "title": "Changes to main",
        "kind": "approval",
        "subject": "feature/login",
        "target": "refs/heads/main",
        "iteration": 2,
        "status": "rejected",
        "request": "a" * 40,
        "work": "b" * 40,
        "agent": "claude",
        "by": "ada@example.com",
        "name": "Ada Lovelace",
        "action": "reject",
        "message": "No lockout.\nAnd no length.",
        "at": "2025-12-01T12:00:00Z",
        "record": "c" * 40,
        "counts": True,
        "comments": [{"path": "login.md", "line": 3, "text": "five times?"}],
        "commit": None,
        "next": ["git", "gate", "open", "main", "--subject", "feature/login"],
    }


def test_the_text_is_what_a_person_needs() -> None:
    assert text(NOTICE, safe) == (
        "Changes to main: feature/login for refs/heads/main, now rejected\n"
        "asked by claude\n"
        "No lockout.\n"
        "And no length.\n"
        "login.md:3: five times?\n"
        "git gate show main --subject feature/login"
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"event": EventName.OPENED}, "a decision is wanted on feature/login (iteration 2)"),
        ({"event": EventName.ITERATED}, "a decision is wanted on feature/login (iteration 2)"),
        ({}, "ada@example.com rejected feature/login (iteration 2)"),
        ({"action": "approve"}, "ada@example.com approved feature/login (iteration 2)"),
        ({"action": "skip"}, "ada@example.com skipped the gate for feature/login (iteration 2)"),
        (
            {"action": "retract"},
            "ada@example.com took back their decision on feature/login (iteration 2)",
        ),
        ({"by": ""}, "Ada Lovelace, whom nobody listed, rejected feature/login (iteration 2)"),
        ({"event": EventName.EXPIRED}, "nobody decided feature/login (iteration 2) in time"),
        ({"event": EventName.WITHDRAWN}, "feature/login (iteration 2) was withdrawn"),
        ({"event": EventName.LANDED}, "feature/login (iteration 2) has landed on refs/heads/main"),
        ({"event": EventName.VALIDATED}, "ada@example.com validated feature/login (iteration 2)"),
        ({"event": EventName.ESCALATED}, "escalated of feature/login (iteration 2)"),
    ],
)
def test_the_headline_says_what_happened(changes: dict[str, object], said: str) -> None:
    assert headline(replace(NOTICE, **changes), safe) == f"[shop] gate main: {said}"


def test_hostile_words_stay_words() -> None:
    evil = replace(
        NOTICE,
        subject="x\x1b[2J\u202e@everyone",
        message="@everyone, @here <!channel> <@U123> mail ada@all.example\r\x07",
        agent="<#C1>\u200b",
        counts=False,
        comments=(),
    )
    assert headline(evil, safe) == (
        r"[shop] gate main: ada@example.com rejected x\x1b[2J\u202e@ everyone (iteration 2)"
    )
    assert text(evil, safe).split("\n") == [
        r"Changes to main: x\x1b[2J\u202e@ everyone for refs/heads/main, now rejected",
        r"asked by < #C1>\u200b",
        "this decision does not count",
        r"@ everyone, @ here < !channel> < @U123> mail ada@all.example\r\x07",
        r"git gate show main --subject 'x\x1b[2J\u202e@ everyone'",
    ]
    assert document(evil)["message"] == evil.message


def test_a_long_text_is_cut_and_the_document_is_not() -> None:
    long = replace(NOTICE, message="x" * 100_000)
    assert "x" * 4_000 + " …\n" in text(long, safe) and len(text(long, safe)) < 4_300
    assert document(long)["message"] == long.message
