"""The records of a note, whatever else is in it."""

from __future__ import annotations

import pytest

from gitgate.core.decision import Defect, DefectKind, parse, split_note


def record(message: str, label: str = "SSH SIGNATURE") -> bytes:
    gap = "\n" if label == "PGP SIGNATURE" else ""
    return (
        f"object {'a' * 40}\ntype commit\ntag gate/g/s\ntagger Ada <a@b> 1 +0000\n\n"
        f"Reject g of s\n\n{message}\n\nAction: reject\nVia: terminal\n"
        f"-----BEGIN {label}-----\n{gap}U1NIU0lH\n-----END {label}-----\n"
    ).encode()


A = record("first")
B = record("second\n\nthird", "PGP SIGNATURE")
C = record("fourth", "SIGNED MESSAGE")
PASTED = record(f"object {'b' * 40}\ntype commit\n\n -----END SSH SIGNATURE-----")

NOTES = {
    "nothing": (b"", []),
    "newlines": (b"\n\n\n", []),
    "one": (A, [A]),
    "a record pasted into a text": (PASTED, [PASTED]),
    "several, as git notes append leaves them": (A + b"\n" + B + b"\n" + C, [A, B, C]),
    "without a blank line": (A + B + C, [A, B, C]),
    "with many": (b"\n\n" + A + b"\n\n\n\n" + B + b"\n\n", [A, B]),
    "a human's text first": (b"lgtm\n\nsee below\n\n" + A, [b"lgtm\n\nsee below\n", A]),
    "a human's text last": (A + b"\nlgtm\n", [A, b"lgtm\n"]),
    "a human's text between": (A + b"\nlgtm\n\n" + B, [A, b"lgtm\n", B]),
    "text right behind an armor": (A + b"lgtm\n\n" + B, [A + b"lgtm\n", B]),
    "a second armor": (A + A[A.index(b"-----BEGIN") :], [A + A[A.index(b"-----BEGIN") :]]),
    "no newline at the end": (A + b"\n" + B[:-1], [A, B[:-1]]),
    "an armor's end alone": (b"-----END x-----\n\n" + A, [b"-----END x-----\n", A]),
    "a record cut in its armor": (A[:-30] + b"\n\n" + B, [A[:-30] + b"\n", B]),
    "and another": (A[:-30] + b"\n\n" + B[:-9] + b"\n\n" + C, [A[:-30] + b"\n", B[:-9] + b"\n", C]),
    "a record cut in its text": (A[:160] + b"\n\n" + B, [A[:160] + b"\n\n" + B]),
    "bytes": (b"\xff\0\n\n" + A, [b"\xff\0\n", A]),
}


@pytest.mark.parametrize("name", NOTES)
def test_a_note_is_split(name: str) -> None:
    data, pieces = NOTES[name]
    assert split_note(data) == pieces


def test_a_record_with_something_attached_never_counts() -> None:
    for name, kind in [
        ("text right behind an armor", DefectKind.TEXT_AFTER_ARMOR),
        ("a second armor", DefectKind.TWO_ARMORS),
        ("a record cut in its armor", DefectKind.ARMOR_ENCODING),
    ]:
        with pytest.raises(Defect) as caught:
            parse(split_note(NOTES[name][0])[0])
        assert caught.value.kind is kind, name


def test_ten_thousand_records() -> None:
    records = [record(f"number {number}") for number in range(10_000)]
    assert split_note(b"\n".join(records)) == records


@pytest.mark.parametrize(
    "data",
    [
        b"\n" * 30_000_000,
        b"x" * 100_000_000,
        b"object \n" * 12_000_000,
        b"\n-----END " + b"x" * 100_000_000,
        b"\n-----END " * 1_000_000,
        b"\n-----END x\n\nobject " * 300_000,
        b"".join([b"\n\nobject %s\ntype x\n-----BEGIN " % (b"a" * 40)] * 300_000),
    ],
    ids=["newlines", "one line", "objects", "an end", "ends", "pieces", "cut"],
)
def test_a_huge_note(data: bytes) -> None:
    assert b"".join(split_note(data)).replace(b"\n", b"") == data.replace(b"\n", b"")
