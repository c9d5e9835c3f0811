"""Compare adding one more record to many notes in process with one `git notes append`.

Run it by hand: `python tests/benchmarks/bench_notes.py [notes]`. It makes a repository with notes
on that many objects (10,000), then adds records both ways, each time to an object that has none
and to one that has a note, and prints the best times and their ratio. The target is at most 2. In
process the repository is open and its configuration read, as they are after a decision, but no
tree of the notes. A last line shows how long the notes took in one batch, and reading one note and
all of them.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from gitgate.core import ids
from gitgate.git import notes
from gitgate.git.repository import Repository

TARGET = 2.0
ROUNDS = 7
RECORD = b"a record of the usual size\n" + b"x" * 69 + b"\n" + (b"y" * 69 + b"\n") * 12


def git(where: Path, *argv: str, stdin: bytes = b"") -> str:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    done = subprocess.run(["git", *who, "-C", str(where), *argv], input=stdin, capture_output=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr.decode())
    return done.stdout.decode().strip()


def make(where: Path, count: int) -> list[str]:
    """A repository with `count` blobs, which `git notes append` needs to be there; their ids."""
    git(where, "init", "-q")
    blobs = b"".join(b"blob\nmark :%d\ndata 6\n%06d\n" % (n, n) for n in range(1, count + 1))
    git(where, "fast-import", "--quiet", stdin=blobs)
    return [hashlib.sha1(b"blob 6\0%06d" % n).hexdigest() for n in range(1, count + 1)]


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        objects = make(where, count + 2 * ROUNDS)
        noted, bare = objects[:count], objects[count:]
        record = where / "record"
        repo = Repository.open(where)
        batch = timed(lambda: notes.add_many(repo, {oid: [RECORD] for oid in noted}))
        git(where, "gc", "-q")
        for kind, ours, theirs in (
            ("an object without a note", bare[:ROUNDS], bare[ROUNDS:]),
            ("an object with a note", noted[:ROUNDS], noted[-ROUNDS:]),
        ):
            in_process, by_git = [], []
            for number in range(ROUNDS):
                more = RECORD + b"%s %d\n" % (kind.encode(), number)
                record.write_bytes(more)
                append = ("notes", f"--ref={ids.NOTES}", "append", "-F", str(record))
                fresh = Repository.open(where)
                assert fresh.config
                in_process.append(timed(lambda: notes.add(fresh, ours[number], more)))  # noqa: B023
                by_git.append(timed(lambda: git(where, *append, theirs[number])))  # noqa: B023
            ratio = min(in_process) / min(by_git)
            print(
                f"{kind}: in process {min(in_process) * 1e3:.1f} ms, git notes append"
                f" {min(by_git) * 1e3:.1f} ms, ratio {ratio:.2f} (target at most {TARGET})"
            )
        fresh = Repository.open(where)
        one = timed(lambda: notes.read(fresh, noted[0]))
        every = timed(lambda: sum(1 for _ in notes.every(fresh)))
        print(
            f"{count} notes in one batch {batch:.2f} s; reading one {one * 1e3:.2f} ms,"
            f" all {every:.2f} s"
        )


if __name__ == "__main__":
    main()
