"""`land` while others land, and `land` that is interrupted or killed: nothing is half done."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from crowd import Crowd, Run, as_person, crowd
from landkit import (
    MAIN,
    another_clone,
    approved,
    hook,
    left_over,
    move_main,
    own_temporary_folder,
    remote_events,
    seen,
    server_hook,
)
from outputs import Names, same
from support.project import Answer, Project, make_project

ROOT = Path(__file__).parents[2]
CLEAN = {"work trees": [], "folders": []}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_temporary_folder(tmp_path, monkeypatch)


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Project:
    """Without git-gate's own pre-push: what `land` itself refuses is what is looked at here."""
    return make_project(tmp_path, home, hook=False)


@pytest.fixture
def people() -> Iterator[Crowd]:
    with crowd() as made:
        yield made


def main_history(project: Project) -> list[str]:
    """The subject lines of the remote's main, newest first, along first parents."""
    project.git("fetch", "--quiet")
    return project.git("log", "--first-parent", "--format=%s", "origin/main").out.splitlines()


# Others land meanwhile.


def test_two_people_land_at_once(project: Project, people: Crowd) -> None:
    other = another_clone(project)
    approved(project, name="one")
    approved(other, name="two")
    runs = [Run(["land"], at.top, as_person(project.people["ada"])) for at in (project, other)]
    answers = people.at_once(*runs)
    assert [(answer.status, answer.err) for answer in answers] == [(0, "")] * 2
    assert sorted(main_history(project)[:2]) == ["Merge branch 'one'", "Merge branch 'two'"]
    assert main_history(project)[2:] == ["Adopt git-gate"]
    for name in ("one", "two"):
        assert remote_events(project, subject=name) == ["opened", "decided", "landed"]


def test_the_same_work_from_two_clones_at_once(project: Project, people: Crowd) -> None:
    approved(project)
    project.git("push", "--quiet", "origin", "refs/aiwg/gates/main/feature", "feature")
    other = another_clone(project)
    args = ["land", "--subject", "feature", "--json"]
    runs = [Run(args, at.top, as_person(project.people["ada"])) for at in (project, other)]
    answers = people.at_once(*runs)
    assert [answer.status for answer in answers] == [0, 0], answers
    # Within one second the same person makes the same commit twice, and both have landed it.
    assert {answer.json["result"] for answer in answers} <= {"already-landed", "landed"}
    assert len({answer.json["new"] for answer in answers}) == 1
    assert main_history(project) == ["Merge branch 'feature'", "Adopt git-gate"]
    assert remote_events(project) == ["opened", "decided", "landed"]


def test_two_people_whose_work_conflicts(project: Project, people: Crowd) -> None:
    other = another_clone(project)
    for at, name in ((project, "one"), (other, "two")):
        at.branch(name)
        at.commit(name, {"page.md": f"# {name}\n"})
        at.gate("open").ok()
        at.gate("approve").ok()
    runs = [Run(["land"], at.top, as_person(project.people["ada"])) for at in (project, other)]
    answers = people.at_once(*runs)
    assert sorted(answer.status for answer in answers) == [0, 1]
    loser = next(index for index, answer in enumerate(answers) if answer.status)
    name = ("one", "two")[loser]
    assert answers[loser].err.startswith(
        f"git-gate: {name} did not land on refs/heads/main: not-reproducible\n"
    )
    assert answers[loser].err.endswith(
        f"hint: git switch {name} && git merge origin/main && git gate open main --subject {name}\n"
    )
    assert len(main_history(project)) == 2


def moving_main(project: Project, times: int) -> str:
    """A script that moves the remote's main, as somebody else would, so many times."""
    move_main(project)
    top = shlex.quote(str(project.top.with_name("administrator")))
    count = shlex.quote(str(project.top.with_name("count")))
    return (
        "unset $(git rev-parse --local-env-vars)\n"
        f"echo . >>{count}; [ $(wc -l <{count}) -le {times} ] || exit 0\n"
        f"git -C {top} commit -q --allow-empty -m Meanwhile\n"
        f"git -C {top} push -q --no-verify origin HEAD:main"
    )


def test_main_moves_while_the_landing_is_built(project: Project) -> None:
    approved(project)
    hook(project, "pre-merge-commit", moving_main(project, 2))
    answer = project.gate("land").ok()
    assert answer.err == ""
    assert main_history(project)[:3] == ["Merge branch 'feature'", "Meanwhile", "Meanwhile"]
    assert left_over(project) == CLEAN


def test_main_moves_each_time(project: Project) -> None:
    approved(project)
    hook(project, "pre-merge-commit", moving_main(project, 99))
    answer = project.gate("land")
    same(
        answer.err,
        "git-gate: others were faster 8 times; nothing landed\n"
        "hint: git gate land --subject feature\n",
    )
    assert answer.status == 17
    assert "Merge branch 'feature'" not in main_history(project)
    assert left_over(project) == CLEAN


def test_a_rejection_that_arrives_while_the_landing_is_built(project: Project) -> None:
    approved(project)
    words = [sys.executable, "-m", "gitgate", "reject", "main", "--subject", "feature", "-m", "No"]
    hook(project, "pre-merge-commit", f"PYTHONPATH={ROOT} {shlex.join(words)} >/dev/null")
    tip = project.remote_tip()
    answer = project.gate("land")
    assert answer.status == 11
    same(
        Names(project, work=project.rev())(answer.err),
        "git-gate: feature did not land on refs/heads/main: rejected\n"
        "  gate main of feature, iteration 1: rejected\n"
        "    nothing that was approved accounts for work........ (Go on with the page)\n"
        "    ada@example.com rejected it\n"
        "hint: git gate open main --subject feature\n",
    )
    assert project.remote_tip() == tip
    assert left_over(project) == CLEAN


