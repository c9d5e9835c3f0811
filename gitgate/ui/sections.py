"""The five sections of every gate display, as rows that each form of it draws in its own way.

Header, context, deliverables, next steps, options: the names and the order of the display rules.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitgate.core.policy import Options, Verbosity
from gitgate.ui.sanitise import safe, width

Document = Mapping[str, Any]

GLYPHS = {"error": "✗", "warning": "⚠", "validated": "✓"}
WAITING = ("open", "parked")

_WORDS = {
    "approve": "approved iteration {}",
    "reject": "rejected iteration {}",
    "skip": "skipped iteration {}",
    "quit": "quit at iteration {}",
    "retract": "took back their decision on iteration {}",
}
_FINDINGS_SHOWN = 20
_DELIVERABLES_SHOWN = 10
_STEPS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a section: `lead` begins it where marks are drawn, `mark` is the state it shows,
    `text` and `tail` are safe; `word` says the mark aloud where `text` does not."""

    text: str
    lead: str = ""
    mark: str = ""
    tail: str = ""
    word: str = ""
    slot: str = ""

    @property
    def begin(self) -> str:
        """What stands before the text where marks are drawn."""
        return f"{self.lead}{GLYPHS[self.mark]} " if self.mark else self.lead


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of the display; the header has no title."""

    title: str
    rows: tuple[Row, ...]


KEYS = {
    "a": "Approve and continue",
    "r": "Reject and provide feedback",
    "v": "View detailed artifact summary",
    "d": "Show diff from previous iteration",
    "e": "Edit specific artifact",
    "s": "Skip this gate (continue without approval)",
    "q": "Quit workflow",
}
"""The options of every gate, in the words of the display rules."""


SHORT = dict(zip(KEYS, ("approve", "reject", "view", "diff", "edit", "skip", "quit"), strict=True))
"""The same in a word."""


def offered(options: Options) -> list[str]:
    """The keys of `KEYS` that the policy does not hide."""
    hidden = {
        "e": not options.show_edit,
        "s": not options.show_skip,
        "d": not options.show_diff,
    }
    return [key for key in KEYS if not hidden.get(key, False)]


def sections(
    doc: Document, verbosity: Verbosity, options: Options, *, keys: bool
) -> tuple[Section, ...]:
    """All sections of one instance, decisions beside them; `keys`: the options are keys where the
    instance waits for somebody, else they are commands."""
    asked = keys and doc["status"] in WAITING
    offers = tuple(_keys(options)) if asked else tuple(_commands(doc, options))
    if verbosity is Verbosity.MINIMAL:
        return tuple(_minimal(doc, offers, options, asked=asked))
    detailed = verbosity is Verbosity.DETAILED
    return (
        Section("", tuple(_header(doc))),
        Section("Context:", tuple(_context(doc))),
        Section("Deliverables:", tuple(_deliverables(doc["deliverables"], detailed=detailed))),
        Section("Next Steps (if approved):", tuple(_steps(doc["next_steps"]))),
        *([Section("Decisions:", tuple(_decisions(doc)))] if doc["decisions"] else []),
        Section("Options:", offers),
    )


def _minimal(
    doc: Document, offers: Sequence[Row], options: Options, *, asked: bool
) -> Iterator[Section]:
    """A line for each section: counts, and what comes next."""
    name, *_ = _named(doc)
    reasons = "; ".join(safe(reason) for reason in doc["reasons"])
    why = f": {reasons}" if reasons else ""
    header = f"Human Approval Gate: {name}, {safe(doc['subject'])}, {doc['status']}{until(doc)}"
    yield Section("", (Row(header + why, slot="title"),))
    context = doc["context"]
    asked_by = f"iteration {context['iteration']} by {safe(doc['opened_by'])}"
    counts = f"{_counts(doc)}, {asked_by}, for {spoken(doc['waited'])}"
    told = f", {counted(len(doc['decisions']), 'decision')}" if doc["decisions"] else ""
    faults = f", {counted(len(doc['warnings']), 'note')}" if doc["warnings"] else ""
    yield Section("", (Row(f"Context: {counts}{told}{faults}"),))
    states = [one["status"] for one in doc["deliverables"]]
    found = [f"{states.count(state)} {state}" for state in GLYPHS if state in states]
    yield Section("", (Row(f"Deliverables: {', '.join(found) or '(none)'}"),))
    steps = [safe(step) for step in doc["next_steps"]] or ["land the work"]
    shown = "; ".join(steps[:_STEPS_SHOWN])
    more = f" and {len(steps) - _STEPS_SHOWN} more" if len(steps) > _STEPS_SHOWN else ""
    yield Section("", (Row(f"Next Steps (if approved): {shown}{more}"),))
    if asked:
        named = ", ".join(f"[{key}] {SHORT[key]}" for key in offered(options))
        yield Section("", (Row(f"Options: {named}"),))
    elif doc["status"] in WAITING:
        about = f"{doc['gate']} --subject {shell(doc['subject'])}"
        yield Section("", (Row(f"Options: git gate review {about}"),))
    else:
        yield Section("", (Row(f"Options: {offers[0].text}"),))


def _named(doc: Document) -> Iterator[str]:
    yield f"{safe(doc['title'] or doc['gate'])} ({safe(doc['gate'])})"


def _counts(doc: Document) -> str:
    context = doc["context"]
    return (
        f"{counted(context['artifact_count'], 'artifact')},"
        f" {counted(context['validation_errors'], 'validation error')},"
        f" {counted(context['warnings'], 'warning')}"
    )


def _header(doc: Document) -> Iterator[Row]:
    yield Row("Human Approval Gate", slot="title")
    transition = doc["transition"]
    if transition:
        yield Row(f"Phase: {safe(transition['from'])} → {safe(transition['to'])}")
    yield Row(f"Gate: {safe(doc['title'] or doc['gate'])} ({safe(doc['gate'])})", slot="title")
    yield Row(
        f"Subject: {safe(doc['subject'])} → {safe(doc['target'])}, iteration {doc['iteration']},"
        f" work {short(doc['work'])}"
    )
    slot = {"approved": "good", "rejected": "error", "expired": "error"}.get(doc["status"], "")
    yield Row(f"Status: {doc['status']}" + until(doc), slot=slot)
    for reason in doc["reasons"]:
        yield Row(safe(reason), lead="  ")


def until(doc: Document) -> str:
    """The deadline, and how long it is until then."""
    if not doc["deadline"]:
        return ""
    remains = left(doc)
    return f", until {doc['deadline']}" + (f" ({remains})" if remains else "")


def left(doc: Document) -> str:
    """How long it is until the deadline; "" without one, or when nothing waits for it."""
    waits = doc["deadline"] and doc["status"] in WAITING and doc["time_left"] != "PT0S"
    return f"{spoken(doc['time_left'])} left" if waits else ""


def _context(doc: Document) -> Iterator[Row]:
    context = doc["context"]
    yield _fact(counted(context["artifact_count"], "artifact") + " created")
    errors, warnings = context["validation_errors"], context["warnings"]
    yield _fact(counted(errors, "validation error"), slot="error" if errors else "")
    yield _fact(counted(warnings, "warning"), slot="warning" if warnings else "")
    yield from _findings(doc["findings"], "  • ")
    for run in doc["validated"]:
        yield _fact(
            f"validated again by {safe(run['by'])} at {run['at']}:"
            f" {counted(run['errors'], 'error')}, {counted(run['warnings'], 'warning')}"
        )
    if doc["transition"] and context["time_elapsed"] != doc["waited"]:
        phase = safe(doc["transition"]["from"])
        yield _fact(f"{spoken(context['time_elapsed'])} in phase {phase}")
    yield _fact(f"iteration {context['iteration']}, {spoken(doc['waited'])} since it was opened")
    agent = f" for {safe(doc['agent'])}" if doc["agent"] else ""
    yield _fact(f"asked by {safe(doc['opened_by'])}{agent} at {doc['opened_at']}")
    if doc["reviewer_edit"]:
        yield _fact(_edited(doc["reviewer_edit"]))
    if doc["summary"]:
        yield _fact(f"the asking side says: {safe(doc['summary'])}")
    if doc["waiting_for"] and doc["status"] in WAITING:
        yield _fact(f"may approve: {', '.join(safe(person) for person in doc['waiting_for'])}")
    for warning in doc["warnings"]:
        yield _fact(f"note: {safe(warning)}", slot="warning")


def _edited(edit: Document) -> str:
    """A reviewer's edit, and what shows that it is one."""
    did = f"{safe(edit['by'])} edited {safe(edit['path'])} in review"
    if edit["signed"]:
        return f"the reviewer's own change: {did}, commit {short(edit['commit'])}, signed by them"
    return f"said to be a reviewer's: {did}, commit {short(edit['commit'])}, which is not signed"


