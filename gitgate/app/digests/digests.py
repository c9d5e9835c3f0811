"""The file in which this clone keeps digests of ledgers: safe to delete, rebuilt at will.

`git-gate/digests` in git's common folder, and in the same form `git-gate/noted` for the notes: a
first line with format, version and the checksum of all the rest, lines of a head, an empty line, a
body. It is replaced whole by a rename. A file that is not exactly what was written is no file; of
several writers the last one wins, and each of them has written what is true.

Most instances have ended, and nobody asks about them one by one. Those that the journal names at
just the tip of their digest, and that ended by a landing and without a rejection, are quiet: they
stay lines of text, behind the place where they landed, until somebody needs one.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from gitgate.core.digest import ENDED, NONE, Digest, digest_of, line_of
from gitgate.core.journal import shard_of
from gitgate.errors import Exit, GateError
from gitgate.git.objects import shared_access
from gitgate.git.repository import Repository

MAX_FILE = 256 << 20
"""Bytes beyond which a file is not read: no clone has so many instances."""

DIGESTS, NOTED = "digests", "noted"

_MOST_TAKEN = 20


def load(repo: Repository, name: str) -> tuple[list[str], bytes] | None:
    """The lines of the head of a file and its body; None where there is no sound one."""
    path = _path(repo, name)
    try:
        if path.stat().st_size > MAX_FILE:
            return None
        data = path.read_bytes()
        first, _, _ = data[:200].partition(b"\n")
        if first != _first_line(name, memoryview(data)[len(first) + 1 :]):
            return None
        end = data.index(b"\n\n")
        head = data[len(first) + 1 : end].decode("utf-8").split("\n")
    except (OSError, ValueError):
        return None
    return head, data[end + 1 :]


def save(repo: Repository, name: str, head: Iterable[str], body: Iterable[bytes]) -> None:
    """Put a file in place, whole or not at all; where it cannot be written there is none.

    The parts of the body are lines, each with its end.
    """
    if repo.quarantine:
        return
    rest = ("\n".join(head) + "\n\n").encode("utf-8") + b"".join(body)
    path = _path(repo, name)
    with suppress(OSError), shared_access(repo.config):
        path.parent.mkdir(exist_ok=True)
        temporary = path.with_name(f".{name}.{secrets.token_hex(8)}")
        try:
            with temporary.open("xb") as file:
                file.write(_first_line(name, memoryview(rest)) + b"\n")
                file.write(rest)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _path(repo: Repository, name: str) -> Path:
    return repo.common_dir / "git-gate" / name


def _first_line(name: str, rest: memoryview) -> bytes:
    digest = hashlib.sha1(rest, usedforsecurity=False).hexdigest()
    return f"git-gate {name} 2 {digest}".encode()


@dataclass
class Place:
    """Where something has landed: the gate and its target, how the gate compares there, and the
    target's tip on whose first-parent chain the landings were found.

    `quiet` are the lines of quiet instances, between two ends of lines; `noted` their records,
    each as the place of its instance, a colon and its id.
    """

    gate: str
    target: str
    compared: str
    tip: str
    quiet: bytes = b"\n"
    noted: bytes = b"\n"

    def take(self, place: str) -> Digest | None:
        """Take one instance out of the quiet ones."""
        at = self.quiet.find(f"\n{place}\t".encode())
        if at < 0:
            return None
        end = self.quiet.index(b"\n", at + 1)
        (one,) = _digests([self.quiet[at + 1 : end].decode("utf-8")])
        self.quiet = self.quiet[:at] + self.quiet[end:]
        for token in tokens(one):
            self.noted = self.noted.replace(b"\n%b\n" % token, b"\n", 1)
        return one

    def thaw(self) -> list[Digest]:
        """Take all of them."""
        lines = self.quiet.decode("utf-8").split("\n")[1:-1]
        self.quiet = self.noted = b"\n"
        return _digests(lines)


def tokens(one: Digest) -> list[bytes]:
    """The records of an instance as `Place.noted` has them."""
    if one.records == NONE:
        return []
    return [f"{one.place}:{record}".encode() for record in one.records.split(",")]


@dataclass
class Book:
    """All digests: `rows` by their places, and the quiet ones.

    `journal` is the journal's commit that they are drawn from, None where there was none or more
    than one; `changed` counts what is not in the file.
    """

    journal: str | None = None
    places: list[Place] = field(default_factory=list)
    rows: dict[str, Digest] = field(default_factory=dict)
    changed: int = 0
    taken: int = 0

    def row(self, place: str) -> Digest | None:
        """The digest at a place, which is a row from now on."""
        if place in self.rows:
            return self.rows[place]
        gate = place.partition("/")[0]
        for one in self.places:
            if one.gate == gate and len(one.quiet) > 1:
                if self.taken >= _MOST_TAKEN:
                    self.thaw(one)
                    if place in self.rows:
                        return self.rows[place]
                    continue
                self.taken += 1
                found = one.take(place)
                if found is not None:
                    self.rows[place] = found
                    return found
        return None

    def thaw(self, *places: Place) -> None:
        """Make rows of all that is quiet at these places."""
        for one in places:
            for row in one.thaw():
                self.rows[row.place] = row

    def size(self) -> int:
        return len(self.rows) + sum(one.quiet.count(b"\n") - 1 for one in self.places)


def read_book(repo: Repository) -> Book:
    """The digests as they were kept; what cannot be read is not there."""
    found = load(repo, DIGESTS)
    if found is None:
        return Book()
    head, body = found
    try:
        first, *places = head
        book = Book(first.removeprefix("journal ").replace("-", "") or None)
        at = int(places.pop(0).removeprefix("rows "))
        rows = map(digest_of, body[1:at].decode("utf-8").split("\n")[:-1])
        book.rows = {row.place: row for row in rows}
        for line in places:
            _, gate, target, compared, tip, quiet, noted = line.split(" ")
            end, last = at + int(quiet), at + int(quiet) + int(noted)
            book.places.append(
                Place(gate, target, compared, tip, body[at - 1 : end], body[end - 1 : last])
            )
            at = last
        if at != len(body):
            raise ValueError(at)
    except (TypeError, ValueError, IndexError):
        return Book()
    return book


def write_book(repo: Repository, book: Book, here: Iterable[str]) -> None:
    """Keep the digests; `here` are the places of instances that have refs."""
    _settle_down(book, frozenset(here))
    rows = "".join(f"{line_of(one)}\n" for one in book.rows.values()).encode("utf-8")
    head = [f"journal {book.journal or '-'}", f"rows {len(rows) + 1}"]
    body = [rows]
    for one in book.places:
        quiet, noted = one.quiet[1:], one.noted[1:]
        said = f"landed {one.gate} {one.target} {one.compared} {one.tip}"
        head.append(f"{said} {len(quiet)} {len(noted)}")
        body += [quiet, noted]
    save(repo, DIGESTS, head, body)
    book.changed = 0


def _settle_down(book: Book, here: frozenset[str]) -> None:
    """Make rows quiet that can be."""
    lines: dict[int, list[bytes]] = {}
    records: dict[int, list[bytes]] = {}
    for row in list(book.rows.values()):
        if row.state != ENDED + NONE or row.people != NONE or row.landed == NONE:
            continue
        numbers = {number for number, _ in landings(row)}
        if row.tip != row.journal or row.place in here or len(numbers) > 1:
            continue
        number = numbers.pop()
        if number < len(book.places) and book.places[number].gate == row.gate:
            lines.setdefault(number, []).append(f"{line_of(row)}\n".encode())
            records.setdefault(number, []).extend(b"%b\n" % one for one in tokens(row))
            del book.rows[row.place]
    for number, new in lines.items():
        place = book.places[number]
        place.quiet += b"".join(new)
        place.noted += b"".join(records[number])


def _digests(lines: Iterable[str]) -> list[Digest]:
    """The digests of lines whose checksum was right: one that is none was put there on purpose,
    and could hide an instance."""
    try:
        return list(map(digest_of, lines))
    except TypeError:
        said = "git-gate/digests in the folder of git has a line that no git-gate wrote"
        raise GateError(Exit.UNTRUSTED, said, "rm .git/git-gate/digests") from None


def landings(row: Digest) -> Iterator[tuple[int, str]]:
    """The landings of a digest: the number of the place, and the commit that ended a life."""
    if row.landed != NONE:
        for one in row.landed.split(","):
            number, _, commit = one.partition(":")
            yield int(number), commit


def order(one: Digest) -> tuple[str, str, bytes]:
    """Sorts instances as the journal does."""
    return one.gate, shard_of(one.subject), one.subject.encode()
