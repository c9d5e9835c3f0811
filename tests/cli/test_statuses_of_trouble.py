"""The statuses that nobody wants to see: each with its whole documents and its exit status."""

from __future__ import annotations

from pathlib import Path

from outputs import (
    ADA,
    Clock,
    Names,
    checked,
    context,
    says,
    shown,
    waited,
)
from support.project import SOLO, TEAM, Project, make_project

from gitgate.git import refs
from gitgate.git.repository import Repository

TIMED = SOLO.replace("timeout_minutes: 0", "timeout_minutes: 60")
OPEN_HINT = "git gate open main --subject feature"


def opened(project: Project) -> Names:
    project.branch("feature")
    work = project.commit("Add a page", {"page.md": "# Page\n"})
    names = Names(project, work=work, base=project.rev("origin/main"))
    names.add(request=project.gate("open", "--json").ok().json["request"])
    return names


def test_expired(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = make_project(tmp_path, home, TIMED)
    names = opened(project)
    end = "2025-12-01T06:00:00Z"
    clock.later(minutes=59, seconds=30)
    hour = {"deadline": end, "time_left": "PT30S"}
    says(project, names, "show", 0, shown(context=context(time_elapsed="PT59M"), **hour))
    clock.later(seconds=31)
    over = "its deadline passed without a decision"
    says(project, names, "check", 12, checked("expired", 12, over, hint=OPEN_HINT))
    past = {"deadline": end, "time_left": "PT0S", "reasons": [over], "status": "expired"}
    says(project, names, "show", 0, shown(context=context(time_elapsed="PT1H"), **past))
    says(project, names, "wait", 12, waited("expired"))
    for command in (["approve"], ["skip", "-m", "hurry"], ["quit"]):
        answer = project.gate(*command)
        assert (answer.status, answer.out) == (1, "")
        assert f"your {command[0]} would not count: it came after the deadline\n" in answer.err
    again = project.gate("open", "--json").ok().json
    assert (again["status"], again["iteration"], again["result"]) == ("open", 2, "iterated")
    assert again["deadline"] == "2025-12-01T07:00:01Z"
    project.gate("approve").ok()
    assert project.gate("check").ok().status == 0


def test_a_late_rejection_is_a_veto(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = make_project(tmp_path, home, TIMED)
    names = opened(project)
    clock.later(minutes=90)
    project.gate("reject", "-m", "Late, and no").ok()
    says(project, names, "check", 11, checked("rejected", 11, f"{ADA} rejected it", hint=OPEN_HINT))


def test_parked(tmp_path: Path, home: Path, clock: Clock) -> None:
    policy = SOLO.replace("approvals:", "deadline: {minutes: 60, action: park}\n      approvals:")
    project = make_project(tmp_path, home, policy)
    names = opened(project)
    clock.later(minutes=61)
    hint = "git gate approve main --subject feature"
    says(
        project,
        names,
        "check",
        10,
        checked("pending", 10, "nobody has approved it yet", hint=hint),
    )
    parked = shown(
        status="parked",
        context=context(time_elapsed="PT1H1M"),
        deadline="2025-12-01T06:00:00Z",
        time_left="PT0S",
    )
    says(project, names, "show", 0, parked)
    assert project.gate("wait", "--timeout", "0").status == 124
    assert project.gate("open", "--json").ok().json["result"] == "already-open"
    project.gate("approve").ok()
    assert project.gate("check", "--json").ok().json["status"] == "satisfied"


def test_untrusted_until_it_is_repaired(project: Project, clock: Clock) -> None:
    names = opened(project)
    before = project.rev(project.ledger())
    rejection = project.gate("reject", "-m", "No", "--json").ok().json["record"]
    names.add(record=rejection)
    project.git("update-ref", project.ledger(), before)
    fault = "record record...... (Reject main of feature) stands in a note and not in the ledger"
    untrusted = checked("untrusted", 14, fault, hint="git gate repair", of={"iteration": None})
    says(project, names, "check", 14, untrusted)
    way = "it is not to be trusted until it is mended: git gate repair"
    says(project, names, "show", 0, shown(reasons=[fault, way]))
    for command in (["open"], ["approve"], ["reject", "-m", "x"], ["wait"], ["retract"]):
        answer = project.gate(*command)
        assert (answer.status, answer.out) == (14, ""), command
        assert names(answer.err).startswith(
            f"git-gate: main of feature is not to be trusted: {fault}\nhint: git gate repair"
        )
    taken = "(Reject main of feature) was taken into the ledger of main of feature"
    mended = {"schema": 1, "done": [f"record record...... {taken}"], "left": []}
    says(project, names, "repair", 0, mended)
    assert project.gate("check").status == 11
    assert project.gate("repair").ok().out == "nothing to mend\n"


def test_untrusted_where_the_ledger_was_altered(project: Project, clock: Clock) -> None:
    names = opened(project)
    project.gate("approve").ok()
    good = project.rev(project.ledger())
    tree = project.git("mktree", stdin="").out.strip()
    forged = project.git("commit-tree", tree, "-p", good, "-m", "nothing here").out.strip()
    project.git("update-ref", project.ledger(), forged)
    checked_now = project.gate("check", "--json")
    assert (checked_now.status, checked_now.json["status"]) == (14, "untrusted")
    assert checked_now.json["hint"] == "git gate repair"
    said = project.gate("repair").ok().out
    assert "the ledger went back to its last sound event, number 2" in said
    assert project.rev(project.ledger()) == good
    says(project, names, "check", 0, checked("satisfied", 0))


def test_blocked_by_an_author_whom_nobody_knows(team: Project, clock: Clock) -> None:
    team.branch("feature")
    work = team.commit("Add a page", {"page.md": "# Page\n"}, author="Eve <eve@example.net>")
    names = Names(team, work=work, base=team.rev("origin/main"))
    team.gate("open").ok()
    reason = (
        "nobody knows who Eve <eve@example.net> is, who wrote work........ under review: list the"
        " address in .mailmap or .aiwg/allowed_signers, or in `bots` if it is nobody's"
    )
    hint = "git gate signers add PERSON KEY"
    says(team, names, "check", 1, checked("blocked", 1, reason, hint=hint))
    team.be(team.people["bob"])
    said = names(team.gate("approve").ok().out)
    assert f"the instance is now open: {reason}\n" in said
    says(team, names, "check", 1, checked("blocked", 1, reason, hint=hint))


def test_blocked_once_the_approval_has_been_used(project: Project, clock: Clock) -> None:
    names = opened(project)
    project.gate("approve").ok()
    project.push("HEAD:refs/heads/main").ok()
    project.git("revert", "--no-edit", "HEAD")
    project.gate("open", "--subject", "revert").ok()
    project.gate("approve", "--subject", "revert").ok()
    project.push("HEAD:refs/heads/main").ok()
    names.add(tip=project.rev())
    project.git("revert", "--no-edit", "HEAD")
    names.add(head=project.rev())
    answer = project.gate("check", "--json")
    assert (answer.status, answer.json["status"]) == (1, "blocked")
    reason = "main feature was approved and has landed before: one approval is for one landing"
    assert reason in answer.json["reasons"]


def test_not_reproducible(project: Project, clock: Clock) -> None:
    names = opened(project)
    project.gate("approve").ok()
    project.git("switch", "--quiet", "main")
    project.commit("Another page", {"page.md": "# Another\n"})
    project.land()
    project.git("switch", "--quiet", "feature")
    names.add(tip=project.rev("origin/main"))
    reasons = (
        "main feature was approved at work........ (Add a page), which does not merge cleanly",
        "it differs at page.md",
    )
    hint = f"git merge tip......... into feature, then {OPEN_HINT}"
    conflict = checked("not-reproducible", 1, *reasons, hint=hint, old="<tip>", policy="<tip>")
    says(project, names, "check", 1, conflict)


def test_adoption_and_no_policy(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = make_project(tmp_path, home, "other: {}\n", hook=False)
    names = Names(project, base=project.rev())
    for command in (["check"], ["show"], ["list"], ["wait"], ["open"], ["approve"], ["repair"]):
        answer = project.gate(*command)
        assert (answer.status, answer.out) == (128, ""), command
        assert answer.err == (
            "git-gate: no policy: refs/remotes/origin/main has no aiwg.yml with `human_gates`\n"
            "hint: git gate init\n"
        )
    project.branch("feature")
    names.add(work=project.commit("Work"))
    none = "neither end of the move has a policy, so nothing is gated"
    empty = {"gates": [], "methods": [], "policy": None, "warnings": []}
    says(
        project,
        names,
        "check --ref main",
        128,
        checked("no-policy", 128, **{**empty, "reasons": [none]}),
    )
    names.add(work=project.commit("Adopt", {"aiwg.yml": SOLO}))
    adoption = checked(
        "adoption", 0, **{**empty, "reasons": ["this brings the first policy of refs/heads/main"]}
    )
    says(project, names, "check --ref main", 0, adoption)
    says(project, names, "check --ref main origin/main..HEAD", 0, adoption)


def test_a_lost_race_says_to_try_again(project: Project, clock: Clock) -> None:
    opened(project)
    repository = Repository.open(project.top)
    try:
        refs.compare_and_swap(
            repository, project.ledger(), project.rev("main"), project.rev("main"), "too late"
        )
    except refs.LostRace as error:
        assert int(error.kind) == 17
        assert error.message == f"{project.ledger()} was moved by somebody else meanwhile"
        assert error.hint == "run the command again"
    else:
        raise AssertionError("a stale value was taken")


def test_a_bad_policy_is_fatal_and_says_where(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = make_project(tmp_path, home, TEAM.replace("guards:", "gaurds:"), hook=False)
    answer = project.gate("check")
    assert (answer.status, answer.out) == (128, "")
    assert Names(project)(answer.err) == (
        "git-gate: the policy of commit ............ is not valid: aiwg.yml:6: expected a key of"
        " gates.main, found 'gaurds'; did you mean 'guards'?\n"
        "hint: git gate policy check\n"
    )
