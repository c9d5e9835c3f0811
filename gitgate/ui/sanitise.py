"""The one place where text from a repository becomes text that a terminal may be given.

What moves the cursor, hides, reorders or splits becomes a visible escape; nothing is dropped. So
one piece of text stays one line, and what a person sees is all there is. Markup such as `[red]` is
text like any other and stays (whoever prints it must not interpret markup).
"""

from __future__ import annotations

import unicodedata
from itertools import chain

from gitgate.core.quoting import path_text

# Cn too: what this Python's Unicode does not know may be a format character in the terminal's.
_ESCAPED_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Cs", "Zl", "Zp"})

# Code points of other categories that show nothing (Unicode, DerivedCoreProperties.txt,
# Default_Ignorable_Code_Point). Variation selectors are among them: they carry hidden text as well
# as the colour of an emoji. The colours of skin show something, but in no cell, two or four: each
# terminal counts them in its own way.
_INVISIBLE = frozenset(
    chain(
        range(0x034F, 0x0350),
        range(0x115F, 0x1161),
        range(0x17B4, 0x17B6),
        range(0x180B, 0x1810),
        range(0x3164, 0x3165),
        range(0xFE00, 0xFE10),
        range(0xFFA0, 0xFFA1),
        range(0xE0000, 0xE1000),
        range(0x1F3FB, 0x1F400),
    )
)

_SHORT = {0x09: r"\t", 0x0A: r"\n", 0x0D: r"\r"}

_REMEMBERED = 4096  # characters; a hostile text may hold all of Unicode


class _Escapes(dict[int, str]):
    """For `str.translate`: what each character becomes."""

    def __missing__(self, code: int) -> str:
        shown = _escape(code) if _is_escaped(code) else chr(code)
        if len(self) < _REMEMBERED:
            self[code] = shown
        return shown


_LINE = _Escapes()
_LINES = _Escapes({0x0A: "\n"})


def safe(text: str, *, multiline: bool = False) -> str:
    r"""`text` with all that could deceive as visible escapes.

    Control characters become `\x1b`, `\n`, `\t`, format and other invisible ones `\u202e` or
    `\U000e0041`, an undecodable byte (a lone surrogate of `surrogateescape`) `\xff`. With
    `multiline` a line feed stays.
    """
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_LINES if multiline else _LINE)


def safe_path(path: bytes) -> str:
    """A path of a repository for a person: plain, or quoted as git does where it has to be."""
    return safe(path_text(path))


def says_something(text: str) -> bool:
    """Whether a person sees anything of `text`: more than blanks and what shows nothing."""
    return any(not char.isspace() and not _is_escaped(ord(char)) for char in text)


def width(text: str) -> int:
    """How many cells of a terminal `text`, which is safe and one line, takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def clip(text: str, cells: int) -> str:
    """`text`, which is safe and one line, cut to at most `cells` cells; a cut ends in `…`.

    Takes no longer for a longer text.
    """
    from rich.cells import cell_len

    used = end = 0  # `end`: where to cut so that the ellipsis still fits
    for index, char in enumerate(text):
        used += cell_len(char)
        if used > cells:
            return text[:end] + "…" if cells > 0 else ""
        if used < cells:
            end = index + 1
    return text


def _is_escaped(code: int) -> bool:
    return unicodedata.category(chr(code)) in _ESCAPED_CATEGORIES or code in _INVISIBLE


def _escape(code: int) -> str:
    r"""A C1 character becomes `\u0085`, so that `\x85` is the byte."""
    if code in _SHORT:
        return _SHORT[code]
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
