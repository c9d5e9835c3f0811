"""The journal's form: the files of its index, the messages of its commits, the merge of two files.

The tree of a journal commit has, for each gate, up to 256 files by the first two hex digits of the
subject's SHA-256, and in them a line for each request (design, section 2). An instance that never
had a request has one line without one. What a line says is drawn from the ledger that it names, and
from nothing else, so that whoever has the ledger can check it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from gitgate.core import ids
from gitgate.core.events import STATUSES

MAX_FILE = 16 * 1024 * 1024
"""Bytes of one file of the index."""

MAX_TIPS = 100
"""Ledger tips that one commit has as further parents; more of them take more commits."""

ROOT_MESSAGE = "journal of gates\n"
"""The message of the journal's first commit, which has an empty tree and no parent."""

_SUFFIX = ".tsv"
_FILE = re.compile(rb"([a-z0-9][a-z0-9-]{0,63})/([0-9a-f]{2})\.tsv")
_OID = "([0-9a-f]{40})"
# Control characters (category Cc) are exactly these two ranges.
_LINE = re.compile(
    rf"([^\x00-\x1f\x7f-\x9f]+)\t{_OID}\t([a-z]+)\t"
    rf"(?:-\t-\t-\t-|{_OID}\t{_OID}\t{_OID}\t{_OID})"
)


class Line(NamedTuple):
    """A request of an instance, or an instance that has none: then the last four are None.

    `tip` is the newest ledger commit of the instance that is known; `status` what the last ledger
    commit said for which the request was the newest one. It is for lists: no verdict relies on it.
    """

    subject: str
    tip: str
    status: str
    request: str | None = None
    work: str | None = None
    base_tree: str | None = None
    work_tree: str | None = None


Instances = Mapping[str, tuple[Line, ...]]
"""The lines of one file by subject; the last line of each is its newest request."""


class Merged(NamedTuple):
    """The lines of two files together; `apart` are the subjects of which the tips went apart."""

    instances: dict[str, tuple[Line, ...]]
    apart: tuple[str, ...]


def shard_of(subject: str) -> str:
    """The two hex digits that say in which file of its gate a subject stands."""
    return hashlib.sha256(subject.encode()).hexdigest()[:2]


def file_name(shard: str) -> bytes:
    """The name of a file in the folder of its gate."""
    return f"{shard}{_SUFFIX}".encode()


def file_of(gate: str, subject: str) -> bytes:
    """The path of the file in which an instance stands: `elaboration/4f.tsv`."""
    return gate.encode() + b"/" + file_name(shard_of(subject))


def parse_path(path: bytes) -> tuple[str, str] | None:
    """Gate and shard of a path of the index; None for a file that is none of the index."""
    found = _FILE.fullmatch(path)
    return (found[1].decode(), found[2].decode()) if found else None


def format_lines(lines: Iterable[Line]) -> bytes:
    """The bytes of a file: sorted by the bytes of the subject, those of one subject as given.

    ValueError for lines that have no stored form.
    """
    ordered = sorted(lines, key=lambda line: line.subject.encode())
    data = "".join(
        "\t".join("-" if one is None else one for one in line) + "\n" for line in ordered
    ).encode()
    if parse_lines(data) != tuple(ordered):
        raise ValueError("a line has no stored form")
    return data


def parse_lines(data: bytes) -> tuple[Line, ...]:
    """Read a file of the index. ValueError, a phrase, for what `format_lines` does not give."""
    if len(data) > MAX_FILE:
        raise ValueError(f"it has more than {MAX_FILE >> 20} MiB")
    *rows, rest = data.decode("utf-8").split("\n")
    if rest or not rows:
        raise ValueError("it has no line" if not rest else "its last line has no end")
    lines = tuple(_line(number, row) for number, row in enumerate(rows, 1))
    before = b""
    for subject, group in groupby(lines, key=lambda line: line.subject):
        raw = subject.encode()
        if raw <= before:
            raise ValueError(f"the lines of {subject[:80]!r} are not where they belong")
        _check_instance(subject, list(group))
        before = raw
    return lines


def _line(number: int, row: str) -> Line:
    found = _LINE.fullmatch(row)
    if found is None:
        raise ValueError(f"its line {number} is malformed: {row[:80]!r}")
    line = Line(*found.groups())
    subject = line.subject
    if subject != subject.strip() or len(subject.encode()) > ids.MAX_SUBJECT:
        raise ValueError(f"its line {number} has no subject: {subject[:80]!r}")
    if line.status not in STATUSES:
        raise ValueError(f"its line {number} has no status: {line.status[:80]!r}")
    return line


def _check_instance(subject: str, lines: Sequence[Line]) -> None:
    if len(lines) == 1:
        return
    if len({line.tip for line in lines}) > 1:
        raise ValueError(f"the lines of {subject[:80]!r} name several ledgers")
    requests = {line.request for line in lines}
    if None in requests or len(requests) < len(lines):
        raise ValueError(f"the lines of {subject[:80]!r} do not name one request each")


def by_subject(lines: Iterable[Line]) -> dict[str, tuple[Line, ...]]:
    """The lines of each instance, in the order of the file."""
    return {
        subject: tuple(group) for subject, group in groupby(lines, key=lambda line: line.subject)
    }


def flat(instances: Instances) -> list[Line]:
    """The lines of all instances, as `format_lines` takes them."""
    return [line for lines in instances.values() for line in lines]


def message(named: Sequence[tuple[str, Line]]) -> str:
    """The message of a commit that names these instances: each gate with the newest line.

    It is for whoever reads the log of the branch; nothing reads it back.
    """
    said = [f"{gate} of {line.subject}: {line.status}\n" for gate, line in named]
    return said[0] if len(said) == 1 else f"journal: {len(said)} instances\n\n{''.join(said)}"


def merge(
    base: Instances, ours: Instances, theirs: Instances, is_newer: Callable[[str, str], bool]
) -> Merged:
    """Two files that grew from a common one, together: of each instance the newest ledger tip.

    `is_newer(one, other)` says whether the ledger commit `one` comes after `other`. Nothing that
    any of the three names is left out. Where the tips of an instance went apart, ours stays.
    """
    found: dict[str, tuple[Line, ...]] = {}
    apart: list[str] = []
    for subject in {**base, **ours, **theirs}:
        old, mine, other = (side.get(subject, ()) for side in (base, ours, theirs))
        if not other or other in (old, mine):
            found[subject] = mine or old
        elif not mine or mine == old or is_newer(other[-1].tip, mine[-1].tip):
            found[subject] = other
        else:
            found[subject] = mine
            if other[-1].tip != mine[-1].tip and not is_newer(mine[-1].tip, other[-1].tip):
                apart.append(subject)
    return Merged(found, tuple(sorted(apart, key=str.encode)))
