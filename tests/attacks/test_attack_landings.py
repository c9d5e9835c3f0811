"""Hazards 18, 23, 24 and 25: what lands is not what was approved."""

from __future__ import annotations

import os
from dataclasses import replace

from forger import (
    MAIN,
    all_refused,
    append,
    approved,
    asked_anew,
    blocked,
    passes,
    push_lands,
    push_refused,
    request_of,
    show,
    work,
)
from support.project import Project

from gitgate.core.events import EventName
from gitgate.core.request import Deliverable


def _merged(project: Project, branch: str = "feature") -> None:
    """HEAD is main with the branch about to be merged into it, not yet committed."""
    project.git("switch", "--quiet", "--detach", "origin/main")
    project.git("merge", "--quiet", "--no-ff", "--no-commit", branch)


def test_smuggled_into_a_merge(project: Project) -> None:
    """18: a line, a mode bit, a symlink, a submodule pointer, a deletion, hidden in the merge."""
    project.commit("more to change", {"run.sh": "echo\n", "a/b.txt": "b\n"})
    project.land()
    approved(project)
    oid = project.rev("HEAD:README.md")
    smuggled = (
        ("a/b.txt", "100644", oid),
        ("run.sh", "100755", project.rev("HEAD:run.sh")),
        ("README.md", "120000", oid),
        ("vendor", "160000", project.rev("origin/main")),
        ("feature.md", "100644", oid),
        ("run.sh/evil", "100644", oid),
        ("new.md", "100644", oid),
        ("docs/.gitattributes", "100644", oid),
    )
    for path, mode, content in smuggled:
        _merged(project)
        project.git("rm", "--cached", "--quiet", "--ignore-unmatch", path.removesuffix("/evil"))
        project.git("update-index", "--add", "--cacheinfo", f"{mode},{content},{path}")
        project.git("commit", "--quiet", "--message", f"Merge feature ({path})")
        blocked(project, "blocked", "this is not the merge of that", "it differs at", path)
        if path == "run.sh":
            push_refused(project, "blocked", "it differs at run.sh")
        project.git("clean", "--quiet", "--force", "-dx")
        project.git("switch", "--quiet", "--discard-changes", "feature")
    _merged(project)
    project.git("commit", "--quiet", "--message", "Merge feature")
    passes(project)
    push_lands(project)


def test_a_second_landing_behind_an_approved_one(project: Project) -> None:
    """18: one push, two landings, the first approved."""
    approved(project)
    project.commit("evil", {"evil.md": "evil\n"})
    found = blocked(project, "stale", "newer work came on top of it")
    assert f"accounts for {project.rev()[:12]} (evil)" in found["reasons"][0]
    _merged(project, "feature~1")
    project.git("commit", "--quiet", "--message", "Merge feature")
    merge = project.rev()
    project.commit("evil", {"evil.md": "evil\n"})
    blocked(project, "not-opened", f"accounts for {project.rev()[:12]} (evil)")
    push_refused(project, "not-opened", "(evil)")
    push_lands(project, f"{merge}:{MAIN}")


def test_approved_once_landed_twice(project: Project) -> None:
    """18, 24: land, revert, land again; and the same inside one push."""
    approved(project)
    work_commit = project.rev()
    push_lands(project)
    approved(project, "revert", **{"README.md": "# Reverted\n"})
    project.git("rm", "--quiet", "feature.md")
    project.commit("Revert it")
    project.gate("open").ok()
    project.gate("approve").ok()
    push_lands(project)
    project.branch("again")
    project.git("checkout", "--quiet", work_commit, "--", "feature.md")
    project.commit("the same again")
    once = "main feature was approved and has landed before: one approval is for one landing"
    blocked(project, "blocked", once)
    project.git("switch", "--quiet", "--create", "picked", "origin/main")
    project.git("cherry-pick", work_commit)
    blocked(project, "blocked", once)
    push_refused(project, "blocked", once)
    project.gate("open").ok()
    project.gate("approve").ok()
    push_lands(project)


def test_evil_and_undo(project: Project) -> None:
    """24: an evil step and its undoing, inside of what is approved, before it, and behind it."""
    approved(project)
    good = project.rev()
    evil = {"feature.md": "# evil\n", "evil.md": "evil\n"}
    project.git("switch", "--quiet", "--detach", "origin/main")
    project.commit("evil", {"evil.md": "evil\n"})
    first = project.rev()
    project.git("rm", "--quiet", "evil.md")
    project.commit("undo", {"feature.md": "# feature\n"})
    blocked(project, "blocked", f"accounts for {first[:12]} (evil)")
    push_refused(project, "blocked", f"accounts for {first[:12]} (evil)")
    project.git("switch", "--quiet", "--detach", good)
    project.commit("evil", evil)
    project.git("rm", "--quiet", "evil.md")
    project.commit("undo", {"feature.md": "# feature\n"})
    blocked(project, "stale", f"accounts for {project.rev('HEAD~1')[:12]} (evil)")
    passes(project, moves=f"origin/main..{good}")


def test_evil_and_undo_on_the_reviewed_branch(project: Project) -> None:
    """24: what the branch itself held on its way was reviewed; as one merge it never lands."""
    work(project)
    project.commit("a draft", {"draft.md": "draft\n"})
    project.git("rm", "--quiet", "draft.md")
    project.commit("without the draft")
    project.gate("open").ok()
    project.gate("approve").ok()
    passes(project)


