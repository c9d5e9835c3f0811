"""People and times, as git writes and reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitgate.core.person import (
    MAX_TIME,
    Person,
    Stamp,
    format_person,
    format_stamp,
    format_time,
    parse_person,
    parse_stamp,
    parse_time,
    read_stamp,
)
from gitgate.process import run

ADA = Person("Ada Lovelace", "ada@example.com")
TEXT = "Ada Lovelace <ada@example.com> 1764565200 +0000"


def test_a_stamp_is_the_text_of_a_git_header() -> None:
    assert str(ADA) == "Ada Lovelace <ada@example.com>"
    assert format_stamp(Stamp(ADA, 1764565200, "+0000")) == TEXT
    assert parse_stamp(TEXT) == Stamp(ADA, 1764565200, "+0000")


@pytest.mark.parametrize("name", ["Ada", "É. Ö.", "a  b", "Sammy Jr.", '"q"', "\u202e", "x\x1by"])
def test_a_name_comes_back(name: str) -> None:
    stamp = Stamp(Person(name, "a@b"), 0, "-0730")
    assert parse_stamp(format_stamp(stamp)) == stamp


def test_git_writes_what_is_parsed(tmp_path: Path) -> None:
    env = {"GIT_COMMITTER_DATE": "1764565200 +0530", "GIT_COMMITTER_NAME": " .Ada, <L>\n "}
    text = run(["git", "var", "GIT_COMMITTER_IDENT"], cwd=tmp_path, env=env).text
    assert parse_stamp(text) == Stamp(Person("Ada, L", "ada@example.com"), 1764565200, "+0530")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ada",
        "Ada <a@b>",
        "Ada <a@b> 1",
        "Ada <a@b> 01 +0000",
        "Ada <a@b> -1 +0000",
        "Ada <a@b> +1 +0000",
        "Ada <a@b> 1 0000",
        "Ada <a@b> 1 +000",
        "Ada <a@b> 1 +2400",
        "Ada <a@b> 1 +0060",
        "Ada <a@b> 1 UTC",
        "Ada <a@b>  1 +0000",
        "Ada <a@b> 1  +0000",
        "Ada <a@b> 1 +0000 ",
        "Ada <a@b> 1 +0000\n",
        "Ada <a@b> ١ +0000",
        f"Ada <a@b> {MAX_TIME + 1} +0000",
        " Ada <a@b> 1 +0000",
        "Ada  <a@b> 1 +0000",
        "Ada <a@b > 1 +0000",
        "Ada<a@b> 1 +0000",
        "<a@b> 1 +0000",
        " <a@b> 1 +0000",
        "A<da <a@b> 1 +0000",
        "Ada <a@b> <c@d> 1 +0000",
        "A\nda <a@b> 1 +0000",
        "A\0da <a@b> 1 +0000",
    ],
)
def test_what_is_no_stamp(text: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        parse_stamp(text)


@pytest.mark.parametrize(
    "stamp",
    [
        Stamp(Person("", "a@b"), 1),
        Stamp(Person("a <b", "a@b"), 1),
        Stamp(Person("a", "a@b> 1 +0000\n"), 1),
        Stamp(Person("a\0", "a@b"), 1),
        Stamp(ADA, -1),
        Stamp(ADA, MAX_TIME + 1),
        Stamp(ADA, 1, "+1"),
        Stamp(ADA, 1, "+0000\n"),
    ],
)
def test_what_cannot_be_written(stamp: Stamp) -> None:
    with pytest.raises(ValueError, match="not a"):
        format_stamp(stamp)


def test_a_person_alone() -> None:
    assert parse_person("Ada Lovelace <ada@example.com>") == ADA
    assert format_person(Person("Ada", "")) == "Ada <>"
    for text in ["Ada", "<a@b>", "Ada <a@b> ", "Ada <a@b", "Ada <a> <b>"]:
        with pytest.raises(ValueError, match="not a person"):
            parse_person(text)


@pytest.mark.parametrize(
    ("text", "stamp"),
    [
        (TEXT, Stamp(ADA, 1764565200, "+0000")),
        ("<a@b> 5 +0100", Stamp(Person("", "a@b"), 5, "+0100")),
        ("Ada <a@b> <c@d> 5 +0100", Stamp(Person("Ada", "a@b"), 5, "+0100")),
        ("Ada  < a@b >  5 +0100 ", Stamp(Person("Ada", "a@b"), 5, "+0100")),
        ("Ada <a@b>", Stamp(Person("Ada", "a@b"), 0, "+0000")),
        ("Ada <a@b> yesterday", Stamp(Person("Ada", "a@b"), 0, "+0000")),
        ("Ada <a@b> 5 +51800", Stamp(Person("Ada", "a@b"), 0, "+0000")),
        ("Ada <a@b> 5 +9900", Stamp(Person("Ada", "a@b"), 5, "+0000")),
        ("Ada <a@b> 999999999999 +0000", Stamp(Person("Ada", "a@b"), 0, "+0000")),
        ("A\udcff <a@b> 5 +0000", Stamp(Person("A\udcff", "a@b"), 5, "+0000")),
    ],
)
def test_strange_commits_are_read_as_git_reads_them(text: str, stamp: Stamp) -> None:
    assert read_stamp(text) == stamp


def test_without_an_address_there_is_nobody() -> None:
    for text in ["", "Ada 5 +0000", "Ada <a@b 5 +0000", "> Ada <"]:
        with pytest.raises(ValueError, match="no address"):
            read_stamp(text)


def test_times() -> None:
    for seconds, text in [
        (0, "1970-01-01T00:00:00Z"),
        (1764565200, "2025-12-01T05:00:00Z"),
        (MAX_TIME, "9999-12-31T23:59:59Z"),
    ]:
        assert format_time(seconds) == text
        assert parse_time(text) == seconds
    for seconds in [-1, MAX_TIME + 1]:
        with pytest.raises(ValueError, match="no such time"):
            format_time(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2025-12-01",
        "2025-12-01T05:00:00",
        "2025-12-01T05:00:00+00:00",
        "2025-12-01T05:00:00.0Z",
        "2025-12-01 05:00:00Z",
        "2025-12-01t05:00:00z",
        "2025-02-30T05:00:00Z",
        "2025-12-01T24:00:00Z",
        "2025-12-01T05:00:60Z",
        "1969-12-31T23:59:59Z",
        "2025-12-01T05:00:00Z\n",
    ],
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError):
        parse_time(text)
