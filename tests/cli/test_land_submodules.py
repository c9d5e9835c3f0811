"""`land` where a submodule's commit is nowhere but here: git's own check of it has its say."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from landkit import hook, own_temporary_folder, seen
from support.project import Project, make_project


@pytest.fixture
def project(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Approved work that moves the submodule `part` to a commit that its remote lacks."""
    own_temporary_folder(tmp_path, monkeypatch)
    made = make_project(tmp_path, home, hook=False)
    subprocess.run(["git", "init", "--quiet", "--bare", tmp_path / "part.git"], check=True)
    subprocess.run(["git", "clone", "--quiet", tmp_path / "part.git", tmp_path / "p"], check=True)
    for command in (["commit", "--allow-empty", "-m", "one"], ["push", "origin", "HEAD:main"]):
        subprocess.run(["git", *command, "--quiet"], cwd=tmp_path / "p", check=True)
    made.git("submodule", "--quiet", "add", str(tmp_path / "part.git"), "part")
    made.commit("Add a part")
    made.land()
    made.branch("feature")
    made.git("-C", "part", "commit", "--quiet", "--allow-empty", "-m", "two")
    made.commit("Move the part")
    made.gate("open").ok()
    made.gate("approve").ok()
    return made


SETTINGS = [
    ("push.recurseSubmodules", "check"),
    ("push.recurseSubmodules", "on-demand"),
    ("push.recurseSubmodules", "only"),
    ("submodule.recurse", "true"),
]


@pytest.mark.parametrize(("name", "value"), SETTINGS)
def test_a_commit_that_nobody_else_has_does_not_land(
    project: Project, name: str, value: str
) -> None:
    project.git("config", name, value)
    project.git("config", "remote.origin.mirror", "true")
    hook(project, "pre-push", "cat >/dev/null; echo ran >>../ran")
    before = seen(project)
    answer = project.gate("land")
    assert (answer.status, answer.out) == (1, "")
    lines = answer.err.splitlines()
    assert lines[0] == "git-gate: the push of refs/heads/main was refused, and nothing landed:"
    assert "    part" in lines
    assert lines[-1] == "hint: mend that, then git gate land main --subject feature"
    assert seen(project) == before
    assert not project.top.with_name("ran").exists()
    project.git("-C", "part", "push", "--quiet", "origin", "HEAD:main")
    project.gate("land", "main", "--subject", "feature").ok()
    assert project.git("rev-parse", f"{project.remote_tip()}:part").out == (
        project.git("-C", "part", "rev-parse", "HEAD").out
    )


@pytest.mark.parametrize("value", [None, "no", "off"])
def test_whoever_does_not_want_the_check_has_none(project: Project, value: str | None) -> None:
    if value is not None:
        project.git("config", "push.recurseSubmodules", value)
        project.git("config", "submodule.recurse", "true")
    project.gate("land").ok()


def test_main_that_moves_meanwhile_is_a_race_here_too(project: Project) -> None:
    """Git's check names the tip that is replaced; the second try builds on the new one."""
    project.git("config", "push.recurseSubmodules", "check")
    project.git("-C", "part", "push", "--quiet", "origin", "HEAD:main")
    clone = project.top.with_name("administrator")
    subprocess.run(["git", "clone", "--quiet", project.remote, clone], check=True)
    subprocess.run(
        ["git", "commit", "--quiet", "--allow-empty", "-m", "Meanwhile"], cwd=clone, check=True
    )
    hook(
        project,
        "pre-merge-commit",
        f"unset $(git rev-parse --local-env-vars); git -C {clone} push -q origin HEAD:main",
    )
    project.gate("land").ok()
    subjects = project.git("log", "--first-parent", "-2", "--format=%s", project.remote_tip()).out
    assert subjects == "Merge branch 'feature'\nMeanwhile\n"
