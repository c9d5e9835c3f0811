"""A passphrase is asked for at the terminal, and only where somebody sits at one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import subprocess
import sys
import termios
from pathlib import Path

import pytest

SCRIPT = """
import sys
from gitgate.errors import GateError
from gitgate.signing.sign import signer
try:
    armor = signer({"gpg.format": "ssh", "user.signingkey": sys.argv[1]}, where=None).sign(b"x")
    print(armor.decode().split("\\n")[0])
except GateError as error:
    print(error.message, "|", error.hint)
"""


@pytest.fixture
def key(home: Path) -> Path:
    path = home / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", str(path)], check=True
    )
    return path


def sign_at_terminal(key: Path, typed: bytes, *, stdin: bool = True) -> tuple[str, bytes]:
    """What the script prints and what the terminal shows; `stdin` False: it is /dev/null."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(key)],
        stdin=theirs if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),
        pass_fds=[theirs],
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):
        while process.poll() is None:
            if select.select([ours], [], [], 0.05)[0]:
                shown += os.read(ours, 1000)
            if typed and b"passphrase" in shown:
                os.write(ours, typed)
                typed = b""
    out, err = process.communicate(timeout=60)
    os.close(ours)
    assert err == b""
    return out.decode().strip(), shown


def test_the_terminal_is_asked(key: Path) -> None:
    out, shown = sign_at_terminal(key, b"secret\n")
    assert out == "-----BEGIN SSH SIGNATURE-----"
    assert b"Enter passphrase" in shown
    assert b"secret" not in shown


def test_a_wrong_passphrase_is_said(key: Path) -> None:
    out, _ = sign_at_terminal(key, b"wrong\n")
    assert "passphrase" in out
    assert "wrong" in out


def test_a_program_for_asking_does_not_replace_the_terminal(
    key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a display is set, ssh-keygen would turn to one that may not even be installed."""
    monkeypatch.setenv("DISPLAY", ":0")
    assert sign_at_terminal(key, b"secret\n")[0] == "-----BEGIN SSH SIGNATURE-----"


def test_a_terminal_of_the_session_is_not_asked_behind_a_pipe(key: Path) -> None:
    """An agent's shell has one, and nobody at it: it would wait for ever."""
    out, shown = sign_at_terminal(key, b"", stdin=False)
    assert "there is no terminal" in out
    assert f"ssh-add {key}" in out
    assert shown == b""
