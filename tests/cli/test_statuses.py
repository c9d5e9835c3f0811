"""Every status that an instance and a landing can have, with the whole documents that say so."""

from __future__ import annotations

from outputs import (
    ACCOUNTS,
    ADA,
    LAND,
    Clock,
    Names,
    checked,
    context,
    decision,
    deliverable,
    row,
    says,
    shown,
    waited,
)
from support.project import Project

OPEN_HINT = "git gate open main --subject feature"


def started(project: Project) -> Names:
    """A branch `feature` with one commit that adds a page."""
    project.branch("feature")
    work = project.commit("Add a page", {"page.md": "# Page\n"})
    return Names(project, work=work, base=project.rev("origin/main"))


def opened(project: Project, *args: str) -> Names:
    names = started(project)
    names.add(request=project.gate("open", "--json", *args).ok().json["request"])
    return names


def test_not_needed_not_opened_pending(project: Project, clock: Clock) -> None:
    base, there = project.rev(), "refs/remotes/origin/main"
    same = {"new": "<base>", "methods": [], "gates": [], "warnings": []}
    says(
        project,
        Names(project, base=base),
        "check",
        0,
        checked("not-needed", 0, reasons=[f"{there} has all of base........ already"], **same),
    )
    names = started(project)
    none = "no gate `main` was opened for it"
    unopened = row("not-opened", ACCOUNTS, none, subject=None, iteration=None, work=None)
    says(
        project,
        names,
        "check",
        15,
        checked("not-opened", 15, none, hint="git gate open main", gates=[unopened], warnings=[]),
    )
    for command in ("show", "log", "wait", "approve", "withdraw"):
        answer = project.gate(command)
        assert (answer.status, answer.out) == (15, "")
    names.add(request=project.gate("open", "--json").ok().json["request"])
    says(
        project,
        names,
        "check",
        10,
        checked(
            "pending",
            10,
            "nobody has approved it yet",
            hint="git gate approve main --subject feature",
        ),
    )
    says(project, names, "show", 0, shown())
    late = project.gate("wait", "--json", "--timeout", "0")
    assert (late.status, late.out) == (124, "")
    assert late.err == (
        "waiting for a decision on main of feature: nobody has approved it yet\n"
        "git-gate: nobody decided main of feature in time; it is still open\n"
        "hint: git gate wait main --subject feature\n"
    )


def test_rejected_then_satisfied_then_stale_then_landed(project: Project, clock: Clock) -> None:
    names = opened(project)
    project.gate("reject", "-m", "No.\n\nThe title is wrong").ok()
    no = decision("reject", message="No.\n\nThe title is wrong")
    says(project, names, "check", 11, checked("rejected", 11, f"{ADA} rejected it", hint=OPEN_HINT))
    says(
        project,
        names,
        "show",
        0,
        shown(status="rejected", reasons=[f"{ADA} rejected it"], decisions=[no]),
    )
    says(project, names, "wait", 11, waited("rejected", no))

    clock.later(minutes=134)
    second = project.commit("Better title", {"page.md": "# A page\n"})
    answer = project.gate("open", "--json", "--agent", "claude", "-m", "With another title").ok()
    names.add(first=names.ids["work"], request1=names.ids["request"])
    names.add(work=second, request=answer.json["request"])
    at = clock.later(seconds=30)
    project.gate("approve").ok()
    no = {**no, "request": "<request1>"}
    yes = decision("approve", iteration=2, at=at)
    says(
        project,
        names,
        "show",
        0,
        shown(
            status="approved",
            iteration=2,
            agent="claude",
            summary="With another title",
            opened_at="2025-12-01T07:14:00Z",
            context=context(iteration=2, time_elapsed="PT2H14M"),
            deliverables=[deliverable("page.md", "A page")],
            waiting_for=[],
            reasons=[],
            decisions=[no, yes],
        ),
    )
    says(
        project,
        names,
        "wait",
        0,
        waited("approved", yes, iteration=2, decisions=[no, yes], next=LAND),
    )
    says(project, names, "check", 0, checked("satisfied", 0, gates=[row("satisfied", iteration=2)]))
    earlier = names(project.gate("show", "--json", "--iteration", "1").ok().json)
    assert [earlier[key] for key in ("iteration", "work", "request")] == [
        1,
        "<first>",
        "<request1>",
    ]

    names.add(later=project.commit("More", {"more.md": "more\n"}))
    approved = "main feature was approved at work........ (Better title)"
    stale = [
        "nothing that was approved accounts for later....... (More)",
        f"{approved}, and newer work came on top of it",
        "it differs at more.md",
    ]
    says(
        project,
        names,
        "check",
        13,
        checked(
            "stale",
            13,
            new="<later>",
            hint=OPEN_HINT,
            gates=[row("stale", *stale, iteration=2)],
            reasons=stale,
        ),
    )
    project.push(f"{second}:refs/heads/main").ok()
    landed = waited("landed", yes, iteration=2, decisions=[no, yes], next=None)
    says(project, names, "wait", 0, landed)
    assert project.gate("show", "--json").ok().json["status"] == "landed"
    assert project.gate("check", "--json").json["status"] == "not-opened"


def test_skipped_then_quit_then_withdrawn(project: Project, clock: Clock) -> None:
    names = opened(project)
    assert project.gate("skip", "-m", "The site is down").ok().status == 0
    skip = decision("skip", message="The site is down")
    says(project, names, "check", 0, checked("skipped", 0))
    says(project, names, "show", 0, shown(status="skipped", reasons=[], decisions=[skip]))
    says(project, names, "wait", 0, waited("skipped", skip, next=LAND))
    at = clock.later(seconds=1)
    project.gate("quit", "-m", "Not this year").ok()
    skip = {**skip, "counts": False, "reason": f"{ADA} has decided again since"}
    quits = decision("quit", message="Not this year", at=at)
    ended = checked("withdrawn", 15, "main of feature was withdrawn or quit", hint=OPEN_HINT)
    says(project, names, "check", 15, ended)
    says(
        project,
        names,
        "show",
        0,
        shown(
            status="withdrawn",
            context=context(time_elapsed="PT1S"),
            reasons=[f"{ADA} quit it"],
            decisions=[skip, quits],
        ),
    )
    says(project, names, "wait", 15, waited("withdrawn", quits, decisions=[skip, quits]))
    again = project.gate("open", "--json").ok().json
    assert (again["iteration"], again["status"], again["decisions"]) == (1, "open", [])
    names.add(request=again["request"])
    project.gate("withdraw", "-m", "A mistake").ok()
    says(project, names, "check", 15, ended)
    says(project, names, "show", 0, shown(status="withdrawn", opened_at=at))
    says(project, names, "wait", 15, waited("withdrawn"))
