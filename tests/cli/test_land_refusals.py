"""`land` refuses: everything is as before, and the command that resolves it stands there."""

from __future__ import annotations

from pathlib import Path

import pytest
from landkit import approved, hook, move_main, own_temporary_folder, seen, server_hook
from outputs import Names, same
from support.project import SOLO, Project, make_project


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_temporary_folder(tmp_path, monkeypatch)


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Project:
    """Without git-gate's own pre-push: what `land` itself refuses is what is looked at here."""
    return make_project(tmp_path, home, hook=False)


def refuses(project: Project, *args: str, status: int, says: str, **ids: str) -> None:
    """The whole of what a refusal says, and that it left everything as it was."""
    before = seen(project)
    answer = project.gate("land", *args)
    same(Names(project, **ids)(answer.err), says)
    assert (answer.status, answer.out) == (status, "")
    assert seen(project) == before


def test_what_nobody_has_approved(project: Project) -> None:
    approved(project, approve=False)
    says = (
        "git-gate: feature did not land on refs/heads/main: pending\n"
        "  gate main of feature, iteration 1: pending\n"
        "    nothing that was approved accounts for work........ (Go on with the page)\n"
        "    nobody has approved it yet\n"
        "hint: git gate approve main --subject feature\n"
    )
    refuses(project, status=10, says=says, work=project.rev())
    answer = project.gate("land", "--json")
    assert (answer.status, answer.err) == (10, "")
    assert (answer.json["result"], answer.json["status"]) == ("refused", "pending")
    assert answer.json["new"] is None
    assert answer.json["hint"] == "git gate approve main --subject feature"


def test_what_was_rejected(project: Project) -> None:
    approved(project, approve=False)
    project.gate("reject", "-m", "No").ok()
    says = (
        "git-gate: feature did not land on refs/heads/main: rejected\n"
        "  gate main of feature, iteration 1: rejected\n"
        "    nothing that was approved accounts for work........ (Go on with the page)\n"
        "    ada@example.com rejected it\n"
        "hint: git gate open main --subject feature\n"
    )
    refuses(project, status=11, says=says, work=project.rev())


def test_newer_work_on_top_of_what_was_approved(project: Project) -> None:
    approved(project)
    work = project.rev()
    newer = project.commit("More", {"more.md": "more\n"})
    says = (
        "git-gate: feature did not land on refs/heads/main: stale\n"
        "  gate main of feature, iteration 1: stale\n"
        "    nothing that was approved accounts for newer....... (More)\n"
        "    main feature was approved at work........ (Go on with the page), and newer work came"
        " on top of it\n"
        "    it differs at more.md\n"
        "hint: git gate open main --subject feature\n"
    )
    refuses(project, status=13, says=says, work=work, newer=newer)


def test_nothing_was_opened(project: Project) -> None:
    project.branch("feature")
    project.commit("work", {"page.md": "# Page\n"})
    says = (
        "git-gate: no gate is open for feature\n"
        "hint: git gate sync, if it was opened elsewhere; else git gate open, or add --subject\n"
    )
    refuses(project, status=15, says=says)


def test_a_conflict(project: Project) -> None:
    approved(project)
    move_main(project, {"feature.md": "# Another page\n"})
    work = project.rev()
    says = (
        "git-gate: feature did not land on refs/heads/main: not-reproducible\n"
        "  gate main of feature, iteration 1: not-reproducible\n"
        "    nothing that was approved accounts for work........ (Go on with the page)\n"
        "    main feature was approved at work........ (Go on with the page), which does not merge"
        " cleanly\n"
        "    it differs at feature.md\n"
        "hint: git switch feature && git merge origin/main && git gate open main --subject"
        " feature\n"
    )
    refuses(project, status=1, says=says, work=work)


def test_the_hint_of_a_conflict_is_the_way_out(project: Project) -> None:
    approved(project)
    move_main(project, {"feature.md": "# Another page\n"})
    assert project.gate("land").status == 1
    project.git("switch", "feature")
    assert project.git("merge", "origin/main", check=False).status == 1
    project.commit("Merge main", {"feature.md": "# Page\n\nAnother, text\n"})
    project.gate("open", "main", "--subject", "feature").ok()
    project.gate("approve").ok()
    project.gate("land").ok()
    assert project.git("show", f"{project.remote_tip()}:feature.md").out.endswith("text\n")


def test_a_rebase_that_stops_where_a_merge_does_not(project: Project) -> None:
    project.branch("feature")
    project.commit("one", {"page.md": "# Two pages\n"})
    project.commit("two", {"page.md": "# Page\n"})
    project.commit("three", {"more.md": "more\n"})
    project.gate("open").ok()
    project.gate("approve").ok()
    move_main(project, {"page.md": "# Page\n"})
    before = seen(project)
    answer = project.gate("land", "--method", "rebase")
    same(
        answer.err,
        "git-gate: feature does not rebase onto origin/main cleanly: conflict in page.md\n"
        "hint: git gate land main --subject feature --method merge\n",
    )
    assert answer.status == 1
    assert seen(project) == before
    project.gate("land", "main", "--subject", "feature", "--method", "merge").ok()


def test_a_fast_forward_where_main_has_moved(project: Project) -> None:
    approved(project)
    tip = move_main(project)
    says = (
        "git-gate: feature cannot land as a fast-forward: origin/main is at tip........., which is"
        " not on the branch's own first-parent history\n"
        "hint: git gate land main --subject feature --method merge\n"
    )
    refuses(project, "--method", "ff", status=1, says=says, tip=tip)


