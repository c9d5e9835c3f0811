"""An artifact in one line: its first heading, else its first line with text."""

from __future__ import annotations

import re

LOOKED_AT = 16 * 1024
"""Bytes of an artifact that are read for its description."""

_LONGEST = 100
_ADORNMENT = re.compile(r"^[=\-~^\"'#*+.:_`]{3,}$")
_MARKS = re.compile(r"^(?:#{1,6}|=+|//+|--|/\*+|<!--|\"{3}|;+|%+|\*+)\s*|\s*(?:#+|\*/|-->|\"{3})$")


def describe(content: bytes) -> str:
    """The first heading or line of `content` (its first 16 KiB suffice); "" for binary data."""
    if b"\0" in content:
        return ""
    lines = [line.strip() for line in content.decode("utf-8", "replace").split("\n")]
    for line in _after_front_matter(lines):
        text = " ".join(_MARKS.sub("", line).split())
        if text and not line.startswith("#!") and not _ADORNMENT.match(line):
            return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return ""


def _after_front_matter(lines: list[str]) -> list[str]:
    if lines[:1] == ["---"] and "---" in lines[1:]:
        return lines[lines.index("---", 1) + 1 :]
    return lines
