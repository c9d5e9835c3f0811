"""Broken set-ups: `doctor` names each of them and the command that mends it, and that command does.

The hook's are broken and mended one after another; the others all at once, each with its finding.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from mending import age_locks, findings, follow, program_path
from outputs import Clock
from support.project import Project, gate, make_project, person

PRE_PUSH = ".git/hooks/pre-push"
LOCAL = ".git/hooks/reference-transaction"


def edit(path: str, old: str, new: str) -> Callable[[Project], None]:
    def change(project: Project) -> None:
        file = project.top / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    return change


def overwritten(project: Project) -> None:
    hook = project.top / PRE_PUSH
    hook.write_text("#!/bin/sh\n# another tool's\nexit 0\n")


def program_gone(project: Project) -> None:
    hook = project.top / PRE_PUSH
    text = re.sub("^gate=.*$", "gate='/opt/old env/bin/git-gate'", hook.read_text(), flags=re.M)
    hook.write_text(text)


def local_disabled(project: Project) -> None:
    project.gate("hook", "install", "--block-local").ok()
    (project.top / LOCAL).chmod(0o644)


HOOKS: dict[str, tuple[Callable[[Project], object], str]] = {
    "absent": (lambda one: (one.top / PRE_PUSH).unlink(), "the pre-push hook is absent"),
    "no run bit": (lambda one: (one.top / PRE_PUSH).chmod(0o644), "has no run bit"),
    "of another release": (
        edit(PRE_PUSH, "set -f\n", "set -f # once\n"),
        "is not what this git-gate installs",
    ),
    "its program is gone": (program_gone, "starts /opt/old env/bin/git-gate, which is gone"),
    "overwritten": (overwritten, "the pre-push hook is foreign"),
    "hooks switched off": (
        lambda one: one.git("config", "core.hooksPath", "/dev/null"),
        "core.hooksPath is /dev/null, which is no folder: git runs no hook at all",
    ),
    "the local one without run bit": (local_disabled, "reference-transaction has no run bit"),
}


def hook_faults(project: Project) -> list[dict[str, str]]:
    return findings(project, "fault", about="hook")


def fires(project: Project) -> list[str]:
    return [
        one["text"] for one in findings(project, "good", about="hook") if " fires: " in one["text"]
    ]


def test_a_broken_hook_is_named_and_mended(project: Project) -> None:
    for name, (breaks, words) in HOOKS.items():
        breaks(project)
        faults = hook_faults(project)
        assert any(words in one["text"] for one in faults), (name, faults)
        for hint in dict.fromkeys(one["hint"] for one in faults):
            follow(project, hint)
        status = project.gate("hook", "status")
        assert status.status == 0, (name, status.out)
    assert hook_faults(project) == []
    assert len(fires(project)) == 2


def test_hooks_that_are_somebody_elses_to_write(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", program_path())
    project = make_project(tmp_path, home, hook=False)
    project.git("config", "--global", "core.hooksPath", str(home / "hooks"))
    (home / "hooks").mkdir()
    [fault] = hook_faults(project)
    assert "is shared by all repositories" in fault["text"]
    follow(project, fault["hint"])
    assert hook_faults(project) == []
    assert len(fires(project)) == 1
    project.commit("hooks for all", {".githooks/pre-commit": "#!/bin/sh\n"})
    project.git("config", "core.hooksPath", ".githooks")
    [fault] = hook_faults(project)
    assert "is part of a project" in fault["text"]
    follow(project, fault["hint"])
    assert project.gate("hook", "status").status == 0
    # A relative path means another folder in each work tree, and here it is none.
    project.git("config", "core.hooksPath", "my-hooks")
    linked = Project(tmp_path / "linked", project.remote)
    project.git("worktree", "add", "--quiet", "--detach", str(linked.top))
    [fault] = hook_faults(linked)
    assert f"this work tree has no folder {linked.top}/my-hooks" in fault["text"]
    follow(linked, fault["hint"])
    assert linked.gate("hook", "status").status == 0


def test_a_hook_that_is_there_and_does_not_get_to_git_gate(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", program_path())
    project = make_project(tmp_path, home, hook=False)
    line = 'git-gate hook run pre-push "$@"\n'
    project.commit("hooks", {".githooks/pre-push": f"#!/bin/sh\ncat >/dev/null\n{line}"})
    (project.top / ".githooks/pre-push").chmod(0o755)
    project.git("config", "core.hooksPath", ".githooks")
    [fault] = hook_faults(project)
    assert "went through" in fault["text"]
    project.write(".githooks/pre-push", f"#!/bin/sh\necho no, not ever >&2\nexit 1\n{line}")
    [fault] = hook_faults(project)
    assert "failed before git-gate was asked" in fault["text"]
    project.write(".githooks/pre-push", f"#!/bin/sh\n{line}")
    assert hook_faults(project) == []


def test_a_clone_that_was_never_set_up(project: Project, clock: Clock, home: Path) -> None:
    """All at once: locks, the remote, the key's list, notes, the clock, the depth."""
    clock.now = int(time.time())
    project.gate("init").ok()
    project.git("config", "gate.autoSync", "false")
    project.branch("feature")
    project.commit("work", {"page.md": "# Page\n"})
    project.gate("open").ok()
    project.gate("approve").ok()
    (project.top / PRE_PUSH).unlink()
    before = project.git("config", "--get-all", "remote.origin.fetch").out
    project.git("config", "--unset-all", "remote.origin.fetch", "aiwg")
    project.git("update-ref", "-d", "refs/notes/aiwg/gates")
    lock = project.top / ".git/refs/aiwg/gates/main/other.lock"
    lock.touch()
    age_locks(project)
    clock.now -= 10 * 24 * 3600
    found = findings(project) + findings(project, "note")
    expected = {
        "the pre-push hook is absent": "git gate hook install",
        "other.lock was left by a process that is gone": f"rm {lock}",
        "git fetch does not bring those of origin": "git gate init",
        "is missing from the note of": "git gate repair",
        "origin is not known to have 1 of the ledgers here": "git gate sync origin",
        "this machine's clock is wrong, or was there": "timedatectl set-ntp true",
    }
    for words, command in expected.items():
        there = [one for one in found if words in one["text"]]
        assert there, (words, found)
        assert there[0]["hint"].startswith(command), there
        if command != "timedatectl set-ntp true":
            follow(project, there[0]["hint"])
    clock.now = int(time.time())
    left = findings(project) + [one for one in findings(project, "note") if one["about"] != "key"]
    assert left == []
    assert project.git("config", "--get-all", "remote.origin.fetch").out == before


