"""A person who signs with an X.509 certificate, by a real gpgsm: approved, pushed, landed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from landingkit import passes, refused
from support.gpglab import Gnupg
from support.project import SOLO, make_project

CERTIFICATE = (
    "Key-Type: RSA\nKey-Length: 2048\nKey-Usage: sign\nSerial: random\nName-DN: CN=Ada\n"
    "Name-Email: ada@example.com\nHash-Algo: SHA256\n"
)


@pytest.fixture
def gnupg(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gnupg]:
    if not shutil.which("gpgsm"):
        pytest.skip("gpgsm is not installed")
    made = Gnupg()
    monkeypatch.setenv("GNUPGHOME", str(made.home))
    yield made
    made.close()


def _certificate(gnupg: Gnupg) -> str:
    """The fingerprint of a certificate that signs itself and is trusted here."""
    parameters = gnupg.home / "parameters"
    parameters.write_text(CERTIFICATE)
    made = gnupg.run(
        "gpgsm", "--batch", "--pinentry-mode", "loopback", "--passphrase-fd", "0",
        "--gen-key", "--armor", str(parameters),
    )  # fmt: skip
    gnupg.run("gpgsm", "--batch", "--import", stdin=made)
    [fingerprint] = gnupg.fingerprints(program="gpgsm")
    (gnupg.home / "trustlist.txt").write_text(f"{fingerprint} S relax\n")
    gnupg.run("gpgconf", "--kill", "gpg-agent")
    return fingerprint


def test_an_approval_by_a_certificate_lands(gnupg: Gnupg, tmp_path: Path, home: Path) -> None:
    fingerprint = _certificate(gnupg)
    policy = f"{SOLO}  x509: {{ada@example.com: [{fingerprint}]}}\n"
    project = make_project(tmp_path, home, policy, (("Ann Unlisted", "ann@example.com"),))
    project.git("config", "user.name", "Ada Lovelace")
    project.git("config", "user.email", "ada@example.com")
    project.git("config", "gpg.format", "x509")
    project.git("config", "user.signingKey", fingerprint)
    project.branch("feature")
    new = project.commit("Add a page", {"page.md": "# Page\n"})
    project.gate("open").ok()
    refused(project, new, "pending")
    said = project.gate("approve").ok().out
    assert f"signed with x509 key {fingerprint}" in said, said
    [decision] = project.gate("show", "--json").json["decisions"]
    assert (decision["by"], decision["signature"]) == ("ada@example.com", "good")
    passes(project, new)
