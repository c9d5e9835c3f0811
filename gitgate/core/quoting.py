"""Paths and texts in double quotes, escaped as git does with core.quotePath=true."""

from __future__ import annotations

import re

_LETTERS = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_BYTES = {letter: byte for byte, letter in _LETTERS.items()}
_ESCAPED = [
    f"\\{_LETTERS[byte]}"
    if byte in _LETTERS
    else chr(byte)
    if 0x20 <= byte < 0x7F
    else f"\\{byte:03o}"
    for byte in range(256)
]
_NOT_PLAIN = re.compile(r'[\x00-\x1f\x7f-\x9f"\\]')  # the first two ranges are category Cc
_ESCAPE = re.compile(r"\\([0-7]{3}|.)", re.DOTALL)

QUOTED = r'"(?:[^"\\]|\\.)*"'
"""A regular expression for one quoted text inside a line; `unquote` decides whether it is one."""


def quote(path: bytes) -> str:
    """`path` in double quotes, always, in ASCII. ValueError where it has a NUL."""
    if b"\0" in path:
        raise ValueError("a NUL byte cannot be quoted")
    return '"' + "".join([_ESCAPED[byte] for byte in path]) + '"'


def unquote(text: str) -> bytes:
    """The bytes that `quote` made `text` of. ValueError for anything that `quote` never writes."""
    if len(text) < 2 or not text.isascii():
        raise ValueError(f"not a quoted text: {text[:80]!r}")
    try:
        raw = _ESCAPE.sub(_unescape, text[1:-1]).encode("latin-1")
        same = quote(raw) == text
    except (KeyError, UnicodeEncodeError):
        same = False
    if not same:
        raise ValueError(f"not quoted as git quotes it: {text[:80]!r}")
    return raw


def _unescape(match: re.Match[str]) -> str:
    escape = match[1]
    return chr(int(escape, 8) if len(escape) == 3 else _BYTES[escape])


def quote_text(text: str) -> str:
    """Free text in double quotes, one line of ASCII. ValueError for NUL and lone surrogates."""
    return quote(text.encode())


def unquote_text(text: str) -> str:
    """The text that `quote_text` made `text` of; ValueError for anything else."""
    return unquote(text).decode()


def path_text(path: bytes) -> str:
    """A path for YAML and JSON: itself where it is plain text, else quoted."""
    try:
        text = path.decode()
    except UnicodeDecodeError:
        return quote(path)
    return text if _plain(text) else quote(path)


def path_bytes(text: str) -> bytes:
    """The path that `path_text` made `text` of; ValueError for anything else."""
    if _plain(text):
        return text.encode()
    path = unquote(text)
    if path_text(path) != text:
        raise ValueError(f"quoted without need: {text[:80]!r}")
    return path


def _plain(text: str) -> bool:
    return _NOT_PLAIN.search(text) is None


def check_path(path: bytes) -> bytes:
    """Give back a path that can stand in a git tree; ValueError where it cannot."""
    if b"\0" in path or any(part in (b"", b".", b"..") for part in path.split(b"/")):
        raise ValueError(f"not a path inside a tree: {path[:80]!r}")
    return path
