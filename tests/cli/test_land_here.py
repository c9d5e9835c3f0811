"""`land` without a remote, where somebody has the branch checked out: a refusal leaves index, files
and refs as they were, and its hint is the way out."""

from __future__ import annotations

import fcntl
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from crowd import Crowd, Run, as_person, crowd
from landkit import hook, own_temporary_folder, seen, without_remote
from outputs import same
from support.project import Project

from gitgate.app.landing import landinghere


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_temporary_folder(tmp_path, monkeypatch)


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Project:
    """Approved work on `feature`; main is checked out."""
    made = without_remote(tmp_path, home)
    add_approved(made, "feature")
    return made


@pytest.fixture
def people() -> Iterator[Crowd]:
    with crowd() as made:
        yield made


def add_approved(project: Project, name: str) -> None:
    project.git("switch", "--quiet", "--create", name, "main")
    project.commit(name, {f"{name}.md": f"# {name}\n"})
    project.gate("open").ok()
    project.gate("approve").ok()
    project.git("switch", "--quiet", "main")


def elsewhere(project: Project) -> Path:
    """A work tree that has main, while HEAD is at the feature."""
    project.git("switch", "--quiet", "feature")
    linked = project.top.with_name("linked")
    project.git("worktree", "add", "--quiet", str(linked), "main")
    return linked


def run(script: str, folder: Path) -> None:
    done = subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"


def everything(project: Project, *folders: Path) -> object:
    """What a refusal leaves as it was, in further work trees too."""
    there = [project.git("-C", str(one), "status", "--porcelain=v2").out for one in folders]
    files = [sorted(map(str, one.iterdir())) for one in (project.top, *folders)]
    reflog = project.git("reflog", "main").out
    return seen(project), there, files, reflog


def refuses(project: Project, *folders: Path) -> tuple[str, str]:
    """What a landing that is refused says, and its hint; it changes nothing."""
    before = everything(project, *folders)
    answer = project.gate("land", "--subject", "feature")
    assert (answer.status, answer.out) == (1, "")
    assert everything(project, *folders) == before
    said, _, hint = answer.err.rstrip("\n").rpartition("\nhint: ")
    return said, hint


def lands(project: Project, tree: Path) -> None:
    """It lands, and the work tree that has main has its files."""
    project.gate("land", "--subject", "feature").ok()
    assert project.git("-C", str(tree), "ls-files", "feature.md").out == "feature.md\n"
    assert (tree / "feature.md").read_text() == "# feature\n"


FROZEN = "[ $1 = prepared ] && grep -q refs/heads/main && { echo frozen >&2; exit 1; }; exit 0"


def test_a_hook_that_refuses_leaves_nothing_staged(project: Project) -> None:
    hook(project, "reference-transaction", FROZEN)
    said, hint = refuses(project)
    lines = said.split("\n")
    top = project.top
    assert lines[0] == f"git-gate: refs/heads/main cannot be moved in {top}; nothing landed:"
    assert "  frozen" in lines
    assert hint == "mend that, then git gate land main --subject feature"
    (project.top / ".git" / "hooks" / "reference-transaction").unlink()
    lands(project, project.top)
    assert project.git("status", "--porcelain").out == ""


def test_what_somebody_edits_while_the_branch_is_refused_is_kept(project: Project) -> None:
    """A hook stands for somebody who saves a file at that moment."""
    edit = f"echo edited >{shlex.quote(str(project.top / 'README.md'))}"
    hook(project, "reference-transaction", FROZEN.replace("echo frozen", f"{edit}; echo frozen"))
    assert project.gate("land", "--subject", "feature").status == 1
    assert project.git("status", "--porcelain").out == " M README.md\n"
    assert (project.top / "README.md").read_text() == "edited\n"


