"""A real pseudo-terminal with a program in it, and the screen that a person would see.

`pyte` draws the screen; the program is git-gate, or whatever is given, with the test's own HOME.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyte

PATIENCE = 20.0
_TAKES_THE_TERMINAL = (
    "import fcntl, os, signal, sys, termios; signal.signal(signal.SIGHUP, signal.SIG_DFL);"
    " fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    " os.execvp(sys.argv[1], sys.argv[1:])"
)
_QUIET = 0.03  # seconds without output after which a screen stands


class Terminal:
    """A program at a terminal of `columns` and `rows`; use it as a context."""

    def __init__(
        self,
        argv: Sequence[str],
        cwd: Path,
        *,
        columns: int = 80,
        rows: int = 40,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.raw = b""
        self.status: int | None = None
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.fd, inside = pty.openpty()
        self.resize(columns, rows, tell=False)
        self._child = subprocess.Popen(
            [sys.executable, "-ISc", _TAKES_THE_TERMINAL, *argv],
            cwd=cwd,
            env={**os.environ, "TERM": "xterm-256color", **(env or {})},
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
        )
        self.pid = self._child.pid
        os.close(inside)

    @classmethod
    def gate(cls, cwd: Path, *args: str, **named: object) -> Terminal:
        """`git-gate ARGS` at a terminal."""
        return cls([sys.executable, "-m", "gitgate", *args], cwd, **named)  # type: ignore[arg-type]

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.status is None:
            self._child.kill()
        self._child.wait()
        os.close(self.fd)

    # What the person does.

    def keys(self, keys: str | bytes) -> None:
        """Type; all of it at once."""
        os.write(self.fd, keys.encode() if isinstance(keys, str) else keys)

    def press(self, keys: str | bytes, until: str) -> list[str]:
        """Type, and give the screen once it was painted again and shows `until`.

        A prompt that decides drops what comes too early: there it is typed again.
        """
        while self._read(0.0):
            pass
        guarded = any("[y] sign" in line or "y: sign" in line for line in self.screen)
        end = time.monotonic() + PATIENCE
        while True:
            if guarded:
                time.sleep(0.2)
            before = len(self.raw)
            self.keys(keys)
            soon = time.monotonic() + (1.5 if guarded else PATIENCE)
            while time.monotonic() < soon:
                self._read(0.2)
                if self.status is not None or (len(self.raw) > before and self._shows(until)):
                    return self.wait(until)
            if time.monotonic() > end or not guarded:
                return self.wait(until)

    def _shows(self, text: str) -> bool:
        return any(text in line for line in self.screen)

    def resize(self, columns: int, rows: int, *, tell: bool = True) -> None:
        """Give the window another size."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if tell:
            self._screen.resize(rows, columns)
            os.kill(self.pid, signal.SIGWINCH)

    # What the person sees.

    @property
    def screen(self) -> list[str]:
        """The lines of the screen, without blanks at their ends and empty lines at its end."""
        lines = [line.rstrip() for line in self._screen.display]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    @property
    def transcript(self) -> list[str]:
        """All lines that were printed, for a program that never moves the cursor back."""
        lines = self.raw.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
        return [line.rstrip() for line in lines]

    def wait(self, text: str) -> list[str]:
        """The screen as soon as it shows `text` and nothing more comes."""
        until = time.monotonic() + PATIENCE
        while not self._shows(text):
            if time.monotonic() > until or (not self._read(0.2) and self.status is not None):
                raise AssertionError(f"no {text!r} on the screen:\n" + "\n".join(self.screen))
        self.settle()
        return self.screen

    def settle(self) -> None:
        """Read until the program says nothing for a moment."""
        while self._read(_QUIET):
            pass

    def end(self) -> int:
        """The exit status once the program has ended; negative: the signal."""
        until = time.monotonic() + PATIENCE
        while self.status is None:
            self._read(0.2)
            if time.monotonic() > until:
                raise AssertionError("it does not end:\n" + "\n".join(self.screen))
        while self._read(0.0):
            pass
        return self.status

    def _read(self, seconds: float) -> bool:
        """Take what the program has printed; whether there was something."""
        data = b""
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                data = os.read(self.fd, 1 << 16)
            except OSError:  # the other end is closed
                data = b""
            self.raw += data
            self._stream.feed(data)
        if not data and self.status is None:
            self.status = self._child.poll()
        return bool(data)
