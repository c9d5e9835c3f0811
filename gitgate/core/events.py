"""The events of a ledger: a closed set, the fields of each, and a ledger commit's message.

The YAML of an event has neither its number nor its iteration, so that an event which is replayed
on another tip keeps its blob (design, section 3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple
from unicodedata import category

from gitgate.core import ids, yamltext
from gitgate.core.person import (
    Person,
    Stamp,
    format_person,
    format_time,
    parse_person,
    parse_time,
)
from gitgate.core.quoting import check_path, path_bytes, path_text
from gitgate.core.request import Finding, format_findings, read_findings
from gitgate.core.trailers import format_trailers, parse_trailers
from gitgate.core.yamltext import as_list, as_mapping, as_text
from gitgate.errors import GateError

MAX_EVENT = 1 << 20
"""Bytes of an event's YAML."""

MAX_NUMBER = 10**9


class EventName(StrEnum):
    """The seventeen events; the names on disk never change."""

    OPENED = "opened"
    ITERATED = "iterated"
    VALIDATED = "validated"
    ASKED = "asked"
    STARTED = "started"
    ESCALATED = "escalated"
    PARKED = "parked"
    DECIDED = "decided"
    CLAIMED = "claimed"
    RESUMED = "resumed"
    EXPIRED = "expired"
    STRIPPED = "stripped"
    COMPENSATED = "compensated"
    COMPLETED = "completed"
    TERMINATED = "terminated"
    LANDED = "landed"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `id` is the ledger commit, "" before it is written; `at` seconds since the epoch.

    `record` is the id of a signed tag object. `fields` has what only this event has: the table
    `FIELDS` says what, `docs/formats.md` what it means.
    """

    id: str
    number: int
    name: EventName
    at: int
    by: Person
    request: str | None = None
    record: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


class Located(NamedTuple):
    """A finding and the deliverable that it is about; None for the work as a whole."""

    path: bytes | None
    finding: Finding


class _Type(NamedTuple):
    """How a field is written to YAML and read back; both raise ValueError."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _oid(value: Any) -> str:
    if not isinstance(value, str) or not ids.is_oid(value):
        raise ValueError(f"expected an object id, found {value!r:.80}")
    return value


def _ref(value: Any) -> str:
    if not isinstance(value, str) or not ids.is_ref(value):
        raise ValueError(f"expected a full ref name, found {value!r:.80}")
    return value


def _count(value: Any) -> int:
    if type(value) is not int or not 1 <= value < MAX_NUMBER:
        raise ValueError(f"expected a number from 1 on, found {value!r:.80}")
    return value


def _status(value: Any) -> int:
    if type(value) is not int or not -255 <= value <= 255:
        raise ValueError(f"expected an exit status, found {value!r:.80}")
    return value


def _line(value: Any) -> str:
    text = as_text(value)
    if not text or text != text.strip() or any(category(one) == "Cc" for one in text):
        raise ValueError(f"expected a line of text, found {text[:80]!r}")
    return text


def _argv(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"expected a command's words, found {value!r:.80}")
    return tuple(as_text(word) for word in value)


def _write_located(value: Any) -> list[dict[str, Any]]:
    return [
        {
            "path": None if path is None else path_text(check_path(path)),
            **format_findings([finding])[0],
        }
        for path, finding in value
    ]


def _read_located(value: Any) -> tuple[Located, ...]:
    return tuple(_read_one(one) for one in as_list(value))


def _read_one(value: Any) -> Located:
    one = dict(as_mapping(value, ("path", "line", "level", "text", "reported_by")))
    path = one.pop("path")
    [finding] = read_findings([one])
    return Located(None if path is None else path_bytes(as_text(path)), finding)


