"""`validate`: a reviewer runs the validations again, and everybody sees who found what."""

from __future__ import annotations

from pathlib import Path

import pytest
from outputs import START, Clock
from support.project import Project
from support.validations import ADA, CHECK, make_team, one

AGENT = "Agent <agent@example.com>"
BOB = "Bob Babbage <bob@example.com>"
RULES = one('["./tools/check"]', ', paths: ["**/*.md"], on_error: warn')


@pytest.fixture
def asked(tmp_path: Path, home: Path, clock: Clock) -> Project:
    """An agent has opened the gate on a page with an error; Bob is at work."""
    project = make_team(tmp_path, home, RULES, {"tools/check": CHECK})
    project.commit("one", {"a.md": "# A\nBAD\n", "b.txt": "x\n"})
    project.gate("open").ok()
    project.be(project.people["bob"])
    return project


def new_policy(project: Project, check: str) -> None:
    """Another tool on main."""
    project.git("switch", "-q", "main")
    project.commit("Tool", {"tools/check": check})
    project.land()
    project.git("fetch", "-q")
    project.git("switch", "-q", "feature")


def test_the_same_finding_has_two_who_report_it(asked: Project, clock: Clock) -> None:
    later = clock.later(minutes=5)
    document = asked.gate("validate", "--json").ok().json
    assert document["validations"] == [
        {"name": "check", "on_error": "warn", "paths": 1, "errors": 1, "warnings": 0}
    ]
    assert document["validated"] == [{"by": BOB, "at": later, "errors": 1, "warnings": 0}]
    assert document["context"]["validation_errors"] == 1
    page = document["deliverables"][0]
    both = [f"check, run by {AGENT}", f"check, run by {BOB}"]
    assert (page["messages"], page["reported_by"]) == (["line 2: error: bad: BAD"], both)
    assert page["findings"][0]["reported_by"] == both
    assert asked.gate("show", "--json").json == {
        key: value for key, value in document.items() if key != "validations"
    }


def test_the_panel_says_whose_word_it_is(asked: Project, clock: Clock) -> None:
    later = clock.later(minutes=5)
    said = asked.gate("validate").ok().out
    assert said.startswith(
        "recorded what the validations found:\n"
        "validation check: 1 path, 1 error, 0 warnings\n\nHuman Approval Gate\n"
    )
    assert f"  • validated again by {BOB} at {later}: 1 error, 0 warnings\n" in said
    assert (
        "  ✗ a.md (1 error)  A\n"
        "      ✗ line 2: error: bad: BAD"
        f" (reported by check, run by {AGENT}; check, run by {BOB})\n"
        "  ✓ b.txt  x\n"
    ) in said


def test_the_policy_in_force_decides_what_runs_and_nothing_hides(asked: Project) -> None:
    new_policy(asked, '#!/bin/sh\necho "a.md:1: error: the new tool"\n')
    document = asked.gate("validate", "--json").ok().json
    assert document["deliverables"][0]["messages"] == [
        "line 2: error: bad: BAD", "line 1: error: the new tool",
    ]  # fmt: skip
    new_policy(asked, "#!/bin/sh\nexit 0\n")
    again = asked.gate("validate", "--json").ok().json
    assert again["deliverables"][0]["messages"] == ["line 2: error: bad: BAD"]
    assert [(run["by"], run["errors"]) for run in again["validated"]] == [(BOB, 0)]


def test_the_newest_run_of_each_person_is_shown(asked: Project) -> None:
    new_policy(asked, '#!/bin/sh\necho "warning: x"\necho "README.md: warning: by Bob"\n')
    asked.gate("validate").ok()
    asked.be(asked.people["ada"])
    new_policy(asked, '#!/bin/sh\necho "README.md: error: by Ada"\n')
    document = asked.gate("validate", "--json").ok().json
    assert document["findings"] == [
        {"line": None, "level": "error", "text": "README.md: by Ada",
         "reported_by": [f"check, run by {ADA}"]},
        {"line": None, "level": "warning", "text": "README.md: by Bob",
         "reported_by": [f"check, run by {BOB}"]},
    ]  # fmt: skip
    assert [(run["by"], run["errors"], run["warnings"]) for run in document["validated"]] == [
        (BOB, 0, 1), (ADA, 1, 0),
    ]  # fmt: skip
    waited = asked.gate("wait", "--timeout", "0", "--json")
    assert waited.status == 124
    asked.gate("reject", "-m", "no").ok()
    heard = asked.gate("wait", "--json").json["findings"]
    assert [(one["path"], one["level"], one["text"]) for one in heard] == [
        ("a.md", "error", "bad: BAD"),
        (None, "error", "README.md: by Ada"),
        (None, "warning", "README.md: by Bob"),
    ]


def test_the_event_holds_what_was_found(asked: Project) -> None:
    asked.gate("validate").ok()
    ref = asked.ledger()
    body = asked.git("show", f"{ref}:.aiwg/gates/main/0002-validated.yml").out
    newest = asked.gate("show", "--json").json["request"]
    assert body == (
        f'at: "{START}"\n'
        f'by: "{BOB}"\n'
        f'request: "{newest}"\n'
        "findings:\n"
        '  - path: "a.md"\n'
        "    line: 2\n"
        '    level: "error"\n'
        '    text: "bad: BAD"\n'
        f'    reported_by: "check, run by {BOB}"\n'
    )
    [_, validated] = asked.gate("log", "--json").json["events"]
    assert (validated["event"], validated["by"], validated["ignored"]) == ("validated", BOB, None)
    asked.gate("approve").ok()
    asked.push("HEAD:refs/heads/main").ok()


def test_the_next_iteration_begins_without_them(asked: Project) -> None:
    asked.gate("validate").ok()
    asked.commit("two", {"a.md": "# A\nfine\n"})
    document = asked.gate("open", "--json").ok().json
    assert (document["iteration"], document["validated"]) == (2, [])
    assert document["deliverables"][0]["status"] == "validated"
    first = asked.gate("show", "--iteration", "1", "--json").json
    assert len(first["validated"]) == 1


def test_what_was_reviewed_is_validated_and_not_what_is_checked_out(asked: Project) -> None:
    asked.git("switch", "-q", "main")
    asked.write("a.md", "BAD BAD\n")
    document = asked.gate("validate", "--subject", "feature", "--json").ok().json
    assert document["deliverables"][0]["messages"] == ["line 2: error: bad: BAD"]
    assert (asked.top / "a.md").read_text() == "BAD BAD\n"


def test_where_there_is_nothing_to_validate(asked: Project) -> None:
    before = asked.git("for-each-ref").out
    assert asked.gate("validate", "--subject", "other").status == 15
    assert asked.git("for-each-ref").out == before
    asked.be(asked.people["agent"], signs=False)
    asked.gate("withdraw").ok()
    ended = asked.gate("validate")
    assert (ended.status, ended.out) == (15, "")
    assert "nothing of main of feature is to be validated" in ended.err


def test_a_gate_without_validations_is_a_usage_error(project: Project) -> None:
    project.branch("feature")
    project.commit("one", {"a.md": "x\n"})
    project.gate("open").ok()
    refused = project.gate("validate")
    assert (refused.status, refused.out) == (129, "")
    assert "gate `main` has no validations" in refused.err
