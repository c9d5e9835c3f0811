"""A decision is a signed git tag object: its payload, its record, and how a record is read.

To the byte as design, section 4, has it. Reading is strict by writing: what `payload` would not
write in the same bytes is no record.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from gitgate.core import ids
from gitgate.core.armor import Defect, DefectKind, Format, check_armor
from gitgate.core.notetext import split_note
from gitgate.core.person import Stamp, format_stamp, parse_stamp
from gitgate.core.remarks import (
    Choice,
    Comment,
    Data,
    Reviewed,
    check_oid,
    format_number,
    read_number,
)
from gitgate.core.trailers import format_trailers, parse_trailers

__all__ = [
    "MAX_RECORD",
    "Action",
    "Choice",
    "Comment",
    "Data",
    "Decision",
    "Defect",
    "DefectKind",
    "Format",
    "Record",
    "Reviewed",
    "Via",
    "assemble",
    "normalise",
    "parse",
    "payload",
    "split_note",
    "title_of",
]

MAX_RECORD = 1 << 20
"""Bytes of a whole record."""


class Action(StrEnum):
    """What a person may answer; the names on disk never change."""

    APPROVE = "approve"
    REJECT = "reject"
    SKIP = "skip"
    QUIT = "quit"
    RETRACT = "retract"
    DATA = "data"
    INSTRUCTION = "instruction"
    GAP_ACCEPTANCE = "gap-acceptance"
    CHOOSE = "choose"
    FREEFORM = "freeform"
    DECLINE = "decline"
    DELEGATE = "delegate"
    ACKNOWLEDGE = "acknowledge"


class Via(StrEnum):
    """Where a person decided."""

    TERMINAL = "terminal"
    SESSION = "session"
    FORGE = "forge"


@dataclass(frozen=True, slots=True)
class Decision:
    """What is signed. `message` is free text as `normalise` gives it, "" for none."""

    request: str
    tag: str
    tagger: Stamp
    action: Action
    title: str
    message: str
    via: Via
    time_spent: int | None = None
    on_behalf_of: str | None = None
    reviewed: tuple[Reviewed, ...] = ()
    comments: tuple[Comment, ...] = ()
    choices: tuple[Choice, ...] = ()
    data: tuple[Data, ...] = ()
    previous: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A decision as it is stored. `raw` is `payload` and `armor`; `id` is the tag object's."""

    id: str
    raw: bytes
    payload: bytes
    armor: bytes
    format: Format
    decision: Decision


_TITLES = {
    Action.APPROVE: "Approve",
    Action.REJECT: "Reject",
    Action.SKIP: "Skip",
    Action.QUIT: "Quit",
    Action.RETRACT: "Retract the decision on",
    Action.DATA: "Provide data for",
    Action.INSTRUCTION: "Instruct",
    Action.GAP_ACCEPTANCE: "Accept the gap in",
    Action.CHOOSE: "Choose in",
    Action.FREEFORM: "Answer",
    Action.DECLINE: "Decline",
    Action.DELEGATE: "Delegate",
    Action.ACKNOWLEDGE: "Acknowledge",
}


def title_of(action: Action, gate: str, subject: str) -> str:
    """The first line of a decision, `Reject elaboration of feature/login`."""
    return f"{_TITLES[action]} {gate} of {subject}"


_BEGIN = b"-----BEGIN "
_ARMOR_LIKE = ("-----BEGIN ", "-----END ")


def normalise(text: str) -> str:
    """Free text as it may stand in a decision, without a final newline; "" where nothing is left.

    CRLF and CR are line ends, blanks at the end of a line go, as do empty lines at both ends, and
    one empty line is left of several: `git stripspace` changes nothing any more. A line that
    begins like an armor's first or last is indented by a blank. ValueError for NUL and for what
    has no UTF-8.
    """
    if "\0" in text:
        raise ValueError("the text has a NUL character")
    text.encode()
    lines: list[str] = []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        kept = line.rstrip(" \t")
        if kept.startswith(_ARMOR_LIKE):
            kept = " " + kept
        if kept or (lines and lines[-1]):
            lines.append(kept)
    return "\n".join(lines).removesuffix("\n")


