"""What a decision says in trailers: the ones of which there may be many, and plain numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from gitgate.core.ids import is_oid
from gitgate.core.quoting import QUOTED, check_path, quote, quote_text, unquote, unquote_text

_DIGITS = "0|[1-9][0-9]{0,8}"
_NUMBER = re.compile(_DIGITS)
_REVIEWED = re.compile(rf"({QUOTED})( viewed)?( edited)?")
_COMMENT = re.compile(rf"({QUOTED}):({_DIGITS}) ({QUOTED})")
_CHOICE = re.compile(rf"({_DIGITS}) ({QUOTED})")
_DATA = re.compile(rf"([0-9a-f]{{40}}) ({QUOTED})")


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A deliverable of the request, and whether the signer opened or edited it."""

    path: bytes
    viewed: bool = False
    edited: bool = False

    def trailer(self) -> str:
        """The trailer's value, `"path" viewed edited`. ValueError for what has none."""
        return _path(self.path) + " viewed" * self.viewed + " edited" * self.edited

    @classmethod
    def read(cls, value: str) -> Self:
        """The inverse of `trailer`; ValueError for anything else."""
        match = _match(_REVIEWED, value)
        return cls(unquote(match[1]), bool(match[2]), bool(match[3]))


@dataclass(frozen=True, slots=True)
class Comment:
    """A remark on a line, counted from 1, of a file of the work commit; 0 is the whole file."""

    path: bytes
    line: int
    text: str

    def trailer(self) -> str:
        """The trailer's value, `"path":line "text"`. ValueError for what has none."""
        return f"{_path(self.path)}:{format_number(self.line)} {quote_text(self.text)}"

    @classmethod
    def read(cls, value: str) -> Self:
        """The inverse of `trailer`; ValueError for anything else."""
        match = _match(_COMMENT, value)
        return cls(unquote(match[1]), int(match[2]), unquote_text(match[3]))


@dataclass(frozen=True, slots=True)
class Choice:
    """An option that was chosen: its number, counted from 1, and its title as it was shown."""

    number: int
    title: str

    def trailer(self) -> str:
        """The trailer's value, `number "title"`. ValueError for what has none."""
        if self.number < 1:
            raise ValueError("options are counted from 1")
        return f"{format_number(self.number)} {quote_text(self.title)}"

    @classmethod
    def read(cls, value: str) -> Self:
        """The inverse of `trailer`; ValueError for anything else."""
        match = _match(_CHOICE, value)
        return cls(int(match[1]), unquote_text(match[2]))


@dataclass(frozen=True, slots=True)
class Data:
    """A file beside the record: the blob's id and the name that the signer gave it."""

    oid: str
    path: bytes

    def trailer(self) -> str:
        """The trailer's value, `oid "path"`. ValueError for what has none."""
        return f"{check_oid(self.oid)} {_path(self.path)}"

    @classmethod
    def read(cls, value: str) -> Self:
        """The inverse of `trailer`; ValueError for anything else."""
        match = _match(_DATA, value)
        return cls(match[1], unquote(match[2]))


def check_oid(text: str) -> str:
    """Give back an object id; ValueError where it is none."""
    if not is_oid(text):
        raise ValueError(f"{text[:80]!r} is no object id")
    return text


def format_number(value: int) -> str:
    """A number without leading zeros, below 10^9; ValueError where it is none."""
    if not 0 <= value < 10**9:
        raise ValueError(f"{value} is out of range")
    return str(int(value))


def read_number(value: str) -> int:
    """The inverse of `format_number`; ValueError for anything else."""
    return int(_match(_NUMBER, value)[0])


def _path(path: bytes) -> str:
    return quote(check_path(path))


def _match(pattern: re.Pattern[str], value: str) -> re.Match[str]:
    match = pattern.fullmatch(value)
    if not match:
        raise ValueError(f"found {value[:80]!r}")
    return match
