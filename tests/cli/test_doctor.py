"""What `doctor` finds, and that the command it names mends it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mending import decide, findings, follow, make_team, texts
from support.project import SOLO, Project, make_project

from gitgate.core.ids import ledger_ref


def only(project: Project, level: str, about: str) -> dict[str, str]:
    """The one finding of this level and kind."""
    [found] = findings(project, level, about=about)
    return found


def mended(project: Project, level: str, about: str) -> None:
    follow(project, only(project, level, about)["hint"])
    assert findings(project, level, about=about) == []


def test_a_clone_that_is_set_up(project: Project) -> None:
    project.gate("init").ok()
    assert findings(project) == []
    assert {one["about"] for one in findings(project, "good")} == {
        "git",
        "identity",
        "policy",
        "key",
        "ledgers",
        "hook",
    }
    assert [one["about"] for one in findings(project, "note")] == ["key"]


def test_a_clone_that_is_not_set_up(project: Project) -> None:
    """Decisions are not shown and not fetched until `init` has been here; then they are."""
    project.branch("feature")
    project.commit("work", {"a": "1\n"})
    project.gate("open").ok()
    project.gate("approve", "-m", "Well done").ok()
    assert "Well done" not in project.git("log", "-1").out
    mended(project, "note", "setup")
    assert "Well done" in project.git("log", "-1").out


def test_no_identity(project: Project, home: Path) -> None:
    project.git("config", "--unset", "user.name")
    project.git("config", "--unset", "user.email")
    (home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    found = only(project, "fault", "identity")
    assert found["text"] == "git does not know who you are"
    mended(project, "fault", "identity")
    assert "Your Name <you@host>" in texts(project, "good", about="identity")[0]


def test_no_policy(tmp_path: Path, home: Path) -> None:
    project = _empty(tmp_path)
    assert only(project, "fault", "policy")["text"] == "any branch has no policy"
    follow(project, "git gate init")
    project.git("add", "aiwg.yml", ".aiwg/allowed_signers")
    project.git("commit", "--quiet", "--message", "Adopt git-gate")
    assert findings(project) == []


def _empty(tmp_path: Path) -> Project:
    subprocess.run(["git", "init", "--quiet", tmp_path / "project"], check=True)
    made = Project(tmp_path / "project", tmp_path / "none.git")
    made.git("commit", "--quiet", "--allow-empty", "--message", "first")
    return made


def test_a_policy_that_is_not_valid(project: Project) -> None:
    """It is judged like any other finding, and the looks at all else go on."""
    good = project.rev()
    project.commit("broken", {"aiwg.yml": SOLO.replace("guards:", "gaurds:")})
    project.land()
    faults = findings(project)
    assert {one["about"] for one in faults} == {"policy", "key", "hook"}
    assert all("did you mean 'guards'?" in one["text"] for one in faults)
    assert {one["hint"] for one in faults} == {"git gate policy check"}
    assert project.gate("policy", "check").status == 1
    project.git("checkout", "--quiet", good, "--", "aiwg.yml")
    project.gate("policy", "check").ok()
    project.commit("mended")
    project.land()
    assert findings(project) == []


def test_no_key(project: Project) -> None:
    project.git("config", "--unset", "user.signingKey")
    project.git("config", "--unset", "gpg.format")
    found = only(project, "fault", "key")
    assert (found["text"], found["hint"]) == ("no signing key is configured", "git gate init")
    follow(project, found["hint"])
    # There is a key now, and it is not listed: the way on is said at once.
    found = only(project, "fault", "key")
    assert found["text"] == "the policy does not list it: nothing that you sign counts"
    _get_listed(project, found["hint"])
    assert findings(project) == []


def test_a_key_that_is_not_there(project: Project) -> None:
    project.git("config", "user.signingKey", "~/gone")
    found = only(project, "fault", "key")
    assert found["text"] == "the signing key '~/gone' does not exist"
    assert found["hint"].startswith("run `git gate init`")


def test_an_unlisted_key(team: Project) -> None:
    team.gate("init").ok()
    team.be(team.people["agent"])
    found = only(team, "fault", "key")
    assert found["text"] == "the policy does not list it: nothing that you sign counts"
    _get_listed(team, found["hint"])
    assert findings(team) == []
    assert "the policy lists it: you decide as agent@example.com" in texts(team, "good")


def _get_listed(project: Project, hint: str) -> None:
    """As the hint says: `init` prints the line, and somebody lands it."""
    assert hint == "git gate init says how to get listed"
    said = project.gate("init").ok().out
    line = next(x for x in said.splitlines() if ".aiwg/allowed_signers: " in x)
    file = project.top / ".aiwg/allowed_signers"
    file.write_text(file.read_text() + line.partition(".aiwg/allowed_signers: ")[2] + "\n")
    project.commit("List another one")
    project.land()


def test_a_key_of_two_people(team: Project) -> None:
    """It counts for nobody."""
    team.be(team.people["ada"])
    file = team.top / ".aiwg/allowed_signers"
    line = team.people["ada"].line().replace("ada@", "bob@")
    file.write_text(f"{file.read_text()}{line}\n")
    team.commit("The same key again")
    team.land()
    assert only(team, "fault", "key")["text"] == (
        "the policy lists it for ada@example.com, bob@example.com: nothing that you sign counts"
    )


def test_a_key_without_a_passphrase(project: Project) -> None:
    found = only(project, "note", "key")
    assert "has no passphrase: any process of yours, an agent too, can sign as you" in found["text"]
    key = project.people["ada"].key
    assert found["hint"] == f"ssh-keygen -p -f {key}"
    follow(project, f"{found['hint']} -q -P '' -N 'a long one'")
    assert findings(project, "note", about="key") == []


def test_a_key_in_the_agent(project: Project) -> None:
    project.git("config", "user.signingKey", f"key::{project.people['ada'].public}")
    assert "an ssh-agent signs for any process" in only(project, "note", "key")["text"]


def test_a_git_that_is_too_old(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    real, folder = shutil.which("git"), project.top.parent / "bin"
    folder.mkdir()
    script = folder / "git"
    script.write_text(
        f'#!/bin/sh\nif [ "$1" = version ]; then echo git version 2.30.2; exit; fi\n'
        f'exec {real} "$@"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    found = only(project, "fault", "git")
    assert found["text"].startswith("git version 2.30.2 cannot merge trees without a work tree")
    assert found["hint"] == "install git 2.38 or newer"
    script.unlink()
    assert findings(project) == []


def test_a_shallow_clone(project: Project) -> None:
    for number in range(3):
        project.commit(f"{number}")
    project.land()
    shallow = project.top.parent / "shallow"
    url = f"file://{project.remote}"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", url, shallow], check=True)
    clone = Project(shallow, project.remote, project.people)
    clone.be(project.people["ada"])
    clone.gate("init").ok()
    assert only(clone, "note", "git")["text"].startswith("this clone is shallow")
    mended(clone, "note", "git")


def test_stale_locks(project: Project) -> None:
    """Wherever a killed writer can leave one; a lock of this moment is nobody's fault."""
    git = project.top / ".git"
    names = [
        "refs/aiwg/gates/main/it's.lock",
        "refs/notes/aiwg/gates.lock",
        "packed-refs.lock",
        "refs/heads/aiwg/journal.lock",
    ]
    for name in names:
        (git / name).parent.mkdir(parents=True, exist_ok=True)
        (git / name).touch()
    assert findings(project, about="locks") == []
    for name in names:
        os.utime(git / name, (1, 1))
    found = findings(project, about="locks")
    assert sorted(one["text"] for one in found) == sorted(
        f"{git / name} was left by a process that is gone" for name in names
    )
    for one in found:
        follow(project, one["hint"])
    assert findings(project) == []
    assert not list(git.rglob("*.lock"))


