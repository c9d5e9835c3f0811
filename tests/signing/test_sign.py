"""Signing as git would: which key, which program, an agent, and what is said when it fails."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.gpglab import Gnupg

from gitgate.core.trust import SignatureStatus, parse_signers
from gitgate.errors import GateError
from gitgate.signing import openpgp, ssh
from gitgate.signing.sign import SigningKey, default_key, make_key, public_key, signer

PAYLOAD = b"object 1234\n\nApprove elaboration of feature/login\n"
ADA = "ada@example.com"


def keygen(path: Path, *options: str, passphrase: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["ssh-keygen", "-q", "-N", passphrase, "-C", "", "-f", str(path), *options], check=True
    )
    return path


@pytest.fixture
def key(home: Path) -> Path:
    return keygen(home / ".ssh" / "id_ed25519", "-t", "ed25519")


@pytest.fixture
def agent(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A real ssh-agent, without keys."""
    socket = home / "agent"
    process = subprocess.Popen(
        ["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
    while not socket.exists():
        time.sleep(0.01)
    yield
    process.terminate()
    process.wait()


def config(**values: str) -> dict[str, str]:
    """`user_signingkey` for `user.signingkey`."""
    return {"gpg.format": "ssh"} | {name.replace("_", "."): text for name, text in values.items()}


def assert_signs(found: SigningKey, line: str) -> None:
    armor = found.sign(PAYLOAD)
    data = f"{ADA} {line}\n".encode()
    times = (int(time.time()),)
    verified = ssh.verify(PAYLOAD, armor, parse_signers(data), data, times=times)
    assert verified.status is SignatureStatus.GOOD
    assert verified.key in found.describe


def test_a_key_on_disk_in_each_spelling(key: Path, home: Path) -> None:
    line = Path(f"{key}.pub").read_text().strip()
    for value, where in (
        (str(key), None),
        (f"{key}.pub", None),
        ("~/.ssh/id_ed25519", None),
        (".ssh/id_ed25519.pub", home),
    ):
        settings = config(user_signingkey=value)
        found = signer(settings, where=where)
        assert_signs(found, line)
        assert found.format == "ssh"
        assert value in found.describe
        assert public_key(settings, where=where) == line


def test_git_accepts_what_is_signed(key: Path, home: Path, tmp_path: Path) -> None:
    (home / "signers").write_text(f"{ADA} {Path(f'{key}.pub').read_text()}")
    run = ["git", "-c", f"gpg.ssh.allowedSignersFile={home / 'signers'}", "-C", str(tmp_path)]
    subprocess.run([*run, "init", "-q"], check=True)
    subprocess.run([*run, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    head = subprocess.run([*run, "rev-parse", "HEAD"], check=True, capture_output=True).stdout
    payload = b"object %stype commit\ntag gate/x/y\ntagger A <a@b.c> 1764565200 +0000\n\nx\n" % head
    raw = payload + signer(config(user_signingkey=str(key)), where=tmp_path).sign(payload)
    tag = subprocess.run([*run, "mktag"], input=raw, check=True, capture_output=True).stdout
    subprocess.run([*run, "verify-tag", tag.decode().strip()], check=True, capture_output=True)


@pytest.mark.parametrize("kind", ["ecdsa", "rsa"])
def test_other_kinds_of_key(kind: str, home: Path) -> None:
    path = keygen(home / "key", "-t", kind)
    line = Path(f"{path}.pub").read_text().strip()
    assert_signs(signer(config(user_signingkey=str(path)), where=None), line)


def test_a_signature_beside_the_key_is_left_alone(key: Path, home: Path, tmp_path: Path) -> None:
    """`ssh-keygen -Y sign FILE` beside a `FILE.sig` asks, reads nothing, and exits with 0."""
    before = {path.name for path in key.parent.iterdir()}
    assert signer(config(user_signingkey=str(key)), where=tmp_path).sign(b"")
    assert {path.name for path in key.parent.iterdir()} == before
    assert list(tmp_path.iterdir()) == []


def test_an_agent_signs_for_a_public_key(key: Path, agent: None) -> None:
    subprocess.run(["ssh-add", "-q", str(key)], check=True)
    line = Path(f"{key}.pub").read_text().strip()
    key.unlink()
    for value in (f"key::{line}", line, f"{key}.pub", str(key)):
        assert_signs(signer(config(user_signingkey=value), where=None), line)
        assert public_key(config(user_signingkey=value), where=None) == line
    command = config(gpg_ssh_defaultkeycommand="ssh-add -L")
    assert_signs(signer(command, where=None), line)
    assert public_key(command, where=None).split()[:2] == line.split()


def test_an_agent_signs_for_a_key_with_a_passphrase(home: Path, agent: None) -> None:
    path = keygen(home / "key", "-t", "ed25519", passphrase="secret")
    asks = home / "asks"
    asks.write_text("#!/bin/sh\necho secret\n")
    asks.chmod(0o755)
    env = {**os.environ, "SSH_ASKPASS": str(asks), "SSH_ASKPASS_REQUIRE": "force"}
    settings = config(user_signingkey=str(path))
    with pytest.raises(GateError, match="passphrase"):
        signer(settings, where=None).sign(PAYLOAD)
    subprocess.run(["ssh-add", "-q", str(path)], check=True, env=env)
    assert_signs(signer(settings, where=None), Path(f"{path}.pub").read_text().strip())


def refusal(settings: dict[str, str], where: Path | None = None) -> GateError:
    with pytest.raises(GateError) as caught:
        signer(settings, where=where).sign(PAYLOAD)
    return caught.value


@pytest.mark.parametrize("kind", [("-t", "ed25519"), ("-t", "rsa", "-m", "PEM")])
def test_a_passphrase_without_a_terminal(kind: tuple[str, ...], home: Path) -> None:
    path = keygen(home / "the key", *kind, passphrase="secret")
    error = refusal(config(user_signingkey=str(path)))
    assert "no terminal" in error.message
    assert error.hint == f"ssh-add '{path}'"
    line = " ".join(Path(f"{path}.pub").read_text().split()[:2])
    Path(f"{path}.pub").unlink()
    if "PEM" not in kind:
        assert public_key(config(user_signingkey=str(path)), where=None) == line


def test_no_program_is_asked_for_a_passphrase(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even the one that is set: where nobody sits at a terminal it would hang."""
    asks = home / "asks"
    asks.write_text(f"#!/bin/sh\ntouch {home}/asked\nsleep 60\n")
    asks.chmod(0o755)
    monkeypatch.setenv("SSH_ASKPASS", str(asks))
    monkeypatch.setenv("DISPLAY", ":0")
    path = keygen(home / "key", "-t", "ed25519", passphrase="secret")
    assert "no terminal" in refusal(config(user_signingkey=str(path))).message
    assert not (home / "asked").exists()


def test_an_agent_that_is_gone_or_lacks_the_key(
    key: Path, agent: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = Path(f"{key}.pub").read_text().strip()
    key.unlink()
    for value in (f"key::{line}", f"{key}.pub"):
        error = refusal(config(user_signingkey=value))
        assert "does not hold it" in error.message
        assert "ssh-add" in error.hint
    monkeypatch.setenv("SSH_AUTH_SOCK", "/nowhere")
    error = refusal(config(user_signingkey=f"key::{line}"))
    assert "no ssh-agent answers" in error.message
    assert "ssh-agent" in error.hint


@pytest.mark.parametrize(
    ("settings", "words", "hint"),
    [
        ({}, "no signing key", "git gate init"),
        ({"gpg.format": "ssh"}, "no signing key", "git gate init"),
        ({"gpg.format": "pgp"}, "'pgp'", "gpg.format ssh"),
        (config(user_signingkey="~/.ssh/none"), "does not exist", "git gate init"),
        (config(user_signingkey="~nobody-here/x"), "does not exist", "git gate init"),
        (config(user_signingkey="ssh-ed25519 AAAA"), "no public key", "git gate init"),
        (config(user_signingkey="key::x"), "no public key", "git gate init"),
        (config(gpg_ssh_defaultkeycommand="true"), "gave no key", "git gate init"),
        (config(gpg_ssh_defaultkeycommand="echo x"), "gave no key", "git gate init"),
        (config(gpg_ssh_defaultkeycommand="false"), "ended with 1", "git gate init"),
        (config(gpg_ssh_defaultkeycommand="'"), "no command", ""),
        (config(gpg_ssh_defaultkeycommand="no-such-command"), "not found", ""),
    ],
)
def test_what_is_missing_is_said(settings: dict[str, str], words: str, hint: str) -> None:
    error = refusal(settings)
    assert words in error.message
    assert hint in error.hint


def test_the_configured_program_signs(key: Path, home: Path) -> None:
    program = home / "my keygen"
    program.write_text('#!/bin/sh\necho "$@" > "$HOME/called"\nexec ssh-keygen "$@"\n')
    program.chmod(0o755)
    settings = config(user_signingkey=str(key), gpg_ssh_program="~/my keygen")
    assert_signs(signer(settings, where=None), Path(f"{key}.pub").read_text().strip())
    assert (home / "called").read_text() == f"-Y sign -n git -f {key}\n"
    for text in ("exit 0", "echo nonsense", "echo no >&2; exit 3"):
        program.write_text(f"#!/bin/sh\n{text}\n")
        assert "my keygen" in refusal(settings).message


@pytest.mark.parametrize(
    ("make", "namespace", "words"),
    [
        ("-t rsa -b 1024", "git", "1024 bits"),
        ("-t ed25519", "file", "namespace 'file'"),
        ("-t ed25519", "git <$0", "does not fit"),
    ],
)
def test_a_signature_that_never_counts_is_not_made(
    make: str, namespace: str, words: str, home: Path
) -> None:
    path = keygen(home / "key", *make.split())
    program = home / "program"
    program.write_text(f"#!/bin/sh\nexec ssh-keygen -Y sign -f {path} -n {namespace}\n")
    program.chmod(0o755)
    error = refusal(config(user_signingkey=str(path), gpg_ssh_program=str(program)))
    assert "would not count" in error.message
    assert words in error.message


def test_default_key(home: Path) -> None:
    assert default_key({}, home) is None
    keygen(home / ".ssh" / "id_rsa", "-t", "rsa", "-b", "1024")
    assert default_key({}, home) is None
    own = keygen(home / ".ssh" / "id_ed25519_git_gate", "-t", "ed25519")
    assert default_key({}, home) == f"{own}.pub"
    ecdsa = keygen(home / ".ssh" / "id_ecdsa", "-t", "ecdsa")
    assert default_key({}, home) == f"{ecdsa}.pub"
    ed25519 = keygen(home / ".ssh" / "id_ed25519", "-t", "ed25519")
    Path(f"{ed25519}.pub").unlink()
    assert default_key({}, home) == str(ed25519)
    assert default_key(config(user_signingkey="~/k"), home) == "~/k"
    assert default_key({"user.signingkey": "0123ABCD"}, home) == str(ed25519)


def test_make_key(home: Path) -> None:
    path = home / "new" / "key"
    line = make_key(path, "git-gate ada")
    assert line.endswith(" git-gate ada")
    assert path.stat().st_mode & 0o777 == 0o600
    assert_signs(signer(config(user_signingkey=f"{path}.pub"), where=None), line)
    before = path.read_bytes()
    with pytest.raises(GateError, match="exists already"):
        make_key(path, "again")
    assert path.read_bytes() == before
    with pytest.raises(GateError, match="cannot make the folder"):
        make_key(path / "below a file" / "key", "x")


def test_without_a_public_half(home: Path) -> None:
    path = keygen(home / "key", "-t", "rsa", "-m", "PEM")
    line = Path(f"{path}.pub").read_text().split()[1]
    Path(f"{path}.pub").unlink()
    assert public_key(config(user_signingkey=str(path)), where=None).split()[1] == line
    path.write_text("nothing\n")
    with pytest.raises(GateError, match="no public key") as caught:
        public_key(config(user_signingkey=str(path)), where=None)
    assert "ssh-keygen -y" in caught.value.hint


@pytest.fixture
def gnupg(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gnupg]:
    made = Gnupg()
    (made.home / "gpg-agent.conf").write_text("pinentry-program /bin/false\n")
    monkeypatch.setenv("GNUPGHOME", str(made.home))
    yield made
    made.close()


def test_gpg_signs(gnupg: Gnupg) -> None:
    fingerprint = gnupg.make("ada")
    by_identity = {"gpg.format": "openpgp"}
    with pytest.raises(GateError, match="can sign"):
        signer(by_identity, where=None).sign(PAYLOAD)
    gnupg.gpg("--quick-add-uid", fingerprint, "Ada Lovelace <ada@example.com>")
    for settings in (
        {"user.signingkey": fingerprint},
        {"user.signingkey": "ada@example.com", "gpg.format": "openpgp", "gpg.program": "gpg"},
        by_identity,
    ):
        found = signer(settings, where=None)
        armor = found.sign(PAYLOAD)
        assert found.format == "openpgp"
        times = (int(time.time()),)
        verified = openpgp.verify(PAYLOAD, armor, {ADA: [fingerprint]}, program="gpg", times=times)
        assert verified.status is SignatureStatus.GOOD
    with pytest.raises(GateError, match="openpgp") as caught:
        public_key({"user.signingkey": fingerprint}, where=None)
    assert "human_gates.openpgp" in caught.value.hint


def test_gpg_without_the_key_or_the_passphrase(gnupg: Gnupg) -> None:
    error = refusal({"user.signingkey": "nobody@example.com"})
    assert "'nobody@example.com'" in error.message
    assert "git gate init" in error.hint
    gnupg.run(
        "gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "secret",
        "--quick-gen-key", "ada <ada@example.com>", "ed25519", "sign", "0",
    )  # fmt: skip
    gnupg.run("gpgconf", "--kill", "gpg-agent")
    error = refusal({"user.signingkey": "ada@example.com"})
    assert "no terminal" in error.message
    assert "GPG_TTY" in error.hint
    error = refusal({"user.signingkey": "x", "gpg.openpgp.program": "no-such-gpg"})
    assert "no-such-gpg" in error.message
