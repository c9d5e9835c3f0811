"""What the journal is told in a real project, and which refs it lets go."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from support.project import SOLO, Project, make_project

from gitgate.app.exchange import journalling
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.core import ids
from gitgate.core.events import Event, EventName
from gitgate.errors import Exit, GateError
from gitgate.git import journal as journals
from gitgate.git import ledger
from gitgate.git.journal import Index
from gitgate.git.ledger import Draft
from gitgate.git.repository import Repository

KEPT = SOLO.replace("  policy_gate: main\n", "  policy_gate: main\n  journal: true\n")
DAY = 24 * 3600


@pytest.fixture
def kept(tmp_path: Path, home: Path) -> Project:
    """A project whose policy wants a journal."""
    return make_project(tmp_path, home, KEPT)


@contextmanager
def looking(project: Project, later: int = 0) -> Iterator[tuple[World, PolicyCommit]]:
    world = World(Repository.open(project.top), int(time.time()) + later)
    with closing(world):
        yield world, world.policy()


def recorded(project: Project) -> tuple[str | None, list[str]]:
    said: list[str] = []
    with looking(project) as (world, policy):
        return journalling.record(world, policy, "origin", said.append), said


def index(project: Project) -> Index:
    repo = Repository.open(project.top)
    return Index(repo, journals.newest(repo, "origin"))


def opened(project: Project, branch: str = "feature") -> str:
    project.branch(branch)
    commit = project.commit(branch, {f"{branch}.md": f"# {branch}\n"})
    project.gate("open").ok()
    return commit


def ended(project: Project, branch: str = "feature") -> str:
    """An instance that was opened and withdrawn; its ledger's tip."""
    opened(project, branch)
    project.gate("withdraw").ok()
    return project.rev(project.ledger(subject=branch))


def test_each_ledger_is_named_once(kept: Project) -> None:
    assert recorded(kept) == (None, [])
    opened(kept, "one")
    opened(kept, "two")
    tip, said = recorded(kept)
    assert said == []
    assert tip == kept.rev(ids.JOURNAL)
    assert {entry.subject: entry.status for entry in index(kept).instances()} == {
        "one": "open",
        "two": "open",
    }
    assert recorded(kept)[0] == tip
    kept.gate("approve").ok()
    after, _ = recorded(kept)
    assert kept.git("log", "--first-parent", "--format=%s", f"{tip}..{after}").out == (
        "main of two: approved\n"
    )
    assert index(kept).tip("main", "two") == kept.rev(kept.ledger(subject="two"))
    with looking(kept) as (world, _):
        assert journals.defects(world.repo, None, str(after)) == ()


def test_a_policy_without_a_journal_writes_none(project: Project) -> None:
    opened(project)
    assert recorded(project) == (None, [])
    assert project.git("rev-parse", "--verify", ids.JOURNAL, check=False).status != 0


def test_it_goes_on_from_what_the_remote_has(kept: Project) -> None:
    opened(kept, "one")
    tip, _ = recorded(kept)
    kept.git("update-ref", "refs/gitgate/origin/journal", str(tip))
    kept.git("update-ref", "-d", ids.JOURNAL)
    opened(kept, "two")
    after, _ = recorded(kept)
    assert kept.rev(f"{after}^1") == tip
    kept.git("update-ref", ids.JOURNAL, str(tip))
    kept.git("update-ref", "refs/gitgate/origin/journal", str(after))
    assert recorded(kept)[0] == after
    assert kept.rev(ids.JOURNAL) == after


def test_a_plain_clone_has_the_journal(kept: Project, tmp_path: Path) -> None:
    opened(kept)
    tip, _ = recorded(kept)
    kept.git("push", "--quiet", "--no-verify", "origin", ids.JOURNAL)
    clone = tmp_path / "clone"
    kept.git("clone", "--quiet", str(kept.remote), str(clone))
    repo = Repository.open(clone)
    assert journals.newest(repo, "origin") == tip
    assert Index(repo, tip).tip("main", "feature") == kept.rev(kept.ledger())
    assert repo.kind(kept.rev(kept.ledger())) == "commit"


def test_a_branch_aiwg_in_the_way(kept: Project) -> None:
    opened(kept)
    kept.git("branch", "aiwg")
    with pytest.raises(GateError) as caught:
        recorded(kept)
    assert caught.value.kind is Exit.FATAL
    assert caught.value.message == (
        "the branch aiwg of this repository is in the way of the journal, the branch aiwg/journal"
    )
    kept.git(*caught.value.hint.split()[1:])
    assert recorded(kept)[0] is not None


