"""The only place that starts a process: clean environment, bytes, no shell."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gitgate.errors import Exit, GateError

# What git hands to hooks and aliases about the repository it runs in. Passed on to a command in
# another repository it corrupts that one; passed on here it would let a caller choose what we read.
_GIT_STATE = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_NAMESPACE",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_NOTES_REF",
    "GIT_NOTES_DISPLAY_REF",
    "GIT_NOTES_REWRITE_REF",
)


@dataclass(frozen=True, slots=True)
class Completed:
    """A process that has ended: its exit status (negative: the signal) and what it wrote."""

    argv: tuple[str, ...]
    status: int
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        """Standard output as text, undecodable bytes as surrogates, without the final newline."""
        return self.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    @property
    def complaint(self) -> str:
        """The last line of standard error, for an error message."""
        lines = self.stderr.decode("utf-8", "replace").strip().split("\n")
        return lines[-1]


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without git's own state, with `extra` on top.

    Git's configuration variables (`GIT_CONFIG_*`, `git -c`) stay: they are the user's settings.
    """
    env = {name: value for name, value in os.environ.items() if name not in _GIT_STATE}
    env["GIT_NO_REPLACE_OBJECTS"] = "1"
    env["LC_ALL"] = "C.UTF-8"
    env.update(extra or {})
    return env


def run(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> Completed:
    """Run `argv` to its end with captured output; `env` is added to the clean environment.

    Raises GateError (fatal) where the program cannot be started or runs longer than `timeout`
    seconds. A non-zero exit status is an answer, not an error.
    """
    try:
        done = subprocess.run(
            list(argv),
            cwd=cwd,
            input=stdin,
            env=clean_environment(env),
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except FileNotFoundError as error:
        missing = error.filename or argv[0]
        raise GateError(Exit.FATAL, f"cannot run {argv[0]!r}: {missing!r} was not found") from None
    except OSError as error:
        raise GateError(Exit.FATAL, f"cannot run {argv[0]!r}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise GateError(Exit.FATAL, f"{argv[0]!r} did not end within {timeout} seconds") from None
    return Completed(tuple(argv), done.returncode, done.stdout, done.stderr)


def run_attached(argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> int:
    """Run `argv` on this process's own terminal (an editor, a pager); its exit status.

    Raises GateError (fatal) where the program cannot be started.
    """
    try:
        done = subprocess.run(list(argv), env=clean_environment(env), check=False)
    except OSError as error:
        raise GateError(Exit.FATAL, f"cannot run {argv[0]!r}: {error.strerror}") from None
    return done.returncode


def feed(argv: Sequence[str], data: bytes, *, defaults: Mapping[str, str] | None = None) -> int:
    """Run `argv` on this process's own terminal with `data` as its input; its exit status.

    `defaults` are variables for the program where the user has not set them. A program that
    stops reading early (a pager that was quit) is no error.
    """
    env = {**(defaults or {}), **clean_environment()}
    try:
        done = subprocess.run(list(argv), input=data, env=env, check=False)
    except BrokenPipeError:
        return 0
    except OSError as error:
        raise GateError(Exit.FATAL, f"cannot run {argv[0]!r}: {error.strerror}") from None
    return done.returncode
