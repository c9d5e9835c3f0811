"""SSH keys on disk: finding one, making one, and reading its public half."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from gitgate import process
from gitgate.core.sshwire import decode_base64, encode_base64, key_fields, natural, string
from gitgate.errors import Exit, GateError
from gitgate.signing.programs import expanded
from gitgate.signing.sshsig import MIN_RSA_BITS

OWN_NAME = "id_ed25519_git_gate"
"""The name of the key that `init` makes where there is none."""
_NAMES = ("id_ed25519", "id_ecdsa", "id_ed25519_sk", "id_ecdsa_sk", "id_rsa", OWN_NAME)
_MAX_FILE = 64 * 1024
_PRIVATE = re.compile(
    r"-----BEGIN OPENSSH PRIVATE KEY-----\s([A-Za-z0-9+/=\s]+)-----END OPENSSH PRIVATE KEY-----"
)
_MAGIC = b"openssh-key-v1\0"


def literal_key(value: str) -> str | None:
    """The public key that `user.signingKey` spells out (`key::…`, `ssh-…`); None for a path."""
    if value.startswith("key::"):
        return value.removeprefix("key::").strip()
    return value.strip() if value.startswith("ssh-") else None


def is_ssh(value: str) -> bool:
    """Whether `user.signingKey` names or spells out an SSH key, going by its form alone."""
    return literal_key(value) is not None or value.endswith(".pub")


def key_path(value: str, where: Path | None) -> Path:
    """The file that `user.signingKey` names, relative to `where`.

    Raises GateError where neither it nor its public half exists.
    """
    path = Path(where or ".", expanded(value)).absolute()
    if not path.is_file() and not _public_half(path).is_file():
        raise GateError(
            Exit.FATAL,
            f"the signing key {value!r} does not exist",
            "run `git gate init`, or set user.signingKey to a key that does",
        )
    return path


def public_key_of(path: Path) -> str:
    """The line of the public key that signing with the file `path` uses.

    Works for a key with a passphrase too. Raises GateError where no public key can be read.
    """
    for candidate in (path, _public_half(path)):
        line = _public_line(_text(candidate)) or _public_part(_text(candidate))
        if line is not None:
            return line
    done = process.run(["ssh-keygen", "-y", "-P", "", "-f", str(path)])
    line = _public_line(done.text) if done.status == 0 else None
    if line is None:
        raise GateError(
            Exit.FATAL,
            f"there is no public key to be read in {str(path)!r}",
            f"write it: ssh-keygen -y -f {quote(str(path))} > {quote(str(path))}.pub",
        )
    return line


def blob_of(line: str) -> bytes:
    """The blob of a public key's line; ValueError where it is none."""
    fields = line.split()
    if len(fields) < 2:
        raise ValueError("expected a type and a key")
    blob = decode_base64(fields[1])
    if string(blob)[0] != fields[0].encode():
        raise ValueError("the key is of another type than it says")
    return blob


def has_passphrase(path: Path) -> bool:
    """Whether the private key in `path` is encrypted."""
    text = _text(path)
    data = _private_data(text)
    if data is None:
        return "ENCRYPTED" in text
    return string(data, len(_MAGIC))[0] != b"none"


def default_key(config: Mapping[str, str], home: Path) -> str | None:
    """The SSH key to sign with, as a value for user.signingKey, or None.

    It is the configured one where gpg.format is ssh, else the first of those that ssh would try,
    else the one that was made for another repository. An RSA key must be long enough to count.
    """
    if config.get("gpg.format") == "ssh" and config.get("user.signingkey"):
        return config["user.signingkey"]
    for name in _NAMES:
        for path in (home / ".ssh" / f"{name}.pub", home / ".ssh" / name):
            if path.is_file() and _counts(path):
                return str(path)
    return None


def make_key(path: Path, comment: str) -> str:
    """Make an ed25519 key without a passphrase at `path`; the line of its public half.

    Raises GateError where a file is there already, or ssh-keygen fails.
    """
    if path.exists() or _public_half(path).exists():
        raise GateError(Exit.FATAL, f"{str(path)!r} exists already, and is left as it is")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise GateError(
            Exit.FATAL, f"cannot make the folder {str(path.parent)!r}: {error.strerror}"
        ) from None
    done = process.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path)]
    )
    if done.status != 0:
        raise GateError(Exit.FATAL, f"ssh-keygen could not make a key: {done.complaint}")
    return public_key_of(_public_half(path))


def _counts(path: Path) -> bool:
    try:
        key_type, fields = key_fields(blob_of(public_key_of(path)))
    except (GateError, ValueError):
        return False
    return key_type != "ssh-rsa" or natural(fields[1]).bit_length() >= MIN_RSA_BITS


def _public_half(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(".pub") + ".pub")


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_FILE).decode("utf-8", "replace")
    except OSError:
        return ""


def _public_line(text: str) -> str | None:
    line = text.split("\n", 1)[0].strip()
    try:
        blob_of(line)
    except ValueError:
        return None
    return line


def _private_data(text: str) -> bytes | None:
    found = _PRIVATE.search(text)
    if found is None:
        return None
    try:
        data = decode_base64("".join(found[1].split()))
    except ValueError:
        return None
    return data if data.startswith(_MAGIC) else None


def _public_part(text: str) -> str | None:
    """The public key that a private key's file shows without its passphrase (PROTOCOL.key)."""
    data = _private_data(text)
    if data is None:
        return None
    try:
        at = len(_MAGIC)
        for _ in ("cipher", "key derivation", "its options"):
            _field, at = string(data, at)
        blob, _ = string(data, at + 4)
        name, _ = string(blob)
    except ValueError:
        return None
    return f"{name.decode('ascii', 'replace')} {encode_base64(blob)}"
