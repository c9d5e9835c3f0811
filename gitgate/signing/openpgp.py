"""OpenPGP and x509 signatures, by the status lines of gpg and gpgsm (GnuPG's doc/DETAILS).

The program says whether a signature fits and which key made it; whose key that is the policy says,
by full fingerprints. No sentence that the program prints for people is read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gitgate import process
from gitgate.core.armor import Defect, Format, check_armor
from gitgate.core.person import format_time
from gitgate.core.trust import SignatureStatus, Verification
from gitgate.errors import GateError
from gitgate.signing import keyring
from gitgate.signing.keyring import Key

_PREFIX = "[GNUPG:] "
_VERDICTS = ("GOODSIG", "EXPSIG", "EXPKEYSIG", "REVKEYSIG", "BADSIG", "ERRSIG")
_UNREADABLE = ("NODATA", "UNEXPECTED", "BADARMOR", "ERROR")
_BINARY_DOCUMENT = "00"
_BROKEN_HASHES = frozenset({"1", "2", "3"})  # MD5, SHA-1, RIPEMD-160
_NO_PUBLIC_KEY = 9
_PATIENCE = 60.0  # seconds; gpgsm may ask a server whether a certificate is revoked
_ERROR_CODE = 0xFFFF

_Listed = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the program said: its exit status, and its status lines as keyword and arguments."""

    program: str
    kind: Format
    exit_status: int
    lines: tuple[tuple[str, ...], ...]

    def find(self, *keywords: str) -> tuple[tuple[str, ...], ...]:
        return tuple(line for line in self.lines if line[0] in keywords)


def verify(
    payload: bytes,
    armor: bytes,
    fingerprints: Mapping[str, Sequence[str]],
    *,
    program: str,
    times: Sequence[int],
) -> Verification:
    """Check an OpenPGP or x509 signature of `payload` with `program` (gpg, gpgsm).

    `fingerprints` are the policy's: person → full fingerprints, of a primary key, a subkey or a
    certificate. The key must be valid at each of `times` (seconds since the epoch, at least one).
    Where the program is missing, or a listed public key that may have made the signature, it is
    unverifiable.
    """
    if not times:
        raise ValueError("a signature is checked at one time at least")
    try:
        kind = check_armor(armor) if armor else None
    except Defect as defect:
        return _bad("", f"the signature is not accepted: {defect}")
    if kind is None or kind is Format.SSH:
        return _bad("", "the signature is not accepted: it is none of OpenPGP or x509")
    listed = _by_fingerprint(fingerprints)
    if not listed:
        return _unknown("", f"the policy lists no {kind} fingerprint")
    try:
        return _judge(_ask(program, kind, payload, armor), listed, times)
    except GateError as error:
        return _unverifiable("", str(error))


def _by_fingerprint(fingerprints: Mapping[str, Sequence[str]]) -> _Listed:
    listed: dict[str, frozenset[str]] = {}
    for person, keys in fingerprints.items():
        for key in filter(None, map(keyring.normalised, keys)):
            listed[key] = listed.get(key, frozenset()) | {person}
    return listed


def _ask(program: str, kind: Format, payload: bytes, armor: bytes) -> _Answer:
    options = ["--batch", "--no-tty", "--status-fd=1"]
    if kind is Format.OPENPGP:
        # Nothing is fetched for a stranger's signature, and only the policy says whom to trust.
        options += ["--no-auto-key-retrieve", "--trust-model=always"]
    with tempfile.TemporaryDirectory(prefix="git-gate-") as folder:
        signature = Path(folder, "signature")
        signature.write_bytes(armor)
        done = process.run(
            [program, *options, "--verify", str(signature), "-"], stdin=payload, timeout=_PATIENCE
        )
    text = done.stdout.decode("utf-8", "replace")
    found = (line.removeprefix(_PREFIX) for line in text.split("\n") if line.startswith(_PREFIX))
    return _Answer(program, kind, done.status, tuple(tuple(line.split(" ")) for line in found))


def _judge(answer: _Answer, listed: _Listed, times: Sequence[int]) -> Verification:
    verdicts = answer.find(*_VERDICTS)
    if len(verdicts) > 1 or len(answer.find("NEWSIG")) > 1:
        return _bad("", "the armor has more than one signature")
    if not verdicts:
        return _judge_silence(answer, listed)
    keyword, key_id, *rest = verdicts[0]
    if keyword == "BADSIG":
        return _bad(key_id, "the signature does not fit the content")
    if keyword == "ERRSIG":
        # ERRSIG <key id> <algorithm> <hash> <class> <time> <code> <fingerprint, or ->
        issuer = rest[5] if len(rest) > 5 and rest[5] != "-" else key_id
        return _judge_unchecked(answer, listed, issuer, rest[4:5] == [str(_NO_PUBLIC_KEY)])
    return _judge_fitting(answer, listed, times, keyword)


