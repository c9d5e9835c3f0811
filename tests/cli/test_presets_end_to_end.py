"""A newcomer's first hour with each preset: few commands, and each says what comes next."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from support.project import Answer, Person, Project, person


class Hour:
    """Somebody at a shell who only types what the last output named."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.said = ""
        self.gate_commands: list[str] = []

    def gate(self, command: str) -> Answer:
        """Run a command of git-gate; all but the first were named by the output before it."""
        named = " ".join(command.split(" -m ")[0].split()[:3])
        assert not self.gate_commands or named in self.said, f"{named} not in:\n{self.said}"
        self.gate_commands.append(command)
        return self._heard(self.project.gate(*shlex.split(command)[2:]))

    def git(self, command: str) -> Answer:
        return self._heard(self.project.git(*shlex.split(command)[1:], check=False))

    def do(self, *, named: str) -> None:
        """Run the commands that the last output named, word for word."""
        assert f"  {named}\n" in self.said, f"{named} not in:\n{self.said}"
        self.git(named).ok()

    def _heard(self, answer: Answer) -> Answer:
        self.said = answer.out + answer.err
        return answer


def fresh(tmp_path: Path) -> Project:
    remote, top = tmp_path / "remote.git", tmp_path / "project"
    subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
    subprocess.run(["git", "init", "--quiet", top], check=True)
    project = Project(top, remote)
    project.git("remote", "add", "origin", str(remote))
    return project


def adopt(hour: Hour) -> None:
    hour.do(named="git add aiwg.yml .aiwg/allowed_signers")
    hour.project.commit("Adopt git-gate", {"README.md": "# Ours\n"})
    hour.git("git push -u origin main").ok()


def test_solo(tmp_path: Path) -> None:
    project = fresh(tmp_path)
    hour = Hour(project)
    hour.gate("git gate init").ok()
    told = hour.said
    for line in (
        "git add aiwg.yml .aiwg/allowed_signers",
        "git commit -m 'Adopt git-gate'",
        "git push -u origin main",
    ):
        hour.said = told
        hour.do(named=line)
    assert project.remote_tip() == project.rev("main")
    assert "git gate open" in told

    project.git("switch", "--quiet", "--create", "login")
    work = project.commit("Describe the login", {"login.md": "# The login\n"})
    blocked = hour.git("git push origin login:main")
    assert blocked.status == 1
    assert "refs/heads/main may not move: not-opened" in blocked.err
    hour.gate("git gate open main").ok()
    hour.gate("git gate approve main --subject login").ok()
    assert "git gate check" in hour.said
    hour.gate("git gate check").ok()
    hour.git("git push origin login:main").ok()
    assert project.remote_tip() == work
    assert len(hour.gate_commands) <= 4


@pytest.fixture
def bob(home: Path) -> Person:
    return person("Bob Babbage", "bob@example.com", home)


def test_team(tmp_path: Path, home: Path, bob: Person) -> None:
    project = fresh(tmp_path)
    ada = Hour(project)
    ada.gate("git gate init --preset team").ok()
    told = ada.said
    ada.gate(f"git gate signers add bob@example.com {shlex.quote(bob.public)}").ok()
    ada.said = told
    adopt(ada)

    subprocess.run(["git", "clone", "--quiet", project.remote, tmp_path / "bobs"], check=True)
    bobs = Project(tmp_path / "bobs", project.remote)
    bobs.be(bob)
    reviewer = Hour(bobs)
    reviewer.gate("git gate init").ok()
    assert "not listed" not in reviewer.said

    project.git("switch", "--quiet", "--create", "login")
    work = project.commit("Describe the login", {"login.md": "# The login\n"})
    blocked = ada.git("git push origin login:main")
    assert blocked.status == 1
    ada.gate("git gate open main").ok()
    own = ada.gate("git gate approve main --subject login")
    assert own.status == 1
    assert "ada@example.com opened the gate; the gate takes no self-approval" in own.err
    ada.git("git push --no-verify origin login refs/aiwg/gates/main/login").ok()

    reviewer.git("git fetch --quiet origin").ok()
    reviewer.git("git fetch --quiet origin +refs/aiwg/gates/*:refs/aiwg/gates/*").ok()
    reviewer.git("git switch --quiet login").ok()
    bobs.gate("show").ok()
    bobs.gate("approve", "-m", "Good").ok()
    reviewer.git(
        "git push --no-verify origin refs/aiwg/gates/main/login refs/notes/aiwg/gates"
    ).ok()

    ada.git("git fetch --quiet origin +refs/aiwg/gates/*:refs/aiwg/gates/*").ok()
    ada.git("git fetch --quiet origin refs/notes/aiwg/gates:refs/notes/aiwg/gates").ok()
    assert project.gate("wait", "--json").ok().json["by"] == "bob@example.com"
    ada.git("git push origin login:main").ok()
    assert project.remote_tip() == work


def test_a_newcomer_is_told_how_to_be_listed(tmp_path: Path, home: Path) -> None:
    project = fresh(tmp_path)
    ada = Hour(project)
    ada.gate("git gate init").ok()
    adopt(ada)
    subprocess.run(["git", "clone", "--quiet", project.remote, tmp_path / "cyds"], check=True)
    cyds = Project(tmp_path / "cyds", project.remote)
    cyds.be(person("Cyd", "cyd@example.com", home))
    cyd = Hour(cyds)
    cyd.gate("git gate init").ok()
    assert "your key is not listed yet: nothing that you sign counts\n" in cyd.said
    line = cyd.said.split(".aiwg/allowed_signers: ")[1].split("\n")[0]
    assert line == cyds_line(home)

    project.git("switch", "--quiet", "--create", "cyd")
    signers = project.top / ".aiwg/allowed_signers"
    project.commit("Cyd may sign", {".aiwg/allowed_signers": f"{signers.read_text()}{line}\n"})
    assert ada.git("git push origin cyd:main").status == 1
    ada.gate("git gate open main").ok()
    ada.gate("git gate approve main --subject cyd").ok()
    ada.git("git push origin cyd:main").ok()

    cyd.git("git pull --quiet").ok()
    cyds.branch("work")
    cyds.commit("Cyd's work", {"work.md": "# Work\n"})
    cyds.gate("open").ok()
    cyds.gate("approve").ok()
    cyd.git("git push origin work:main").ok()
    assert project.remote_tip() == cyds.rev("work")


def cyds_line(home: Path) -> str:
    return person("Cyd", "cyd@example.com", home).line()
