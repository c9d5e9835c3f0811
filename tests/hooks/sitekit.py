"""What the tests beside other tools share: a clone, what theirs was told, and the pushes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from landingkit import Templates, approve
from support.project import SOLO, Answer, Project, make_project

# Read before each test gets an environment of its own. `.ci/run` sets both.
_BINARIES = os.environ.get("GIT_GATE_MANAGERS", "")
_NO_SKIP = os.environ.get("GIT_GATE_NO_SKIP", "")
_PATH = os.environ["PATH"]

LINE = 'git-gate hook run pre-push "$@"'


def tool(name: str) -> str:
    """Where a hook manager is; the test is skipped where it is not, and fails so in CI."""
    folders = [_BINARIES, str(Path(sys.executable).parent), _PATH]
    found = shutil.which(name, path=os.pathsep.join(filter(None, folders)))
    if found is None and _NO_SKIP:
        pytest.fail(f"{name} is not here, and GIT_GATE_NO_SKIP is set")
    if found is None:
        pytest.skip(f"{name} is not here (GIT_GATE_MANAGERS names the folder of npm's programs)")
    return found


@dataclass
class Site:
    """A clone, or a linked work tree or submodule of it, in which theirs notes what it is told."""

    project: Project
    log: Path

    def run(self, *argv: str) -> None:
        subprocess.run(argv, cwd=self.project.top, check=True, capture_output=True)

    def hooks(self) -> Path:
        return self.project.top / self.project.git("rev-parse", "--git-path", "hooks").out.strip()

    def state(self) -> dict[str, tuple[int, bytes]]:
        """Every byte of hooks and configuration, and what git thinks of the work tree."""
        common = self.project.git("rev-parse", "--git-common-dir").out.strip()
        files = [self.project.top / common / "config", Path(os.environ["HOME"]) / ".gitconfig"]
        found = {str(one): (one.stat().st_mode, one.read_bytes()) for one in files}
        status = self.project.git("status", "--porcelain", "--ignored").out
        return {**self.files(), **found, "status": (0, status.encode())}

    def files(self) -> dict[str, tuple[int, bytes]]:
        """What is in the hooks folder."""
        there = sorted(self.hooks().glob("*")) if self.hooks().is_dir() else []
        return {one.name: (one.stat().st_mode, one.read_bytes()) for one in there}

    def told(self) -> str:
        """What theirs noted since the last call."""
        text = self.log.read_text() if self.log.exists() else ""
        self.log.unlink(missing_ok=True)
        return text


def make_site(templates: Templates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A project without a hook; `git gate` and the managers are on the PATH."""
    folders = [str(Path(sys.executable).parent), _BINARIES, _PATH]
    monkeypatch.setenv("PATH", os.pathsep.join(filter(None, folders)))
    project = templates.copy("without a hook", _without_a_hook, tmp_path)
    return Site(project, tmp_path / "log")


def _without_a_hook(folder: Path, home: Path) -> Project:
    return make_project(folder, home, SOLO, hook=False)


def refused_by_us(answer: Answer) -> None:
    assert answer.status != 0
    assert "git-gate: refs/heads/main may not move: not-opened" in answer.out + answer.err


def both_run(site: Site, name: str, *, lines: bool = True, whole: bool = False) -> None:
    """Pushes of work on the branch `name`: theirs and ours are asked each time.

    `lines`: theirs is told of the refs, too. `whole`: it also refuses, and then work lands.
    """
    project = site.project
    project.branch(name)
    new = project.commit(name, {f"{name}.md": "# Page\n"})
    old = project.remote_tip()
    site.told()
    refused_by_us(project.push(f"{name}:main"))
    told = site.told()
    assert told.startswith("theirs")
    assert not lines or told.endswith(f"refs/heads/{name} {new} refs/heads/main {old}\n"), told
    project.push(name).ok()
    assert site.told().startswith("theirs")
    project.push(name).ok()  # git has nothing to tell, and runs the hook all the same
    site.told()
    if not whole:
        return
    refusal = Path(f"{site.log}.no")
    refusal.touch()
    project.commit("more", {f"{name}.md": "# More\n"})
    assert project.push(name).status != 0
    assert project.remote_tip(name) == new
    refusal.unlink()
    approve(project)
    project.push(f"{name}:main").ok()


def everywhere(site: Site, install: Callable[[Site], None], lines: bool = True) -> None:
    """`both_run` in the clone, in a linked work tree and in a submodule, each installed anew."""
    both_run(site, "one", lines=lines, whole=True)
    project, folder = site.project, site.project.top.parent
    project.git("worktree", "add", "--quiet", "--detach", str(folder / "linked"), "origin/main")
    linked = Site(Project(folder / "linked", project.remote, project.people), site.log)
    install(linked)
    both_run(linked, "two", lines=lines)
    above = Project(folder / "above", project.remote, project.people)
    subprocess.run(["git", "init", "--quiet", above.top], check=True)
    above.git("submodule", "--quiet", "add", str(project.remote), "sub")
    sub = Site(Project(above.top / "sub", project.remote, project.people), site.log)
    sub.project.be(project.people["ada"])
    install(sub)
    both_run(sub, "three", lines=lines)


def comes_and_goes(site: Site) -> None:
    """Installed, and gone again without a trace; then installed."""
    before = site.state()
    site.project.gate("hook", "install").ok()
    assert site.state() != before
    site.project.gate("hook", "uninstall").ok()
    assert site.state() == before
    site.project.gate("hook", "install").ok()


def works(site: Site) -> None:
    """Doctor has tried it."""
    doctor = site.project.gate("doctor")
    assert "ok     hook: the pre-push hook fires: " in doctor.out, doctor.out


def linked_and_submodule(project: Project) -> tuple[Project, Project]:
    folder = project.top.parent
    project.git("worktree", "add", "--quiet", "--detach", str(folder / "linked"), "origin/main")
    above = Project(folder / "above", project.remote)
    subprocess.run(["git", "init", "--quiet", above.top], check=True)
    above.git("submodule", "--quiet", "add", str(project.remote), "sub")
    return (
        Project(folder / "linked", project.remote, project.people),
        Project(above.top / "sub", project.remote, project.people),
    )


def land_file(site: Site, path: str, text: str) -> None:
    """A file of a manager's that the project keeps, and that was there before the gate."""
    site.project.commit(f"Add {path}", {path: text})
    site.project.land()
    site.project.git("fetch", "--quiet")
    site.told()


def is_kept_out(site: Site, *words: str) -> str:
    """`hook install` refuses, changes nothing, and says how git-gate is asked; the command."""
    before = site.state()
    answer = site.project.gate("hook", "install")
    assert answer.status == 128
    assert all(word in answer.err for word in words), answer.err
    assert site.state() == before
    hint = answer.err.split("hint: ", 1)[1]
    status = site.project.gate("hook", "status")
    assert (status.status, hint.strip() in status.out) == (1, True), status.out
    found = [
        one
        for one in site.project.gate("doctor", "--json").json["findings"]
        if one["about"] == "hook"
    ]
    assert [(one["level"], one["hint"]) for one in found] == [("fault", hint.strip())]
    return hint.strip()
