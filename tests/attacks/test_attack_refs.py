"""Hazards 22 and 26: another ref than the one that was approved, and passing on nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from forger import (
    MAIN,
    all_refused,
    approved,
    at_remote,
    blocked,
    decided,
    judged,
    passes,
    push_lands,
    push_refused,
    request_of,
    word,
    work,
)
from support.gpglab import Gnupg
from support.project import SOLO, Project, make_project

from gitgate.app.gather.instances import KEY_NEEDED
from gitgate.core import decision as codec
from gitgate.core.decision import Action

GUARDED = SOLO.replace(
    "[refs/heads/main]", "[refs/heads/main, 'refs/heads/release/*', 'refs/tags/v*']"
)
RELEASE = "refs/heads/release/1"


@pytest.fixture
def guarded(tmp_path: Path, home: Path) -> Project:
    """A project whose releases and version tags are guarded too."""
    return make_project(tmp_path, home, GUARDED)


def test_approved_for_main_used_for_a_release(guarded: Project) -> None:
    """26: the approval names its target, and no other ref may use it."""
    guarded.git("push", "--quiet", "--no-verify", "origin", f"{MAIN}:{RELEASE}")
    work(guarded)
    guarded.gate("open", "--target", "main").ok()
    guarded.gate("approve").ok()
    blocked(guarded, "not-opened", moves=f"origin/release/1..{guarded.rev()}", ref=RELEASE)
    push_refused(guarded, "not-opened", refspec=f"HEAD:{RELEASE}")
    passes(guarded)
    guarded.gate("open", "--target", RELEASE, "--subject", "feature-1").ok()
    guarded.gate("approve", "--subject", "feature-1").ok()
    push_lands(guarded, f"HEAD:{RELEASE}")


def test_a_guarded_ref_from_nowhere(guarded: Project) -> None:
    """26: a release or a tag comes into being where no guarded branch ever stood."""
    work(guarded, **{"aiwg.yml": GUARDED.replace("Changes to main", "as it likes")})
    guarded.git("tag", "v1")
    guarded.git("tag", "-a", "v2", "-m", "annotated")
    guarded.git("switch", "--quiet", "--orphan", "orphan")
    guarded.commit("another history", {"aiwg.yml": SOLO.replace("version: 1", "version: 1 ")})
    nothing = "shares no commit with a guarded branch"
    all_refused(
        guarded,
        (f"feature:{RELEASE}", "not-opened", "no gate `main` was opened for it"),
        ("v1:refs/tags/v1", "not-opened", "no gate `main` was opened for it"),
        ("v2:refs/tags/v2", "not-opened", "no gate `main` was opened for it"),
        ("orphan:refs/heads/release/2", "blocked", nothing),
        ("orphan:refs/tags/v3", "blocked", nothing),
    )
    for tag in ("v4", "v5"):
        guarded.git("tag", "-a", tag, "-m", "annotated", "main")
    guarded.push(f"main:{RELEASE}", "v4", "v5").ok()
    all_refused(
        guarded,
        ("v1:refs/tags/v4", "blocked", "may not be moved"),
        (":refs/tags/v5", "blocked", "may not be deleted"),
        (f":{RELEASE}", "blocked", "may not be deleted"),
    )


def test_a_landing_reaches_a_new_release(guarded: Project) -> None:
    """26, its twin: what landed on main may be released, and what did not may not."""
    work(guarded)
    guarded.gate("open", "--target", "main").ok()
    guarded.gate("approve").ok()
    push_lands(guarded)
    guarded.commit("more", {"more.md": "x\n"})
    all_refused(guarded, (f"HEAD:{RELEASE}", "not-opened", "(more)"))
    push_lands(guarded, f"HEAD~1:{RELEASE}")


def test_main_deleted_and_created_again(project: Project) -> None:
    """26: with main gone from the remote, what nobody approved does not come in as an adoption."""
    approved(project)
    push_lands(project)
    good = project.rev()
    work(project, "other", **{"aiwg.yml": SOLO.replace("self_approval: true", "required: 1")})
    project.push("HEAD:refs/heads/other").ok()
    subprocess.run(["git", "update-ref", "-d", MAIN], cwd=project.remote, check=True)
    project.git("fetch", "--quiet", "--prune", "origin")
    push_refused(project, "not-opened", "accounts for")
    project.git("switch", "--quiet", "--orphan", "new")
    project.commit("another adoption", {"aiwg.yml": SOLO})
    push_refused(project, "blocked", "refs/heads/other has adopted another policy than this one")
    push_lands(project, f"{good}:{MAIN}")


def test_an_empty_range(project: Project) -> None:
    """22: nothing to check is no success where a range was spelled out."""
    for moves in ("HEAD..HEAD", "..", "main..origin/main", "HEAD.."):
        answer = project.gate("check", moves)
        assert (answer.status, answer.out) == (129, ""), moves
        assert "nothing was checked" in answer.err, moves
    assert project.gate("check", "nowhere..HEAD").status == 129
    found = judged(project, None)
    assert (found["status"], found["gates"]) == ("not-needed", [])
    assert "has all of" in found["reasons"][0]
    project.push("HEAD:refs/heads/main").ok()


def test_nothing_was_asked_or_answered(project: Project) -> None:
    """22: no ledger, an empty one, and one without a decision approve nothing."""
    work(project)
    blocked(project, "not-opened")
    assert project.gate("approve").status == 15
    assert project.gate("wait", "--timeout", "0").status == 15
    project.gate("open").ok()
    blocked(project, "pending")
    assert project.gate("wait", "--timeout", "0").status == 124
    root = project.git("rev-list", "--max-parents=0", "--first-parent", project.ledger()).out
    tip = project.rev(project.ledger())
    project.git("update-ref", project.ledger(), root.strip())
    blocked(project, "not-opened")
    project.git("update-ref", project.ledger(), tip)
    project.gate("withdraw").ok()
    blocked(project, "withdrawn")
    project.gate("open").ok()
    project.gate("approve").ok()
    passes(project)


def test_nobody_is_left_who_may_approve(tmp_path: Path, home: Path) -> None:
    """22: no signers file, or one that no line of which can be read, lets nobody in."""
    project = make_project(tmp_path, home)
    approved(project)
    passes(project)
    listed = (project.top / ".aiwg" / "allowed_signers").read_text()
    for text in ("", "# nobody\n", listed.replace("ssh-ed25519 A", "ssh-ed25519 B"), None):
        project.git("switch", "--quiet", "main")
        if text is None:
            (project.top / ".aiwg" / "allowed_signers").unlink()
        else:
            project.write(".aiwg/allowed_signers", text)
        project.commit("signers")
        project.land()
        project.git("switch", "--quiet", "feature")
        project.git("rebase", "--quiet", "origin/main")
        blocked(project, "blocked", "the signers file lists nobody who may")
        assert project.gate("approve").status == 1
    push_refused(project, "blocked", "the signers file lists nobody who may")


def test_the_policy_is_not_found(project: Project) -> None:
    """22: a policy ref that is misspelt, gone, or not known at all, while main has a policy."""
    work(project)
    gone = "refs/heads/mian is to hold the policy and is not there"
    project.git("config", "gate.policyRef", "refs/heads/mian")
    assert project.gate("check", "origin/main..HEAD").status == 128
    project.git("config", "--unset", "gate.policyRef")
    project.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/mian")
    push_refused(project, "blocked", gone)
    project.git("symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
    unsaid = "nothing says which branch holds the policy"
    assert unsaid in project.gate("open").err
    refused = project.push("HEAD:refs/heads/main")
    assert (refused.status, unsaid in refused.err) == (1, True)
    project.git("remote", "set-head", "origin", "main")
    blocked(project, "not-opened")
    project.gate("open").ok()
    project.gate("approve").ok()
    push_lands(project)


def test_the_policy_cannot_be_read(project: Project) -> None:
    """22: main's policy is broken, or its object is lost: nothing lands until somebody mends it."""
    work(project)
    good = project.rev("origin/main")
    project.git("switch", "--quiet", "main")
    project.commit("broken", {"aiwg.yml": "human_gates: ["})
    project.land()
    project.git("rebase", "--quiet", "main", "feature")
    answer = project.gate("check", "origin/main..HEAD")
    assert (answer.status, "is not valid: aiwg.yml:" in answer.err) == (128, True)
    push_refused(project, "blocked", "is not valid: aiwg.yml:")
    project.git("push", "--quiet", "--no-verify", "--force", "origin", f"{good}:{MAIN}")
    project.git("rebase", "--quiet", "--onto", good, "main", "feature")
    blob = project.rev(f"{good}:aiwg.yml")
    file = project.top / ".git" / "objects" / blob[:2] / blob[2:]
    file.rename(file.with_suffix(".away"))
    refused = project.push(f"HEAD:{MAIN}")
    assert refused.status == 1
    file.with_suffix(".away").rename(file)
    blocked(project, "not-opened")


