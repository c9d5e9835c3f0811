"""SSH signatures, checked in process; those by a certificate are left to ssh-keygen.

Whatever is accepted here is accepted by `ssh-keygen -Y verify` too. The reverse does not hold, on
purpose: no DSA, SHA-1 or short RSA, one encoding only, no person by a wildcard, one time zone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from gitgate.core.person import format_time
from gitgate.core.sshwire import key_fields, natural, string, strings
from gitgate.core.trust import SignatureStatus, Signer, Signers, Verification, fingerprint
from gitgate.signing import sshsig

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey


def verify(
    payload: bytes,
    armor: bytes,
    signers: Signers,
    signers_file: bytes,
    *,
    times: Sequence[int],
    namespace: str = "git",
) -> Verification:
    """Check an SSH signature of `payload`, and whose it is by `signers` (`signers_file`, read).

    Each of `times` (seconds since the epoch, at least one) must lie in a validity window of the
    key, read in UTC. Certificates are checked by `ssh-keygen -Y verify` (design, section 4); where
    that program is missing, a certificate that might be a person's is unverifiable.
    """
    if not times:
        raise ValueError("a signature is checked at one time at least")
    try:
        signature = _read(armor, namespace)
        if _is_certificate(signature):
            from gitgate.signing import certificate

            return certificate.verify(payload, armor, signature, signers, signers_file, times)
        key_type, fields = key_fields(signature.key)
    except ValueError as error:
        return Verification(SignatureStatus.BAD, reason=f"the signature is not accepted: {error}")
    return _verify_plain(payload, signature, key_type, fields, signers, times)


def objection(payload: bytes, armor: bytes) -> str | None:
    """Why a signature that was just made could never count, whoever is listed; None if it may.

    Only a certificate's own form is looked at.
    """
    try:
        signature = _read(armor, "git")
        if _is_certificate(signature):
            return None
        key_type, fields = key_fields(signature.key)
    except ValueError as error:
        return str(error)
    return _fault(key_type, fields, signature, payload)


def _read(armor: bytes, namespace: str) -> sshsig.Signature:
    signature = sshsig.parse(armor)
    if signature.namespace != namespace:
        raise ValueError(f"it is for the namespace {signature.namespace[:80]!r}")
    return signature


def _is_certificate(signature: sshsig.Signature) -> bool:
    return string(signature.key)[0].endswith(b"-cert-v01@openssh.com")


def _verify_plain(
    payload: bytes,
    signature: sshsig.Signature,
    key_type: str,
    fields: tuple[bytes, ...],
    signers: Signers,
    times: Sequence[int],
) -> Verification:
    key = fingerprint(signature.key)
    lines = signers.listing(signature.key)
    person, reason = _whose(lines, signers)
    lines = tuple(line for line in lines if line.allows(signature.namespace))
    if person is not None and not lines:
        reason = f"the signers file does not allow the key for {signature.namespace!r}"
    if person is None or not lines:
        return Verification(SignatureStatus.UNKNOWN_KEY, None, key, reason=reason)
    fault = _fault(key_type, fields, signature, payload)
    if fault is not None:
        return Verification(SignatureStatus.BAD, None, key, reason=fault)
    for time in times:
        if not any(line.valid_at(time) for line in lines if signers.person(line) is not None):
            reason = f"the key of {person} is not valid at {format_time(time)}"
            return Verification(SignatureStatus.EXPIRED, person, key, signature.touch, reason)
    return Verification(
        SignatureStatus.GOOD, person, key, signature.touch, f"a good signature of {person}"
    )


def _whose(lines: Sequence[Signer], signers: Signers) -> tuple[str | None, str]:
    """The one person whom these lines name, or None and why."""
    if not lines:
        return None, "the signers file does not list the key"
    people = sorted({name for line in lines if (name := signers.person(line)) is not None})
    if not people:
        return None, "only a pattern in the signers file fits the key, and a pattern names nobody"
    if len(people) > 1:
        return None, f"the signers file lists the key for several people: {', '.join(people)}"
    return people[0], ""


def _fault(
    key_type: str, fields: tuple[bytes, ...], signature: sshsig.Signature, payload: bytes
) -> str | None:
    """Why the signature is not one of this key over `payload` that may count."""
    from cryptography.exceptions import InvalidSignature

    refusal = sshsig.refusal(key_type, fields, signature.algorithm)
    if refusal is not None:
        return refusal
    message = signature.signed(payload)
    if signature.flags:
        application = hashlib.sha256(fields[-1]).digest()
        digest = hashlib.sha256(message).digest()
        message = application + signature.flags + signature.counter + digest
    try:
        _CHECKS[key_type](fields, signature, message)
    except (InvalidSignature, ValueError):
        return "the signature does not fit the content"
    return None


def _check_ed25519(fields: tuple[bytes, ...], signature: sshsig.Signature, message: bytes) -> None:
    if len(signature.value) != 64:
        raise ValueError("an ed25519 signature has 64 bytes")
    _ed25519_key(fields[0]).verify(signature.value, message)


def _check_ecdsa(fields: tuple[bytes, ...], signature: sshsig.Signature, message: bytes) -> None:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

    curve = fields[0].decode()
    digests: dict[str, Callable[[], hashes.HashAlgorithm]] = {
        "nistp256": hashes.SHA256,
        "nistp384": hashes.SHA384,
        "nistp521": hashes.SHA512,
    }
    r, s = (natural(number) for number in strings(signature.value))
    key = _ecdsa_key(curve, fields[1])
    key.verify(encode_dss_signature(r, s), message, ECDSA(digests[curve]()))


def _check_rsa(fields: tuple[bytes, ...], signature: sshsig.Signature, message: bytes) -> None:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15

    digest = hashes.SHA256() if signature.algorithm == "rsa-sha2-256" else hashes.SHA512()
    _rsa_key(*fields).verify(signature.value, message, PKCS1v15(), digest)


_CHECKS: dict[str, Callable[[tuple[bytes, ...], sshsig.Signature, bytes], None]] = {
    "ssh-ed25519": _check_ed25519,
    "ecdsa-sha2-nistp256": _check_ecdsa,
    "ecdsa-sha2-nistp384": _check_ecdsa,
    "ecdsa-sha2-nistp521": _check_ecdsa,
    "ssh-rsa": _check_rsa,
    "sk-ssh-ed25519@openssh.com": _check_ed25519,
    "sk-ecdsa-sha2-nistp256@openssh.com": _check_ecdsa,
}


@lru_cache(maxsize=256)
def _ed25519_key(point: bytes) -> Ed25519PublicKey:
    from cryptography.hazmat.primitives.asymmetric import ed25519

    return ed25519.Ed25519PublicKey.from_public_bytes(point)


@lru_cache(maxsize=256)
def _ecdsa_key(curve: str, point: bytes) -> EllipticCurvePublicKey:
    from cryptography.hazmat.primitives.asymmetric import ec

    curves: dict[str, Callable[[], ec.EllipticCurve]] = {
        "nistp256": ec.SECP256R1,
        "nistp384": ec.SECP384R1,
        "nistp521": ec.SECP521R1,
    }
    return ec.EllipticCurvePublicKey.from_encoded_point(curves[curve](), point)


@lru_cache(maxsize=256)
def _rsa_key(exponent: bytes, modulus: bytes) -> RSAPublicKey:
    from cryptography.hazmat.primitives.asymmetric import rsa

    return rsa.RSAPublicNumbers(natural(exponent), natural(modulus)).public_key()