def test_what_somebody_edits_of_it_stays_and_is_not_staged(project: Project) -> None:
    edit = f"echo edited >{shlex.quote(str(project.top / 'feature.md'))}"
    hook(project, "reference-transaction", FROZEN.replace("echo frozen", f"{edit}; echo frozen"))
    answer = project.gate("land", "--subject", "feature")
    assert answer.status == 1
    assert (
        f"\n  {project.top} keeps, in no commit, files of it that changed meanwhile\n" in answer.err
    )
    assert project.git("status", "--porcelain").out == "?? feature.md\n"
    assert (project.top / "feature.md").read_text() == "edited\n"


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_ended_while_the_branch_moves(project: Project, how: signal.Signals) -> None:
    """A hook asks the command to end at the moment at which files and index have moved."""
    pid = project.top.with_name("pid")
    script = (
        f"[ $1 = prepared ] && grep -q refs/heads/main && [ ! -e {pid}.done ] || exit 0\n"
        f"until [ -s {pid} ]; do sleep 0.02; done\n"
        f"kill -{how} $(cat {pid}); mv {pid} {pid}.done; sleep 1"
    )
    hook(project, "reference-transaction", script)
    before = everything(project)
    command = [sys.executable, "-m", "gitgate", "land", "--subject", "feature"]
    with subprocess.Popen(command, cwd=project.top, start_new_session=True) as landing:
        pid.with_suffix(".new").write_text(str(landing.pid))
        pid.with_suffix(".new").rename(pid)
    assert landing.returncode == 130
    assert pid.with_suffix(".done").exists()
    assert everything(project) == before
    assert list((project.top / ".git").rglob("*.lock")) == []
    lands(project, project.top)


def test_landings_at_once_come_one_after_another(project: Project, people: Crowd) -> None:
    add_approved(project, "other")
    slow = "[ $1 = prepared ] && grep -q refs/heads/main && sleep 1; exit 0"
    hook(project, "reference-transaction", slow)
    ada = as_person(project.people["ada"])
    names = ("feature", "other")
    runs = [Run(["land", "--subject", name], project.top, ada) for name in names]
    answers = people.at_once(*runs)
    assert [(answer.status, answer.err) for answer in answers] == [(0, "")] * 2
    assert project.git("status", "--porcelain").out == ""
    merged = project.git("log", "--first-parent", "--format=%s", "-2").out.splitlines()
    assert sorted(merged) == ["Merge branch 'feature'", "Merge branch 'other'"]


def test_a_landing_that_does_not_end(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landinghere, "_PATIENCE", 0.0)
    file = project.top / ".git" / "git-gate" / "landing"
    file.parent.mkdir(exist_ok=True)
    before = everything(project)
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        answer = project.gate("land", "--subject", "feature")
    same(
        answer.err,
        "git-gate: another landing has been moving refs/heads/main for 0 seconds; nothing landed\n"
        "hint: git gate land main --subject feature\n",
    )
    assert answer.status == 17
    assert everything(project) == before
    lands(project, project.top)


def test_a_lock_that_cannot_be_had(project: Project) -> None:
    file = project.top / ".git" / "git-gate" / "landing"
    file.mkdir(parents=True)
    answer = project.gate("land", "--subject", "feature")
    same(
        answer.err,
        f"git-gate: {file} cannot be locked, so nothing landed: Is a directory\n"
        f"hint: check the access rights of {file.parent}\n",
    )
    assert answer.status == 128
    file.rmdir()
    lands(project, project.top)


def test_while_another_git_command_has_the_index(project: Project) -> None:
    """A file that was only touched is no change, also where git cannot write that down."""
    (project.top / "README.md").touch()
    (project.top / ".git" / "index.lock").touch()
    said, hint = refuses(project)
    assert "index.lock" in said
    assert hint == "mend that, then git gate land main --subject feature"
    (project.top / ".git" / "index.lock").unlink()
    lands(project, project.top)


def test_a_file_that_git_ignores_is_not_written_over(project: Project) -> None:
    (project.top / ".git" / "info" / "exclude").write_text("feature.md\n")
    project.write("feature.md", "mine\n")
    said, _ = refuses(project)
    assert "untracked working tree files would be overwritten" in said
    assert (project.top / "feature.md").read_text() == "mine\n"


