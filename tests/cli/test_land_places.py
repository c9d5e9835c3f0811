"""Where `land` runs: work trees that are not to be touched, hooks, signatures, no remote."""

from __future__ import annotations

import shlex
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from landkit import (
    MAIN,
    approved,
    hook,
    left_over,
    move_main,
    own_temporary_folder,
    seen,
    without_remote,
)
from outputs import Names, same
from support.project import SOLO, Project, make_project

PHASES = """\
human_gates:
  version: 1
  phases: {file: .aiwg/phase, order: [elaboration, construction]}
  gates:
    elaboration:
      guards: [refs/heads/main]
      transition: {from: elaboration, to: construction}
      approvals: {self_approval: true}
  defaults: {timeout_minutes: 0}
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_temporary_folder(tmp_path, monkeypatch)


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Project:
    """Without git-gate's own pre-push: what `land` itself refuses is what is looked at here."""
    return make_project(tmp_path, home, hook=False)


def test_a_dirty_work_tree_is_not_touched(project: Project) -> None:
    approved(project)
    move_main(project)
    project.write("feature.md", "in the middle of something\n")
    project.write("staged.md", "staged\n")
    project.git("add", "staged.md")
    project.write("untracked.md", "untracked\n")
    before = seen(project)
    project.gate("land").ok()
    after = seen(project)
    for part in ("head", "status", "index", "work trees", "folders"):
        assert after[part] == before[part]
    assert (project.top / "feature.md").read_text() == "in the middle of something\n"
    assert project.git("stash", "list").out == ""


def test_in_the_middle_of_a_merge(project: Project) -> None:
    approved(project)
    move_main(project, {"feature.md": "other\n"})
    project.git("fetch", "--quiet")
    project.git("switch", "--quiet", "-c", "trial")
    assert project.git("merge", "origin/main", check=False).status == 1
    merging = (project.top / ".git" / "MERGE_HEAD").read_text()
    project.gate("land", "--subject", "feature")
    assert (project.top / ".git" / "MERGE_HEAD").read_text() == merging
    assert left_over(project) == {"work trees": [], "folders": []}


def test_from_a_linked_work_tree_and_a_folder_in_it(project: Project) -> None:
    approved(project)
    linked = project.top.with_name("linked")
    project.git("worktree", "add", "--quiet", "-b", "elsewhere", str(linked), "origin/main")
    (linked / "docs").mkdir()
    at = replace(project, top=linked / "docs")
    at.gate("land", "--subject", "feature").ok()
    assert project.git("log", "-1", "--format=%P", project.remote_tip()).out.split()[1] == (
        project.rev("feature")
    )
    assert left_over(project)["work trees"] == [str(linked)]


def test_a_detached_head_needs_the_subject(project: Project) -> None:
    approved(project)
    project.git("switch", "--quiet", "--detach")
    answer = project.gate("land")
    same(
        answer.err,
        "git-gate: HEAD is detached, so there is no branch to be the subject\n"
        "hint: add --subject\n",
    )
    assert answer.status == 129
    answer = project.gate("land", "--subject", "feature").ok()
    assert answer.out.endswith("next: git branch -d feature\n")
    project.git("branch", "-d", "feature")


def test_a_project_with_a_submodule(project: Project) -> None:
    part = project.top.with_name("part")
    subprocess.run(["git", "init", "--quiet", part], check=True)
    (part / "file").write_text("part\n")
    subprocess.run(["git", "add", "."], cwd=part, check=True)
    subprocess.run(["git", "commit", "--quiet", "-m", "part"], cwd=part, check=True)
    project.branch("feature")
    project.git("submodule", "--quiet", "add", str(part), "part")
    project.git("config", "submodule.recurse", "true")
    project.commit("Add a part")
    project.gate("open").ok()
    project.gate("approve").ok()
    for method in ("merge", "squash", "rebase"):
        move_main(project, {method: "moved\n"})
        project.gate("land", "--method", method, "-n").ok()
        assert left_over(project) == {"work trees": [], "folders": []}
    project.gate("land").ok()
    assert (project.top / "part" / "file").read_text() == "part\n"
    assert project.git("ls-tree", project.remote_tip(), "part").out.startswith("160000 commit")


def test_commits_are_signed_where_the_user_signs(project: Project) -> None:
    signers = Path(project.git("rev-parse", "--git-dir").out.strip())
    allowed = project.top / signers / "signers"
    allowed.write_text(project.people["ada"].line() + "\n")
    project.git("config", "gpg.ssh.allowedSignersFile", str(allowed))
    project.git("config", "commit.gpgSign", "true")
    for method in ("merge", "rebase"):
        project.git("switch", "--quiet", "--detach", "origin/main")
        approved(project, name=method)
        move_main(project, {f"{method}-moved": "moved\n"})
        project.gate("land", "--method", method).ok()
        project.git("verify-commit", project.remote_tip())