def test_a_branch_that_the_server_protects(project: Project) -> None:
    approved(project)
    server_hook(
        project,
        "pre-receive",
        "while read old new ref; do\n"
        "  case $ref in refs/heads/main) echo 'main is protected' >&2; exit 1 ;; esac\n"
        "done",
    )
    says = (
        "git-gate: origin refused refs/heads/main, and nothing landed: [remote rejected]"
        " (pre-receive hook declined)\n"
        "  remote: main is protected\n"
        f"  error: failed to push some refs to '{project.remote}'\n"
        "hint: where the branch takes no pushes, git gate check says which ways of a pull request"
        " pass\n"
    )
    before = seen(project)
    answer = project.gate("land")
    same(answer.err, says)
    assert (answer.status, answer.out) == (1, "")
    assert seen(project) == before


HOOKS = [
    ("merge", "pre-merge-commit", "git merge"),
    ("merge", "commit-msg", "git merge"),
    ("squash", "pre-commit", "git commit"),
    ("squash", "commit-msg", "git commit"),
    ("rebase", "pre-rebase", "git rebase"),
]


@pytest.mark.parametrize(("method", "name", "command"), HOOKS)
def test_a_hook_that_fails(project: Project, method: str, name: str, command: str) -> None:
    approved(project)
    move_main(project)
    hook(project, name, f"echo '{name} says no' >&2; exit 1")
    before = seen(project)
    answer = project.gate("land", "--method", method)
    lines = answer.err.splitlines()
    assert lines[0] == f"git-gate: {command}, or a hook of the project, refused; nothing landed:"
    assert f"  {name} says no" in lines
    assert lines[-1] == "hint: mend that, then git gate land main --subject feature"
    assert (answer.status, answer.out) == (1, "")
    assert seen(project) == before


def test_a_push_hook_that_fails(project: Project) -> None:
    approved(project)
    hook(project, "pre-push", "cat >/dev/null; echo 'pre-push says no' >&2; exit 1")
    before = seen(project)
    answer = project.gate("land")
    same(
        answer.err,
        "git-gate: the push of refs/heads/main was refused, and nothing landed:\n"
        "  pre-push says no\n"
        f"  error: failed to push some refs to '{project.remote}'\n"
        "hint: mend that, then git gate land main --subject feature\n",
    )
    assert answer.status == 1
    assert seen(project) == before


def test_a_hook_that_changes_what_lands(project: Project) -> None:
    approved(project)
    move_main(project)
    hook(project, "pre-commit", "echo smuggled >>feature.md; git add feature.md")
    before = seen(project)
    answer = project.gate("land", "--method", "squash", "--json")
    assert answer.status == 1
    assert answer.json["status"] == "blocked"
    assert answer.json["reasons"][-1] == (
        "a hook or a setting of this clone changed what was merged"
    )
    assert seen(project) == before


def test_a_way_that_is_none_and_words_for_nothing(project: Project) -> None:
    approved(project)
    project.git("config", "gate.landMethod", "octopus")
    says = (
        "git-gate: 'octopus' is no way to land; there are: ff, merge, squash, rebase\n"
        "hint: git config gate.landMethod merge\n"
    )
    refuses(project, status=129, says=says)
    says = (
        "git-gate: as rebase the commits land as they are, so there is no message to be given\n"
        "hint: git gate land --method merge\n"
    )
    refuses(project, "--method", "rebase", "-m", "words", status=129, says=says)


def test_a_remote_that_is_not_reached(project: Project) -> None:
    approved(project)
    gone = project.remote.with_name("gone.git")
    project.git("remote", "set-url", "origin", str(gone))
    answer = project.gate("land")
    assert answer.status == 128
    assert answer.err.endswith("hint: git ls-remote origin\n")


def test_two_gates_of_which_one_is_not_approved(tmp_path: Path, home: Path) -> None:
    project = two_gates(tmp_path, home)
    project.branch("feature")
    project.commit("work", {"page.md": "# Page\n"})
    project.gate("open", "main").ok()
    project.gate("open", "second").ok()
    project.gate("approve", "main").ok()
    says = (
        "git-gate: feature did not land on refs/heads/main: pending\n"
        "  gate main of feature, iteration 1: satisfied\n"
        "  gate second of feature, iteration 1: pending\n"
        "    nothing that was approved accounts for work........ (work)\n"
        "    nobody has approved it yet\n"
        "hint: git gate approve second --subject feature\n"
    )
    refuses(project, status=10, says=says, work=project.rev())
    refuses(project, "main", status=10, says=says, work=project.rev())


def two_gates(folder: Path, home: Path) -> Project:
    second = (
        "    second:\n      guards: [refs/heads/main]\n      approvals: {self_approval: true}\n"
    )
    policy = SOLO.replace("  policy_gate", f"{second}  policy_gate")
    return make_project(folder, home, policy)


def test_both_gates_stand_in_the_message(tmp_path: Path, home: Path) -> None:
    from landkit import record_of, trailers

    project = two_gates(tmp_path, home)
    project.branch("feature")
    project.commit("work", {"page.md": "# Page\n"})
    for gate in ("main", "second"):
        project.gate("open", gate).ok()
        project.gate("approve", gate).ok()
    project.gate("land").ok()
    assert trailers(project, project.remote_tip()) == [
        "Gate: main",
        f"Gate-Record: {record_of(project, 'main')}",
        "Gate: second",
        f"Gate-Record: {record_of(project, 'second')}",
    ]


def test_a_rebase_that_is_not_what_was_reviewed(project: Project) -> None:
    approved(project)
    hook(project, "post-rewrite", "echo smuggled >y; git add y; git commit -q -m smuggled")
    move_main(project)
    before = seen(project)
    answer = project.gate("land", "--method", "rebase")
    assert answer.status == 1
    assert answer.err.startswith("git-gate: feature did not land on refs/heads/main: blocked\n")
    assert answer.err.endswith("hint: git gate land main --subject feature --method merge\n")
    assert seen(project) == before