def payload(decision: Decision) -> bytes:
    """The bytes that are signed, which `git mktag` takes and `git stripspace` leaves as they are.

    Raises Defect (a ValueError) for a decision that has no such form.
    """
    _check(decision)
    header = (
        f"object {decision.request}\ntype commit\ntag {decision.tag}\n"
        f"tagger {format_stamp(decision.tagger)}\n"
    )
    parts = [decision.title, decision.message] if decision.message else [decision.title]
    body = "\n\n".join([*parts, _trailers(decision)])
    return f"{header}\n{body}".encode()


def _check(decision: Decision) -> None:
    if not ids.is_oid(decision.request) or not ids.is_tag_name(decision.tag):
        raise Defect(DefectKind.HEADER, "the record's object or tag header is not of its form")
    try:
        format_stamp(decision.tagger).encode()
    except ValueError as error:
        raise Defect(DefectKind.HEADER, f"the record's tagger is {error}") from None
    _check_text("title", decision.title, required=True, lines=False)
    _check_text("message", decision.message, required=False, lines=True)
    if decision.on_behalf_of is not None:
        _check_text("On-Behalf-Of", decision.on_behalf_of, required=True, lines=False)
    for name, values in (
        ("Reviewed", [one.path for one in decision.reviewed]),
        ("Choice", [one.number for one in decision.choices]),
        ("Data", [one.path for one in decision.data]),
        ("Previous", list(decision.previous)),
    ):
        if len(set(values)) != len(values):
            raise Defect(DefectKind.TRAILER_TWICE, f"the record has one {name} trailer twice")
    if decision.action is Action.CHOOSE and not decision.choices:
        raise Defect(DefectKind.TRAILER_MISSING, "the record chooses nothing")
    if decision.action is Action.DATA and not decision.data:
        raise Defect(DefectKind.TRAILER_MISSING, "the record provides no data")
    if decision.action is not Action.CHOOSE and decision.choices:
        raise Defect(DefectKind.TRAILER_VALUE, f"a record that says {decision.action} has a Choice")


def _check_text(name: str, text: str, *, required: bool, lines: bool) -> None:
    try:
        plain = normalise(text) == text
    except ValueError as error:
        raise Defect(DefectKind.ENCODING, f"the record's {name}: {error}") from None
    if not plain or (not lines and "\n" in text) or (required and not text):
        raise Defect(DefectKind.NOT_CANONICAL, f"the record's {name} is not in its canonical form")


def _trailers(decision: Decision) -> str:
    """The last paragraph: the trailers in their fixed order."""
    pairs = [("Action", decision.action.value), ("Via", decision.via.value)]
    try:
        pairs += [("Reviewed", one.trailer()) for one in decision.reviewed]
        pairs += [("Comment", one.trailer()) for one in decision.comments]
        pairs += [("Choice", one.trailer()) for one in decision.choices]
        pairs += [("Data", one.trailer()) for one in decision.data]
        if decision.time_spent is not None:
            pairs.append(("Time-Spent", format_number(decision.time_spent)))
        if decision.on_behalf_of is not None:
            pairs.append(("On-Behalf-Of", decision.on_behalf_of))
        pairs += [("Previous", check_oid(one)) for one in decision.previous]
        return format_trailers(pairs)
    except ValueError as error:
        raise Defect(DefectKind.TRAILER_VALUE, f"the record cannot say: {error}") from None


def assemble(payload: bytes, armor: bytes) -> bytes:
    """The stored form of a signed payload; Defect where it could not be read back."""
    return parse(payload + armor).raw


