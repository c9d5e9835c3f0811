"""The YAML that a policy may be written in: mappings, lists and scalars, each with its line.

No anchors, aliases, merge keys, tags, duplicate keys, further documents or deep nesting. Built
from the parser's events without recursion, and nothing is resolved: what a scalar means is up to
whoever knows what was expected there. Other tools' keys in the same file are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    StreamEndEvent,
)

from gitgate.core.policyproblems import Problems, shown

MAX_DEPTH = 20
_MERGE_TAG = "tag:yaml.org,2002:merge"
_NOTHING = ("", "~", "null", "Null", "NULL")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text as it stands in the file; `plain` where it has no quotes (and is no block)."""

    line: int
    text: str
    plain: bool

    @property
    def nothing(self) -> bool:
        return self.plain and self.text in _NOTHING


@dataclass(frozen=True, slots=True)
class Listing:
    line: int
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Table:
    line: int
    entries: tuple[tuple[Scalar, Node], ...]


@dataclass(frozen=True, slots=True)
class Broken:
    """Something in whose place a problem was reported."""

    line: int


Node = Scalar | Listing | Table | Broken


def read_key(text: str, key: str, problems: Problems) -> Node | None:
    """The value of the top-level `key`, None where the file has none; what is wrong is reported."""
    try:
        return _Reader(yaml.parse(text, yaml.CSafeLoader), key, problems).file()
    except yaml.YAMLError as error:
        line, what = _explain(error, text)
        problems.found.clear()  # of a file that cannot be read to its end nothing else is certain
        problems.add(line, "valid YAML", what)
        return Broken(line)


def _explain(error: yaml.YAMLError, text: str) -> tuple[int, str]:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return error.problem_mark.line + 1, f"a mistake ({error.problem})"
    at = getattr(error, "position", 0)
    return text.encode()[:at].count(b"\n") + 1, "a character that it does not allow"


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not come yet."""

    line: int
    table: bool
    nodes: list[Node] = field(default_factory=list)
    entries: list[tuple[Scalar, Node]] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)
    key: Node | None = None

    def closed(self) -> Node:
        if self.table:
            return Table(self.line, tuple(self.entries))
        return Listing(self.line, tuple(self.nodes))


class _Reader:
    def __init__(self, events: Iterator[Event], key: str, problems: Problems) -> None:
        self._events = events
        self._key = key
        self._problems = problems

    def file(self) -> Node | None:
        next(self._events)  # the start of the stream
        if isinstance(next(self._events), StreamEndEvent):
            return None
        value = self._document(next(self._events))
        next(self._events)  # the end of the document
        after = next(self._events)
        if not isinstance(after, StreamEndEvent):
            self._problems.add(_line(after), "one YAML document", "the start of a second one")
            for _ in self._events:  # what follows has to be YAML all the same
                pass
        return value

    def _document(self, event: Event) -> Node | None:
        if isinstance(event, MappingStartEvent):
            return self._top()
        if isinstance(event, ScalarEvent) and not event.style and event.value in _NOTHING:
            return None
        self._pass_over(event)
        self._problems.add(_line(event), "a mapping at the top of the file", "something else")
        return None

    def _top(self) -> Node | None:
        value: Node | None = None
        while not isinstance(event := next(self._events), MappingEndEvent):
            if not self._is_key(event):
                self._pass_over(event)
                self._pass_over(next(self._events))
                continue
            repeated = self._value()
            if value is not None:
                again = f"it again (first in line {value.line})"
                self._problems.add(_line(event), f"{self._key} once", again)
            value = value or repeated
        return value

    def _is_key(self, event: Event) -> bool:
        """Whether a top-level key is the one that is looked for; what may hide it is a problem."""
        if isinstance(event, AliasEvent):
            self._problems.add(_line(event), "a key at the top of the file", "an alias")
        if not isinstance(event, ScalarEvent):
            return False
        if event.tag == _MERGE_TAG or (event.value == "<<" and not event.style):
            self._problems.add(_line(event), "no merge key at the top of the file", "'<<'")
        if event.value != self._key:
            return False
        self._refuse_extras(event)
        return True

    def _refuse_extras(self, event: NodeEvent) -> None:
        line = _line(event)
        if event.anchor is not None:
            what = f"{'alias' if isinstance(event, AliasEvent) else 'anchor'} {shown(event.anchor)}"
            self._problems.add(line, f"no anchors and aliases in {self._key}", what)
        tag = getattr(event, "tag", None)
        if tag is not None:
            self._problems.add(line, f"no tags in {self._key}", shown(tag))

    def _pass_over(self, event: Event) -> None:
        depth = 0
        while True:
            depth += isinstance(event, CollectionStartEvent)
            depth -= isinstance(event, CollectionEndEvent)
            if not depth:
                return
            event = next(self._events)

    def _value(self) -> Node:
        stack: list[_Open] = []
        while True:
            node = self._node(next(self._events), stack)
            if node is None:
                continue
            if not stack:
                return node
            self._place(stack[-1], node)

    def _node(self, event: Event, stack: list[_Open]) -> Node | None:
        """What `event` completes; None where it begins a list or mapping."""
        line = _line(event)
        if isinstance(event, CollectionEndEvent):
            return stack.pop().closed()
        if isinstance(event, NodeEvent):
            self._refuse_extras(event)
        if isinstance(event, ScalarEvent):
            return Scalar(line, event.value, not event.style)
        if not isinstance(event, CollectionStartEvent):
            return Broken(line)
        if len(stack) == MAX_DEPTH:
            self._problems.add(line, f"at most {MAX_DEPTH} levels in {self._key}", "one more")
            self._pass_over(event)
            return Broken(line)
        stack.append(_Open(line, isinstance(event, MappingStartEvent)))
        return None

    def _place(self, parent: _Open, node: Node) -> None:
        if not parent.table:
            parent.nodes.append(node)
        elif parent.key is None:
            parent.key = node
        else:
            key, parent.key = parent.key, None
            if isinstance(key, Scalar) and self._usable(parent, key):
                parent.entries.append((key, node))
            elif not isinstance(key, Scalar | Broken):
                self._problems.add(key.line, "a text as key", kind(key))

    def _usable(self, parent: _Open, key: Scalar) -> bool:
        if key.plain and key.text == "<<":
            self._problems.add(key.line, f"no merge key in {self._key}", "'<<'")
            return False
        if key.text in parent.lines:
            again = f"{shown(key.text)} again (first in line {parent.lines[key.text]})"
            self._problems.add(key.line, "each key once", again)
            return False
        parent.lines[key.text] = key.line
        return True


def kind(node: Node) -> str:
    """What a node is, for "found …"."""
    match node:
        case Scalar():
            return "nothing" if node.nothing else shown(node.text)
        case Listing():
            return "a list"
        case Table():
            return "a mapping"
        case Broken():
            return "something else"


def _line(event: Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
