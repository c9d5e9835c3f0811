"""What `git gate review` costs: 2,000 deliverables, a file of 10 MB, a diff of 100,000 lines.

`python tests/benchmarks/bench_review.py [ROUNDS]`: the first screen against `git gate show` with
its output in a pipe; the screen after a key against the plain command that prints the same, less
its start-up; the memory of the whole session. Exit 1 where a target is missed.
"""

from __future__ import annotations

import os
import select
import sys
import tempfile
import time
from pathlib import Path

from measure import Sandbox, medians

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.terminal import Terminal

RATIO = 1.5
KEY = 0.1  # seconds over the plain command
MEMORY = 200  # MB
DELIVERABLES = 2_000

# A key, what its screen shows, and the plain command that prints the same.
KEYS = (
    ("v", b"[ENTER] open", ()),
    ("\r", b"[ENTER] more", ()),
    ("n", b"[ENTER] more", ()),
    ("b", b"[ENTER] open", ()),
    ("b", b"[x] leave", ()),
    ("d", b"view full diff", ("diff",)),
    ("b", b"[x] leave", ()),
    ("?", b"any", ()),
)


def project(box: Sandbox) -> Path:
    """A clone whose branch adds the deliverables."""
    work = box.root / "work"
    box.run("git", "init", "-q", str(work))
    box.run("git-gate", "init", "--preset", "solo", cwd=work)
    box.run("git", "add", "aiwg.yml", ".aiwg/allowed_signers", cwd=work)
    box.run("git", "commit", "-q", "-m", "adopt", cwd=work)
    box.run("git", "checkout", "-q", "-b", "feature", cwd=work)
    for number in range(DELIVERABLES):
        file = work / f"docs/{number // 100:02}/UC-{number:05}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# UC-{number:05}\n\nText.\n")
    (work / "docs/00/a-large.txt").write_text("a line of text\n" * 700_000)
    (work / "docs/00/b-long.txt").write_text("another line of text\n" * 100_000)
    box.run("git", "add", "--all", cwd=work)
    box.run("git", "commit", "-q", "-m", "use cases", cwd=work)
    box.run("git-gate", "open", cwd=work)
    return work


def until(terminal: Terminal, text: bytes, start: int) -> None:
    """Read until the program has printed `text` after the byte `start`."""
    while text not in terminal.raw[start:]:
        if select.select([terminal.fd], [], [], 60)[0]:
            terminal.raw += os.read(terminal.fd, 1 << 16)


def main(rounds: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        box = Sandbox(Path(folder))
        work = project(box)
        env = {**box.env, "TERM": "xterm"}

        def first() -> float:
            started = time.perf_counter()
            with Terminal.gate(work, "review", env=env) as terminal:
                until(terminal, b"[x] leave", 0)
                return time.perf_counter() - started

        plain = [sys.executable, "-m", "gitgate"]
        found = medians(
            {
                "show": lambda: box.timed([*plain, "show"], work),
                "first screen": first,
                "start-up": lambda: box.timed([*plain, "--version"], work),
                "diff": lambda: box.timed([*plain, "diff"], work),
            },
            rounds,
        )
        print("  ".join(f"{name} {seconds:.2f} s" for name, seconds in found.items()))
        ratio = found["first screen"] / found["show"]
        print(f"first screen / show: {ratio:.2f} (target {RATIO})")
        missed = ratio > RATIO
        with Terminal.gate(work, "review", env=env) as terminal:
            until(terminal, b"[x] leave", 0)
            for key, text, command in KEYS:
                time.sleep(0.3)
                before, started = len(terminal.raw), time.perf_counter()
                terminal.keys(key)
                until(terminal, text, before)
                took = time.perf_counter() - started
                same = max(found["diff"] - found["start-up"], 0) if command else 0
                missed |= took > same + KEY
                print(f"key {key!r}: {1000 * took:.0f} ms (target {1000 * (same + KEY):.0f})")
            status = Path(f"/proc/{terminal.pid}/status").read_text()
            peak = int(status.split("VmHWM:")[1].split()[0]) // 1000
        print(f"memory: {peak} MB (target {MEMORY})")
        return int(missed or peak > MEMORY)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
