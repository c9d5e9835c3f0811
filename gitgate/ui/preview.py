"""What an artifact looks like: text with line numbers, Markdown rendered, or what it is in words.

Nothing of it runs or is fetched; hyperlinks, raw HTML and control characters are shown as text.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from gitgate.ui.body import Shown
from gitgate.ui.paint import Line, Span, text_of, wrap
from gitgate.ui.sanitise import safe

READABLE = 512 << 10
"""Bytes of an artifact of which all is shown; of a larger one only the beginning."""

MARKDOWN = (".md", ".markdown")
"""How the name of what can be rendered ends."""

_BEGINNING = 64 << 10
_HIGHLIGHTED = 256 << 10
_RENDERED = 256 << 10
_LOOKED_AT = 8000  # bytes in which git looks for a NUL
_AT_ONCE = 1 << 16  # bytes
_LONGEST_PIECE = 1 << 20  # bytes of one line
_LONGEST = 20_000  # characters of a line of which all is shown

_NAMES = {"link": "a symbolic link to", "submodule": "a submodule, at its commit"}


@dataclass(frozen=True, slots=True)
class Content:
    """An artifact as the work commit has it. `kind` is `file`, `link`, `submodule` or `missing`;
    `data` are the first bytes of a file's `size`, or what a link points to."""

    path: str
    oid: str
    kind: str
    size: int
    data: bytes
    executable: bool = False


class Preview:
    """One artifact, whose lines are made as they are looked at."""

    def __init__(self, content: Content) -> None:
        self.content = content

    @property
    def markdown(self) -> bool:
        """Whether it can be rendered."""
        name = self.content.path.lower()
        return self.readable and name.endswith(MARKDOWN) and (self.content.size <= _RENDERED)

    @property
    def readable(self) -> bool:
        """Whether it is a text."""
        return self.content.kind == "file" and b"\0" not in self.content.data[:_LOOKED_AT]

    @cached_property
    def text(self) -> list[str]:
        """The lines as they are, undecodable bytes as surrogates."""
        data = self.content.data
        if self.content.size > READABLE:
            data = data[:_BEGINNING]
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        return lines[:-1] if lines[-1:] == [""] else lines

    @property
    def whole(self) -> bool:
        """Whether all of its bytes are here."""
        return len(self.content.data) == self.content.size

    def pieces(self, content: Iterable[bytes] = ()) -> Iterator[bytes]:
        """All of the text for a pager, some lines at a time; `content` is read where the bytes
        here are not the `whole`."""
        held = iter(partial(io.BytesIO(self.content.data).read, _AT_ONCE), b"")
        for some in _lines(held if self.whole else content):
            text = some.decode("utf-8", "surrogateescape")
            yield safe(text.expandtabs(8), multiline=True).encode("utf-8", "replace")

    def summary(self) -> list[str]:
        """What it is, where that is more than a text to read."""
        one = self.content
        if one.kind == "missing":
            return ["it cannot be read here: git fetch"]
        if one.kind != "file":
            return [f"{_NAMES[one.kind]} {safe(one.data.decode('utf-8', 'surrogateescape'))}"]
        said = ["it is executable"] if one.executable else []
        if not self.readable:
            return [*said, f"binary, {bytes_in_words(one.size)}: git cat-file blob {one.oid}"]
        if one.size > READABLE:
            shown = bytes_in_words(_BEGINNING)
            said.append(
                f"{bytes_in_words(one.size)}: only the first {shown} are shown here; o shows all"
            )
        if not one.size:
            said.append("empty")
        elif not one.data.endswith(b"\n") and one.size <= READABLE:
            said.append("no newline at its end")
        return said

    def lines(self, columns: int, *, rendered: bool, colored: bool) -> list[Shown]:
        """All lines in `columns` cells."""
        told = [Shown(0, one) for said in self.summary() for one in _note(said, columns)]
        if not self.readable:
            return told
        if rendered and self.markdown:
            note = "rendered; m shows the source, with what is not visible here (HTML, comments)"
            path = self.content.path
            body = [Shown(0, line, path) for line in _rendered(self.text, columns)]
            return [*told, *(Shown(0, one) for one in _note(note, columns)), *body]
        return told + list(self._source(columns, colored=colored))

    def _source(self, columns: int, *, colored: bool) -> list[Shown]:
        plain = [_readable(text) for text in self.text]
        paint = self._highlighter(plain) if colored else None
        wide = len(str(len(plain)))
        path = self.content.path
        found: list[Shown] = []
        for at, text in enumerate(plain):
            gutter: Span = (f"{at + 1:>{wide}} ", "dim")
            body = paint(at) if paint else ((text, ""),)
            if len(text) + wide + 1 <= columns and text.isascii():
                found.append(Shown(at + 1, (gutter, *body), path))
            else:
                rows = wrap((gutter, *body), columns, wide + 1, words=False)
                found += [Shown(at + 1, row, path) for row in rows]
        return found

    def _highlighter(self, lines: Sequence[str]) -> Callable[[int], Line] | None:
        """The coloured form of a line by its index; None for what has no language or is large."""
        if self.content.size > _HIGHLIGHTED or any(len(line) > _LONGEST for line in lines):
            return None
        from rich.syntax import Syntax

        from gitgate.ui.theme import CODE

        code = "\n".join(lines)
        name = re.sub(r"[^A-Za-z0-9._-]", "_", self.content.path.rsplit("/", 1)[-1])
        lexer = Syntax.guess_lexer(name)
        if lexer == "default":
            return None
        tokens = Syntax("", lexer, theme=CODE).lexer
        if tokens is None:
            return None
        style_of = CODE.get_style_for_token
        rows: list[list[Span]] = [[]]
        for kind, token in tokens.get_tokens(code):
            style = style_of(kind)
            first, *more = token.split("\n")
            if first:
                rows[-1].append((first, style))
            rows += ([(piece, style)] if piece else [] for piece in more)
        if [text_of(tuple(row)) for row in rows[: len(lines)]] != list(lines):
            return None  # never another text than the one that is under review

        def painted(at: int) -> Line:
            return tuple(rows[at])

        return painted


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of whole lines; of a very long line, of whole characters."""
    rest = b""
    for piece in pieces:
        rest += piece
        end = rest.rfind(b"\n") + 1
        if not end and len(rest) > _LONGEST_PIECE:
            tail = (back for back in range(1, 5) if rest[-back] & 0xC0 != 0x80)
            end = len(rest) - next(tail, 0)
        if end:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def bytes_in_words(size: int) -> str:
    """A size as people say it."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} byte{'' if size == 1 else 's'}"


