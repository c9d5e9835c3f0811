"""Who may sign: the OpenSSH allowed_signers file, and what a check of a signature says.

The format is that of ssh-keygen(1), ALLOWED SIGNERS; the rules on people are those of the design,
section 5: the first literal principal of a line names a person, the further ones are addresses of
the same person, wildcards name nobody, and a key of two people is nobody's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache

from gitgate.core import sshwire

MAX_FILE = 1 << 20
"""A larger signers file is not read, in bytes."""
MAX_PRINCIPAL = 1000
"""A longer principal is no name; OpenSSH gives up at 1,023 bytes."""
_PATTERN = re.compile(r"^!|[*?]")


class SignatureStatus(StrEnum):
    """What came of checking a signature.

    UNVERIFIABLE means that a verifier or a listed public key is missing: it must block, and is
    never to be taken for junk.
    """

    GOOD = "good"
    BAD = "bad"
    UNKNOWN_KEY = "unknown-key"
    EXPIRED = "expired"
    UNSIGNED = "unsigned"
    UNVERIFIABLE = "unverifiable"


@dataclass(frozen=True, slots=True)
class Verification:
    """A status, the person, the key's fingerprint, a hardware key's touch, and why (a sentence)."""

    status: SignatureStatus
    principal: str | None = None
    key: str = ""
    touch: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Signer:
    """A line of the file; times are seconds since the epoch, `valid_before` the last good one."""

    line: int
    principals: tuple[str, ...]
    key_type: str
    blob: bytes
    cert_authority: bool = False
    namespaces: tuple[str, ...] | None = None
    valid_after: int | None = None
    valid_before: int | None = None
    literals: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The principals that are no patterns and that no pattern of the line takes back."""

    def __post_init__(self) -> None:
        found = tuple(name for name in self.principals if not _PATTERN.search(name))
        if len(found) < len(self.principals):
            found = tuple(name for name in found if matches_list(name, self.principals))
        object.__setattr__(self, "literals", found)

    def allows(self, namespace: str) -> bool:
        """Whether the line is for signatures of `namespace`; a line without the option is."""
        return self.namespaces is None or matches_list(namespace, self.namespaces)

    def valid_at(self, time: int) -> bool:
        """Whether `time` lies in the line's window."""
        after = self.valid_after is None or time >= self.valid_after
        return after and (self.valid_before is None or time <= self.valid_before)