def test_words_that_were_kept(project: Project) -> None:
    """What a refused decision leaves is found again, and the hint records it."""
    project.branch("feature")
    project.commit("work", {"a": "1\n"})
    project.gate("open").ok()
    lock = project.top / ".git" / f"{ledger_ref('main', 'feature')}.lock"
    lock.touch()
    refused = project.gate("reject", "-m", "No, for a reason that took an hour to write")
    assert "your words are kept in" in refused.err
    lock.unlink()
    found = only(project, "note", "drafts")
    project.gate(*found["hint"].split()[2:]).ok()
    [said] = project.gate("show", "--json").ok().json["decisions"]
    assert said["message"] == "No, for a reason that took an hour to write"
    assert findings(project, "note", about="drafts") == []


def test_words_for_another_answer_are_not_offered_as_feedback(project: Project) -> None:
    project.branch("feature")
    project.commit("work", {"a": "1\n"})
    project.gate("open").ok()
    lock = project.top / ".git" / f"{ledger_ref('main', 'feature')}.lock"
    lock.touch()
    project.gate("approve", "-m", "It is $HOME, really")
    lock.unlink()
    hint = only(project, "note", "drafts")["hint"]
    command = hint.replace("git gate", f"{sys.executable} -m gitgate", 1)
    subprocess.run(["sh", "-c", command], cwd=project.top, check=True)
    assert findings(project, "note", about="drafts") == []
    [said] = project.gate("show", "--json").ok().json["decisions"]
    assert (said["action"], said["message"]) == ("approve", "It is $HOME, really")