def test_a_hook_that_is_told_nonsense(project: Project) -> None:
    """22: what the hook cannot read it refuses; with nothing to push it has nothing to say."""
    command = [sys.executable, "-m", "gitgate", "hook", "run", "pre-push", "origin", "url"]
    zero, head = "0" * 40, project.rev()
    for line, status in (
        ("", 0),
        (f"{MAIN} {head} {MAIN}\n", 1),
        (f"HEAD {head} {MAIN} {'f' * 40}\n", 1),
        (f"HEAD {project.rev('HEAD^{tree}')} {MAIN} {head}\n", 1),
        (f"HEAD~1 x {head} refs/heads/free {zero}\n", 0),
    ):
        done = subprocess.run(
            command, input=line, cwd=project.top, capture_output=True, text=True, check=False
        )
        assert (bool(done.returncode), bool(done.stderr)) == (bool(status), bool(status)), line
    assert at_remote(project, MAIN)


def test_a_verifier_that_does_not_run(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """22: a record that nobody here can check may be a rejection: it blocks until one can."""
    keys = Gnupg()
    try:
        monkeypatch.setenv("GNUPGHOME", str(keys.home))
        bob = keys.make("bob")
        project = make_project(tmp_path, home, SOLO + f"  openpgp: {{bob@example.com: [{bob}]}}\n")
        approved(project)
        ada, request = project.people["ada"], request_of(project)
        payload = codec.payload(word(request, ada, Action.REJECT, message="no"))
        decided(project, request, payload + keys.sign(payload, bob))
        project.git("config", "gpg.program", "/nowhere/gpg")
        blocked(project, "untrusted", "cannot be verified: cannot run '/nowhere/gpg'")
        push_refused(project, "untrusted", "cannot be verified")
        # Nor may the same content go another way.
        project.git("switch", "--quiet", "--create", "other", "feature")
        project.gate("open").ok()
        said = project.gate("approve").ok().out
        doubt = "rejects the same content as iteration 1 of feature, not verified: cannot run"
        assert "still blocked: record " in said and doubt in said
        assert "the instance is now open: record " in said
        assert project.gate("list").ok().out.count("open  main") == 2
        found = blocked(project, "untrusted", doubt, subject="other")
        assert found["hint"] == KEY_NEEDED
        push_refused(project, "untrusted", "verified: cannot run")
        project.git("config", "gpg.program", "gpg")
        blocked(project, "rejected", "bob@example.com rejected the same content", subject="other")
        project.git("switch", "--quiet", "feature")
        project.git("branch", "--quiet", "-D", "other")
        project.git("update-ref", "-d", project.ledger().replace("feature", "other"))
        project.git("update-ref", "-d", "refs/notes/aiwg/gates")
        blocked(project, "rejected", "bob@example.com rejected it")
        project.git("switch", "--quiet", "main")
        project.commit("Bob is gone", {"aiwg.yml": SOLO})
        project.land()
        project.git("switch", "--quiet", "feature")
        project.git("rebase", "--quiet", "origin/main")
        project.git("config", "gpg.program", "/nowhere/gpg")
        passes(project)
        push_lands(project)
    finally:
        keys.close()
