"""What gpg and gpgsm know of keys: their `--with-colons` listing (GnuPG's doc/DETAILS)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from gitgate import process

MIN_RSA_BITS = 2048
_RSA = frozenset({"1", "2", "3"})
_DSA = "17"
_FINGERPRINT = re.compile(r"[0-9A-F]{40}|[0-9A-F]{64}")
_KEY_RECORDS = frozenset({"pub", "sub", "crt", "crs"})


@dataclass(frozen=True, slots=True)
class Key:
    """A key or a certificate; times are seconds since the epoch, `expires` None is never."""

    fingerprint: str
    algorithm: str
    bits: int
    created: int
    expires: int | None

    def valid_at(self, time: int) -> bool:
        """Whether `time` lies between creation and expiry."""
        return self.created <= time and (self.expires is None or time < self.expires)

    @property
    def refusal(self) -> str | None:
        """Why signatures of this key never count; None where they may."""
        if self.algorithm == _DSA:
            return "DSA keys are not accepted"
        if self.algorithm in _RSA and self.bits < MIN_RSA_BITS:
            return f"RSA keys of {self.bits} bits are not accepted, {MIN_RSA_BITS} is the least"
        return None


def normalised(fingerprint: str) -> str | None:
    """A full fingerprint as the programs print it, in capitals; None for anything shorter."""
    text = fingerprint.upper().replace(" ", "").replace(":", "")
    return text if _FINGERPRINT.fullmatch(text) else None


def listing(program: str, fingerprints: Iterable[str]) -> dict[str, Key]:
    """The keys of the keyring that belong to these fingerprints, with their subkeys.

    Raises GateError where the program cannot be started.
    """
    argv = (program, "--batch", "--no-tty", "--with-colons", "--list-keys", *fingerprints)
    keys: dict[str, Key] = {}
    record: list[str] | None = None
    for line in process.run(argv).stdout.decode("utf-8", "replace").split("\n"):
        fields = line.split(":")
        if fields[0] in _KEY_RECORDS:
            record = fields
        elif fields[0] == "fpr" and record is not None:
            keys[fields[9]] = _key(fields[9], record)
            record = None
    return keys


def _key(fingerprint: str, fields: list[str]) -> Key:
    return Key(
        fingerprint,
        algorithm=fields[3],
        bits=int(fields[2] or 0),
        created=_time(fields[5]) or 0,
        expires=_time(fields[6]),
    )


def _time(text: str) -> int | None:
    """Seconds since the epoch (gpg), or `20261202T002438` (gpgsm)."""
    if "T" in text:
        return int(datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=UTC).timestamp())
    return int(text) if text and text != "0" else None
