"""The plain forms of what `show`, `list`, `log` and `check` know: text that reads well anywhere.

Takes the documents that `--json` prints. All text from a repository goes through `safe`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gitgate.ui.sanitise import clip, safe, width

_MARKS = {"error": "✗", "warning": "⚠", "validated": "✓"}
_WORDS = {
    "approve": "approved iteration {}",
    "reject": "rejected iteration {}",
    "skip": "skipped iteration {}",
    "quit": "quit at iteration {}",
    "retract": "took back their decision on iteration {}",
}

_WAITING = ("open", "parked")

Document = Mapping[str, Any]

_SKIPPED_SHOWN = 20
_FINDINGS_SHOWN = 20
_NOT_RUN = "not run, there is nothing for it to look at"


def panel(doc: Document) -> list[str]:
    """One instance in the five sections of every gate display: header, context, deliverables,
    next steps, options (the display rules' names, in their order)."""
    lines = [*_header(doc), ""]
    lines += ["Context:", *(f"  • {line}" for line in _context(doc)), ""]
    lines += ["Deliverables:", *_deliverables(doc["deliverables"]), ""]
    lines += ["Next Steps (if approved):", *_steps(doc["next_steps"]), ""]
    lines += [*_decisions(doc["decisions"])]
    lines += ["Options:", *_options(doc)]
    return lines


def table(docs: Sequence[Document], columns: int) -> list[str]:
    """A line an instance: status, gate, subject, iteration, since when, and the deadline."""
    rows = [
        (
            doc["status"],
            safe(doc["gate"]),
            safe(doc["subject"]),
            f"iteration {doc['iteration']}",
            f"for {spoken(doc['context']['time_elapsed'])}",
            _until(doc).removeprefix(", "),
        )
        for doc in docs
    ]
    widths = [max((width(row[at]) for row in rows), default=0) for at in range(5)]
    return [
        clip(
            "  ".join(
                cell + " " * (size - width(cell))
                for cell, size in zip(row, [*widths, 0], strict=True)
            ).rstrip(),
            columns,
        )
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
    lines = [f"{_short(doc['new'])} {word} land on {safe(doc['ref'])}: {doc['status']}"]
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


def opened(doc: Document, notes: Sequence[str]) -> list[str]:
    """The panel after `open`, and what comes next."""
    about = f"{doc['gate']} --subject {_shell(doc['subject'])}"
    said = {
        "opened": f"opened gate {doc['gate']} for {safe(doc['subject'])}: iteration 1",
        "iterated": f"iteration {doc['iteration']} of gate {doc['gate']} for"
        f" {safe(doc['subject'])}",
        "already-open": "this content was put up already and waits for a decision",
        "already-approved": "already approved, and nothing new to ask",
    }[doc["result"]]
    following = [
        f"next: git gate approve {about}   (a person)",
        f"      git gate wait {about}      (whoever asked, until then)",
    ]
    if doc["result"] == "already-approved":
        following = ["next: git gate check says how it may land"]
    elif not doc["waiting_for"]:
        following = ["next: nobody may approve this as it stands; mend what the reasons say"]
    return [*(safe(note) for note in notes), said, "", *panel(doc), "", *following]


def validated(doc: Document) -> list[str]:
    """What each validation found when it ran again, and the panel as it is now."""
    lines = []
    for one in doc["validations"]:
        looked = f"{counted(one['paths'], 'path')}, {counted(one['errors'], 'error')}"
        found = f"{looked}, {counted(one['warnings'], 'warning')}"
        lines.append(f"validation {safe(one['name'])}: {found if one['paths'] else _NOT_RUN}")
    return ["recorded what the validations found:", *lines, "", *panel(doc)]


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
    doc: Document, action: str, signed_with: str, uncounted: str, vetoed_by: Sequence[str]
) -> list[str]:
    """What was recorded, what the instance is now, and what comes next."""
    about = f"{doc['gate']} --subject {_shell(doc['subject'])}"
    lines = [
        (
            f"recorded: {action} of {safe(doc['gate'])} for {safe(doc['subject'])}, iteration"
            f" {doc['iteration']}, signed with {safe(signed_with)}"
        ),
        f"record {doc['record']}",
    ]
    if uncounted:
        lines.append(f"it does not count: {safe(uncounted)}")
    lines += [f"still blocked: {safe(who)} rejected the same content" for who in vetoed_by]
    why = f": {'; '.join(map(safe, doc['reasons']))}" if doc["status"] in _WAITING else ""
    lines.append(f"the instance is now {doc['status']}{why}")
    lines.append(
        {
            "approved": "next: land it; git gate check says which ways pass",
            "skipped": "next: land it; git gate check says which ways pass",
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


def spoken(elapsed: str) -> str:
    """An ISO 8601 duration as people say it: `PT2H14M` is `2 h 14 min`."""
    text = elapsed.removeprefix("P")
    days, _, time = text.partition("T") if "T" in text else (text, "", "")
    time = time.replace("H", " h ").replace("M", " min ").replace("S", " s ")
    return " ".join(f"{days.replace('D', ' d ')}{time}".split()) or "0 s"


def _header(doc: Document) -> Iterator[str]:
    yield "Human Approval Gate"
    transition = doc["transition"]
    if transition:
        yield f"Phase: {safe(transition['from'])} → {safe(transition['to'])}"
    yield f"Gate: {safe(doc['title'] or doc['gate'])} ({safe(doc['gate'])})"
    yield (
        f"Subject: {safe(doc['subject'])} → {safe(doc['target'])}, iteration {doc['iteration']},"
        f" work {_short(doc['work'])}"
    )
    yield f"Status: {doc['status']}" + _until(doc)
    for reason in doc["reasons"]:
        yield f"  {safe(reason)}"


def _until(doc: Document) -> str:
    if not doc["deadline"]:
        return ""
    left = doc["time_left"]
    waits = doc["status"] in _WAITING and left != "PT0S"
    return f", until {doc['deadline']}" + (f" ({spoken(left)} left)" if waits else "")


def _context(doc: Document) -> Iterator[str]:
    context = doc["context"]
    yield counted(context["artifact_count"], "artifact") + " created"
    yield counted(context["validation_errors"], "validation error")
    yield counted(context["warnings"], "warning")
    yield from findings_lines(doc["findings"])
    for run in doc["validated"]:
        yield (
            f"validated again by {safe(run['by'])} at {run['at']}:"
            f" {counted(run['errors'], 'error')}, {counted(run['warnings'], 'warning')}"
        )
    yield f"iteration {context['iteration']}, {spoken(context['time_elapsed'])} since it was opened"
    agent = f" for {safe(doc['agent'])}" if doc["agent"] else ""
    yield f"asked by {safe(doc['opened_by'])}{agent} at {doc['opened_at']}"
    if doc["summary"]:
        yield f"the asking side says: {safe(doc['summary'])}"
    if doc["waiting_for"] and doc["status"] in _WAITING:
        yield f"may approve: {', '.join(safe(person) for person in doc['waiting_for'])}"
    for warning in doc["warnings"]:
        yield f"note: {safe(warning)}"


def _deliverables(items: Sequence[Document]) -> Iterator[str]:
    """What went wrong comes first: errors, warnings, the rest."""
    for item in sorted(items, key=lambda item: list(_MARKS).index(item["status"])):
        errors = sum(row["level"] == "error" for row in item["findings"])
        warnings = len(item["findings"]) - errors
        counts = [counted(errors, "error")] if errors else []
        counts += [counted(warnings, "warning")] if warnings else []
        said = f" ({', '.join(counts)})" if counts else ""
        about = f"  {safe(item['description'])}" if item["description"] else ""
        yield f"  {_MARKS[item['status']]} {safe(item['path'])}{said}{about}"
        yield from (f"      {line}" for line in findings_lines(item["findings"]))
    if not items:
        yield "  (none)"


def findings_lines(rows: Sequence[Document]) -> Iterator[str]:
    """Findings with their lines, texts and reporters, which are said where they change."""
    before: list[str] = []
    for row in rows[:_FINDINGS_SHOWN]:
        line = f"line {row['line']}: " if row["line"] else ""
        by = "" if row["reported_by"] == before else f" (reported by {_people(row)})"
        before = row["reported_by"]
        yield f"{_MARKS[row['level']]} {line}{row['level']}: {safe(row['text'])}{by}"
    if len(rows) > _FINDINGS_SHOWN:
        yield f"and {len(rows) - _FINDINGS_SHOWN} more: --json has them all"


def _people(row: Document) -> str:
    return safe("; ".join(row["reported_by"]))


def _steps(steps: Sequence[str]) -> Iterator[str]:
    yield from (f"  - {safe(step)}" for step in steps)
    if not steps:
        yield "  - land the work"


def _decisions(decisions: Sequence[Document]) -> Iterator[str]:
    if not decisions:
        return
    yield "Decisions:"
    for one in decisions:
        who = safe(one["by"] or f"{one['name']}, whom nobody listed,")
        effect = "" if one["counts"] else f" (does not count: {safe(one['reason'])})"
        word = _WORDS.get(one["action"], f"{one['action']} of").format(one["iteration"])
        yield f"  {who} {word} at {one['at']}{effect}"
        yield from (
            f"      {line}" for line in safe(one["message"], multiline=True).split("\n") if line
        )
        for comment in one["comments"]:
            yield f"      {safe(comment['path'])}:{comment['line']}: {safe(comment['text'])}"
    yield ""


def _options(doc: Document) -> Iterator[str]:
    about = f"{doc['gate']} --subject {_shell(doc['subject'])}"
    look = (f"git diff {_short(doc['base'])} {_short(doc['work'])}", "show what is under review")
    again = (f"git gate open {about}", "put up the next iteration")
    back = (f"git gate retract {about}", "take your own decision back")
    waiting = [
        (f"git gate approve {about}", "approve and continue"),
        (f"git gate reject {about} -m TEXT", "reject and provide feedback"),
        look,
        (f"git gate skip {about} -m REASON", "skip this gate, with a reason"),
        (f"git gate quit {about}", "quit"),
    ]
    rows = {
        "open": waiting,
        "parked": waiting,
        "approved": [("git gate check", "say how it may land"), back, look],
        "skipped": [("git gate check", "say how it may land"), back, look],
        "rejected": [again, back, look],
        "expired": [again, look],
    }.get(doc["status"], [(f"git gate open {about}", "begin a new one")])
    rows.append((f"git gate log {about}", "show what happened"))
    size = max(width(command) for command, _ in rows)
    for command, meaning in rows:
        yield f"  {command}{' ' * (size - width(command))}  {meaning}"


def counted(number: int, thing: str) -> str:
    """`1 artifact`, `2 artifacts`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _short(oid: str | None) -> str:
    return oid[:12] if oid else "(nothing)"


def _shell(text: str) -> str:
    return safe(shlex.quote(text))
