"""The structure of a text as far as its lines show it: headings, keys, definitions, list items.

It says where in a document a change is. No language is parsed: what looks like a heading is one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum, auto

MAX_OUTLINED = 1 << 20
"""Bytes of a text beyond which its structure is not looked for."""

_LONGEST_TITLE = 80
_LOOKED_AT = 400  # characters of a line; the expressions below take no more than that square

_NAME = r"[\w.$@~]+(?:::[\w.$@~]+)*"
_HEADING = re.compile(
    r"^ {0,3}(?P<hashes>#{1,6})[ \t]{1,9}(?P<title>[^\n]{1,300})"
    r"|^(?P<equals>={1,6})[ \t]{1,9}(?P<adoc>[^\n]{1,300})"
    r"|^(?P<under>(?![-=~^#*+ ])[^\n]{1,200})\n(?P<line>={3,}|-{3,}|~{3,}|\^{3,})$"
    r"|^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*$",
    re.MULTILINE,
)
_KEY = re.compile(
    r"^(?P<indent>[ \t]*(?:- +)?)(?P<quote>[\"']?)(?P<title>[\w.@/$-][\w.@/$ -]{0,79}?)(?P=quote)"
    r"[ \t]{0,40}(?:=|:(?:[ \t]|$))|^(?P<table>\[+[^\]\n]{1,80}\]+)[ \t]*$",
    re.MULTILINE,
)
_DEFINITION = re.compile(
    r"^(?P<indent>[ \t]*)(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|static"
    r"|final|abstract|async|unsafe|const|inline|virtual|override|extern)[ \t]+)*"
    r"(?P<word>def|class|fn|func|function|interface|struct|enum|trait|impl|module|namespace|type"
    r"|union|record|object|protocol|extension|sub|proc|macro|test|describe|resource)[ \t]+"
    rf"(?:\([^)\n]*\)[ \t]*)?(?P<title>{_NAME})",
    re.MULTILINE,
)
_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(?=\S)")
_ADORNMENT = re.compile(r"^[ \t]*(?:#{1,6}|={1,6}|//+|\*+|--|;+|%+|>)?[ \t]+|[ \t]+[#=]+$")
_WORD = re.compile(r"\w")

_MARKUP = ("md", "markdown", "mdx", "adoc", "asciidoc", "rst", "txt", "text", "org", "")
_KEYS = ("yml", "yaml", "toml", "ini", "cfg", "conf", "json", "json5", "properties", "env", "lock")


class Form(Enum):
    """How the lines of a text are to be read."""

    MARKUP = auto()
    KEYS = auto()
    CODE = auto()


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that names what follows it; the smaller its level, the more it encloses."""

    line: int
    level: int
    title: str


def form_of(path: bytes) -> Form:
    """By the end of the file's name."""
    name = path.rpartition(b"/")[2].decode("utf-8", "replace").lower()
    end = name.rpartition(".")[2] if "." in name.lstrip(".") else ""
    if end in _KEYS or name in (".gitattributes", ".gitconfig", ".gitmodules", ".editorconfig"):
        return Form.KEYS
    return Form.MARKUP if end in _MARKUP else Form.CODE


class Outline:
    """The entries of one text, and what encloses its lines, which count from 1."""

    def __init__(self, form: Form, content: bytes) -> None:
        self._form = form
        text = content.decode("utf-8", "surrogateescape") if len(content) <= MAX_OUTLINED else ""
        self._lines = text.split("\n")
        self._entries = _headings(text) if form is Form.MARKUP else _nested(form, text)
        self._starts = [entry.line for entry in self._entries]

    def section(self, line: int) -> str:
        """What encloses a line: the heading above it, or the chain of keys or definitions."""
        at = bisect_right(self._starts, line - 1) - 1
        if at < 0 or line > len(self._lines):
            return ""
        if self._form is Form.MARKUP:
            return self._entries[at].title
        level = self._level(line)
        chain: list[str] = []
        for entry in reversed(self._entries[: at + 1]):
            if entry.level < level:
                chain.append(entry.title)
                level = entry.level
            if level <= 0 and (self._form is not Form.KEYS or entry.level < 0):
                break
        return ".".join(reversed(chain))

    @property
    def nested(self) -> bool:
        """Whether entries lie in one another, as keys and definitions do."""
        return self._form is not Form.MARKUP

    def title(self, line: int) -> str:
        """The title of the entry that stands on a line itself, or ""."""
        at = bisect_right(self._starts, line) - 1
        entry = self._entries[at] if at >= 0 else None
        return entry.title if entry is not None and entry.line == line else ""

    def _level(self, line: int) -> int:
        """The indentation of a line; of a blank one that of the next line that has text."""
        for text in self._lines[line - 1 : line + 20]:
            if text.strip():
                return _indent(text)
        return 0


def _headings(text: str) -> list[Entry]:
    found: list[Entry] = []
    fence = ""
    line, seen = 1, 0
    for match in _HEADING.finditer(text):
        line += text.count("\n", seen, match.start())
        seen = match.start()
        if match["fence"]:
            if not fence:
                fence = match["fence"]
            elif match["fence"].startswith(fence):
                fence = ""
        elif not fence:
            title = match["title"] or match["adoc"] or match["under"]
            level = len(match["hashes"] or match["equals"] or "#")
            found.append(Entry(line, level, clean(title)))
    return found


def _nested(form: Form, text: str) -> list[Entry]:
    found: list[Entry] = []
    line, seen = 1, 0
    for match in (_KEY if form is Form.KEYS else _DEFINITION).finditer(text):
        line += text.count("\n", seen, match.start())
        seen = match.start()
        named = match.groupdict()
        if named.get("table"):
            found.append(Entry(line, -1, named["table"].strip("[]")))
        else:
            level = len(match["indent"].expandtabs(8))
            found.append(Entry(line, level, match["title"][:_LONGEST_TITLE]))
    return found


def _indent(text: str) -> int:
    return len(text.expandtabs(8)) - len(text.expandtabs(8).lstrip(" "))


def clean(line: str) -> str:
    """A line without what marks it as heading, list item or comment, its blanks united."""
    text = " ".join(_ITEM.sub("", _ADORNMENT.sub("", line[:_LOOKED_AT])).split())
    return text.replace("**", "")


def is_item(line: str) -> bool:
    """Whether a line begins an item of a list."""
    return _ITEM.match(line) is not None


def has_words(line: str) -> bool:
    """Whether there is anything to read in a line."""
    return _WORD.search(line) is not None
