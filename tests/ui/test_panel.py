"""The boxed panel and the spoken one: whole texts, and no line wider than the terminal."""

from __future__ import annotations

import pytest
from panels import document, finding, item, look
from rich.cells import cell_len

from gitgate.core.policy import BoxStyle, Verbosity
from gitgate.ui.paint import apart, cells, text_of, wrap
from gitgate.ui.panel import panel, shown
from gitgate.ui.plain import table

HOSTILE = {
    "wide": "文書/要件/ログイン画面の仕様書とその変更履歴について.md",
    "combining": "docs/" + "e\u0301" * 70 + ".md",
    "emoji": "docs/👩\u200d💻/👍🏽.md",
    "escapes": "docs/\x1b[2J\x1b]8;;http://x\x07\r\n│ Status: approved.md",
    "bidi": "docs/\u202e\u2066dm.ton.md\u200b",
    "markup": "docs/[red]a[/]b[link=x]:smile:.md",
    "long": "docs/" + "deeper/" * 60 + "end.md",
    "endless": "x" * 1000,
    "blank": "docs/a  b   .md",
}


def said(**changes: object) -> str:
    return shown(panel(document(**changes), look(80)))


def test_at_eighty_columns() -> None:
    assert (
        said()
        == """\
╭───────────────────────────────────────────────────────────────────────────╮
│ Human Approval Gate                                                       │
│ Phase: elaboration → construction                                         │
│ Gate: Lifecycle Architecture (elaboration)                                │
│ Subject: feature/login → refs/heads/main, iteration 2, work b3db4a5dc023  │
│ Status: open, until 2025-12-01T06:00:00Z (43 min left)                    │
│   nobody has approved it yet                                              │
├───────────────────────────────────────────────────────────────────────────┤
│ Context:                                                                  │
│   • 3 artifacts created                                                   │
│   • 1 validation error                                                    │
│   • 1 warning                                                             │
│   • iteration 2, 2 h 14 min since it was opened                           │
│   • asked by Agent <agent@example.com> for claude at 2025-12-01T05:00:00Z │
│   • may approve: ada@example.com                                          │
│                                                                           │
│ Deliverables:                                                             │
│   ✗ docs/UC-002.md (1 error)  Register                                    │
│       ✗ line 3: error: no such page (reported by links)                   │
│   ⚠ docs/security.md (1 warning)  Security                                │
│       ⚠ warning: short (reported by links)                                │
│   ✓ docs/UC-001-login.md  User Login                                      │
│                                                                           │
│ Next Steps (if approved):                                                 │
│   - Start iteration C1                                                    │
├───────────────────────────────────────────────────────────────────────────┤
│ Options:                                                                  │
│   [a] Approve and continue                                                │
│   [r] Reject and provide feedback                                         │
│   [v] View detailed artifact summary                                      │
│   [d] Show diff from previous iteration                                   │
│   [e] Edit specific artifact                                              │
│   [s] Skip this gate (continue without approval)                          │
│   [q] Quit workflow                                                       │
╰───────────────────────────────────────────────────────────────────────────╯
decide: git gate review elaboration --subject feature/login"""
    )


