"""A real project for tests: a clone with a bare remote, people with keys, and git-gate's command.

Commands of git-gate run in this process (`gate`), hooks and git for real. Every repository and key
lives below the test's own folder.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from gitgate.cli import main as entry

EPOCH = 1_764_565_200  # 2025-12-01T05:00:00Z


@dataclass(frozen=True)
class Answer:
    """What a command ended with and wrote."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def ok(self) -> Answer:
        assert self.status == 0, f"status {self.status}\n{self.out}\n{self.err}"
        return self


@dataclass(frozen=True)
class Person:
    """Somebody with an address and an SSH key below the test's home."""

    name: str
    email: str
    key: Path

    @property
    def public(self) -> str:
        kind, blob, *_ = Path(f"{self.key}.pub").read_text().split()
        return f"{kind} {blob}"

    def line(self, options: str = 'namespaces="git"') -> str:
        return " ".join(part for part in (self.email, options, self.public) if part)


def person(name: str, email: str, home: Path, kind: str = "ed25519") -> Person:
    """A person with a fresh key."""
    key = home / "keys" / f"{email.replace('@', '-at-')}-{kind}"
    key.parent.mkdir(parents=True, exist_ok=True)
    if not key.exists():
        subprocess.run(
            ["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", email, "-f", key], check=True
        )
    return Person(name, email, key)


SOLO = """\
human_gates:
  version: 1
  gates:
    main:
      title: Changes to main
      guards: [refs/heads/main]
      approvals: {self_approval: true}
  policy_gate: main
  defaults: {timeout_minutes: 0}
"""

TEAM = SOLO.replace("self_approval: true", "self_approval: false").replace(
    "  policy_gate: main\n", "  policy_gate: main\n  bots: [agent@example.com]\n"
)


@dataclass
class Project:
    """A clone in `top` of the bare repository `remote`; `people` by first name."""

    top: Path
    remote: Path
    people: dict[str, Person] = field(default_factory=dict)

    def git(
        self,
        *args: str,
        check: bool = True,
        env: Mapping[str, str] | None = None,
        stdin: str | None = None,
    ) -> Answer:
        """Run git in the clone; with `check` it has to succeed."""
        done = subprocess.run(
            ["git", *args],
            cwd=self.top,
            capture_output=True,
            text=True,
            input=stdin,
            env={**os.environ, **(env or {})},
            errors="surrogateescape",
        )
        answer = Answer(done.returncode, done.stdout, done.stderr)
        return answer.ok() if check else answer

    def rev(self, name: str = "HEAD") -> str:
        return self.git("rev-parse", "--verify", name).out.strip()

    def gate(self, *args: str, at: Path | None = None) -> Answer:
        """Run `git-gate ARGS` in this process."""
        return gate(*args, at=at or self.top)

    def gate_process(self, *args: str, env: Mapping[str, str] | None = None) -> Answer:
        """Run `git-gate ARGS` as a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "gitgate", *args],
            cwd=self.top,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **(env or {})},
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def be(self, who: Person, *, signs: bool = True) -> None:
        """Commit, and sign decisions, as this person from now on."""
        self.git("config", "user.name", who.name)
        self.git("config", "user.email", who.email)
        if signs:
            self.git("config", "gpg.format", "ssh")
            self.git("config", "user.signingKey", str(who.key))

    def write(self, path: str, text: str) -> None:
        file = self.top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def commit(
        self,
        message: str = "work",
        files: Mapping[str, str] | None = None,
        *,
        author: str | None = None,
    ) -> str:
        """Write `files`, commit all that changed, and give the new commit."""
        for path, text in (files or {}).items():
            self.write(path, text)
        self.git("add", "--all")
        by = ["--author", author] if author else []
        self.git("commit", "--quiet", "--allow-empty", "--message", message, *by)
        return self.rev()

    def branch(self, name: str, start: str = "origin/main") -> None:
        self.git("switch", "--quiet", "--create", name, start)

    def push(self, *refspecs: str, check: bool = False) -> Answer:
        """A real `git push` to the remote, hooks and all."""
        return self.git("push", "origin", *refspecs, check=check)

    def land(self, refspec: str = "HEAD:refs/heads/main") -> None:
        """Push past the hook, as an administrator would: for the set-up of tests."""
        self.git("push", "--quiet", "--no-verify", "origin", refspec)

    def remote_tip(self, branch: str = "main") -> str:
        done = subprocess.run(
            ["git", "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"],
            cwd=self.remote,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout.strip()

    def ledger(self, gate_name: str = "main", subject: str = "feature") -> str:
        from gitgate.core.ids import ledger_ref

        return ledger_ref(gate_name, subject)


def gate(*args: str, at: Path) -> Answer:
    """Run `git-gate ARGS` in this process, in the folder `at`."""
    before = Path.cwd()
    out, err = _Stream(), _Stream()
    os.chdir(at)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            status = entry.run(list(args))
    finally:
        os.chdir(before)
    return Answer(status, out.text(), err.text())


class _Stream(io.TextIOWrapper):
    """A stream that is no terminal and keeps undecodable text."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="surrogateescape", newline="")

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode("utf-8", "surrogateescape")


@cache
def _program() -> Path:
    beside = Path(sys.executable).with_name("git-gate")
    assert beside.is_file(), "install the project into the environment that runs the tests"
    return beside


def make_project(
    folder: Path,
    home: Path,
    policy: str = SOLO,
    people: Sequence[tuple[str, str]] = (("Ada Lovelace", "ada@example.com"),),
    *,
    hook: bool = True,
) -> Project:
    """A clone that has adopted `policy`; everybody in `people` is listed, the first is at work."""
    remote, top = folder / "remote.git", folder / "project"
    subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
    subprocess.run(["git", "init", "--quiet", top], check=True)
    project = Project(top, remote)
    for name, email in people:
        project.people[name.split()[0].lower()] = person(name, email, home)
    project.be(next(iter(project.people.values())))
    project.git("remote", "add", "origin", str(remote))
    project.git("config", "gate.policyRef", "refs/heads/main")
    lines = "".join(one.line() + "\n" for one in project.people.values())
    project.commit(
        "Adopt git-gate",
        {"aiwg.yml": policy, ".aiwg/allowed_signers": lines, "README.md": "# Project\n"},
    )
    project.git("push", "--quiet", "--set-upstream", "origin", "main")
    if hook:
        from gitgate import hooks

        hooks.install(top / ".git" / "hooks", top / ".git", _program())
    return project
