"""The child's side of `crowd`: one command, which may be made to die at one of its points.

A point is a moment at which the repository has just become another: an object was stored, a ref
was locked, moved or let go, the words of a person were kept or thrown away, a signature was made.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pygit2

from gitgate.cli import main
from gitgate.git import objects
from gitgate.signing import sign


def live(run: dict[str, Any], wait: int, out: int, err: int, trace: int) -> NoReturn:
    """Be the command `run` from the moment at which `wait` is released; never returns."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.chdir(run["at"])
    os.environ.update(run["env"])
    _mark_points(run["kill"], trace)
    os.read(wait, 1)
    status = 1
    try:
        status = main.run(run["args"])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _mark_points(kill: int, trace: int) -> None:
    passed = 0

    def point(name: str) -> None:
        nonlocal passed
        passed += 1
        os.write(trace, f"{name}\n".encode())
        if passed == kill:
            os.kill(os.getpid(), signal.SIGKILL)

    moving = [""]

    def after_lock(transaction: Any, name: str) -> None:
        moving[0] = name
        point(f"locked {name}")

    def kept(path: Path, *args: Any, **named: Any) -> None:
        if "git-gate" in path.parts:
            point("words kept")

    def left(path: Path, *args: Any, **named: Any) -> None:
        if "git-gate" in path.parts:
            point("words left")

    _after(objects.Objects, "write", lambda self, kind, data: point(f"stored {kind}"))
    transaction = pygit2.ReferenceTransaction
    _after(transaction, "lock_ref", after_lock)
    _after(transaction, "set_target", lambda *args, **named: point(f"writing {moving[0]}"))
    _after(transaction, "__exit__", lambda *args: point(f"done {moving[0]}"))
    _after(sign.SshKey, "sign", lambda self, payload: point("signed"))
    _after(Path, "write_text", kept)
    _after(Path, "unlink", left)


def _after(owner: Any, name: str, then: Callable[..., None]) -> None:
    before = getattr(owner, name)

    def changed(*args: Any, **named: Any) -> Any:
        answer = before(*args, **named)
        then(*args, **named)
        return answer

    setattr(owner, name, changed)
