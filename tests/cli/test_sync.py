"""`git gate sync` as people see it: whole outputs, real clones, real pushes."""

from __future__ import annotations

import os

from support.project import Project
from synckit import SAME, another, opened, refs_of

LEDGER = "refs/aiwg/gates/main/feature"


def test_what_one_clone_asks_another_decides(team: Project) -> None:
    opened(team)
    assert team.gate("sync").ok().out == "main of feature: 1 event to origin\n"
    bob = another(team, "bob", team.people["bob"])
    assert bob.gate("sync").ok().out == "main of feature: 1 event from origin\n"
    bob.git("switch", "--quiet", "feature")
    bob.gate("approve").ok()
    sent = "main of feature: 1 event to origin\nnotes: sent to origin\n"
    assert bob.gate("sync").ok().out == sent
    came = "main of feature: 1 event from origin\nnotes: taken from origin\n"
    assert team.gate("sync").ok().out == came
    assert team.gate("sync", "-v").ok().out == SAME
    assert refs_of(team.top) == refs_of(bob.top) == refs_of(team.remote)
    assert team.gate("check").ok().status == 0


def test_two_who_ask_and_decide_at_once_are_told(team: Project) -> None:
    opened(team)
    team.gate("sync").ok()
    ada, bob = (another(team, name, team.people[name]) for name in ("ada", "bob"))
    for clone in (ada, bob):
        clone.gate("sync").ok()
        clone.git("switch", "--quiet", "feature")
        clone.gate("reject", "-m", f"not so, says {clone.top.name}").ok()
        clone.commit("better", {"feature.md": f"# {clone.top.name}\n"})
        clone.gate("open").ok()
    assert (
        ada.gate("sync").ok().out == "main of feature: 2 events to origin\nnotes: sent to origin\n"
    )
    assert bob.gate("sync").ok().out == (
        "main of feature: put together with origin, 2 events from there and 2 events to there\n"
        "  iteration 2 of Bob Babbage is now iteration 3, after iteration 2 of Ada Lovelace\n"
        "notes: put together with origin\n"
    )
    assert ada.gate("sync").ok().out == (
        "main of feature: 2 events from origin\nnotes: taken from origin\n"
    )
    found = [one.gate("show", "--json").ok().json for one in (ada, bob)]
    assert [one["iteration"] for one in found] == [3, 3]
    assert [len(one["decisions"]) for one in found] == [2, 2]


def test_what_may_not_follow_is_said(team: Project) -> None:
    opened(team)
    team.gate("sync").ok()
    bob = another(team, "bob", team.people["bob"])
    bob.gate("sync").ok()
    bob.git("switch", "--quiet", "feature")
    bob.gate("approve").ok()
    bob.gate("sync").ok()
    team.gate("withdraw").ok()
    assert team.gate("sync").ok().out == (
        "main of feature: 1 event from origin\n"
        "  `withdrawn` of Agent was dropped: `withdrawn` may not follow once somebody has decided\n"
        "notes: taken from origin\n"
    )
    assert refs_of(team.top) == refs_of(bob.top)


def test_dry_run_moves_nothing(team: Project) -> None:
    opened(team)
    before = refs_of(team.top, "refs"), refs_of(team.remote, "refs")
    assert team.gate("sync", "--dry-run").ok().out == (
        "a dry run: nothing was moved\nmain of feature: 1 event to origin\n"
    )
    bob = another(team, "bob", team.people["bob"])
    assert (refs_of(team.top, "refs"), refs_of(team.remote, "refs")) == before
    team.gate("sync").ok()
    before = refs_of(bob.top, "refs"), refs_of(team.remote, "refs")
    done = bob.gate("sync", "--dry-run", "--json").ok()
    assert done.json == {
        "schema": 1,
        "remote": "origin",
        "dry_run": True,
        "changes": [
            {
                "ref": LEDGER,
                "name": "main of feature",
                "result": "taken",
                "events_here": 1,
                "events_there": 0,
                "reasons": [],
            }
        ],
        "warnings": [],
        "problems": [],
        "exit": 0,
    }
    assert (refs_of(bob.top, "refs"), refs_of(team.remote, "refs")) == before


def test_nobody_to_exchange_with(team: Project) -> None:
    asked = team.gate("sync", "upstream")
    assert (asked.status, asked.out) == (129, "")
    assert asked.err == "git-gate: there is no remote 'upstream' here\nhint: git remote -v\n"
    team.git("remote", "set-url", "origin", str(team.top / "nowhere"))
    off = team.gate("sync")
    assert (off.status, off.out) == (128, "")
    assert off.err.startswith("git-gate: origin cannot be reached: ")
    assert off.err.endswith("\nhint: git ls-remote origin\n")
    team.git("remote", "remove", "origin")
    alone = team.gate("sync")
    assert alone.err == (
        "git-gate: this repository has no remote\nhint: git remote add origin URL\n"
    )


def test_a_hook_that_refuses_one_ledger_keeps_no_other_one_back(team: Project) -> None:
    opened(team)
    opened(team, "other")
    hook = team.remote / "hooks" / "pre-receive"
    hook.write_text(
        "#!/bin/sh\n! grep gates/main/feature && exit 0\necho no features >&2\nexit 1\n"
    )
    hook.chmod(0o755)
    done = team.gate("sync")
    assert done.status == 1
    assert done.out == "main of feature: refused by origin\nmain of other: 1 event to origin\n"
    assert "git-gate: origin refused main of feature: pre-receive hook declined\n" in done.err
    assert "  no features\n" in done.err
    assert list(refs_of(team.remote)) == ["refs/aiwg/gates/main/other"]


