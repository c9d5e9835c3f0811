"""The only place that starts a process: clean environment, bytes, no shell."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

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


# What makes an interpreter load code from elsewhere, the current folder among it; and what lets a
# program sign or log in as the user.
_STRANGE = (
    *("BASH_ENV", "ENV", "CDPATH", "PYTHONPATH", "PYTHONSTARTUP", "PERL5LIB", "PERL5OPT"),
    *("RUBYLIB", "RUBYOPT", "NODE_PATH", "NODE_OPTIONS", "LUA_PATH", "LUA_INIT"),
    *("SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "GPG_TTY", "GPG_AGENT_INFO"),
    *("PWD", "OLDPWD"),
)
_SECRET = re.compile(
    r"TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|CREDENTIAL|(?:API|ACCESS|PRIVATE|SIGNING)_?KEY", re.I
)

_TICK = 0.1  # seconds between two looks at a process that says nothing
_GRACE = 5.0  # seconds for a process to end when it is asked to
_READ = 1 << 16


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


def bare_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment for a program that looks at work of others, with `extra` on top.

    It knows nothing of git (its settings neither, which can hold log-ins), of the user's agents,
    of what is a secret by its name, and of places, relative ones of PATH too, where it would look
    for code.
    """
    env = {
        name: value
        for name, value in clean_environment().items()
        if not name.startswith("GIT_") and name not in _STRANGE and not _SECRET.search(name)
    }
    path = env.get("PATH", os.defpath).split(os.pathsep)
    env["PATH"] = os.pathsep.join(folder for folder in path if folder.startswith("/"))
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
    except OSError as error:
        raise _not_started(argv, error) from None
    except subprocess.TimeoutExpired:
        raise GateError(Exit.FATAL, f"{argv[0]!r} did not end within {timeout} seconds") from None
    return Completed(tuple(argv), done.returncode, done.stdout, done.stderr)


def run_alone(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None) -> Completed:
    """As `run`, with nothing to read, for a program that may leave others in the background, as
    git does where a hook starts one: they are not waited for, and can go on writing. Where this
    is interrupted the program is asked to end.

    Raises GateError (fatal) where the program cannot be started.
    """
    try:
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            child = subprocess.Popen(
                list(argv),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env=clean_environment(env),
            )
            try:
                status = child.wait()
            except BaseException:
                _ask_to_end(child)
                raise
            return Completed(tuple(argv), status, _written(output), _written(errors))
    except OSError as error:
        raise _not_started(argv, error) from None


def _ask_to_end(child: subprocess.Popen[bytes]) -> None:
    """Git takes away its lock files when it is asked to end, and cannot when it is killed."""
    child.terminate()
    try:
        child.wait(_GRACE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _written(file: IO[bytes]) -> bytes:
    # Whoever still writes shares the file's position, which is left alone.
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0)


def _not_started(argv: Sequence[str], error: OSError) -> GateError:
    why = error.strerror
    if isinstance(error, FileNotFoundError):
        why = f"{(error.filename or argv[0])!r} was not found"
    return GateError(Exit.FATAL, f"cannot run {argv[0]!r}: {why}")


@dataclass(frozen=True, slots=True)
class Limited:
    """How a process with limits ended. `status` is negative for a signal and None where its time
    was up; `cut` says that it wrote more than was kept."""

    status: int | None
    stdout: bytes
    stderr: bytes
    cut: bool


