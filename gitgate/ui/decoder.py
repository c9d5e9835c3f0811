"""Bytes of a terminal as keys: a pure reading, so that what arrives in pieces can be tested."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_NAMED = {
    "\r": "enter",
    "\n": "enter",
    "\t": "tab",
    "\x7f": "backspace",
    "\b": "backspace",
    "\x01": "home",
    "\x03": "ctrl-c",
    "\x04": "ctrl-d",
    "\x05": "ctrl-e",
    "\x0c": "ctrl-l",
    "\x0b": "ctrl-k",
    "\x15": "ctrl-u",
    "\x17": "ctrl-w",
    "\x1a": "ctrl-z",
}
_SEQUENCES = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "H": "home",
    "F": "end",
    "1~": "home",
    "7~": "home",
    "3~": "delete",
    "4~": "end",
    "8~": "end",
    "5~": "pgup",
    "6~": "pgdn",
}
# A control sequence of ECMA-48 after its ESC, or what keypads send after ESC O.
_SEQUENCE = re.compile(r"\[[0-?]*[ -/]*[@-~]|O[ -~]")
_BEGUN = re.compile(r"\[[0-?]*[ -/]*|O")
_LONGEST = 64
_PASTE, _PASTED = "[200~", "\x1b[201~"


@dataclass(frozen=True, slots=True)
class Key:
    """One key, or what happened to the terminal.

    `name` is `char` or `paste` with its `text`, the name of a key (`enter`, `esc`, `up`, `pgdn`,
    `ctrl-c`, …), or an event: `resize`, `resume`, `eof`, `hangup`, `burst` (several keys at once
    where one was asked for), `line` (a whole line in `text`).
    """

    name: str
    text: str = ""

    @property
    def char(self) -> str:
        """The character of a plain key, else ""."""
        return self.text if self.name == "char" else ""


class Decoder:
    """Keys out of bytes, however they are cut."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._text = ""
        self._escaped = False  # the last key was a lone ESC: the rest of a sequence may follow

    @property
    def waiting(self) -> bool:
        """Whether what has come may be the beginning of a key."""
        return bool(self._text)

    def feed(self, data: bytes) -> list[Key]:
        """The keys that are whole by now."""
        self._text += self._decode(data)
        if self._escaped and self._text:
            self._escaped = False
            if _BEGUN.match(self._text):  # cut in two by a slow line: never two keys
                self._text = "\x1b" + self._text
        keys: list[Key] = []
        while self._text:
            key, used = self._next()
            if not used:
                break
            self._text = self._text[used:]
            keys += [key] if key else []
        return keys

    def timed_out(self) -> list[Key]:
        """ESC itself, where nothing has followed it; a longer beginning waits for its end, so that
        the last letter of a sequence on a slow line is never a key."""
        if self._text != "\x1b":
            return []
        self._escaped, self._text = True, ""
        return [Key("esc")]

    def drop_paste(self) -> None:
        """The end of a paste that has begun will not come any more."""
        if self._text.startswith("\x1b" + _PASTE):
            self._text = ""

    def _next(self) -> tuple[Key | None, int]:
        """The first key of the text and its length; (None, 0) where it is not whole."""
        first = self._text[0]
        if first != "\x1b":
            if first in _NAMED:
                return Key(_NAMED[first]), 1
            return (Key("char", first) if first.isprintable() else None), 1
        rest = self._text[1:]
        if rest.startswith(_PASTE):
            return self._paste()
        if match := _SEQUENCE.match(rest):
            name = _SEQUENCES.get(re.sub(r"^\[?O?(?:1;\d)?", "", match[0]))
            return (Key(name) if name else None), 1 + match.end()
        if not rest or (_BEGUN.fullmatch(rest) and len(rest) < _LONGEST):
            return None, 0
        return (Key("esc"), 1) if rest[0] == "\x1b" else (None, 2)  # Alt and a key: no key of ours

    def _paste(self) -> tuple[Key | None, int]:
        """A paste once it has ended; Ctrl-C ends it too, or a lost end would swallow all keys."""
        begin, end = 1 + len(_PASTE), self._text.find(_PASTED)
        if end > 0:
            return Key("paste", self._text[begin:end]), end + len(_PASTED)
        return (Key("ctrl-c"), len(self._text)) if "\x03" in self._text else (None, 0)
