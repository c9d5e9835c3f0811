"""The decision log and the provenance of a project: appended, rebuilt, the same in every clone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from logbook import LOG, PROV, TIMED, clone_of, exported, log_of, read, work
from outputs import ADA, START, Clock
from prov.model import ProvActivity, ProvAgent, ProvDocument, ProvEntity
from support.project import SOLO, TEAM, Person, Project, make_project, person


@pytest.fixture
def phased(tmp_path: Path, home: Path) -> Project:
    policy = TIMED.replace(
        "      approvals", "      transition: {from: alpha, to: beta}\n      approvals"
    ).replace("  defaults", "  phases: {order: [alpha, beta]}\n  defaults")
    return make_project(tmp_path, home, policy)


def test_each_kind_of_decision_is_read_back_field_by_field(phased: Project, clock: Clock) -> None:
    project = phased
    project.branch("feature")
    commit = project.commit("Add a page", {"page.md": "# Page\n", ".aiwg/phase": "beta\n"})
    project.gate("open", "main").ok()
    shared = {
        "gate_id": "main",
        "gate_name": "Changes to main",
        "phase_transition": "alpha → beta",
        "user": ADA,
        "feedback": "",
        "artifacts_reviewed": [
            {"path": ".aiwg/phase", "viewed": False, "edited": False},
            {"path": "page.md", "viewed": False, "edited": False},
        ],
        "time_spent_seconds": None,
        "reason": "",
        "comment": "",
        "subject": "feature",
        "iteration": 1,
        "work": commit,
        "via": "terminal",
        "signature": "good",
        "comments": [],
    }
    expected = []
    for action, field in {
        "reject": "feedback",
        "retract": "reason",
        "approve": "comment",
        "skip": "reason",
        "quit": "reason",
    }.items():
        at = clock.later(minutes=1)
        words = f"{action}, because of line 3"
        record = project.gate(action, "main", "-m", words, "--json").ok().json["record"]
        expected.append(
            {**shared, "action": action, "timestamp": at, field: words, "record": record}
        )
        assert read(log_of(project)) == expected
        assert log_of(project) == exported(project)
    assert [list(one) for one in read(log_of(project))] == [
        [
            "gate_id",
            "gate_name",
            "phase_transition",
            "action",
            "timestamp",
            "user",
            "feedback",
            "artifacts_reviewed",
            "time_spent_seconds",
            "reason",
            "comment",
            "subject",
            "iteration",
            "work",
            "record",
            "via",
            "signature",
            "comments",
        ]
    ] * 5


def test_a_deadline_that_passed_is_a_rejection_by_nobody(
    tmp_path: Path, home: Path, clock: Clock
) -> None:
    project = make_project(tmp_path, home, TIMED)
    commit = work(project)
    project.git("switch", "-q", "-c", "other")
    project.write("other.md", "# Other\n")
    project.commit("other")
    clock.later(minutes=50)
    project.gate("open").ok()
    clock.later(minutes=15)
    project.gate("reject", "-m", "no").ok()
    # Whoever looks next records it, in the place where it belongs: before the rejection.
    assert [one["user"] for one in read(log_of(project))] == [ADA]
    project.gate("show", "--subject", "feature").ok()
    assert log_of(project) == exported(project)
    first, second = read(log_of(project))
    assert (first["timestamp"], second["timestamp"]) == (
        "2025-12-01T06:00:00Z",
        "2025-12-01T06:05:00Z",
    )
    assert {name: value for name, value in first.items() if value} == {
        "gate_id": "main",
        "gate_name": "Changes to main",
        "action": "reject",
        "timestamp": "2025-12-01T06:00:00Z",
        "user": "(deadline)",
        "subject": "feature",
        "iteration": 1,
        "work": commit,
        "signature": "unsigned",
    }
    # It is recorded once, by `list` and `wait` as well, and after the next iteration it stays.
    project.gate("list", "--all").ok()
    assert project.gate("wait", "--subject", "feature").status == 12
    project.git("switch", "-q", "feature")
    project.gate("open").ok()
    assert log_of(project) == exported(project)
    assert len(read(log_of(project))) == 2


@pytest.mark.parametrize("looking", ["list", "log", "wait"])
def test_each_command_that_looks_logs_the_deadline(
    tmp_path: Path, home: Path, clock: Clock, looking: str
) -> None:
    project = make_project(tmp_path, home, TIMED)
    work(project)
    clock.later(minutes=61)
    assert project.gate(looking).status in (0, 12)
    assert log_of(project) == exported(project) != ""


def test_decisions_of_one_second_are_ordered_by_their_records(
    project: Project, clock: Clock
) -> None:
    work(project)
    for number in range(5):
        project.gate("reject", "-m", f"no {number}").ok()
        assert log_of(project) == exported(project)
    records = [one["record"] for one in read(log_of(project))]
    assert records == sorted(records) and len(records) == 5


def test_an_edited_or_deleted_log_is_rebuilt_and_is_the_same_in_every_clone(
    project: Project, tmp_path: Path, clock: Clock
) -> None:
    work(project)
    project.gate("reject", "-m", "no").ok()
    clock.later(minutes=3)
    project.gate("approve", "-m", "after all").ok()
    truth = exported(project)
    for text in (None, "", truth.replace("reject", "approve"), truth + "# by hand", "\0junk"):
        file = project.top / LOG
        file.unlink(missing_ok=True)
        if text is not None:
            file.write_text(text)
        project.gate("export", "-o", LOG).ok()
        assert log_of(project) == truth
    # An edited one is never read back: what was there stays until it is rebuilt.
    (project.top / LOG).write_text("---\ngate_decision: forged\n")
    clock.later(minutes=3)
    project.gate("reject", "-m", "no again").ok()
    assert log_of(project).startswith("---\ngate_decision: forged\n---\n")
    project.gate("export", "-o", LOG).ok()
    assert [one["action"] for one in read(log_of(project))] == ["reject", "approve", "reject"]
    other = clone_of(project, tmp_path / "clone")
    assert exported(other) == exported(project)
    assert (
        other.gate("export", "--format", "prov").out
        == project.gate("export", "--format", "prov").out
    )
    other.gate("export", "-o", LOG).ok()
    assert other.git("status", "--porcelain").out == ""


def test_who_left_and_a_gate_that_is_gone_stay_in_the_log(
    tmp_path: Path, home: Path, clock: Clock
) -> None:
    people = (("Ada Lovelace", ADA), ("Bob Babbage", "bob@example.com"))
    project = make_project(tmp_path, home, SOLO, people)
    work(project)
    project.be(project.people["bob"])
    project.gate("reject", "-m", "no").ok()
    before = exported(project)
    assert before == log_of(project)
    project.be(project.people["ada"])
    project.git("switch", "-q", "main")
    project.commit(
        "Bob leaves, and the gate has another name",
        {
            "aiwg.yml": SOLO.replace("    main:\n", "    landing:\n").replace(
                ": main\n", ": landing\n"
            ),
            ".aiwg/allowed_signers": project.people["ada"].line() + "\n",
        },
    )
    project.land()
    assert exported(project) == before
    [row] = read(before)
    assert (row["gate_id"], row["user"], row["signature"]) == ("main", "bob@example.com", "good")


def test_a_record_of_a_stranger_is_in_the_log_as_nobodys(
    project: Project, home: Path, clock: Clock
) -> None:
    """A policy beside the history, which lists the stranger as Ada, changes nothing."""
    stranger = person("Mallory", "mallory@example.com", home)
    work(project)
    project.gate("approve").ok()
    _forge(project, stranger)
    rows = read(exported(project))
    assert sorted((one["user"], one["signature"]) for one in rows) == [
        ("", "unknown-key"),
        (ADA, "good"),
    ]


def _forge(project: Project, stranger: Person) -> None:
    """The stranger's key signs what Ada would, by a policy that takes it for hers."""
    line = stranger.line().replace(stranger.email, ADA)
    project.git("switch", "-q", "--detach", "origin/main")
    own = project.commit("A policy of my own", {".aiwg/allowed_signers": line + "\n"})
    project.git("switch", "-q", "feature")
    before = {
        key: project.git("config", key).out.strip() for key in ("gate.policyRef", "user.signingKey")
    }
    project.git("update-ref", "refs/heads/forged", own)
    project.git("config", "gate.policyRef", "refs/heads/forged")
    project.git("config", "user.signingKey", str(stranger.key))
    project.gate("reject", "main", "-m", "forged").ok()
    for key, value in before.items():
        project.git("config", key, value)