def run_limited(
    argv: Sequence[str | bytes],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    limit: int,
    tick: Callable[[], None] = lambda: None,
) -> Limited:
    """Run `argv` with nothing to read, in a session of its own and in exactly this environment.

    After `timeout` seconds it and its whole process group are killed; what is left of the group
    is when it ends. `limit` bytes of each stream are kept, the rest is read and dropped. `tick` is
    called several times a second.
    Raises GateError (fatal) where the program cannot be started.
    """
    deadline = time.monotonic() + timeout
    try:
        child = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        name = os.fsdecode(argv[0])
        raise GateError(Exit.FATAL, f"cannot run {name!r}: {error.strerror}") from None
    output, errors = bytearray(), bytearray()
    with child, selectors.DefaultSelector() as pipes:
        try:
            for stream, kept in ((child.stdout, output), (child.stderr, errors)):
                os.set_blocking(stream.fileno(), False)  # type: ignore[union-attr]
                pipes.register(stream, selectors.EVENT_READ, kept)  # type: ignore[arg-type]
            ended, cut = _read_to_end(child, pipes, limit, deadline, tick)
        finally:
            if child.returncode is None:
                _kill_group(child)
    return Limited(child.returncode if ended else None, bytes(output), bytes(errors), cut)


def _read_to_end(
    child: subprocess.Popen[bytes],
    pipes: selectors.BaseSelector,
    limit: int,
    deadline: float,
    tick: Callable[[], None],
) -> tuple[bool, bool]:
    """Read until the process has ended or its time is up: whether it ended, whether it was cut."""
    ended = cut = False
    while True:
        if not ended and child.poll() is not None:
            ended = True
            _kill_group(child)
        ready = pipes.select(0 if ended else _TICK) if pipes.get_map() else []
        for key, _ in ready:
            data = os.read(key.fd, _READ)
            if not data:
                pipes.unregister(key.fileobj)
            cut = cut or len(key.data) + len(data) > limit
            key.data.extend(data[: limit - len(key.data)])
        # Whoever else has the pipes in hand is not waited for.
        if (ended and not ready) or time.monotonic() >= deadline:
            return ended, cut
        tick()
        if not pipes.get_map() and not ended:
            time.sleep(_TICK / 10)


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    """Kill what is left of a process and of all that it started in its session's first group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def deliver(argv: Sequence[str], data: bytes, *, cwd: Path, timeout: float) -> int | None:
    """Run `argv` with `data` as its input and nobody to hear its output; its exit status.

    None where it runs longer than `timeout` seconds: it and its process group are killed then.
    What it leaves in the background when it ends goes on. A program that does not read is no
    error. Raises GateError (fatal) where it cannot be started.
    """
    try:
        child = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=clean_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise GateError(Exit.FATAL, f"cannot run {argv[0]!r}: {error.strerror}") from None
    with child:
        try:
            child.communicate(data, timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if child.returncode is None:
                _kill_group(child)
    return child.returncode


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


def pour(
    argv: Sequence[str], pieces: Iterable[bytes], *, defaults: Mapping[str, str] | None = None
) -> int:
    """As `feed`, with an input that is made while it is read: the program starts at once, and
    where it stops reading nothing more is made."""
    env = {**(defaults or {}), **clean_environment()}
    try:
        child = subprocess.Popen(list(argv), stdin=subprocess.PIPE, env=env)
    except OSError as error:
        raise GateError(Exit.FATAL, f"cannot run {argv[0]!r}: {error.strerror}") from None
    pipe = child.stdin
    with suppress(BrokenPipeError), child, suppress(KeyboardInterrupt):
        for piece in pieces:  # Ctrl-C ends this; what the program makes of it is its own affair
            pipe.write(piece)  # type: ignore[union-attr]
            pipe.flush()  # type: ignore[union-attr]
    return child.returncode


def stream(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]
) -> Generator[bytes, None, int]:
    """The standard output of `argv` in pieces as it comes; the generator returns the exit status.

    `env` is added to the clean environment. Raises GateError (fatal) where the program cannot be
    started.
    """
    try:
        child = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=clean_environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
    except OSError as error:
        raise GateError(Exit.FATAL, f"cannot run {argv[0]!r}: {error.strerror}") from None
    with child:
        try:
            while piece := child.stdout.read1(_READ):  # type: ignore[union-attr]
                yield piece
        except BaseException:  # nobody wants the rest
            child.kill()
            raise
    return child.returncode