# Interrupted, killed.


class Started:
    """`git gate land` as a process of its own, which a hook can kill by its number."""

    def __init__(self, project: Project) -> None:
        self.file = project.top.with_name("pid")
        self.project = project

    def script(self, then: str = "", how: str = "KILL") -> str:
        """What a hook does: kill the command once it has told its number, and that only once."""
        file = shlex.quote(str(self.file))
        return (
            f"[ ! -e {file}.done ] || exit 0\n"
            f"until [ -s {file} ]; do sleep 0.02; done\n"
            f"kill -{how} $(cat {file}); mv {file} {file}.done\n{then}"
        )

    def run(self, *args: str) -> Answer:
        process = subprocess.Popen(
            [sys.executable, "-m", "gitgate", "land", *args],
            cwd=self.project.top,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.file.with_suffix(".new").write_text(str(process.pid))
        self.file.with_suffix(".new").rename(self.file)
        out, err = process.communicate(timeout=60)
        return Answer(process.returncode, out, err)


def lands_now(project: Project) -> None:
    """Running it again brings the work onto main, once, and leaves nothing behind."""
    answer = project.gate("land").ok()
    assert answer.out.startswith(("landed ", "refs/heads/main of origin has "))
    assert main_history(project) == ["Merge branch 'feature'", "Adopt git-gate"]
    assert remote_events(project) == ["opened", "decided", "landed"]
    assert left_over(project) == CLEAN
    project.git("fsck", "--strict", "--no-dangling")


def test_killed_while_the_landing_is_built(project: Project) -> None:
    approved(project)
    started = Started(project)
    hook(project, "pre-merge-commit", started.script("exit 1"))
    before = seen(project)
    assert started.run().status == -signal.SIGKILL
    left = left_over(project)
    assert len(left["work trees"]) == len(left["folders"]) == 1
    after = {**seen(project), **CLEAN}
    assert after == {**before, **CLEAN}
    lands_now(project)


def test_killed_while_the_ledger_is_pushed(project: Project) -> None:
    approved(project)
    started = Started(project)
    script = f"case $1 in refs/aiwg/*) : ;; *) exit 0 ;; esac\n{started.script('exit 1')}"
    server_hook(project, "update", script)
    tip = project.remote_tip()
    assert started.run().status == -signal.SIGKILL
    assert project.remote_tip() == tip
    lands_now(project)


def test_killed_before_the_branch_is_pushed(project: Project) -> None:
    approved(project)
    started = Started(project)
    hook(project, "pre-push", f"cat >/dev/null\n{started.script('exit 1')}")
    tip = project.remote_tip()
    assert started.run().status == -signal.SIGKILL
    assert project.remote_tip() == tip
    lands_now(project)


def test_killed_when_the_branch_has_moved(project: Project) -> None:
    approved(project)
    started = Started(project)
    script = f"case $(cat) in *{MAIN}*) : ;; *) exit 0 ;; esac\n{started.script()}"
    server_hook(project, "post-receive", script)
    assert started.run().status == -signal.SIGKILL
    assert main_history(project) == ["Merge branch 'feature'", "Adopt git-gate"]
    assert remote_events(project) == ["opened", "decided"]
    lands_now(project)


@pytest.mark.parametrize("how", ["INT", "TERM"])
def test_interrupted_while_the_landing_is_built(project: Project, how: str) -> None:
    approved(project)
    started = Started(project)
    hook(project, "pre-merge-commit", started.script("exec sleep 0.5", how))
    before = seen(project)
    answer = started.run()
    assert (answer.status, answer.out, answer.err) == (130, "", "\n")
    assert seen(project) == before
    lands_now(project)


def test_a_scratch_work_tree_whose_folder_is_gone_is_forgotten(project: Project) -> None:
    """As after a restart that emptied the folder for temporary files."""
    approved(project)
    gone = project.top.with_name("git-gate-land-gone") / "landing-gone"
    mine = project.top.with_name("removable")
    for path in (gone, mine):
        project.git("worktree", "add", "--quiet", "--detach", str(path))
    for path in (gone.parent, mine):
        subprocess.run(["rm", "-r", path], check=True)
    project.gate("land").ok()
    assert left_over(project)["work trees"] == [str(mine)], "what is the user's own stays"


def test_a_scratch_work_tree_that_is_in_use_is_left_alone(project: Project) -> None:
    approved(project)
    ready, go = project.top.with_name("ready"), project.top.with_name("go")
    hook(
        project,
        "pre-merge-commit",
        f"[ ! -e {ready} ] || exit 0; touch {ready}\nuntil [ -e {go} ]; do sleep 0.02; done",
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "gitgate", "land", "--json"],
        cwd=project.top,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    )
    while not ready.exists():
        time.sleep(0.02)
    [tree] = left_over(project)["work trees"]
    project.gate("land", "-n").ok()
    assert left_over(project)["work trees"] == [tree]
    go.touch()
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert left_over(project) == CLEAN
