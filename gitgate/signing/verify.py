"""Check a signature of any kind: whose is it, and does it count at the times that matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gitgate.core.armor import Format
from gitgate.core.trust import SignatureStatus, Signers, Verification
from gitgate.signing.programs import program

if TYPE_CHECKING:
    from gitgate.core.decision import Record


@dataclass(frozen=True, slots=True)
class Trust:
    """Who counts, by one policy commit: the signers file, read and as it is, and fingerprints.

    `openpgp` and `x509` are the policy's: person → full fingerprints. `config` is git's.
    """

    signers: Signers
    signers_file: bytes
    openpgp: Mapping[str, Sequence[str]]
    x509: Mapping[str, Sequence[str]]
    config: Mapping[str, str]


def verify(record: Record, trust: Trust, *, times: Sequence[int]) -> Verification:
    """Check the signature of a decision; it must hold at each of `times` (one at least)."""
    return verify_signature(record.payload, record.armor, trust, times=times)


def verify_signature(
    payload: bytes, armor: bytes, trust: Trust, *, times: Sequence[int]
) -> Verification:
    """Check a signature by its armor, of a commit too; an empty armor is `unsigned`.

    A commit's header does not keep the newline that ends an armor: a missing one is no fault.
    Raises ValueError where `times` is empty.
    """
    if not armor:
        return Verification(SignatureStatus.UNSIGNED, reason="there is no signature")
    if not armor.endswith(b"\n"):
        armor += b"\n"
    if armor.startswith(b"-----BEGIN PGP "):
        return _by_gnupg(payload, armor, trust, Format.OPENPGP, times)
    if armor.startswith(b"-----BEGIN SIGNED MESSAGE-----"):
        return _by_gnupg(payload, armor, trust, Format.X509, times)
    from gitgate.signing import ssh

    return ssh.verify(payload, armor, trust.signers, trust.signers_file, times=times)


def _by_gnupg(
    payload: bytes, armor: bytes, trust: Trust, kind: Format, times: Sequence[int]
) -> Verification:
    from gitgate.signing import openpgp

    fingerprints = trust.openpgp if kind is Format.OPENPGP else trust.x509
    found = openpgp.verify(
        payload, armor, fingerprints, program=program(trust.config, kind), times=times
    )
    person = trust.signers.person_of(found.principal) if found.principal else None
    return replace(found, principal=person) if person else found