@pytest.mark.parametrize("trouble", ["absent", "foreign", "no run bit", "changed"])
def test_a_hook_that_does_not_fire(tmp_path: Path, home: Path, trouble: str) -> None:
    """Nothing is checked before a push until the hook is back; then it is."""
    project = make_project(tmp_path, home)
    hook = project.top / ".git/hooks/pre-push"
    match trouble:
        case "absent":
            hook.unlink()
        case "foreign":
            hook.write_text("#!/bin/sh\nexit 0\n")
        case "no run bit":
            hook.chmod(0o644)
        case "changed":
            hook.write_text(hook.read_text().replace("set -f\n", "exit 0\n", 1))
    project.branch("feature")
    project.commit("work", {"a": "1\n"})
    assert project.push("--dry-run", "HEAD:refs/heads/main").status == 0
    mended(project, "fault", "hook")
    assert project.push("HEAD:refs/heads/main").status == 1


def test_a_hook_whose_program_is_gone(project: Project) -> None:
    """It fails closed, and says so."""
    hook = project.top / ".git/hooks/pre-push"
    line = next(x for x in hook.read_text().splitlines() if x.startswith("gate="))
    hook.write_text(hook.read_text().replace(line, "gate='/gone/git-gate'", 1))
    project.branch("feature")
    project.commit("work", {"a": "1\n"})
    assert project.push("HEAD:refs/heads/main").status == 1
    found = only(project, "fault", "hook")
    assert found["text"] == "the pre-push hook starts /gone/git-gate, which is gone"
    mended(project, "fault", "hook")
    assert "not-opened" in project.push("HEAD:refs/heads/main").err


@pytest.mark.parametrize("scope", ["--local", "--global"])
def test_a_hooks_path_without_hooks(project: Project, scope: str) -> None:
    """`core.hooksPath=/dev/null` switches every hook off in silence."""
    project.git("config", scope, "core.hooksPath", "/dev/null")
    project.branch("feature")
    project.commit("work", {"a": "1\n"})
    assert project.push("--dry-run", "HEAD:refs/heads/main").status == 0
    found = only(project, "fault", "hook")
    assert "/dev/null" in found["text"]
    follow(project, found["hint"])
    assert findings(project) == []
    assert project.push("HEAD:refs/heads/main").status == 1


def test_a_relative_hooks_path_in_a_linked_work_tree(project: Project) -> None:
    """A folder that the other work tree does not have: git looks there and finds nothing."""
    project.git("config", "core.hooksPath", ".githooks")
    follow(project, only(project, "fault", "hook")["hint"])
    assert findings(project) == []
    project.git("worktree", "add", "--quiet", "-b", "feature", "../linked", "origin/main")
    linked = Project(project.top.parent / "linked", project.remote, project.people)
    linked.commit("work", {"a": "1\n"})
    assert linked.push("--dry-run", "HEAD:refs/heads/main").status == 0
    mended(linked, "fault", "hook")
    assert linked.push("HEAD:refs/heads/main").status == 1


def test_many_faults_are_cut(tmp_path: Path, home: Path) -> None:
    """One line says how many more there are."""
    project = make_team(tmp_path, home)
    project.branch("feature")
    project.commit("work", {"a": "1\n"})
    project.gate("open").ok()
    decide(project, "bob", "reject", "-m", "no")
    tip = project.rev(project.ledger())
    for number in range(30):
        project.git("update-ref", project.ledger(subject=f"s{number}"), tip)
    found = findings(project, about="ledgers")
    assert len(found) == 21
    assert found[-1]["text"].startswith("and ")
    assert project.gate("repair").status == 0
    assert findings(project) == []
