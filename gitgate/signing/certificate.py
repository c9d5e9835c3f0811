"""SSH certificates: whose they claim to be is read here, whether they hold is ssh-keygen's word."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gitgate import process
from gitgate.core.person import format_time
from gitgate.core.sshwire import field_count, key_fields, packed, string, strings
from gitgate.core.trust import SignatureStatus, Signer, Signers, Verification, fingerprint
from gitgate.errors import Exit, GateError
from gitgate.signing import sshsig

SUFFIX = "-cert-v01@openssh.com"
"""The end of the name of each kind of certificate."""
_USER = 1


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a certificate says (OpenSSH's PROTOCOL.certkeys); times are seconds since the epoch."""

    key: bytes
    authority: bytes
    principals: frozenset[str]
    valid_after: int
    valid_before: int
    algorithm: str

    def valid_at(self, time: int) -> bool:
        """Whether `time` lies in the certificate's own window."""
        return self.valid_after <= time < self.valid_before


def parse(blob: bytes) -> Certificate:
    """Read a user certificate; ValueError where it is malformed or of another kind.

    Critical options restrict a login and have no meaning for a signature: one that has any is
    refused rather than used with them ignored.
    """
    name, at = string(blob)
    key_type = name.decode("ascii", "replace").removesuffix(SUFFIX)
    plain_type = f"{key_type}@openssh.com" if key_type.startswith("sk-") else key_type
    _nonce, at = string(blob, at)
    start = at
    try:
        count = field_count(plain_type)
    except KeyError:
        raise ValueError(f"a certificate of the unknown type {key_type[:60]!r}") from None
    for _ in range(count):
        _field, at = string(blob, at)
    key = packed(plain_type.encode()) + blob[start:at]
    kind = int.from_bytes(blob[at + 8 : at + 12], "big")
    _key_id, at = string(blob, at + 12)
    principals, at = string(blob, at)
    after, before = (int.from_bytes(blob[at + i : at + i + 8], "big") for i in (0, 8))
    rest = strings(blob[at + 16 :])
    if len(rest) != 5:
        raise ValueError("the certificate is malformed")
    critical, _extensions, _reserved, authority, signature = rest
    if kind != _USER:
        raise ValueError("the certificate is not a user's")
    if critical:
        raise ValueError("the certificate has critical options")
    algorithm, _ = string(signature)
    names = frozenset(name.decode() for name in strings(principals))
    key_fields(key)
    return Certificate(key, authority, names, after, before, algorithm.decode("ascii", "replace"))


def verify(
    payload: bytes,
    armor: bytes,
    signature: sshsig.Signature,
    signers: Signers,
    signers_file: bytes,
    times: Sequence[int],
) -> Verification:
    """As `ssh.verify`, for a signature whose key is a certificate.

    ssh-keygen is shown only the lines that count here, so that no wildcard and no plain listing of
    the same file can speak for the person. Raises ValueError for a malformed certificate.
    """
    claim = parse(signature.key)
    key = fingerprint(claim.key)
    lines = tuple(
        line
        for line in signers.listing(claim.authority, cert_authority=True)
        if line.allows(signature.namespace) and not claim.principals.isdisjoint(line.literals)
    )
    names = sorted({name for line in lines for name in line.literals} & claim.principals)
    people = {signers.person_of(name) for name in names}
    person = people.pop() if len(people) == 1 else None
    if person is None:
        reason = (
            f"the certificate stands for several people: {', '.join(names)}"
            if names
            else "no line of the signers file names a principal of the certificate and its issuer"
        )
        return Verification(SignatureStatus.UNKNOWN_KEY, None, key, reason=reason)
    refusal = _refusal(claim, signature)
    if refusal is not None:
        return Verification(SignatureStatus.BAD, None, key, reason=refusal)
    raw = signers_file.split(b"\n")
    counted = b"".join(raw[line.line - 1].removesuffix(b"\r") + b"\n" for line in lines)
    with tempfile.TemporaryDirectory(prefix="git-gate-") as folder:
        keygen = _Keygen(Path(folder), payload, armor, counted, signature.namespace)
        try:
            status, reason = _ask(keygen, claim, lines, names, times)
        except GateError as error:
            return Verification(SignatureStatus.UNVERIFIABLE, None, key, reason=str(error))
    if status is SignatureStatus.BAD:
        return Verification(status, None, key, reason=reason)
    reason = reason or f"a good signature of {person}"
    return Verification(status, person, key, signature.touch, reason)


def _refusal(claim: Certificate, signature: sshsig.Signature) -> str | None:
    """Why this kind of certificate never counts, by its own key or by its issuer's."""
    own = sshsig.refusal(*key_fields(claim.key), signature.algorithm)
    issuer = sshsig.refusal(*key_fields(claim.authority), claim.algorithm)
    return own or (issuer and f"the certificate's issuer: {issuer}")


def _ask(
    keygen: _Keygen,
    claim: Certificate,
    lines: Sequence[Signer],
    names: Sequence[str],
    times: Sequence[int],
) -> tuple[SignatureStatus, str]:
    if not keygen.fits():
        return SignatureStatus.BAD, "the signature does not fit the content"
    for time in times:
        if not claim.valid_at(time):
            return SignatureStatus.EXPIRED, f"the certificate is not valid at {format_time(time)}"
        if not any(line.valid_at(time) for line in lines):
            return SignatureStatus.EXPIRED, f"its issuer does not count at {format_time(time)}"
        if not any(keygen.accepts(name, time) for name in names):
            return SignatureStatus.BAD, "ssh-keygen does not accept the certificate"
    return SignatureStatus.GOOD, ""


class _Keygen:
    """`ssh-keygen -Y` over one signature, in a folder of its own and in UTC."""

    def __init__(
        self, folder: Path, payload: bytes, armor: bytes, signers: bytes, namespace: str
    ) -> None:
        self._payload = payload
        self._namespace = namespace
        self._signature = folder / "signature"
        self._signers = folder / "signers"
        self._signature.write_bytes(armor)
        self._signers.write_bytes(signers)

    def fits(self) -> bool:
        """Whether the signature is one of the content, whoever made it."""
        return self._run("check-novalidate")

    def accepts(self, name: str, time: int) -> bool:
        """Whether the signature is one of `name` at `time`."""
        written = datetime.fromtimestamp(time, UTC).strftime("%Y%m%d%H%M%S")
        return self._run("verify", "-I", name, "-f", str(self._signers), f"-Overify-time={written}")

    def _run(self, action: str, *options: str) -> bool:
        argv = ("ssh-keygen", "-Y", action, "-n", self._namespace, "-s", str(self._signature))
        done = process.run((*argv, *options), stdin=self._payload, env={"TZ": "UTC"})
        if done.status < 0:
            raise GateError(Exit.FATAL, f"ssh-keygen was stopped by the signal {-done.status}")
        return done.status == 0
