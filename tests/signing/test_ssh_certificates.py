"""SSH certificates: ssh-keygen decides, and a few that it takes do not count here."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import signlab
from signlab import Keygen, SoftKey, armor, sshsig

from gitgate.core.trust import SignatureStatus, Verification, fingerprint, parse_signers
from gitgate.signing import certificate, ssh

PAYLOAD = b"what is signed\n"
NOW = 1_764_565_200  # 2025-12-01T05:00:00Z
ADA = "ada@example.com"
BOB = "bob@example.com"

# What ssh-keygen accepts and we do not, by the name of the case. docs/adr/0003 explains each.
STRICTER = {
    "wildcard-line": "a pattern names nobody, with a certificate either",
    "wildcard-beside": "a pattern names nobody, with a certificate either",
    "two-people": "a certificate for two people does not say who signed",
    "force-command": "a restriction that is not understood is not ignored",
    "authority-short-rsa": "RSA keys below 2048 bits",
    "authority-sha1": "SHA-1, in the certificate's own signature",
    "own-short-rsa": "RSA keys below 2048 bits",
    "listed-itself": "a certificate is listed by its authority, or it would outlive it",
}


class Authority:
    """A certificate authority of ssh-keygen's, on disk."""

    def __init__(self, path: Path, *kind: str) -> None:
        self.path = path
        subprocess.run(
            ["ssh-keygen", "-q", "-N", "", "-C", "", "-f", str(path), *(kind or ("-t", "ed25519"))],
            check=True,
        )
        self.line = Path(f"{path}.pub").read_text().strip()

    def certify(self, key: SoftKey, *options: str) -> SoftKey:
        """`key` with a certificate for its blob; `options` are those of `ssh-keygen -s`."""
        public = self.path.with_name("user.pub")
        public.write_text(key.line + "\n")
        subprocess.run(
            ["ssh-keygen", "-q", "-s", str(self.path), "-I", "id", *options, str(public)],
            check=True,
        )
        key_type, text = self.path.with_name("user-cert.pub").read_text().split()[:2]
        return replace(key, key_type=key_type, blob=base64.b64decode(text))


@dataclass(frozen=True)
class Case:
    name: str
    armor: bytes
    signers: str
    asked: str = ADA
    times: tuple[int, ...] = (NOW,)


def cases(folder: Path) -> Iterator[Case]:
    authority = Authority(folder / "authority")
    other = Authority(folder / "other")
    user = signlab.ed25519_key()
    always = ("-V", "20200101:20300101")
    plain = authority.certify(user, "-n", ADA, *always)
    good = armor(sshsig(plain, PAYLOAD))
    line = f"{ADA} cert-authority {authority.line}\n"

    def certified(*options: str, key: SoftKey = user, by: Authority = authority) -> bytes:
        return armor(sshsig(by.certify(key, *options), PAYLOAD))

    yield Case("good", good, line)
    for name, key in (
        ("ecdsa", signlab.ecdsa_key("nistp384")),
        ("rsa", signlab.rsa_key(2048)),
        ("sk-ed25519", signlab.hardware_key("ed25519")),
        ("sk-ecdsa", signlab.hardware_key("ecdsa")),
        ("own-short-rsa", signlab.rsa_key(1024)),
    ):
        yield Case(name, certified("-n", ADA, *always, key=key), line)
    yield Case("namespaces", good, f'{ADA} cert-authority,namespaces="git" {authority.line}\n')
    yield Case("namespaces-other", good, f'{ADA} namespaces="x",cert-authority {authority.line}\n')
    yield Case("no-flag", good, f"{ADA} {authority.line}\n")
    yield Case("plain-key-only", good, f"{ADA} {user.line}\n")
    yield Case("listed-itself", good, f"{ADA} {plain.line}\n")
    yield Case("other-authority", good, f"{ADA} cert-authority {other.line}\n")
    yield Case("nobody", good, "")
    yield Case("other-message", armor(sshsig(plain, b"x")), line)
    yield Case("other-namespace", armor(sshsig(plain, PAYLOAD, namespace=b"file")), line)
    yield Case("other-principal", certified("-n", BOB, *always), line)
    yield Case("no-principal", certified(*always), line)
    yield Case("wildcard-line", good, f"*@example.com cert-authority {authority.line}\n")
    beside = f"{BOB},*@example.com cert-authority {authority.line}\n"
    yield Case("wildcard-beside", good, beside)
    both = f"{ADA},{BOB} cert-authority {authority.line}\n"
    yield Case("one-of-two", good, both)
    yield Case("the-other-of-two", certified("-n", BOB, *always), both, asked=BOB)
    yield Case("two-people", certified("-n", f"{ADA},{BOB}", *always), both)
    home = f"{ADA},ada@home.org {user.line}\nada@home.org cert-authority {authority.line}\n"
    yield Case("further-address", certified("-n", "ada@home.org", *always), home, "ada@home.org")
    yield Case("expired", certified("-n", ADA, "-V", "20200101:20210101"), line)
    yield Case("not-yet", certified("-n", ADA, "-V", "20260101:20300101"), line)
    year = certified("-n", ADA, "-V", "20251201050000:20251201050010")
    yield Case("first-second", year, line)
    yield Case("last-second", year, line, times=(NOW + 9,))
    yield Case("second-after", year, line, times=(NOW, NOW + 10))
    yield Case("second-before", year, line, times=(NOW - 1, NOW))
    window = f'{ADA} cert-authority,valid-before="20251201050000" {authority.line}\n'
    yield Case("line-in-window", good, window)
    yield Case("line-expired", good, window, times=(NOW, NOW + 1))
    yield Case("force-command", certified("-n", ADA, "-O", "force-command=x", *always), line)
    yield Case("host", certified("-h", "-n", ADA, *always), line)
    for name, kind in (
        ("authority-rsa", ("-t", "rsa", "-b", "2048")),
        ("authority-short-rsa", ("-t", "rsa", "-b", "1024")),
        ("authority-ecdsa", ("-t", "ecdsa")),
    ):
        by = Authority(folder / name, *kind)
        signed = certified("-n", ADA, *always, by=by)
        yield Case(name, signed, f"{ADA} cert-authority {by.line}\n")
    sha1 = Authority(folder / "sha1", "-t", "rsa", "-b", "2048")
    by_sha1 = certified("-t", "ssh-rsa", "-n", ADA, *always, by=sha1)
    yield Case("authority-sha1", by_sha1, f"{ADA} cert-authority {sha1.line}\n")
    forged = plain.blob.replace(ADA.encode(), b"eve" + ADA.encode()[3:])
    yield Case("forged", armor(sshsig(replace(plain, blob=forged), PAYLOAD)), line)