def _judge_silence(answer: _Answer, listed: _Listed) -> Verification:
    """The program gave no verdict: gpgsm lacks the certificate, or there is nothing to read."""
    for _keyword, where, code, *_rest in answer.find("ERROR"):
        if where == "verify.findkey" and int(code) & _ERROR_CODE == _NO_PUBLIC_KEY:
            return _judge_unchecked(answer, listed, "", True)
    if answer.find(*_UNREADABLE):
        return _bad("", "the signature is malformed")
    return _unverifiable(
        "", f"{answer.program} gave no verdict and ended with the status {answer.exit_status}"
    )


def _judge_unchecked(answer: _Answer, listed: _Listed, issuer: str, missing: bool) -> Verification:
    """The program could not check the signature of `issuer` (its fingerprint or its end, or "").

    Without a public key nobody can tell whose subkey it is: as long as some listed key is not in
    the keyring, the signature may be that person's.
    """
    suspects = [key for key in listed if issuer and key.endswith(issuer)]
    if not suspects and issuer:
        related = keyring.listing(answer.program, [issuer])
        suspects = [key for key in listed if key in related]
    if not suspects:
        present = keyring.listing(answer.program, listed)
        suspects = [key for key in listed if key not in present]
    if not suspects:
        return _unknown(issuer, "the policy does not list the key")
    people = ", ".join(sorted(set().union(*(listed[key] for key in suspects))))
    if missing:
        keys = ", ".join(sorted(suspects))
        reason = f"a public key is missing: {answer.program} --import the key {keys} of {people}"
    else:
        reason = f"{answer.program} cannot check the signature, which may be of {people}"
    return _unverifiable(issuer, reason)


def _judge_fitting(
    answer: _Answer, listed: _Listed, times: Sequence[int], keyword: str
) -> Verification:
    # VALIDSIG <fingerprint> <date> <time> <expiry> <version> - <algorithm> <hash> <class> <primary>
    found = answer.find("VALIDSIG")
    if len(found) != 1 or len(found[0]) < 10:
        return _unverifiable("", f"{answer.program} did not say which key made the signature")
    key = found[0][1]
    primary = found[0][10] if len(found[0]) > 10 else key
    people = sorted(listed.get(key, frozenset()) | listed.get(primary, frozenset()))
    if not people:
        return _unknown(key, "the policy does not list the key")
    if len(people) > 1:
        return _unknown(key, f"the policy lists the key for several people: {', '.join(people)}")
    known = keyring.listing(answer.program, [primary])
    if key not in known or primary not in known:
        return _unverifiable(key, f"{answer.program} does not list the key {key}")
    person, keys = people[0], (known[key], known[primary])
    refusal = _refusal(answer, person, keys, keyword, found[0][8:10])
    if refusal is not None:
        return _bad(key, refusal)
    if keyword == "EXPSIG":
        return _expired(person, key, "the signature itself has expired")
    if answer.exit_status != 0:
        reason = f"{answer.program} cannot check the certificate of {person}, or its issuer"
        return _unverifiable(key, reason)
    for time in times:
        if not all(each.valid_at(time) for each in keys):
            return _expired(person, key, f"the key of {person} is not valid at {format_time(time)}")
    return Verification(SignatureStatus.GOOD, person, key, reason=f"a good signature of {person}")


def _refusal(
    answer: _Answer, person: str, keys: Sequence[Key], keyword: str, kind: Sequence[str]
) -> str | None:
    """Why a signature that fits never counts; None where it may."""
    if keyword == "REVKEYSIG":
        return f"the key of {person} is revoked"
    if answer.find("TRUST_NEVER"):
        return f"{answer.program} refuses the certificate of {person}"
    weak = next((key.refusal for key in keys if key.refusal), None)
    hash_name, signature_class = kind
    if hash_name in _BROKEN_HASHES:
        return weak or "the signature's hash is broken"
    if signature_class != _BINARY_DOCUMENT:
        return weak or "the signature is not one of exactly these bytes"
    return weak


def _bad(key: str, reason: str) -> Verification:
    return Verification(SignatureStatus.BAD, None, key, reason=reason)


def _unknown(key: str, reason: str) -> Verification:
    return Verification(SignatureStatus.UNKNOWN_KEY, None, key, reason=reason)


def _unverifiable(key: str, reason: str) -> Verification:
    return Verification(SignatureStatus.UNVERIFIABLE, None, key, reason=reason)


def _expired(person: str, key: str, reason: str) -> Verification:
    return Verification(SignatureStatus.EXPIRED, person, key, reason=reason)
