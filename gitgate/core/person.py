"""People and moments as git writes them in a header: `Name <email> seconds +hhmm`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

MAX_TIME = 253_402_300_799
"""The last second of the year 9999: later times have no RFC 3339 form."""

_PERSON = re.compile(r"([^<>\n\0]+) <([^<>\n\0]*)>")
_TIME = re.compile(r"0|[1-9][0-9]{0,11}")
_OFFSET = re.compile(r"[+-](?:[01][0-9]|2[0-3])[0-5][0-9]")
_MOMENT = re.compile(r"[ \t]*([0-9]{1,12})[ \t]+([+-][0-9]{4})[ \t\r]*")
_RFC3339 = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


@dataclass(frozen=True, slots=True)
class Person:
    """A name and an address; the text form is `Name <email>`."""

    name: str
    email: str

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>"


@dataclass(frozen=True, slots=True)
class Stamp:
    """Who and when: `time` in seconds since the epoch, `offset` of the clock on the wall."""

    person: Person
    time: int
    offset: str = "+0000"


def format_person(person: Person) -> str:
    """`Name <email>`; ValueError where git would not write that person so."""
    text = str(person)
    if parse_person(text) != person:
        raise ValueError(f"not a person as git writes one: {text[:80]!r}")
    return text


def parse_person(text: str) -> Person:
    """The person of `Name <email>`; ValueError for anything that `format_person` never writes.

    A name is not empty, neither part has `<`, `>`, a newline or a NUL, nor a blank or a control
    character at its edges (git trims those from an identity).
    """
    match = _PERSON.fullmatch(text)
    if not match or not (_trimmed(match[1]) and _trimmed(match[2])):
        raise ValueError(f"not a person as git writes one: {text[:80]!r}")
    return Person(match[1], match[2])


def _trimmed(text: str) -> bool:
    return not text or (text[0] > " " and text[-1] > " ")


def format_stamp(stamp: Stamp) -> str:
    """The text of a git header; ValueError where git would not write it so."""
    time = str(stamp.time)
    if not _is_time(time) or not _OFFSET.fullmatch(stamp.offset):
        raise ValueError(f"not a time as git writes one: {time} {stamp.offset[:80]!r}")
    return f"{format_person(stamp.person)} {time} {stamp.offset}"


def parse_stamp(text: str) -> Stamp:
    """The stamp of a header; ValueError for anything that `format_stamp` never writes."""
    person, time, offset = [*text.rsplit(" ", 2), "", ""][:3]
    if not _is_time(time) or not _OFFSET.fullmatch(offset):
        raise ValueError(f"not a name, an address and a time: {text[:80]!r}")
    return Stamp(parse_person(person), int(time), offset)


def _is_time(text: str) -> bool:
    return _TIME.fullmatch(text) is not None and int(text) <= MAX_TIME


def read_stamp(text: str) -> Stamp:
    """The stamp of a commit that anybody may have written, read as git reads it.

    The address is what stands in the first `<>`, the time what follows the last `>`; a missing
    time is the epoch. ValueError where there is no address.
    """
    start = text.find("<")
    end = text.find(">", start + 1)
    if start < 0 or end < 0:
        raise ValueError(f"no address in {text[:80]!r}")
    person = Person(text[:start].strip(" \t\r"), text[start + 1 : end].strip(" \t\r"))
    moment = _MOMENT.fullmatch(text[text.rindex(">") + 1 :])
    if not moment or int(moment[1]) > MAX_TIME:
        return Stamp(person, 0)
    offset = moment[2] if _OFFSET.fullmatch(moment[2]) else "+0000"
    return Stamp(person, int(moment[1]), offset)


def format_time(seconds: int) -> str:
    """Seconds since the epoch as RFC 3339 in UTC, `2025-12-01T09:40:00Z`.

    ValueError before 1970 and after 9999.
    """
    if not 0 <= seconds <= MAX_TIME:
        raise ValueError(f"no such time: {seconds}")
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: str) -> int:
    """The inverse of `format_time`; ValueError for any other spelling."""
    if not _RFC3339.fullmatch(text):
        raise ValueError(f"not a time of the form 2025-12-01T09:40:00Z: {text[:80]!r}")
    seconds = int(datetime.fromisoformat(text).timestamp())
    if format_time(seconds) != text:
        raise ValueError(f"no such time: {text!r}")
    return seconds