@dataclass(frozen=True, slots=True)
class Signers:
    """The lines that count, and the line number and fault of each that does not."""

    entries: tuple[Signer, ...]
    defects: tuple[tuple[int, str], ...] = ()
    _people: dict[str, str | None] = field(init=False, repr=False, compare=False)
    _by_blob: dict[bytes, tuple[Signer, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_blob: dict[bytes, tuple[Signer, ...]] = {}
        for entry in self.entries:
            by_blob[entry.blob] = (*by_blob.get(entry.blob, ()), entry)
        object.__setattr__(self, "_by_blob", by_blob)
        object.__setattr__(self, "_people", _name_people(self.entries))

    @property
    def people(self) -> frozenset[str]:
        """Everybody whom the file names, each by one name."""
        return frozenset(name for name in self._people.values() if name is not None)

    def person_of(self, address: str) -> str | None:
        """The person with this address, in any case; None for nobody and for several people."""
        return self._people.get(address.lower())

    def person(self, entry: Signer) -> str | None:
        """Whom a line without cert-authority names; None where it has only patterns."""
        literals = entry.literals
        return self.person_of(literals[0]) if literals else None

    def listing(self, blob: bytes, *, cert_authority: bool = False) -> tuple[Signer, ...]:
        """The lines of a key, in order."""
        found = self._by_blob.get(blob, ())
        return tuple(entry for entry in found if entry.cert_authority is cert_authority)


def fingerprint(blob: bytes) -> str:
    """`SHA256:…` of a public key, as ssh-keygen prints it."""
    return sshwire.fingerprint(blob)


def parse_signers(data: bytes) -> Signers:
    """Read an allowed_signers file; a defective line counts for nobody and is listed.

    A file of more than 1 MiB counts as one defect. Validity times are read in UTC, with and
    without the final Z, so that they mean the same on every machine.
    """
    return _parse_signers(data)


@lru_cache(maxsize=16)
def _parse_signers(data: bytes) -> Signers:
    if len(data) > MAX_FILE:
        return Signers((), ((1, f"the file has {len(data)} bytes, more than {MAX_FILE}"),))
    entries: list[Signer] = []
    defects: list[tuple[int, str]] = []
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if not raw.strip(b" \t\r") or raw.lstrip(b" \t").startswith(b"#"):
            continue
        try:
            entries.append(_parse_line(number, raw))
        except ValueError as error:
            defects.append((number, str(error)))
    kept, contradictions = _without_contradictions(entries)
    return Signers(kept, tuple(sorted(defects + contradictions)))


_PRINCIPALS = re.compile(r'[ \t]*(?:"([^"]*)"|([^ \t"]+))[ \t]+(?=\S)')
_OPTION = re.compile(
    r"(?:(cert-authority)|(namespaces|valid-after|valid-before)="
    r'"((?:[^"\\]|\\"|\\(?!"))*)")(?=[, \t])',
    re.IGNORECASE,
)
_KEY = re.compile(r"[ \t]*([^ \t]+)[ \t]+([^ \t]+)(?:[ \t].*)?")
_TIME = re.compile(
    r"([0-9]{4})([0-9]{2})([0-9]{2})(?:([0-9]{2})([0-9]{2})([0-9]{2})?)?(?:Z|UTC)?", re.IGNORECASE
)


def _parse_line(number: int, raw: bytes) -> Signer:
    try:
        line = raw.removesuffix(b"\r").decode()
    except UnicodeDecodeError:
        raise ValueError("the line is not UTF-8") from None
    head = _PRINCIPALS.match(line)
    if head is None:
        raise ValueError("expected principals and a key")
    principals = _read_principals(head[1] if head[2] is None else head[2])
    options, at = _read_options(line, head.end())
    key = _KEY.fullmatch(line, at)
    if key is None:
        raise ValueError("expected a key after the principals")
    after, before = (_read_time(name, options) for name in ("valid-after", "valid-before"))
    if after is not None and before is not None and before <= after:
        raise ValueError("valid-before is not later than valid-after")
    namespaces = options.get("namespaces")
    return Signer(
        line=number,
        principals=principals,
        key_type=key[1],
        blob=_read_blob(key[1], key[2]),
        cert_authority="cert-authority" in options,
        namespaces=None if namespaces is None else tuple(namespaces.split(",")),
        valid_after=after,
        valid_before=before,
    )


def _read_principals(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    for name in names:
        if not name or name != name.strip():
            raise ValueError("a principal is empty or has blanks around it")
        if not name.isprintable():
            raise ValueError(f"the principal {name[:80]!a} has invisible characters")
        if len(name.encode()) > MAX_PRINCIPAL:
            raise ValueError(f"the principal {name[:80]!r}… is too long")
    return names


def _read_options(line: str, at: int) -> tuple[dict[str, str], int]:
    """The options that begin at `at`, if no key begins there, and the offset behind them."""
    options: dict[str, str] = {}
    if line[at:].split(maxsplit=1)[0] in sshwire.KEY_TYPES:
        return options, at
    while True:
        found = _OPTION.match(line, at)
        if found is None:
            raise ValueError(f"neither an option nor a key: {line[at : at + 80]!r}")
        name = (found[1] or found[2]).lower()
        if name in options and name != "cert-authority":
            raise ValueError(f"{name} is given twice")
        options[name] = (found[3] or "").replace('\\"', '"')
        at = found.end()
        if line[at] != ",":
            return options, at
        at += 1


def _read_time(name: str, options: dict[str, str]) -> int | None:
    text = options.get(name)
    if text is None:
        return None
    found = _TIME.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
        time = datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except ValueError:
        raise ValueError(f"{name}: expected YYYYMMDD[HHMM[SS]][Z], found {text[:80]!r}") from None
    if time <= 0:
        raise ValueError(f"{name} is before 1970")
    return int(time)


def _read_blob(key_type: str, text: str) -> bytes:
    if key_type not in sshwire.KEY_TYPES:
        raise ValueError(f"a key of the unknown type {key_type[:80]!r}")
    try:
        blob = sshwire.decode_base64(text)
        found, _fields = sshwire.key_fields(blob)
    except ValueError as error:
        raise ValueError(f"the key cannot be read: {error}") from None
    if found != key_type:
        raise ValueError(f"the key says that it is of the type {found!r}, not {key_type!r}")
    return blob


def _without_contradictions(
    entries: Iterable[Signer],
) -> tuple[tuple[Signer, ...], list[tuple[int, str]]]:
    """Leave out each line whose person another line takes for somebody else."""
    owners: dict[str, tuple[str, int]] = {}
    for entry in entries:
        if not entry.cert_authority:
            for name in entry.literals[1:]:
                owners.setdefault(name.lower(), (entry.literals[0], entry.line))
    kept = []
    defects = []
    for entry in entries:
        name = "" if entry.cert_authority else next(iter(entry.literals), "")
        owner, line = owners.get(name.lower(), (name, 0))
        if owner.lower() == name.lower():
            kept.append(entry)
        else:
            defects.append(
                (entry.line, f"{name} is an address of {owner} in line {line}: begin with {owner}")
            )
    return tuple(kept), defects


def _name_people(entries: Sequence[Signer]) -> dict[str, str | None]:
    """Lower-case address → the person's name, or None where lines disagree on whose it is.

    The literals of a cert-authority line are people of their own: one line serves all whom an
    authority certifies.
    """
    plain = [entry.literals for entry in entries if not entry.cert_authority and entry.literals]
    people: dict[str, str | None] = {}
    for literals in plain:
        people.setdefault(literals[0].lower(), literals[0])
    first = frozenset(people)
    for literals in plain:
        owner = people[literals[0].lower()]
        for name in literals[1:]:
            key = name.lower()
            if key not in first and people.setdefault(key, owner) != owner:
                people[key] = None
    for entry in entries:
        if entry.cert_authority:
            for name in entry.literals:
                people.setdefault(name.lower(), name)
    return people


def matches_list(text: str, patterns: Iterable[str]) -> bool:
    """OpenSSH's pattern list: some pattern matches `text` and none that begins with `!` does."""
    matched = False
    for pattern in patterns:
        if _matches(text, pattern.removeprefix("!")):
            if pattern.startswith("!"):
                return False
            matched = True
    return matched


def _matches(text: str, pattern: str) -> bool:
    """`*` and `?` only; a star is extended step by step, so no pattern can make it slow."""
    at = place = resume = 0
    star: int | None = None
    while at < len(text):
        wanted = pattern[place : place + 1]
        if wanted == "*":
            star, resume = place, at
            place += 1
        elif wanted in ("?", text[at]):
            at += 1
            place += 1
        elif star is not None:
            resume += 1
            at, place = resume, star + 1
        else:
            return False
    return not pattern[place:].strip("*")