def test_a_base_that_hides_work(project: Project) -> None:
    """23: the opener chooses a base that already has the evil, so nobody is shown it."""
    work(project, **{"evil.md": "evil\n"})
    project.commit("harmless", {"harmless.md": "x\n"})
    project.gate("open", "--base", "HEAD~1").ok()
    shown = project.gate("show", "--json").ok().json["deliverables"]
    assert [one["path"] for one in shown] == ["harmless.md"]
    project.gate("approve").ok()
    blocked(project, "blocked", "this is not the merge of that", "it differs at evil.md")
    push_refused(project, "blocked", "it differs at evil.md")
    _merged(project)
    project.git("commit", "--quiet", "--message", "Merge feature")
    blocked(project, "blocked", "it differs at evil.md")
    project.git("switch", "--quiet", "--create", "only", "origin/main")
    project.git("cherry-pick", "feature")
    passes(project)


def test_a_request_that_hides_what_it_asks(project: Project) -> None:
    """23, 28: an opener's own request names other deliverables than are under review."""
    work(project, **{"evil.md": "evil\n", "good.md": "good\n"})
    project.gate("open").ok()
    known = request_of(project)
    honest = asked_anew(project, known, "main", "feature")
    evil, good = honest.deliverables
    for shown in ((), (good,), (good, replace(evil, oid=good.oid)), (evil, good, _no_file(good))):
        append(project, EventName.ITERATED, asked=replace(
            honest, nonce=os.urandom(16).hex(), deliverables=shown))  # fmt: skip
        [warning] = show(project)["warnings"]
        assert warning.startswith("the request does not name what is under review as it is there")
        refused = project.gate("approve")
        assert (refused.status, "does not name what is under review" in refused.err) == (1, True)
        blocked(project, "pending")
    assert project.gate("open", "--json").ok().json["result"] == "iterated"
    assert show(project)["warnings"] == []
    project.gate("approve").ok()
    passes(project)


def _no_file(like: Deliverable) -> Deliverable:
    return replace(like, path=b"none.md")


def test_a_base_beside_main(project: Project) -> None:
    """23: a base with an old README makes the review of a revert look like nothing."""
    project.commit("a better readme", {"README.md": "# Better\n"})
    project.land()
    project.branch("feature", "origin/main~1")
    project.commit("harmless", {"harmless.md": "x\n"})
    project.gate("open").ok()
    project.gate("approve").ok()
    project.git("switch", "--quiet", "--detach", "origin/main")
    project.git("merge", "--quiet", "--no-edit", "--strategy", "ours", "feature")
    project.git("checkout", "--quiet", "feature", "--", ".")
    project.git("commit", "--quiet", "--amend", "--no-edit")
    blocked(project, "blocked", "it differs at README.md")
    push_refused(project, "blocked", "it differs at README.md")
    _merged(project)
    project.git("commit", "--quiet", "--message", "Merge feature")
    push_lands(project)


def test_ours_that_reverts_main(project: Project) -> None:
    """23: the branch merges main with `-s ours`, so that landing it takes main's work back."""
    approved(project)
    project.git("switch", "--quiet", "main")
    project.commit("meanwhile", {"meanwhile.md": "x\n"})
    project.land()
    project.git("switch", "--quiet", "feature")
    good = project.rev()
    project.git("merge", "--quiet", "--no-edit", "--strategy", "ours", "origin/main")
    _merged(project)
    project.git("commit", "--quiet", "--message", "Merge feature")
    found = blocked(project, "stale", "newer work came on top of it")
    assert any("meanwhile.md" in one for one in found["reasons"])
    project.git("switch", "--quiet", "feature")
    project.gate("open").ok()
    shown = project.gate("show", "--json").ok().json
    assert shown["iteration"] == 2
    blocked(project, "blocked", "does not lie")
    project.git("reset", "--quiet", "--hard", good)
    project.gate("open").ok()
    project.gate("approve").ok()
    _merged(project)
    project.git("commit", "--quiet", "--message", "Merge feature")
    push_lands(project)


def test_a_fast_forward_that_hides_main(project: Project) -> None:
    """25: a branch that merged main into itself, pushed as it is, hides main's commits."""
    work(project)
    project.git("switch", "--quiet", "main")
    project.commit("nobody authorised this", {"sneaky.md": "x\n"})
    project.land()
    project.git("switch", "--quiet", "feature")
    project.git("merge", "--quiet", "--no-edit", "origin/main")
    project.gate("open").ok()
    project.gate("approve").ok()
    blocked(project, "blocked", "commits of refs/heads/main would leave its own history")
    push_refused(project, "blocked", "commits of refs/heads/main would leave its own history")
    assert "ff" not in project.gate("check", "--json").json["methods"]
    _merged(project)
    project.git("commit", "--quiet", "--message", "Merge feature")
    push_lands(project)


def test_rewound_or_deleted(project: Project) -> None:
    """25: main goes back, sideways, or away."""
    approved(project)
    push_lands(project)
    all_refused(project, (f"{MAIN}:{MAIN}", "blocked", "would leave its own history"))
    all_refused(project, (f":{MAIN}", "blocked", "holds the policy and may not be deleted"))
    project.git("switch", "--quiet", "--detach", "HEAD~1")
    project.commit("sideways", {"x": "x\n"})
    blocked(project, "blocked", "would leave its own history")


def test_every_ref_of_a_push_is_judged(project: Project) -> None:
    """18: the guarded ref stands behind others in one push, under another local name."""
    work(project, **{"evil.md": "evil\n"})
    project.git("tag", "nice")
    pushed = project.push(
        "--atomic", "HEAD:refs/heads/one", "nice", "HEAD~0:refs/heads/main", "HEAD:refs/heads/two"
    )
    assert pushed.status == 1
    assert pushed.err.count("may not move") == 1
    assert not project.remote_tip("one")
    project.push("HEAD:refs/heads/one", "nice", "HEAD:refs/heads/two").ok()
