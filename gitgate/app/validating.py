"""The validations of a gate: commands of the policy commit that look at the work under review."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gitgate import process
from gitgate.app.exports import Exported, Exports
from gitgate.core import findings as reports
from gitgate.core.events import Located
from gitgate.core.findings import MAX_OUTPUT, errors_in, trouble
from gitgate.core.patterns import compile_paths
from gitgate.core.person import Person
from gitgate.core.policy import Gate, OnError, Validation
from gitgate.core.request import Deliverable, Finding, Level
from gitgate.errors import GateError

if TYPE_CHECKING:
    from gitgate.app.world import World

DEFAULT_SECONDS = 600
"""How long a validation may run that does not say `timeout_seconds`."""

_LONGEST_ARGUMENTS = 1 << 20
_KEPT_FOR_THE_REST = 8 << 10  # bytes of the argument list's limit
_SUBMODULE = 0o160000

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
    work: str,
    deliverables: Sequence[Deliverable],
    by: Person,
    watch: Watch,
) -> Report:
    """Run the validations of `gate`, as `by`, over the deliverables in the work commit.

    Commands, and the files of the repository that they name, are those of the commit `policy`.
    Whatever a command does wrong is a finding. Raises GateError where a commit cannot be exported.
    """
    if not gate.validations:
        return Report((), ())
    with Exports(world, policy, work) as exports:
        run = _Run(exports, [one.path for one in deliverables], by, watch)
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
        paths = tuple(
            path
            for path in self._deliverables
            if wanted(path) and self._exports.work_files[path].mode != _SUBMODULE
        )
        if not paths:
            return Ran(validation, (), ())
        work = self._exports.fresh_work()
        reporter = _reporter(validation.name, self._by)
        found = [*self._not_there(paths, work, reporter)]
        there = [path for path in paths if path not in work.left_out]
        try:
            command = self._command(validation)
        except _Refused as reason:
            found.append(trouble(f"validation `{validation.name}`: {reason}", reporter))
            there = []
        if there:
            found += self._over(validation, command, there, work.folder, reporter)
        return Ran(validation, paths, tuple(found))
