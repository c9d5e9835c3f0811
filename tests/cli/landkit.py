"""What the tests of `land` share: projects with something to land, and what is there afterwards."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.corpora import bundle
from support.project import SOLO, Project, make_project, person

from gitgate import hooks
from gitgate.core.ids import ledger_ref

MAIN = "refs/heads/main"
LARGE = ".aiwg/requirements/supplemental-specification.md"


def approved(project: Project, *, name: str = "feature", approve: bool = True) -> Project:
    """A branch adds `<name>.md` in two commits, and is approved. HEAD is there."""
    project.branch(name)
    project.commit("Begin a page", {f"{name}.md": "# Page\n"})
    project.commit("Go on with the page", {f"{name}.md": "# Page\n\nText\n"})
    project.gate("open").ok()
    if approve:
        project.gate("approve", "-m", "Good").ok()
    return project


def another_clone(project: Project, name: str = "other") -> Project:
    """A clone of the same remote in which the same person is at work."""
    top = project.top.with_name(name)
    if not top.exists():
        subprocess.run(["git", "clone", "--quiet", project.remote, top], check=True)
    other = replace(project, top=top)
    other.be(next(iter(project.people.values())))
    other.git("config", "gate.policyRef", MAIN)
    return other


def move_main(project: Project, files: Mapping[str, str] | None = None) -> str:
    """An administrator lands files on the remote's main from another clone; the new tip."""
    other = another_clone(project, "administrator")
    other.git("pull", "--quiet", "--ff-only")
    other.commit("Meanwhile", files or {"other.md": "other\n"})
    other.land()
    return other.rev()


def trailers(project: Project, commit: str) -> list[str]:
    """The trailers of a message as git itself reads them."""
    return project.git("log", "-1", "--format=%(trailers:only)", commit).out.strip().split("\n")


def record_of(project: Project, gate: str = "main", subject: str = "feature") -> str:
    """The id of the newest decision of an instance."""
    shown = project.gate("show", gate, "--subject", subject, "--json").ok().json
    return str(shown["decisions"][-1]["id"])


def remote_events(project: Project, gate: str = "main", subject: str = "feature") -> list[str]:
    """The events of a ledger at the remote, oldest first."""
    ref = ledger_ref(gate, subject)
    done = subprocess.run(
        [
            *("git", "log", "--first-parent", "--reverse"),
            *("--format=%(trailers:key=Event,valueonly)", ref, "--"),
        ],
        cwd=project.remote,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def seen(project: Project) -> dict[str, Any]:
    """All that a refused landing leaves as it was: refs, index, files, work trees, folders."""
    refs = project.git("for-each-ref", "--format=%(objectname) %(refname)").out.splitlines()
    mine = [ref for ref in refs if "refs/gitgate/" not in ref and "refs/remotes/" not in ref]
    there = subprocess.run(
        ["git", "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags"],
        cwd=project.remote,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return {
        "refs": mine,
        "remote": there,
        "head": (project.top / ".git" / "HEAD").read_text(),
        "status": project.git("status", "--porcelain", "--ignored").out,
        "index": project.git("ls-files", "--stage").out,
        **left_over(project),
    }


def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scratch work trees of other tests, which may run at this moment, are not this one's."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))


def left_over(project: Project) -> dict[str, Any]:
    """Scratch work trees: those registered, and their folders."""
    listed = project.git("worktree", "list", "--porcelain").out
    paths = [line.split(" ", 1)[1] for line in listed.splitlines() if line.startswith("worktree ")]
    folders = Path(tempfile.gettempdir()).glob("git-gate-land-*")
    return {"work trees": paths[1:], "folders": sorted(map(str, folders))}


def hook(project: Project, name: str, script: str, *, at: Path | None = None) -> None:
    """A hook of the project's own."""
    file = (at or project.top / ".git" / "hooks") / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def server_hook(project: Project, name: str, script: str) -> None:
    hook(project, name, script, at=project.remote / "hooks")


class Corpus:
    """A project on real requirement documents, built once and copied for each test.

    Policy is adopted after six of its commits; `feature` holds three more: an edit of a large
    document, a rewrite with three new files, a new file in a new folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._built: Project | None = None

    def copy(self, to: Path) -> Project:
        if self._built is None:
            self._built = self._build()
        source = self._built.top.parent
        shutil.copytree(source, to, symlinks=True, dirs_exist_ok=True)
        copied = replace(self._built, top=to / "project", remote=to / "remote.git")
        copied.git("remote", "set-url", "origin", str(copied.remote))
        return copied

    def _build(self) -> Project:
        folder = self._folder / "made"
        folder.mkdir()
        remote, top = folder / "remote.git", folder / "project"
        corpus = bundle("aiwg-requirements.bundle")
        subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
        subprocess.run(["git", "clone", "--quiet", corpus, top], check=True)
        ada = person("Ada Lovelace", "ada@example.com", self._folder)
        project = Project(top, remote, {"ada": ada})
        project.be(ada)
        commits = project.git("rev-list", "--reverse", "HEAD").out.split()
        project.git("remote", "set-url", "origin", str(remote))
        project.git("config", "gate.policyRef", MAIN)
        project.git("reset", "--quiet", "--hard", commits[5])
        files = {"aiwg.yml": SOLO, ".aiwg/allowed_signers": ada.line() + "\n"}
        project.commit("Adopt git-gate", files)
        project.git("push", "--quiet", "--set-upstream", "origin", "main")
        hooks.install(top / ".git" / "hooks", top / ".git", _program())
        project.branch("feature", "main")
        project.git("cherry-pick", commits[6], commits[8], commits[11])
        project.gate("open").ok()
        project.gate("approve").ok()
        return project


def move_corpus(project: Project) -> str:
    """Main gains a line of the large document that `feature` edits elsewhere; the new tip."""
    text = project.git("show", f"origin/main:{LARGE}").out
    changed = text.replace("**Status**: DRAFT", "**Status**: FINAL", 1)
    assert changed != text
    return move_main(project, {LARGE: changed})


def without_remote(folder: Path, home: Path, policy: str = SOLO) -> Project:
    """A project that has no remote; its own main is the guarded branch. Ada is at work."""
    project = make_project(folder, home, policy)
    project.git("remote", "remove", "origin")
    return project


def _program() -> Path:
    from support import project

    return project._program()
