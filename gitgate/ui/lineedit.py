"""A line that is typed where screens follow one another: it echoes what it takes, and loses none.

The terminal's own editing of lines drops what is longer than 4,095 bytes, what follows a line end
in a paste, and what was typed when a signal comes.
"""

from __future__ import annotations

from typing import Protocol

from gitgate.ui.decoder import Key
from gitgate.ui.sanitise import safe, width

_ENDS = {one: one for one in ("hangup", "eof", "ctrl-c", "ctrl-e")} | {"ctrl-d": "eof"}


class Keys(Protocol):
    """Where keys come from, and where what is typed is shown."""

    def read(self) -> Key:
        """The next key."""

    def write(self, text: str) -> None:
        """Show it."""

    def pasting(self) -> bool:
        """Whether the next key comes too fast for a person."""

    def suspend(self) -> None:
        """Stop this job as Ctrl-Z does; returns when the shell continues it."""


def read_line(keys: Keys, prompt: str, text: str, *, several: bool) -> Key:
    """`line` with what was typed after `text`, or what ended it, with the text too.

    With `several`, lines that are pasted together are one text.
    """
    keys.write(prompt + safe(text, multiline=True))
    while True:
        key = keys.read()
        if key.name == "enter" and not (several and keys.pasting()):
            keys.write("\n")
            return Key("line", text)
        if key.name in _ENDS:
            return Key(_ENDS[key.name], text)
        if key.name == "ctrl-z":
            keys.suspend()
            keys.write(prompt + safe(text, multiline=True))
        elif added := _added(key):
            text += added
            keys.write(safe(added, multiline=True))
        else:
            left = _shortened(text, key)
            keys.write(_erased(text[len(left) :], prompt + safe(left, multiline=True)))
            text = left


def _added(key: Key) -> str:
    if key.name in ("char", "paste"):
        return key.text.replace("\r\n", "\n").replace("\r", "\n")
    return {"enter": "\n", "tab": " "}.get(key.name, "")


def _shortened(text: str, key: Key) -> str:
    """What `key` leaves of the text, all of it where it takes nothing away."""
    match key.name:
        case "backspace":
            return text[:-1]
        case "ctrl-u":
            return ""
        case "ctrl-w":
            kept = text.rstrip()
            return kept[: max(kept.rfind(" "), kept.rfind("\n")) + 1]
    return text


def _erased(gone: str, shown: str) -> str:
    """What takes `gone` off the terminal; where it has several lines, `shown` is said again."""
    return f"\n{shown}" if "\n" in gone else "\b \b" * width(safe(gone))