def test_at_sixty_columns() -> None:
    assert (
        shown(panel(document(), look(60)))
        == """\
╭──────────────────────────────────────────────────────────╮
│ Human Approval Gate                                      │
│ Phase: elaboration → construction                        │
│ Gate: Lifecycle Architecture (elaboration)               │
│ Subject: feature/login → refs/heads/main, iteration 2,   │
│   work b3db4a5dc023                                      │
│ Status: open, until 2025-12-01T06:00:00Z (43 min left)   │
│   nobody has approved it yet                             │
├──────────────────────────────────────────────────────────┤
│ Context:                                                 │
│   • 3 artifacts created                                  │
│   • 1 validation error                                   │
│   • 1 warning                                            │
│   • iteration 2, 2 h 14 min since it was opened          │
│   • asked by Agent <agent@example.com> for claude at     │
│     2025-12-01T05:00:00Z                                 │
│   • may approve: ada@example.com                         │
│                                                          │
│ Deliverables:                                            │
│   ✗ docs/UC-002.md (1 error)  Register                   │
│       ✗ line 3: error: no such page (reported by links)  │
│   ⚠ docs/security.md (1 warning)  Security               │
│       ⚠ warning: short (reported by links)               │
│   ✓ docs/UC-001-login.md  User Login                     │
│                                                          │
│ Next Steps (if approved):                                │
│   - Start iteration C1                                   │
├──────────────────────────────────────────────────────────┤
│ Options:                                                 │
│   [a] Approve and continue                               │
│   [r] Reject and provide feedback                        │
│   [v] View detailed artifact summary                     │
│   [d] Show diff from previous iteration                  │
│   [e] Edit specific artifact                             │
│   [s] Skip this gate (continue without approval)         │
│   [q] Quit workflow                                      │
╰──────────────────────────────────────────────────────────╯
decide: git gate review elaboration --subject feature/login"""
    )


def test_at_two_hundred_columns_it_is_as_wide_as_its_text() -> None:
    assert panel(document(), look(200)) == panel(document(), look(80))


def test_minimal_is_a_line_for_each_section() -> None:
    assert (
        shown(panel(document(), look(90, verbosity=Verbosity.MINIMAL)))
        == """\
╭────────────────────────────────────────────────────────────────────────────────────────╮
│ Human Approval Gate: Lifecycle Architecture (elaboration), feature/login, open, until  │
│   2025-12-01T06:00:00Z (43 min left): nobody has approved it yet                       │
├────────────────────────────────────────────────────────────────────────────────────────┤
│ Context: 3 artifacts, 1 validation error, 1 warning, iteration 2 by Agent              │
│   <agent@example.com>, for 2 h 14 min                                                  │
│ Deliverables: 1 error, 1 warning, 1 validated                                          │
│ Next Steps (if approved): Start iteration C1                                           │
├────────────────────────────────────────────────────────────────────────────────────────┤
│ Options: [a] approve, [r] reject, [v] view, [d] diff, [e] edit, [s] skip, [q] quit     │
╰────────────────────────────────────────────────────────────────────────────────────────╯
decide: git gate review elaboration --subject feature/login"""
    )


def test_normal_has_no_descriptions_and_ten_deliverables_the_gravest_first() -> None:
    many = [item(f"d/{number:02}.md", about="Words") for number in range(11)]
    bad = item("z.md", "error", "Words", finding("broken"))
    found = shown(panel(document(deliverables=[*many, bad]), look(verbosity=Verbosity.NORMAL)))
    rows = [line.strip("│ ") for line in found.split("\n")]
    first = rows.index("Deliverables:")
    assert rows[first + 1 : first + 13] == [
        "✗ z.md (1 error)",
        "✗ line 3: error: broken (reported by links)",
        *(f"✓ d/{number:02}.md" for number in range(9)),
        "and 2 more",
    ]
    assert "Words" not in found


def test_detailed_has_all_of_them() -> None:
    many = [item(f"d/{number:04}.md", about="Words") for number in range(2000)]
    assert said(deliverables=many).count(".md  Words") == 2000


@pytest.mark.parametrize(("style", "corner"), [*zip(BoxStyle, ["┌", "╔", "╭", "┏"], strict=True)])
def test_box_styles(style: BoxStyle, corner: str) -> None:
    assert shown(panel(document(), look(box_style=style))).startswith(corner)


def test_a_gate_without_a_transition_shows_no_phase() -> None:
    rows = [line.strip("│ ") for line in said(transition=None).split("\n")]
    assert rows[1:4] == [
        "Human Approval Gate",
        "Gate: Lifecycle Architecture (elaboration)",
        "Subject: feature/login → refs/heads/main, iteration 2, work b3db4a5dc023",
    ]