def verify(case: Case) -> Verification:
    data = case.signers.encode()
    return ssh.verify(PAYLOAD, case.armor, parse_signers(data), data, times=case.times)


def test_agrees_with_ssh_keygen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keygen = Keygen(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    everything = list(cases(tmp_path))
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    ours = {
        case.name
        for case in everything
        if (found := verify(case)).status is SignatureStatus.GOOD
        and found.principal == parse_signers(case.signers.encode()).person_of(case.asked)
    }
    theirs = {
        case.name
        for case in everything
        if keygen.accepts(case.asked, PAYLOAD, case.armor, case.signers.encode(), case.times)
    }
    assert ours <= theirs
    assert theirs - ours == STRICTER.keys()
    assert {"good", "rsa", "sk-ecdsa", "one-of-two", "the-other-of-two", "last-second"} <= ours


def test_status_reason_and_touch(tmp_path: Path) -> None:
    by_name = {case.name: case for case in cases(tmp_path)}
    for name, status, words in (
        ("good", "good", ADA),
        ("other-message", "bad", "content"),
        ("expired", "expired", "2025-12-01T05:00:00Z"),
        ("line-expired", "expired", "issuer"),
        ("other-principal", "unknown-key", "no line"),
        ("two-people", "unknown-key", "several people"),
        ("force-command", "bad", "critical options"),
        ("host", "bad", "not a user's"),
        ("own-short-rsa", "bad", "1024 bits"),
        ("authority-short-rsa", "bad", "issuer"),
        ("authority-sha1", "bad", "ssh-rsa"),
    ):
        found = verify(by_name[name])
        assert (name, found.status) == (name, status)
        assert words in found.reason
    assert verify(by_name["sk-ed25519"]).touch
    assert not verify(by_name["good"]).touch


def test_the_key_is_the_one_that_is_certified(tmp_path: Path) -> None:
    user = signlab.ed25519_key()
    authority = Authority(tmp_path / "authority")
    certified = authority.certify(user, "-n", ADA)
    found = verify(
        Case("", armor(sshsig(certified, PAYLOAD)), f"{ADA} cert-authority {authority.line}\n")
    )
    assert found.key == fingerprint(user.blob)
    assert certificate.parse(certified.blob).principals == {ADA}


def test_without_ssh_keygen_it_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = Authority(tmp_path / "authority")
    signature = armor(sshsig(authority.certify(signlab.ed25519_key(), "-n", ADA), PAYLOAD))
    monkeypatch.setenv("PATH", str(tmp_path))
    found = verify(Case("", signature, f"{ADA} cert-authority {authority.line}\n"))
    assert found.status is SignatureStatus.UNVERIFIABLE
    assert "ssh-keygen" in found.reason
    stranger = verify(Case("", signature, f"{BOB} cert-authority {authority.line}\n"))
    assert stranger.status is SignatureStatus.UNKNOWN_KEY


@pytest.mark.parametrize("cut", [1, 40, 100, 200])
def test_a_cut_certificate_is_malformed(cut: int, tmp_path: Path) -> None:
    authority = Authority(tmp_path / "authority")
    key = authority.certify(signlab.ed25519_key(), "-n", ADA)
    short = replace(key, blob=key.blob[:-cut])
    found = verify(Case("", armor(sshsig(short, PAYLOAD)), ""))
    assert found.status is SignatureStatus.BAD
    with pytest.raises(ValueError, match=r"cut off|malformed"):
        certificate.parse(short.blob)
