"""Hazards 4, 11 and 27: a change of the rules by which the change is judged."""

from __future__ import annotations

from pathlib import Path

import pytest
from forger import (
    all_refused,
    approved,
    blocked,
    decided,
    passes,
    push_lands,
    push_refused,
    record,
    request_of,
    show,
    word,
    work,
)
from support.project import SOLO, TEAM, Project, make_project, person

PEOPLE = (("Ada Lovelace", "ada@example.com"), ("Bob Babbage", "bob@example.com"))
DOCS_ONLY = SOLO.replace(
    "guards: [refs/heads/main]\n", "guards: [refs/heads/main]\n      when: ['docs/**']\n"
)


def test_the_change_allows_itself(team: Project) -> None:
    """4: Ada's change lets authors approve, and she approves it."""
    ada, bob = team.people["ada"], team.people["bob"]
    team.be(ada)
    work(team, **{"aiwg.yml": TEAM.replace("self_approval: false", "self_approval: true")})
    team.gate("open").ok()
    refused = team.gate("approve")
    assert refused.status == 1
    assert "the gate takes no self-approval" in refused.err
    request = request_of(team)
    decided(team, request, record(word(request, ada), ada))
    blocked(team, "pending", "nobody has approved it yet")
    push_refused(team, "pending")
    team.be(bob)
    team.gate("approve").ok()
    push_lands(team)
    team.be(ada)
    approved(team, "next", **{"next.md": "mine\n"})
    passes(team)


def test_the_change_lists_its_own_signer(team: Project, home: Path) -> None:
    """4: Mallory's change lists Mallory's key, under a new name or as Bob's second one."""
    mallory, bob = person("Mallory", "mallory@example.com", home), team.people["bob"]
    signers = (team.top / ".aiwg" / "allowed_signers").read_text()
    for branch, line in (
        ("new-name", mallory.line()),
        ("second-key", f"{bob.email} {mallory.line().split(' ', 1)[1]}"),
        ("anybody", f"* {mallory.line().split(' ', 1)[1]}"),
    ):
        work(team, branch, **{".aiwg/allowed_signers": f"{signers}{line}\n"})
        team.gate("open").ok()
        team.be(mallory)
        refused = team.gate("approve")
        assert refused.status == 1
        assert "is not listed in .aiwg/allowed_signers of the policy commit" in refused.err
        request = request_of(team, subject=branch)
        decided(team, request, record(word(request, mallory, subject=branch), mallory),
                subject=branch)  # fmt: skip
        blocked(team, "pending", "nobody has approved it yet")
        [one] = show(team, subject=branch)["decisions"]
        assert (one["by"], one["signature"], one["counts"]) == (None, "unknown-key", False)
        team.be(team.people["agent"], signs=False)
    push_refused(team, "pending")
    team.git("switch", "--quiet", "new-name")
    team.be(bob)
    team.gate("approve").ok()
    push_lands(team)
    team.be(mallory)
    team.git("fetch", "--quiet", "origin")
    team.branch("later")
    team.commit("by the agent", {"later.md": "x\n"}, author="Agent <agent@example.com>")
    team.be(team.people["agent"], signs=False)
    team.git("commit", "--quiet", "--amend", "--no-edit", "--reset-author")
    team.gate("open").ok()
    team.be(mallory)
    team.gate("approve").ok()
    passes(team)


def test_the_change_renames_its_author(team: Project) -> None:
    """4: a mailmap in the change makes Ada's commits the agent's."""
    ada, bob = team.people["ada"], team.people["bob"]
    team.be(ada)
    work(team, **{".mailmap": "Agent <agent@example.com> <ada@example.com>\n"})
    team.be(team.people["agent"], signs=False)
    team.gate("open").ok()
    team.be(ada)
    assert team.gate("approve").status == 1
    request = request_of(team)
    decided(team, request, record(word(request, ada), ada))
    blocked(team, "pending", "nobody has approved it yet")
    team.be(bob)
    team.gate("approve").ok()
    passes(team)