def parse(raw: bytes, *, tag: str | None = None, request: str | None = None) -> Record:
    """Read one record; with `tag` and `request` also that it belongs there.

    Says nothing of the signature but that its armor is canonical. Raises Defect.
    """
    if len(raw) > MAX_RECORD:
        raise Defect(DefectKind.TOO_LARGE, f"the record is larger than {MAX_RECORD >> 20} MiB")
    start = 0 if raw.startswith(_BEGIN) else raw.find(b"\n" + _BEGIN) + 1
    if not start and not raw.startswith(_BEGIN):
        raise Defect(DefectKind.NO_ARMOR, "the record is not signed")
    signed, armor = raw[:start], raw[start:]
    kind = check_armor(armor)
    try:
        text = signed.decode()
    except UnicodeDecodeError:
        raise Defect(DefectKind.ENCODING, "the record is not valid UTF-8") from None
    decision = _read(text)
    if payload(decision) != signed:
        raise Defect(DefectKind.NOT_CANONICAL, "the record is not in its canonical form")
    if tag is not None and decision.tag != tag:
        raise Defect(DefectKind.WRONG_TAG, f"the record was signed for {decision.tag}, not {tag}")
    if request is not None and decision.request != request:
        sentence = f"the record was signed for request {decision.request}, not {request}"
        raise Defect(DefectKind.WRONG_OBJECT, sentence)
    return Record(_tag_id(raw), raw, signed, armor, kind, decision)


def _tag_id(raw: bytes) -> str:
    return hashlib.sha1(b"tag %d\0" % len(raw) + raw, usedforsecurity=False).hexdigest()


_HEADER = re.compile(r"object ([^\n]+)\ntype commit\ntag ([^\n]+)\ntagger ([^\n]+)\n\n")


def _read(text: str) -> Decision:
    header = _HEADER.match(text)
    if not header:
        raise Defect(DefectKind.HEADER, "the record does not begin with the header of a tag")
    try:
        tagger = parse_stamp(header[3])
    except ValueError as error:
        raise Defect(DefectKind.HEADER, f"the record's tagger is {error}") from None
    title, _, rest = text[header.end() :].partition("\n\n")
    message, _, _ = rest.rpartition("\n\n")
    found = _read_trailers(text[header.end() :])
    return Decision(
        header[1],
        header[2],
        tagger,
        title=title,
        message=message,
        action=_single(found, "Action", Action),
        via=_single(found, "Via", Via),
        time_spent=_optional(found, "Time-Spent", read_number),
        on_behalf_of=_optional(found, "On-Behalf-Of", str),
        reviewed=_several(found, "Reviewed", Reviewed.read),
        comments=_several(found, "Comment", Comment.read),
        choices=_several(found, "Choice", Choice.read),
        data=_several(found, "Data", Data.read),
        previous=_several(found, "Previous", check_oid),
    )


_ONCE = ("Action", "Via", "Time-Spent", "On-Behalf-Of")
_REPEATED = ("Reviewed", "Comment", "Choice", "Data", "Previous")
_NAMES = frozenset(_ONCE + _REPEATED)


def _read_trailers(body: str) -> dict[str, list[str]]:
    try:
        pairs = parse_trailers(body)
    except ValueError as error:
        raise Defect(DefectKind.TRAILER_UNKNOWN, f"the record's last paragraph: {error}") from None
    found: dict[str, list[str]] = {name: [] for name in _NAMES}
    for key, value in pairs:
        if key not in found:
            raise Defect(DefectKind.TRAILER_UNKNOWN, f"the record has an unknown trailer {key!r}")
        found[key].append(value)
    for name in _ONCE:
        if len(found[name]) > 1:
            raise Defect(DefectKind.TRAILER_TWICE, f"the record has the trailer {name} twice")
    return found


_T = TypeVar("_T")


def _single(found: dict[str, list[str]], name: str, read: Callable[[str], _T]) -> _T:
    value = _optional(found, name, read)
    if value is None:
        raise Defect(DefectKind.TRAILER_MISSING, f"the record has no trailer {name}")
    return value


def _optional(found: dict[str, list[str]], name: str, read: Callable[[str], _T]) -> _T | None:
    values = _several(found, name, read)
    return values[0] if values else None


def _several(found: dict[str, list[str]], name: str, read: Callable[[str], _T]) -> tuple[_T, ...]:
    try:
        return tuple([read(value) for value in found[name]])
    except ValueError as error:
        sentence = f"the record's trailer {name} is not of its form: {error}"
        raise Defect(DefectKind.TRAILER_VALUE, sentence) from None
