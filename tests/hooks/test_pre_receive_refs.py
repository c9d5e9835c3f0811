"""The server's pre-receive: what each kind of ref may do, whatever the client skips."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from landingkit import GUARDED, MAIN, Templates, plain_project
from support.project import Project
from support.server import (
    JOURNAL,
    LONG,
    NOTES,
    administered,
    at,
    guard,
    long,
    push,
    received,
    refused,
    sound,
    state,
)


@pytest.fixture
def served(templates: Templates, tmp_path: Path, home: Path) -> Project:
    """A clone of a server with hooks that has adopted the policy; Ada is at work."""
    project = templates.copy("served", plain_project(GUARDED), tmp_path)
    guard(project.remote)
    return project


def approved(project: Project, name: str = "feature") -> str:
    """Work on a branch, put up and approved in this clone only."""
    project.branch(name)
    commit = project.commit(name, {f"{name}.md": "# Page\n"})
    project.gate("open").ok()
    project.gate("approve").ok()
    return commit


def test_the_whole_story(served: Project) -> None:
    """Refused until the server has the decision, then received, and said as a whole."""
    work = approved(served)
    said = refused(served, (f"HEAD:{MAIN}", "no gate `main` was opened for it"))
    assert said == (
        "git-gate: refs/heads/main may not move: not-opened\n"
        f"  nothing that was approved accounts for {work[:12]} (feature)\n"
        "  no gate `main` was opened for it\n"
        "hint: git gate sync, then push again; if that changes nothing:"
        " git gate open main --target refs/heads/main"
    )
    late = push(served, f"HEAD:{MAIN}", served.ledger(), NOTES)
    assert late.status == 1
    assert "the ledgers of this push come too late" in late.err
    assert "refs/aiwg/gates/main/feature may not move" not in late.err
    assert at(served.remote, "for-each-ref", "refs/aiwg") == ""
    received(served, served.ledger(), NOTES)
    received(served, f"HEAD:{MAIN}")
    assert served.remote_tip() == work
    sound(served.remote)


def test_one_refusal_refuses_the_whole_push(served: Project) -> None:
    served.branch("topic")
    served.commit("topic", {"topic.md": "x\n"})
    before = state(served.remote)
    done = push(served, "HEAD:refs/heads/topic", "HEAD:refs/tags/nice", f"HEAD:{MAIN}")
    assert (done.status, done.err.count("may not move")) == (1, 1)
    assert done.err.count("(pre-receive hook declined)") == 3
    assert state(served.remote) == before
    received(served, "HEAD:refs/heads/topic", "HEAD:refs/tags/nice")
    if LONG:
        received(served, ":refs/heads/topic", ":refs/tags/nice")


def test_names_that_are_kept(served: Project) -> None:
    """12: names beside ours, in their way, and such as no instance has."""
    kept = "is kept for git-gate, and no ledger, notes or journal has that name"
    no_ledger = "no instance of a gate has the name refs/aiwg/gates/"
    said = refused(
        served,
        ("HEAD:refs/aiwg/other", kept),
        ("HEAD:refs/aiwg/gates", kept),
        ("HEAD:refs/notes/aiwg/other", kept),
        ("HEAD:refs/notes/aiwg/gates2", kept),
        ("HEAD:refs/aiwg/gates/main", no_ledger),
        ("HEAD:refs/aiwg/gates/Main/x", no_ledger),
        ("HEAD:refs/aiwg/gates/main/UPPER", no_ledger),
        ("HEAD:refs/aiwg/gates/main/a/b", no_ledger),
        ("HEAD:refs/aiwg/gates/main/%2e", "does not begin with the first commit of its instance"),
        ("HEAD^{tree}:refs/aiwg/gates/main/feature", "is no ledger of this instance"),
        ("HEAD:refs/gitgate/origin/gates/main/x", "what one clone knows of its remotes"),
        ("HEAD:refs/heads/aiwg", f"a branch `aiwg` is in the way of {JOURNAL}"),
        ("HEAD^{tree}:refs/notes/aiwg/gates", "would not be a commit of notes"),
    )
    assert said.count("may not move") == 13
    received(served, "HEAD:refs/notes/commits", "HEAD:refs/heads/aiwg-2", "HEAD:refs/aiwg2/x")


def test_deletions(served: Project) -> None:
    approved(served)
    received(served, served.ledger(), NOTES, f"{MAIN}:refs/heads/release/1", f"{MAIN}:refs/tags/v1")
    refused(
        served,
        (f":{MAIN}", "holds the policy and may not be deleted"),
        (":refs/heads/release/1", "is guarded and may not be deleted"),
        (":refs/tags/v1", "is guarded and may not be deleted"),
        (f":{served.ledger()}", "the journal does not name"),
        (f":{NOTES}", "holds decisions and may not be deleted"),
    )


def test_guarded_refs_that_are_created(served: Project) -> None:
    """26: they stand where main stood, or not at all."""
    served.branch("topic")
    served.commit("topic", {"topic.md": "x\n"})
    served.git("tag", "--annotate", "--message", "v", "v2")
    refused(
        served,
        ("HEAD:refs/heads/release/1", "no gate `main` was opened"),
        ("HEAD:refs/tags/v1", "no gate `main` was opened"),
        ("refs/tags/v2:refs/tags/v2", "no gate `main` was opened"),
        ("HEAD^{tree}:refs/tags/v3", "is a tree, not a commit"),
    )
    served.git("tag", "--annotate", "--message", "v", "v4", "main")
    received(served, "main:refs/heads/release/1", "main:refs/tags/v1", "v4")
    refused(served, ("HEAD:refs/tags/v4", "is a guarded tag and may not be moved"))


def test_a_symbolic_ref_moves_what_it_stands_for(served: Project) -> None:
    at(served.remote, "symbolic-ref", "refs/heads/trunk", MAIN)
    served.branch("topic")
    served.commit("topic", {"topic.md": "x\n"})
    refused(served, ("HEAD:refs/heads/trunk", "no gate `main` was opened"))
    before = served.remote_tip()
    at(served.remote, "symbolic-ref", "refs/heads/round", "refs/heads/round")
    assert push(served, "HEAD:refs/heads/round").status == 1
    assert served.remote_tip() == before


def test_the_old_value_that_a_client_names_has_to_be_true(served: Project) -> None:
    """A client that speaks the protocol itself can name any old value; git compares it last."""
    approved(served)
    received(served, served.ledger(), NOTES)
    new, first = served.rev(), served.rev("main")
    administered(served, f"{new}:{MAIN}")
    lines = f"{first} {new} {MAIN}\n"
    done = subprocess.run(
        [str(served.remote / "hooks" / "pre-receive")],
        input=lines,
        cwd=served.remote,
        env={**os.environ, "GIT_DIR": "."},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "git-gate: refs/heads/main may not move: blocked\n"
        f"  refs/heads/main was moved meanwhile: it is at {served.remote_tip()[:12]} now\n"
        "hint: git fetch; git gate sync\n"
    )


def test_a_server_on_a_file_system_that_ignores_case(served: Project) -> None:
    at(served.remote, "config", "core.ignoreCase", "true")
    refused(
        served,
        ("main:refs/heads/MAIN", "would be the same file as refs/heads/main"),
        ("main:refs/AIWG/gates/main/x", "would be the same file as refs/aiwg/gates/main/x"),
    )
    received(served, "main:refs/heads/Topic")


def test_a_namespace_cannot_be_checked(served: Project) -> None:
    env = {"GIT_NAMESPACE": "other"}
    done = served.git("push", "origin", f"HEAD:{MAIN}", "--no-verify", env=env, check=False)
    assert "pushes into a namespace (GIT_NAMESPACE) cannot be checked" in done.err
    assert at(served.remote, "for-each-ref", "refs/namespaces") == ""


def test_the_policy_is_that_of_the_servers_own_branch(served: Project) -> None:
    """Neither what the server once fetched nor what the push brings can be put in its place."""
    at(served.remote, "config", "remote.origin.url", "elsewhere")
    at(served.remote, "update-ref", "refs/remotes/origin/main", "refs/heads/main")
    served.branch("topic")
    served.git("rm", "--quiet", "aiwg.yml")
    served.commit("no policy", {"topic.md": "x\n"})
    received(served, "HEAD:refs/remotes/origin/main")
    refused(
        served,
        (f"HEAD:{MAIN}", "no gate `main` was opened"),
        ("HEAD:refs/heads/release/1", "no gate `main` was opened"),
    )


def test_without_a_policy_and_its_adoption(served: Project, tmp_path: Path) -> None:
    """What nobody gates passes; the first policy is adopted once, and binds from then on."""
    remote = tmp_path / "fresh.git"
    subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
    guard(remote)
    fresh = replace(served, remote=remote)
    served.git("remote", "set-url", "origin", str(remote))
    approved(fresh)
    fresh.git("switch", "--quiet", "--orphan", "free")
    fresh.commit("free", {"x": "x\n"})
    received(fresh, "free", fresh.ledger())
    received(fresh, f"main:{MAIN}")
    refused(fresh, (f"free:{MAIN}", "does not lie"))
    received(fresh, f"feature:{MAIN}")


@long
def test_a_mirror_to_an_empty_server(served: Project, tmp_path: Path) -> None:
    approved(served)
    remote = tmp_path / "fresh.git"
    subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
    guard(remote)
    served.git("remote", "set-url", "origin", str(remote))
    served.git("update-ref", "-d", "refs/remotes/origin/main")
    done = served.git("push", "--no-verify", "--mirror", "origin", check=False)
    assert done.status == 0, done.err
    assert at(remote, "rev-parse", served.ledger()) == served.rev(served.ledger())
    sound(remote)
