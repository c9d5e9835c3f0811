"""Other ways to a server with hooks: forges that delegate, smart HTTP, ext::, and forms of push."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from landingkit import MAIN, Templates, plain_project
from support.project import Project, gate
from support.server import NOTES, at, guard, long, push, received, refused, sound


@pytest.fixture
def served(templates: Templates, tmp_path: Path, home: Path) -> Project:
    project = templates.copy("unguarded", plain_project(), tmp_path)
    guard(project.remote)
    return project


def approved(project: Project, name: str = "feature") -> str:
    project.branch(name)
    commit = project.commit(name, {f"{name}.md": "# Page\n"})
    project.gate("open").ok()
    project.gate("approve").ok()
    return commit


def test_forms_of_a_push(served: Project, tmp_path: Path) -> None:
    """--atomic, --force-with-lease, followTags, a linked work tree, --mirror."""
    commit = approved(served)
    said = push(served, f"HEAD:{MAIN}", "HEAD:refs/heads/x", options=["--atomic"])
    assert (said.status, "no gate `main` was opened" in said.err) == (1, True)
    lease = f"--force-with-lease={MAIN}:{served.rev('main')}"
    assert push(served, f"HEAD:{MAIN}", options=[lease]).status == 1
    served.git("update-ref", "refs/gitgate/origin/gates/main/x", served.ledger())
    mirrored = served.git("push", "--mirror", "--no-verify", "origin", check=False)
    assert "refs/gitgate/origin/gates/main/x is what one clone knows" in mirrored.err
    assert at(served.remote, "for-each-ref", "--format=%(refname)") == MAIN
    received(served, served.ledger(), NOTES)
    served.git("tag", "--annotate", "--message", "v1", "v1")
    served.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"), "HEAD")
    tree = Project(tmp_path / "tree", served.remote, served.people)
    tree.git("-c", "push.followTags=true", "push", "--no-verify", "origin", lease, f"HEAD:{MAIN}")
    assert served.remote_tip() == commit
    assert at(served.remote, "for-each-ref", "refs/tags", "--format=%(refname)") == "refs/tags/v1"
    sound(served.remote)


def test_a_forge_that_delegates(templates: Templates, tmp_path: Path, home: Path) -> None:
    """Hooks as Gitea and Forgejo lay them out: git-gate is one of the programs beside theirs."""
    project = templates.copy("unguarded", plain_project(), tmp_path)
    folder = project.remote / "hooks"
    for name in ("pre-receive", "post-receive"):
        delegate = 'data=$(cat)\nfor one in "$0".d/*; do echo "$data" | "$one" || exit; done\n'
        (folder / name).write_text(f"#!/bin/sh\n{delegate}")
        (folder / name).chmod(0o755)
        (folder / f"{name}.d").mkdir()
    before = (folder / "pre-receive").read_bytes()
    said = gate("hook", "install", "--server", at=project.remote)
    assert said.status == 128
    assert "runs the programs in pre-receive.d, and a forge writes it anew" in said.err
    command = said.err.partition("hint: ")[2].strip()
    subprocess.run(["sh", "-c", command], check=True)
    subprocess.run(["sh", "-c", command.replace("pre-rec", "post-rec")], check=True)
    for name in ("pre-receive", "post-receive"):
        file = folder / f"{name}.d" / "git-gate"
        program = Path(sys.executable).with_name("git-gate")
        file.write_text(file.read_text().replace("git-gate hook", f"exec {program} hook"))
    assert "asks git-gate" in gate("hook", "status", "--server", at=project.remote).ok().out
    assert (folder / "pre-receive").read_bytes() == before
    approved(project)
    refused(project, (f"HEAD:{MAIN}", "no gate `main` was opened"))
    received(project, project.ledger())
    assert "has landed on" in received(project, f"HEAD:{MAIN}")


class _Backend(BaseHTTPRequestHandler):
    """`git http-backend` on the loopback, as any web server runs it."""

    def _answer(self) -> None:
        path, _, query = self.path.partition("?")
        env = {
            **os.environ,
            "GIT_PROJECT_ROOT": self.server.root,  # type: ignore[attr-defined]
            "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": "somebody",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type") or "",
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
        }
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        done = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        self.send_response(200)
        for line in head.decode().split("\r\n"):
            self.send_header(*line.split(": ", 1))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = _answer  # noqa: N815 - named by the library

    def log_message(self, *args: object) -> None:
        return


@pytest.fixture
def web(served: Project) -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Backend) as server:
        server.root = str(served.remote.parent)  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/{served.remote.name}"
        server.shutdown()
        thread.join()


@long
def test_over_other_transports(served: Project, web: str, tmp_path: Path) -> None:
    """The same over smart HTTP, git's ext:: and its ssh, of which the network is left out."""
    commit = approved(served)
    client = tmp_path / "ssh"
    client.write_text(
        '#!/bin/sh\nfor last do :; done\nexec env -i PATH="$PATH" HOME="$HOME" sh -c "$last"\n'
    )
    client.chmod(0o755)
    served.git("config", "core.sshCommand", str(client))
    served.git("config", "ssh.variant", "simple")
    served.git("config", "protocol.ext.allow", "always")
    ssh, ext = f"ssh://host{served.remote}", f"ext::%S {served.remote}"
    for url in (web, ext, ssh):
        said = served.git("push", "--no-verify", url, f"HEAD:{MAIN}", check=False)
        assert "remote: git-gate: refs/heads/main may not move: not-opened" in said.err, said.err
    served.git("push", "--no-verify", web, served.ledger(), NOTES)
    assert "has landed on" in served.git("push", "--no-verify", ssh, f"HEAD:{MAIN}").err
    assert served.remote_tip() == commit
    sound(served.remote)
