"""The full diff, line by line as it is asked for, in git's form and git's colours.

Diff pagers understand it, and it says in words what a diff does not show. Everything that comes
from a repository is made safe here; what is coloured comes from git's `color.diff.*`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from gitgate.core.change import File, Hunk, Line, Measured, Pair, Status
from gitgate.core.lineage import Carry, Fate
from gitgate.core.quoting import path_text, quote
from gitgate.core.words import marked
from gitgate.ui.changes import became
from gitgate.ui.sanitise import safe

_RESET = "\x1b[m"
_MARK, _UNMARK = "\x1b[7m", "\x1b[27m"

SLOTS = {
    "context": "",
    "meta": "bold",
    "frag": "cyan",
    "func": "",
    "old": "red",
    "new": "green",
    "whitespace": "normal red",
}
"""The parts of a diff that git colours, and git's own colours for them."""

Hunks = Callable[[Measured], Iterable[Hunk]]
_NONE = "/dev/null"


class Row(NamedTuple):
    """A line of the diff: what is said, what it is (a slot of `SLOTS`, `title`, `said` or ""), and
    the place that it shows: the file's path and the line of the new file, 0 for none of its
    lines."""

    text: str
    kind: str = ""
    path: bytes = b""
    number: int = 0


@dataclass(frozen=True, slots=True)
class Palette:
    """What starts the colour of each slot; an empty palette draws nothing in colour."""

    starts: Mapping[str, str] = field(default_factory=dict)

    def paint(self, slot: str, text: str) -> str:
        """`text`, which is safe, in the colour of `slot`."""
        start = self.starts.get(slot)
        return f"{start}{text}{_RESET}" if start and text else text

    def __bool__(self) -> bool:
        return bool(self.starts)


def files(
    measured: Iterable[Measured],
    hunks: Hunks,
    comments: Mapping[bytes, tuple[Carry, ...]],
    palette: Palette,
) -> Iterator[Row]:
    """The lines of all files, one after another."""
    for one in measured:
        yield from file(one, hunks(one), comments.get(one.pair.path, ()), palette)


def file(
    one: Measured, hunks: Iterable[Hunk], comments: tuple[Carry, ...], palette: Palette
) -> Iterator[Row]:
    """The lines of one file: its header, what is to be said of it, its hunks with the comments of
    earlier rounds below the lines that they are about."""
    pair = one.pair

    def said(what: str, text: str) -> Row:
        return Row(f"{what}: {text}", "said", pair.path)

    yield from (Row(palette.paint("meta", line), "meta", pair.path) for line in _header(pair))
    yield from (said("note", safe(remark.text)) for remark in one.remarks)
    waiting: dict[int, list[Carry]] = {}
    for carry in comments:
        if carry.now.fate is Fate.GONE or not carry.now.line:
            yield said("comment", remembered(carry))
        else:
            waiting.setdefault(carry.now.line, []).append(carry)
    started = False
    for found in hunks:
        if not started:
            for line in _names(pair):
                yield Row(palette.paint("meta", line), "meta", pair.path)
            started = True
        yield from _hunk(found, pair.path, waiting, palette)
    for left in waiting.values():
        yield from (said("comment", remembered(carry)) for carry in left)


def remembered(carry: Carry) -> str:
    """A comment of an earlier round, and what became of its line."""
    where = became(carry.comment.line, carry.now.fate, carry.now.line)
    return f"{safe(carry.by)} on iteration {carry.iteration}, {where}: {safe(carry.comment.text)}"


def conflict(path: bytes, hunks: Iterable[Hunk], palette: Palette) -> Iterator[Row]:
    """How the patch of one file became another: the first sign of a line says in which of the two
    patches it is, the second what the patch does."""
    shown = safe(path_text(path))
    said = f"{shown}: the old work does not merge onto the new base"
    yield Row(palette.paint("meta", said), "meta", path)
    some = False
    for hunk in hunks:
        some = True
        said = "@@ the old patch (-) against the new one (+)"
        yield Row(palette.paint("frag", said), "frag", path)
        for line in hunk.lines:
            slot = {"-": "old", "+": "new"}.get(line.kind, "context")
            yield Row(palette.paint(slot, f"{line.kind}{_safe(line.text)}"), slot, path)
    if not some:
        yield Row("the same lines are changed in the same way, on another base", "", path)