@pytest.mark.parametrize("columns", [20, 60, 80, 200])
@pytest.mark.parametrize("name", HOSTILE)
def test_no_line_is_wider_than_the_terminal(name: str, columns: int) -> None:
    text = HOSTILE[name]
    doc = document(
        title=text,
        subject=text,
        summary=text,
        next_steps=[text],
        reasons=[text],
        warnings=[text],
        deliverables=[item(text, "error", text, finding(text))],
    )
    for verbosity in Verbosity:
        lines = panel(doc, look(columns, verbosity=verbosity))
        frame = [text_of(line) for line in lines if text_of(line)[0] in "╭│├╰"]
        assert {cell_len(line) for line in frame} == {cells(lines[0])}
        assert all(cells(line) <= columns for line in lines)
        assert all(line.isprintable() for line in map(text_of, lines))


def test_nothing_is_lost_where_a_line_is_broken() -> None:
    for text in HOSTILE.values():
        line = ((text.replace("\x1b", "?"), ""),)
        assert "".join(text_of(one).strip() for one in wrap(line, 20, 4)).replace(
            " ", ""
        ) == text_of(line).replace(" ", "")


def test_in_words_there_are_no_boxes_and_no_marks() -> None:
    assert (
        shown(panel(document(), look(accessible=True)))
        == """\
Human Approval Gate
Phase: elaboration to construction
Gate: Lifecycle Architecture (elaboration)
Subject: feature/login to refs/heads/main, iteration 2, work b3db4a5dc023
Status: open, until 2025-12-01T06:00:00Z (43 min left)
nobody has approved it yet
Context:
3 artifacts created
1 validation error
1 warning
iteration 2, 2 h 14 min since it was opened
asked by Agent <agent@example.com> for claude at 2025-12-01T05:00:00Z
may approve: ada@example.com
Deliverables:
error: docs/UC-002.md (1 error): Register
line 3: error: no such page (reported by links)
warning: docs/security.md (1 warning): Security
warning: short (reported by links)
validated: docs/UC-001-login.md: User Login
Next Steps (if approved):
Start iteration C1
Options:
a: Approve and continue
r: Reject and provide feedback
v: View detailed artifact summary
d: Show diff from previous iteration
e: Edit specific artifact
s: Skip this gate (continue without approval)
q: Quit workflow
decide: git gate review elaboration --subject feature/login"""
    )


@pytest.mark.parametrize(
    ("status", "command"),
    [
        ("approved", "git gate land elaboration"),
        ("rejected", "git gate open elaboration"),
        ("expired", "git gate open elaboration"),
        ("withdrawn", "git gate open elaboration"),
    ],
)
def test_what_waits_for_nobody_offers_commands(status: str, command: str) -> None:
    found = said(status=status)
    assert "[a]" not in found and "decide:" not in found
    assert found.split("Options:")[1].split("│")[2].strip().startswith(command)


def test_a_list_keeps_the_time_that_is_left_where_it_has_no_room_for_the_date() -> None:
    doc = document()
    (wide,) = table([doc], 200)
    assert wide.endswith("  until 2025-12-01T06:00:00Z (43 min left)")
    (narrow,) = table([doc], len(wide) - 1)
    assert narrow == wide.replace("until 2025-12-01T06:00:00Z (43 min left)", "43 min left")
    late = {**doc, "status": "parked", "time_left": "PT0S"}
    first, second = table([doc, late], len(wide) + 1)
    assert first.endswith("  43 min left") and second.endswith("  until 2025-12-01T06:00:00Z")


def test_blanks_have_no_style_that_would_show() -> None:
    for line in panel(document(), look(80), session=True):
        for text, slot in line:
            assert slot in ("", "frame", "dim") or text == text.strip(), text
    assert apart("  [a] ", "key") == (("  ", ""), ("[a]", "key"), (" ", ""))
    assert apart("   ", "key") == (("   ", ""),)
