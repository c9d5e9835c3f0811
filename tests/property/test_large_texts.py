"""Large texts: only what differs is compared, and the patch is the one of the whole texts."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest
from support.difflab import LONG, edited, lines

from gitgate.core.alike import stretches
from gitgate.git.patches import compare, one_side

ROUNDS = 20_000 if LONG else 1_000
HOW = ("replaced", "inserted", "deleted", "one block", "no newline", "periodic")
PLACES = (0, 7, 30_000, 30_003, 60_000, 119_990)


def git_says(tmp_path: Path, old: bytes, new: bytes) -> bytes:
    """Git's own patch of two files, from its first hunk on."""
    (tmp_path / "old").write_bytes(old)
    (tmp_path / "new").write_bytes(new)
    argv = ["git", "diff", "--no-index", "--text", "old", "new"]
    said = subprocess.run(argv, cwd=tmp_path, capture_output=True, check=False).stdout
    return said[said.find(b"\n@@ ") + 1 :] if b"\n@@ " in said else b""


@pytest.mark.parametrize("how", HOW)
def test_the_patch_of_a_large_text_is_gits(tmp_path: Path, how: str) -> None:
    rows = [b"Line %d of the text\n" % number for number in range(120_000)]
    if how == "periodic":
        rows = [b"Row %d of a table\n" % (number % 300) for number in range(120_000)]
    changed = list(rows)
    for place in reversed(PLACES):
        match how:
            case "replaced":
                changed[place] = b"another line\n"
            case "inserted":
                changed[place:place] = [b"Extra %d\n" % number for number in range(place % 50 + 1)]
            case "deleted" | "periodic":
                del changed[place : place + 3]
    if how == "one block":
        changed[50_000:53_000] = [b"Other %d\n" % number for number in range(2_000)]
    old, new = b"".join(rows), b"".join(changed)
    if how == "no newline":
        old, new = old.replace(b"Line 9 ", b"Line nine "), new.removesuffix(b"\n")
    assert sum(one.old_end - one.old for one in stretches(old, new)) < len(old) / 4
    assert compare(old, new, 3) == git_says(tmp_path, old, new)
    assert compare(new, old, 3) == git_says(tmp_path, new, old)


def test_what_is_left_out_is_the_same_on_both_sides() -> None:
    rng = Random(21)
    left_out = 0
    for number in range(ROUNDS):
        old = b"".join(lines(rng) for _ in range(rng.randrange(1, 9)))
        new = edited(rng, old) if rng.randrange(9) else lines(rng)
        found = stretches(old, new, rng.choice([1, 40, 400]))
        at = to = 0
        for one in found:
            assert old[at : one.old] == new[to : one.new], number
            for data, start, end in ((old, one.old, one.old_end), (new, one.new, one.new_end)):
                assert start == 0 or data[start - 1 : start] == b"\n", number
                assert end == len(data) or data[:end].endswith(b"\n") or end == 0, number
            if at:
                assert old.count(b"\n", at, one.old) > 0, number
            left_out += one.old - at
            at, to = one.old_end, one.new_end
        assert old[at:] == new[to:], number
    assert left_out


def test_a_text_that_is_new_or_gone(tmp_path: Path) -> None:
    for text in (b"a", b"a\n", b"a\nb", b"a\r\n\nb\n", b"\n", b"\xff\n@@ -1 +1 @@\n"):
        for old, new in ((b"", text), (text, b"")):
            counts, patch = one_side(old, new)
            assert patch == git_says(tmp_path, old, new)
            assert sum(counts) == patch.count(b"\n" + (b"+" if new else b"-"))
    assert one_side(b"", b"") == ((0, 0), b"")