RAN = {
    "merge": ["pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-merge", "pre-push"],
    "squash": [
        *("post-merge", "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"),
        "pre-push",
    ],
    "rebase": [
        *("pre-rebase", "post-checkout", "prepare-commit-msg", "post-commit"),
        *("prepare-commit-msg", "post-commit", "post-rewrite", "pre-push"),
    ],
    "ff": ["post-merge", "pre-push"],
}


@pytest.mark.parametrize("method", list(RAN))
def test_the_hooks_of_the_git_commands_run(project: Project, method: str) -> None:
    """In the order of git's own, from a folder that no commit has and a scratch tree lacks."""
    approved(project)
    if method != "ff":
        move_main(project)
    project.git("config", "core.hooksPath", ".husky/_")
    (project.top / ".git" / "info" / "exclude").write_text(".husky\n")
    ran = hooks_that_tell(project, ".husky/_")
    project.gate("land", "--method", method).ok()
    assert ran.read_text().split() == RAN[method]


def test_hooks_where_git_looks_for_them(project: Project) -> None:
    approved(project)
    ran = hooks_that_tell(project, ".git/hooks")
    project.gate("land").ok()
    assert ran.read_text().split() == RAN["merge"]


def hooks_that_tell(project: Project, folder: str) -> Path:
    ran = project.top.with_name("ran")
    for name in {name for every in RAN.values() for name in every}:
        script = f"cat >/dev/null; echo {name} >>{shlex.quote(str(ran))}"
        hook(project, name, script, at=project.top / folder)
    return ran


def test_what_a_hook_leaves_in_the_background_goes_on_by_itself(project: Project) -> None:
    approved(project)
    go, gave_up, done = (project.top.with_name(name) for name in ("go", "gave-up", "done"))
    script = (
        f"(for _ in $(seq 200); do [ ! -e {go} ] || break; sleep 0.1; done\n"
        f"[ -e {go} ] || touch {gave_up}; echo late; echo late >&2; touch {done}) &"
    )
    hook(project, "post-merge", script)
    project.gate("land").ok()
    assert not gave_up.exists(), "the landing waited for it"
    go.touch()
    for _ in range(200):
        if done.exists():
            return
        time.sleep(0.05)
    pytest.fail("the landing ended it")


def test_a_filter_that_cannot_check_a_file_out(project: Project) -> None:
    project.commit("Files", {".gitattributes": "*.bin filter=large\n", "x.bin": "version\n"})
    project.land()
    approved(project)
    for name, value in (("required", "true"), ("smudge", "false"), ("clean", "cat")):
        project.git("config", f"filter.large.{name}", value)
    before = seen(project)
    answer = project.gate("land")
    tip = project.remote_tip()[:12]
    lines = answer.err.splitlines()
    assert lines[0] == (
        f"git-gate: git cannot check out {tip} to build the landing; nothing landed:"
    )
    assert "  fatal: x.bin: smudge filter large failed" in lines
    assert lines[-1] == "hint: mend that, then git gate land main --subject feature"
    assert answer.status == 128
    assert seen(project) == before
    project.git("config", "filter.large.smudge", "cat")
    project.gate("land", "main", "--subject", "feature").ok()


def test_the_users_settings_do_not_bend_it(project: Project) -> None:
    approved(project)
    project.git("branch", "stacked", "feature~1")
    stacked = project.rev("stacked")
    for setting in (
        *("merge.ff=only", "merge.log=true", "pull.rebase=true", "push.followTags=true"),
        *("rebase.updateRefs=true", "rebase.autoSquash=true", "notes.rewriteRef=refs/notes/*"),
        *("remote.origin.mirror=true", "rerere.enabled=true", "core.editor=false"),
    ):
        name, _, value = setting.partition("=")
        project.git("config", name, value)
    project.git("tag", "-a", "-m", "mine", "mine")
    notes = project.git("notes", "--ref=aiwg/gates", "list").out
    for method in ("merge", "squash", "rebase"):
        move_main(project, {method: "moved\n"})
        project.gate("land", "--method", method, "-n").ok()
    project.gate("land", "--method", "rebase").ok()
    assert project.rev("stacked") == stacked
    assert project.git("notes", "--ref=aiwg/gates", "list").out == notes
    assert project.git("ls-remote", "--tags", "origin").out == ""


def test_a_landing_that_moves_the_phase(tmp_path: Path, home: Path) -> None:
    project = make_project(tmp_path, home, SOLO)
    policy = PHASES
    project.commit("Phases", {"aiwg.yml": policy, ".aiwg/phase": "elaboration\n"})
    project.land()
    project.branch("next")
    project.gate("open", "--advance").ok()
    project.gate("approve").ok()
    work = project.rev()
    answer = project.gate("land").ok()
    same(
        Names(project, work=work, new=project.remote_tip())(answer.out),
        "landed work........ of next on refs/heads/main of origin as new......... (merge)\n"
        "  gate elaboration of next, iteration 1: satisfied\n"
        "  phase: elaboration → construction\n"
        "next: git switch main && git pull --ff-only && git branch -d next\n",
    )


