"""Git trailers, the strict form that is written here: the last paragraph, one line each."""

from __future__ import annotations

import re
from collections.abc import Sequence

_KEY = re.compile(r"[A-Z][A-Za-z]*(?:-[A-Z][A-Za-z]*)*")


def format_trailers(pairs: Sequence[tuple[str, str]]) -> str:
    """The lines `Key: value`, in this order.

    ValueError where a value is empty, has a newline, a NUL or no UTF-8, or begins or ends with a
    blank.
    """
    for key, value in pairs:
        if not _KEY.fullmatch(key):
            raise ValueError(f"{key[:80]!r} is no trailer's name")
        if not _is_value(value):
            raise ValueError(f"{value[:80]!r} cannot be the value of the trailer {key}")
    return "".join(f"{key}: {value}\n" for key, value in pairs)


def parse_trailers(message: str) -> list[tuple[str, str]]:
    """The trailers of a message, whose last paragraph is trailers and nothing else.

    Lines end at "\\n" only. ValueError for a message of one paragraph, and where the last one
    has anything but `Key: value`, each ended by a newline.
    """
    _, blank, paragraph = message.rpartition("\n\n")
    if not blank or not paragraph.endswith("\n"):
        raise ValueError("the message does not end in a paragraph of trailers")
    return [_pair(line) for line in paragraph[:-1].split("\n")]


def _pair(line: str) -> tuple[str, str]:
    key, colon, value = line.partition(": ")
    if not colon or not _KEY.fullmatch(key) or not _is_value(value):
        raise ValueError(f"not a trailer: {line[:80]!r}")
    return key, value


def _is_value(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return bool(value) and value == value.strip(" \t\r") and not {"\n", "\0"} & set(value)
