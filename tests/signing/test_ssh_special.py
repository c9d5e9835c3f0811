"""SSH signatures that need making by hand, the statuses, time zones, and what ssh-keygen makes."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import signlab
from signlab import Keygen, SoftKey, armor, sshsig

from gitgate.core.trust import SignatureStatus, Verification, fingerprint, parse_signers
from gitgate.signing import ssh

PAYLOAD = b"what is signed\n"
NOW = 1_764_565_200  # 2025-12-01T05:00:00Z
ADA = "ada@example.com"


def check(signature: bytes, signers: str, *times: int, payload: bytes = PAYLOAD) -> Verification:
    data = signers.encode()
    return ssh.verify(payload, signature, parse_signers(data), data, times=times or (NOW,))


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa"])
@pytest.mark.parametrize(("flags", "touch"), [(0, False), (1, True), (4, False), (5, True)])
def test_the_touch_flag(kind: str, flags: int, touch: bool, tmp_path: Path) -> None:
    key = signlab.hardware_key(kind, flags)
    signers = f"{ADA} {key.line}\n"
    signature = armor(sshsig(key, PAYLOAD))
    found = check(signature, signers)
    assert (found.status, found.touch) == (SignatureStatus.GOOD, touch)
    assert Keygen(tmp_path).accepts(ADA, PAYLOAD, signature, signers.encode(), [NOW])


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa"])
def test_the_touch_flag_is_signed(kind: str) -> None:
    key = signlab.hardware_key(kind, 0)

    def touched(value: bytes) -> bytes:
        return value[:-5] + b"\x01" + value[-4:]

    found = check(armor(sshsig(key, PAYLOAD, inner=touched)), f"{ADA} {key.line}\n")
    assert (found.status, found.touch) == (SignatureStatus.BAD, False)


def test_a_key_in_software_is_never_touched() -> None:
    key = signlab.ed25519_key()
    assert check(armor(sshsig(key, PAYLOAD)), f"{ADA} {key.line}\n").touch is False


KEY = signlab.ed25519_key()
GOOD = armor(sshsig(KEY, PAYLOAD))


@pytest.mark.parametrize(
    ("status", "words", "signature", "signers"),
    [
        ("good", ADA, GOOD, f"{ADA} {KEY.line}\n"),
        ("bad", "content", armor(sshsig(KEY, b"x")), f"{ADA} {KEY.line}\n"),
        ("bad", "namespace", armor(sshsig(KEY, PAYLOAD, namespace=b"file")), f"{ADA} {KEY.line}\n"),
        ("bad", "reserved", armor(sshsig(KEY, PAYLOAD, reserved=b"x")), f"{ADA} {KEY.line}\n"),
        ("bad", "version", armor(sshsig(KEY, PAYLOAD, version=0)), f"{ADA} {KEY.line}\n"),
        ("bad", "larger", GOOD * 300, f"{ADA} {KEY.line}\n"),
        ("bad", "cut off", armor(sshsig(KEY, PAYLOAD)[:-1]), f"{ADA} {KEY.line}\n"),
        ("unknown-key", "does not list", GOOD, ""),
        ("unknown-key", "pattern", GOOD, f"*@example.com {KEY.line}\n"),
        ("unknown-key", "ada@example.com, bob", GOOD, f"{ADA} {KEY.line}\nbob {KEY.line}\n"),
        ("unknown-key", "'git'", GOOD, f'{ADA} namespaces="file" {KEY.line}\n'),
        ("expired", "2025-12-01T05:00:00Z", GOOD, f'{ADA} valid-before="20251130Z" {KEY.line}\n'),
        ("expired", "not valid", GOOD, f'{ADA} valid-after="20251202Z" {KEY.line}\n'),
    ],
    # The key is made anew in each process, and names of tests must be the same in all.
    ids=range(13),
)
def test_status_and_reason(status: str, words: str, signature: bytes, signers: str) -> None:
    found = check(signature, signers)
    assert found.status == status
    assert words in found.reason
    assert found.principal == (ADA if status in ("good", "expired") else None)
    if status != "bad":
        assert found.key == fingerprint(KEY.blob)


def test_weak_keys_are_named() -> None:
    for key, words in (
        (signlab.dsa_key(), "DSA"),
        (signlab.rsa_key(1024), "1024 bits"),
        (signlab.rsa_key(2048, "ssh-rsa"), "'ssh-rsa'"),
    ):
        found = check(armor(sshsig(key, PAYLOAD)), f"{ADA} {key.line}\n")
        assert found.status is SignatureStatus.BAD
        assert words in found.reason


def test_every_time_must_hold_in_some_line_of_the_person() -> None:
    signers = (
        f'{ADA} valid-before="20240101Z" {KEY.line}\n{ADA} valid-after="20250101Z" {KEY.line}\n'
    )
    early, between = 1_600_000_000, 1_720_000_000
    assert check(GOOD, signers, early, NOW).status is SignatureStatus.GOOD
    assert check(GOOD, signers, early, between, NOW).status is SignatureStatus.EXPIRED
    with pytest.raises(ValueError, match="one time"):
        ssh.verify(PAYLOAD, GOOD, parse_signers(b""), b"", times=())


@pytest.fixture(params=["Pacific/Kiritimati", "America/Los_Angeles", "XYZ+11:30"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Another time zone, for this process too."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield request.param
    time.tzset()


@pytest.mark.parametrize("suffix", ["", "Z", "UTC", "z"])
def test_the_time_zone_changes_nothing(suffix: str, zone: str, tmp_path: Path) -> None:
    """ssh-keygen reads a time without `Z` in the zone of whoever asks: its answer flips."""
    window = f'valid-after="202512010500{suffix}",valid-before="202512010501{suffix}"'
    signers = f"{ADA} {window} {KEY.line}\n"
    keygen = Keygen(tmp_path)
    for at in (NOW - 1, NOW, NOW + 60, NOW + 61):
        ours = check(GOOD, signers, at).status is SignatureStatus.GOOD
        assert ours is (NOW <= at <= NOW + 60)
        assert ours is keygen.accepts(ADA, PAYLOAD, GOOD, signers.encode(), [at])
    theirs = keygen.accepts(ADA, PAYLOAD, GOOD, signers.encode(), [NOW], zone)
    assert theirs is bool(suffix)


@pytest.mark.parametrize(
    "kind", ["-t ed25519", "-t ecdsa -b 256", "-t ecdsa -b 384", "-t ecdsa -b 521", "-t rsa"]
)
def test_what_ssh_keygen_signs_is_good(kind: str, tmp_path: Path) -> None:
    make = ["ssh-keygen", "-q", "-N", "", "-C", "a comment", "-f", str(tmp_path / "key")]
    subprocess.run([*make, *kind.split()], check=True)
    sign = ["ssh-keygen", "-Y", "sign", "-n", "git", "-f", str(tmp_path / "key")]
    for payload in (b"", PAYLOAD, bytes(range(256)) * 300):
        done = subprocess.run(sign, input=payload, capture_output=True, check=True)
        signers = f"{ADA} {(tmp_path / 'key.pub').read_text()}"
        found = check(done.stdout, signers, payload=payload)
        assert (found.status, found.principal) == (SignatureStatus.GOOD, ADA)


def test_a_point_off_the_curve_is_bad() -> None:
    key = signlab.ecdsa_key("nistp256")
    blob = key.blob[:-1] + bytes([key.blob[-1] ^ 1])
    broken = SoftKey(key.key_type, blob, key.sign)
    found = check(armor(sshsig(broken, PAYLOAD)), f"{ADA} {broken.line}\n")
    assert found.status is SignatureStatus.BAD
