"""Bytes of a terminal as keys, however they are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitgate.ui.decoder import Decoder, Key


def names(*pieces: bytes) -> list[str]:
    """The names (or characters) of the keys; a piece `b""` is a pause."""
    decoder = Decoder()
    found: list[Key] = []
    for piece in pieces:
        found += decoder.feed(piece) if piece else decoder.timed_out()
    return [key.text if key.name == "char" else key.name for key in found]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a", ["a"]),
        (b"\r\n", ["enter", "enter"]),
        (b"\x1b[A\x1b[B\x1bOC\x1bOD", ["up", "down", "right", "left"]),
        (b"\x1b[5~\x1b[6~\x1b[H\x1b[4~\x1b[3~", ["pgup", "pgdn", "home", "end", "delete"]),
        (b"\x1b[1;5A", ["up"]),
        (b"\x03\x1a\x7f\x05", ["ctrl-c", "ctrl-z", "backspace", "ctrl-e"]),
        ("ü漢".encode(), ["ü", "漢"]),
        (b"\xff", ["�"]),
        (b"\x1b[200~a\ny\x1b[201~q", ["paste", "q"]),
        (b"\x00\x02", []),
        (b"\x1b[99;99Z\x1bxq", ["q"]),
    ],
)
def test_keys(data: bytes, expected: list[str]) -> None:
    assert names(data) == expected
    # The same, byte by byte.
    assert names(*(data[at : at + 1] for at in range(len(data)))) == expected


def test_a_lone_escape_is_a_key_after_a_moment() -> None:
    assert names(b"\x1b") == []
    assert names(b"\x1b", b"") == ["esc"]
    assert names(b"\x1b\x1b", b"") == ["esc", "esc"]


def test_a_sequence_that_is_cut_by_a_pause_is_never_its_letters() -> None:
    assert names(b"\x1b", b"", b"[A") == ["esc", "up"]
    assert names(b"\x1b", b"", b"[1;2a") == ["esc"]
    assert names(b"\x1b", b"", b"Oa", b"q") == ["esc", "q"]
    assert names(b"\x1b", b"", b"a") == ["esc", "a"]
    # The keypad's 9 is ESC O y.
    assert names(b"\x1bO", b"", b"", b"y") == []
    assert names(b"\x1b", b"", b"O", b"", b"y") == ["esc"]
    assert names(b"\x1b[", b"", b"1;2y", b"q") == ["q"]
    assert names(b"\x1b[", b"", b"\x03") == ["ctrl-c"]


def test_a_paste_may_take_its_time() -> None:
    assert names(b"\x1b[200~y\n", b"", b"y\n", b"", b"\x1b[201~") == ["paste"]
    assert names(b"\x1b[200~y\n", b"\x03", b"q") == ["ctrl-c", "q"]


@given(st.lists(st.binary(max_size=8), max_size=8))
def test_whatever_comes_no_byte_is_a_key_twice(pieces: list[bytes]) -> None:
    whole = names(b"".join(pieces), b"")
    assert len(whole) <= len(b"".join(pieces)) + 1
    assert names(*[piece for piece in pieces if piece], b"") == whole
