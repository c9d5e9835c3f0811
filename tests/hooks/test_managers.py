"""Hooks beside the real husky, lefthook, pre-commit and git-lfs, and beside people's own scripts.

For each: theirs and ours both run on a push that passes, on one that is refused, on an empty one,
from a linked work tree and from a submodule; and what is uninstalled leaves every byte as it was.
"""

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
LEFTHOOK = """\
pre-push:
  jobs:
    - name: theirs
      run: '{{ echo "theirs {{0}}"; cat; }} >>{log}; test ! -e {log}.no'
      use_stdin: true
"""
LEFTHOOK_OURS = """\
    - script: git-gate
      runner: sh
      use_stdin: true
"""
PRE_COMMIT = """\
repos:
  - repo: local
    hooks:
      - id: theirs
        name: theirs
        language: system
        entry: sh -c 'echo theirs >>{log}; test ! -e {log}.no'
        always_run: true
        pass_filenames: false
        stages: [pre-push]
"""


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


@pytest.fixture
def site(templates: Templates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
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


def test_a_script_of_ones_own(site: Site) -> None:
    def install(there: Site) -> None:
        hook = there.hooks() / "pre-push"
        if not hook.exists():
            told = f'{{ echo "theirs $*"; cat; }} >>{there.log}; test ! -e {there.log}.no\n'
            hook.parent.mkdir(exist_ok=True)
            hook.write_text(f"#!/bin/sh\n{told}")
            hook.chmod(0o755)
        there.project.gate("hook", "install").ok()

    install(site)
    site.project.gate("hook", "uninstall").ok()
    before = site.files()
    comes_and_goes(site)
    works(site)
    everywhere(site, install)
    site.project.gate("hook", "uninstall").ok()
    assert site.files() == before


def test_git_lfs(site: Site) -> None:
    tool("git-lfs")
    project = site.project
    project.git("lfs", "install", "--local")
    before = site.files()
    comes_and_goes(site)
    works(site)
    places = [project, *_linked_and_submodule(project)]
    for number, place in enumerate(places, 1):
        if place is places[2]:
            place.be(project.people["ada"])
            place.git("lfs", "install", "--local")
            place.gate("hook", "install").ok()
        place.branch(f"large-{number}", "origin/main")
        place.commit("Large", {".gitattributes": "*.bin filter=lfs -text\n", "x.bin": str(number)})
        pointer = place.git("show", "HEAD:x.bin").out
        assert pointer.startswith("version https://git-lfs")
        refused_by_us(place.push("HEAD:main"))
        place.push(f"large-{number}").ok()
        place.push(f"large-{number}").ok()
        stored = project.remote / "lfs" / "objects"
        assert len([one for one in stored.rglob("*") if one.is_file()]) == number
    approve(project)
    project.push("HEAD:main").ok()
    project.gate("hook", "uninstall").ok()
    assert site.files() == before


def _linked_and_submodule(project: Project) -> tuple[Project, Project]:
    folder = project.top.parent
    project.git("worktree", "add", "--quiet", "--detach", str(folder / "linked"), "origin/main")
    above = Project(folder / "above", project.remote)
    subprocess.run(["git", "init", "--quiet", above.top], check=True)
    above.git("submodule", "--quiet", "add", str(project.remote), "sub")
    return (
        Project(folder / "linked", project.remote, project.people),
        Project(above.top / "sub", project.remote, project.people),
    )


def test_pre_commit_was_here_first(site: Site) -> None:
    pre_commit = tool("pre-commit")

    def install(there: Site) -> None:
        there.run(pre_commit, "install", "--hook-type", "pre-push")
        there.project.gate("hook", "install").ok()

    _land_file(site, ".pre-commit-config.yaml", PRE_COMMIT.format(log=site.log))
    site.run(pre_commit, "install", "--hook-type", "pre-push")
    before = site.files()
    comes_and_goes(site)
    # Installed once more, it puts itself before git-gate's hook, and runs once all the same.
    site.run(pre_commit, "install", "--hook-type", "pre-push")
    assert "it is run by the hook in front of it" in site.project.gate("hook", "status").ok().out
    works(site)
    everywhere(site, install, lines=False)
    site.project.gate("hook", "uninstall").ok()
    assert site.files() == before


def test_pre_commit_came_later(site: Site) -> None:
    pre_commit = tool("pre-commit")
    _land_file(site, ".pre-commit-config.yaml", PRE_COMMIT.format(log=site.log))
    before = site.state()
    site.project.gate("hook", "install").ok()
    alone = site.state()
    site.run(pre_commit, "install", "--hook-type", "pre-push")
    works(site)
    assert "nothing" not in site.project.gate("hook", "install").ok().out
    site.run(pre_commit, "uninstall", "--hook-type", "pre-push")
    assert site.state() == alone
    site.run(pre_commit, "install", "--hook-type", "pre-push")
    site.project.gate("hook", "uninstall").ok()
    site.run(pre_commit, "uninstall", "--hook-type", "pre-push")
    assert site.state() == before


def _land_file(site: Site, path: str, text: str) -> None:
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


def test_husky(site: Site) -> None:
    husky = tool("husky")
    _land_file(site, ".husky/pre-push", f'echo "theirs $*" >>{site.log}\ntest ! -e {site.log}.no\n')
    site.run(husky)
    mend = is_kept_out(site, "husky writes the hooks folder", LINE)
    site.run("sh", "-c", mend)
    works(site)
    assert "nothing to install" in site.project.gate("hook", "install").ok().out
    site.project.commit("Ask git-gate")
    site.project.land()
    site.project.git("fetch", "--quiet")

    def install(there: Site) -> None:
        # A relative core.hooksPath: a work tree without the folder runs no hooks at all.
        answer = there.project.gate("hook", "status")
        if there is not site and ".husky/_" in answer.out:
            assert (answer.status, "has no folder" in answer.out) == (1, True), answer.out
            doctor = there.project.gate("doctor", "--json").json
            assert doctor["findings"][-1]["hint"] == "npx husky"
        there.run(husky)
        there.project.gate("hook", "status").ok()

    everywhere(site, install, lines=False)
    before = site.state()
    assert "take the line out" in site.project.gate("hook", "uninstall").ok().out
    assert site.state() == before


def test_lefthook(site: Site) -> None:
    lefthook = tool("lefthook")
    _land_file(site, "lefthook.yml", LEFTHOOK.format(log=site.log))
    site.run(lefthook, "install")
    mend = is_kept_out(site, "lefthook writes the hook", LEFTHOOK_OURS)
    command, _, lines = mend.partition(", then add to lefthook.yml:\n")
    assert lines == f"pre-push:\n  jobs:\n{LEFTHOOK_OURS}".rstrip()
    site.run("sh", "-c", command)
    text = LEFTHOOK.format(log=site.log) + LEFTHOOK_OURS
    # The line alone is not enough: without its input git-gate has nothing to refuse.
    deaf = text.removesuffix("      use_stdin: true\n")
    site.project.write("lefthook.yml", deaf)
    assert "does not bring it to git-gate" in site.project.gate("doctor").out
    site.project.commit("Ask git-gate", {"lefthook.yml": text})
    site.project.land()
    site.project.git("fetch", "--quiet")
    works(site)

    def install(there: Site) -> None:
        there.run(lefthook, "install")
        there.project.gate("hook", "status").ok()

    everywhere(site, install, lines=False)
    # Lefthook leaves jobs with `run` out where HEAD has nothing to push, whatever is pushed.
    site.project.branch("aside")
    site.project.commit("x", {"x.md": "# X\n"})
    site.project.git("switch", "--quiet", "--detach", "origin/main")
    refused_by_us(site.project.push("aside:main"))
    assert "take the line out" in site.project.gate("hook", "uninstall").ok().out
    site.project.gate("hook", "status").ok()
    job = "    - run: git-gate hook run pre-push {0}\n"
    site.project.write("lefthook.yml", LEFTHOOK.format(log=site.log) + job)
    (site.project.top / ".lefthook/pre-push/git-gate").unlink()
    is_kept_out(site, "lefthook writes the hook")


def test_a_hooks_folder_that_the_project_keeps(site: Site) -> None:
    project = site.project
    script = f'#!/bin/sh\necho "theirs $*" >>{site.log}\ntest ! -e {site.log}.no || exit 1\n'
    _land_file(site, ".githooks/pre-push", script)
    (project.top / ".githooks/pre-push").chmod(0o755)
    project.git("config", "core.hooksPath", ".githooks")
    mend = is_kept_out(site, "is part of a project", LINE)
    site.run("sh", "-c", mend)
    project.commit("Ask git-gate")
    project.land()
    works(site)

    def install(there: Site) -> None:
        there.project.git("config", "core.hooksPath", ".githooks")

    everywhere(site, install, lines=False)


def test_a_hooks_folder_for_all_repositories(site: Site, home: Path) -> None:
    project, shared = site.project, home / "hooks"
    shared.mkdir()
    project.git("config", "--global", "core.hooksPath", "~/hooks")
    mend = is_kept_out(site, "shared by all repositories", LINE)
    site.run("sh", "-c", mend)
    works(site)
    assert (shared / "pre-push").read_text() == f"#!/bin/sh\n{LINE}\n"
    project.branch("feature")
    project.commit("x", {"x": "x\n"})
    refused_by_us(project.push("feature:main"))
    project.git("config", "core.hooksPath", ".git/hooks")  # this repository's own again
    project.gate("hook", "install").ok()
    refused_by_us(project.push("feature:main"))


def test_a_hooks_folder_of_this_repository_alone(site: Site) -> None:
    project = site.project
    project.git("config", "core.hooksPath", str(project.top / ".git" / "own"))
    before = site.state()
    project.gate("hook", "install").ok()
    works(site)
    project.gate("hook", "uninstall").ok()
    site.hooks().rmdir()
    assert site.state() == before
    project.git("config", "core.hooksPath", "local-hooks")
    said = project.gate("hook", "install").ok().out
    assert "each linked work tree has hooks of its own" in said
    works(site)
    linked, _ = _linked_and_submodule(project)
    status = linked.gate("hook", "status")
    assert (status.status, "has no folder" in status.out) == (1, True)
    linked.gate("hook", "install").ok()
    linked.branch("feature")
    linked.commit("x", {"x": "x\n"})
    refused_by_us(linked.push("feature:main"))


def test_a_hooks_path_that_is_no_folder(site: Site) -> None:
    site.project.gate("hook", "install").ok()
    site.project.git("config", "core.hooksPath", "/dev/null")
    mend = is_kept_out(site, "is no folder: git runs no hook at all")
    site.run("sh", "-c", mend)
    works(site)


def test_a_hook_left_in_a_folder_that_git_no_longer_looks_into(site: Site) -> None:
    before = site.state()
    site.project.gate("hook", "install").ok()
    site.project.git("config", "core.hooksPath", str(site.project.top / ".git" / "own"))
    site.project.gate("hook", "uninstall").ok()
    site.project.git("config", "--unset", "core.hooksPath")
    assert site.state() == before


def test_a_manager_that_hands_nothing_on_is_refused(site: Site) -> None:
    answer = site.project.gate("hook", "run", "pre-push")
    assert answer.status == 129
    assert "nothing was checked" in answer.err
