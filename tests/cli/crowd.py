"""git-gate's commands in processes of their own: many at one moment, or one killed at one point.

One process imports the program and forks a child for each command, so that twenty of them are
released at one moment and do not first wait for Python. A child has the environment, the folder
and the streams of a command that was typed, and ends as that one would.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from support.project import Answer, Person

ROOT = Path(__file__).parents[2]

_PARENT = """
import json, os, sys, tempfile
import click, cryptography.hazmat.primitives.asymmetric.ed25519
import crowd_child
from gitgate.app.asking import opening, withdrawing
from gitgate.app.clone import doctor
from gitgate.app.deciding import deciding
from gitgate.app.exchange import repair
from gitgate.app.showing import query
from gitgate.cli import asking, checking, looking, main, setting_up
from gitgate.cli import deciding as _
from gitgate.signing import openpgp, ssh
from gitgate.ui import plain

for line in sys.stdin:
    runs = json.loads(line)
    wait, release = os.pipe()
    children = []
    for run in runs:
        out, err, trace = (tempfile.TemporaryFile() for _ in range(3))
        child = os.fork()
        if not child:
            os.close(release)
            crowd_child.live(run, wait, out.fileno(), err.fileno(), trace.fileno())
        children.append((child, out, err, trace))
    os.close(wait)
    os.close(release)
    answers = []
    for child, *files in children:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for file in files:
            file.seek(0)
            texts.append(file.read().decode("utf-8", "surrogateescape"))
            file.close()
        answers.append([status, *texts])
    print(json.dumps(answers), flush=True)
"""


@dataclass(frozen=True)
class Run:
    """One command: what is typed, where, and by whom. `kill` ends it at its so-manieth point."""

    args: Sequence[str]
    at: Path
    env: Mapping[str, str] = field(default_factory=dict)
    kill: int = 0


@dataclass(frozen=True)
class Ran:
    """How a command ended; `points` are those that it passed, in order."""

    answer: Answer
    points: tuple[str, ...]

    @property
    def killed(self) -> bool:
        return self.answer.status == -signal.SIGKILL


class Crowd:
    """Runs commands of git-gate in processes of their own."""

    def __init__(self) -> None:
        path = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
        self._parent = subprocess.Popen(
            [sys.executable, "-c", _PARENT],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def at_once(self, *runs: Run) -> list[Answer]:
        """Run them all at one moment; their answers in the order given."""
        return [ran.answer for ran in self._ask(runs)]

    def alone(self, run: Run) -> Ran:
        [ran] = self._ask([run])
        return ran

    def _ask(self, runs: Sequence[Run]) -> list[Ran]:
        asked = [
            {"args": list(run.args), "at": str(run.at), "env": dict(run.env), "kill": run.kill}
            for run in runs
        ]
        assert self._parent.stdin
        assert self._parent.stdout
        self._parent.stdin.write(json.dumps(asked) + "\n")
        self._parent.stdin.flush()
        answers = json.loads(self._parent.stdout.readline())
        return [
            Ran(Answer(status, out, err), tuple(points.splitlines()))
            for status, out, err, points in answers
        ]

    def close(self) -> None:
        self._parent.communicate()


@contextmanager
def crowd() -> Iterator[Crowd]:
    made = Crowd()
    try:
        yield made
    finally:
        made.close()


def as_person(who: Person) -> dict[str, str]:
    """The variables by which a command runs as somebody, whatever the repository's settings."""
    settings = {
        "user.name": who.name,
        "user.email": who.email,
        "gpg.format": "ssh",
        "user.signingKey": str(who.key),
    }
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables
