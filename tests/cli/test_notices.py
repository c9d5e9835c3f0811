"""`gate.notify.*`: who is told of what by a real command, and that it changes nothing else."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import pytest
from noticing import TIERS, listen, said, told, work
from outputs import ADA, LAND, Clock, Names
from support.project import SOLO, Project, make_project, person

TIMED = SOLO.replace("timeout_minutes: 0", "timeout_minutes: 60")


@pytest.fixture
def heard(project: Project, tmp_path: Path) -> Path:
    """The file to which `gate.notify.command` adds each document."""
    return listen(project, tmp_path / "heard")


AGAIN = ["git", "gate", "open", "main", "--subject", "feature"]


def test_each_event_is_told_as_one_document(project: Project, heard: Path, clock: Clock) -> None:
    names = Names(project, work=work(project))
    project.gate("open", "--agent", "claude", "-m", "The first\nversion").ok()
    assert names(told(heard)) == [said("opened", message="The first\nversion")]
    at = clock.later(minutes=1)
    project.gate("reject", "-m", "No lockout.\n\nSee page 3.").ok()
    rejected = said(
        "decided",
        action="reject",
        message="No lockout.\n\nSee page 3.",
        at=at,
        status="rejected",
        record="<id>",
        counts=True,
        next=AGAIN,
    )
    assert names(told(heard)) == [rejected]
    project.gate("show").ok()
    project.gate("check")
    assert told(heard) == []

    names.add(work=project.commit("More", {"page.md": "# Page\n\nLocked.\n"}))
    project.gate("open").ok()
    second = {"iteration": 2, "agent": None, "at": at}
    assert names(told(heard)) == [said("iterated", **second)]
    project.gate("open").ok()
    assert told(heard) == []  # nothing was written
    project.gate("approve").ok()
    approved = said(
        "decided",
        action="approve",
        status="approved",
        record="<id>",
        counts=True,
        next=LAND,
        **second,
    )
    assert names(told(heard)) == [approved]
    project.push("HEAD:refs/heads/main").ok()

    landed = names.ids["work"]
    names.add(work=project.commit("Next", {"next.md": "# Next\n"}))
    at = clock.later(minutes=1)
    project.gate("open", "--agent", "claude").ok()
    first, then = told(heard)
    assert first["commit"] == first["work"] == landed
    names.add(landed=landed)
    assert names(first) == said(
        "landed",
        iteration=2,
        agent=None,
        status="landed",
        at=at,
        work="<landed>",
        commit="<landed>",
        next=None,
    )
    assert names(then) == said("opened", at=at)
    project.gate("withdraw", "-m", "not now").ok()
    assert names(told(heard)) == [
        said("withdrawn", status="withdrawn", message="not now", at=at, next=AGAIN)
    ]


def test_a_deadline_is_told_once_by_whoever_looks_first(
    tmp_path: Path, home: Path, clock: Clock
) -> None:
    project = make_project(tmp_path, home, TIMED)
    names = Names(project, work=work(project))
    project.gate("open", "--agent", "claude").ok()
    heard = listen(project, tmp_path / "heard")
    clock.later(minutes=60)
    project.gate("list").ok()
    assert told(heard) == []
    clock.later(seconds=1)
    project.gate("list", "--json").ok()
    assert names(told(heard)) == [
        said(
            "expired",
            status="expired",
            by="(deadline)",
            name="",
            action="reject",
            at="2025-12-01T06:00:00Z",
            next=AGAIN,
        )
    ]
    project.gate("show").ok()
    project.gate("log").ok()
    assert project.gate("wait").status == 12
    assert told(heard) == []


def test_a_retraction_and_a_decision_that_does_not_count(
    tmp_path: Path, home: Path, clock: Clock
) -> None:
    policy = SOLO.replace("self_approval: true", "self_approval: true, by: [ada@example.com]")
    people = (("Ada Lovelace", ADA), ("Bob Babbage", "bob@example.com"))
    project = make_project(tmp_path, home, policy, people)
    heard = listen(project, tmp_path / "heard")
    names = Names(project, work=work(project))
    project.gate("open", "--agent", "claude").ok()
    project.gate("approve").ok()
    project.gate("retract").ok()
    assert [(one["event"], one["action"], one["status"]) for one in told(heard)] == [
        ("opened", None, "open"),
        ("decided", "approve", "approved"),
        ("decided", "retract", "open"),
    ]
    project.be(project.people["bob"])
    project.gate("reject", "-m", "no").ok()
    assert names(told(heard)) == [
        said(
            "decided",
            by="bob@example.com",
            name="Bob Babbage",
            action="reject",
            message="no",
            record="<id>",
            counts=False,
        )
    ]


def test_the_opening_tells_those_of_the_first_tier(
    tmp_path: Path, home: Path, clock: Clock
) -> None:
    project = make_project(tmp_path, home, TIERS)
    work(project)
    unknown = project.gate("open").ok()
    assert unknown.err == (
        "warning: nobody is told as `lead`, whom the policy names: git config gate.notify.lead"
        " COMMAND, or an address of apprise\n"
    )
    lead = listen(project, tmp_path / "lead", "Lead")
    owner = listen(project, tmp_path / "owner", "owner")
    everybody = listen(project, tmp_path / "everybody")
    project.gate("reject", "-m", "no").ok()
    assert [one["event"] for one in told(everybody)] == ["decided"]
    project.commit("More", {"page.md": "# Page\n\nMore.\n"})
    assert project.gate("open").ok().err == ""
    [to_lead], [to_all] = told(lead), told(everybody)
    assert (to_lead["event"], to_lead["to"], to_all["to"]) == ("iterated", "lead", None)
    assert {**to_lead, "to": None} == to_all
    assert not owner.exists()


def test_validations_that_were_run_again_are_told(tmp_path: Path, home: Path, clock: Clock) -> None:
    validated = '      validations: [{name: any, run: ["true"]}]\n      approvals'
    project = make_project(tmp_path, home, SOLO.replace("      approvals", validated))
    names = Names(project, work=work(project))
    project.gate("open", "--agent", "claude").ok()
    heard = listen(project, tmp_path / "heard")
    project.gate("validate").ok()
    assert names(told(heard)) == [said("validated")]


HOSTILE = "$(touch pwned) `touch pwned` '; touch pwned; ' \" \\ \x1b[2J\u202e\n---\nto: x"


def test_words_are_data_and_never_part_of_the_command(
    project: Project, heard: Path, clock: Clock
) -> None:
    subject = "$(touch pwned);'x\"&|"
    work(project)
    project.gate("open", "--subject", subject, "--agent", subject, "-m", HOSTILE).ok()
    [one] = told(heard)
    assert (one["subject"], one["agent"], one["message"]) == (subject, subject, HOSTILE)
    assert not [*project.top.parent.rglob("pwned")]


def test_the_command_runs_at_the_top_without_what_git_told_us(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(project)
    project.git("config", "gate.notify.command", f"{{ pwd; env; }} >'{tmp_path}/seen'")
    (project.top / "deep").mkdir()
    monkeypatch.setenv("GIT_PREFIX", "deep/")
    project.gate("open", at=project.top / "deep").ok()
    first, *variables = (tmp_path / "seen").read_text().splitlines()
    assert first == str(project.top)
    assert not [
        one for one in variables if one.startswith(("GIT_DIR=", "GIT_PREFIX=", "GIT_INDEX"))
    ]


def test_nothing_in_the_tree_names_a_command(project: Project, heard: Path) -> None:
    project.write("aiwg.yml", SOLO + "  notify: {command: touch pwned}\n")
    assert (
        "aiwg.yml:10: expected a key of human_gates, found 'notify'"
        in project.gate("policy", "check").out
    )
    for name in ("lead.x", "on_call", "2nd", "timeout", "Command", "apprise"):
        project.write("aiwg.yml", TIERS.replace("owner", name))
        answer = project.gate("policy", "check")
        assert answer.status == 1 and "gates.main.escalation[2].notify" in answer.out, name


ENDINGS = {
    "exit 3": "its command ended with 3",
    "no-such-program --at-all": "its command ended with 127",
    "kill -9 $$": "its command ended with -9",
    "cat >/dev/null; echo out; echo err >&2; exit 1": "its command ended with 1",
    "exec <&-; yes | head -c 3000000; yes | head -c 3000000 >&2": "",
    "true": "",
    "(sleep 5; echo late) & ": "",
    "": "",
}


def test_how_a_command_ends_changes_nothing(project: Project) -> None:
    work(project)
    for number, (command, why) in enumerate(ENDINGS.items()):
        project.git("config", "gate.notify.command", command)
        subject = ("--subject", str(number))
        answer = project.gate("open", "--json", "-m", "x" * 500_000, *subject).ok()
        assert answer.json["result"] == "opened"
        assert answer.err == (f"warning: gate.notify.command was not told: {why}\n" if why else "")
        approved = project.gate("approve", *subject)
        assert approved.status == 0 and approved.err == answer.err
    project.push("HEAD:refs/heads/main").ok()


def test_a_command_that_hangs_is_killed_with_all_that_it_started(
    project: Project, tmp_path: Path
) -> None:
    work(project)
    project.git(
        "config",
        "gate.notify.command",
        f"sleep 300 & echo $! >'{tmp_path}/pid'; trap '' TERM; wait",
    )
    project.git("config", "gate.notify.timeout", "0.5")
    answer = project.gate("open", "--json").ok()
    assert answer.json["status"] == "open"
    assert answer.err == (
        "warning: gate.notify.command was not told: its command ran longer than 0.5 seconds and"
        " was killed\n"
    )
    assert not runs(int((tmp_path / "pid").read_text()))


def runs(pid: int) -> bool:
    """Whether a process still runs; one that was killed may take a moment to go."""
    for _ in range(100):
        with suppress(OSError):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z":
                time.sleep(0.02)
                continue
        return False
    return True


def test_who_interrupts_a_command_that_hangs_takes_nothing_back(
    project: Project, tmp_path: Path
) -> None:
    work(project)
    command = f"sleep 300 & echo $! >'{tmp_path}/pid'; sleep 1; kill -INT $PPID; wait"
    project.git("config", "gate.notify.command", command)
    answer = project.gate_process("open", "--json")
    assert (answer.status, answer.json["result"]) == (0, "opened")
    assert answer.err == (
        "warning: opened of main for feature was not told: you interrupted it, and what was"
        " recorded stands\n"
    )
    assert not runs(int((tmp_path / "pid").read_text()))


def test_a_time_limit_that_is_none_is_said_and_ten_seconds_are_used(
    project: Project, heard: Path
) -> None:
    work(project)
    for given in ("0", "-1", "nan", "inf", "1e9", "soon"):
        project.git("config", "gate.notify.timeout", given)
        answer = project.gate("open", "--subject", f"for {given}").ok()
        assert answer.err == (
            f"warning: gate.notify.timeout is '{given}', no number of seconds up to 3600: 10 is"
            " used\n"
        )
        assert [one["event"] for one in told(heard)] == ["opened"]


def test_a_failure_is_said_once_for_all_events_of_a_command(project: Project, clock: Clock) -> None:
    work(project)
    project.gate("open").ok()
    project.gate("approve").ok()
    project.push("HEAD:refs/heads/main").ok()
    project.commit("Next", {"next.md": "# Next\n"})
    project.git("config", "gate.notify.command", "exit 9")
    answer = project.gate("open").ok()
    assert answer.err == "warning: gate.notify.command was not told: its command ended with 9\n"


def test_a_refused_decision_is_told_nobody(project: Project, heard: Path, home: Path) -> None:
    work(project)
    project.gate("open").ok()
    told(heard)
    stranger = person("Mallory", "mallory@example.com", home)
    project.be(stranger)
    assert project.gate("approve").status == 1
    assert project.gate("skip").status == 129
    assert told(heard) == []


def test_later_tiers_are_told_once_by_whoever_looks_when_their_time_has_come(
    tmp_path: Path, home: Path, clock: Clock
) -> None:
    project = make_project(tmp_path, home, TIERS)
    names = Names(project, work=work(project))
    lead, owner = (listen(project, tmp_path / who, who) for who in ("lead", "owner"))
    project.gate("open", "--agent", "claude").ok()
    assert names(told(lead)) == [said("opened", to="lead")]
    clock.later(minutes=239)
    project.gate("show").ok()
    assert (told(lead), told(owner)) == ([], [])
    clock.later(minutes=1)
    project.gate("list").ok()
    assert names(told(lead)) == [said("opened", to="lead")]
    assert names(told(owner)) == [said("opened", to="owner")]
    for look in ("list", "show", "log"):
        project.gate(look).ok()
    assert (told(lead), told(owner)) == ([], [])


def test_a_later_tier_that_this_clone_does_not_know_is_nobodys_warning(
    tmp_path: Path, home: Path, clock: Clock
) -> None:
    project = make_project(tmp_path, home, TIERS)
    work(project)
    heard = listen(project, tmp_path / "lead", "lead")
    project.gate("open").ok()
    clock.later(minutes=300)
    project.gate("approve").ok()
    assert project.gate("show").err == "", "what is decided waits for nobody"
    assert [one["to"] for one in told(heard)] == ["lead"]
