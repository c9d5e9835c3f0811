"""Quoting, held against git's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitgate.core.quoting import (
    check_path,
    path_bytes,
    path_text,
    quote,
    quote_text,
    unquote,
    unquote_text,
)
from gitgate.process import run

QUOTED = [
    (b"a/b.md", '"a/b.md"'),
    (b"", '""'),
    (b"a b", '"a b"'),
    (b'"', r'"\""'),
    (b"\\", r'"\\"'),
    (b"\a\b\t\n\v\f\r", r'"\a\b\t\n\v\f\r"'),
    (b"\x01\x1b\x7f", r'"\001\033\177"'),
    ("ä".encode(), r'"\303\244"'),
    (b"\xff", r'"\377"'),
    ("\u202e".encode(), r'"\342\200\256"'),
]


@pytest.mark.parametrize(("path", "text"), QUOTED)
def test_a_path_is_quoted_so_for_ever(path: bytes, text: str) -> None:
    assert quote(path) == text
    assert unquote(text) == path


def test_every_byte_is_quoted_as_git_quotes_it(tmp_path: Path) -> None:
    run(["git", "init", "-q"], cwd=tmp_path)
    blob = run(["git", "hash-object", "-w", "--stdin"], cwd=tmp_path).text
    names = [b"-%c-\xc3\xa4" % byte for byte in range(1, 256) if byte != ord("/")]
    info = b"".join(b"100644 %s\t%s\0" % (blob.encode(), name) for name in names)
    run(["git", "update-index", "-z", "--index-info"], cwd=tmp_path, stdin=info)
    listed = run(["git", "-c", "core.quotePath=true", "ls-files"], cwd=tmp_path).text.split("\n")
    assert sorted(listed) == sorted(quote(name) for name in names)


@pytest.mark.parametrize(
    "text",
    [
        "",
        '"',
        "a",
        '"a',
        'a"',
        '"a"b"',
        r'"\"',
        r'"\x"',
        r'"\e"',
        r'"\1"',
        r'"\141"',
        r'"\011"',
        r'"\777"',
        r'"\000"',
        '"\\303\\244 \u00e4"',
        '"\t"',
        '"a"\n',
        ' "a"',
        r'"\u0061"',
    ],
)
def test_what_git_would_not_write_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="quote"):
        unquote(text)


def test_text_is_quoted_in_utf8() -> None:
    assert quote_text("Größe\n2 ") == r'"Gr\303\266\303\237e\n2 "'
    assert unquote_text(quote_text("Größe\n2 ")) == "Größe\n2 "
    with pytest.raises(ValueError, match="utf-8"):
        unquote_text(r'"\377"')
    with pytest.raises(ValueError, match="surrogates"):
        quote_text("\udcff")
    with pytest.raises(ValueError, match="NUL"):
        quote_text("a\0b")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (b"a/b c.md", "a/b c.md"),
        ("größe.md".encode(), "größe.md"),
        (b"no", "no"),
        (b"a'b", "a'b"),
        (b'a"b', r'"a\"b"'),
        (b"a\\b", r'"a\\b"'),
        (b"a\nb", r'"a\nb"'),
        (b"\xff", r'"\377"'),
        (b"\xc2\x85", r'"\302\205"'),
        ("ä\n".encode(), r'"\303\244\n"'),
    ],
)
def test_a_path_in_yaml_is_plain_where_it_can_be(path: bytes, text: str) -> None:
    assert path_text(path) == text
    assert path_bytes(text) == path


@pytest.mark.parametrize("text", ['"a"', '"', "a\nb", "\x85", r'"\303\244"', "a\\b", "\udcff"])
def test_a_path_in_yaml_has_one_spelling(text: str) -> None:
    with pytest.raises(ValueError, match=r"quote|surrogates"):
        path_bytes(text)


def test_a_path_stands_in_a_tree() -> None:
    assert check_path(b".aiwg/a b") == b".aiwg/a b"
    for path in [b"", b"/a", b"a/", b"a//b", b".", b"..", b"a/../b", b"./a", b"a\0b"]:
        with pytest.raises(ValueError, match="not a path"):
            check_path(path)