def _fact(text: str, slot: str = "") -> Row:
    return Row(text, lead="  • ", slot=slot)


def by_severity(items: Sequence[Document]) -> list[Document]:
    """What went wrong comes first: errors, warnings, the rest."""
    return sorted(items, key=lambda item: list(GLYPHS).index(item["status"]))


def _deliverables(items: Sequence[Document], *, detailed: bool) -> Iterator[Row]:
    shown = by_severity(items)[: None if detailed else _DELIVERABLES_SHOWN]
    for item in shown:
        errors = sum(row["level"] == "error" for row in item["findings"])
        warnings = len(item["findings"]) - errors
        counts = [counted(errors, "error")] if errors else []
        counts += [counted(warnings, "warning")] if warnings else []
        said = f" ({', '.join(counts)})" if counts else ""
        about = safe(item["description"]) if detailed else ""
        state = item["status"]
        yield Row(safe(item["path"]) + said, "  ", state, about, word=state)
        yield from _findings(item["findings"], "      ")
    if not items:
        yield Row("(none)", lead="  ")
    if len(shown) < len(items):
        yield Row(f"and {len(items) - len(shown)} more", lead="  ")


def _findings(rows: Sequence[Document], lead: str) -> Iterator[Row]:
    """Findings with their lines, texts and reporters, which are said where they change."""
    before: list[str] = []
    for row in rows[:_FINDINGS_SHOWN]:
        line = f"line {row['line']}: " if row["line"] else ""
        by = "" if row["reported_by"] == before else f" (reported by {_people(row)})"
        before = row["reported_by"]
        text = f"{line}{row['level']}: {safe(row['text'])}{by}"
        yield Row(text, lead, row["level"])
    if len(rows) > _FINDINGS_SHOWN:
        yield Row(f"and {len(rows) - _FINDINGS_SHOWN} more: --json has them all", lead)


