"""The one error of the program and the exit statuses (design, section 8)."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a command's exit status means; scripts rely on the numbers."""

    OK = 0
    BLOCKED = 1
    PENDING = 10
    REJECTED = 11
    EXPIRED = 12
    STALE = 13
    UNTRUSTED = 14
    NOT_OPENED = 15
    CONSUMED = 16
    LOST_RACE = 17
    TIMEOUT = 124
    FATAL = 128
    USAGE = 129
    INTERRUPTED = 130


class GateError(Exception):
    """Something that a person has to know: what happened, to which thing, and what resolves it.

    `kind` is the exit status, `message` a sentence without a final full stop, `hint` the command
    or the step that resolves it (empty where there is none).
    """

    def __init__(self, kind: Exit, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint
