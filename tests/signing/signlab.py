"""SSH keys and signatures made in process, and ssh-keygen as the other opinion on them."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

BEGIN = b"-----BEGIN SSH SIGNATURE-----\n"
END = b"-----END SSH SIGNATURE-----\n"
ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493
CURVES: dict[str, tuple[ec.EllipticCurve, hashes.HashAlgorithm]] = {
    "nistp256": (ec.SECP256R1(), hashes.SHA256()),
    "nistp384": (ec.SECP384R1(), hashes.SHA384()),
    "nistp521": (ec.SECP521R1(), hashes.SHA512()),
}


def pack(*values: bytes) -> bytes:
    return b"".join(len(value).to_bytes(4, "big") + value for value in values)


def mpint(number: int) -> bytes:
    return number.to_bytes(number.bit_length() // 8 + 1, "big")


@dataclass(frozen=True)
class SoftKey:
    """A key: its type, its blob, and how it signs (the whole inner signature)."""

    key_type: str
    blob: bytes
    sign: Callable[[bytes], bytes]
    sign_in_browser: Callable[[bytes], bytes] | None = None

    @property
    def line(self) -> str:
        return f"{self.key_type} {base64.b64encode(self.blob).decode()}"


def ed25519_key() -> SoftKey:
    private = ed25519.Ed25519PrivateKey.generate()
    name = b"ssh-ed25519"
    return SoftKey(
        name.decode(),
        pack(name, private.public_key().public_bytes_raw()),
        lambda message: pack(name, private.sign(message)),
    )


def _point(private: ec.EllipticCurvePrivateKey) -> bytes:
    numbers = private.public_key().public_numbers()
    size = (private.key_size + 7) // 8
    return b"\x04" + numbers.x.to_bytes(size, "big") + numbers.y.to_bytes(size, "big")


def _ecdsa(private: ec.EllipticCurvePrivateKey, digest: hashes.HashAlgorithm, data: bytes) -> bytes:
    r, s = decode_dss_signature(private.sign(data, ec.ECDSA(digest)))
    return pack(mpint(r), mpint(s))


def ecdsa_key(curve: str) -> SoftKey:
    kind, digest = CURVES[curve]
    private = ec.generate_private_key(kind)
    name = f"ecdsa-sha2-{curve}".encode()
    return SoftKey(
        name.decode(),
        pack(name, curve.encode(), _point(private)),
        lambda message: pack(name, _ecdsa(private, digest, message)),
    )


def rsa_key(bits: int, algorithm: str = "rsa-sha2-512") -> SoftKey:
    private = rsa_private(bits)
    numbers = private.public_key().public_numbers()
    digests = {"rsa-sha2-256": hashes.SHA256(), "rsa-sha2-512": hashes.SHA512()}
    digest = digests.get(algorithm, hashes.SHA1())
    return SoftKey(
        "ssh-rsa",
        pack(b"ssh-rsa", mpint(numbers.e), mpint(numbers.n)),
        lambda message: pack(algorithm.encode(), private.sign(message, padding.PKCS1v15(), digest)),
    )


@cache
def rsa_private(bits: int) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=bits)


def dsa_key() -> SoftKey:
    private = _dsa_private()
    public = private.public_key().public_numbers()
    group = public.parameter_numbers
    numbers = (group.p, group.q, group.g, public.y)

    def sign(message: bytes) -> bytes:
        r, s = decode_dss_signature(private.sign(message, hashes.SHA1()))
        return pack(b"ssh-dss", r.to_bytes(20, "big") + s.to_bytes(20, "big"))

    return SoftKey("ssh-dss", pack(b"ssh-dss", *map(mpint, numbers)), sign)


@cache
def _dsa_private() -> dsa.DSAPrivateKey:
    return dsa.generate_private_key(key_size=1024)


def hardware_key(kind: str, flags: int = 1) -> SoftKey:
    """What a FIDO key would make, in software; `flags` 1 says that it was touched."""
    application = b"ssh:"
    extra = bytes([flags]) + (7).to_bytes(4, "big")

    def signed(message: bytes) -> bytes:
        parts = hashlib.sha256(application).digest(), extra, hashlib.sha256(message).digest()
        return b"".join(parts)

    if kind == "ed25519":
        private = ed25519.Ed25519PrivateKey.generate()
        name = b"sk-ssh-ed25519@openssh.com"
        return SoftKey(
            name.decode(),
            pack(name, private.public_key().public_bytes_raw(), application),
            lambda message: pack(name, private.sign(signed(message))) + extra,
        )
    secret = ec.generate_private_key(ec.SECP256R1())
    name = b"sk-ecdsa-sha2-nistp256@openssh.com"

    def in_browser(message: bytes) -> bytes:
        """As a web page gets it from the same key (OpenSSH's PROTOCOL.u2f, webauthn)."""
        challenge = base64.urlsafe_b64encode(message).rstrip(b"=").decode()
        client = f'{{"type":"webauthn.get","challenge":"{challenge}","origin":"https://x.org"}}'
        value = _ecdsa(secret, hashes.SHA256(), signed(client.encode()))
        more = pack(b"https://x.org", client.encode(), b"")
        return pack(b"webauthn-" + name, value) + extra + more

    return SoftKey(
        name.decode(),
        pack(name, b"nistp256", _point(secret), application),
        lambda message: pack(name, _ecdsa(secret, hashes.SHA256(), signed(message))) + extra,
        in_browser,
    )


def inner_fields(value: bytes) -> tuple[bytes, bytes, bytes]:
    """The algorithm of an inner signature, the signature proper, and what follows."""
    size = int.from_bytes(value[:4], "big")
    rest = value[4 + size :]
    end = 4 + int.from_bytes(rest[:4], "big")
    return value[4 : 4 + size], rest[4:end], rest[end:]


def with_padded_number(value: bytes) -> bytes:
    """The same ECDSA signature with a zero in front of its first number."""
    name, pair, more = inner_fields(value)
    size = int.from_bytes(pair[:4], "big")
    return pack(name, pack(b"\0" + pair[4 : 4 + size]) + pair[4 + size :]) + more


def with_order_added(value: bytes) -> bytes:
    """The same ed25519 signature with the group's order added to its scalar."""
    name, pair, more = inner_fields(value)
    scalar = int.from_bytes(pair[32:], "little") + ED25519_ORDER
    return pack(name, pair[:32] + scalar.to_bytes(32, "little")) + more


def without_leading_zeros(value: bytes) -> bytes:
    """The same RSA signature as agents write it that take it for a number."""
    name, number, more = inner_fields(value)
    return pack(name, number.lstrip(b"\0")) + more


def sshsig(
    key: SoftKey,
    payload: bytes,
    *,
    namespace: bytes = b"git",
    hash_name: str = "sha512",
    version: int = 1,
    reserved: bytes = b"",
    sign: Callable[[bytes], bytes] | None = None,
    inner: Callable[[bytes], bytes] = lambda value: value,
) -> bytes:
    """The blob of a signature; each argument but the first two spoils it in one respect."""
    digest = hashlib.new(hash_name, payload).digest()
    signed = b"SSHSIG" + pack(namespace, b"", hash_name.encode(), digest)
    fields = (key.blob, namespace, reserved, hash_name.encode(), inner((sign or key.sign)(signed)))
    return b"SSHSIG" + version.to_bytes(4, "big") + pack(*fields)


def armor(blob: bytes, width: int = 70) -> bytes:
    return armor_text(base64.b64encode(blob), width)


def armor_text(text: bytes, width: int = 70) -> bytes:
    lines = [text[at : at + width] + b"\n" for at in range(0, len(text), width)]
    return BEGIN + b"".join(lines) + END


class Keygen:
    """The real `ssh-keygen -Y verify`, asked for one principal at a time and in UTC."""

    def __init__(self, folder: Path) -> None:
        self.signers = folder / "signers"
        self.signature = folder / "signature"

    def accepts(
        self,
        principal: str,
        payload: bytes,
        signature: bytes,
        signers: bytes,
        times: Sequence[int],
        zone: str = "UTC",
    ) -> bool:
        self.signers.write_bytes(signers)
        self.signature.write_bytes(signature)
        return all(self._accepts_at(principal, payload, time, zone) for time in times)

    def _accepts_at(self, principal: str, payload: bytes, time: int, zone: str) -> bool:
        moment = datetime.fromtimestamp(time, UTC).strftime("%Y%m%d%H%M%SZ")
        argv = ["ssh-keygen", "-Y", "verify", "-I", principal, "-n", "git"]
        argv += ["-f", str(self.signers), "-s", str(self.signature), f"-Overify-time={moment}"]
        env = {**os.environ, "TZ": zone}
        return subprocess.run(argv, input=payload, capture_output=True, env=env).returncode == 0
