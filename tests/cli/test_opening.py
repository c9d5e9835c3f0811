"""`open`: what is put up, from where to where, and when there is nothing to put up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from landkit import another_clone, approved
from outputs import ADA, Clock, Names, same
from support.project import SOLO, Answer, Project, make_project

TIMED = SOLO.replace("timeout_minutes: 0", "timeout_minutes: 60")


def opened(project: Project, *args: str) -> dict[str, Any]:
    document: dict[str, Any] = project.gate("open", "--json", *args).ok().json
    return document


def told(project: Project, *args: str) -> tuple[str, int]:
    """The result and the iteration of `open`."""
    document = opened(project, *args)
    return document["result"], document["iteration"]


def fails(answer: Answer, status: int, message: str, hint: str) -> None:
    same(answer.err, f"git-gate: {message}\nhint: {hint}\n")
    assert (answer.status, answer.out) == (status, "")


def test_opening_twice_asks_once(project: Project, clock: Clock) -> None:
    project.branch("feature")
    nothing = project.gate("open").ok()
    assert nothing.out == "gate main is not needed: nothing that it compares changes\n"
    assert project.gate("open", "--json").ok().json == {
        "schema": 1,
        "gate": "main",
        "result": "not-needed",
    }
    project.commit("One", {"page.md": "# Page\n"})
    assert told(project) == ("opened", 1)
    ledger = project.rev(project.ledger())
    assert told(project) == ("already-open", 1)
    project.git("commit", "--quiet", "--amend", "-m", "The same under another name")
    assert told(project) == ("already-open", 1)
    project.commit("Nothing at all")
    assert told(project) == ("already-open", 1)
    assert project.rev(project.ledger()) == ledger
    project.commit("Two", {"page.md": "# Page two\n"})
    assert told(project) == ("iterated", 2)
    project.gate("approve").ok()
    assert told(project) == ("already-approved", 2)
    project.commit("Three", {"page.md": "# Page three\n"})
    assert told(project) == ("iterated", 3)
    project.gate("reject", "-m", "no").ok()
    fails(
        project.gate("open"),
        1,
        f"nothing is new since main of feature was rejected: {ADA} rejected it",
        "change the work, commit it, then git gate open",
    )
    project.git("reset", "--quiet", "--hard", "HEAD~1")
    assert told(project) == ("iterated", 4)
    still = project.gate("show", "--json").ok().json
    assert (still["status"], still["decisions"][0]["counts"]) == ("open", True)


def test_what_was_rejected_stays_rejected_when_it_comes_back(
    project: Project, clock: Clock
) -> None:
    """A-B-A: the content of iteration 1 again, after iteration 2 was approved."""
    project.branch("feature")
    bad = project.commit("Bad", {"page.md": "bad\n"})
    opened(project)
    project.gate("reject", "-m", "bad").ok()
    project.commit("Good", {"page.md": "good\n"})
    opened(project)
    project.gate("approve").ok()
    project.git("reset", "--quiet", "--hard", bad)
    assert told(project) == ("iterated", 3)
    approved = project.gate("approve").ok()
    assert (
        f"still blocked: {ADA} rejected the same content as iteration 1 of feature\n"
        in approved.out
    )
    assert "the instance is now rejected\n" in approved.out
    assert project.gate("wait").status == 11
    check = project.gate("check")
    assert check.status == 11
    assert f"    {ADA} rejected the same content as iteration 1 of feature" in check.out
    same(
        check.err,
        f"hint: {ADA} can lift it: git gate retract main --subject feature --iteration 1; else"
        " change the work\n",
    )
    project.gate("retract", "--iteration", "1").ok()
    assert project.gate("check").ok()


def test_after_the_end_of_a_life_the_next_one_begins(project: Project, clock: Clock) -> None:
    project.branch("feature")
    project.commit("One", {"page.md": "one\n"})
    opened(project)
    project.gate("withdraw").ok()
    assert told(project) == ("opened", 1)
    project.gate("quit").ok()
    assert told(project) == ("opened", 1)
    project.gate("approve").ok()
    project.push("HEAD:refs/heads/main").ok()
    landed = project.gate("open").ok().out
    assert landed == "gate main is not needed: nothing that it compares changes\n"
    project.commit("Two", {"page.md": "two\n"})
    answer = project.gate("open").ok()
    names = Names(project, tip=project.rev("origin/main"))
    first, second, *_ = names(answer.out).split("\n")
    assert first == "iteration 1 has landed on refs/heads/main as tip........."
    assert second == "opened gate main for feature: iteration 1"
    events = project.gate("log", "--json").ok().json["events"]
    assert [event["event"] for event in events] == [
        *("opened", "withdrawn", "opened", "decided", "opened", "decided", "landed", "opened")
    ]
    assert all(event["ignored"] is None for event in events)


def landed_elsewhere(project: Project) -> Project:
    """Another clone has landed the work; this one has its ledger by now, and an older main."""
    approved(project)
    project.gate("sync").ok()
    other = another_clone(project)
    other.gate("land", "--subject", "feature").ok()
    old = project.rev("origin/main")
    project.gate("sync").ok()
    assert project.rev("origin/main") == old
    project.commit("More", {"more.md": "more\n"})
    return other


def events(project: Project) -> list[str]:
    told = project.gate("log", "--subject", "feature", "--json").ok().json["events"]
    return [event["event"] for event in told]


@pytest.mark.parametrize("has_the_commit", [False, True])
def test_what_landed_on_a_main_that_is_not_fetched_yet_has_ended(
    project: Project, has_the_commit: bool
) -> None:
    landed_elsewhere(project)
    if has_the_commit:
        project.git("fetch", "--quiet", str(project.remote), "main")
    assert told(project) == ("opened", 1)
    assert events(project) == ["opened", "decided", "landed", "opened"]
    assert project.rev("origin/main") == project.remote_tip()
    base = project.gate("show", "--json").ok().json["base"]
    assert base == project.rev("feature~1"), "the work starts where the landed one ends"


def test_where_the_remote_does_not_answer_nothing_is_opened_on_an_old_main(
    project: Project,
) -> None:
    landed_elsewhere(project)
    new = project.remote_tip()
    away = project.remote.rename(project.remote.with_name("away.git"))
    before = project.git("for-each-ref").out
    answer = project.gate("open")
    assert (answer.status, answer.out) == (128, "")
    assert answer.err.startswith(
        f"git-gate: main of feature has landed on refs/heads/main as {new[:12]}, by its ledger, and"
        " that cannot be looked at: origin cannot be reached: "
    )
    assert answer.err.endswith("\nhint: git fetch origin\n")
    assert project.git("for-each-ref").out == before
    away.rename(project.remote)
    project.git("fetch", "origin")
    assert told(project) == ("opened", 1)


def test_a_landing_that_was_taken_off_main_again_ends_nothing(project: Project) -> None:
    landed_elsewhere(project)
    old = project.rev("origin/main")
    project.git("push", "--quiet", "--no-verify", "--force", "origin", f"{old}:refs/heads/main")
    assert told(project) == ("iterated", 2)


def test_an_expired_request_is_asked_again_with_the_same_content(
    tmp_path: Path, home: Path, clock: Clock
) -> None:
    project = make_project(tmp_path, home, TIMED)
    project.branch("feature")
    project.commit("One", {"page.md": "one\n"})
    opened(project)
    clock.later(minutes=61)
    assert told(project) == ("iterated", 2)
    assert project.gate("show", "--json").ok().json["deadline"] == "2025-12-01T07:01:00Z"


def test_the_base_is_the_merge_base_or_what_was_said(project: Project, clock: Clock) -> None:
    start = project.rev("origin/main")
    project.branch("feature")
    one = project.commit("One", {"one.md": "one\n"})
    two = project.commit("Two", {"two.md": "two\n"})
    assert opened(project)["base"] == start
    part = opened(project, "--base", one)
    assert (part["base"], part["work"], part["iteration"]) == (one, two, 2)
    assert [item["path"] for item in part["deliverables"]] == ["two.md"]
    earlier = opened(project, "--commit", one, "--subject", "part")
    assert (earlier["work"], earlier["base"]) == (one, start)
    project.git("switch", "--quiet", "--create", "side", start)
    other = project.commit("Other", {"other.md": "x\n"})
    answer = project.gate("open", "--base", two)
    fails(
        answer,
        129,
        f"the base {two[:12]} is no ancestor of the work commit {other[:12]}",
        f"git gate open --base $(git merge-base {two[:12]} {other[:12]})",
    )
    for rev in ("nonsense", "--output=x"):
        for option in ("--base", "--commit"):
            answer = project.gate("open", f"{option}={rev}")
            assert (answer.status, answer.out) == (129, "")
            assert answer.err.startswith(f"git-gate: {rev!r} names no commit here\nhint: ")


def test_several_merge_bases_are_asked_about(project: Project, clock: Clock) -> None:
    project.branch("feature")
    one = project.commit("One", {"one.md": "one\n"})
    project.git("switch", "--quiet", "main")
    two = project.commit("Two", {"two.md": "two\n"})
    project.git("merge", "--quiet", "--no-edit", one)
    project.land()
    project.git("switch", "--quiet", "feature")
    project.git("merge", "--quiet", "--no-edit", two)
    work = project.commit("Three", {"three.md": "three\n"})
    answer = project.gate("open")
    bases = project.git("merge-base", "--all", "origin/main", "HEAD").out.split()
    assert set(bases) == {one, two}
    assert (answer.status, answer.out) == (129, "")
    assert f"refs/heads/main and {work[:12]} have 2 merge bases (" in answer.err
    assert answer.err.endswith(
        "): say which one the reviewed work starts from\nhint: git gate open --base REF\n"
    )
    assert opened(project, "--base", two)["base"] == two


def test_no_common_history_and_no_target(tmp_path: Path, home: Path, clock: Clock) -> None:
    policy = SOLO.replace("[refs/heads/main]", '[refs/heads/main, "refs/heads/release/*"]')
    project = make_project(tmp_path, home, policy)
    project.branch("feature")
    project.commit("One", {"one.md": "one\n"})
    fails(
        project.gate("open", "--target", "release/1"),
        129,
        "refs/heads/release/1 does not exist yet, so nothing says where the reviewed work starts",
        "git gate open --base REF",
    )
    fails(
        project.gate("open", "--target", "other"),
        129,
        "no gate guards refs/heads/other",
        "main guards refs/heads/main, refs/heads/release/*",
    )
    fails(
        project.gate("open", "main", "--target", "other"),
        129,
        "gate `main` does not guard refs/heads/other",
        "it guards refs/heads/main, refs/heads/release/*",
    )
    base = project.rev("origin/main")
    created = opened(project, "--target", "release/1", "--base", base, "--subject", "release")
    assert created["target"] == "refs/heads/release/1"
    project.git("switch", "--quiet", "--orphan", "alone")
    alone = project.commit("Alone", {"alone.md": "x\n"})
    fails(
        project.gate("open"),
        129,
        f"refs/heads/main and {alone[:12]} have 0 merge bases (none): say which one the reviewed"
        " work starts from",
        "git gate open --base REF",
    )


def test_merging_main_into_the_branch_voids_nothing(project: Project, clock: Clock) -> None:
    project.branch("feature")
    project.commit("One", {"one.md": "one\n"})
    opened(project)
    project.gate("approve").ok()
    project.git("switch", "--quiet", "main")
    project.commit("Elsewhere", {"elsewhere.md": "x\n"})
    project.land()
    project.git("switch", "--quiet", "feature")
    project.git("merge", "--quiet", "--no-edit", "origin/main")
    assert told(project) == ("already-approved", 1)
    check = project.gate("check", "--json").ok().json
    assert (check["status"], "merge" in check["methods"]) == ("satisfied", True)
    project.commit("An edit on top", {"elsewhere.md": "y\n"})
    assert told(project) == ("iterated", 2)
    assert project.gate("check").status == 10


def test_deliverables_are_what_the_change_leaves_in_the_work(
    tmp_path: Path, home: Path, clock: Clock
) -> None:
    policy = SOLO.replace("approvals:", 'deliverables: ["docs/**"]\n      approvals:')
    project = make_project(tmp_path, home, policy)
    project.commit("Old", {"docs/old.md": "# Old\n", "docs/gone.md": "# Gone\n"})
    project.land()
    project.branch("feature")
    (project.top / "docs/gone.md").unlink()
    (project.top / "docs/link").symlink_to("old.md")
    project.commit(
        "Work",
        {
            "docs/front.md": "---\ntitle: x\n---\n\n# After the front matter\n",
            "docs/code.py": '#!/usr/bin/env python\n"""Say hello."""\n',
            "docs/long.md": "# " + "long " * 50 + "\n",
            "docs/null.bin": "\0",
            "docs/empty": "",
            "src/main.py": "x\n",
        },
    )
    document = opened(project)
    found = {item["path"]: item["description"] for item in document["deliverables"]}
    assert found == {
        "docs/code.py": "Say hello.",
        "docs/empty": "",
        "docs/front.md": "After the front matter",
        "docs/link": "",
        "docs/long.md": ("long " * 50).strip()[:99] + "…",
        "docs/null.bin": "",
    }
    assert document["context"]["artifact_count"] == 6
    for item in document["deliverables"]:
        assert item["oid"] == project.rev(f"HEAD:{item['path']}")


def test_of_several_gates_one_is_named(tmp_path: Path, home: Path, clock: Clock) -> None:
    policy = SOLO.replace(
        "  policy_gate",
        "    docs:\n      guards: [refs/heads/main]\n      when: [docs/**]\n"
        "      approvals: {self_approval: true}\n  policy_gate",
    )
    project = make_project(tmp_path, home, policy)
    project.branch("feature")
    project.commit("Docs", {"docs/a.md": "# A\n"})
    fails(
        project.gate("open"),
        129,
        "name the gate: 2 gates fit (main, docs)",
        "such as git gate open main",
    )
    assert told(project, "docs") == ("opened", 1)
    assert project.gate("show", "--json").ok().json["gate"] == "docs"
    assert told(project, "main") == ("opened", 1)
    fails(
        project.gate("approve"),
        129,
        "name the gate: 2 gates of feature fit (main, docs)",
        "such as git gate show main",
    )
    project.gate("approve", "docs").ok()
    check = project.gate("check", "--json")
    assert (check.status, check.json["status"]) == (10, "pending")
    assert [(row["gate"], row["status"]) for row in check.json["gates"]] == [
        ("main", "pending"),
        ("docs", "satisfied"),
    ]
    project.gate("skip", "main", "-m", "hurry").ok()
    check = project.gate("check", "--json").ok().json
    assert check["status"] == "skipped"
    project.gate("reject", "docs", "-m", "on second thoughts").ok()
    assert project.gate("check").status == 11
    for name, message in (
        ("nope", "the policy of commit {} has no gate 'nope'; it has: main, docs"),
        ("No.", "'No.' is no gate id"),
    ):
        answer = project.gate("open", name)
        assert (answer.status, answer.out) == (129, "")
        said = message.format(project.rev("origin/main")[:12])
        assert answer.err.startswith(f"git-gate: {said}\nhint: ")


def test_what_the_asking_side_says_has_a_form(project: Project, clock: Clock) -> None:
    project.branch("feature")
    project.commit("Work", {"a.md": "a\n"})
    document = opened(project, "-m", "Two\n\nparagraphs", "--agent", "claude")
    assert (document["summary"], document["agent"]) == ("Two\n\nparagraphs", "claude")
    assert "the asking side says: Two\\n\\nparagraphs" in project.gate("show").ok().out
    project.commit("More", {"a.md": "b\n"})
    for agent in ("two\nlines", " blank ", ""):
        answer = project.gate("open", "--agent", agent)
        assert (answer.status, answer.out) == (129, ""), repr(agent)
        assert answer.err.startswith("git-gate: the request cannot be written: "), answer.err
    for subject in ("", " x", "a\tb", "x" * 1025):
        answer = project.gate("open", "--subject", subject)
        assert (answer.status, answer.out) == (129, ""), repr(subject)
        assert answer.err.startswith("git-gate: the subject ")
