"""The threat model has an answer to each attack, and the tests that it names are there."""

from __future__ import annotations

import re

from support.docs import ROOT

ROWS = re.compile(r"^\| (\d+) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")


def test_each_attack_has_one_row() -> None:
    numbers = [int(row[1]) for row in ROWS.finditer(PAGE)]
    assert numbers == [*range(1, 33)]


def test_each_test_that_is_named_is_there() -> None:
    named = {name for row in ROWS.finditer(PAGE) for name in re.findall(r"`(.+?)`", row[4])}
    assert len(named) > 10
    assert not [name for name in sorted(named) if not (ROOT / "tests" / name).is_file()]


def test_each_test_of_an_attack_is_named() -> None:
    tests = (ROOT / "tests" / "attacks").glob("test_*.py")
    assert not [test.name for test in tests if f"`attacks/{test.name}`" not in PAGE]
