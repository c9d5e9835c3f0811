"""Repositories for the tests of this folder, made with git itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from gitgate.core.person import Person, Stamp

ROOT = Path(__file__).parents[2]
ADA = Person("Ada Lovelace", "ada@example.com")
WHEN = 1_764_565_200
STAMP = Stamp(ADA, WHEN)


def git(
    folder: Path, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None
) -> str:
    """Run git; its output as text. An error of git is an error of the test."""
    done = subprocess.run(
        ["git", "-C", str(folder), *args],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        env={**os.environ, **(env or {})},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, (args, done.stderr.decode())
    return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def make(folder: Path, *options: str, commits: int = 1) -> Path:
    """A repository with some commits on main, whose file `f` has the commit's number."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", *options)
    for number in range(1, commits + 1):
        commit(folder, f"c{number}", f=f"{number}\n")
    return folder


def commit(folder: Path, message: str, **files: str) -> str:
    """Commit these files on what is checked out; the commit's id."""
    for name, content in files.items():
        (folder / name).write_text(content)
        git(folder, "add", name)
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def python(
    script: str, *args: str | Path, env: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a Python process that can import the package."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, args)],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests' / 'git'}", **(env or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


_RACE = """
import os, sys, traceback
from pathlib import Path
exec(sys.argv[1])
folder, count = Path(sys.argv[2]), int(sys.argv[3])
gate, start = os.pipe()
line, ready = os.pipe()

def wait():
    os.write(ready, b".")
    os.read(gate, 1)

children = []
for number in range(count):
    child = os.fork()
    if not child:
        os.close(start)
        status = 1
        try:
            run(folder, number, wait)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    children.append(child)
os.close(ready)
for _ in children:
    os.read(line, 1)
os.close(start)
sys.exit(any([os.waitpid(child, 0)[1] for child in children]))
"""


def race(script: str, folder: Path, count: int) -> list[str]:
    """Run a script's `run(folder, number, wait)` in `count` processes; the lines they print.

    `wait()` returns in all of them at one moment.
    """
    runner = python(_RACE, script, folder, str(count))
    out, err = runner.communicate(timeout=300)
    assert runner.returncode == 0, err.decode()
    return out.decode().splitlines()
