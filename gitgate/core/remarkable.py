"""What a diff does not show by itself, said in words: modes, kinds, line ends, hidden characters.

Pure: contents before and after come in, sentences go out. Texts may hold what a repository says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

# Each is looked for in the added lines as UTF-8; the classes are those of Unicode's Bidi_Control,
# of Default_Ignorable_Code_Point, and the controls that are neither tab nor line end.
_BIDIRECTIONAL = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
# A symbol with the one selector that gives it its colour is what a person sees.
_EMOJI = re.compile("[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff]\ufe0f(?![\ufe00-\ufe0f])")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]|\r(?!$)")
_UNUSUAL = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|\xc2[\x80-\x9f\xad]|\xcd\x8f|\xd8\x9c"
    rb"|\xe1[\x85\x9e\xa0]|\xe2[\x80\x81]|\xe3\x85|\xef[\xb8\xbb\xbe\xbf]|\xf3\xa0"
)
_HUNK = re.compile(rb"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")

_BLANK = b" \t\n\r\x0b\x0c"
_WORD = re.compile(rb"[^ \t\n\r\x0b\x0c]+")
_PLAIN = bytes([*b"\t\n\r", *range(0x20, 0x7F)])
_LONG_LINE = 2_000  # characters of a line
_LINES_NAMED = 8


class About(StrEnum):
    """What a remark is about; the names are those of `--json`."""

    MODE = "mode"
    TYPE = "type"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    BINARY = "binary"
    TOO_LARGE = "too-large"
    EMPTY = "empty"
    LINE_ENDINGS = "line-endings"
    WHITE_SPACE = "white-space"
    NEWLINE = "newline"
    ENCODING = "encoding"
    BIDIRECTIONAL = "bidirectional"
    INVISIBLE = "invisible"
    CONTROL = "control"
    LONG_LINE = "long-line"
    ATTRIBUTES = "attributes"


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that is said of a file; `lines` are those of the new side that it is about."""

    about: About
    text: str
    lines: tuple[int, ...] = ()


def binary(data: bytes) -> bool:
    """Whether git calls this content binary: a NUL in its first 8,000 bytes."""
    return b"\0" in data[:8000]


def of_text(old: bytes | None, new: bytes | None, patch: bytes) -> Iterator[Remark]:
    """Remarks about the text of a regular file; `patch` is its patch without context.

    None is a side on which there is no file.
    """
    if not old and not new:
        yield Remark(About.EMPTY, "the file is empty")
    if old and new:
        yield from _white_space(old, new)
    if new is not None and new != old:
        if new and not new.endswith(b"\n") and (not old or old.endswith(b"\n")):
            yield Remark(About.NEWLINE, "the last line has no newline at its end")
        elif old and not old.endswith(b"\n") and new.endswith(b"\n"):
            yield Remark(About.NEWLINE, "the last line got the newline that it lacked")
        if not _utf8(new) and (not old or _utf8(old)):
            yield Remark(About.ENCODING, r"the text is not UTF-8: strange bytes are shown as \xff")
        yield from _hidden(patch)


def _white_space(old: bytes, new: bytes) -> Iterator[Remark]:
    if old == new:
        return
    before, after = _ends(old), _ends(new)
    if before != after and "none" not in (before, after):
        yield Remark(About.LINE_ENDINGS, f"line endings change from {before} to {after}")
        if _united(old) == _united(new):
            yield Remark(About.WHITE_SPACE, "nothing but line endings changes")
            return
    if old.translate(None, _BLANK) == new.translate(None, _BLANK) and _same_words(old, new):
        yield Remark(About.WHITE_SPACE, "nothing but white space changes")


def _same_words(old: bytes, new: bytes) -> bool:
    """Whether two texts that are the same without blanks have them between the same words."""
    return all(a[0] == b[0] for a, b in zip(_WORD.finditer(old), _WORD.finditer(new), strict=False))


def _united(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _ends(data: bytes) -> str:
    if b"\r" not in data:
        return "LF" if b"\n" in data else "none"
    crlf = data.count(b"\r\n")
    lf, cr = data.count(b"\n") - crlf, data.count(b"\r") - crlf
    named = [name for name, count in (("LF", lf), ("CRLF", crlf), ("CR", cr)) if count]
    return " and ".join(named) or "none"


def _utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _hidden(patch: bytes) -> Iterator[Remark]:
    """What the added lines hold that a person cannot see as it is."""
    if not (patch.translate(None, _PLAIN) or b"\r" in patch or _long_line(patch)):
        return
    found: dict[About, list[int]] = {}
    for number, line in added_lines(patch):
        if len(line) > _LONG_LINE:
            found.setdefault(About.LONG_LINE, []).append(number)
        if _UNUSUAL.search(line + b"\n") is None:
            continue
        text = _EMOJI.sub("", line.decode("utf-8", "surrogateescape"))
        for about, pattern in _HIDDEN.items():
            if pattern.search(text):
                found.setdefault(about, []).append(number)
    for about, said in _SAID.items():
        if about in found:
            lines = tuple(found[about])
            yield Remark(about, f"{said} in {lines_text(lines)}", lines[:_LINES_NAMED])


def _long_line(data: bytes) -> bool:
    """Whether there may be a line beyond the limit, without looking at each."""
    half = _LONG_LINE // 2
    return any(data.find(b"\n", at, at + half) < 0 for at in range(0, len(data) - half, half))


_HIDDEN = {
    About.BIDIRECTIONAL: _BIDIRECTIONAL,
    About.INVISIBLE: _INVISIBLE,
    About.CONTROL: _CONTROL,
}
_SAID = {
    About.BIDIRECTIONAL: "characters that reorder what is read",
    About.INVISIBLE: "invisible characters",
    About.CONTROL: "control characters",
    About.LONG_LINE: f"more than {_LONG_LINE:,} characters",
}


def lines_text(lines: tuple[int, ...]) -> str:
    """`line 3`, `lines 3, 4 and 12`, with a cap."""
    if len(lines) == 1:
        return f"line {lines[0]}"
    if len(lines) > _LINES_NAMED:
        shown = ", ".join(map(str, lines[:_LINES_NAMED]))
        return f"lines {shown} and {len(lines) - _LINES_NAMED} more"
    *most, last = map(str, lines)
    return f"lines {', '.join(most)} and {last}"


def added_lines(patch: bytes) -> Iterator[tuple[int, bytes]]:
    """The added lines of a patch, with their numbers on the new side."""
    number = 0
    for line in patch.split(b"\n"):
        if line.startswith(b"+"):
            yield number, line[1:]
            number += 1
        elif line.startswith(b" "):
            number += 1
        elif header := _HUNK.match(line):
            number = int(header[1])
