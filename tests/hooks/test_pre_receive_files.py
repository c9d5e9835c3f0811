"""The server's hooks as files: installed beside what is there, and failing closed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from landingkit import MAIN, Templates, plain_project
from support.project import Project, gate
from support.server import guard, push, received, refused, sound

from gitgate import hooks

SHIMS = Path(__file__).resolve().parents[2] / "hooks"


@pytest.fixture
def served(templates: Templates, tmp_path: Path, home: Path) -> Project:
    """A clone of a server that has no hooks yet; work that nobody approved is checked out."""
    project = templates.copy("unguarded", plain_project(), tmp_path)
    project.branch("feature")
    project.commit("work", {"a.md": "x\n"})
    return project


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)
    return path


def files(remote: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in (remote / "hooks").iterdir()}


def test_the_shims_are_sound() -> None:
    for name in hooks.SERVER:
        shim = SHIMS / name
        assert os.access(shim, os.X_OK)
        checked = subprocess.run(["shellcheck", shim], capture_output=True, text=True)
        assert (checked.returncode, checked.stdout) == (0, "")


def test_installed_shown_and_removed(served: Project) -> None:
    remote = served.remote
    before = files(remote)
    status = gate("hook", "status", "--server", at=remote)
    assert status.status == 1
    assert status.out == (
        f"pre-receive: absent: {remote}/hooks/pre-receive\n"
        "the pre-receive hook is absent: this server receives every push unchecked:"
        " git gate hook install --server\n"
        f"post-receive: absent: {remote}/hooks/post-receive\n"
        "the post-receive hook is absent: this server does not record what lands:"
        " git gate hook install --server\n"
        "pushes are judged by the policy of refs/heads/main\n"
    )
    done = gate("hook", "install", "--server", at=remote).ok()
    assert done.out == (
        f"the pre-receive hook is installed: {remote}/hooks/pre-receive\n"
        f"the post-receive hook is installed: {remote}/hooks/post-receive\n"
    )
    assert done.err == "next: git gate hook status --server\n"
    again = gate("hook", "install", "--server", at=remote).ok()
    assert again.out.count("is installed already") == 2
    document = gate("hook", "status", "--server", "--json", at=remote).ok().json
    assert document["policy_ref"] == MAIN
    assert [document[one]["state"] for one in ("pre_receive", "post_receive")] == ["installed"] * 2
    refused(served, (f"HEAD:{MAIN}", "no gate `main` was opened"))
    assert gate("hook", "uninstall", "--server", at=remote).ok().out == (
        f"the pre-receive hook is removed: {remote}/hooks/pre-receive\n"
        f"the post-receive hook is removed: {remote}/hooks/post-receive\n"
    )
    assert files(remote) == before


def test_not_where_people_work(served: Project) -> None:
    for verb in ("install", "uninstall", "status"):
        said = served.gate("hook", verb, "--server")
        assert (said.status, "is a work tree" in said.err) == (129, True), said
    both = gate("hook", "install", "--server", "--block-local", at=served.remote)
    assert (both.status, "git gate hook install --server" in both.err) == (129, True)


@pytest.mark.parametrize("ref", ["", "refs/heads/none"])
def test_status_says_whose_policy(served: Project, ref: str) -> None:
    config = ["git", "--git-dir", served.remote, "config", "gate.policyRef"]
    if ref:
        subprocess.run([*config, ref], check=True)
    else:
        (served.remote / "HEAD").write_text(f"{served.remote_tip()}\n")
    said = gate("hook", "status", "--server", at=served.remote).out
    expected = "pushes cannot be judged: " if not ref else f"{ref} has no policy yet"
    assert expected in said, said


def test_hooks_that_are_there_run_first(served: Project) -> None:
    """They are told the same; pre-receive's decides, post-receive goes on whatever it says."""
    remote, told = served.remote, served.top.parent / "told"
    told.mkdir()
    for name in hooks.SERVER:
        script(remote / "hooks" / name, f'cat >>"{told}/{name}"\n[ ! -e "{told}/no" ]\n')
    before = files(remote)
    guard(remote)
    line = f"{served.rev('main')} {served.rev()} {MAIN}\n"
    assert push(served, f"HEAD:{MAIN}").status == 1
    assert (told / "pre-receive").read_text() == line
    assert not (told / "post-receive").exists()
    served.gate("open").ok()
    served.gate("approve").ok()
    received(served, served.ledger())
    (told / "no").touch()
    assert "git-gate" not in push(served, f"HEAD:{MAIN}").err
    (told / "no").unlink()
    (told / "post-receive").unlink()
    received(served, f"HEAD:{MAIN}")
    assert (told / "post-receive").read_text() == line
    for name in hooks.SERVER:
        hooks.uninstall(remote / "hooks", remote, name)
    assert files(remote) == before


def test_an_installation_that_is_gone(served: Project, tmp_path: Path) -> None:
    """pre-receive refuses everything with a sentence; post-receive says what is not recorded."""
    remote, program = served.remote, script(tmp_path / "venv" / "git-gate", "exit 0\n")
    for name in hooks.SERVER:
        hooks.install(remote / "hooks", remote, program, name)
    received(served, "HEAD:refs/heads/topic")
    program.chmod(0o644)
    done = push(served, "HEAD:refs/heads/other")
    assert done.status == 1
    assert f"the git-gate of this server's hook is gone: '{program}'" in done.err
    assert "hint: whoever runs the server: 'git gate hook install --server'" in done.err
    (remote / "hooks" / "pre-receive").unlink()
    done = push(served, "HEAD:refs/heads/other")
    assert done.status == 0
    assert "what this push has landed is not recorded" in done.err
    sound(remote)


def test_a_program_that_dies(served: Project, tmp_path: Path) -> None:
    for text in ("kill -9 $$\n", "exit 126\n", "cat >/dev/null; exit 3\n"):
        program = script(tmp_path / "venv" / "git-gate", text)
        hooks.install(served.remote / "hooks", served.remote, program, "pre-receive")
        assert push(served, "HEAD:refs/heads/other").status == 1
    sound(served.remote)


def test_input_that_is_none_of_gits(served: Project) -> None:
    guard(served.remote)
    for line in ("nonsense\n", "a b refs/heads/main\n", f"{'0' * 40} {'0' * 39} refs/heads/main\n"):
        done = subprocess.run(
            [served.remote / "hooks" / "pre-receive"],
            input=line,
            cwd=served.remote,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1
        assert "git gave the hook a strange line" in done.stderr
