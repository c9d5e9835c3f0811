"""What people read: `init`, `doctor`, `repair`, `policy check`, `hook`, and the help."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import click
import pytest
from outputs import Clock, Names, same
from support.project import SOLO, Project, gate, make_project

from gitgate.cli.main import cli

COMMANDS = list(cli.list_commands(click.Context(cli)))


def test_help_is_short_and_exits_0(project: Project) -> None:
    for name in COMMANDS:
        answer = project.gate(name, "-h")
        assert answer.status == 0, name
        assert answer.err == ""
        lines = answer.out.split("\n")
        assert lines[0].startswith(f"Usage: git gate {name} [OPTIONS]"), lines[0]
        assert len(lines) < 30, name
        assert answer.out.split("\n\n")[1].endswith((".", "?")), name
    whole = project.gate("-h")
    assert whole.status == 0
    listed = whole.out.split("Commands:\n")[1].split("\n\n")[0].split("\n")
    assert [line.split()[0] for line in listed] == COMMANDS
    assert project.gate("--version").ok().out.startswith("git-gate, version ")


def test_policy_check(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = make_project(tmp_path, home, hook=False)
    assert project.gate("policy", "check").ok().out == "the policy is valid\n"
    assert project.gate("policy", "check", "HEAD", "--json").ok().json == {
        "schema": 1,
        "valid": True,
        "problems": [],
    }
    project.write("aiwg.yml", SOLO.replace("guards:", "gaurds:").replace("main.md", ""))
    project.write(".aiwg/allowed_signers", "ada@example.com ssh-ed25519 nonsense\n")
    bad = project.gate("policy", "check")
    assert bad.status == 1
    same(
        bad.out,
        "aiwg.yml:6: expected a key of gates.main, found 'gaurds'; did you mean 'guards'?\n",
    )
    project.write("aiwg.yml", SOLO)
    bad = project.gate("policy", "check", "--json")
    assert (bad.status, bad.json["valid"]) == (1, False)
    line, impossible = bad.json["problems"]
    assert line.startswith(".aiwg/allowed_signers:1: ")
    assert impossible == (
        "gate `main` requires 1 to approve, and .aiwg/allowed_signers lists 0 who may"
    )
    (project.top / "aiwg.yml").unlink()
    none = project.gate("policy", "check")
    assert (none.status, none.out) == (1, "there is no aiwg.yml: git gate init writes one\n")
    assert project.gate("policy", "check", "HEAD").ok()
    for rev in ("nonsense", "--output=x"):
        answer = project.gate("policy", "check", "--", rev)
        assert (answer.status, answer.out) == (129, "")
        assert answer.err.startswith(f"git-gate: {rev!r} names no commit here\nhint: ")


def test_repair_has_nothing_to_mend_or_says_what_it_mended(project: Project, clock: Clock) -> None:
    assert project.gate("repair").ok().out == "nothing to mend\n"
    project.branch("feature")
    names = Names(project, work=project.commit("work", {"a": "1\n"}))
    project.gate("open").ok()
    names.add(record=project.gate("approve", "--json").ok().json["record"])
    project.git("update-ref", "-d", "refs/notes/aiwg/gates")
    same(
        names(project.gate("repair").ok().out),
        "record record...... was copied to the note of work........\n",
    )
    assert project.gate("repair", "--json").ok().json == {"schema": 1, "done": [], "left": []}


def test_doctor_says_what_is_set_up(project: Project) -> None:
    names = Names(project, base=project.rev())
    version = project.git("version").out
    out = names(project.gate("doctor").ok().out).replace(version, "git\n")
    same(
        out,
        """\
ok     git: git
ok     identity: you are Ada Lovelace <ada@example.com>
ok     policy: the policy is that of refs/remotes/origin/main, base........
ok     key: you sign with SSH key <key> (<home>/keys/ada-at-example.com-ed25519)
ok     key: the policy lists it: you decide as ada@example.com
note   key: <home>/keys/ada-at-example.com-ed25519 has no passphrase: any process of yours, \
an agent too, can sign as you
       ssh-keygen -p -f <home>/keys/ada-at-example.com-ed25519
note   setup: git log does not show decisions and git fetch does not bring those of origin
       git gate init
