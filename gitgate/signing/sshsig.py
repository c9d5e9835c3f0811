"""The SSH signature format (OpenSSH's PROTOCOL.sshsig), read strictly."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from gitgate.core.armor import Format, check_armor
from gitgate.core.sshwire import decode_base64, natural, packed, string

MAX_ARMOR = 64 * 1024
"""Bytes; the largest RSA key and its certificate stay well below."""
MIN_RSA_BITS = 2048
_RSA_ALGORITHMS = ("rsa-sha2-256", "rsa-sha2-512")
_MAGIC = b"SSHSIG"
_HASHES = {b"sha256": hashlib.sha256, b"sha512": hashlib.sha512}


@dataclass(frozen=True, slots=True)
class Signature:
    """What an armor holds: the key's blob, the names, and the signature itself.

    `flags` (with the touch bit) and `counter` are those of a hardware key, else empty.
    """

    key: bytes
    namespace: str
    hash_name: bytes
    algorithm: str
    value: bytes
    flags: bytes
    counter: bytes

    @property
    def touch(self) -> bool:
        """Whether a hardware key says that somebody touched it."""
        return bool(self.flags) and bool(self.flags[0] & 0x01)

    def signed(self, payload: bytes) -> bytes:
        """The bytes that the key has signed."""
        digest = _HASHES[self.hash_name](payload).digest()
        parts = (self.namespace.encode(), b"", self.hash_name, digest)
        return _MAGIC + b"".join(packed(part) for part in parts)


def parse(armor: bytes) -> Signature:
    """Read an armor in its one canonical form.

    Raises ValueError with a reason for anything else: another width or line ending, text after it,
    another version, a reserved field that is used, an unknown hash, a byte left over.
    """
    if len(armor) > MAX_ARMOR:
        raise ValueError(f"the armor is larger than {MAX_ARMOR} bytes")
    if not armor or check_armor(armor) is not Format.SSH:
        raise ValueError("it is no SSH signature")
    blob = decode_base64("".join(armor.decode("ascii").split("\n")[1:-2]))
    if not blob.startswith(_MAGIC + (1).to_bytes(4, "big")):
        raise ValueError("it is no SSH signature of version 1")
    at = len(_MAGIC) + 4
    fields = []
    for _ in range(5):
        field, at = string(blob, at)
        fields.append(field)
    if at != len(blob):
        raise ValueError("it has bytes after its end")
    key, namespace, reserved, hash_name, inner = fields
    if reserved:
        raise ValueError("its reserved field is not empty")
    if hash_name not in _HASHES:
        raise ValueError(f"its hash {hash_name[:40].decode('ascii', 'replace')!r} is not accepted")
    algorithm, value, flags, counter = _inner(inner)
    names = namespace.decode("ascii", "replace")
    return Signature(key, names, hash_name, algorithm, value, flags, counter)


def _inner(data: bytes) -> tuple[str, bytes, bytes, bytes]:
    name, at = string(data)
    value, at = string(data, at)
    algorithm = name.decode("ascii", "replace")
    rest = data[at:]
    if len(rest) != (5 if algorithm.startswith("sk-") else 0):
        raise ValueError("it has bytes left over, or too few")
    return algorithm, value, rest[:1], rest[1:]


def refusal(key_type: str, fields: Sequence[bytes], algorithm: str) -> str | None:
    """Why signatures by this key with this algorithm never count; None where they may.

    `fields` are those of the plain key, as `sshwire.key_fields` gives them.
    """
    if key_type == "ssh-dss":
        return "DSA keys are not accepted"
    if key_type == "ssh-rsa":
        bits = natural(fields[1]).bit_length()
        if bits < MIN_RSA_BITS:
            return f"RSA keys of {bits} bits are not accepted, {MIN_RSA_BITS} is the least"
        if algorithm not in _RSA_ALGORITHMS:
            return f"the algorithm {algorithm[:40]!r} is not accepted for an RSA key"
    elif algorithm != key_type:
        return f"the algorithm {algorithm[:60]!r} is not accepted for a key of type {key_type}"
    return None