def test_a_writer_of_notes_with_stock_git_and_one_with_ours(team: Project) -> None:
    commit = opened(team)
    bob = another(team, "bob", team.people["bob"])
    team.gate("sync").ok()
    bob.gate("sync").ok()
    bob.git("switch", "--quiet", "feature")
    bob.gate("approve").ok()
    bob.gate("sync").ok()
    team.git("notes", "--ref=aiwg/gates", "add", "-m", "looks good", commit)
    assert team.gate("sync").ok().out == (
        "main of feature: 1 event from origin\nnotes: put together with origin\n"
    )
    bob.gate("sync").ok()
    note = bob.git("notes", "--ref=aiwg/gates", "show", commit).out
    assert "looks good\n" in note
    assert "Action: approve\n" in note


def test_what_is_no_ledger_is_left_alone(team: Project) -> None:
    opened(team)
    team.git("push", "--quiet", "--no-verify", "origin", "HEAD:refs/aiwg/gates/main/%zz")
    done = team.gate("sync")
    assert done.status == 14
    assert done.out == (
        "refs/aiwg/gates/main/%zz: not exchanged\nmain of feature: 1 event to origin\n"
    )
    assert done.err == (
        "git-gate: refs/aiwg/gates/main/%zz is no ledger: nothing says which instance it is of\n"
        "hint: git push --delete origin refs/aiwg/gates/main/%zz\n"
    )
    assert list(refs_of(team.top)) == [LEDGER]


def test_an_altered_ledger_of_somebody_else_is_not_taken(team: Project) -> None:
    opened(team)
    team.git("push", "--quiet", "--no-verify", "origin", f"HEAD:{LEDGER}")
    bob = another(team, "bob", team.people["bob"])
    done = bob.gate("sync")
    assert done.status == 14
    assert done.out == "main of feature: not exchanged\n"
    assert done.err.startswith(
        "git-gate: the ledger of main of feature is not to be trusted, here or on origin: "
    )
    assert refs_of(bob.top) == {}


def test_nobody_who_commits(team: Project) -> None:
    """Taking needs no name; putting events on top of others does."""
    opened(team)
    team.gate("sync").ok()
    bob = another(team, "bob", team.people["bob"])
    bob.gate("sync").ok()
    bob.git("switch", "--quiet", "feature")
    bob.gate("reject", "-m", "no").ok()
    team.gate("withdraw").ok()
    team.gate("sync").ok()
    for key in ("user.name", "user.email"):
        bob.git("config", "--unset", key)
    (bob.top.parent / "nobody").write_text("[user]\n\tuseConfigOnly = true\n")
    before = os.environ.get("GIT_CONFIG_GLOBAL")
    os.environ["GIT_CONFIG_GLOBAL"] = str(bob.top.parent / "nobody")
    try:
        done = bob.gate("sync")
    finally:
        os.environ.pop("GIT_CONFIG_GLOBAL")
        if before is not None:
            os.environ["GIT_CONFIG_GLOBAL"] = before
    assert done.status == 128
    assert "git-gate: git does not know who you are\nhint: git config --global" in done.err
    assert "main of feature: not exchanged\n" in done.out


def test_a_record_that_only_a_note_has_is_taken_into_its_ledger(team: Project) -> None:
    """Bob's stock git pushed the notes, and nothing pushed his ledger."""
    opened(team)
    team.gate("sync").ok()
    bob = another(team, "bob", team.people["bob"])
    bob.gate("sync").ok()
    bob.git("switch", "--quiet", "feature")
    bob.gate("reject", "-m", "no").ok()
    bob.git("push", "--quiet", "--no-verify", "origin", "refs/notes/aiwg/gates")
    done = team.gate("sync").ok()
    record = bob.gate("show", "--json").ok().json["decisions"][0]["id"]
    assert done.out == (
        "main of feature: 1 event to origin\n"
        f"  record {record[:12]} (Reject main of feature) was taken into the ledger of main of"
        " feature\n"
        "notes: taken from origin\n"
    )
    assert team.gate("show", "--json").ok().json["status"] == "rejected"
    assert bob.gate("sync").ok().out == "main of feature: taken from origin\n"
    assert refs_of(team.top) == refs_of(bob.top) == refs_of(team.remote)


def test_a_landing_that_nobody_recorded(team: Project) -> None:
    """The branch was merged on a forge, where no hook of ours runs."""
    opened(team)
    team.be(team.people["ada"])
    team.gate("approve").ok()
    team.gate("sync").ok()
    team.land()
    team.git("fetch", "--quiet", "origin")
    tip = team.rev("origin/main")
    assert team.gate("sync").ok().out == (
        "main of feature: 1 event to origin\n"
        f"  iteration 1 has landed on refs/heads/main as {tip[:12]}\n"
    )
    assert team.gate("sync").ok().out == SAME
    bob = another(team, "bob", team.people["bob"])
    bob.gate("sync").ok()
    found = bob.gate("list", "--all", "--json").ok().json["instances"]
    assert [one["status"] for one in found] == ["landed"]


def test_only_some_ledgers(team: Project) -> None:
    """As `land` asks for it: the others stay as they are, here and there."""
    from gitgate.app.exchange.syncing import sync
    from gitgate.app.gather.world import World
    from gitgate.git.repository import Repository

    opened(team)
    opened(team, "other")
    world = World(Repository.open(team.top), 1_764_565_200)
    found = sync(world, "origin", only=[("main", "feature")])
    world.close()
    assert [change.name for change in found.changes] == ["main of feature"]
    assert list(refs_of(team.remote)) == [LEDGER]
    assert team.gate("sync").ok().out == "main of other: 1 event to origin\n"