ok     ledgers: ledgers of instances here: 0
ok     hook: the pre-push hook is installed: <top>/.git/hooks/pre-push
ok     hook: the pre-push hook fires: a push to refs/heads/main that git-gate has to refuse was \
refused
""",
    )
    document = project.gate("doctor", "--json").ok().json
    assert (document["schema"], document["healthy"]) == (1, True)
    assert {tuple(one) for one in document["findings"]} == {("level", "about", "text", "hint")}


def test_doctor_names_each_fault_with_what_mends_it(project: Project) -> None:
    project.git("config", "--unset", "user.signingKey")
    project.git("config", "--unset", "gpg.format")
    (project.top / ".git/hooks/pre-push").unlink()
    lock = project.top / ".git/refs/aiwg/gates/main/feature.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    os.utime(lock, (1, 1))
    answer = project.gate("doctor")
    assert answer.status == 1
    out = Names(project)(answer.out)
    faults = [line for line in out.split("\n") if line.startswith("FAULT")]
    left = "<top>/.git/refs/aiwg/gates/main/feature.lock"
    assert faults == [
        "FAULT  key: no signing key is configured",
        f"FAULT  locks: {left} was left by a process that is gone",
        "FAULT  hook: the pre-push hook is absent: nothing is checked before a push",
    ]
    for mends in ("git gate init", "rm <top>/.git", "git gate hook install"):
        assert f"       {mends}" in out


def test_the_hook_comes_and_goes(tmp_path: Path, home: Path) -> None:
    project = make_project(tmp_path, home, hook=False)
    names = Names(project)
    path = "<top>/.git/hooks/pre-push"
    absent = project.gate("hook", "status")
    assert absent.status == 1
    nothing = "nothing is checked before a push"
    same(
        names(absent.out),
        f"pre-push: absent: {path}\n"
        f"the pre-push hook is absent: {nothing}: git gate hook install\n",
    )
    earlier = project.top / ".git/hooks/pre-push"
    earlier.write_text("#!/bin/sh\nexit 0\n")
    earlier.chmod(0o755)
    same(
        names(project.gate("hook", "status").out),
        f"pre-push: foreign: {path}\n"
        f"the pre-push hook is foreign: {nothing} ({path}): git gate hook install\n",
    )
    installed = project.gate("hook", "install").ok()
    same(
        names(installed.out),
        f"the pre-push hook that was here runs first: {path}.before-git-gate\n"
        f"the pre-push hook is installed: {path}\n",
    )
    assert installed.err == "next: git gate hook status\n"
    same(
        names(project.gate("hook", "status").ok().out),
        f"pre-push: installed: {path}\n"
        f"the hook that was here before runs first: {path}.before-git-gate\n",
    )
    document = project.gate("hook", "status", "--json").ok().json
    assert sorted(document) == [
        "asked_by",
        "behind",
        "block_local",
        "earlier",
        "owner",
        "path",
        "program",
        "program_runs",
        "runs",
        "schema",
        "state",
    ]
    earlier.chmod(0o644)
    silent = project.gate("hook", "status")
    assert silent.status == 1
    assert "pre-push has no run bit, so git passes over it: git gate hook install\n" in silent.out
    assert project.gate("doctor").status == 1
    assert project.gate("hook", "install").ok()
    same(
        names(project.gate("hook", "uninstall").ok().out),
        f"the pre-push hook that was here before git-gate's is back: {path}\n",
    )
    assert earlier.read_text() == "#!/bin/sh\nexit 0\n"
    answer = project.gate("hook", "run", "post-merge")
    assert (answer.status, answer.err) == (
        129,
        "git-gate: git-gate has no hook 'post-merge'\nhint: git gate hook status\n",
    )


@pytest.mark.parametrize("preset", ["solo", "team", "aiwg-sdlc"])
def test_init_writes_a_policy_once(tmp_path: Path, home: Path, preset: str) -> None:
    top = tmp_path / "new"
    subprocess.run(["git", "init", "--quiet", top], check=True)
    first = gate("init", "--preset", preset, at=top).ok()
    project = Project(top, tmp_path / "remote.git")
    named = Names(project)(first.out)
    assert named.startswith(
        "made a signing key without a passphrase, <home>/.ssh/id_ed25519_git_gate; give it one with"
        " ssh-keygen -p -f <home>/.ssh/id_ed25519_git_gate\n"
    )
    assert f"wrote the {preset} policy to aiwg.yml\n" in named
    alone = "list one more person, or nobody could approve your own work: git gate signers add"
    _, following = named.split("\nnext:\n")
    same(
        following,
        ("" if preset == "solo" else f"  {alone} PERSON KEY\n")
        + "  git add aiwg.yml .aiwg/allowed_signers\n"
        "  git commit -m 'Adopt git-gate'\n"
        "  then, on a branch with work: git gate open\n",
    )
    before = {path: path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}
    again = gate("init", "--preset", preset, at=top).ok()
    after = {path: path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}
    assert after == before
    assert "wrote" not in again.out and "made" not in again.out
    assert gate("policy", "check", at=top).ok().out == "the policy is valid\n"
    project.commit("Adopt git-gate")
    adopted = gate("init", at=top).ok().out
    assert "wrote" not in adopted
    assert "git commit" not in adopted
    assert project.git("status", "--porcelain").out == ""


def test_init_in_a_clone_whose_key_nobody_has_listed(project: Project) -> None:
    project.git("config", "--unset", "user.signingKey")
    project.git("config", "user.email", "bob@example.com")
    answer = project.gate("init").ok()
    assert "your key is not listed yet: nothing that you sign counts\n" in answer.out
    assert (
        "ask somebody who is listed to land this line in .aiwg/allowed_signers: bob@example.com"
        ' namespaces="git" ssh-ed25519 '
    ) in answer.out


def test_init_where_only_the_key_says_that_it_is_one_of_ssh(project: Project) -> None:
    key = project.git("config", "user.signingKey").out.strip()
    project.git("config", "--unset-all", "gpg.format", check=False)
    for value in (f"{key.removesuffix('.pub')}.pub", "key::ssh-ed25519 AAAA"):
        project.git("config", "user.signingKey", value)
        answer = project.gate("init")
        assert "git signs with openpgp" not in answer.out, answer
        assert project.git("config", "gpg.format").out == "ssh\n"
        project.git("config", "--unset", "gpg.format")
    project.git("config", "user.signingKey", "0123456789ABCDEF")
    assert "git signs with openpgp here, and so does git-gate\n" in project.gate("init").ok().out
