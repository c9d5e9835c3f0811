"""The decision log: one YAML document a decision, with the fields of the display rules
("Logging Requirements") and what finds the decision again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gitgate.core import yamltext
from gitgate.core.decision import Action, Comment, Decision, Reviewed
from gitgate.core.person import format_time
from gitgate.core.policy import Gate
from gitgate.core.quoting import path_text

DEADLINE = "(deadline)"
"""The user of an entry that nobody signed: the deadline rejected."""

_START = b"---\n"

# By what the log is ordered: time, record, then what tells two deadlines apart.
_Key = tuple[str, str, str, str]

_WORDS = {
    Action.REJECT: "feedback",
    Action.APPROVE: "comment",
    Action.SKIP: "reason",
    Action.QUIT: "reason",
    Action.RETRACT: "reason",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A decision for the log. `user` is the principal, "" where the signature names nobody;
    without a `decision` it is a deadline that passed at the time `at`."""

    gate: Gate
    subject: str
    iteration: int
    work: str
    at: int
    user: str
    signature: str
    record: str | None = None
    decision: Decision | None = None


def render(entries: Iterable[Entry]) -> bytes:
    """The log: a stream of documents in order of time, then of the record's id."""
    return b"".join(document(entry) for entry in sorted(entries, key=_key))


def place_of(entry: Entry, log: bytes) -> int:
    """Where the entry's document belongs in `log`: before those at its end that come after it.

    What cannot be read there (edited by hand, cut off) is left alone: the place is behind it.
    """
    place, key = len(log), _key(entry)
    while place:
        start = log.rfind(b"\n" + _START, 0, place) + 1
        found = _key_of(log[start:place])
        if found is None or found <= key:
            return place
        place = start
    return place


def _key(entry: Entry) -> _Key:
    return format_time(entry.at), entry.record or "", entry.subject, entry.gate.id


def _key_of(text: bytes) -> _Key | None:
    try:
        loaded = yamltext.load(text.removeprefix(_START), len(text))
        said = loaded["gate_decision"]
        key = (said["timestamp"], said["record"] or "", said["subject"], said["gate_id"])
    except (ValueError, KeyError, TypeError):
        return None
    return key if all(isinstance(part, str) for part in key) else None


def document(entry: Entry) -> bytes:
    """One document of the stream, `---` included."""
    return _START + yamltext.dump({"gate_decision": _fields(entry)})


def _fields(entry: Entry) -> dict[str, Any]:
    transition, decision = entry.gate.transition, entry.decision
    said = {"feedback": "", "reason": "", "comment": ""}
    if decision is not None:
        said[_WORDS.get(decision.action, "comment")] = decision.message
    return {
        "gate_id": entry.gate.id,
        "gate_name": entry.gate.title,
        "phase_transition": f"{transition.from_phase} → {transition.to_phase}"
        if transition
        else None,
        "action": decision.action.value if decision else Action.REJECT.value,
        "timestamp": format_time(entry.at),
        "user": entry.user if decision else DEADLINE,
        "feedback": said["feedback"],
        "artifacts_reviewed": [_reviewed(one) for one in decision.reviewed] if decision else [],
        "time_spent_seconds": decision.time_spent if decision else None,
        "reason": said["reason"],
        "comment": said["comment"],
        "subject": entry.subject,
        "iteration": entry.iteration,
        "work": entry.work,
        "record": entry.record,
        "via": decision.via.value if decision else None,
        "signature": entry.signature,
        "comments": [_comment(one) for one in decision.comments] if decision else [],
    }


def _reviewed(one: Reviewed) -> dict[str, Any]:
    return {"path": path_text(one.path), "viewed": one.viewed, "edited": one.edited}


def _comment(one: Comment) -> dict[str, Any]:
    return {"path": path_text(one.path), "line": one.line, "text": one.text}
