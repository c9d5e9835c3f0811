"""Many who write at once: every decision survives once, and nobody leaves a half of anything."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from crowd import Crowd, Run, as_person, crowd
from support.project import SOLO, Answer, Person, Project, make_project

from gitgate.core import ids
from gitgate.core.decision import Action, parse, split_note
from gitgate.core.events import EventName
from gitgate.git import ledger as ledgers
from gitgate.git import notes
from gitgate.git.ledger import Ledger
from gitgate.git.repository import Repository

PEOPLE = (
    ("Ada Lovelace", "ada@example.com"),
    ("Bob Babbage", "bob@example.com"),
    ("Cem Karaca", "cem@example.com"),
    ("Dora Maar", "dora@example.com"),
    ("Eve Polastri", "eve@example.com"),
)


@pytest.fixture
def many() -> Iterator[Crowd]:
    with crowd() as made:
        yield made


@pytest.fixture
def crew(tmp_path: Path, home: Path) -> Project:
    """Five people who may decide, and work of Ada's on a branch."""
    project = make_project(tmp_path, home, SOLO, PEOPLE, hook=False)
    project.branch("feature")
    project.commit("work", {"page.md": "# Page\n"})
    return project


def everybody(project: Project) -> list[Person]:
    return [project.people[name.split()[0].lower()] for name, _ in PEOPLE]


def ledger_of(project: Project, subject: str = "feature") -> Ledger:
    return ledgers.read(Repository.open(project.top), "main", subject)


def is_whole(project: Project, *subjects: str) -> None:
    """Every record of the ledgers is in its note once and nothing else is; git finds no fault."""
    repo = Repository.open(project.top)
    for subject in subjects or ("feature",):
        ledger = ledgers.read(repo, "main", subject)
        assert ledger.faults == ()
        of_work: dict[str, list[bytes]] = {}
        for raw in ledger.records.values():
            work = ledger.requests[parse(raw).decision.request].work
            of_work.setdefault(work, []).append(raw)
        for work, raws in of_work.items():
            tag = ids.tag_name("main", subject)
            noted = [p for p in split_note(notes.read(repo, work)) if parse(p).decision.tag == tag]
            assert sorted(noted) == sorted(raws)
    assert project.git("fsck", "--strict", "--no-dangling").out == ""
    assert not list((project.top / ".git" / "refs").rglob("*.lock"))


def records(answers: Sequence[Answer]) -> list[str]:
    return [answer.ok().json["record"] for answer in answers]


def test_twenty_decide_at_once(crew: Project, many: Crowd) -> None:
    crew.gate("open").ok()
    runs = [
        Run(
            ["reject" if turn == 2 else "approve", "-m", f"word {turn} of {who.name}", "--json"],
            crew.top,
            as_person(who),
        )
        for turn in range(4)
        for who in everybody(crew)
    ]
    answers = many.at_once(*runs)
    ledger = ledger_of(crew)
    assert sorted(records(answers)) == sorted(ledger.records)
    assert len(ledger.records) == 20
    assert {parse(raw).decision.message for raw in ledger.records.values()} == {
        run.args[2] for run in runs
    }
    assert [event.name for event in ledger.events[1:]] == [EventName.DECIDED] * 20
    is_whole(crew)
    # Nobody had seen the others' words, so nothing orders them, and every rejection stands.
    shown = crew.gate("show", "--json").ok().json
    assert shown["status"] == "rejected"
    standing = [one["by"] for one in shown["decisions"] if one["counts"]]
    assert set(standing) == {email for _, email in PEOPLE}


def test_twenty_programs_started_together(crew: Project) -> None:
    """The same with the program as it is started by hand, half of them with `git -c`."""
    crew.gate("open").ok()
    people = everybody(crew)
    started = [_start(crew, people[number % 5], number) for number in range(20)]
    for process in started:
        _, err = process.communicate()
        assert process.returncode == 0, err
    said = {parse(raw).decision.message for raw in ledger_of(crew).records.values()}
    assert said == {f"word {number}" for number in range(20)}
    is_whole(crew)


