"""The pure parts of a diff: words, structure, summary and the lines of comments, as values."""

from __future__ import annotations

from difflib import unified_diff

import pytest

from gitgate.core import lineage
from gitgate.core.change import File, Line, Pair, Status, hunks
from gitgate.core.lineage import Carried, Fate
from gitgate.core.remarkable import of_text
from gitgate.core.structure import Form, Outline, form_of
from gitgate.core.summary import tell
from gitgate.core.words import compare, marked


def patch(old: str, new: str, context: int = 0) -> bytes:
    """A patch of two texts that end in newlines, by Python's own difflib."""
    lines = unified_diff(old.splitlines(True), new.splitlines(True), n=context)
    return "".join([*lines][2:]).encode()


def test_what_happened_to_a_file() -> None:
    a, b = File(b"a", 0o100644, "1" * 40), File(b"b", 0o100644, "1" * 40)
    link = File(b"a", 0o120000, "2" * 40)
    assert Pair(None, a).status is Status.ADDED
    assert Pair(a, None).status is Status.DELETED
    assert Pair(a, b, 100).status is Status.RENAMED
    assert Pair(a, link).status is Status.RETYPED
    assert Pair(a, File(b"a", 0o100755, "1" * 40)).status is Status.MODIFIED


def test_a_long_hunk_comes_in_pieces() -> None:
    old = "".join(f"old {number}\n" for number in range(5000))
    new = "".join(f"new {number}\n" for number in range(3000))
    found = list(hunks(patch(old, new)))
    assert [hunk.continued for hunk in found] == [False, True, True, True]
    assert [(hunk.old_start, hunk.old_length) for hunk in found][:3] == [
        (1, 2000),
        (2001, 2000),
        (4001, 1000),
    ]
    lines = [line for hunk in found for line in hunk.lines]
    assert [line.text for line in lines] == (old + new).splitlines()
    assert [line.old for line in lines if line.kind == "-"] == [*range(1, 5001)]
    assert [line.new for line in lines if line.kind == "+"] == [*range(1, 3001)]


@pytest.mark.parametrize(
    "broken",
    [
        b"@@ -1 +1 @@\n-a\n",
        b"@@ -1 +1 @@\n-a\n+b\n+c\n",
        b"@@ -1 +1 @@\n-a\n+b\nx\n",
        b"@@ -1 +1,2 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n",
    ],
)
def test_a_hunk_that_is_not_what_its_header_says(broken: bytes) -> None:
    with pytest.raises(ValueError, match=r"^a hunk "):
        list(hunks(broken))


def test_words_are_marked_where_lines_are_alike() -> None:
    assert compare("the old word", "the new word") == (
        (("the ", False), ("old", True), (" word", False)),
        (("the ", False), ("new", True), (" word", False)),
    )
    assert compare("nothing alike", "x = 1") == ((("nothing alike", False),), (("x = 1", False),))
    some = [
        Line(" ", 1, 1, "same"),
        Line("-", 2, None, "min 8 letters"),
        Line("-", 3, None, "gone"),
        Line("+", None, 2, "min 12 letters"),
    ]
    assert marked(some) == [
        (("same", False),),
        (("min ", False), ("8", True), (" letters", False)),
        (("gone", False),),
        (("min ", False), ("12", True), (" letters", False)),
    ]


@pytest.mark.parametrize(
    ("path", "form"),
    [
        (b"docs/a.md", Form.MARKUP),
        (b"README", Form.MARKUP),
        (b"aiwg.yml", Form.KEYS),
        (b".gitattributes", Form.KEYS),
        (b"src/a.py", Form.CODE),
        (b"src.d/a.rs", Form.CODE),
    ],
)
def test_the_form_of_a_text(path: bytes, form: Form) -> None:
    assert form_of(path) is form


def test_headings_enclose_what_follows_and_code_is_no_heading() -> None:
    text = b"# One\n\ntext\n\n```sh\n# no heading\n```\n\nTwo\n---\n\nmore\n\n== Three ==\nend\n"
    found = Outline(Form.MARKUP, text)
    assert [found.section(line) for line in (1, 3, 6, 9, 12, 15)] == [
        "",
        "One",
        "One",
        "One",
        "Two",
        "Three",
    ]
    assert found.title(9) == "Two"


def test_keys_and_definitions_enclose_by_their_indentation() -> None:
    yaml = Outline(Form.KEYS, b"a:\n  b:\n    - c: 1\n      d: 2\n  e: 3\nf: 4\n")
    assert [yaml.section(line) for line in range(1, 7)] == ["", "a", "a.b", "a.b", "a", ""]
    toml = Outline(Form.KEYS, b"[tool.x]\nname = 1\n[other]\nkey = 2\n")
    assert [toml.section(line) for line in (2, 4)] == ["tool.x", "other"]
    code = Outline(
        Form.CODE, b"class A:\n    async def f(self):\n        x\n\n    y = 1\n\nz = 2\n"
    )
    assert [code.section(line) for line in (2, 3, 5, 7)] == ["A", "A.f", "A", ""]


