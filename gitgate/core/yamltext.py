"""The YAML of ledgers: one value has exactly one spelling.

Block style, two blanks a level, every string in double quotes, keys plain; integers, booleans
and null. What is read must be what would be written, byte for byte: no aliases, tags, comments,
duplicate keys or guessed types can hide in it, and no library's idea of layout is part of a format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

_T = TypeVar("_T")

MAX_DEPTH = 20
MAX_NODES = 500_000

_KEY = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_NOT_KEYS = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n"])
_NOT_OURS = "not the YAML that git-gate writes"
_SCALARS = frozenset([str, int, bool, type(None)])
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")

# Controls, quotes, line breaks of YAML, and what is invisible or turns the direction of writing.
# A fixed list: `str.isprintable` follows the Unicode version of the Python that runs.
_ESCAPED = re.compile(
    '[\\x00-\\x1f"\\\\\\x7f-\\xa0\\xad\\u061c\\u180e\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f'
    "\\ufeff\\ufff0-\\uffff\\U000e0000-\\U000e0fff]"
)
_LETTERS = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def dump(value: Mapping[str, Any]) -> bytes:
    """The one spelling of a mapping of strings, integers, booleans, None, lists and mappings.

    ValueError for anything else, for keys other than `lower_case`, for lone surrogates, for more
    than MAX_DEPTH levels.
    """
    lines: list[str] = []
    _block(value, 0, lines)
    return "".join(lines).encode()


def _block(value: Any, depth: int, lines: list[str]) -> None:
    """Add the lines of a filled mapping or sequence at its indentation."""
    if depth >= MAX_DEPTH:
        raise ValueError(f"more than {MAX_DEPTH} levels")
    pad = "  " * depth
    if isinstance(value, Mapping):
        for key, item in value.items():
            _item(f"{pad}{_key(key)}:", item, depth, lines)
    else:
        lead = f"{pad}-"
        for item in value:
            _item(lead, item, depth, lines)


def _item(lead: str, item: Any, depth: int, lines: list[str]) -> None:
    if type(item) in _SCALARS or not _is_container(item):
        lines.append(f"{lead} {_scalar(item)}\n")
    elif not item:
        lines.append(f"{lead} {'{}' if isinstance(item, Mapping) else '[]'}\n")
    elif lead.endswith("-"):
        first = len(lines)
        _block(item, depth + 1, lines)
        lines[first] = f"{lead} {lines[first][len(lead) + 1 :]}"
    else:
        lines.append(f"{lead}\n")
        _block(item, depth + 1, lines)


def _is_container(value: Any) -> bool:
    return isinstance(value, Mapping | Sequence) and not isinstance(value, str | bytes)


@lru_cache(maxsize=256)
def _key(key: Any) -> str:
    if not isinstance(key, str) or not _KEY.fullmatch(key) or key in _NOT_KEYS:
        raise ValueError(f"{key!r} is no key")
    return key


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return f'"{_ESCAPED.sub(_escape, value)}"'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and _INTEGER.fullmatch(str(value)):
        return str(int(value))
    raise ValueError(f"{value!r:.80} has no form in YAML")


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _LETTERS:
        return _LETTERS[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def load(data: bytes, limit: int) -> dict[str, Any]:
    """The mapping that `dump` spells so; `limit` in bytes. ValueError for anything else."""
    value = load_unchecked(data, limit)
    if dump(value) != data:
        raise ValueError(_NOT_OURS)
    return value


def load_unchecked(data: bytes, limit: int) -> dict[str, Any]:
    """As `load`, for whoever compares the bytes with what it would itself have written."""
    if len(data) > limit:
        raise ValueError(f"larger than {limit} bytes")
    value = _parse(data)
    if not isinstance(value, dict):
        raise ValueError(_NOT_OURS)  # noqa: TRY004 - it is input
    return value


def _parse(data: bytes) -> Any:
    import yaml

    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(data.decode())
        try:
            return _Builder(loader.get_event).document()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise ValueError(f"not YAML: {str(error).splitlines()[0]}") from None


class _Builder:
    """Values out of the parser's events: nothing is resolved, constructed or repeated."""

    def __init__(self, next_event: Callable[[], Any]) -> None:
        self._next = next_event
        self._nodes = 0

    def document(self) -> Any:
        event = self._next()
        while _kind(event) in ("StreamStartEvent", "DocumentStartEvent"):
            event = self._next()
        if _kind(event) == "StreamEndEvent":
            raise ValueError("an empty file")
        return self._value(event, 0)

    def _value(self, event: Any, depth: int) -> Any:
        self._nodes += 1
        if depth > MAX_DEPTH or self._nodes > MAX_NODES:
            raise ValueError(f"more than {MAX_DEPTH} levels or {MAX_NODES} values")
        kind = _kind(event)
        if kind == "ScalarEvent":
            return event.value if event.style == '"' else _constant(event.value)
        if kind == "MappingStartEvent":
            mapping: dict[str, Any] = {}
            while _kind(key := self._next()) != "MappingEndEvent":
                mapping[_key(getattr(key, "value", None))] = self._value(self._next(), depth + 1)
            return mapping
        if kind == "SequenceStartEvent":
            items: list[Any] = []
            while _kind(item := self._next()) != "SequenceEndEvent":
                items.append(self._value(item, depth + 1))
            return items
        raise ValueError("an alias")


def _kind(event: Any) -> str:
    return type(event).__name__


_CONSTANTS = {"null": None, "true": True, "false": False}


def _constant(text: str) -> bool | int | None:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    raise ValueError(f"a text that is not in double quotes: {text[:80]!r}")


def as_text(value: Any) -> str:
    """A string that `load` gave; ValueError for anything else."""
    return _typed(value, str, "a text")


def as_list(value: Any) -> list[Any]:
    """A list that `load` gave; ValueError for anything else."""
    return _typed(value, list, "a list")


def as_mapping(value: Any, keys: Sequence[str]) -> dict[str, Any]:
    """A mapping that `load` gave, with exactly these keys; ValueError for anything else."""
    mapping = _typed(value, dict, "a mapping")
    if list(mapping) != list(keys):
        raise ValueError(f"expected the keys {', '.join(keys)}")
    return mapping


def _typed(value: Any, kind: type[_T], what: str) -> _T:
    if not isinstance(value, kind):
        raise ValueError(f"expected {what}, found {value!r:.80}")  # noqa: TRY004 - it is input
    return value