SIDE = "git switch -q -c side && echo side >side && git add side && git commit -qm side"
STOPS = "git -c sequence.editor='sed -i s/pick/edit/' rebase -q -i HEAD~1"
BUSY = {
    "merge": f"{SIDE} && git switch -q main && git merge -q --no-ff --no-commit side",
    "merge of nothing": (
        "git switch -q -c side && git commit -q --allow-empty -m side && git switch -q main"
        " && git merge -q --no-ff --no-commit side"
    ),
    "rebase": f"git commit -q --allow-empty -m mine && {STOPS}",
    "rebase that moves it": (
        f"git commit -q --allow-empty -m mine && {SIDE} && git commit -q --amend -m more && "
        + STOPS.replace("-i HEAD~1", "--update-refs -i HEAD~2")
    ),
    "revert": "echo mine >README.md && git commit -qam mine && git revert --no-commit HEAD",
    "bisect": (
        "git commit -q --allow-empty -m one && git commit -q --allow-empty -m two"
        " && git bisect start HEAD HEAD~2 >&2"
    ),
    "cherry-pick": (
        "git switch -q -c side && echo side >README.md && git commit -qam side"
        " && git switch -q main && echo main >README.md && git commit -qam main"
        " && ! git cherry-pick side >&2"
    ),
}


@pytest.mark.parametrize("what", list(BUSY))
def test_main_in_the_middle_of_something(project: Project, what: str) -> None:
    linked = elsewhere(project)
    run(BUSY[what], linked)
    said, hint = refuses(project, linked)
    name = what.partition(" ")[0]
    same(
        said,
        f"git-gate: refs/heads/main is in use in {linked}, where a {name} is not finished:"
        " finish it first, or give it up",
    )
    run(hint, project.top)
    lands(project, project.top if "moves it" in what else linked)


def test_main_with_conflicts_of_no_command(project: Project) -> None:
    linked = elsewhere(project)
    run(
        "echo mine >README.md && git stash -q && echo main >README.md && git commit -qam main"
        " && ! git stash pop -q",
        linked,
    )
    said, hint = refuses(project, linked)
    assert said == (
        f"git-gate: refs/heads/main is checked out in {linked}, which has conflicts: resolve and"
        " commit them, or give them up"
    )
    run(hint, project.top)
    lands(project, linked)
    assert project.git("stash", "list").out.count("\n") == 1


def test_main_in_a_work_tree_that_is_gone(project: Project) -> None:
    linked = elsewhere(project)
    shutil.rmtree(linked)
    said, hint = refuses(project)
    assert said == f"git-gate: refs/heads/main is checked out in {linked}, which is not there"
    run(hint, project.top)
    project.gate("land", "--subject", "feature").ok()


def test_a_file_that_was_added_without_its_content(project: Project) -> None:
    project.write("new one.md", "new\n")
    project.git("add", "--intent-to-add", "new one.md")
    said, hint = refuses(project)
    assert said.endswith("which has files that were added without their content (git add -N)")
    run(hint, project.top)
    lands(project, project.top)
    assert (project.top / "new one.md").read_text() == "new\n"


def with_submodule(project: Project) -> Path:
    """Main has a submodule; its folder."""
    part = project.top.with_name("part.git")
    run(f"git init -q {part} && cd {part} && git commit -q --allow-empty -m one", project.top)
    run(f"git submodule --quiet add {part} part && git commit -qm part", project.top)
    return project.top / "part"


def test_a_submodule_at_another_commit_stays_there(project: Project) -> None:
    part = with_submodule(project)
    run("git commit -q --allow-empty -m more && echo untracked >untracked", part)
    before = project.git("status", "--porcelain").out
    assert before == " M part\n"
    lands(project, project.top)
    assert project.git("status", "--porcelain").out == before


def test_a_submodule_that_is_staged(project: Project) -> None:
    part = with_submodule(project)
    run("git commit -q --allow-empty -m more && git -C .. add part", part)
    assert project.git("status", "--porcelain").out == "M  part\n"
    said, hint = refuses(project)
    assert said == (
        f"git-gate: refs/heads/main is checked out in {project.top}, which has submodules staged"
        " that are in no commit"
    )
    run(hint, project.top)
    lands(project, project.top)
    assert project.git("status", "--porcelain").out == " M part\n"


def test_main_in_two_work_trees(project: Project) -> None:
    linked = elsewhere(project)
    second = project.top.with_name("second")
    project.git("worktree", "add", "--quiet", "--force", str(second), "main")
    said, hint = refuses(project, linked, second)
    assert said == (
        f"git-gate: refs/heads/main is checked out in 2 work trees, one of them {linked}"
    )
    run(hint, project.top)
    lands(project, second)
