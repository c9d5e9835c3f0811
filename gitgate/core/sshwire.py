"""SSH's wire format and its public keys, read strictly: what is left over or padded is an error."""

from __future__ import annotations

import binascii
from collections.abc import Callable

_Check = Callable[[bytes], bool]


def string(data: bytes, at: int = 0) -> tuple[bytes, int]:
    """The SSH string at offset `at` and the offset behind it; ValueError where it is cut off."""
    start = at + 4
    end = start + int.from_bytes(data[at:start], "big")
    if end > len(data):
        raise ValueError("its data is cut off")
    return data[start:end], end


def strings(data: bytes) -> tuple[bytes, ...]:
    """`data` as SSH strings and nothing else; ValueError where something is left over."""
    found = []
    at = 0
    while at < len(data):
        value, at = string(data, at)
        found.append(value)
    return tuple(found)


def packed(value: bytes) -> bytes:
    """`value` as an SSH string."""
    return len(value).to_bytes(4, "big") + value


def natural(data: bytes) -> int:
    """A positive number in its one canonical form (RFC 4251, section 5, mpint); ValueError."""
    if not _is_natural(data):
        raise ValueError("a number in it is not positive, or padded")
    return int.from_bytes(data, "big")


def _is_natural(data: bytes) -> bool:
    return bool(data) and data[0] < 128 and (data[0] > 0 or (len(data) > 1 and data[1] > 127))


def _is_any(data: bytes) -> bool:
    return True


def _is_long(size: int) -> _Check:
    return lambda data: len(data) == size


def _curve(name: bytes, size: int) -> tuple[_Check, _Check]:
    """The curve's name, and an uncompressed point with `size` bytes a coordinate."""
    return (lambda data: data == name), (lambda data: len(data) == 1 + 2 * size and data[0] == 4)


_SHAPES: dict[str, tuple[_Check, ...]] = {
    "ssh-ed25519": (_is_long(32),),
    "ssh-rsa": (_is_natural, _is_natural),
    "ssh-dss": (_is_natural, _is_natural, _is_natural, _is_natural),
    "ecdsa-sha2-nistp256": _curve(b"nistp256", 32),
    "ecdsa-sha2-nistp384": _curve(b"nistp384", 48),
    "ecdsa-sha2-nistp521": _curve(b"nistp521", 66),
    "sk-ssh-ed25519@openssh.com": (_is_long(32), _is_any),
    "sk-ecdsa-sha2-nistp256@openssh.com": (*_curve(b"nistp256", 32), _is_any),
}
KEY_TYPES = frozenset(_SHAPES)
"""The types of plain public keys that can be read; some of them never count (DSA)."""


def field_count(key_type: str) -> int:
    """How many fields follow the name in a public key of `key_type`; KeyError if unknown."""
    return len(_SHAPES[key_type])


def key_fields(blob: bytes) -> tuple[str, tuple[bytes, ...]]:
    """The type of a plain public key and its fields; ValueError where it is malformed."""
    name, *fields = strings(blob) or (b"",)
    key_type = name.decode("ascii", "replace")
    shape = _SHAPES.get(key_type)
    if shape is None:
        raise ValueError(f"a key of the unknown type {key_type[:80]!r}")
    if len(fields) != len(shape) or not all(
        check(field) for check, field in zip(shape, fields, strict=True)
    ):
        raise ValueError(f"a malformed {key_type} key")
    return key_type, tuple(fields)


def decode_base64(text: str) -> bytes:
    """Canonical base64 without white space; ValueError for everything else."""
    try:
        data = binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
    except UnicodeEncodeError:
        raise ValueError("not base64") from None
    if binascii.b2a_base64(data, newline=False).decode() != text:
        raise ValueError("base64 that is not in its canonical form")
    return data


def encode_base64(data: bytes) -> str:
    """`data` as base64 on one line."""
    return binascii.b2a_base64(data, newline=False).decode()


def fingerprint(blob: bytes) -> str:
    """`SHA256:…` of a public key, as ssh-keygen prints it."""
    import hashlib

    return "SHA256:" + encode_base64(hashlib.sha256(blob).digest()).rstrip("=")