# Without a remote.


def test_without_a_remote_the_branch_here_moves(tmp_path: Path, home: Path) -> None:
    project = approved_here(tmp_path, home)
    old, work = project.rev("main"), project.rev()
    answer = project.gate("land").ok()
    same(
        Names(project, work=work, new=project.rev("main"))(answer.out),
        "landed work........ of feature on refs/heads/main as new......... (merge)\n"
        "  gate main of feature, iteration 1: satisfied\n"
        "next: git switch main && git branch -d feature\n",
    )
    assert project.git("log", "-1", "--format=%P", "main").out.split() == [old, work]
    assert project.gate("show", "--json").json["status"] == "landed"
    reflog = project.git("reflog", "-1", "--format=%gs", "main").out
    assert reflog == "gate: land\n"


def test_with_block_local_too(tmp_path: Path, home: Path) -> None:
    project = approved_here(tmp_path, home)
    project.gate("hook", "install", "--block-local").ok()
    answer = project.git("update-ref", MAIN, "HEAD", check=False)
    assert answer.status == 0, "an approved fast-forward passes"
    project.git("update-ref", MAIN, "HEAD~2")
    project.gate("land").ok()


def test_a_hook_that_refuses_the_move_of_the_branch(tmp_path: Path, home: Path) -> None:
    project = approved_here(tmp_path, home)
    script = (
        '[ "$1" = prepared ] || exit 0\n'
        "while read old new ref; do\n"
        "  case $ref in refs/heads/main) echo 'not now' >&2; exit 1 ;; esac\n"
        "done"
    )
    hook(project, "reference-transaction", script)
    before = seen(project)
    answer = project.gate("land")
    assert answer.status == 1
    assert answer.err.startswith("git-gate: git refused to move refs/heads/main; nothing landed:\n")
    assert "  not now\n" in answer.err
    assert seen(project) == before


def test_where_the_branch_is_checked_out_its_files_move_with_it(tmp_path: Path, home: Path) -> None:
    project = approved_here(tmp_path, home)
    project.git("switch", "--quiet", "main")
    project.write("untracked.md", "mine\n")
    project.gate("land", "--subject", "feature").ok()
    assert (project.top / "feature.md").read_text() == "# Page\n\nText\n"
    assert project.git("status", "--porcelain").out == "?? untracked.md\n"


def test_not_over_what_stands_there_uncommitted(tmp_path: Path, home: Path) -> None:
    project = approved_here(tmp_path, home)
    linked = project.top.with_name("linked")
    project.git("worktree", "add", "--quiet", str(linked), "main")
    (linked / "README.md").write_text("changed\n")
    before = seen(project)
    answer = project.gate("land")
    same(
        answer.err,
        f"git-gate: refs/heads/main is checked out in {linked}, which has changes that are in no"
        " commit\n"
        f"hint: git -C {linked} stash\n",
    )
    assert answer.status == 1
    assert seen(project) == before
    project.git("-C", str(linked), "stash", "--quiet")
    answer = project.gate("land").ok()
    assert (linked / "feature.md").is_file()
    new = project.rev("main")
    assert answer.out.endswith(f"next: git switch --detach {new} && git branch -d feature\n")


def test_not_over_a_file_that_git_does_not_know(tmp_path: Path, home: Path) -> None:
    project = approved_here(tmp_path, home)
    project.git("switch", "--quiet", "main")
    project.write("feature.md", "mine\n")
    before = seen(project)
    answer = project.gate("land", "--subject", "feature")
    assert answer.status == 1
    assert answer.err.startswith(
        f"git-gate: refs/heads/main cannot be moved in {project.top}; nothing landed:\n"
    )
    assert seen(project) == before


def approved_here(folder: Path, home: Path) -> Project:
    project = without_remote(folder, home)
    project.git("switch", "--quiet", "-c", "feature", "main")
    project.commit("one", {"feature.md": "# Page\n"})
    project.commit("two", {"feature.md": "# Page\n\nText\n"})
    project.gate("open").ok()
    project.gate("approve").ok()
    return project


def test_who_commits_is_who_the_user_is_here(project: Project, home: Path) -> None:
    """A condition on the folder of the repository holds for the landing, too."""
    approved(project)
    (home / "work").write_text("[user]\n\temail = ada@work.example\n[commit]\n\tgpgSign = true\n")
    with (home / ".gitconfig").open("a") as file:
        file.write(f'[includeIf "gitdir:{project.top}/.git"]\n\tpath = {home}/work\n')
    project.git("config", "--unset", "user.email")
    project.gate("land", "--method", "merge").ok()
    who = project.git("log", "-1", "--format=%ae %ce", "origin/main").out
    assert who == "ada@work.example ada@work.example\n"
    assert "gpgsig" in project.git("cat-file", "commit", "origin/main").out
