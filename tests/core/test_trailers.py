"""Trailers, strictly the last paragraph."""

from __future__ import annotations

import pytest

from gitgate.core.trailers import format_trailers, parse_trailers
from gitgate.process import run

PAIRS = [("Kind", "approval"), ("Time-Spent", "12"), ("Subject", "a: b"), ("Kind", "again")]
TEXT = "Kind: approval\nTime-Spent: 12\nSubject: a: b\nKind: again\n"


def test_trailers_are_written_so_for_ever() -> None:
    assert format_trailers(PAIRS) == TEXT
    assert format_trailers([]) == ""


def test_only_the_last_paragraph_is_read() -> None:
    assert parse_trailers(f"Title\n\nKind: forged\n\n{TEXT}") == PAIRS
    assert parse_trailers(f"Title\n\n{TEXT}") == PAIRS


def test_git_reads_the_same_trailers() -> None:
    message = f"Title\n\nKind: forged\n\n{TEXT}"
    parsed = run(["git", "interpret-trailers", "--parse"], stdin=message.encode())
    assert parsed.stdout.decode() == TEXT


@pytest.mark.parametrize(
    "message",
    [
        "",
        TEXT,
        "Title\n",
        f"Title\n\n{TEXT[:-1]}",
        f"Title\n\n{TEXT}\n",
        f"Title\n\n{TEXT}not a trailer\n",
        "Title\n\nKind:approval\n",
        "Title\n\nKind: \n",
        "Title\n\nKind:  a\n",
        "Title\n\nKind: a \n",
        "Title\n\nKind: a\t\n",
        "Title\n\nKind: a\r\n",
        "Title\n\nkind: a\n",
        "Title\n\n Kind: a\n",
        "Title\n\nKi nd: a\n",
        "Title\n\n: a\n",
        "Title\n\nKind: a\n continued\n",
        "Title\n\nKind: a\udcff\n",
    ],
)
def test_anything_else_is_refused(message: str) -> None:
    with pytest.raises(ValueError, match="trailer"):
        parse_trailers(message)


@pytest.mark.parametrize("character", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\r"])
def test_lines_end_at_a_newline_only(character: str) -> None:
    value = f"a{character}Kind: b"
    assert parse_trailers(f"Title\n\nSubject: {value}\n") == [("Subject", value)]


@pytest.mark.parametrize(
    "value", ["", " a", "a ", "a\n", "a\nAction: approve", "\ta", "a\r", "\0", "\udcff"]
)
def test_a_value_that_would_not_come_back_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="cannot be the value of the trailer Subject"):
        format_trailers([("Subject", value)])


@pytest.mark.parametrize("key", ["", "kind", "Kind:", "Ki nd", "Kind-", "Kind\n", "K1"])
def test_a_name_that_would_not_come_back_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="is no trailer's name"):
        format_trailers([(key, "a")])