def _start(project: Project, who: Person, number: int) -> subprocess.Popen[str]:
    program = [sys.executable, "-m", "gitgate"]
    env: Mapping[str, str] = as_person(who)
    if number % 2:
        env = {}
        gate = f"!{sys.executable} -m gitgate"
        settings = {
            "user.name": who.name,
            "user.email": who.email,
            "gpg.format": "ssh",
            "user.signingKey": str(who.key),
            "alias.gate": gate,
        }
        pairs = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        program = ["git", *pairs, "gate"]
    return subprocess.Popen(
        [*program, "approve", "-m", f"word {number}"],
        cwd=project.top,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_one_person_says_yes_and_no_at_once(crew: Project, many: Crowd) -> None:
    """Neither word saw the other one, so the rejection wins, whichever was stored first."""
    crew.gate("open").ok()
    ada = as_person(crew.people["ada"])
    words = [
        Run(["approve", "--json"], crew.top, ada),
        Run(["reject", "-m", "no", "--json"], crew.top, ada),
    ]
    records(many.at_once(*words, *words))
    assert crew.gate("check", "--json").json["status"] == "rejected"
    is_whole(crew)


def test_twenty_subjects_opened_at_once(crew: Project, many: Crowd) -> None:
    """While git packs the refs again and again."""
    subjects = [f"run-{number}/plan" for number in range(20)]
    with packing(crew):
        answers = many.at_once(
            *(Run(["open", "--subject", one, "--json"], crew.top) for one in subjects)
        )
    assert [answer.ok().json["result"] for answer in answers] == ["opened"] * 20
    for subject in subjects:
        [event] = ledger_of(crew, subject).events
        assert event.name is EventName.OPENED
    listed = crew.gate("list", "--json").ok().json["instances"]
    assert sorted(one["subject"] for one in listed) == sorted(subjects)
    is_whole(crew, *subjects)


@contextmanager
def packing(project: Project) -> Iterator[None]:
    """`git pack-refs` in a loop, which takes the locks of all refs in turn."""
    script = "trap exit TERM; while :; do git pack-refs --all; sleep 0.01; done"
    packer = subprocess.Popen(["sh", "-c", script], cwd=project.top, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        packer.terminate()
        packer.wait()


def test_the_same_work_opened_twenty_times_at_once(crew: Project, many: Crowd) -> None:
    """One of them asks; the others find that the very same is asked already."""
    answers = many.at_once(*(Run(["open", "--json"], crew.top) for _ in range(20)))
    results = sorted(answer.ok().json["result"] for answer in answers)
    assert results == ["already-open"] * 19 + ["opened"]
    assert [event.name for event in ledger_of(crew).events] == [EventName.OPENED]
    is_whole(crew)


def test_a_landing_is_recorded_once(crew: Project, many: Crowd) -> None:
    """Whoever opens next first records what has landed; of many who do one does, once."""
    crew.gate("open").ok()
    crew.gate("approve").ok()
    crew.land()
    crew.commit("more", {"page.md": "# More\n"})
    for answer in many.at_once(*(Run(["open"], crew.top) for _ in range(10))):
        answer.ok()
    log = crew.gate("log", "--json").ok().json["events"]
    assert [event["event"] for event in log] == ["opened", "decided", "landed", "opened"]
    assert [event["ignored"] for event in log] == [None] * 4
    is_whole(crew)


def test_decisions_race_with_the_next_iteration(crew: Project, many: Crowd) -> None:
    """Each decision is recorded on the iteration that was seen, or refused with the words kept."""
    crew.gate("open").ok()
    for number in range(1, 4):
        first = ledger_of(crew).newest
        assert first
        crew.commit("more", {"page.md": f"# Page {number}\n"})
        deciding = [
            Run(["reject", "-m", f"{who.name} on {number}", "--json"], crew.top, as_person(who))
            for who in everybody(crew)
        ]
        *decided, opened = many.at_once(*deciding, Run(["open", "--json"], crew.top))
        assert opened.ok().json["iteration"] == number + 1
        ledger = ledger_of(crew)
        said = {parse(raw).decision.message: parse(raw) for raw in ledger.records.values()}
        for run, answer in zip(deciding, decided, strict=True):
            words = run.args[2]
            if answer.status == 0:
                # One that came to look after the opening has seen the next iteration.
                assert said[words].decision.request in (first.id, opened.json["request"])
                assert said[words].decision.action is Action.REJECT
            else:
                assert answer.status == 13, answer.err
                assert "a new iteration of main of feature arrived" in answer.err
                assert words not in said
                _, _, path = answer.err.strip().rpartition("your words are kept in ")
                assert Path(path).read_text() == words
        log = crew.gate("log", "--json").ok().json
        assert [event["ignored"] for event in log["events"] if event["ignored"]] == []
        is_whole(crew)


def test_an_approval_races_with_a_withdrawal(crew: Project, many: Crowd) -> None:
    """One of the two comes first and the other is refused; no decision comes after the end."""
    bob = as_person(crew.people["bob"])
    for number in range(6):
        subject = f"s{number}"
        crew.gate("open", "--subject", subject).ok()
        approved, withdrawn = many.at_once(
            Run(["approve", "--subject", subject, "-m", "yes"], crew.top, bob),
            Run(["withdraw", "--subject", subject], crew.top),
        )
        ended = {
            (0, 1): ["opened", "decided"],
            (15, 0): ["opened", "withdrawn"],
        }[approved.status, withdrawn.status]
        log = crew.gate("log", "--subject", subject, "--json").ok().json
        assert [event["event"] for event in log["events"]] == ended
        assert [event["ignored"] for event in log["events"]] == [None, None]
        is_whole(crew, subject)


def test_repairs_race_with_decisions(crew: Project, many: Crowd) -> None:
    """`repair` copies what writers have not copied yet, and neither of them twice."""
    crew.gate("open").ok()
    runs = [
        Run(["approve", "-m", who.name, "--json"], crew.top, as_person(who))
        for who in everybody(crew)
    ]
    repairs = [Run(["repair"], crew.top)] * 5
    answers = many.at_once(*(run for pair in zip(runs, repairs, strict=True) for run in pair))
    assert [answer.status for answer in answers] == [0] * 10
    assert len(ledger_of(crew).records) == 5
    is_whole(crew)
