"""Text from a repository on its way to a terminal."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitgate.ui.sanitise import clip, safe, safe_path, width

EVERYTHING = [chr(code) for code in range(0x110000)]
FORBIDDEN = {"Cc", "Cf", "Cn", "Cs", "Zl", "Zp"}
ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize("multiline", [False, True])
def test_no_character_of_unicode_gets_through(multiline: bool) -> None:
    shown = safe("".join(EVERYTHING), multiline=multiline)
    if multiline:
        assert shown.count("\n") == 1
        shown = shown.replace("\n", "")
    assert {unicodedata.category(char) for char in set(shown)} & FORBIDDEN == set()


def test_each_character_is_itself_or_an_escape_of_its_own() -> None:
    shown = [safe(char) for char in EVERYTHING]
    escape = re.compile(r"\\([tnr]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
    for char, text in zip(EVERYTHING, shown, strict=True):
        assert text == char or escape.fullmatch(text)
    assert len(set(shown)) == len(EVERYTHING)


def test_what_people_write_stays() -> None:
    for text in (
        "Zoë, Łukasz, Ωμέγα, Жанна, שלום, سلام, हिन्दी, ภาษา, 漢字かな 한글",
        "e\u0301 (decomposed), ½, €, “quotes”, — … ✓ ✅ 🎉",
        r"C:\new\table, \x1b written out, 100 %",
        "[red]markup[/red] dict[str, int] a[/]b :smile: `code` <b> @everyone ::error::",
        "",
    ):
        assert safe(text) == text
        assert safe(text, multiline=True) == text


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[2J\x07", r"\x1b[2J\x07"),
        ("\x1b]8;;https://evil\x1b\\click", r"\x1b]8;;https://evil\x1b\click"),
        ("\x9b31m", r"\u009b31m"),
        ("\x7f\b\0", r"\x7f\x08\x00"),
        ("one\ntwo\rthree\tfour", r"one\ntwo\rthree\tfour"),
        ("\x0b\x0c\x1c\x85\u2028\u2029", r"\x0b\x0c\x1c\u0085\u2028\u2029"),
        ("user\u202egpj.exe", r"user\u202egpj.exe"),
        ("\u2066a\u2069\u061c\u200e", r"\u2066a\u2069\u061c\u200e"),
        ("ad\u200bmin\u2060\ufeff\u00ad", r"ad\u200bmin\u2060\ufeff\u00ad"),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\\u200d\U0001f469"),
        ("x\ufe0f\U000e0100\u034f\u3164\u115f", r"x\ufe0f\U000e0100\u034f\u3164\u115f"),
        ("\U000e0041\U000e007f\uffff", r"\U000e0041\U000e007f\uffff"),
        ("\udcff\udc80\ud800\udbff", r"\xff\x80\ud800\udbff"),
    ],
)
def test_what_deceives_is_shown(hostile: str, shown: str) -> None:
    assert safe(hostile) == shown


@given(ANY_TEXT, st.booleans())
def test_nothing_forges_a_line_or_is_lost(text: str, multiline: bool) -> None:
    shown = safe(text, multiline=multiline)
    lines = text.split("\n") if multiline else [text]
    assert shown.split("\n") == [safe(line) for line in lines]
    assert all(len(line.splitlines()) <= 1 for line in shown.split("\n"))
    assert safe(shown, multiline=multiline) == shown
    shown.encode()


@given(st.lists(ANY_TEXT), st.booleans())
def test_the_context_does_not_matter(texts: list[str], multiline: bool) -> None:
    shown = [safe(text, multiline=multiline) for text in texts]
    assert safe("".join(texts), multiline=multiline) == "".join(shown)


@given(ANY_TEXT)
def test_rich_changes_nothing_in_it(text: str) -> None:
    from rich.console import Console
    from rich.text import Text

    out = io.StringIO()
    console = Console(file=out, width=10_000, highlight=False, emoji=False, markup=False)
    shown = safe(text)
    console.print(Text(shown), soft_wrap=True)
    assert out.getvalue() == shown + "\n"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (b"docs/a b.md", "docs/a b.md"),
        ("docs/zoë 漢.md".encode(), "docs/zoë 漢.md"),
        (b"a\nb", r'"a\nb"'),
        (rb"a\nb", r'"a\\nb"'),
        (b'say "x"', r'"say \"x\""'),
        (b"caf\xe9.md", r'"caf\351.md"'),
        ("\u202egpj.exe".encode(), r"\u202egpj.exe"),
        (b"\x1b[2J", r'"\033[2J"'),
        (b"[red]x[/]", "[red]x[/]"),
    ],
)
def test_paths(path: bytes, shown: str) -> None:
    assert safe_path(path) == shown


@given(st.binary(max_size=40).filter(lambda path: b"\0" not in path))
def test_any_path_is_one_harmless_line(path: bytes) -> None:
    shown = safe_path(path)
    assert not {unicodedata.category(char) for char in shown} & FORBIDDEN


@pytest.mark.parametrize(
    ("text", "cells"), [("", 0), ("abc", 3), ("漢字", 4), ("e\u0301", 1), ("🎉!", 3), ("ﾊ", 1)]
)
def test_width(text: str, cells: int) -> None:
    assert width(text) == cells


@pytest.mark.parametrize(
    ("text", "cells", "clipped"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("abcd", 1, "…"),
        ("abcd", 0, ""),
        ("abcd", -1, ""),
        ("", 0, ""),
        ("漢字", 4, "漢字"),
        ("漢字", 3, "漢…"),
        ("漢字x", 4, "漢…"),
        ("漢", 1, "…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("ab\u0301", 2, "ab\u0301"),
    ],
)
def test_clip(text: str, cells: int, clipped: str) -> None:
    assert clip(text, cells) == clipped


@given(ANY_TEXT.map(safe), st.integers(0, 30))
def test_a_clipped_text_fits(text: str, cells: int) -> None:
    clipped = clip(text, cells)
    assert width(clipped) <= cells
    if width(text) <= cells:
        assert clipped == text
    elif cells:
        assert clipped.endswith("…")
        assert text.startswith(clipped[:-1])


def test_a_colour_of_skin_takes_the_same_cells_everywhere() -> None:
    assert safe("\U0001f44d\U0001f3fd") == "\U0001f44d\\U0001f3fd"
    assert width(safe("\U0001f44d\U0001f3fd")) == 12


def test_rich_is_not_imported_before_it_is_needed() -> None:
    script = (
        "import sys; from gitgate.ui.sanitise import safe, width; safe('é'); width('a');"
        "assert 'rich' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
