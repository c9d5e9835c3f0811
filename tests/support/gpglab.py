"""GnuPG keys and signatures, made by gpg and gpgsm in a home of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

BEGIN = b"-----BEGIN PGP SIGNATURE-----\n"


class Gnupg:
    """A keyring; its path is short, since GnuPG's sockets lie in it."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="gpg-", dir="/tmp"))

    def run(self, *argv: str, stdin: bytes = b"", status: int | None = 0) -> bytes:
        done = subprocess.run(
            argv,
            input=stdin,
            capture_output=True,
            env={"PATH": os.environ["PATH"], "GNUPGHOME": str(self.home), "LC_ALL": "C.UTF-8"},
        )
        assert status is None or done.returncode == status, done.stderr.decode()
        return done.stdout

    def gpg(self, *options: str, stdin: bytes = b"") -> bytes:
        return self.run("gpg", "--batch", "--quiet", "--passphrase", "", *options, stdin=stdin)

    def make(self, person: str, kind: str = "ed25519", *options: str, expires: str = "0") -> str:
        """A new primary key that signs; its fingerprint."""
        address = f"{person} <{person}@example.com>"
        self.gpg(*options, "--quick-gen-key", address, kind, "sign", expires)
        return self.fingerprints(f"{person}@example.com")[-1]

    def fingerprints(self, *whose: str, program: str = "gpg") -> list[str]:
        listing = self.run(program, "--batch", "--with-colons", "--list-keys", *whose).decode()
        return [line.split(":")[9] for line in listing.split("\n") if line.startswith("fpr:")]

    def sign(self, payload: bytes, key: str, *options: str) -> bytes:
        return self.gpg("--yes", *options, "-bsau", key, stdin=payload)

    def packets(self, armor: bytes) -> bytes:
        return self.gpg("--dearmor", stdin=armor)

    def armor(self, packets: bytes) -> bytes:
        lines = self.gpg("--enarmor", stdin=packets).split(b"\n\n", 1)[1]
        return BEGIN + b"\n" + lines.replace(b"ARMORED FILE", b"SIGNATURE")

    def revoke(self, fingerprint: str) -> None:
        prepared = self.home / "openpgp-revocs.d" / f"{fingerprint}.rev"
        text = prepared.read_text()
        self.gpg("--import", stdin=text[text.index(":-----BEGIN") + 1 :].encode())

    def close(self) -> None:
        self.run("gpgconf", "--kill", "all", status=None)
        shutil.rmtree(self.home, ignore_errors=True)
