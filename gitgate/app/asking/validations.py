"""The validations of a gate: commands of the policy commit that look at the work under review."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gitgate import process
from gitgate.app.policy.policycommand import command_of
from gitgate.app.telling.exports import Exported, Exports
from gitgate.core import findings as reports
from gitgate.core.events import Located
from gitgate.core.findings import MAX_OUTPUT, MAX_TEXT, errors_in, trouble
from gitgate.core.landing import Entry
from gitgate.core.patterns import compile_paths
from gitgate.core.person import Person
from gitgate.core.policy import Gate, OnError, Validation
from gitgate.core.request import Finding, Level, Request
from gitgate.errors import GateError

if TYPE_CHECKING:
    from gitgate.app.gather.world import World

DEFAULT_SECONDS = 600
"""How long a validation may run that does not say `timeout_seconds`."""

_SUBMODULE = 0o160000

_Wrong = tuple[Level, str]

Watch = Callable[[str], None]
"""Told every now and then what is running, once that takes longer than a second."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of one validation; with no `paths` there was nothing to look at."""

    validation: Validation
    paths: tuple[bytes, ...]
    findings: tuple[Located, ...]

    @property
    def errors(self) -> int:
        return errors_in(self.findings)

    @property
    def warnings(self) -> int:
        return len(self.findings) - self.errors

    @property
    def blocks(self) -> bool:
        return self.errors > 0 and self.validation.on_error is OnError.BLOCK


@dataclass(frozen=True, slots=True)
class Report:
    """One run of all validations of a gate; `findings` are those that can be recorded."""

    ran: tuple[Ran, ...]
    findings: tuple[Located, ...]

    @property
    def blocking(self) -> tuple[Ran, ...]:
        return tuple(one for one in self.ran if one.blocks)


def run_validations(
    world: World,
    policy: str,
    gate: Gate,
    request: Request,
    by: Person,
    watch: Watch,
) -> Report:
    """Run the validations of `gate`, as `by`, over the deliverables of a request.

    Commands, and the files of the repository that they name, are those of the commit `policy`.
    Whatever a command does wrong is a finding. Raises GateError where a commit cannot be exported.
    """
    if not gate.validations:
        return Report((), ())
    with Exports(world, policy, request.work) as exports:
        run = _Run(exports, [one.path for one in request.deliverables], by, watch)
        ran = tuple(run.run(one) for one in gate.validations)
    found = [located for one in ran for located in one.findings]
    return Report(ran, reports.recordable(found, _reporter(gate.id, by)))


def _reporter(name: str, by: Person) -> str:
    return f"{name}, run by {by}"


class _Run:
    """One run of validations over the same work."""

    def __init__(
        self, exports: Exports, deliverables: Sequence[bytes], by: Person, watch: Watch
    ) -> None:
        self._exports = exports
        self._deliverables = deliverables
        self._by = by
        self._watch = watch

    def run(self, validation: Validation) -> Ran:
        wanted = compile_paths(validation.paths) if validation.paths else lambda _: True
        paths = tuple(path for path in self._deliverables if wanted(path))
        if not paths:
            return Ran(validation, (), ())
        reporter = _reporter(validation.name, self._by)
        work = self._exports.fresh_work()
        missing = dict(_missing(self._exports.work_files, work, paths))
        found = [
            Located(path, Finding(None, level, f"it was not checked: {why}", reporter))
            for path, (level, why) in missing.items()
        ]
        there = [path for path in paths if path not in missing]
        if there:
            output, wrong = self._outcome(validation, there, work.folder)
            name = f"validation `{validation.name}`"
            found += [trouble(f"{name} {what}", reporter, level) for level, what in wrong]
            found += reports.parse_output(output, self._deliverables, reporter)
        return Ran(validation, paths, tuple(found))

    def _outcome(
        self, validation: Validation, paths: Sequence[bytes], work: Path
    ) -> tuple[bytes, list[_Wrong]]:
        """The output of the command, which runs more than once where its arguments are too many
        for one, and what went wrong."""
        seconds = validation.timeout_seconds or DEFAULT_SECONDS
        started = time.monotonic()

        def tick() -> None:
            if (passed := int(time.monotonic() - started)) >= 1:
                about = f"{len(paths)} path{'' if len(paths) == 1 else 's'}"
                self._watch(f"validation {validation.name}: {about}, {passed} s")

        output = b""
        wrong: list[_Wrong] = []
        try:
            command = command_of(validation.run, self._exports, work)
            for batch in command.batches(paths):
                done = process.run_limited(
                    [*command.words, *batch],
                    cwd=work,
                    env=command.environment,
                    timeout=max(0.0, started + seconds - time.monotonic()),
                    limit=max(0, MAX_OUTPUT - len(output)),
                    tick=tick,
                )
                said = self._readable(done.stdout, work)
                wrong += _wrong(done, said, self._readable(done.stderr, work), seconds)
                output += said + b"\n"
                if done.cut or done.status is None:
                    break
        except GateError as error:
            message = error.message.encode("utf-8", "surrogateescape")
            wrong.append((Level.ERROR, f"did not run: {_text(self._readable(message, work))}"))
        return output, list(dict.fromkeys(wrong))

    def _readable(self, output: bytes, work: Path) -> bytes:
        """Paths in the temporary folders as they are in the repository."""
        for folder in (work, self._exports.root / "policy"):
            output = output.replace(os.fsencode(folder) + b"/", b"")
        return output


def _missing(
    files: Mapping[bytes, Entry], work: Exported, paths: Sequence[bytes]
) -> Iterator[tuple[bytes, tuple[Level, str]]]:
    """The paths that no command can look at."""
    for path in paths:
        if path not in files:
            yield path, (Level.ERROR, "it is not in the work commit")
        elif files[path].mode == _SUBMODULE:
            yield path, (Level.WARNING, "it is a submodule")
        elif path in work.left_out:
            yield path, (Level.WARNING, work.left_out[path])


def _wrong(done: process.Limited, said: bytes, errors: bytes, seconds: int) -> Iterator[_Wrong]:
    """What is wrong with how a command ended; 0 and 1 say that it looked."""
    last = errors.strip().rpartition(b"\n")[2]
    words = f": {_text(last)}" if last else ""
    if done.status is None:
        yield Level.ERROR, f"did not end within {seconds} s and was killed"
    elif done.status < 0:
        yield Level.ERROR, f"was ended by signal {_signal(-done.status)}{words}"
    elif done.status > 1:
        yield Level.ERROR, f"failed with exit status {done.status}{words}"
    elif done.status == 1 and not reports.parse_output(said, (), ""):
        yield Level.WARNING, f"ended with exit status 1 and reported nothing{words}"
    if done.cut:
        yield Level.ERROR, f"wrote more than {MAX_OUTPUT >> 20} MiB: the rest was not read"


def _signal(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return str(number)


def _text(line: bytes) -> str:
    return line[:MAX_TEXT].decode("utf-8", "backslashreplace")
