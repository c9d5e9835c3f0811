"""What this clone remembers of a verified ledger: enough to know that nobody needs to read it.

A digest is drawn from the ledger that ends in its tip and holds for that tip alone. It may say less
than the ledger (then the ledger is read), never anything else. Two parts of it rest on more than
the ledger: whether a life runs (`state`), on the landings and people that it names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import quote_from_bytes, unquote_to_bytes
from zlib import crc32

from gitgate.core import ids

MAX_TOUCHES = 1_000
"""Paths of one request that are noted; of one with more nothing is known."""

MAX_LINES = 8
"""Lines of one path that are marked."""

ENDED, WAITS, CONSENTED, UNKNOWN = "e", "w", "c", "?"
"""States: no life runs; one runs and nobody has consented to its newest request; somebody has
(whether it counts is not asked); not known."""

REJECTED, CONSENT = "r", "c"
"""Marks of a request: some record on it says reject; some says approve or skip."""

NONE = "-"
MANY = "*"

_OID = "[0-9a-f]{40}"
_LINES = r"(?:[0-9a-f]{8}(?:\.[0-9a-f]{8})*)?"
_VALUE = r"[0-7]{5,6}:[0-9a-f]{40}"
_TOUCH = rf"(?:[PF]|M{_LINES}:|A{_VALUE}:{_LINES}:|[DC]{_VALUE}:)[^\s,:]+"
_ASKED = re.compile(
    rf"{_OID} (?:-|refs/[^\s]+) (?:-|{_OID}) {_OID} b{_OID} w{_OID} (?:-|r?c?)"
    rf" (?:\*|-|(?:{_TOUCH})(?:,(?:{_TOUCH}))*)"
)
_PLACE = re.compile(r"[a-z0-9][a-z0-9-]{0,63}/[a-z0-9._%-]+")
_SEVERAL = re.compile(rf"-|{_OID}(?:,{_OID})*")
_LANDED = re.compile(rf"-|[0-9]+:{_OID}(?:,[0-9]+:{_OID})*")
_WAITS = re.compile(r"-|[0-9]{1,12}:[0-9]{1,12}:[0-9]{1,12}")
_SAFE = "/._-+@=~"


class Touch(NamedTuple):
    """A path of B→W and what is there; `value` is "mode:id" where it says more than the kind,
    `lines` marks of some lines that W has there more often than B.

    `P` changed; of a rejected request instead: `M` changed, `A` added (its value), `D` removed
    (its old value), and folders: `F` the nearest one of an added path that B has, `C` one that W
    has no more, with its tree in B.
    """

    kind: str
    path: bytes
    value: str = ""
    lines: frozenset[str] = frozenset()


class Asked(NamedTuple):
    """One request. `touches` is None where they are too many to be noted."""

    id: str
    target: str
    tip: str | None
    work: str
    base_tree: str
    work_tree: str
    marks: str
    touches: tuple[Touch, ...] | None

    @property
    def paths(self) -> frozenset[bytes]:
        """The paths that differ between B and W, where they are noted."""
        return frozenset(t.path for t in self.touches or () if t.kind not in "FC")


_ASKED_FIELDS = len(Asked._fields)


class Waits(NamedTuple):
    """What a list says of a request that nobody has answered: its iteration, and when its life
    began and it was opened, in seconds since the epoch."""

    iteration: int
    began: int
    opened: int

    def __str__(self) -> str:
        return ":".join(map(str, self))


class Digest(NamedTuple):
    """One instance. `place` is its ref without what all ledgers' refs begin with.

    `state` is followed by `r` where some request is marked so, else by `-`; `latest` is the newest
    request of the latest life; both hold where `people` is the policy that was asked or `-`, and
    each of `landed` (number of a landing place, the commit that ended a life) still is so.
    `journal` is the tip that the journal names, `tip` the one that all the rest is about. `waits`
    is there where `state` says so and no record is about the newest request (`Waits`). `asked` are
    the requests, oldest first, with tabs between them.
    """

    place: str
    subject: str
    journal: str = NONE
    tip: str = NONE
    state: str = UNKNOWN + NONE
    latest: str = NONE
    people: str = NONE
    landed: str = NONE
    records: str = NONE
    waits: str = NONE
    asked: str = ""

    @property
    def gate(self) -> str:
        return self.place.partition("/")[0]

    @property
    def waiting(self) -> Waits | None:
        """`waits` as numbers; ValueError for what no `Waits` gave."""
        return None if self.waits == NONE else Waits(*map(int, self.waits.split(":", 2)))

    def requests(self, mark: str = "") -> list[Asked]:
        """The requests, oldest first, with `mark` those that have it.

        Raises ValueError for what no `format_asked` made.
        """
        texts = [text.split(" ") for text in self.asked.split("\t") if text]
        return [parse_asked(*one) for one in texts if len(one) != _ASKED_FIELDS or mark in one[6]]


_LAST = len(Digest._fields) - 1


def digest_of(line: str) -> Digest:
    """The digest of a line that `line_of` made; TypeError for one with too few fields."""
    one = Digest._make(line.split("\t", _LAST))
    if len(one.state) != len(UNKNOWN + NONE):
        raise TypeError(one.state)
    return one


def line_of(one: Digest) -> str:
    """A digest as a line of the file, without its end."""
    return "\t".join(one)


def is_sound(one: Digest) -> bool:
    """Whether it has the form that `line_of` gives; what it says is another matter."""
    oids = all(value == NONE or ids.is_oid(value) for value in (one.journal, one.tip, one.latest))
    return (
        oids
        and _PLACE.fullmatch(one.place) is not None
        and len(one.state) == 2
        and one.state[0] in ENDED + WAITS + CONSENTED + UNKNOWN
        and one.state[1] in REJECTED + NONE
        and re.fullmatch(r"-|[0-9a-f]{16}", one.people) is not None
        and _LANDED.fullmatch(one.landed) is not None
        and _SEVERAL.fullmatch(one.records) is not None
        and _WAITS.fullmatch(one.waits) is not None
        and (not one.asked or all(map(_ASKED.fullmatch, one.asked.split("\t"))))
    )


def format_asked(one: Asked) -> str:
    """A request as a field of the line of its instance."""
    touches = MANY
    if one.touches is not None:
        touches = ",".join(map(_format_touch, one.touches)) or NONE
    return (
        f"{one.id} {one.target or NONE} {one.tip or NONE} {one.work}"
        f" b{one.base_tree} w{one.work_tree} {one.marks or NONE} {touches}"
    )


def _format_touch(one: Touch) -> str:
    path = quote_from_bytes(one.path, _SAFE)
    value = f"{one.value}:" if one.value else ""
    lines = f"{'.'.join(sorted(one.lines))}:" if one.kind in "MA" else ""
    return f"{one.kind}{value}{lines}{path}"


def parse_asked(*fields: str) -> Asked:
    """The request of a field that `format_asked` made, split at its blanks."""
    oid, target, tip, work, base, tree, marks, touches = fields
    return Asked(
        oid,
        "" if target == NONE else target,
        None if tip == NONE else tip,
        work,
        base[1:],
        tree[1:],
        "" if marks == NONE else marks,
        None if touches == MANY else parse_touches(touches),
    )


def parse_touches(text: str) -> tuple[Touch, ...]:
    return () if text == NONE else tuple(map(_parse_touch, text.split(",")))


def _parse_touch(text: str) -> Touch:
    kind = text[:1]
    rest, _, path = text[1:].rpartition(":")
    value, lines = rest, ""
    if kind in ("M", "A"):
        value, _, lines = rest.rpartition(":")
    marks = frozenset(lines.split(".") if lines else ())
    return Touch(kind, unquote_to_bytes(path), value, marks)


def marks_of(data: bytes) -> Iterator[str]:
    """A mark of each line, whatever its end."""
    for line in data.split(b"\n"):
        yield format(crc32(line.removesuffix(b"\r")), "08x")


def added_lines(old: bytes, new: bytes) -> frozenset[str]:
    """Marks of some lines that `new` has more often than `old`: of the longest ones.

    Any text that a merge makes of this change has all of them, whatever it merges it with.
    """
    more = Counter(new.split(b"\n")) - Counter(old.split(b"\n"))
    longest = sorted(more, key=lambda line: (-len(line), line))[:MAX_LINES]
    return frozenset(mark for line in longest for mark in marks_of(line))


class Look(NamedTuple):
    """How a tree is looked at: the value ("mode:id") of the file at a path, "" for none; whether a
    folder with files is there; the value of whatever is there."""

    file: Callable[[bytes], str]
    folder: Callable[[bytes], bool]
    node: Callable[[bytes], str]


def moved(vetoed: Asked, base: Look) -> bool:
    """Whether git may see a rename in the change of `vetoed` over the tree `base`.

    False only where it cannot, since all that a rename could be seen by is as the change found it
    (core.merging, `doubts`); so too where nothing is known of its paths: that is another matter.
    """
    return any(_moved(one, base) for one in vetoed.touches or ())


def _moved(touch: Touch, base: Look) -> bool:
    """Whether a rename may be at work at this path, as `doubts` in core.merging sees it."""
    match touch.kind:
        case "M":
            return not base.file(touch.path)
        case "A" | "D":
            return base.file(touch.path) not in ("", touch.value)
        case "F":
            return not base.folder(touch.path)
        case "C":
            return base.node(touch.path) not in ("", touch.value)
        case _:  # of a request that nobody had rejected
            return True
