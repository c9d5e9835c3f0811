"""Where git-gate cannot work it says what is wrong, with which thing, and what resolves it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from outputs import Clock, Names, same
from support.project import SOLO, TEAM, Answer, Person, Project, gate, make_project, person

LOOKING = (["show"], ["list"], ["log"], ["check"], ["wait"], ["repair"])
DECIDING = (["approve"], ["reject", "-m", "no"], ["skip", "-m", "x"], ["quit"], ["retract"])
ASKING = (["open"], ["withdraw"], ["withdraw", "--all"])
EVERY = (*LOOKING, *DECIDING, *ASKING)


def fails(answer: Answer, status: int, message: str, hint: str) -> None:
    """An error in two lines, and nothing on standard output."""
    same(answer.err, f"git-gate: {message}\n" + (f"hint: {hint}\n" if hint else ""))
    assert (answer.status, answer.out) == (status, "")


def opened(project: Project) -> str:
    project.branch("feature")
    work = project.commit("Add a page", {"page.md": "# Page\n"})
    project.gate("open").ok()
    return work


def test_outside_a_repository(tmp_path: Path) -> None:
    for command in (*EVERY, ["init"], ["doctor"], ["hook", "install"], ["policy", "check"]):
        fails(
            gate(*command, at=tmp_path),
            128,
            "not a git repository (or any of the parent directories): .git",
            "run it inside a git repository, or make one with `git init`",
        )


def test_a_repository_with_sha256_ids(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", "--object-format=sha256", tmp_path], check=True)
    for command in EVERY:
        answer = gate(*command, at=tmp_path)
        fails(
            answer,
            128,
            f"the repository {tmp_path}/.git has sha256 objects, which are not supported",
            "use a repository with SHA-1 objects (git's default)",
        )


def test_a_bare_repository_is_a_server(project: Project, clock: Clock) -> None:
    work = opened(project)
    project.push("feature", project.ledger()).ok()
    at = project.remote
    assert gate("list", at=at).ok().out == "open  main  feature  iteration 1  for 0 s\n"
    assert gate("show", "--subject", "feature", "--json", at=at).ok().json["work"] == work
    pending = gate("check", f"main..{work}", "--json", at=at)
    assert (pending.status, pending.json["status"]) == (10, "pending")
    fails(gate("show", at=at), 15, "no gate is open for main", "git gate open, or add --subject")
    fails(
        gate("policy", "check", at=at),
        129,
        "there is no work tree here",
        "git gate policy check REV",
    )
    assert gate("policy", "check", "main", at=at).ok().out == "the policy is valid\n"
    fails(
        gate("init", at=at),
        128,
        "a bare repository has no work tree for the policy",
        "run git gate init in a clone of it",
    )


def test_an_unborn_branch(tmp_path: Path, home: Path) -> None:
    top = tmp_path / "new"
    subprocess.run(["git", "init", "--quiet", top], check=True)
    for command in EVERY:
        fails(gate(*command, at=top), 128, "no policy: no ref has one", "git gate init")
    project = make_project(tmp_path / "made", home)
    project.git("switch", "--quiet", "--orphan", "feature")
    for command in (["open"], ["check"]):
        fails(
            project.gate(*command),
            129,
            "HEAD has no commit yet",
            "make the first commit with `git commit`",
        )
    hint = "git gate sync, if it was opened elsewhere; else git gate open, or add --subject"
    fails(project.gate("show"), 15, "no gate is open for feature", hint)


def test_a_detached_head_is_no_subject(project: Project, clock: Clock) -> None:
    work = opened(project)
    project.git("switch", "--quiet", "--detach")
    for command in (["show"], ["log"], ["open"], ["wait"], *DECIDING, ["withdraw"]):
        fails(
            project.gate(*command),
            129,
            "HEAD is detached, so there is no branch to be the subject",
            "add --subject",
        )
    assert project.gate("show", "--subject", "feature", "--json").ok().json["work"] == work
    assert project.gate("check").status == 10
    assert project.gate("list").ok().out.startswith("open  main  feature")
    again = project.gate("open", "--subject", "feature", "--json").ok().json
    assert again["result"] == "already-open"


def test_where_git_does_not_know_who_it_is(project: Project, home: Path, clock: Clock) -> None:
    opened(project)
    project.git("config", "--unset", "user.name")
    project.git("config", "--unset", "user.email")
    (home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    project.git("commit", "--quiet", "--allow-empty", "-m", "x", check=False)
    for command in (["approve"], ["reject", "-m", "no"], ["withdraw"]):
        answer = project.gate(*command)
        assert (answer.status, answer.out) == (128, ""), command
        assert answer.err.startswith("git-gate: git does not know who you are")
        assert "git config" in answer.err
    assert project.gate("show").ok()
    assert project.gate("check").status == 10
    doctor = project.gate("doctor")
    assert doctor.status == 1
    assert "FAULT  identity: git does not know who you are" in doctor.out


def decisions_fail(project: Project, message: str, hint: str) -> None:
    before = project.rev(project.ledger())
    for command in (["approve"], ["skip", "-m", "hurry"], ["quit"], ["reject", "-m", "no"]):
        answer = project.gate(*command)
        said = answer.err.split("git-gate: ", 1)[1].split("; your words")[0].strip()
        same(said, f"{message}\nhint: {hint}")
        assert (answer.status, answer.out) == (128 if "listed" not in message else 1, "")
    assert project.rev(project.ledger()) == before
    assert project.git("show-ref", "refs/notes/aiwg/gates", check=False).status == 1


def test_without_a_key_nothing_is_signed(project: Project, clock: Clock) -> None:
    opened(project)
    project.git("config", "--unset", "user.signingKey")
    project.git("config", "--unset", "gpg.format")
    decisions_fail(project, "no signing key is configured", "git gate init")
    project.git("config", "gpg.format", "ssh")
    project.git("config", "user.signingKey", "/nowhere/key")
    answer = project.gate("approve")
    assert (answer.status, answer.out) == (128, "")
    assert "'/nowhere/key'" in answer.err
    assert "hint: " in answer.err


def test_a_key_that_nobody_has_listed(project: Project, home: Path, clock: Clock) -> None:
    opened(project)
    eve = person("Eve", "eve@example.net", home)
    project.be(eve)
    decisions_fail(
        project,
        f"your signature would not count: SSH key {_fingerprint(eve)} ({eve.key}) is not listed in"
        f" .aiwg/allowed_signers of the policy commit {project.rev('main')[:12]}",
        "git gate init says how to get listed",
    )


def test_a_passphrase_without_a_terminal(project: Project, clock: Clock) -> None:
    opened(project)
    key = project.people["ada"].key
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", "secret", "-f", key], check=True)
    decisions_fail(
        project,
        f"the key {str(key)!r} has a passphrase, and there is no terminal to ask for it",
        f"ssh-add {key}",
    )


def test_a_coding_agent_is_kept_out(
    tmp_path: Path, home: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path, home)
    opened(project)
    monkeypatch.setenv("CLAUDECODE", "1")
    for command in (["approve"], ["skip", "-m", "hurry"]):
        fails(
            project.gate(*command),
            1,
            "this is a coding agent's environment (CLAUDECODE is set), and gate `main` wants a"
            f" person to {command[0]} (a guard rail, not a wall)",
            "run it in a terminal of your own, or set approvals.agents: allow in the policy",
        )
    project.gate("reject", "-m", "an agent may say no").ok()
    allowing = make_project(
        tmp_path / "other", home, SOLO.replace(": true}", ": true, agents: allow}")
    )
    opened(allowing)
    assert allowing.gate("approve").ok()


def test_an_unreadable_policy_blocks_everything(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = make_project(tmp_path, home, "human_gates: [1, 2]\n", hook=False)
    for command in EVERY:
        answer = project.gate(*command)
        assert (answer.status, answer.out) == (128, ""), command
        assert Names(project)(answer.err).startswith(
            "git-gate: the policy of commit ............ is not valid: aiwg.yml:1: expected "
        )
        assert answer.err.endswith("\nhint: git gate policy check\n")


def test_a_policy_that_the_remote_has_not_adopted_yet(tmp_path: Path, home: Path) -> None:
    project = make_project(tmp_path, home, "other: {}\n", hook=False)
    project.commit("Adopt", {"aiwg.yml": TEAM})
    fails(
        project.gate("show"),
        128,
        "refs/heads/main has a policy that refs/remotes/origin/main has not adopted yet",
        "git push origin refs/heads/main",
    )


def test_a_policy_somewhere_and_nothing_says_where(tmp_path: Path, home: Path) -> None:
    project = make_project(tmp_path, home, hook=False)
    project.git("config", "--unset", "gate.policyRef")
    project.git("remote", "set-head", "origin", "--delete", check=False)
    fails(
        project.gate("list"),
        128,
        "refs/heads/main has a policy, but nothing says which branch holds the policy",
        "git config gate.policyRef refs/heads/main, or git remote set-head origin --auto",
    )


def _fingerprint(who: Person) -> str:
    done = subprocess.run(
        ["ssh-keygen", "-l", "-f", who.key], capture_output=True, text=True, check=True
    )
    return done.stdout.split()[1]
