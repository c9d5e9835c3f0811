"""What agents and people are told of an event: the document, and the same as a few lines of text.

Everything in it is data. Nothing here is ever part of a command.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gitgate.core.decision import Comment
from gitgate.core.events import EventName
from gitgate.core.person import format_time
from gitgate.core.quoting import path_text

_LONGEST_TEXT = 4_000
"""Characters of what somebody said that go into a text; the document has all of it."""

# What chat services take for a call to everybody in a room.
_CALLS = re.compile(r"@(?=(?:everyone|here|channel|all)(?!\w|[.-]\w))|<(?=[!@#&])", re.IGNORECASE)

_DONE = {
    "approve": "approved",
    "reject": "rejected",
    "skip": "skipped the gate for",
    "quit": "quit",
    "retract": "took back their decision on",
}


@dataclass(frozen=True, slots=True)
class Notice:
    """One event of an instance.

    `by` is the principal whose signature a decision has ("" for nobody whom the policy knows),
    `(deadline)` where time was up, else the address that git knew of whoever did it. `counts` says
    of a decision whether it counts, `commit` of a landing what the target moved to. `next` is what
    the asking side can run.
    """

    event: EventName
    gate: str
    title: str
    kind: str
    subject: str
    target: str
    iteration: int
    status: str
    request: str
    work: str
    agent: str | None
    by: str
    name: str
    action: str | None
    message: str
    at: int
    record: str | None
    counts: bool | None
    comments: tuple[Comment, ...]
    commit: str | None
    next: tuple[str, ...] | None
    repository: str


def document(notice: Notice, to: str | None = None) -> dict[str, Any]:
    """The JSON document; `to` is the name in the policy's `escalation` that it is sent for."""
    return {
        "schema": 1,
        "event": notice.event.value,
        "to": to,
        "repository": notice.repository,
        "gate": notice.gate,
        "title": notice.title,
        "kind": notice.kind,
        "subject": notice.subject,
        "target": notice.target,
        "iteration": notice.iteration,
        "status": notice.status,
        "request": notice.request,
        "work": notice.work,
        "agent": notice.agent,
        "by": notice.by or None,
        "name": notice.name,
        "action": notice.action,
        "message": notice.message,
        "at": format_time(notice.at),
        "record": notice.record,
        "counts": notice.counts,
        "comments": [
            {"path": path_text(one.path), "line": one.line, "text": one.text}
            for one in notice.comments
        ],
        "commit": notice.commit,
        "next": None if notice.next is None else list(notice.next),
    }


def headline(notice: Notice, clean: Callable[[str], str]) -> str:
    """One line that says what happened. `clean` makes text from a repository fit to be shown."""
    about = f"{notice.subject} (iteration {notice.iteration})"
    who = notice.by or f"{notice.name}, whom nobody listed,"
    said = {
        EventName.OPENED: f"a decision is wanted on {about}",
        EventName.ITERATED: f"a decision is wanted on {about}",
        EventName.DECIDED: f"{who} {_DONE.get(notice.action or '', notice.action)} {about}",
        EventName.EXPIRED: f"nobody decided {about} in time",
        EventName.WITHDRAWN: f"{about} was withdrawn",
        EventName.LANDED: f"{about} has landed on {notice.target}",
        EventName.VALIDATED: f"{who} validated {about}",
    }.get(notice.event, f"{notice.event} of {about}")
    return _quiet(clean(f"[{notice.repository}] gate {notice.gate}: {said}"))


def text(notice: Notice, clean: Callable[[str], str]) -> str:
    """What a person needs to know beside the headline, line by line."""
    lines = [f"{notice.title}: {notice.subject} for {notice.target}, now {notice.status}"]
    if notice.agent:
        lines.append(f"asked by {notice.agent}")
    if notice.counts is False:
        lines.append("this decision does not count")
    message = notice.message[:_LONGEST_TEXT]
    cut = " …" if len(notice.message) > _LONGEST_TEXT else ""
    lines += (message + cut).split("\n") if message else []
    lines += [f"{path_text(one.path)}:{one.line}: {one.text}" for one in notice.comments]
    lines.append(f"git gate show {notice.gate} --subject {shlex.quote(notice.subject)}")
    return "\n".join(_quiet(clean(line)) for line in lines)


def _quiet(line: str) -> str:
    return _CALLS.sub(lambda match: f"{match[0]} ", line)
