"""`gate.notify.apprise`: the real package, a real HTTP service on the loopback."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from noticing import TIERS, listen, told, work
from outputs import Clock
from support.project import Project, make_project


class Listener:
    """An HTTP service on the loopback; `slow` requests wait until the test is over."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.over = Event()
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == "/slow":
                    listener.over.wait(30)
                listener.bodies.append({"path": self.path, **json.loads(body)})
                self.send_response(500 if self.path == "/broken" else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server.server_address[1]}"

    def close(self) -> None:
        self.over.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.close()


# What plug-ins of apprise import is nothing that this project can mend.
through_apprise = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@through_apprise
def test_apprise_reaches_all_its_addresses(
    tmp_path: Path, home: Path, listener: Listener, clock: Clock
) -> None:
    project = make_project(tmp_path, home, TIERS)
    work(project)
    for path in ("one", "two"):
        project.git("config", "--add", "gate.notify.apprise", f"json://{listener.address}/{path}")
    project.git("config", "gate.notify.lead", f"json://{listener.address}/lead")
    answer = project.gate("open", "--agent", "claude", "-m", "Look, @everyone:\n<b>*bold*</b>").ok()
    assert answer.err == ""
    assert sorted(one["path"] for one in listener.bodies) == ["/lead", "/one", "/two"]
    for one in listener.bodies:
        assert one["title"] == "[project] gate main: a decision is wanted on feature (iteration 1)"
        assert one["message"] == (
            "Changes to main: feature for refs/heads/main, now open\n"
            "asked by claude\n"
            "Look, @ everyone:\n"
            "<b>*bold*</b>\n"
            "git gate show main --subject feature"
        )
    assert project.gate("approve").ok().err == ""
    assert sorted(one["path"] for one in listener.bodies[3:]) == ["/one", "/two"]
    assert listener.bodies[3]["title"].endswith("ada@example.com approved feature (iteration 1)")


@through_apprise
def test_what_apprise_cannot_reach_is_said_without_its_secrets(
    project: Project, listener: Listener
) -> None:
    work(project)
    project.git("config", "gate.notify.timeout", "3")
    for address in (
        f"json://user:secret@{listener.address}/broken",
        f"json://user:secret@{listener.address}/slow",
        "json://user:secret@127.0.0.1:1/nobody",
        "nosuch://secret",
    ):
        project.git("config", "--add", "gate.notify.apprise", address)
    answer = project.gate("open", "--json").ok()
    assert answer.json["result"] == "opened"
    assert sorted(answer.err.splitlines()) == [
        "warning: gate.notify.apprise (json:) was not told: it was not taken",
        "warning: gate.notify.apprise (json:) was not told: there was no answer within 3 seconds",
        "warning: gate.notify.apprise (nosuch:) was not told: apprise knows no such address",
    ]


def test_without_the_package_the_extra_is_named(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(project)
    heard = listen(project, tmp_path / "heard")
    project.git("config", "gate.notify.apprise", "json://127.0.0.1:1/")
    monkeypatch.setitem(sys.modules, "apprise", None)
    answer = project.gate("open").ok()
    assert answer.err == (
        "warning: gate.notify.apprise was not told: it needs the package apprise:"
        " pip install 'git-gate-cli[notify]'\n"
    )
    assert [one["event"] for one in told(heard)] == ["opened"]


def test_apprise_is_loaded_only_where_it_is_used(project: Project, tmp_path: Path) -> None:
    """A package of that name that cannot be imported is in nobody's way."""
    (tmp_path / "apprise.py").write_text("raise SystemExit('loaded')\n")
    work(project)
    project.git("config", "gate.notify.command", "true")
    answer = project.gate_process("open", env={"PYTHONPATH": f"{tmp_path}{os.pathsep}{Path.cwd()}"})
    assert (answer.status, answer.err) == (0, "")
