"""How a session paints what changed, and which line of which file each row shows."""

from __future__ import annotations

from gitgate.core.change import File, Measured, Pair, hunks
from gitgate.ui.body import Shown
from gitgate.ui.changespainted import painted, summarised
from gitgate.ui.fulldiff import Palette, Row, file
from gitgate.ui.paint import text_of

PATCH = (
    b"@@ -1,4 +1,5 @@\n one\n  note: not ours\n--- a comment of SQL\n+++ b/y.sql\n"
    b"+%s\n   + nor this\n" % (b"x" * 18 + b"+++ b/y.sql")
)
PAIR = Pair(File(b"x.sql", 0o100644, "1" * 40), File(b"x.sql", 0o100644, "2" * 40))


def test_each_row_of_a_full_diff_has_its_place() -> None:
    rows = [*file(Measured(PAIR, 2, 1, (0, 0)), hunks(PATCH), (), Palette())]
    shown = [one for row in rows for one in painted(row, 19)]
    assert {one.path for one in shown} == {"x.sql"}
    assert [(one.number, one.line[-1][1], text_of(one.line)) for one in shown] == [
        (0, "heading", "diff --git a/x.sql "),
        (0, "heading", "b/x.sql"),
        (0, "heading", "--- a/x.sql"),
        (0, "heading", "+++ b/x.sql"),
        (0, "changed", "@@ -1,4 +1,5 @@"),
        (1, "", " one"),
        (2, "", "  note: not ours"),
        (0, "old", "--- a comment of SQ"),
        (0, "old", "L"),
        (3, "new", "+++ b/y.sql"),
        (4, "new", "+" + "x" * 18),
        (4, "new", "+++ b/y.sql"),
        (5, "", "   + nor this"),
    ]


def test_what_is_said_beside_the_lines_is_set_off() -> None:
    (note,) = painted(Row("note: invisible characters", "said", b"a"), 80)
    assert note == Shown(0, (("note:", "warning"), (" invisible characters", "")), "a")
    (comment,) = painted(Row("comment: Ada on iteration 1: why?", "said", b"a"), 80)
    assert comment.line[0] == ("comment:", "warning")
    (title,) = painted(Row("Changes from iteration 1 → 2", "title"), 80)
    assert title == Shown(0, (("Changes from iteration 1 → 2", "title"),))


def test_a_summary() -> None:
    lines = ["Modified: a", "  + b", "  - c", "  ~ d", "  note: e", "+ f"]
    shown = [one for line in lines for one in summarised(line, 80)]
    assert [one.line[0][1] for one in shown] == ["", "new", "old", "changed", "warning", ""]
    assert {(one.number, one.path) for one in shown} == {(0, "")}
