"""What `git gate review` costs: 2,000 deliverables, a file of 10 MB, a diff of 100,000 lines.

`python tests/benchmarks/bench_review.py [ROUNDS]`: the first screen against `git gate show` with
its output in a pipe; the screen after each key against the plain command that prints the same, less
its start-up, or against nothing; the memory of the session after each key, and that of the plain
commands. Exit 1 where a target is missed.
"""

from __future__ import annotations

import os
import select
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from measure import Sandbox, medians

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.terminal import Terminal

RATIO = 1.5
KEY = 0.1  # seconds over the plain command
MEMORY = 200  # MB
DELIVERABLES = 2_000
LARGE = 10_000_000  # bytes
RENDERED = 250_000  # bytes; of a larger artifact only the source is shown
PATIENCE = 30.0

GATE = (sys.executable, "-m", "gitgate")
START = (*GATE, "--version")


class Key(NamedTuple):
    """A key, what its screen shows, and the plain command that prints the same, with the one that
    only starts up."""

    name: str
    keys: str
    shows: bytes
    plain: tuple[str, ...] = ()
    start: tuple[str, ...] = START


BLOB = ("git", "cat-file", "blob", "HEAD:docs/00/A-large.md")
MARKDOWN = (sys.executable, "-m", "rich.markdown", "docs/00/B-markdown.md")
SOURCE = (sys.executable, "-m", "rich.syntax", "-c", "-l", "docs/00/B-markdown.md")
LOOKING = (
    Key("artifacts", "v", b"[ENTER] open"),
    Key("artifact of 10 MB", "\r", b"[ENTER] more", BLOB, ("git", "--version")),
    Key("its next page", " ", b"[ENTER] more"),
    Key("its end", "G", b"[ENTER] more"),
    Key("search asked", "/", b"Search"),
    Key("searched", "line 900\r", b"found"),
    Key("searched in vain", "/nowhere\r", b"nothing has"),
    Key("in the pager", "o", b"[ENTER] more", BLOB, ("git", "--version")),
    Key("Markdown in colours", "n", b"[ENTER] more", SOURCE, (*SOURCE[:3], "--help")),
    Key("Markdown, rendered", "m", b"rendered; m", MARKDOWN, (*MARKDOWN[:3], "--help")),
    Key("back to the list", "b", b"[ENTER] open"),
    Key("back to the panel", "b", b"[x] leave"),
    Key("help", "?", b"any"),
    Key("panel again", "b", b"[x] leave"),
)
DIFFING = (
    Key("summary", "d", b"view full diff", (*GATE, "diff")),
    Key("full diff", "v", b"view the summary", (*GATE, "diff", "--full")),
    Key("its end", "G", b"view the summary"),
    Key("searched in vain", "/nowhere\r", b"nothing has"),
    Key("summary again", "v", b"view full diff", (*GATE, "diff")),
    Key("panel again", "b", b"[x] leave"),
)


def long(word: str, every: int) -> str:
    """Lines of 10 MB, `every` one of which has the word."""
    row = "line {} of a long text: {}, and so it goes on to its end\n"
    count = LARGE // len(row.format("100000", "something"))
    return "".join(
        row.format(at, word if at % every == 7 % every else "as ever") for at in range(count)
    )


def short(word: str, every: int) -> str:
    """700,000 lines of 12 to 15 bytes."""
    return "".join(f"{at} {word if at % every == 7 % every else 'it'}\n" for at in range(700_000))


