"""The terminal of a session: raw keys, and always given back as it was.

Signals become keys (`resize`, `resume`, `hangup`), so a session has one stream of events. Before
a prompt that decides, what was typed ahead is thrown away and the line has to be quiet.
"""

from __future__ import annotations

import os
import select
import signal
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from gitgate.ui.decoder import Decoder, Key
from gitgate.ui.lineedit import read_line

_ESCAPE_DELAY = 0.05  # seconds in which the rest of an escape sequence arrives
_QUIET = 0.15  # seconds without a key before a prompt that decides listens
_TOGETHER = 0.03  # keys that come closer than this were not pressed one by one

_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"


class Terminal:
    """The terminal of this process. As a context: raw inside, as it was afterwards.

    `plain` writes no escape sequence of its own.
    """

    def __init__(self, *, plain: bool = False, source: int = 0, target: int = 1) -> None:
        self._in, self._out, self._plain = source, target, plain
        self._before: list[Any] | None = None
        self._handlers: dict[int, Any] = {}
        self._decoder = Decoder()
        self._keys: list[Key] = []
        self._pipe: tuple[int, int] | None = None
        self._wakeup = -1
        self.lost = False
        self.on_suspend: Callable[[], None] = lambda: None
        self.on_resume: Callable[[], None] = lambda: None

    def __enter__(self) -> Terminal:
        self._before = termios.tcgetattr(self._in)
        self._pipe = os.pipe()
        for end in self._pipe:
            os.set_blocking(end, False)
        self._wakeup = signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
        self._raw()
        return self

    def __exit__(self, *_: object) -> None:
        self._cooked()
        signal.set_wakeup_fd(self._wakeup)
        for end in self._pipe or ():
            os.close(end)
        self._pipe = None

    # Modes.

    def _raw(self) -> None:
        for number, handler in (
            (signal.SIGWINCH, self._note("resize")),
            (signal.SIGHUP, self._note("hangup")),
            (signal.SIGTERM, self._note("hangup")),
            (signal.SIGTSTP, self._stopped),
        ):
            self._handlers[number] = signal.signal(number, handler)
        self._by_key()

    def _by_key(self) -> None:
        with self._losing():
            self._waiting()
            mode = termios.tcgetattr(self._in)
            mode[0] &= ~(termios.IXON | termios.INLCR)
            mode[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
            mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
            termios.tcsetattr(self._in, termios.TCSAFLUSH, mode)
        if not self._plain:
            self.write(_PASTE_ON)

    def _cooked(self) -> None:
        self._by_line()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers.clear()

    def _by_line(self) -> None:
        if not self._plain:
            self.write(_PASTE_OFF)
        with self._losing():
            self._waiting()
            if self._before is not None:
                termios.tcsetattr(self._in, termios.TCSAFLUSH, self._before)

    def _waiting(self) -> None:
        """Reads and writes wait, whatever another program has left the terminal at."""
        for end in (self._in, self._out):
            os.set_blocking(end, True)

    @contextmanager
    def given_back(self) -> Iterator[None]:
        """The terminal as it was, for another program; what was typed meanwhile is dropped."""
        self.on_suspend()
        self._cooked()
        # Ctrl-C in an editor or a pager is for it alone. A handler, since what is ignored here
        # would be ignored there too.
        spared = (signal.SIGINT, signal.SIGQUIT)
        before = {number: signal.signal(number, lambda *_: None) for number in spared}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            self._raw()
            self.flush()
            self.on_resume()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """The terminal for a program that only asks something, below what is on the screen. A
        signal that ends the session waits until it has its answer."""
        if not self._plain:
            self.write("\x1b[?25h\r\n")
        self._by_line()
        stopped = signal.signal(signal.SIGTSTP, self._handlers[signal.SIGTSTP])
        try:
            yield
        finally:
            signal.signal(signal.SIGTSTP, stopped)
            self._by_key()
            self.flush()

    @contextmanager
    def _losing(self) -> Iterator[None]:
        try:
            yield
        except (OSError, termios.error):
            self.lost = True

    def _note(self, name: str) -> Callable[[int, FrameType | None], None]:
        def handler(_number: int, _frame: FrameType | None) -> None:
            self._keys.append(Key(name))

        return handler

    def _stopped(self, _number: int, _frame: FrameType | None) -> None:
        self._stop(os.getpid())

    def suspend(self) -> None:
        """Stop this job as Ctrl-Z does; returns when the shell continues it."""
        self._stop(0)

    def _stop(self, whom: int) -> None:
        """Stop a process, 0: the whole job, with the terminal as it was."""
        self.on_suspend()
        self._cooked()
        before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(whom, signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, before)
        self._raw()
        self.on_resume()
        self._keys.append(Key("resume"))

    # In and out.

    def write(self, text: str) -> None:
        """Write all of `text`; a terminal that is gone says so by `lost`."""
        data = text.encode("utf-8", "replace")
        with self._losing():
            while data:
                data = data[os.write(self._out, data) :]

    def flush(self) -> None:
        """Throw away what was typed and not read."""
        self._keys = [key for key in self._keys if key.name in ("hangup", "resize")]
        self._decoder.drop_paste()
        with self._losing():
            termios.tcsetattr(self._in, termios.TCSAFLUSH, termios.tcgetattr(self._in))

    def read(self) -> Key:
        """The next key; `eof` for ever once the terminal is gone."""
        while not self._keys:
            if self.lost:
                return Key("eof")
            self._fill(_ESCAPE_DELAY if self._decoder.waiting else None)
        return self._keys.pop(0)

    def read_one(self) -> Key:
        """One key that was pressed on its own, after a moment of quiet; `burst` where several came
        together, and none of them counts."""
        self.flush()
        while self._fill(_QUIET) and not self._urgent():
            self.flush()
        key = self.read()
        if key.name not in ("char", "enter", "paste"):
            return key
        if self._keys or self._fill(_TOGETHER):
            while self._fill(_QUIET):
                pass
            urgent = self._urgent()
            self.flush()
            return urgent or Key("burst")
        return key

    def line(self, prompt: str, text: str = "", *, several: bool = False) -> Key:
        """A whole line, or what ended it, both with what was typed; see `ui/lineedit.py`."""
        return read_line(self, prompt, text, several=several)

    def pasting(self) -> bool:
        """Whether another key is there, or comes sooner than somebody reads and presses one."""
        if not self._typed():
            self._fill(_QUIET)  # a long paste comes in pieces
        return self._typed()

    def _typed(self) -> bool:
        return any(key.name in ("char", "enter", "paste", "tab") for key in self._keys)

    def _urgent(self) -> Key | None:
        names = ("hangup", "eof", "ctrl-c")
        return next((key for key in self._keys if key.name in names), None)

    def _fill(self, timeout: float | None) -> bool:
        """Wait for keys at most `timeout` seconds; whether something came."""
        if self.lost:
            self._keys.append(Key("eof"))
            return False
        wake = self._pipe[0] if self._pipe else self._in
        before = len(self._keys)
        ready, _, _ = select.select([self._in, wake], [], [], timeout)
        if wake in ready and self._pipe:
            with suppress(BlockingIOError):
                os.read(wake, 512)
        if self._in in ready:
            with self._losing():
                data = os.read(self._in, 1 << 16)
                if not data:
                    self.lost = True
                self._keys += self._decoder.feed(data)
        elif not ready and self._decoder.waiting:
            self._keys += self._decoder.timed_out()
        return bool(ready) or len(self._keys) > before
