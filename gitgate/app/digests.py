"""The file in which this clone keeps digests of ledgers: safe to delete, rebuilt at will.

`git-gate/digests` in git's common folder, and in the same form `git-gate/noted` for the notes: a
first line with format, version and the checksum of all the rest, lines of a head, an empty line, a
body. It is replaced whole by a rename. A file that is not exactly what was written is no file; of
several writers the last one wins, and each of them has written what is true.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from gitgate.core.digest import Digest, digest_of, line_of
from gitgate.core.journal import shard_of
from gitgate.git.objects import shared_access
from gitgate.git.repository import Repository

MAX_FILE = 256 << 20
"""Bytes beyond which a file is not read: no clone has so many instances."""

DIGESTS, NOTED = "digests", "noted"


def load(repo: Repository, name: str) -> tuple[list[str], str] | None:
    """The lines of the head of a file and its body; None where there is no sound one."""
    path = _path(repo, name)
    try:
        if path.stat().st_size > MAX_FILE:
            return None
        first, _, rest = path.read_bytes().partition(b"\n")
        if first != _first_line(name, rest):
            return None
        head, _, body = rest.decode("utf-8").partition("\n\n")
    except (OSError, UnicodeDecodeError):
        return None
    return head.split("\n"), body


def save(repo: Repository, name: str, head: Iterable[str], body: str) -> None:
    """Put a file in place, whole or not at all; where it cannot be written there is none."""
    if repo.quarantine:
        return
    rest = ("\n".join(head) + "\n\n" + body).encode("utf-8")
    path = _path(repo, name)
    with suppress(OSError):
        with shared_access(repo.config):
            path.parent.mkdir(exist_ok=True)
            temporary = path.with_name(f".{name}.{secrets.token_hex(8)}")
            try:
                with temporary.open("xb") as file:
                    file.write(_first_line(name, rest) + b"\n")
                    file.write(rest)
                temporary.replace(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise


def _path(repo: Repository, name: str) -> Path:
    return repo.common_dir / "git-gate" / name


def _first_line(name: str, rest: bytes) -> bytes:
    digest = hashlib.sha1(rest, usedforsecurity=False).hexdigest()
    return f"git-gate {name} 1 {digest}".encode()


@dataclass(frozen=True, slots=True)
class Place:
    """Where something has landed: the gate and its target, how the gate compares there, and the
    target's tip on whose first-parent chain the landings were found."""

    gate: str
    target: str
    compared: str
    tip: str


@dataclass
class Book:
    """All digests by their places. `journal` is the journal's commit that they are drawn from,
    None where there was none or more than one; `changed` counts what is not in the file."""

    journal: str | None = None
    places: list[Place] = field(default_factory=list)
    rows: dict[str, Digest] = field(default_factory=dict)
    changed: int = 0


def read_book(repo: Repository) -> Book:
    """The digests as they were kept; what cannot be read is not there."""
    found = load(repo, DIGESTS)
    if found is None:
        return Book()
    head, body = found
    try:
        journal = _only(head, "journal ").removeprefix("journal ")
        places = [Place(*line.split(" ")[1:]) for line in head if line.startswith("landed ")]
    except (TypeError, ValueError):
        return Book()
    try:
        rows = {one.place: one for one in map(digest_of, _lines(body))}
    except TypeError:
        rows = dict(_each(_lines(body)))
    return Book(None if journal == "-" else journal, places, rows)


def write_book(repo: Repository, book: Book) -> None:
    """Keep the digests, in the order in which the journal has its instances."""
    head = [f"journal {book.journal or '-'}"]
    head += [f"landed {one.gate} {one.target} {one.compared} {one.tip}" for one in book.places]
    ordered = sorted(book.rows.values(), key=_order)
    save(repo, DIGESTS, head, "".join(f"{line_of(one)}\n" for one in ordered))
    book.changed = 0


def in_order(rows: Mapping[str, Digest]) -> dict[str, Digest]:
    """The rows in the order in which the journal has its instances."""
    return {one.place: one for one in sorted(rows.values(), key=_order)}


def _lines(body: str) -> list[str]:
    return body.split("\n")[:-1]


def _order(one: Digest) -> tuple[str, str, bytes]:
    return one.gate, shard_of(one.subject), one.subject.encode()


def _each(lines: Iterable[str]) -> Iterable[tuple[str, Digest]]:
    for line in lines:
        with suppress(TypeError):
            one = digest_of(line)
            yield one.place, one


def _only(head: list[str], prefix: str) -> str:
    (line,) = (one for one in head if one.startswith(prefix))
    return line