def test_hostile_words_in_feedback_survive(project: Project, tmp_path: Path, clock: Clock) -> None:
    words = (
        "---\n...\n# x\n!!python/object:os.system {}\n&a *a\n\x1b[2J\u202e\u0085\ttab\n"
        "gate_decision:\n  action: approve"
    )
    work(project)
    file = tmp_path / "words"
    file.write_text(words)
    project.gate("reject", "-F", str(file)).ok()
    [row] = read(log_of(project))
    assert row["action"] == "reject"
    assert row["feedback"] == words
    assert log_of(project) == exported(project)
    assert "\x1b" not in exported(project) and "\u202e" not in exported(project)


def test_provenance_is_read_by_prov_without_loss(tmp_path: Path, home: Path, clock: Clock) -> None:
    people = (("Ada Lovelace", ADA), ("Bob Babbage", "bob@example.com"))
    project = make_project(tmp_path, home, TEAM, people)
    project.git("config", "user.name", "Agent")
    project.git("config", "user.email", "agent@example.com")
    commit = work(project)
    project.be(project.people["bob"])
    clock.later(minutes=5)
    project.gate("reject", "-m", "no").ok()
    project.be(project.people["ada"])
    clock.later(minutes=5)
    record = project.gate("approve", "--json").ok().json["record"]
    text = (project.top / PROV).read_text()
    assert text == project.gate("export", "--format", "prov").ok().out
    doc = ProvDocument.deserialize(content=text, format="json")
    assert ProvDocument.deserialize(content=doc.serialize(format="json"), format="json") == doc
    assert {str(one.label) for one in doc.get_records(ProvEntity)} == {
        "page.md",
        "Reject main of feature",
        "Approve main of feature",
    }
    [activity] = doc.get_records(ProvActivity)
    assert str(activity.get_startTime()) == "2025-12-01 05:00:00+00:00"
    assert str(activity.get_endTime()) == "2025-12-01 05:10:00+00:00"
    assert {str(one.identifier): str(one.label) for one in doc.get_records(ProvAgent)} == {
        "gate:agent/agent@example.com": "Agent",
        "gate:agent/program/claude": "claude",
        "gate:agent/ada@example.com": "Ada Lovelace",
        "gate:agent/bob@example.com": "Bob Babbage",
    }
    raw = json.loads(text)
    assert [one["gate:work"] for one in raw["activity"].values()] == [commit]
    assert f"gate:record/{record}" in raw["entity"]
    assert START.removesuffix("Z") in text


def test_one_record_comes_out_as_it_was_signed(project: Project) -> None:
    work(project)
    record = project.gate("approve", "--json").ok().json["record"]
    raw = project.gate("export", "--record", record[:7]).ok().out
    stored = project.git("hash-object", "-t", "tag", "--stdin", stdin=raw).out.strip()
    assert stored == record
    unknown = project.gate("export", "--record", "0" * 40)
    assert (unknown.status, unknown.out) == (129, "")


def test_export_json_shows_what_show_shows(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = make_project(tmp_path, home, TIMED)
    work(project)
    clock.later(minutes=61)
    document = json.loads(project.gate("export", "--format", "json").ok().out)
    assert [(one["subject"], one["status"]) for one in document["instances"]] == [
        ("feature", "expired")
    ]
