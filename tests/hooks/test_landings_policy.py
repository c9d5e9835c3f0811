"""The policy guards itself: changed, dropped, broken, adopted, and used in the same push."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from landingkit import (
    MAIN,
    Templates,
    administer,
    allowed,
    approve,
    approved_branch,
    by_ff,
    by_merge,
    by_squash,
    passes,
    plain_project,
    plant,
    program,
    refused,
    stopped,
)
from support.project import SOLO, Project

from gitgate import hooks

DOCS = SOLO.replace("      approvals", '      when: ["docs/**"]\n      approvals')
CODE = """\
    code:
      guards: [refs/heads/main]
      when: ["src/**"]
      approvals: {self_approval: true}
  policy_gate"""
BOTH = DOCS.replace("  policy_gate", CODE)


@pytest.fixture
def docs(templates: Templates, tmp_path: Path, home: Path) -> Project:
    """The gate is asked for docs/ only, and for the policy's own files."""
    return templates.copy("docs", plain_project(DOCS), tmp_path)


def test_a_new_policy_holds_for_the_next_stretch_of_the_same_push(docs: Project) -> None:
    approved_branch(docs, "policy", {"aiwg.yml": BOTH})
    changed = by_merge(docs, "policy")
    free = docs.commit("elsewhere", {"README.md": "# Else\n"})
    gated = docs.commit("code", {"src/a": "1\n"})
    doc = refused(docs, gated, "not-opened", "no gate `code`", "git gate open code", first=gated)
    assert {row["gate"]: row["status"] for row in doc["gates"]} == {
        "main": "satisfied",
        "code": "not-opened",
    }
    passes(docs, plant(docs, gated, "origin/main"), dry=True)
    passes(docs, free)
    assert docs.rev("origin/main^") == changed
    refused(docs, gated, "not-opened", first=gated)
    docs.git("switch", "--quiet", "--create", "code", gated)
    approve(docs, "code")
    passes(docs, gated)


def test_a_new_policy_does_not_hold_inside_the_stretch_that_brings_it(solo: Project) -> None:
    """What the old one compares stays compared, whatever the new one says."""
    approved_branch(solo, "policy", {"aiwg.yml": DOCS})
    landing = by_squash(solo, "policy")
    more = plant(solo, solo.commit("more", {"src/a": "1\n"}), "origin/main")
    refused(solo, more, "blocked", "it differs at src/a", first=more)
    free = plant(solo, more, landing)
    passes(solo, free)


@pytest.mark.parametrize("path", ["aiwg.yml", ".aiwg/allowed_signers", ".mailmap"])
def test_the_policy_guards_its_own_files(docs: Project, path: str) -> None:
    """Although `when` leaves them out."""
    docs.branch("change")
    text = DOCS.replace("Changes to main", "Else") if path == "aiwg.yml" else "# nothing\n"
    change = docs.commit("change", {path: text})
    refused(docs, change, "not-opened", first=change)
    docs.git("rm", "--quiet", "aiwg.yml")
    drop = docs.commit("drop")
    refused(docs, drop, "not-opened", first=change)


def test_somebody_who_lists_himself(docs: Project) -> None:
    """An unapproved change of the signers in front of what they approve."""
    approved_branch(docs, "feature", {"docs/a": "1\n"})
    docs.git("switch", "--quiet", "--detach", "origin/main")
    evil = docs.commit("evil", {".aiwg/allowed_signers": "* ssh-ed25519 AAAA\n"})
    docs.git("merge", "--quiet", "--no-ff", "-m", "Merge", "feature")
    refused(docs, docs.rev(), "not-opened", first=evil)


def test_a_policy_goes_only_by_its_own_gate(solo: Project) -> None:
    """Dropped and restored in one push, in a weaker form, it never was away."""
    solo.branch("drop")
    solo.git("rm", "--quiet", "aiwg.yml")
    drop = solo.commit("drop")
    refused(solo, drop, "not-opened", first=drop)
    approve(solo)
    weaker = SOLO.replace("Changes to main", "Nothing much")
    back = solo.commit("weaker", {"aiwg.yml": weaker})
    doc = refused(solo, back, "stale", first=back)
    assert doc["policy"] == solo.rev("main")
    passes(solo, drop)


def test_a_policy_that_comes_back_is_no_adoption(solo: Project) -> None:
    """Not even pushes later: only the first policy of a history is one."""
    solo.git("switch", "--quiet", "--detach", "main")
    solo.git("rm", "--quiet", "aiwg.yml")
    dropped = solo.commit("drop")
    solo.land()
    work = solo.commit("anything", {"a": "1\n"})
    allowed(solo, f"{work}:main")
    assert solo.gate("check", f"{dropped}..{work}", "--ref", MAIN).status == 128
    back = solo.commit("weaker", {"aiwg.yml": SOLO.replace("Changes", "No changes")})
    said = stopped(solo, f"{back}:main")
    assert f"accounts for {back[:12]} (weaker)" in said