def wide(word: str, _: int) -> str:
    """10 MB in lines of 10,000 characters."""
    return "".join(f"{at} {word * (10_000 // len(word))}\n" for at in range(LARGE // 10_000))


def half(word: str, _: int) -> str:
    return "".join(f"line {at} {word if at % 2 else 'same'}\n" for at in range(100_000))


CASES: dict[str, tuple[Callable[[str, int], str], int]] = {
    "100,000 changed lines": (half, 2),
    "10 MB, changed in a few places": (long, 40_000),
    "10 MB, rewritten": (long, 1),
    "10 MB in long lines, rewritten": (wide, 1),
    "700,000 short lines, changed in a few places": (short, 40_000),
    "700,000 short lines, rewritten": (short, 1),
}


def adopted(box: Sandbox, name: str) -> Path:
    work = box.root / name
    box.run("git", "init", "-q", str(work))
    box.run("git-gate", "init", "--preset", "solo", cwd=work)
    put_up(box, work, "adopt", iterate=False)
    box.run("git", "switch", "-q", "-c", "feature", cwd=work)
    return work


def put_up(box: Sandbox, work: Path, said: str, *, iterate: bool = True) -> None:
    box.run("git", "add", "--all", cwd=work)
    box.run("git", "commit", "-q", "-m", said, cwd=work)
    if iterate:
        box.run("git-gate", "open", cwd=work)


def many(box: Sandbox) -> Path:
    """A clone whose branch adds the deliverables, one of 10 MB and one of much Markdown."""
    work = adopted(box, "many")
    for number in range(DELIVERABLES - 2):
        file = work / f"docs/{number // 100:02}/UC-{number:05}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# UC-{number:05}\n\nText.\n")
    (work / "docs/00/A-large.md").write_text(long("something", 7))
    part = "## Part {}\n\nSome *text* with `code` and **more** of it.\n\n- one\n- two\n\n"
    (work / "docs/00/B-markdown.md").write_text(
        "".join(part.format(at) for at in range(RENDERED // len(part)))[:RENDERED]
    )
    put_up(box, work, "use cases")
    return work


def changed(box: Sandbox, name: str) -> Path:
    """A clone with two iterations of one file."""
    make, every = CASES[name]
    work = adopted(box, f"changed-{len([*box.root.iterdir()])}")
    for word in ("before", "after"):
        (work / "a.md").write_text(make(word, every))
        put_up(box, work, word)
    return work


def until(terminal: Terminal, text: bytes, start: int) -> None:
    """Read until the program has printed `text` after the byte `start`."""
    end = time.monotonic() + PATIENCE
    while text not in terminal.raw[start:]:
        if time.monotonic() > end:
            sys.exit(f"no {text!r} on the screen")
        if select.select([terminal.fd], [], [], 1)[0]:
            terminal.raw += os.read(terminal.fd, 1 << 16)


def peak(terminal: Terminal) -> int:
    """The most memory that the program had so far, in MB."""
    status = Path(f"/proc/{terminal.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1000


class Sitting(NamedTuple):
    """One session: seconds by key, and the memory after it."""

    first: float
    panel: int
    seconds: tuple[float, ...]
    memory: tuple[int, ...]


def sat(box: Sandbox, work: Path, keys: tuple[Key, ...]) -> Sitting:
    env = {**box.env, "TERM": "xterm", "GIT_PAGER": "cat >/dev/null"}
    seconds, memory = [], []
    started = time.perf_counter()
    with Terminal.gate(work, "review", env=env) as terminal:
        until(terminal, b"[x] leave", 0)
        first, panel = time.perf_counter() - started, peak(terminal)
        for key in keys:
            time.sleep(0.3)  # a key that comes at once is taken for one of a burst
            if len(key.keys) > 1 and key.keys[0] == "/":
                before = len(terminal.raw)
                terminal.keys("/")
                until(terminal, b"Search", before)
            before, began = len(terminal.raw), time.perf_counter()
            terminal.keys(key.keys.removeprefix("/") or key.keys)
            until(terminal, key.shows, before)
            seconds.append(time.perf_counter() - began)
            memory.append(peak(terminal))
    return Sitting(first, panel, tuple(seconds), tuple(memory))


def keys_of(box: Sandbox, work: Path, keys: tuple[Key, ...], rounds: int) -> bool:
    """Print what each key took; whether a target was missed."""
    commands = {command for key in keys if key.plain for command in (key.plain, key.start)}
    took = (
        medians({" ".join(one): lambda one=one: box.timed(one, work) for one in commands}, rounds)
        if commands
        else {}
    )
    sittings = [sat(box, work, keys) for _ in range(rounds)]
    missed = False
    for at, key in enumerate(keys):
        found = statistics.median(one.seconds[at] for one in sittings)
        memory = max(one.memory[at] for one in sittings)
        same = max(took[" ".join(key.plain)] - took[" ".join(key.start)], 0) if key.plain else 0
        wrong = memory >= MEMORY or found > same + KEY
        print(
            f"  {key.name}: {1000 * found:.0f} ms, target {1000 * (same + KEY):.0f}; {memory} MB"
            + (" MISSED" if wrong else "")
        )
        missed |= wrong
    return missed


def plainly(box: Sandbox, work: Path, *args: str) -> bool:
    memory = box.memory([*GATE, *args], work)
    wrong = memory >= MEMORY
    print(f"  git gate {' '.join(args)} alone: {memory} MB" + (" MISSED" if wrong else ""))
    return wrong


def main(rounds: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        box = Sandbox(Path(folder))
        work = many(box)
        found = medians(
            {
                "show": lambda: box.timed([*GATE, "show"], work),
                "first screen": lambda: sat(box, work, ()).first,
            },
            rounds,
        )
        ratio = found["first screen"] / found["show"]
        print(f"{DELIVERABLES} deliverables, medians of {rounds}; memory less than {MEMORY} MB:")
        print("  " + "  ".join(f"{name} {seconds:.2f} s" for name, seconds in found.items()))
        missed = ratio > RATIO
        print(f"  first screen / show: {ratio:.2f}, target {RATIO}{' MISSED' if missed else ''}")
        missed |= keys_of(box, work, (*LOOKING, *DIFFING), rounds)
        for args in (["show"], ["diff"], ["diff", "--full"]):
            missed |= plainly(box, work, *args)
        for name in CASES:
            work = changed(box, name)
            print(f"{name}:")
            missed |= keys_of(box, work, DIFFING, rounds)
            for args in (["diff"], ["diff", "--full"]):
                missed |= plainly(box, work, *args)
            print(f"  git diff: {box.memory(['git', 'diff', 'HEAD~1', 'HEAD'], work)} MB")
        return int(missed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
