"""How long somebody was at work: time in which this process did not run is not counted."""

from __future__ import annotations

import threading
import time

_TICK = 0.25
_LONGEST = 1.0  # a tick that took longer was a stop: Ctrl-Z, a suspended machine


class Stopwatch:
    """Counts seconds from `seconds` on, while the process runs."""

    def __init__(self, seconds: int) -> None:
        self._spent = float(seconds)
        self._last = time.monotonic()
        self._done = threading.Event()
        self._lock = threading.Lock()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while not self._done.wait(_TICK):
            self._count()

    def _count(self) -> None:
        with self._lock:
            now = time.monotonic()
            self._spent += min(now - self._last, _LONGEST)
            self._last = now

    @property
    def seconds(self) -> int:
        self._count()
        return int(self._spent)

    def stop(self) -> int:
        """The seconds until now, the last ones."""
        self._done.set()
        return self.seconds
