"""A few lines that say what changed in a file, chosen without a model, the same every time.

By structure where there is some (a heading, a key, a definition, a list item, and the section that
it is in), else by the changed text. The largest changes are told, the others counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from gitgate.core.change import Line, Place, places, read_hunk
from gitgate.core.structure import Outline, clean, form_of, has_words, is_item

NEAR = 3
"""Unchanged lines between two changes that are told as one, in the same section."""

_MOST_READ = 128 << 10  # bytes of a hunk that are read to tell of it
_LONGEST = 72
_LONGEST_SIDE = 44


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a summary: `kind` is "+", "~" or "-"; lines are those of the new side, of the
    old side for what is gone. `size` counts the lines that were added and deleted."""

    kind: str
    text: str
    first: int
    last: int
    size: int


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of a file, and how many changes are not."""

    items: tuple[Item, ...]
    more: int


def tell(path: bytes, patch: bytes, old: bytes, new: bytes, budget: int) -> Told:
    """The `budget` largest changes of a file; `patch` is its patch without context, in which
    changes that are `NEAR` stand in one hunk.

    Only what is told is read. Raises ValueError where a hunk is not what its header says.
    """
    found = list(places(patch))
    largest = sorted(found, key=lambda place: -_size(patch, place))[:budget]
    form = form_of(path)
    outlines = Outline(form, old), Outline(form, new)
    items = [item for place in largest for item in _items(patch, place, *outlines)]
    told = sorted(items, key=lambda item: (-item.size, item.first))[:budget]
    more = len(found) - len(largest) + len(items) - len(told)
    return Told(tuple(sorted(told, key=lambda item: ("+~-".index(item.kind), item.first))), more)


def _size(patch: bytes, place: Place) -> int:
    return sum(patch.count(sign, place.start, place.end) for sign in (b"\n+", b"\n-"))


def _items(patch: bytes, place: Place, old: Outline, new: Outline) -> list[Item]:
    """An item for each section that a hunk changes; more where headings come, go or change."""
    if place.end - place.start > _MOST_READ:
        return [_beginning(patch, place, old, new)]
    lines = [line for hunk in read_hunk(patch, place.start, place.end) for line in hunk.lines]
    items: list[Item] = []
    for part in _by_section(lines, old, new):
        added = [line for line in part if line.kind == "+"]
        removed = [line for line in part if line.kind == "-"]
        if new.nested:
            items.append(_item(removed, added, old, new))
        else:
            items += _by_heading(removed, added, old, new)
    return items


def _by_heading(
    removed: list[Line], added: list[Line], old: Outline, new: Outline
) -> Iterator[Item]:
    """An item for each heading, where there are some; those of one name are one that changed."""
    before, after = _parts(removed, old), _parts(added, new)
    if len(before) < 2 and len(after) < 2:
        yield _item(removed, added, old, new)
        return
    for title in dict.fromkeys([*after, *before]):
        yield _item(before.get(title, []), after.get(title, []), old, new)


def _parts(lines: Sequence[Line], outline: Outline) -> dict[str, list[Line]]:
    """The lines by the heading that they are under; "" has those before the first."""
    parts: dict[str, list[Line]] = {}
    title = ""
    for line in lines:
        title = outline.title(_number(line)) or title
        parts.setdefault(title, []).append(line)
    return {
        title: some
        for title, some in parts.items()
        if title or any(has_words(line.text) for line in some)
    }


def _by_section(lines: Sequence[Line], old: Outline, new: Outline) -> list[list[Line]]:
    """The changed lines, those together that follow each other in one section."""
    parts: list[list[Line]] = []
    before: str | None = None
    for changed, run in groupby(lines, key=lambda line: line.kind != " "):
        some = [line for line in run if line.kind in "+-"]
        if not changed or not some:
            continue
        first = next((line for line in some if line.kind == "+"), some[0])
        section = (new if first.kind == "+" else old).section(_number(first))
        if section == before:
            parts[-1] += some
        else:
            parts.append(some)
        before = section
    return parts


def _item(removed: Sequence[Line], added: Sequence[Line], old: Outline, new: Outline) -> Item:
    size = len(removed) + len(added)
    if not added:
        return Item("-", _told(removed, old), *_span(removed), size)
    first, last = _span(added)
    if not removed:
        return Item("+", _told(added, new), first, last, size)
    alone = len(removed) == len(added) == 1
    text = _replaced(removed[0], added[0], new) if alone else _told(added, new)
    return Item("~", f"{text}{_same_words(removed, added)}", first, last, size)


def _beginning(patch: bytes, place: Place, old: Outline, new: Outline) -> Item:
    """What is told of a hunk that is too long to be read: how it begins."""
    body, most = patch.find(b"\n", place.start) + 1, place.start + _MOST_READ
    end = patch.rfind(b"\n", body, most) + 1 or patch.find(b"\n", most) + 1
    lines = next(read_hunk(patch, place.start, end, cut=True)).lines
    added = [line for line in lines if line.kind == "+"]
    removed = [line for line in lines if line.kind == "-"]
    more, less = (patch.find(sign, place.start, place.end) >= 0 for sign in (b"\n+", b"\n-"))
    kind = "~" if more and less else "+" if more else "-"
    text = _told(added, new) if added else _told(removed, old)
    first, length = (
        (place.old_start, place.old_length) if kind == "-" else (place.new_start, place.new_length)
    )
    return Item(kind, text, first, first + length - 1, _size(patch, place))


def _span(lines: Sequence[Line]) -> tuple[int, int]:
    """The first and the last line, without blank ones at the edges."""
    numbers = [_number(line) for line in lines if line.text.strip()]
    numbers = numbers or [_number(line) for line in lines]
    return numbers[0], numbers[-1]


def _same_words(removed: Sequence[Line], added: Sequence[Line]) -> str:
    before, after = (
        [word for line in side for word in line.text.split()] for side in (removed, added)
    )
    return " (white space)" if before == after else ""


def _told(lines: Sequence[Line], outline: Outline) -> str:
    """The most telling of some lines of one side, behind the section that they are in."""
    for line in lines:
        if title := outline.title(_number(line)):
            section = outline.section(_number(line)) if outline.nested else ""
            return _clipped(f"{section}.{title}" if section else title)
    texts = [line.text for line in lines if has_words(line.text)]
    chosen = next(filter(is_item, texts), texts[0] if texts else None)
    section = outline.section(_number(lines[0])) if lines else ""
    if chosen is not None:
        said = clean(chosen) or chosen.strip()
    else:
        said = "punctuation" if any(line.text.strip() for line in lines) else "blank lines"
    return _clipped(f"{section}: {said}" if section else said)


def _replaced(old: Line, new: Line, outline: Outline) -> str:
    before, after = _differing(*_alike(old.text, new.text))
    number = _number(new)
    section = outline.section(number)
    said = f"“{before}” → “{after}”"
    return f"{_clipped(section)}: {said}" if section else said


def _alike(old: str, new: str) -> tuple[str, str]:
    """Two lines without what marks them, as far as it is needed to tell them apart."""
    before, after = clean(old), clean(new)
    if before != after or old.split() == new.split():
        return before, after
    at = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), len(old))
    start = max(at - _LONGEST, 0)
    return f"…{old[start : start + 400]}", f"…{new[start : start + 400]}"


def _number(line: Line) -> int:
    return line.new if line.new is not None else line.old or 0


def _differing(old: str, new: str) -> tuple[str, str]:
    """Two short texts, cut to where they begin to differ if they are long."""
    start = 0
    if max(len(old), len(new)) > _LONGEST_SIDE:
        for a, b in zip(old, new, strict=False):
            if a != b:
                break
            start += 1
        start = max(old.rfind(" ", 0, max(start - 12, 0)) + 1, 0)
    return _from(old, start), _from(new, start)


def _from(text: str, start: int) -> str:
    shown = ("…" if start else "") + text[start:]
    return shown if len(shown) <= _LONGEST_SIDE else shown[: _LONGEST_SIDE - 1] + "…"


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
