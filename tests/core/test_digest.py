"""A digest as a line of the file, to the byte, and what a change leaves for a merge to show."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitgate.core.digest import (
    Asked,
    Digest,
    Look,
    Touch,
    added_lines,
    digest_of,
    format_asked,
    is_sound,
    line_of,
    marks_of,
    moved,
)

A, B, C, D, E = (letter * 40 for letter in "abcde")
TOUCHES = (
    Touch("M", b"a b,c:d/\xff", "", frozenset(["00000001", "89abcdef"])),
    Touch("M", b"m"),
    Touch("A", b"new/x", f"100644:{A}", frozenset(["12345678"])),
    Touch("D", b"old/x", f"100755:{B}"),
    Touch("F", b"new"),
    Touch("C", b"old", f"40000:{C}"),
)
REJECTED = Asked(A, "refs/heads/main", B, C, D, E, "rc", TOUCHES)
PLAIN = Asked(B, "", None, C, D, E, "", (Touch("P", b"src/f"),))
LARGE = Asked(C, "refs/heads/main", B, C, D, E, "r", None)
LINE = (
    "main/feature%2flogin\tfeature/login ü\t"
    f"{A}\t{A}\ter\t{C}\t0123456789abcdef\t0:{D},1:{E}\t{B},{C}\t2:1764568800:1764576840\t"
    f"{A} refs/heads/main {B} {C} b{D} w{E} rc M00000001.89abcdef:a%20b%2Cc%3Ad/%FF,M:m,"
    f"A100644:{A}:12345678:new/x,D100755:{B}:old/x,Fnew,C40000:{C}:old\t"
    f"{B} - - {C} b{D} w{E} - Psrc/f\t"
    f"{C} refs/heads/main {B} {C} b{D} w{E} r *"
)
DIGEST = Digest(
    "main/feature%2flogin",
    "feature/login ü",
    A,
    A,
    "er",
    C,
    "0123456789abcdef",
    f"0:{D},1:{E}",
    f"{B},{C}",
    "2:1764568800:1764576840",
    "\t".join(map(format_asked, (REJECTED, PLAIN, LARGE))),
)


def test_a_line() -> None:
    assert line_of(DIGEST) == LINE
    assert digest_of(LINE) == DIGEST
    assert is_sound(DIGEST)
    assert DIGEST.requests() == [REJECTED, PLAIN, LARGE]
    assert DIGEST.requests("r") == [REJECTED, LARGE]
    assert DIGEST.gate == "main"


def test_what_is_no_line() -> None:
    for text in ("", "main/x\tx", LINE.replace("\ter\t", "\te\t")):
        with pytest.raises(TypeError):
            digest_of(text)
    for part in (f"{A} b", f"{A} - - {C} b{D} w{E} -", "x" * 300):
        with pytest.raises(ValueError, match=r"unpack|fields"):
            DIGEST._replace(asked=part).requests()
    for broken in (
        DIGEST._replace(place="main"),
        DIGEST._replace(tip="x"),
        DIGEST._replace(landed="main"),
        DIGEST._replace(records=A[:39]),
        DIGEST._replace(asked=DIGEST.asked.replace(" rc ", " cr ")),
        DIGEST._replace(asked=DIGEST.asked.replace("M:m", "M")),
    ):
        assert not is_sound(broken), broken


@given(st.binary(min_size=1, max_size=20).filter(lambda path: b"\0" not in path))
def test_any_path(path: bytes) -> None:
    one = REJECTED._replace(touches=(Touch("M", path), Touch("C", path, f"40000:{A}")))
    assert Digest("main/x", "x", asked=format_asked(one)).requests() == [one]
    assert is_sound(Digest("main/x", "x", asked=format_asked(one)))


def test_where_a_rename_may_be_seen() -> None:
    there = {b"m": f"100644:{B}", b"changed": f"100644:{C}"}
    look = Look(
        lambda path: there.get(path, ""),
        lambda path: path == b"folder",
        lambda path: f"40000:{A}" if path == b"folder" else "",
    )
    free = (
        Touch("M", b"m"),
        Touch("A", b"m", f"100644:{B}"),
        Touch("A", b"none", f"100644:{B}"),
        Touch("D", b"m", f"100644:{B}"),
        Touch("D", b"none", f"100644:{B}"),
        Touch("F", b"folder"),
        Touch("C", b"folder", f"40000:{A}"),
        Touch("C", b"none", f"40000:{A}"),
    )
    doubtful = (
        Touch("M", b"none"),
        Touch("A", b"changed", f"100644:{B}"),
        Touch("D", b"changed", f"100644:{B}"),
        Touch("F", b"none"),
        Touch("C", b"folder", f"40000:{B}"),
        Touch("P", b"m"),
    )
    assert not moved(REJECTED._replace(touches=free), look)
    for one in doubtful:
        assert moved(REJECTED._replace(touches=(*free, one)), look), one


LINES = st.lists(st.sampled_from([b"", b"a", b"b", b"c\r", b"long"]), max_size=8).map(b"\n".join)


@given(LINES, LINES, LINES)
def test_what_a_change_adds_stays_after_a_merge(old: bytes, new: bytes, ours: bytes) -> None:
    """A clean merge is made of lines of both sides, and has what this one added."""
    added = added_lines(old, new)
    assert len(added) <= 8
    assert added <= set(marks_of(new))
    gained = Counter(new.split(b"\n")) - Counter(old.split(b"\n"))
    assert added == {mark for line in gained for mark in marks_of(line)}
    assert added <= set(marks_of(ours + b"\n" + b"\n".join(gained)))