def test_the_change_brings_its_own_hook(project: Project) -> None:
    """4: hooks are kept in the repository, and the change replaces the one that judges it."""
    ours = (project.top / ".git" / "hooks" / "pre-push").read_text()
    project.git("config", "core.hooksPath", ".githooks")
    project.commit("hooks for all", {".githooks/pre-push": ours})
    (project.top / ".githooks" / "pre-push").chmod(0o755)
    project.commit("its run bit")
    project.land()
    assert project.gate("hook", "status").status == 0
    work(project, **{".githooks/pre-push": "#!/bin/sh\nexit 0\n"})
    assert project.gate("hook", "status", "--json").json["state"] == "foreign"
    doctor = project.gate("doctor")
    assert doctor.status == 1
    assert "the pre-push hook is foreign: nothing is checked before a push" in doctor.out
    blocked(project, "not-opened")
    project.git("switch", "--quiet", "main")
    push_refused(project, "not-opened", refspec="feature:refs/heads/main")


@pytest.mark.parametrize("path", ["aiwg.yml", ".aiwg/allowed_signers", ".mailmap"])
def test_policy_files_outside_of_when(tmp_path: Path, home: Path, path: str) -> None:
    """27: the gate has `when: docs/**`, and the change touches only the rules."""
    project = make_project(tmp_path, home, DOCS_ONLY)
    there = project.top / path
    before = there.read_text() if there.exists() else ""
    work(project, "free", **{"src/a.c": "int a;\n"})
    passes(project, "not-needed")
    work(project, **{path: before + "# a comment\n"})
    blocked(project, "not-opened", "no gate `main` was opened for it")
    project.gate("open").ok()
    project.gate("approve").ok()
    passes(project)


def test_a_policy_gate_that_guards_nothing_else(tmp_path: Path, home: Path) -> None:
    """4, 27: `policy_gate` names a gate that does not guard main: it guards the rules there."""
    policy = DOCS_ONLY.replace("policy_gate: main", "policy_gate: rules").replace(
        "  policy_gate",
        "    rules:\n      title: The rules\n      guards: [refs/heads/other]\n"
        "      approvals: {self_approval: true}\n  policy_gate",
    )
    project = make_project(tmp_path, home, policy)
    work(project, **{"aiwg.yml": policy.replace("docs/**", "none/**")})
    blocked(project, "not-opened", "no gate `rules` was opened for it")
    project.gate("open", "rules", "--target", "main").ok()
    project.gate("approve", "rules").ok()
    push_lands(project)


def test_changed_in_one_push_and_used_in_the_next(team: Project) -> None:
    """27: first a landing of laxer rules, then what only they would allow."""
    ada, bob = team.people["ada"], team.people["bob"]
    team.be(ada)
    lax = work(team, **{"aiwg.yml": TEAM.replace("self_approval: false", "self_approval: true")})
    mine = team.commit("mine", {"mine.md": "x\n"})
    team.gate("open", "--subject", "lax", "--commit", lax).ok()
    team.gate("open", "--subject", "mine", "--commit", mine, "--base", lax).ok()
    request = request_of(team, subject="mine")
    decided(team, request, record(word(request, ada, subject="mine"), ada), subject="mine")
    blocked(team, "pending", moves=f"origin/main..{lax}")
    blocked(team, "pending", moves=f"origin/main..{mine}")
    push_refused(team, "pending")
    team.be(bob)
    team.gate("approve", "--subject", "lax").ok()
    passes(team, moves=f"origin/main..{lax}")
    passes(team, moves=f"origin/main..{mine}")


def test_stricter_rules_hold_from_the_next_stretch_on(project: Project) -> None:
    """27: one push brings stricter rules and, behind them, what only the old ones would allow."""
    strict = SOLO.replace("self_approval: true", "required: 2, self_approval: true")
    approved(project, "mine")
    passes(project)
    approved(project, "strict", **{"aiwg.yml": strict})
    project.git("merge", "--quiet", "--no-edit", "mine")
    passes(project, moves="origin/main..HEAD~1")
    blocked(project, "blocked", "2 must approve and only 1 may")
    push_refused(project, "blocked", "2 must approve and only 1 may")