BROKEN = {
    "no yaml": "human_gates: [",
    "unknown key": SOLO.replace("guards:", "gaurds:"),
    "twice": SOLO + "  policy_gate: main\n",
    "newer": SOLO.replace("version: 1", "version: 99"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_policy_never_lands(solo: Project, kind: str) -> None:
    """Approved or not, at the end of a push or inside it."""
    approved_branch(solo, "policy", {"aiwg.yml": BROKEN[kind]})
    broken = by_squash(solo, "policy")
    said = stopped(solo, f"{broken}:main")
    assert f"the policy of commit {broken[:12]} is not valid" in said
    assert "hint: git gate policy check" in said
    assert solo.gate("check", f"origin/main..{broken}", "--ref", MAIN).status == 128
    mended = solo.commit("mended", {"aiwg.yml": SOLO})
    assert "is not valid" in stopped(solo, f"{mended}:main")
    allowed(solo, f"{broken}:refs/heads/topic")


@pytest.fixture
def existing(templates: Templates, tmp_path: Path, home: Path) -> Project:
    """A project whose main has no policy yet; `adopt` brings one."""

    def build(folder: Path, home: Path) -> Project:
        made = plain_project()(folder, home)
        made.git("switch", "--quiet", "--orphan", "empty")
        made.commit("Old work", {"a": "1\n"})
        made.git("push", "--quiet", "--no-verify", "--force", "origin", "HEAD:main")
        made.branch("adopt")
        made.git("checkout", "main", "--", ".")
        made.commit("Adopt git-gate")
        made.git("branch", "--quiet", "-D", "main")
        made.git("branch", "--quiet", "main", "origin/main")
        return made

    return templates.copy("existing", build, tmp_path)


def test_adoption_in_an_existing_project(existing: Project) -> None:
    adopt = existing.rev()
    work = existing.commit("work", {"b": "1\n"})
    refused(existing, work, "not-opened", first=work)
    doc = passes(existing, by_merge(existing, "adopt~1"))
    assert (doc["status"], doc["reasons"]) == (
        "adoption",
        ["this brings the first policy of refs/heads/main"],
    )
    existing.git("switch", "--quiet", "--detach", "origin/main")
    refused(existing, existing.commit("next", {"c": "1\n"}), "not-opened")
    allowed(existing, f"{adopt}:refs/heads/adopt")


def test_before_the_adoption_nothing_is_gated(existing: Project) -> None:
    existing.git("switch", "--quiet", "main")
    work = existing.commit("more old work", {"a": "2\n"})
    allowed(existing, "main")
    assert existing.remote_tip() == work
    assert existing.gate("check", "HEAD~1..HEAD", "--ref", MAIN).status == 128


def test_nothing_says_where_the_policy_is(existing: Project) -> None:
    existing.git("config", "--unset", "gate.policyRef")
    said = stopped(existing, "adopt:main")
    assert "nothing says which branch holds the policy" in said
    assert "git config gate.policyRef refs/heads/main" in said
    assert "git remote set-head origin" in said
    existing.git("remote", "set-head", "origin", "main")
    allowed(existing, "adopt:main")


@pytest.fixture
def fresh(solo: Project) -> Project:
    """The remote is new and empty, and forgotten here."""
    remote = solo.remote.with_name("new.git")
    solo.git("init", "--quiet", "--bare", str(remote))
    solo.git("remote", "set-url", "origin", str(remote))
    solo.git("update-ref", "-d", "refs/remotes/origin/main")
    return replace(solo, remote=remote)


def test_a_branch_reaches_a_fresh_remote_before_main(fresh: Project) -> None:
    adoption = fresh.rev()
    fresh.branch("feature", "main")
    work = fresh.commit("work", {"a": "1\n"})
    allowed(fresh, "feature")
    assert "accounts for" in stopped(fresh, f"{work}:{MAIN}")
    allowed(fresh, f"{adoption}:{MAIN}")
    refused(fresh, work, "not-opened", first=work)


def test_a_fresh_remote_takes_main_as_it_is(fresh: Project) -> None:
    """The first ref is the adoption, with all that main holds by then."""
    fresh.commit("more", {"a": "1\n"})
    allowed(fresh, "main")
    fresh.commit("and more", {"a": "2\n"})
    refused(fresh, fresh.rev(), "not-opened", first=fresh.rev())


def test_another_policy_does_not_take_the_place_of_main(solo: Project) -> None:
    """Somebody deleted main on the server: it returns as it was, with what was approved since."""
    approved_branch(solo, "feature", {"a": "1\n"})
    passes(solo, by_ff(solo, "feature"))
    landed = solo.rev("feature")
    evil = solo.commit("evil", {"evil": "1\n"})
    other = plant(solo, evil, message="another adoption")
    there = replace(solo, top=solo.remote)
    allowed(solo, "feature:topic")
    there.git("update-ref", "-d", MAIN)
    solo.git("fetch", "--quiet", "--prune")
    solo.git("branch", "--quiet", "--force", "main", other)
    assert "has adopted another policy" in stopped(solo, f"{other}:{MAIN}")
    assert f"accounts for {evil[:12]} (evil)" in stopped(solo, f"{evil}:{MAIN}")
    allowed(solo, f"{landed}:{MAIN}")


def test_main_is_deleted_on_the_server_unseen_here(solo: Project) -> None:
    """The remote-tracking ref still says where it was."""
    administer(solo, {"m": "1\n"})
    replace(solo, top=solo.remote).git("update-ref", "-d", MAIN)
    evil = solo.commit("evil", {"evil": "1\n"})
    stopped(solo, f"{evil}:{MAIN}")


def test_the_hook_of_a_clone_that_never_ran_init(solo: Project, tmp_path: Path) -> None:
    """`git clone` leaves the default branch, and that is the policy ref."""
    made = replace(solo, top=tmp_path / "clone")
    solo.git("clone", "--quiet", str(solo.remote), str(made.top))
    hooks.install(made.top / ".git" / "hooks", made.top / ".git", program())
    work = made.commit("work", {"a": "1\n"})
    refused(made, work, "not-opened", first=work)