_OID = _Type(_oid, _oid)
_REF = _Type(_ref, _ref)
_COUNT = _Type(_count, _count)
_STATUS = _Type(_status, _status)
_LINE = _Type(_line, _line)
_TEXT = _Type(as_text, as_text)
_TIME = _Type(format_time, lambda value: parse_time(as_text(value)))
_ARGV = _Type(lambda value: list(_argv(value)), _argv)
_FINDINGS = _Type(_write_located, _read_located)


class _Field(NamedTuple):
    """A field of an event; an optional one is left out where there is nothing to say."""

    type: _Type
    optional: bool = False


_REQUEST = {"request": _Field(_OID)}
_MAYBE_REQUEST = {"request": _Field(_OID, optional=True)}
_RECORD = {"record": _Field(_OID)}

# What stands in an event's YAML after `at` and `by`, in this order.
FIELDS: Mapping[EventName, Mapping[str, _Field]] = {
    EventName.OPENED: _REQUEST,
    EventName.ITERATED: _REQUEST,
    EventName.VALIDATED: {**_REQUEST, "findings": _Field(_FINDINGS)},
    EventName.ASKED: _REQUEST,
    EventName.STARTED: {"attempt": _Field(_COUNT), "input": _Field(_OID)},
    EventName.ESCALATED: _REQUEST,
    EventName.PARKED: _MAYBE_REQUEST,
    EventName.DECIDED: {**_REQUEST, **_RECORD},
    EventName.CLAIMED: {**_RECORD, "consumer": _Field(_LINE)},
    EventName.RESUMED: {**_RECORD, "consumer": _Field(_LINE)},
    EventName.EXPIRED: {**_REQUEST, "deadline": _Field(_TIME)},
    EventName.STRIPPED: _RECORD,
    EventName.COMPENSATED: {"command": _Field(_ARGV), "status": _Field(_STATUS)},
    EventName.COMPLETED: _MAYBE_REQUEST,
    EventName.TERMINATED: _MAYBE_REQUEST,
    EventName.LANDED: {
        **_REQUEST,
        "target": _Field(_REF),
        "old": _Field(_OID),
        "new": _Field(_OID),
    },
    EventName.WITHDRAWN: {**_MAYBE_REQUEST, "reason": _Field(_TEXT, optional=True)},
}

# What every such event says in the same words, for whoever reads the file itself.
_CONSTANT: Mapping[EventName, Mapping[str, str]] = {
    EventName.EXPIRED: {"action": "reject", "user": "(deadline)"},
}


def body(event: Event) -> bytes:
    """The bytes of the event's YAML. ValueError for an event that has no such form."""
    given = {
        **event.fields,
        **{
            name: value
            for name, value in (("request", event.request), ("record", event.record))
            if value is not None
        },
    }
    values: dict[str, Any] = {"at": format_time(event.at), "by": format_person(event.by)}
    for name, described in FIELDS[event.name].items():
        if name in given:
            values[name] = _named(name, described.type.write, given.pop(name))
        elif not described.optional:
            raise ValueError(f"the event `{event.name}` has no {name}")
    if given:
        raise ValueError(f"the event `{event.name}` has no field {sorted(given)[0]!r}")
    data = yamltext.dump({**values, **_CONSTANT.get(event.name, {})})
    if len(data) > MAX_EVENT:
        raise ValueError(f"the event is larger than {MAX_EVENT >> 20} MiB")
    return data


def parse_body(id: str, number: int, name: str, data: bytes) -> Event:  # noqa: A002
    """Read an event back from its YAML. ValueError, a sentence, for what is none."""
    event_name = EventName(name)
    values = yamltext.load(data, MAX_EVENT)
    at = parse_time(as_text(values.pop("at", None)))
    by = parse_person(as_text(values.pop("by", None)))
    for key, constant in _CONSTANT.get(event_name, {}).items():
        if values.pop(key, None) != constant:
            raise ValueError(f"the event `{name}` does not say {key}: {constant}")
    known = FIELDS[event_name]
    for key in values:
        if key not in known:
            raise ValueError(f"the event `{name}` has an unknown field {key[:80]!r}")
    read = {key: _named(key, known[key].type.read, value) for key, value in values.items()}
    request, record = read.pop("request", None), read.pop("record", None)
    event = Event(id, number, event_name, at, by, request, record, read)
    file_name(number, event_name)
    if body(event) != data:
        raise ValueError(f"the event `{name}` is not in its canonical form")
    return event


