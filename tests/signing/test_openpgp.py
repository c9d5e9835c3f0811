"""OpenPGP and x509 signatures with real gpg and gpgsm; the policy's fingerprints decide who."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.gpglab import Gnupg

from gitgate.core.trust import SignatureStatus, Verification
from gitgate.signing import openpgp

PAYLOAD = b"object 1234\n\nApprove elaboration of feature/login\n"
ADA = "ada@example.com"
BOB = "bob@example.com"
YEAR_2020 = 1_590_969_600  # 2020-06-01
NOW = int(time.time()) + 3600


class Ring:
    """A keyring with one key for each thing that can be wrong with a key."""

    def __init__(self) -> None:
        self.gnupg = Gnupg()
        make = self.gnupg.make
        self.ada = make("ada")
        self.bob = make("bob")
        self.gnupg.gpg("--quick-add-key", self.bob, "ed25519", "sign", "0")
        self.subkey = next(key for key in self.gnupg.fingerprints(self.bob) if key != self.bob)
        self.old = make("old", "ed25519", "--faked-system-time", "20200101T000000", expires="1y")
        self.revoked = make("revoked")
        self.short = make("short", "rsa1024")
        self.dsa = make("dsa", "dsa1024")
        sign = self.gnupg.sign
        self.good = sign(PAYLOAD, self.ada)
        self.by_subkey = sign(PAYLOAD, self.bob)
        self.by_old = sign(PAYLOAD, self.old, "--faked-system-time", "20200601T000000")
        self.by_revoked = sign(PAYLOAD, self.revoked)
        self.gnupg.revoke(self.revoked)


@pytest.fixture(scope="module")
def keyring() -> Iterator[Ring]:
    made = Ring()
    yield made
    made.gnupg.close()


@pytest.fixture
def ring(keyring: Ring, monkeypatch: pytest.MonkeyPatch) -> Ring:
    monkeypatch.setenv("GNUPGHOME", str(keyring.gnupg.home))
    return keyring


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gnupg]:
    """Another, empty keyring."""
    made = Gnupg()
    monkeypatch.setenv("GNUPGHOME", str(made.home))
    yield made
    made.close()


def check(
    armor: bytes,
    fingerprints: dict[str, list[str]],
    *times: int,
    payload: bytes = PAYLOAD,
    program: str = "gpg",
) -> Verification:
    return openpgp.verify(payload, armor, fingerprints, program=program, times=times or (NOW,))


def test_a_listed_key_is_its_person(ring: Ring) -> None:
    found = check(ring.good, {BOB: [ring.bob], ADA: [ring.ada.lower()]})
    assert (found.status, found.principal, found.key) == (SignatureStatus.GOOD, ADA, ring.ada)
    assert not found.touch


def test_a_subkey_signs_for_its_primary_key_and_for_itself(ring: Ring) -> None:
    for listed in (ring.bob, ring.subkey):
        found = check(ring.by_subkey, {BOB: [listed]})
        assert (found.status, found.principal) == (SignatureStatus.GOOD, BOB)
        assert found.key == ring.subkey


def test_a_stranger_is_unknown(ring: Ring) -> None:
    for listed in ({}, {BOB: [ring.bob]}, {ADA: [ring.ada[-16:]]}, {ADA: ["-x", ""]}):
        found = check(ring.good, listed)
        assert (found.status, found.principal) == (SignatureStatus.UNKNOWN_KEY, None)


def test_a_key_of_two_people_is_nobodys(ring: Ring) -> None:
    found = check(ring.by_subkey, {ADA: [ring.subkey], BOB: [ring.bob]})
    assert found.status is SignatureStatus.UNKNOWN_KEY
    assert f"{ADA}, {BOB}" in found.reason


def test_other_content_is_bad(ring: Ring) -> None:
    for payload in (PAYLOAD + b"\n", b"", PAYLOAD.replace(b"\n", b"\r\n")):
        assert check(ring.good, {ADA: [ring.ada]}, payload=payload).status is SignatureStatus.BAD


def test_a_key_that_has_expired_counts_only_for_its_time(ring: Ring) -> None:
    listed = {ADA: [ring.old]}
    assert check(ring.by_old, listed, YEAR_2020).status is SignatureStatus.GOOD
    for times in ((YEAR_2020, NOW), (NOW,), (YEAR_2020, 1_500_000_000)):
        found = check(ring.by_old, listed, *times)
        assert (found.status, found.principal) == (SignatureStatus.EXPIRED, ADA)
    assert check(ring.good, {ADA: [ring.ada]}, YEAR_2020).status is SignatureStatus.EXPIRED


def test_a_signature_that_has_expired(ring: Ring) -> None:
    armor = ring.gnupg.sign(
        PAYLOAD, ring.old, "--faked-system-time", "20200601T000000", "--default-sig-expire", "2d"
    )
    assert check(armor, {ADA: [ring.old]}, YEAR_2020).status is SignatureStatus.EXPIRED


def test_a_revoked_key_is_bad(ring: Ring) -> None:
    found = check(ring.by_revoked, {ADA: [ring.revoked]})
    assert found.status is SignatureStatus.BAD
    assert "revoked" in found.reason


def test_weak_keys_and_hashes_are_bad(ring: Ring) -> None:
    sha1 = ("--digest-algo", "SHA1")
    for armor, key, words in (
        (ring.gnupg.sign(PAYLOAD, ring.short), ring.short, "1024 bits"),
        (ring.gnupg.sign(PAYLOAD, ring.dsa), ring.dsa, "DSA"),
        (ring.gnupg.sign(PAYLOAD, ring.ada, *sha1), ring.ada, "hash"),
        (ring.gnupg.sign(PAYLOAD, ring.ada, "--textmode"), ring.ada, "exactly these bytes"),
    ):
        found = check(armor, {ADA: [key]})
        assert found.status is SignatureStatus.BAD
        assert words in found.reason


def test_two_signatures_are_bad(ring: Ring) -> None:
    packets = [ring.gnupg.packets(armor) for armor in (ring.good, ring.by_subkey)]
    armor = ring.gnupg.armor(b"".join(packets))
    assert check(armor, {ADA: [ring.ada], BOB: [ring.bob]}).status is SignatureStatus.BAD


def test_junk_is_bad(ring: Ring) -> None:
    head, _, rest = ring.good.partition(b"\n\n")
    for armor in (
        b"",
        b"-----BEGIN PGP SIGNATURE-----\n",
        ring.good + b"x\n",
        ring.good.replace(b"\n", b"\r\n"),
        ring.good.replace(b"SIGNATURE", b"MESSAGE"),
        head + b"\n\nAAAA\n-----END PGP SIGNATURE-----\n",
        head + b"\n\n" + rest[:40] + b"\n-----END PGP SIGNATURE-----\n",
        ring.gnupg.gpg("--export", "--armor", ring.ada).replace(b"PUBLIC KEY BLOCK", b"SIGNATURE"),
        b"-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n",
    ):
        assert check(armor, {ADA: [ring.ada]}).status is SignatureStatus.BAD


def test_a_missing_public_key_of_a_listed_person_blocks(ring: Ring, elsewhere: Gnupg) -> None:
    for armor, key in ((ring.good, ring.ada), (ring.by_subkey, ring.subkey)):
        found = check(armor, {ADA: [key]})
        assert found.status is SignatureStatus.UNVERIFIABLE
        assert "gpg --import" in found.reason
        assert key in found.reason
    # A subkey does not say whose it is: the missing listed key may be its primary key.
    assert check(ring.by_subkey, {BOB: [ring.bob]}).status is SignatureStatus.UNVERIFIABLE


def test_a_missing_public_key_of_a_stranger_does_not_block(ring: Ring, elsewhere: Gnupg) -> None:
    elsewhere.gpg("--import", stdin=ring.gnupg.gpg("--export", ring.bob))
    assert check(ring.by_subkey, {BOB: [ring.bob]}).status is SignatureStatus.GOOD
    assert check(ring.good, {BOB: [ring.bob]}).status is SignatureStatus.UNKNOWN_KEY


def test_without_gpg_only_what_may_be_a_persons_blocks(ring: Ring) -> None:
    for program in ("no-such-gpg", "false", "true"):
        found = check(ring.good, {ADA: [ring.ada]}, program=program)
        assert found.status is SignatureStatus.UNVERIFIABLE
        assert program in found.reason
        assert check(ring.good, {}, program=program).status is SignatureStatus.UNKNOWN_KEY
    with pytest.raises(ValueError, match="one time"):
        openpgp.verify(PAYLOAD, ring.good, {}, program="gpg", times=())


def test_the_words_and_the_language_of_gpg_do_not_matter(
    ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"x [GNUPG:] VALIDSIG {ring.ada} [GNUPG:] GOODSIG {ring.ada[-16:]} Ada"
    ring.gnupg.gpg("--allow-freeform-uid", "--quick-gen-key", name, "ed25519", "sign", "0")
    armor = ring.gnupg.sign(PAYLOAD, f"={name}")
    monkeypatch.setenv("LANGUAGE", "de")
    assert check(armor, {ADA: [ring.ada]}).status is SignatureStatus.UNKNOWN_KEY
    assert check(ring.good, {ADA: [ring.ada]}).status is SignatureStatus.GOOD


def test_a_signature_that_gpg_cannot_check_blocks_if_it_may_be_a_persons(ring: Ring) -> None:
    packet = bytearray(ring.gnupg.packets(ring.by_subkey))
    assert packet[2:5] == b"\x04\x00\x16"  # version 4, of a document, by EdDSA
    packet[4] = 99
    armor = ring.gnupg.armor(bytes(packet))
    for listed in (ring.bob, ring.subkey):
        found = check(armor, {BOB: [listed]})
        assert found.status is SignatureStatus.UNVERIFIABLE
        assert BOB in found.reason
    assert check(armor, {ADA: [ring.ada]}).status is SignatureStatus.UNKNOWN_KEY


@pytest.fixture
def certificate(elsewhere: Gnupg, tmp_path: Path) -> str:
    """The fingerprint of a self-signed x509 certificate in a keyring of its own."""
    if not shutil.which("gpgsm"):
        pytest.skip("gpgsm is not installed")
    parameters = (
        "Key-Type: RSA\nKey-Length: 2048\nKey-Usage: sign\nSerial: random\nName-DN: CN=Ada\n"
        "Name-Email: ada@example.com\nHash-Algo: SHA256\n"
    )
    (tmp_path / "parameters").write_text(parameters)
    made = elsewhere.run(
        "gpgsm", "--batch", "--pinentry-mode", "loopback", "--passphrase-fd", "0",
        "--gen-key", "--armor", str(tmp_path / "parameters"),
    )  # fmt: skip
    elsewhere.run("gpgsm", "--batch", "--import", stdin=made)
    return elsewhere.fingerprints(program="gpgsm")[0]


def test_x509(certificate: str, elsewhere: Gnupg, monkeypatch: pytest.MonkeyPatch) -> None:
    trusted = elsewhere.home / "trustlist.txt"
    trusted.write_text(f"{certificate} S relax\n")
    elsewhere.run("gpgconf", "--kill", "gpg-agent")
    armor = elsewhere.run("gpgsm", "--batch", "-bsau", certificate, stdin=PAYLOAD)

    def status(payload: bytes = PAYLOAD, *times: int, listed: str = certificate) -> str:
        return check(armor, {ADA: [listed]}, *times, payload=payload, program="gpgsm").status

    assert status() == "good"
    assert status(b"other") == "bad"
    assert status(PAYLOAD, YEAR_2020) == "expired"
    assert status(listed="0" * 40) == "unknown-key"
    trusted.unlink()
    elsewhere.run("gpgconf", "--kill", "gpg-agent")
    assert status() == "unverifiable"
    empty = elsewhere.home / "empty"
    empty.mkdir(mode=0o700)
    monkeypatch.setenv("GNUPGHOME", str(empty))
    assert status() == "unverifiable"
