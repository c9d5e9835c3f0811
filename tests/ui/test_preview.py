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


def test_a_pager_gets_all_of_it_in_pieces() -> None:
    data = b"".join(b"%d\tof\xff many\x1b\r\n" % number for number in range(20_000)) + b"the end"
    pieces = [*preview(data).pieces()]
    assert len(pieces) > 4
    shown = b"".join(pieces).decode().split("\n")
    assert len(shown) == 20_001
    assert (shown[0], shown[19_999]) == (
        r"0       of\xff many\x1b\r",
        r"19999   of\xff many\x1b\r",
    )
    assert shown[-1] == "the end"


CODE = b"# note\n@wraps\nclass Login(Base):\n    def go(self) -> int:\n        return not 'x'\n"
PAGE = (
    b"# One\n\n## Two\n\n### Three\n\n#### Four\n\n> said\n\n1. `code` <kbd>x</kbd>\n2. [a](http://b)\n"
    b"\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n```python\ndef f(): pass\n```\n"
)


@pytest.mark.parametrize(
    ("data", "path", "rendered"),
    [(CODE, "a.py", False), (PAGE, "a.md", False), (PAGE, "a.md", True)],
)
def test_no_colour_that_vanishes_on_white_or_on_black(
    data: bytes, path: str, rendered: bool
) -> None:
    rows = preview(data, path).lines(60, rendered=rendered, colored=True)
    styles = [style for row in rows for _, style in row.line if not isinstance(style, str)]
    used = {color.name for style in styles for color in (style.color, style.bgcolor) if color}
    assert used <= {"default", "red", "green", "magenta"}
    assert any(style.bold for style in styles)


def test_code_has_the_styles_that_the_theme_names() -> None:
    rows = preview(CODE, "a.py").lines(60, rendered=False, colored=True)
    styles = {text.strip(): str(style) for row in rows for text, style in row.line}
    kinds = ("# note", "class", "Login", "go", "return", "not", "x")
    assert [styles[text] for text in kinds] == [
        "italic",
        "bold",
        "underline",
        "underline",
        "bold",
        "bold",
        "magenta",
    ]


def test_what_rendered_text_decodes_is_seen_whole() -> None:
    hidden = b"&#x202e;&#x202e;&#x202e;&#x200b;"
    data = b"Pay %b to **the** last word of this line\n\n| a&#x202e; | b |\n|-|-|\n" % hidden
    rows = lines(preview(data), rendered=True, columns=40)
    assert all(cell_len(row) <= 40 for row in rows)
    said = "".join(row.strip() for row in rows).replace(" ", "")
    assert r"Pay\u202e\u202e\u202e\u200btothelastwordofthisline" in said and r"a\u202e" in said


def test_a_pager_gets_what_is_not_held() -> None:
    held = preview(b"the begin", size=3 << 20)
    text = "\u00e9" * (1 << 20) + "\nnext\tline\nend"
    data = text.encode()
    parts = [data[at : at + 4099] for at in range(0, len(data), 4099)]
    pieces = [*held.pieces(parts)]
    assert b"".join(pieces).decode() == text.replace("\t", "    ") and len(pieces) > 2
    assert max(map(len, pieces)) < 2 << 20
    assert not held.whole and preview(b"x").whole
