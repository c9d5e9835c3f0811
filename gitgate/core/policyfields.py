"""Reads the keys of one mapping of a policy, strictly, each by the type that is expected there.

Whatever is wrong is reported and read as if it were absent, so that one look finds all problems.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeVar

from gitgate.core.policyproblems import Problems, shown
from gitgate.core.policyyaml import Broken, Listing, Node, Scalar, Table, kind

# What a YAML reader may take for a boolean, number, time, null or merge key: as a name it has to
# be in quotes. Version 1.1 of the language and what later readers still accept.
_NOT_A_TEXT = re.compile(
    r"""~|null|true|false|yes|no|on|off|y|n|<<|=|
    [-+]?0[box][0-9a-f_]+|
    [-+]?\d[\d_]*(:[0-5]?\d)+(\.[\d_]*)?|
    [-+]?(\.\d[\d_]*|\d[\d_]*(\.[\d_]*)?)(e[-+]?\d+)?|
    [-+]?\.inf|\.nan|
    \d{4}-\d\d?-\d\d?([t\ ].*)?""",
    re.IGNORECASE | re.VERBOSE,
)
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_UNQUOTE = "leave out the quotes"
_TRUTHS = ("true", "false")
_SPELLINGS = {"yes": "true", "on": "true", "no": "false", "off": "false"}

TOP = "human_gates"

_E = TypeVar("_E", bound=StrEnum)


class Doubt(NamedTuple):
    """What a text should have been, and a hint."""

    expected: str
    hint: str = ""


# None where the text is fine.
Check = Callable[[str], Doubt | None]


class Named(NamedTuple):
    """An entry whose key is a name: the key, what messages call the entry, and its value."""

    key: str
    name: str
    value: Node


class Fields:
    """The entries of a mapping; `name` is how messages call it, `keys` are those it may have."""

    def __init__(
        self, problems: Problems, name: str, node: Node | None, keys: Sequence[str] | None = None
    ) -> None:
        self.problems = problems
        self.name = name
        self.line = node.line if node else 1
        self._sound = isinstance(node, Table)
        self._entries: dict[str, tuple[Scalar, Node]] = {}
        if isinstance(node, Table):
            for key, value in node.entries:
                if keys is None or key.text in keys:
                    self._entries[key.text] = (key, value)
                else:
                    hint = problems.meant(key.text, keys) or f"its keys are {', '.join(keys)}"
                    problems.add(key.line, f"a key of {name}", shown(key.text), hint)
        elif node is not None and not isinstance(node, Broken):
            problems.add(node.line, f"a mapping as {name}", kind(node))

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def line_of(self, key: str) -> int:
        return self._entries[key][0].line if key in self._entries else self.line

    def called(self, key: str) -> str:
        """How messages call the value under `key`."""
        return f"{self.name}.{key}" if self.name != TOP else key

    def require(self, key: str) -> None:
        """Reports that `key` is missing where it is."""
        if self._sound and key not in self._entries:
            self.problems.add(self.line, f"the key {key!r} in {self.name}", "no such key")

    def flag(self, key: str, default: bool) -> bool:
        node = self._value(key)
        text = node.text if isinstance(node, Scalar) else ""
        if text in _TRUTHS and not _quoted(node):
            return text == "true"
        if node is not None:
            meant = _SPELLINGS.get(text.lower(), text.lower())
            hint = _UNQUOTE if text in _TRUTHS else self.problems.meant(meant, _TRUTHS)
            self._wrong(key, node, "true or false", hint)
        return default

    def number(self, key: str, default: int, least: int, most: int) -> int:
        node = self._value(key)
        text = node.text if isinstance(node, Scalar) else ""
        fits = _NUMBER.fullmatch(text) is not None and least <= int(text) <= most
        if fits and not _quoted(node):
            return int(text)
        if node is not None:
            span = f"a whole number from {least} to {most}" if least < most else str(least)
            self._wrong(key, node, span, _UNQUOTE if fits else "")
        return default

    def choice(self, key: str, default: _E) -> _E:
        node = self._value(key)
        words = [str(word) for word in type(default)]
        if isinstance(node, Scalar) and node.text in words:
            return type(default)(node.text)
        if node is not None:
            meant = node.text.lower() if isinstance(node, Scalar) else ""
            expected = f"{', '.join(words[:-1])} or {words[-1]}"
            self._wrong(key, node, expected, self.problems.meant(meant, words))
        return default

    def text(self, key: str, default: str, check: Check) -> str:
        node = self._value(key)
        if node is None:
            return default
        return _text(self.problems, node, f"as {self.called(key)}", check) or default

    def texts(self, key: str, check: Check) -> tuple[str, ...]:
        """A list of one text or more; empty where the key is absent."""
        node = self._value(key)
        return texts(self.problems, node, self.called(key), check) if node else ()

    def table(self, key: str, keys: Sequence[str] | None = None) -> Fields:
        """The mapping under `key`; nothing is in it where the key is absent."""
        return Fields(self.problems, self.called(key), self._value(key), keys)

    def tables(self, key: str, keys: Sequence[str]) -> Iterator[Fields]:
        """The mappings of the list under `key`."""
        node = self._value(key)
        if isinstance(node, Listing):
            for number, item in enumerate(node.items, 1):
                yield Fields(self.problems, f"{self.called(key)}[{number}]", item, keys)
        elif node is not None:
            self._wrong(key, node, "a list of mappings", "")

    def entries(self, check: Check) -> Iterator[Named]:
        """All entries of a mapping whose keys are names; a wrong name is reported."""
        for text, (key, value) in self._entries.items():
            sound = _text(self.problems, key, f"as a key of {self.name}", check)
            yield Named(text, f"{self.name}.{text if sound else shown(text)}", value)

    def _value(self, key: str) -> Node | None:
        return self._entries[key][1] if key in self._entries else None

    def _wrong(self, key: str, node: Node, expected: str, hint: str) -> None:
        if not isinstance(node, Broken):
            found = f"the text {kind(node)}" if _quoted(node) else kind(node)
            self.problems.add(node.line, f"{expected} as {self.called(key)}", found, hint)


def _quoted(node: Node | None) -> bool:
    return isinstance(node, Scalar) and not node.plain


def texts(problems: Problems, node: Node, name: str, check: Check) -> tuple[str, ...]:
    """The texts of a list that has at least one; `name` is how messages call the list."""
    if isinstance(node, Listing) and node.items:
        read = (_text(problems, item, f"in {name}", check) for item in node.items)
        return tuple(text for text in read if text is not None)
    if not isinstance(node, Broken):
        hint = f"write [{node.text}]" if isinstance(node, Scalar) and not node.nothing else ""
        found = "an empty list" if isinstance(node, Listing) else kind(node)
        problems.add(node.line, f"a list of texts as {name}", found, hint)
    return ()


def _text(problems: Problems, node: Node, where: str, check: Check) -> str | None:
    if isinstance(node, Broken):
        return None
    if not isinstance(node, Scalar) or node.nothing:
        problems.add(node.line, f"a text {where}", kind(node))
        return None
    if node.plain and _NOT_A_TEXT.fullmatch(node.text):
        problems.add(
            node.line,
            f"a text {where}",
            f"{node.text[:60]} without quotes",
            f"write {shown(node.text)}",
        )
        return None
    doubt = check(node.text)
    if doubt is None:
        return node.text
    problems.add(node.line, f"{doubt.expected} {where}", shown(node.text), doubt.hint)
    return None