def _named(name: str, convert: Callable[[Any], Any], value: Any) -> Any:
    try:
        return convert(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from None


def file_name(number: int, name: EventName) -> bytes:
    """An event's file below `.aiwg/gates/<gate>/`: `0003-decided.yml`."""
    return f"{_prefix(number)}-{name.value}.yml".encode()


def record_name(number: int) -> bytes:
    """The signed record beside a `decided` event: `0003-decided.tag`."""
    return f"{_prefix(number)}-decided.tag".encode()


def data_folder(number: int) -> bytes:
    """The folder of a record's files, which are named by their numbers from 1: `0003-data`."""
    return f"{_prefix(number)}-data".encode()


def _prefix(number: int) -> str:
    if not 1 <= number < MAX_NUMBER:
        raise ValueError(f"no number of an event: {number}")
    return f"{number:04d}"


ROOT_STAMP = Stamp(Person("git-gate", "git-gate@git-gate.invalid"), 946_684_800)
"""Author and committer of every ledger's first commit."""


def root_message(gate: str, subject: str) -> str:
    """The message of a ledger's first commit, which has an empty tree and no parent."""
    return f"gate {gate}: {subject}\n"


STATUSES = frozenset(
    [
        "open",
        "approved",
        "rejected",
        "skipped",
        "expired",
        "withdrawn",
        "landed",
        "parked",
        "answered",
        "declined",
        "resolved",
        "completed",
        "terminated",
    ]
)
"""The statuses of an instance (design, section 3)."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a ledger commit says of its instance to those who only list; no verdict trusts it."""

    gate: str
    subject: str
    event: EventName
    number: int
    iteration: int
    status: str
    request: str | None = None


_TRAILERS = ("Gate", "Subject", "Event", "Number", "Iteration", "Status", "Request")


def summary_message(summary: Summary) -> str:
    """The message of a ledger commit. ValueError for a summary that has no such form."""
    try:
        ids.check_gate(summary.gate)
        ids.check_subject(summary.subject)
    except GateError as error:
        raise ValueError(error.message) from None
    if not 0 <= summary.iteration < MAX_NUMBER:
        raise ValueError(f"no iteration: {summary.iteration}")
    if summary.status not in STATUSES:
        raise ValueError(f"no status of an instance: {summary.status[:80]!r}")
    _prefix(summary.number)
    trailers = [
        ("Gate", summary.gate),
        ("Subject", summary.subject),
        ("Event", EventName(summary.event).value),
        ("Number", str(summary.number)),
        ("Iteration", str(summary.iteration)),
        ("Status", str(summary.status)),
    ]
    if summary.request is not None:
        trailers.append(("Request", _oid(summary.request)))
    first = f"{summary.gate} of {summary.subject}: {summary.event.value}"
    return f"{first}\n\n{format_trailers(trailers)}"


def parse_summary(message: str) -> Summary:
    """Read a summary back from a ledger commit's message. ValueError for what is none."""
    trailers = dict(parse_trailers(message))
    if tuple(trailers) not in (_TRAILERS, _TRAILERS[:-1]):
        raise ValueError("the message has not the trailers of a ledger commit")
    summary = Summary(
        trailers["Gate"],
        trailers["Subject"],
        EventName(trailers["Event"]),
        _read_number(trailers["Number"]),
        _read_number(trailers["Iteration"]),
        trailers["Status"],
        trailers.get("Request"),
    )
    if summary_message(summary) != message:
        raise ValueError("the message is not in its canonical form")
    return summary


def _read_number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise ValueError(f"not a number: {text[:80]!r}")
    return int(text)
