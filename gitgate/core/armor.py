"""The armor of a signature, in its one canonical form, and the defects of a record."""

from __future__ import annotations

import base64
import re
from enum import StrEnum
from functools import cache


class DefectKind(StrEnum):
    """Why the bytes of a record are not a record."""

    TOO_LARGE = "too-large"
    ENCODING = "encoding"
    NO_ARMOR = "no-armor"
    TWO_ARMORS = "two-armors"
    TEXT_AFTER_ARMOR = "text-after-armor"
    ARMOR_ENCODING = "armor-encoding"
    HEADER = "header"
    TRAILER_UNKNOWN = "trailer-unknown"
    TRAILER_TWICE = "trailer-twice"
    TRAILER_MISSING = "trailer-missing"
    TRAILER_VALUE = "trailer-value"
    NOT_CANONICAL = "not-canonical"
    WRONG_TAG = "wrong-tag"
    WRONG_OBJECT = "wrong-object"


class Defect(ValueError):  # noqa: N818 - what the formats call it
    """A record that never counts; the text is a sentence, `kind` is for programs."""

    def __init__(self, kind: DefectKind, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


class Format(StrEnum):
    """The kinds of signature, named as git's `gpg.format` names them."""

    SSH = "ssh"
    OPENPGP = "openpgp"
    X509 = "x509"


_LABELS = {
    "SSH SIGNATURE": Format.SSH,
    "PGP SIGNATURE": Format.OPENPGP,
    "SIGNED MESSAGE": Format.X509,
}
MAX_ARMOR = 64 << 10
"""Bytes; an RSA signature is under 2 KiB, a CMS one with its certificates under 16."""

_COLUMNS = {Format.SSH: 70, Format.OPENPGP: 64, Format.X509: 64}
_PGP_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]*: [\x20-\x7e]*[\x21-\x7e]")
_CHECKSUM = re.compile(r"=[A-Za-z0-9+/]{4}")


def check_armor(armor: bytes) -> Format:
    """The kind of an armor that is one, canonical, ended by a newline, with nothing after it.

    SSH has lines of 70 columns, OpenPGP and x509 of 64, as ssh-keygen, gpg and gpgsm write them.
    OpenPGP may have header lines and a checksum, which must be right. Raises Defect.
    """
    lines = _lines(armor)
    label = lines[0].removeprefix("-----BEGIN ").removesuffix("-----")
    kind = _LABELS.get(label)
    if kind is None or lines[0] != f"-----BEGIN {label}-----":
        raise _unreadable(f"the armor begins with {lines[0][:80]!r}")
    end = f"-----END {label}-----"
    if end not in lines:
        raise _unreadable("the armor does not end")
    at = lines.index(end)
    _check_rest(lines[at + 1 :])
    body = lines[1:at]
    if kind is Format.OPENPGP:
        _check_openpgp(body)
    else:
        _check_base64(body, _COLUMNS[kind])
    return kind


def _lines(armor: bytes) -> list[str]:
    if len(armor) > MAX_ARMOR:
        raise Defect(DefectKind.TOO_LARGE, f"the armor is larger than {MAX_ARMOR >> 10} KiB")
    try:
        lines = armor.decode("ascii").split("\n")
    except UnicodeDecodeError:
        raise _unreadable("the armor is not ASCII") from None
    if lines.pop():
        raise _unreadable("the armor does not end in a newline")
    return lines


def _check_rest(rest: list[str]) -> None:
    if any(line.startswith("-----BEGIN ") for line in rest):
        raise Defect(DefectKind.TWO_ARMORS, "the record has a second armor")
    if rest:
        raise Defect(DefectKind.TEXT_AFTER_ARMOR, "the record has text after its armor")


def _check_openpgp(body: list[str]) -> None:
    if "" not in body:
        raise _unreadable("the armor has no blank line before its data")
    blank = body.index("")
    if not all(_PGP_HEADER.fullmatch(line) for line in body[:blank]):
        raise _unreadable("the armor has a header line that is none, or ends in a blank")
    data = body[blank + 1 :]
    checksum = data.pop() if data and _CHECKSUM.fullmatch(data[-1]) else None
    raw = _check_base64(data, _COLUMNS[Format.OPENPGP])
    if checksum is not None and checksum[1:] != _crc24(raw):
        raise _unreadable("the armor's checksum is wrong")


def _check_base64(lines: list[str], columns: int) -> bytes:
    """The decoded data."""
    text = "".join(lines)
    try:
        raw = base64.b64decode(text, validate=True)
    except ValueError:
        raise _unreadable("the armor's base64 is broken") from None
    canonical = base64.b64encode(raw).decode()
    cut = [canonical[at : at + columns] for at in range(0, len(canonical), columns)]
    if not raw or lines != cut:
        raise _unreadable("the armor's base64 is not in its canonical form")
    return raw


def _crc24(data: bytes) -> str:
    """OpenPGP's checksum (RFC 4880, section 6.1) in base64."""
    crc = 0xB704CE
    table = _crc24_table()
    for byte in data:
        crc = ((crc << 8) & 0xFFFFFF) ^ table[(crc >> 16) ^ byte]
    return base64.b64encode(crc.to_bytes(3, "big")).decode()


@cache
def _crc24_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        crc = byte << 16
        for _ in range(8):
            crc = (crc << 1) ^ (0x1864CFB if crc & 0x800000 else 0)
        table.append(crc & 0xFFFFFF)
    return tuple(table)


def _unreadable(sentence: str) -> Defect:
    return Defect(DefectKind.ARMOR_ENCODING, sentence)