def _people(row: Document) -> str:
    return safe("; ".join(row["reported_by"]))


def _steps(steps: Sequence[str]) -> Iterator[Row]:
    for step in steps or ("land the work",):
        yield Row(safe(step), lead="  - ")


def _decisions(doc: Document) -> Iterator[Row]:
    for one in doc["decisions"]:
        who = safe(one["by"] or f"{one['name']}, whom nobody listed,")
        effect = "" if one["counts"] else f" (does not count: {safe(one['reason'])})"
        word = _WORDS.get(one["action"], f"{one['action']} of").format(one["iteration"])
        yield Row(f"{who} {word} at {one['at']}{effect}", lead="  ")
        for line in safe(one["message"], multiline=True).split("\n"):
            if line:
                yield Row(line, lead="      ")
        for comment in one["comments"]:
            said = f"{safe(comment['path'])}:{comment['line']}: {safe(comment['text'])}"
            yield Row(said, lead="      ")


def _keys(options: Options) -> Iterator[Row]:
    for key in offered(options):
        yield Row(KEYS[key], lead=f"  [{key}] ", word=key, slot="key")


def _commands(doc: Document, options: Options) -> Iterator[Row]:
    about = f"{doc['gate']} --subject {shell(doc['subject'])}"
    look = (f"git gate diff {about} 0..{doc['iteration']}", "show what is under review")
    land = (f"git gate land {about}", "land it")
    check = ("git gate check", "say how it may land")
    again = (f"git gate open {about}", "put up the next iteration")
    back = (f"git gate retract {about}", "take your own decision back")
    waiting = [
        (f"git gate review {about}", "read it and decide, at a terminal"),
        (f"git gate approve {about}", "approve and continue"),
        (f"git gate reject {about} -m TEXT", "reject and provide feedback"),
        look,
        (f"git gate skip {about} -m REASON", "skip this gate, with a reason"),
        (f"git gate quit {about}", "quit"),
    ]
    rows = {
        "open": waiting,
        "parked": waiting,
        "approved": [land, check, back, look],
        "skipped": [land, check, back, look],
        "rejected": [again, back, look],
        "expired": [again, look],
    }.get(doc["status"], [(f"git gate open {about}", "begin a new one")])
    rows.append((f"git gate log {about}", "show what happened"))
    rows = [
        row
        for row in rows
        if (options.show_diff or row is not look)
        and (options.show_skip or not row[0].startswith("git gate skip "))
    ]
    size = max(width(command) for command, _ in rows)
    for command, meaning in rows:
        yield Row(command, "  ", tail=" " * (size - width(command)) + meaning, word=meaning)


def spoken(elapsed: str) -> str:
    """An ISO 8601 duration as people say it: `PT2H14M` is `2 h 14 min`."""
    text = elapsed.removeprefix("P")
    days, _, time = text.partition("T") if "T" in text else (text, "", "")
    time = time.replace("H", " h ").replace("M", " min ").replace("S", " s ")
    return " ".join(f"{days.replace('D', ' d ')}{time}".split()) or "0 s"


def counted(number: int, thing: str) -> str:
    """`1 artifact`, `2 artifacts`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def short(oid: str | None) -> str:
    """The first digits of an object id."""
    return oid[:12] if oid else "(nothing)"


def shell(text: str) -> str:
    """`text` as a word for a shell, safe to print."""
    return safe(shlex.quote(text))
