"""Which program signs and verifies, as git's configuration says (git-config, gpg.program)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gitgate.core.armor import Format

_KEYS = {
    Format.SSH: ("gpg.ssh.program",),
    Format.OPENPGP: ("gpg.openpgp.program", "gpg.program"),
    Format.X509: ("gpg.x509.program",),
}
_DEFAULTS = {Format.SSH: "ssh-keygen", Format.OPENPGP: "gpg", Format.X509: "gpgsm"}


def program(config: Mapping[str, str], kind: Format) -> str:
    """The program for signatures of `kind`: a name on PATH or a path."""
    for key in _KEYS[kind]:
        if config.get(key):
            return expanded(config[key])
    return _DEFAULTS[kind]


def expanded(path: str) -> str:
    """`path` with a leading `~` or `~user` replaced, as git does for paths in its configuration."""
    try:
        return str(Path(path).expanduser()) if path.startswith("~") else path
    except RuntimeError:
        return path