def test_dropped_and_restored_inside_one_push(project: Project) -> None:
    """27: the rules go, something lands that they guard, and the rules come back."""
    work(project)
    rules = (project.top / "aiwg.yml").read_text()
    (project.top / "aiwg.yml").unlink()
    gone = project.commit("away with them")
    project.commit("evil", {"evil.md": "evil\n"})
    project.commit("here they are", {"aiwg.yml": rules})
    first = project.rev("HEAD~3")
    blocked(project, "not-opened", f"accounts for {first[:12]}")
    push_refused(project, "not-opened")
    project.gate("open", "--subject", "all").ok()
    blocked(project, "pending")
    project.gate("approve", "--subject", "all").ok()
    blocked(project, "not-opened", moves=f"origin/main..{gone}")
    passes(project)


def test_dropped_for_good(project: Project) -> None:
    """27: no rules, by a deletion, an empty file, or without the key: it takes the old ones."""
    for branch, text in (("deleted", None), ("emptied", ""), ("keyless", "other: 1\n")):
        work(project, branch)
        if text is None:
            (project.top / "aiwg.yml").unlink()
        else:
            project.write("aiwg.yml", text)
        project.commit("no rules")
        blocked(project, "not-opened")
    all_refused(project, ("deleted:refs/heads/main", "not-opened", "no gate `main` was opened"))
    project.gate("open").ok()
    project.gate("approve").ok()
    passes(project)


def test_dropped_and_adopted_anew(project: Project) -> None:
    """27: once the rules are gone, laxer ones are no adoption: the last ones judge them."""
    approved(project, "gone", **{"aiwg.yml": "other: 1\n"})
    push_lands(project)
    lax = SOLO.replace("self_approval: true", "required: 1, self_approval: true")
    project.branch("around", "origin/main~1")
    project.commit("a history without the landing", {"aiwg.yml": lax})
    push_refused(project, "blocked", "does not lie: commits of refs/heads/main would leave")
    work(project, "return", **{"aiwg.yml": lax})
    blocked(project, "not-opened")
    push_refused(project, "not-opened")


HOSTILE = {
    "a key twice": (SOLO + "  policy_gate: main\n", "policy_gate"),
    "an alias": (SOLO.replace("[refs/heads/main]", "&a [refs/heads/main]"), "anchor"),
    "a bomb": (
        SOLO + "  groups:\n" + "".join(f"    b{n}: &b{n} [*b, *b, *b]\n" for n in range(500)),
        "",
    ),
    "an object": (SOLO.replace("version: 1", "version: !!python/object/apply:os.getpid []"), ""),
    "a boolean name": (SOLO.replace("    main:\n", "    no:\n").replace(": main\n", ": no\n"), ""),
    "a number name": (SOLO.replace("    main:\n", "    0777:\n"), ""),
    "a date title": (SOLO.replace("Changes to main", "2025-12-01"), ""),
    "deep nesting": (SOLO + "  groups: " + "[" * 5000 + "]" * 5000 + "\n", ""),
    "a newer version": (SOLO.replace("version: 1", "version: 99"), "upgrade"),
    "a misspelt key": (SOLO.replace("guards:", "gaurds:"), "guards"),
    "no UTF-8": (SOLO + "  # \udcff\n", ""),
}


def test_hostile_yaml(project: Project) -> None:
    """11: a policy that would read as something else than it looks cannot land, even approved."""
    said = {}
    for number, (name, (text, hint)) in enumerate(HOSTILE.items()):
        work(project, f"bad-{number}")
        (project.top / "aiwg.yml").write_bytes(text.encode("utf-8", "surrogateescape"))
        project.commit(name)
        checked = project.gate("policy", "check", "--json")
        assert checked.status == 1, name
        said[name] = checked.json["problems"]
        assert any(hint in one for one in said[name]), (name, said[name])
        refused = project.gate("check", "origin/main..HEAD")
        assert refused.status == 128, name
        assert "is not valid: aiwg.yml:" in refused.err, name
    project.gate("open").ok()
    project.gate("approve").ok()
    push_refused(project, "blocked", "is not valid: aiwg.yml:")
    work(project, "good", **{"aiwg.yml": SOLO.replace("Changes to main", "'2025-12-01'")})
    project.gate("open").ok()
    project.gate("approve").ok()
    push_lands(project)