def test_nobody_and_nothing_to_sign_with(project: Project, home: Path) -> None:
    """Who the person is, with which key, and whether somebody has listed it."""
    shutil.rmtree(project.top / ".git/hooks")
    for name in ("user.name", "user.email", "user.signingKey", "gpg.format"):
        project.git("config", "--unset", name)
    (home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    faults = {one["about"]: one for one in findings(project)}
    assert faults["identity"]["text"] == "git does not know who you are"
    follow(project, faults["identity"]["hint"])
    assert "no signing key" in faults["key"]["text"]
    follow(project, faults["key"]["hint"])
    [fault] = findings(project)
    assert (fault["about"], "does not list it" in fault["text"]) == ("key", True), fault
    said = gate("init", at=project.top).ok().out
    line = re.search(r"land this line in \.aiwg/allowed_signers: (.*)", said)
    assert line
    listed = (project.top / ".aiwg/allowed_signers").read_text()
    project.commit("List me", {".aiwg/allowed_signers": f"{listed}{line[1]}\n"})
    project.land()
    project.git("fetch", "--quiet")
    assert findings(project) == []


def test_no_word_about_where_the_policy_is(project: Project) -> None:
    (project.top / PRE_PUSH).unlink()
    project.git("config", "--unset", "gate.policyRef")
    project.git("remote", "set-head", "origin", "--delete", check=False)
    fault = next(one for one in findings(project) if one["about"] == "policy")
    assert "nothing says which branch holds the policy" in fault["text"]
    follow(project, fault["hint"].split(", or ")[0])
    assert not findings(project, "fault", about="policy")


def test_a_key_that_two_people_share_and_a_shallow_clone(
    project: Project, tmp_path: Path, home: Path
) -> None:
    ada = project.people["ada"]
    bob = person("Bob", "bob@example.com", home)
    text = f'{ada.line()}\nbob@example.com namespaces="git" {ada.public}\n{bob.line()}\n'
    project.commit("One key for two", {".aiwg/allowed_signers": text})
    project.land()
    shallow = Project(tmp_path / "shallow", project.remote, project.people)
    url = f"file://{project.remote}"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", url, shallow.top], check=True)
    shallow.be(ada)
    faults = [one["text"] for one in findings(shallow, "fault", about="key")]
    assert faults == [
        "the policy lists it for ada@example.com, bob@example.com: nothing that you sign counts"
    ]
    [note] = findings(shallow, "note", about="git")
    assert "this clone is shallow" in note["text"]
    follow(shallow, note["hint"])
    assert not findings(shallow, "note", about="git")
    assert os.environ["HOME"] == str(home)