def _note(text: str, columns: int) -> list[Line]:
    return wrap(((f"({text})", "warning"),), columns, 1)


def _readable(text: str) -> str:
    """A line of an artifact: tabs as blanks to the next eighth, all else that hides as escapes."""
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}… and {len(text) - _LONGEST} characters more: o shows all"
    expanded = text.expandtabs(8) if "\t" in text else text
    cut = expanded.removesuffix("\r")
    return safe(cut) + (r"\r" if cut != expanded else "")


def _rendered(lines: Sequence[str], columns: int) -> list[Line]:
    from rich.console import Console
    from rich.markdown import Markdown

    from gitgate.ui.theme import CODE, MARKDOWN

    console = Console(
        file=io.StringIO(),
        width=columns,
        force_terminal=True,
        color_system="truecolor",
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
        theme=MARKDOWN,
        _environ={},
    )
    text = safe("\n".join(line.expandtabs(4) for line in lines), multiline=True)
    page = Markdown(text, hyperlinks=False, code_theme=CODE)  # type: ignore[arg-type]  # Syntax takes it
    found: list[Line] = []
    for segments in console.render_lines(page, pad=False):
        line = tuple(
            (safe(one.text), one.style if one.style is not None else "")
            for one in segments
            if not one.control
        )
        # Rich decodes `&#x202e;` after it wrapped: made visible, it needs more room.
        found += wrap(line, columns, words=False)
    return found
