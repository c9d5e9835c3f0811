"""The server's pre-receive, where a name is not what it seems: symbolic refs, other capitals, bytes
that are no text, tags on files, and no name at all."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from landingkit import GUARDED, MAIN, Templates, plain_project
from support.project import Answer, Project, _program, gate
from support.server import JOURNAL, NOTES, at, guard, push, received, refused, sound

MASTER = "refs/heads/master"
NOT_OPENED = "no gate `main` was opened"


@pytest.fixture
def served(templates: Templates, tmp_path: Path, home: Path) -> Project:
    """A clone of a server with hooks that has adopted the policy; Ada is on a branch with work."""
    project = templates.copy("named", plain_project(GUARDED), tmp_path)
    guard(project.remote)
    project.branch("feature")
    project.commit("feature", {"feature.md": "# Page\n"})
    return project


def renamed(project: Project, **config: str) -> None:
    """What an administrator leaves for those who still push to `main`."""
    at(project.remote, "update-ref", MASTER, MAIN)
    at(project.remote, "update-ref", "-d", MAIN)
    at(project.remote, "symbolic-ref", MAIN, MASTER)
    at(project.remote, "symbolic-ref", "HEAD", config.get("head", MAIN))
    if "policy_ref" in config:
        at(project.remote, "config", "gate.policyRef", config["policy_ref"])


LEDGER = "refs/aiwg/gates/main/feature"


def approved(project: Project) -> None:
    project.gate("open").ok()
    project.gate("approve").ok()
    received(project, project.ledger(), NOTES)


@pytest.mark.parametrize(
    "config",
    [{}, {"policy_ref": MAIN}, {"head": MASTER}, {"policy_ref": MASTER}],
    ids=["head", "config", "head-resolved", "config-resolved"],
)
def test_a_guarded_ref_that_is_symbolic(served: Project, config: dict[str, str]) -> None:
    """26: whoever pushes to either name moves the guarded branch."""
    renamed(served, **config)
    one_ref = f"{MASTER} and {MAIN} are one ref on this server"
    said = refused(served, (f"HEAD:{MAIN}", NOT_OPENED))
    assert one_ref not in said
    assert one_ref in refused(served, (f"HEAD:{MASTER}", NOT_OPENED))
    assert push(served, f":{MASTER}").status == 1
    assert push(served, f":{MAIN}").status == 1
    approved(served)
    received(served, f"HEAD:{MASTER}")
    assert served.remote_tip() == served.rev()
    landed = at(served.remote, "log", "-1", "--format=%(trailers:key=Status,valueonly)", LEDGER)
    assert landed == "landed"
    sound(served.remote)


@pytest.mark.parametrize(("name", "end"), [(MAIN, MASTER), (MASTER, MAIN)])
def test_a_guarded_ref_that_is_a_link(served: Project, name: str, end: str) -> None:
    """`ln -s` among the files of refs, which git follows when it reads and when it writes."""
    at(served.remote, "update-ref", MASTER, MAIN)
    (served.remote / name).unlink()
    (served.remote / name).symlink_to(end.rpartition("/")[2])
    at(served.remote, "config", "gate.policyRef", MAIN)
    for pushed in (name, end):
        done = push(served, f"HEAD:{pushed}")
        assert (done.status, NOT_OPENED in done.err) == (1, True), done.err
    received(served, "HEAD:refs/heads/free")
    approved(served)
    received(served, f"HEAD:{end}")
    assert served.remote_tip() == served.rev()


def test_a_guarded_ref_that_is_a_link_by_name(served: Project) -> None:
    """What git writes with `core.preferSymlinkRefs`, and follows by itself."""
    at(served.remote, "config", "core.preferSymlinkRefs", "true")
    at(served.remote, "config", "gate.policyRef", MAIN)
    at(served.remote, "update-ref", MASTER, MAIN)
    at(served.remote, "symbolic-ref", MAIN, MASTER)
    assert (served.remote / MAIN).is_symlink()
    for pushed in (MAIN, MASTER):
        done = push(served, f"HEAD:{pushed}")
        assert done.status == 1
        assert f"the ref {MAIN} is damaged: its file is a link that leads to none" in done.err
        assert "hint: rm " in done.err


def test_other_guarded_and_kept_refs_that_are_symbolic(served: Project) -> None:
    for name, end in (
        ("refs/heads/release/1", "refs/heads/elsewhere"),
        (JOURNAL, "refs/heads/diary"),
        ("refs/heads/free", "refs/heads/also-free"),
    ):
        at(served.remote, "symbolic-ref", name, end)
    for ref, reason in (
        ("refs/heads/elsewhere", NOT_OPENED),
        ("refs/heads/diary", "the journal is not sound"),
    ):
        done = push(served, f"HEAD:{ref}")
        assert (done.status, reason in done.err) == (1, True), done.err
    received(served, "HEAD:refs/heads/free", "main:refs/heads/elsewhere")
    done = push(served, "HEAD:refs/heads/elsewhere")
    assert (done.status, NOT_OPENED in done.err) == (1, True), done.err


def test_status_names_symbolic_refs(served: Project) -> None:
    renamed(served)
    at(served.remote, "symbolic-ref", "refs/heads/free", "refs/heads/also-free")
    said = gate("hook", "status", "--server", at=served.remote).ok().out.splitlines()
    both = "a push to either is judged as one to both"
    assert said[-2:] == [
        f"pushes are judged by the policy of {MAIN}",
        f"{MAIN} is a symbolic ref and stands for {MASTER}: {both}",
    ]


def test_guards_on_a_server_that_ignores_case(served: Project) -> None:
    """26: a guarded ref that does not exist yet may not come as another spelling of its file."""
    at(served.remote, "config", "core.ignoreCase", "true")
    refused(
        served,
        ("HEAD:refs/heads/Release/1", "the same file as a ref that policy guards"),
        ("HEAD:refs/tags/V1", "the same file as a ref that policy guards"),
        ("HEAD:refs/heads/MAIN", "the same file as refs/heads/main"),
    )
    received(served, "HEAD:refs/heads/Topic", "main:refs/heads/release/1")
    at(served.remote, "config", "core.ignoreCase", "false")
    received(served, "HEAD:refs/heads/Release/2")


def hook(project: Project, lines: str) -> Answer:
    """The server's hook as git calls it, whatever a client of any make told git."""
    done = subprocess.run(
        [str(project.remote / "hooks" / "pre-receive")],
        input=lines,
        cwd=project.remote,
        env={**os.environ, "GIT_DIR": "."},
        capture_output=True,
        text=True,
        check=False,
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def test_another_spelling_with_a_true_old_value(served: Project) -> None:
    """Where case is ignored git finds `main` under `MAIN` and takes its value for the old one."""
    at(served.remote, "config", "core.ignoreCase", "true")
    received(served, "HEAD:refs/heads/topic")
    old, new = served.rev("origin/main"), served.rev()
    for line in (f"{old} {new} refs/heads/MAIN\n", f"{old} {'0' * 40} refs/heads/MAIN\n"):
        done = hook(served, line)
        assert (done.status, "the same file as refs/heads/main" in done.err) == (1, True), done.err


def test_nothing_to_check_is_no_push(served: Project) -> None:
    """22: git starts the hook for no push without a ref, so something read its input before."""
    assert hook(served, "").status == 1
    inner = served.remote / "hooks" / "pre-receive.d"
    (served.remote / "hooks" / "pre-receive").rename(inner)
    shim = served.remote / "hooks" / "pre-receive"
    shim.write_text(f"#!/bin/sh\ncat >/dev/null\nexec '{_program()}' hook run pre-receive\n")
    shim.chmod(0o755)
    done = push(served, f"HEAD:{MAIN}")
    assert done.status == 1
    assert "no ref was named to this hook, so nothing of this push was checked" in done.err
    assert "hint: whoever runs the server: hand the hook's standard input on" in done.err


def test_names_that_are_not_utf8(served: Project) -> None:
    """Git takes them, so they are judged like any other."""
    latin = os.fsdecode(b"refs/heads/caf\xe9")
    received(served, f"HEAD:{latin}")
    received(served, f"main:{latin}")
    received(served, "main:refs/heads/release/1")
    at(served.remote, "symbolic-ref", os.fsdecode(b"refs/heads/th\xe9"), MAIN)
    for name in (MAIN, "refs/heads/release/1", os.fsdecode(b"refs/heads/release/\xe9")):
        done = push(served, f"HEAD:{name}")
        assert (done.status, NOT_OPENED in done.err) == (1, True), done.err
    received(served, f":{latin}")


def test_an_adoption_beside_tags_on_files(served: Project, tmp_path: Path) -> None:
    """A tag may be on a file, as git.git has one on a maintainer's key."""
    remote = tmp_path / "fresh.git"
    subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
    served.git("tag", "key", served.git("hash-object", "-w", "aiwg.yml").out.strip())
    served.git("tag", "--annotate", "--message", "k", "signed-key", "key")
    served.git("tag", "--annotate", "--message", "v", "v0", "origin/main")
    served.git("push", "--quiet", "--no-verify", str(remote), "key", "signed-key", "v0")
    guard(remote)
    done = served.git("push", "--no-verify", str(remote), f"main:{MAIN}", check=False)
    assert done.status == 0, done.err
    other = tmp_path / "other.git"
    subprocess.run(["git", "init", "--quiet", "--bare", other], check=True)
    served.git("switch", "--quiet", "--orphan", "elsewhere")
    served.commit("another policy", {"aiwg.yml": GUARDED.replace("Changes", "Others")})
    served.git("tag", "--annotate", "--message", "v", "adopted")
    served.git("push", "--quiet", "--no-verify", str(other), "adopted", "key")
    guard(other)
    done = served.git("push", "--no-verify", str(other), f"main:{MAIN}", check=False)
    assert "refs/tags/adopted has adopted another policy than this one" in done.err