def _header(pair: Pair) -> Iterator[str]:
    old, new = pair.old, pair.new
    before, after = (old or new), (new or old)
    if before is None or after is None:
        return
    yield f"diff --git {_quoted(b'a/', before)} {_quoted(b'b/', after)}"
    if old is None:
        yield f"new file mode {after.mode:06o}"
    elif new is None:
        yield f"deleted file mode {before.mode:06o}"
    elif old.mode != new.mode:
        yield f"old mode {old.mode:06o}"
        yield f"new mode {new.mode:06o}"
    if pair.status is Status.RENAMED:
        yield f"similarity index {pair.similarity}%"
        yield f"rename from {_quoted(b'', before)}"
        yield f"rename to {_quoted(b'', after)}"


def _names(pair: Pair) -> tuple[str, str]:
    return (
        f"--- {_quoted(b'a/', pair.old) if pair.old else _NONE}",
        f"+++ {_quoted(b'b/', pair.new) if pair.new else _NONE}",
    )


def _quoted(prefix: bytes, file: File) -> str:
    path = prefix + file.path
    plain = path_text(path)
    return safe(plain) if safe(plain) == plain else quote(path)


def _hunk(
    hunk: Hunk, path: bytes, waiting: dict[int, list[Carry]], palette: Palette
) -> Iterator[Row]:
    if not hunk.continued:
        old, new = (
            _span(hunk.old_start, hunk.old_length),
            _span(hunk.new_start, hunk.new_length),
        )
        head = palette.paint("frag", f"@@ -{old} +{new} @@")
        section = _safe(hunk.section)
        head = f"{head} {palette.paint('func', section)}" if section else head
        yield Row(head, "frag", path)
    texts = marked(hunk.lines) if palette else [((line.text, False),) for line in hunk.lines]
    for line, pieces in zip(hunk.lines, texts, strict=True):
        slot = {"-": "old", "+": "new"}.get(line.kind, "context")
        number = line.new if line.kind in " +" else None
        yield Row(_line(line, slot, pieces, palette), slot, path, number or 0)
        for carry in waiting.pop(line.new, ()) if line.new is not None else ():
            yield Row(f"comment: {remembered(carry)}", "said", path)


def _span(start: int, length: int) -> str:
    return f"{start}" if length == 1 else f"{start},{length}"


_LONGEST = 10_000  # characters of a line that are shown


def _line(line: Line, slot: str, pieces: Iterable[tuple[str, bool]], palette: Palette) -> str:
    if line.kind == "\\":
        return f"\\ {_safe(line.text)}"
    if len(line.text) > _LONGEST:
        shown = f"{line.kind}{_safe(line.text[:_LONGEST])}"
        return f"{palette.paint(slot, shown)}… and {len(line.text) - _LONGEST:,} more characters"
    if not palette:
        return line.kind + _safe(line.text)
    shown = "".join(
        f"{_MARK}{_safe(text)}{_UNMARK}" if differs else _safe(text) for text, differs in pieces
    )
    blanks = len(shown) - len(shown.rstrip(" \t")) if line.kind == "+" else 0
    if not blanks:
        return palette.paint(slot, line.kind + shown)
    kept, tail = shown[:-blanks], shown[-blanks:]
    return palette.paint(slot, line.kind + kept) + palette.paint("whitespace", tail)


def _safe(text: str) -> str:
    """A line of a file: as `safe`, but a tab stays, as it does nothing that deceives."""
    return "\t".join(map(safe, text.split("\t"))) if "\t" in text else safe(text)
