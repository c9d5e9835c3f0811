"""A push that touches nothing guarded starts no Python, until something it rests on has changed.

The hook's program is a script that counts its calls and goes on with the real one.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from landingkit import (
    MAIN,
    administer,
    allowed,
    approve,
    approved_branch,
    by_ff,
    passes,
    program,
    stopped,
)
from support.project import SOLO, Project

from gitgate import hooks


class Counter:
    """How often the hook has started git-gate since it was last asked."""

    def __init__(self, project: Project, folder: Path) -> None:
        self._log = folder / "calls"
        script = folder / "git-gate"
        log, real = shlex.quote(str(self._log)), shlex.quote(str(program()))
        script.write_text(f'#!/bin/sh\necho "$*" >>{log}\nexec {real} "$@"\n')
        script.chmod(0o755)
        hooks.install(project.top / ".git" / "hooks", project.top / ".git", script)

    def calls(self) -> int:
        found = self._log.read_text().count("\n") if self._log.exists() else 0
        self._log.unlink(missing_ok=True)
        return found


@pytest.fixture
def counter(solo: Project, tmp_path: Path) -> Counter:
    """With the cache in place: HEAD is on a branch that was pushed once."""
    made = Counter(solo, tmp_path)
    solo.branch("topic")
    solo.commit("work", {"a": "1\n"})
    allowed(solo, "topic")
    assert made.calls() == 1
    allowed(solo, "topic:again")
    assert made.calls() == 0
    return made


def is_asked_once(project: Project, counter: Counter) -> None:
    """The next push of what is unguarded asks again, and the one after it does not."""
    for expected in (1, 0):
        project.commit("more work")
        allowed(project, "topic")
        assert counter.calls() == expected


def test_only_what_is_guarded_is_asked_about(
    solo: Project, counter: Counter, tmp_path: Path
) -> None:
    solo.git("tag", "v1")
    allowed(solo, "topic:refs/heads/main2", "topic:refs/heads/x/main", "v1", "topic:refs/for/main")
    allowed(solo, "--delete", "main2", "v1")
    allowed(solo, "--force", "topic~1:x/main")
    linked = tmp_path / "linked"
    solo.git("worktree", "add", "--quiet", "-b", "other", str(linked))
    allowed(solo, "other", at=linked)
    solo.git("pack-refs", "--all")
    allowed(solo, "topic:third")
    assert counter.calls() == 0
    stopped(solo, "topic:main")
    stopped(solo, "topic:fourth", f"topic:{MAIN}")
    stopped(solo, "--dry-run", "topic:main")
    stopped(solo, "topic:fourth", f":{MAIN}")
    assert counter.calls() == 4
    solo.git("push", str(solo.remote), "topic:fourth")
    assert counter.calls() == 1
    solo.git("remote", "add", "second", str(solo.remote))
    solo.git("push", "second", "topic:fifth")
    solo.git("push", "second", "topic:sixth")
    assert counter.calls() == 1


def test_a_changed_policy_is_read_again(solo: Project, counter: Counter) -> None:
    administer(solo, {"b": "1\n"})
    solo.commit("more work")
    allowed(solo, "topic")
    assert counter.calls() == 0
    wider = SOLO.replace("[refs/heads/main]", '[refs/heads/main, "refs/heads/release/*"]')
    approved_branch(solo, "policy", {"aiwg.yml": wider})
    allowed(solo, "topic:refs/heads/release/0", "--dry-run")
    assert counter.calls() == 0
    passes(solo, by_ff(solo, "policy"))
    assert counter.calls() == 1
    stopped(solo, "topic:refs/heads/release/1")
    assert counter.calls() == 1
    solo.git("switch", "--quiet", "topic")
    allowed(solo, "topic:seventh")
    assert counter.calls() == 0


def test_a_policy_that_was_fetched_is_read_again(
    solo: Project, counter: Counter, tmp_path: Path
) -> None:
    theirs = replace(solo, top=tmp_path / "theirs")
    solo.git("clone", "--quiet", str(solo.remote), str(theirs.top))
    theirs.commit("policy", {"aiwg.yml": SOLO.replace("[refs/heads/main]", "[refs/heads/m*]")})
    theirs.land()
    solo.git("fetch", "--quiet")
    is_asked_once(solo, counter)
    solo.git("config", "gate.policyRef", "refs/heads/elsewhere")
    solo.commit("more work")
    solo.push("topic")
    assert counter.calls() == 1


def test_a_changed_setting_is_read_again(solo: Project, counter: Counter) -> None:
    solo.git("config", "gate.policyRef", "main")
    is_asked_once(solo, counter)
    solo.git("config", "--unset", "gate.policyRef")
    solo.git("remote", "set-head", "origin", "main")
    is_asked_once(solo, counter)
    solo.commit("more work")
    solo.git("-c", "gate.policyRef=refs/heads/main", "push", "origin", "topic")
    assert counter.calls() == 1


def test_a_changed_default_branch_is_read_again(solo: Project, counter: Counter) -> None:
    solo.git("remote", "set-head", "origin", "main")
    is_asked_once(solo, counter)
    solo.git("remote", "set-head", "origin", "topic")
    is_asked_once(solo, counter)
    solo.git("remote", "set-head", "origin", "--delete")
    is_asked_once(solo, counter)


def test_without_a_policy_each_push_is_asked_about(
    solo: Project, counter: Counter, tmp_path: Path
) -> None:
    """Somebody may adopt one at any moment, and nothing says where."""
    solo.git("switch", "--quiet", "--orphan", "bare")
    bare = solo.commit("no policy", {"x": "1\n"})
    for name in solo.git("for-each-ref", "--format=%(refname)", "refs/remotes/").out.split():
        solo.git("update-ref", "-d", name)
    solo.git("branch", "--quiet", "-D", "main", "topic")
    solo.git("init", "--quiet", "--bare", str(tmp_path / "empty.git"))
    solo.git("remote", "set-url", "origin", str(tmp_path / "empty.git"))
    for name in ("one", "two", MAIN):
        solo.git("push", "origin", f"{bare}:refs/heads/{name.rpartition('/')[2]}")
    assert counter.calls() == 3


def test_the_decision_is_not_part_of_what_is_remembered(solo: Project, counter: Counter) -> None:
    stopped(solo, "topic:main")
    approve(solo)
    allowed(solo, "topic:main")
    assert counter.calls() == 2
    assert solo.remote_tip() == solo.rev("topic")
