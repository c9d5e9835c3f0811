"""Pairs of hostile trees, and what git itself says of the difference."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

from support.treekit import EXECUTABLE, REGULAR, SUBMODULE, SYMLINK, Content

LONG = bool(os.environ.get("GIT_GATE_LONG"))

NAMES = [
    b"plain.md",
    b"a b",
    b" lead",
    b'"quoted"',
    b"new\nline",
    b"tab\there",
    b"back\\slash",
    b"esc\x1b[2J",
    b"\xff\xfe",
    "é".encode(),
    "e\u0301".encode(),
    "\u202egpj.exe".encode(),
    b"x b",
    b"-rf",
    b"--- a",
    b"a => b",
    b"{a => b}",
    b"@@",
    b"[red]",
    b".gitattributes",
    b"=",
    b"CON",
    b"#hash",
    b"%0A",
    b"dev null",
]

LINES = [
    b"",
    b"a",
    b"common line",
    b"\ttab",
    b"-- dashes",
    b"++ plus",
    b"@@ -1,2 +3,4 @@ x",
    b"\\ No newline at end of file",
    b"diff --git a/x b/x",
    b"--- a/x",
    b"+++ b/x",
    b"form\x0cfeed",
    b"vertical\x0btab",
    b"lone\rcr",
    b"crlf\r",
    b"\r",
    "next\u0085line".encode(),
    "para\u2029 line\u2028".encode(),
    b"latin \xe9",
    b"\xff\xfe\x80",
    b"\x1b[2J",
    "\u202eevil".encode(),
    b" ",
    b"[red]dict[str]a[/]b",
    b"{",
    b"}",
    b"def f():",
]


def lines(rng: Random) -> bytes:
    """A text of up to some forty lines, with or without a newline at its end."""
    some = [rng.choice(LINES) for _ in range(rng.choice([0, 1, 2, 5, 12, 40]))]
    text = b"\n".join([b"%s%d" % (line, rng.randrange(3)) if line else line for line in some])
    return text + rng.choice([b"\n", b"\n", b""])


def content(rng: Random) -> Content:
    """A file of any kind."""
    kind = rng.randrange(16)
    if kind == 0:
        return b""
    if kind == 1:
        return lines(rng) + b"\0" + lines(rng)
    if kind == 2:
        return b"x\n" * 4100 + b"\0" + lines(rng)  # beyond where git looks for a NUL
    if kind == 3:
        return lines(rng).decode("utf-8", "replace").encode("utf-16")
    if kind == 4:
        return SYMLINK, rng.choice([b"plain.md", b"../out", b"\xff\n\x1b", b"a" * 300])
    if kind == 5:
        return SUBMODULE, rng.choice([b"1", b"2"]) * 40
    if kind == 6:
        return EXECUTABLE, lines(rng)
    if kind == 7:
        return b"long " * rng.randrange(3000) + rng.choice([b"\n", b""])
    return lines(rng)


def edited(rng: Random, old: bytes) -> bytes:
    """The text with some of its lines changed, moved, dropped or repeated."""
    some = old.split(b"\n")
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(some))
        how = rng.randrange(6)
        if how == 0:
            some[at] = rng.choice(LINES)
        elif how == 1:
            some.insert(at, rng.choice(LINES))
        elif how == 2 and len(some) > 1:
            del some[at]
        elif how == 3:
            some[at] = some[at].rstrip(b"\r") + rng.choice([b"\r", b" ", b""])
        elif how == 4:
            some.append(some[at])
        else:
            some[at] = some[at].replace(b" ", b"\t")
    return b"\n".join(some)


Files = dict[bytes, Content]


def path(rng: Random, files: Files) -> bytes:
    """A new path that fits beside the others."""
    while True:
        parts = [rng.choice(NAMES) for _ in range(rng.randrange(1, 4))]
        found = b"/".join(parts)
        if found not in files and _fits(found, files):
            return found


def _fits(new: bytes, files: Files) -> bool:
    above = [new[:at] for at, byte in enumerate(new) if byte == 0x2F]
    return not any(one in files for one in above) and not any(
        one.startswith(new + b"/") for one in files
    )


def tree(rng: Random) -> Files:
    files: Files = {}
    for _ in range(rng.randrange(1, 14)):
        files[path(rng, files)] = content(rng)
    return files


def changed(rng: Random, old: Files) -> Files:
    """Another tree that has much of the first."""
    files = dict(old)
    for _ in range(rng.randrange(0, 9)):
        if not files:
            break
        one = rng.choice(sorted(files))
        mode, data = _parts(files[one])
        how = rng.randrange(9)
        if how == 0:
            del files[one]
        elif how == 1:
            files[path(rng, files)] = content(rng)
        elif how == 2:
            files[one] = content(rng)
        elif how == 3 and mode in (REGULAR, EXECUTABLE):
            files[one] = REGULAR + EXECUTABLE - mode, data
        elif how == 4:
            del files[one]
            files[path(rng, files)] = mode, data
        elif how == 5 and mode in (REGULAR, EXECUTABLE):
            del files[one]
            files[path(rng, files)] = mode, edited(rng, data)
        elif how == 6 and mode in (REGULAR, EXECUTABLE):
            del files[one]
            files[one + b"/" + rng.choice(NAMES)] = mode, data
        elif mode in (REGULAR, EXECUTABLE):
            files[one] = mode, edited(rng, data)
    return files


def _parts(found: Content) -> tuple[int, bytes]:
    return found if isinstance(found, tuple) else (REGULAR, found)


def numstat(repo: Path, old: str, new: str) -> dict[tuple[bytes, bytes], tuple[str, str]]:
    """By old and new path, what `git diff --numstat -z` counts."""
    fields = iter(_diff(repo, "--numstat", old, new))
    found = {}
    for field in fields:
        added, deleted, name = field.split(b"\t", 2)
        pair = (name, name) if name else (next(fields), next(fields))
        found[pair] = added.decode(), deleted.decode()
    return found


def raw(repo: Path, old: str, new: str) -> dict[tuple[bytes, bytes], tuple[str, str, str]]:
    """By old and new path the status letter and the two modes of `git diff --raw -z`."""
    fields = iter(_diff(repo, "--raw", old, new))
    found = {}
    for head in fields:
        before, after, _, _, status = head.decode().lstrip(":").split(" ")
        name = next(fields)
        pair = (name, next(fields)) if status[0] in "RC" else (name, name)
        found[pair] = status[0], before, after
    return found


def _diff(repo: Path, form: str, old: str, new: str) -> Iterator[bytes]:
    done = subprocess.run(
        ["git", "-C", str(repo), "diff", "--no-ext-diff", "-M", form, "-z", old, new],
        capture_output=True,
        check=True,
    )
    return iter(done.stdout.split(b"\0")[:-1])
