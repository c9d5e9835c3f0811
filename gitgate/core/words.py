"""Which words differ between a line that was taken out and the one that came in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from gitgate.core.change import Line

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_MOST_LINES = 60  # of a block: nobody reads the words of a longer one side by side
_MOST_TOKENS = 200
_LEAST_ALIKE = 0.4

Piece = tuple[str, bool]
"""A part of a line, and whether it differs."""


def marked(lines: Sequence[Line]) -> list[tuple[Piece, ...]]:
    """Each line in pieces; those of a changed line that the other side lacks are marked.

    Lines that were taken out are set against those that follow in their place, in order.
    """
    pieces: list[tuple[Piece, ...]] = [((line.text, False),) for line in lines]
    at = 0
    while at < len(lines):
        removed = _run(lines, at, "-")
        added = _run(lines, removed, "+")
        pairs = zip(range(at, removed), range(removed, added), strict=False)
        for old, new in pairs if added - at <= _MOST_LINES else ():
            pieces[old], pieces[new] = compare(lines[old].text, lines[new].text)
        at = max(added, at + 1)
    return pieces


def _run(lines: Sequence[Line], at: int, kind: str) -> int:
    while at < len(lines) and lines[at].kind == kind:
        at += 1
    return at


def compare(old: str, new: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both lines in pieces; nothing is marked where they have little in common."""
    whole: tuple[tuple[Piece, ...], tuple[Piece, ...]] = ((old, False),), ((new, False),)
    if max(len(old), len(new)) > 8 * _MOST_TOKENS:
        return whole
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    if max(len(before), len(after)) > _MOST_TOKENS:
        return whole
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.quick_ratio() < _LEAST_ALIKE or matcher.ratio() < _LEAST_ALIKE:
        return whole
    left: list[Piece] = []
    right: list[Piece] = []
    for what, i, j, k, m in matcher.get_opcodes():
        if i < j:
            left.append(("".join(before[i:j]), what != "equal"))
        if k < m:
            right.append(("".join(after[k:m]), what != "equal"))
    return tuple(left), tuple(right)