def told(path: str, old: str, new: str, budget: int = 5) -> list[str]:
    found = tell(path.encode(), patch(old, new), old.encode(), new.encode(), budget)
    lines = [f"{one.kind} {one.text} {one.first}-{one.last}" for one in found.items]
    return [*lines, f"more {found.more}"] if found.more else lines


DOC = "# Title\n\n## First\n\n- one\n- two\n- three\n\n## Second\n\nSome text.\n"


def test_a_summary_says_what_by_structure() -> None:
    assert told("a.md", DOC, DOC.replace("- two\n", "")) == ["- First: two 6-6"]
    assert told("a.md", DOC, DOC.replace("two", "2")) == ["~ First: “two” → “2” 6-6"]
    assert told("a.md", DOC, DOC.replace("- one", "-  one")) == [
        "~ First: “one” → “one” (white space) 5-5"
    ]
    assert told("a.md", DOC, DOC + "\n## Third\n\nmore\n") == ["+ Third 13-15"]
    assert told("a.md", DOC, DOC.replace("## Second", "## 2nd")) == [
        "~ First: “Second” → “2nd” 9-9"
    ]
    assert told("a.md", DOC, DOC + "\n\n\n") == ["+ Second: blank lines 12-14"]
    assert told("a.py", "def f():\n    return 1\n", "def f():\n    return 2\n") == [
        "~ f: “return 1” → “return 2” 2-2"
    ]
    assert told("a.py", "", "def f():\n    pass\n") == ["+ f 1-2"]
    assert told("a.yml", "a:\n  b: 1\n", "a:\n  b: 1\n  c: 2\n") == ["+ a.c 3-3"]
    assert told("a.json", '{\n  "a": 1\n}\n', '{\n  "a": 2\n}\n') == ['~ “"a": 1” → “"a": 2” 2-2']


def test_the_largest_changes_are_told_and_the_others_counted() -> None:
    old = "".join(f"line {number}\n" for number in range(100))
    new = old
    for at, lines in ((10, 1), (30, 5), (50, 2), (70, 4), (90, 3)):
        new = new.replace(f"line {at}\n", f"line {at}\n" + f"new {at}\n" * lines)
    assert told("a.c", old, new, 2) == ["+ new 30 33-37", "+ new 70 80-83", "more 3"]


OLD = "a line\nb line\nc line\nd line\n"


@pytest.mark.parametrize(
    ("line", "new", "expected"),
    [
        (2, OLD, Carried(Fate.SAME, 2)),
        (2, "new\n" + OLD, Carried(Fate.MOVED, 3)),
        (3, OLD.replace("b line\n", ""), Carried(Fate.MOVED, 2)),
        (2, OLD.replace("b line\n", ""), lineage.GONE),
        (2, OLD.replace("b line", "B line"), lineage.GONE),
        (2, OLD.replace("b line\n", "") + "x\nb line\n", Carried(Fate.MOVED, 5)),
        (2, OLD.replace("b line", "  b line"), Carried(Fate.MOVED, 2)),
        (0, "", Carried(Fate.SAME, 0)),
        (5, OLD, lineage.GONE),
        (99, "", lineage.GONE),
    ],
)
def test_where_a_commented_line_is(line: int, new: str, expected: Carried) -> None:
    assert lineage.carry(line, patch(OLD, new), OLD.encode(), new.encode()) == expected


@pytest.mark.parametrize(
    "line",
    [
        "# x" + " " * 900_000 + "y",
        "key" + " " * 900_000 + "y",
        " " * 900_000 + "x",
        "export " * 100_000,
        "-" * 900_000,
        "a.b" * 300_000,
        "= " * 400_000,
        "`" * 900_000,
    ],
)
@pytest.mark.parametrize("path", ["a.md", "a.yml", "a.py"])
def test_a_hostile_line_takes_no_longer_than_another(path: str, line: str) -> None:
    """It would take hours where an expression goes back over it again and again."""
    assert told(path, "old\n", f"{line}\nnew\n")


def test_lines_that_differ_far_behind_their_beginning() -> None:
    old, new = "word " * 100 + "one\n", "word " * 100 + "two\n"
    assert told("a.md", old, new) == ["~ “…word word word one” → “…word word word two” 1-1"]


@pytest.mark.parametrize(
    ("old", "new", "only"),
    [
        (b"one two\n", b"  one\ttwo\n", True),
        (b"one two\n", b"one\ntwo\n", True),
        (b"one two\n", b"onetwo\n", False),
        (b"one two\n", b"onet wo\n", False),
        (b"one\n", b"one two\n", False),
    ],
)
def test_only_white_space(old: bytes, new: bytes, only: bool) -> None:
    said = {one.text for one in of_text(old, new, b"")}
    assert ("nothing but white space changes" in said) is only
