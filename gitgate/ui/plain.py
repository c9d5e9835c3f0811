"""The plain forms of what `show`, `list`, `log` and `check` know: text that reads well anywhere.

Takes the documents that `--json` prints. All text from a repository goes through `safe`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gitgate.core.policy import Display, Options
from gitgate.ui.sanitise import clip, safe, width
from gitgate.ui.sections import WAITING, counted, left, sections, shell, short, spoken, until

Document = Mapping[str, Any]

_SKIPPED_SHOWN = 20
_DISPLAY, _OPTIONS = Display(), Options()
_NOT_RUN = "not run, there is nothing for it to look at"


def panel(doc: Document, display: Display = _DISPLAY, options: Options = _OPTIONS) -> list[str]:
    """One instance in the five sections of every gate display: header, context, deliverables,
    next steps, options (the display rules' names, in their order)."""
    found = sections(doc, display.verbosity, options, keys=False)
    lines: list[str] = []
    for section in found:
        if lines and section.title:
            lines.append("")
        lines += [section.title] if section.title else []
        for row in section.rows:
            lines.append(f"{row.begin}{row.text}" + (f"  {row.tail}" if row.tail else ""))
    return lines


def table(docs: Sequence[Document], columns: int) -> list[str]:
    """A line an instance: status, gate, subject, iteration, since when, and the deadline; only how
    long it is until then where the lines have no room for both."""
    lines = _aligned([_cells(doc, until(doc)) for doc in docs])
    if any(width(line) > columns for line in lines):
        lines = _aligned([_cells(doc, left(doc) or until(doc)) for doc in docs])
    return [clip(line, columns) for line in lines]


def _cells(doc: Document, deadline: str) -> tuple[str, ...]:
    return (
        doc["status"],
        safe(doc["gate"]),
        safe(doc["subject"]),
        f"iteration {doc['iteration']}",
        f"for {spoken(doc['waited'])}",
        deadline.removeprefix(", "),
    )


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max((width(row[at]) for row in rows), default=0) for at in range(5)]
    return [
        "  ".join(
            cell + " " * (size - width(cell)) for cell, size in zip(row, [*widths, 0], strict=True)
        ).rstrip()
        for row in rows
    ]


def history(doc: Document) -> list[str]:
    """The events of one instance, oldest first."""
    lines = [f"{safe(doc['gate'])} of {safe(doc['subject'])}"]
    for event in doc["events"]:
        line = f"{event['number']:04d}  {event['at']}  {event['event']:<10}  {safe(event['by'])}"
        if event["says"]:
            line += f"  {safe(event['says'])}"
        if event["ignored"]:
            line += f"  (no effect: {safe(event['ignored'])})"
        lines.append(line)
    lines += [f"note: {safe(warning)}" for warning in doc["warnings"]]
    lines += [f"fault: {safe(fault)}" for fault in doc["faults"]]
    return lines


def judgement(doc: Document) -> list[str]:
    """What `check` found: the answer first, then why, then what resolves it."""
    word = "may" if doc["allowed"] else "may not"
    lines = [f"{short(doc['new'])} {word} land on {safe(doc['ref'])}: {doc['status']}"]
    for row in doc["gates"]:
        about = f" of {safe(row['subject'])}" if row["subject"] else ""
        number = f", iteration {row['iteration']}" if row["iteration"] else ""
        lines.append(f"  gate {safe(row['gate'])}{about}{number}: {row['status']}")
        lines += [f"    {safe(reason)}" for reason in row["reasons"]]
    told = {reason for row in doc["gates"] for reason in row["reasons"]}
    if not doc["gates"] or not doc["allowed"]:
        lines += [f"  {safe(reason)}" for reason in doc["reasons"] if reason not in told]
    if doc["methods"]:
        lines.append(f"  it passes as: {', '.join(doc['methods'])}")
    lines += [f"warning: {safe(warning)}" for warning in doc["warnings"]]
    return lines


def refusal(ref: str, status: str, reasons: Sequence[str], hint: str) -> list[str]:
    """Why a hook refuses a ref, short enough to be read among git's own lines."""
    lines = [f"git-gate: {safe(ref)} may not move: {status}"]
    lines += [f"  {safe(reason)}" for reason in reasons]
    return lines + ([f"hint: {safe(hint)}"] if hint else [])


