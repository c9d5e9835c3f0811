"""What an artifact looks like: text, Markdown, and what is no text, in words."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from gitgate.ui.paint import text_of
from gitgate.ui.preview import READABLE, Content, Preview

OID = "a" * 40


def preview(data: bytes, path: str = "a.md", **changes: object) -> Preview:
    values: dict[str, object] = {"kind": "file", "size": len(data), **changes}
    return Preview(Content(path, OID, data=data, **values))  # type: ignore[arg-type]


def lines(of: Preview, *, rendered: bool = False, colored: bool = False, columns: int = 40):  # type: ignore[no-untyped-def]
    return [text_of(one.line) for one in of.lines(columns, rendered=rendered, colored=colored)]


def test_lines_have_their_numbers() -> None:
    assert lines(preview(b"# One\n\ntwo\n")) == ["1 # One", "2 ", "3 two"]
    numbers = [
        one.number
        for one in preview(b"x" * 100 + b"\ny\n").lines(40, rendered=False, colored=False)
    ]
    assert numbers == [1, 1, 1, 2]


def test_nothing_is_lost_of_a_long_line() -> None:
    text = "".join(str(number % 10) + " " * (number % 3) for number in range(300))
    rows = lines(preview(text.encode() + b"\n"))
    assert "".join(row[2:] for row in rows) == text


@pytest.mark.parametrize("colored", [False, True])
def test_what_hides_is_shown(colored: bool) -> None:
    data = "a\tb\x1b[2J\u202eend\r\n\u200bx\x0cy\n".encode() + b"\xff\n"
    rows = lines(preview(data, "a.py"), colored=colored)
    assert rows == [r"1 a       b\x1b[2J\u202eend\r", r"2 \u200bx\x0cy", r"3 \xff"]


def test_highlighting_changes_no_character() -> None:
    source = b'def f(x):\n    """Doc\n\n    [red]more[/] :smile:"""\n    return x  # \xc3\xa9\n\n\n'
    for path in ("a.py", "a.md", "a.yml", "Makefile", "a.unknown", "-x.py"):
        plain = lines(preview(source, path))
        assert lines(preview(source, path), colored=True) == plain
    painted = preview(source, "a.py").lines(40, rendered=False, colored=True)
    assert len(painted[0].line) > 2


def test_markdown_is_rendered_and_says_that_it_hides() -> None:
    data = b"# Title\n\nSome *words* [here](http://x) <!-- secret -->\n\n- [red]a[/] :smile:\n"
    rows = lines(preview(data), rendered=True)
    said = "\n".join(rows)
    assert "rendered; m shows the source" in said and "Some words here (http://x)" in said
    assert "[red]a[/] :smile:" in said and "secret" not in said
    assert "secret" in "\n".join(lines(preview(data), columns=80))
    assert all(cell_len(row) <= 40 for row in rows)
    links = preview(data).lines(40, rendered=True, colored=True)
    assert not any(getattr(style, "link", None) for one in links for _, style in one.line)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (preview(b"\0\1", "a.bin"), [f"(binary, 2 bytes: git cat-file blob {OID})"]),
        (preview(b""), ["(empty)"]),
        (preview(b"x"), ["(no newline at its end)", "1 x"]),
        (preview(b"x\n", executable=True), ["(it is executable)", "1 x"]),
        (preview(b"../\x1bx", kind="link"), [r"(a symbolic link to ../\x1bx)"]),
        (preview(OID.encode(), kind="submodule"), [f"(a submodule, at its commit {OID})"]),
        (preview(b"", kind="missing"), ["(it cannot be read here: git fetch)"]),
    ],
)
def test_what_is_no_text_is_named(made: Preview, expected: list[str]) -> None:
    assert lines(made, columns=90) == expected


def test_of_a_huge_file_only_the_beginning_is_shown() -> None:
    rows = lines(preview(b"line\n" * (READABLE // 4), "a.txt"), columns=90)
    assert rows[0] == "(640.0 KiB: only the first 64.0 KiB are shown here; o shows all)"
    assert len(rows) < 15_000
    one = lines(preview(b"x" * 400_000, "a.txt"), columns=90)
    assert len(one) < 300 and "characters more: o shows all" in "".join(one)