def test_a_branch_aiwg_in_the_way_at_the_remote(kept: Project) -> None:
    kept.push("--no-verify", "main:refs/heads/aiwg").ok()
    kept.git("fetch", "--quiet")
    opened(kept)
    tip, _ = recorded(kept)
    assert kept.push("--no-verify", f"{tip}:{ids.JOURNAL}").status != 0
    hint = journalling.in_the_way("origin").hint
    fetch, push = hint.split(" && ")
    kept.git(*fetch.split()[1:])
    kept.git(*push.split()[1:], "--no-verify")
    kept.push("--no-verify", f"{tip}:{ids.JOURNAL}").ok()


def test_a_ledger_that_does_not_verify_is_left_out(kept: Project) -> None:
    opened(kept, "one")
    opened(kept, "two")
    kept.git("update-ref", kept.ledger(subject="one"), kept.rev("origin/main"))
    tip, said = recorded(kept)
    assert [entry.subject for entry in index(kept).instances()] == ["two"]
    assert len(said) == 1
    assert said[0].startswith("the ledger of main of one: ")
    assert recorded(kept)[0] == tip


def test_a_clone_starts_no_journal_beside_one_that_it_cannot_check(
    kept: Project, tmp_path: Path
) -> None:
    """A shallow clone does not see where the remote's journal begins."""
    opened(kept)
    tip, _ = recorded(kept)
    kept.git("push", "--quiet", "--no-verify", "origin", f"{tip}:{ids.JOURNAL}")
    kept.git("push", "--quiet", "--no-verify", "origin", "refs/aiwg/*:refs/aiwg/*")
    clone = tmp_path / "clone"
    url = f"file://{kept.remote}"
    kept.git("clone", "--quiet", "--depth", "1", "--no-single-branch", url, str(clone))
    shallow = Project(clone, kept.remote)
    shallow.git("fetch", "--quiet", "--depth", "1", "origin", "refs/aiwg/*:refs/aiwg/*")
    with pytest.raises(GateError, match="this clone is shallow") as caught:
        recorded(shallow)
    assert caught.value.kind is Exit.UNTRUSTED
    shallow.git("fetch", "--quiet", "--unshallow")
    assert recorded(shallow)[0] == tip


def removable(project: Project, later: int) -> dict[str, str]:
    with looking(project, later) as (world, policy):
        return journalling.removable(world, policy, index(project))


def test_refs_that_may_go(kept: Project) -> None:
    """Only of what ended thirty days ago, and only where the journal names exactly the tip."""
    tip = ended(kept, "one")
    opened(kept, "two")
    assert removable(kept, 31 * DAY) == {}
    recorded(kept)
    assert removable(kept, 29 * DAY) == {}
    assert removable(kept, 31 * DAY) == {kept.ledger(subject="one"): tip}
    kept.git("switch", "--quiet", "one")
    kept.commit("more", {"more.md": "# more\n"})
    kept.gate("open").ok()
    assert removable(kept, 31 * DAY) == {}
    kept.gate("withdraw").ok()
    assert removable(kept, 31 * DAY) == {}
    recorded(kept)
    assert set(removable(kept, 31 * DAY)) == {kept.ledger(subject="one")}


def test_what_the_events_do_not_end_stays(kept: Project) -> None:
    """A summary that says so ends nothing: an unsigned `withdrawn` after a decision has no
    effect."""
    opened(kept)
    kept.gate("reject", "-m", "no").ok()
    repo = Repository.open(kept.top)
    stamp = repo.identity()
    newest = ledger.read(repo, "main", "feature").newest
    assert newest
    end = Event("", 0, EventName.WITHDRAWN, stamp.time, stamp.person, newest.id)
    draft = Draft(end, 1, "withdrawn")
    ledger.append(repo, "main", "feature", lambda _: draft, stamp=stamp)
    recorded(kept)
    assert next(iter(index(kept).instances())).status == "withdrawn"
    assert removable(kept, 31 * DAY) == {}


def test_refs_are_removed_where_they_stand(kept: Project) -> None:
    tip = ended(kept, "one")
    ended(kept, "two")
    recorded(kept)
    going = removable(kept, 31 * DAY)
    assert len(going) == 2
    with looking(kept) as (world, _):
        assert journalling.remove(world, {}) == ()
        stale = {**going, kept.ledger(subject="two"): tip}
        assert journalling.remove(world, stale) == ()
        assert set(journalling.remove(world, going)) == set(going)
        assert journalling.remove(world, {}) == ()
    assert kept.git("for-each-ref", "refs/aiwg/gates").out == ""
    assert index(kept).tip("main", "one") == tip
    kept.git("fsck", "--strict", "--no-dangling")


def test_without_a_journal_in_the_policy_no_ref_goes(project: Project) -> None:
    ended(project)
    assert removable(project, 31 * DAY) == {}
