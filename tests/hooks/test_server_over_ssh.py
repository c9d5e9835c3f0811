"""A bare repository behind a real `sshd` on the loopback, as the account of that server sees it."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from landingkit import MAIN, Templates, plain_project
from sitekit import tool
from support.server import guard, refused, sound

PATIENCE = 20.0


@dataclass
class Server:
    """An `sshd` that one key may use, and how git reaches it."""

    url: str
    command: str


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@pytest.fixture
def sshd(tmp_path: Path, home: Path) -> Iterator[Server]:
    """The server's account has its own HOME and sshd's own PATH: nothing of the client's."""
    program = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin") or tool("sshd")
    folder = tmp_path / "sshd"
    folder.mkdir(mode=0o700)
    (folder / "home").mkdir()
    for name in ("host", "user"):
        argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(argv, check=True)
    port = free_port()
    settings = f"""\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder / "host"}
AuthorizedKeysFile {folder / "user.pub"}
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
SetEnv HOME={folder / "home"}
"""
    (folder / "config").write_text(settings)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    with (folder / "log").open("w") as log:
        argv = [program, "-D", "-e", "-f", str(folder / "config")]
        process = subprocess.Popen(argv, stderr=log, stdin=subprocess.DEVNULL)
        try:
            _await(port, process, folder / "log")
            host = f"ssh://{getpass.getuser()}@127.0.0.1:{port}"
            client = f"ssh -F none -i {folder / 'user'} -o IdentitiesOnly=yes -o BatchMode=yes"
            known = f"-o StrictHostKeyChecking=no -o UserKnownHostsFile={folder / 'known'}"
            yield Server(host, f"{client} {known}")
        finally:
            process.terminate()
            process.wait()


def _await(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail(f"sshd does not answer: {log.read_text()}")


def test_the_whole_way_over_ssh(
    sshd: Server, templates: Templates, tmp_path: Path, home: Path
) -> None:
    """Refused before it is approved, by `sync` and `land` afterwards, and recorded as landed."""
    project = templates.copy("unguarded", plain_project(), tmp_path)
    guard(project.remote)
    project.git("config", "core.sshCommand", sshd.command)
    project.git("remote", "set-url", "origin", f"{sshd.url}{project.remote}")
    project.branch("feature")
    commit = project.commit("feature", {"feature.md": "# Page\n"})
    refused(project, (f"HEAD:{MAIN}", "no gate `main` was opened"))
    project.gate("open").ok()
    project.gate("approve").ok()
    assert "main of feature: 2 events to origin\n" in project.gate("sync").ok().out
    landed = project.gate("land").ok()
    assert project.git("merge-base", "--is-ancestor", commit, project.remote_tip()).status == 0
    assert "of feature on refs/heads/main of origin as" in landed.out
    events = project.gate("log", "--subject", "feature", "--json").ok().json["events"]
    assert [one["event"] for one in events] == ["opened", "decided", "landed"]
    sound(project.remote)