def opened(doc: Document, notes: Sequence[str], shown: Sequence[str]) -> list[str]:
    """The panel as it is `shown` after `open`, and what comes next."""
    about = f"{doc['gate']} --subject {shell(doc['subject'])}"
    said = {
        "opened": f"opened gate {doc['gate']} for {safe(doc['subject'])}: iteration 1",
        "iterated": f"iteration {doc['iteration']} of gate {doc['gate']} for"
        f" {safe(doc['subject'])}",
        "already-open": "this content was put up already and waits for a decision",
        "already-approved": "already approved, and nothing new to ask",
    }[doc["result"]]
    following = [
        f"next: git gate review {about}   (a person)",
        f"      git gate wait {about}     (whoever asked, until then)",
    ]
    if doc["result"] == "already-approved":
        following = [f"next: git gate land {about}; git gate check says how it may land"]
    elif not doc["waiting_for"]:
        following = ["next: nobody may approve this as it stands; mend what the reasons say"]
    return [*(safe(note) for note in notes), said, "", *shown, "", *following]


def validated(doc: Document, shown: Sequence[str]) -> list[str]:
    """What each validation found when it ran again, and the panel as it is now."""
    lines = []
    for one in doc["validations"]:
        looked = f"{counted(one['paths'], 'path')}, {counted(one['errors'], 'error')}"
        found = f"{looked}, {counted(one['warnings'], 'warning')}"
        lines.append(f"validation {safe(one['name'])}: {found if one['paths'] else _NOT_RUN}")
    return ["recorded what the validations found:", *lines, "", *shown]


def skipping(doc: Document) -> list[str]:
    """What is about to be skipped, before it is."""
    context = doc["context"]
    return [
        (
            f"skipping gate {safe(doc['gate'])} for {safe(doc['subject'])}, iteration"
            f" {doc['iteration']}: it lands without approval"
        ),
        (
            f"  {counted(context['artifact_count'], 'artifact')},"
            f" {counted(context['validation_errors'], 'validation error')},"
            f" {counted(context['warnings'], 'warning')}"
        ),
        *(f"  {safe(item['path'])}" for item in doc["deliverables"][:_SKIPPED_SHOWN]),
        *_cut(len(doc["deliverables"]), _SKIPPED_SHOWN),
    ]


def decided(
    doc: Document, action: str, signed_with: str, uncounted: str, vetoes: Sequence[str]
) -> list[str]:
    """What was recorded, what the instance is now, and what comes next."""
    about = f"{doc['gate']} --subject {shell(doc['subject'])}"
    lines = [
        (
            f"recorded: {action} of {safe(doc['gate'])} for {safe(doc['subject'])}, iteration"
            f" {doc['iteration']}, signed with {safe(signed_with)}"
        ),
        f"record {doc['record']}",
    ]
    if uncounted:
        lines.append(f"it does not count: {safe(uncounted)}")
    lines += [f"still blocked: {safe(veto)}" for veto in vetoes]
    why = f": {'; '.join(map(safe, doc['reasons']))}" if doc["status"] in WAITING else ""
    lines.append(f"the instance is now {doc['status']}{why}")
    lines.append(
        {
            "approved": f"next: git gate land {about}; git gate check says which ways pass",
            "skipped": f"next: git gate land {about}; git gate check says which ways pass",
            "rejected": f"next: git gate wait {about} tells the asking side; the next iteration:"
            f" git gate open {about}",
            "withdrawn": f"next: git gate open {about} begins a new one",
        }.get(doc["status"], f"next: git gate show {about}")
    )
    return lines


def answer(doc: Document) -> list[str]:
    """What `wait` brings back: how it was decided, in whose words, and what comes next."""
    who = f" by {safe(doc['by'])}" if doc["by"] else ""
    lines = [
        (
            f"{safe(doc['gate'])} of {safe(doc['subject'])}, iteration {doc['iteration']}:"
            f" {doc['status']}{who}"
        )
    ]
    lines += [f"  {line}" for line in safe(doc["message"], multiline=True).split("\n") if line]
    for comment in doc["comments"]:
        lines.append(f"  {safe(comment['path'])}:{comment['line']}: {safe(comment['text'])}")
    if doc["next"]:
        lines.append(f"next: {safe(shlex.join(doc['next']))}")
    return lines


def _cut(total: int, shown: int) -> Iterator[str]:
    if total > shown:
        yield f"  and {total - shown} more"


def diagnosis(doc: Document) -> list[str]:
    """What `doctor` found, the faults with what mends them."""
    marks = {"good": "ok  ", "note": "note", "fault": "FAULT"}
    lines = []
    for one in doc["findings"]:
        lines.append(f"{marks[one['level']]:<5}  {one['about']}: {safe(one['text'])}")
        if one["hint"]:
            lines.append(f"       {safe(one['hint'])}")
    return lines
