"""The panel of one instance on a terminal: boxed, or in words for a screen reader.

Drawn from the document that `ui/plain.panel` takes, so both say the same.
"""

from __future__ import annotations

from gitgate.core.policy import Verbosity
from gitgate.ui.look import Look
from gitgate.ui.paint import Line, apart, cells, framed, text_of, wrap
from gitgate.ui.sanitise import width
from gitgate.ui.sections import WAITING, Document, Row, Section, sections, shell

_SEED_WIDTH = 59
"""Cells of the frame in the display rules: ours is as wide, and wider where its text is."""


def panel(doc: Document, look: Look, *, session: bool = False) -> list[Line]:
    """The whole panel. Outside a `session`, where the keys do nothing, it says where they do."""
    found = sections(doc, look.display.verbosity, look.options, keys=True)
    lines = spoken(found) if look.accessible else boxed(found, look)
    if doc["status"] in WAITING and not session:
        command = f"git gate review {doc['gate']} --subject {shell(doc['subject'])}"
        lines += wrap((("decide: ", "dim"), (command, "")), look.columns, 2)
    return lines


def boxed(found: tuple[Section, ...], look: Look) -> list[Line]:
    """Sections in a frame: one part for the header, one for what is asked, one for the options."""
    natural = [_drawn(row) for section in found for row in section.rows]
    widest = max([cells(line) for line in natural], default=0) + 4
    columns = min(max(widest, _SEED_WIDTH), look.columns)
    header, *middle, options = found
    body: list[Line] = []
    apart = look.display.verbosity is not Verbosity.MINIMAL
    for number, section in enumerate(middle):
        body += [()] if number and apart else []
        body += _section(section, columns - 4)
    parts = [_section(header, columns - 4), body, _section(options, columns - 4)]
    return framed(parts, look.display.box_style, columns)


def _section(section: Section, columns: int) -> list[Line]:
    lines = wrap(((section.title, "heading"),), columns) if section.title else []
    for row in section.rows:
        lines += wrap(_drawn(row), columns, max(width(row.begin), 2))
    return lines


def _drawn(row: Row) -> Line:
    """A row with its mark; a mark is never a colour alone, and the words say it again."""
    mark = {"validated": "good"}.get(row.mark, row.mark)
    slot = "" if row.slot == "key" else row.slot
    tail = f"  {row.tail}" if row.tail else ""
    before = apart(row.begin, "key" if row.slot == "key" else mark)
    return tuple(span for span in (*before, (row.text, slot), (tail, "dim")) if span[0])


def spoken(found: tuple[Section, ...]) -> list[Line]:
    """Sections without frames and marks: one fact a line, in the order in which they matter."""
    lines: list[Line] = []
    for section in found:
        lines += [((section.title, "heading"),)] if section.title else []
        lines += [((said(row), row.slot if row.slot != "key" else ""),) for row in section.rows]
    return lines


def said(row: Row) -> str:
    """A row in words."""
    told = f"{row.word}: {row.text}" if row.word else row.text
    about = f": {row.tail}" if row.tail and not row.word.endswith(row.tail.strip()) else ""
    return (told + about).replace(" → ", " to ")


def shown(lines: list[Line]) -> str:
    """Lines as text alone."""
    return "\n".join(text_of(line) for line in lines)
