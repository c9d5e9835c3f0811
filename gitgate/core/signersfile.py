"""Edits of `.aiwg/allowed_signers` that keep every comment, option and blank of other lines.

A key is ended by a validity window rather than by deleting its line: what it signed before stays
verifiable for whoever looks at history (design, section 5).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gitgate.core import sshwire
from gitgate.core.trust import Signer, Signers, parse_signers

_HEAD = re.compile(r'([ \t]*(?:"[^"]*"|[^ \t"]+)[ \t]+)')
_BEFORE = re.compile(r'(valid-before=)"[^"]*"', re.IGNORECASE)
_PATTERN = re.compile(r'[*?!,"\s]')


class RefusedError(ValueError):
    """Why an edit is not made, as a sentence."""


def add(
    data: bytes,
    person: str,
    key: str,
    *,
    valid_after: str | None = None,
    valid_before: str | None = None,
) -> bytes:
    """The file with one more line: `key` (an OpenSSH public key line) for `person`.

    Times are `YYYYMMDD[HHMM[SS]]Z`. Raises RefusedError for a key that is listed already, a name
    that is a pattern or somebody else's address, and for what would not parse.
    """
    if _PATTERN.search(person) or not person:
        raise RefusedError(f"{person!r} names nobody: expected one address")
    fields = key.split()
    if len(fields) < 2:
        raise RefusedError("the key is no OpenSSH public key line")
    options = ['namespaces="git"']
    options += [f'valid-after="{valid_after}"'] if valid_after else []
    options += [f'valid-before="{valid_before}"'] if valid_before else []
    gap = b"" if not data or data.endswith(b"\n") else b"\n"
    line = f"{person} {','.join(options)} {fields[0]} {fields[1]}\n"
    return _checked(data, data + gap + line.encode(), fields[1])


def _checked(before: bytes, after: bytes, blob: str) -> bytes:
    old, new = parse_signers(before), parse_signers(after)
    defects = set(new.defects) - set(old.defects)
    if defects:
        raise RefusedError(sorted(defects)[0][1])
    try:
        raw = sshwire.decode_base64(blob)
    except ValueError as error:
        raise RefusedError(f"the key cannot be read: {error}") from None
    listed = old.listing(raw)
    if listed:
        whose = ", ".join(sorted({old.person(entry) or "nobody" for entry in listed}))
        raise RefusedError(f"the key is listed already in line {listed[0].line}, for {whose}")
    return after


def revoke(data: bytes, wanted: str, moment: str) -> tuple[bytes, tuple[Signer, ...]]:
    """The file with an end, `moment` (`YYYYMMDDHHMMSSZ`), to the validity of the keys of a person
    or to the key with a fingerprint; and the lines that were changed.

    Raises RefusedError where nothing that is still valid fits.
    """
    signers = parse_signers(data)
    chosen = tuple(entry for entry in _fitting(signers, wanted) if _ends_later(entry, moment))
    if not chosen:
        raise RefusedError(f"no key of {wanted!r} is still valid")
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    for entry in chosen:
        lines[entry.line - 1] = _with_end(lines[entry.line - 1], entry, moment)
    after = "\n".join(lines).encode("utf-8", "surrogateescape")
    defects = set(parse_signers(after).defects) - set(signers.defects)
    if defects:
        line, why = sorted(defects)[0]
        raise RefusedError(f"line {line} would not be valid: {why}; remove it by hand")
    return after, chosen


def _fitting(signers: Signers, wanted: str) -> Sequence[Signer]:
    if wanted.startswith("SHA256:"):
        return [one for one in signers.entries if sshwire.fingerprint(one.blob) == wanted]
    person = signers.person_of(wanted)
    return [one for one in signers.entries if person and signers.person(one) == person]


def _ends_later(entry: Signer, moment: str) -> bool:
    end = parse_signers(
        f'x valid-before="{moment}" {entry.key_type} {sshwire.encode_base64(entry.blob)}\n'.encode()
    ).entries
    return bool(end) and entry.valid_at(end[0].valid_before or 0)


def _with_end(line: str, entry: Signer, moment: str) -> str:
    head = _HEAD.match(line)
    at = head.end() if head else 0
    key = line.index(f"{entry.key_type} ", at) if f"{entry.key_type} " in line[at:] else at
    options = line[at:key].rstrip(" \t")
    end = f'valid-before="{moment}"'
    if _BEFORE.search(options):
        options = _BEFORE.sub(rf'\g<1>"{moment}"', options)
    else:
        options = f"{options},{end}" if options else end
    return f"{line[:at]}{options} {line[key:]}"
