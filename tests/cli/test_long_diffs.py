"""A long diff in a session: its beginning, and where the rest is."""

from __future__ import annotations

from collections.abc import Iterator

from gitgate.cli.seats import _drawn
from gitgate.ui.fulldiff import Row
from gitgate.ui.paint import text_of


def made(count: int, text: str, asked: list[int]) -> Iterator[Row]:
    for number in range(count):
        asked.append(number)
        yield Row(text, "new")


def test_many_lines() -> None:
    asked: list[int] = []
    rows = _drawn(made(9_000, "+line", asked), 40)
    assert len(rows) == 5_001
    assert len(asked) == 5_001, "no more is made than is shown"
    assert text_of(rows[-1].line) == "only the first 5000 lines: git gate diff --full has them all"
    assert text_of(_drawn(made(5_000, "+line", []), 40)[-1].line) == "+line"


def test_long_lines() -> None:
    rows = _drawn(made(2_000, "+" + "x" * 3_999, []), 40)
    assert len(rows) == 20_001
    assert text_of(rows[-1].line) == "only the first 200 lines: git gate diff --full has them all"
