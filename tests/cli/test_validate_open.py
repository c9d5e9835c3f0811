"""`open` runs the validations of its gate and asks with what they found."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.project import Project
from support.validations import ADA, CHECK, make, one

CHECKED = one('["./tools/check"]', ', paths: ["**/*.md"]')
WARNED = one('["./tools/check"]', ", on_error: warn")
TOOLS = {"tools/check": CHECK}
BY = [f"check, run by {ADA}"]


@pytest.fixture
def checked(tmp_path: Path, home: Path) -> Project:
    return make(tmp_path, home, CHECKED, TOOLS)


@pytest.fixture
def warned(tmp_path: Path, home: Path) -> Project:
    return make(tmp_path, home, WARNED, TOOLS)


def row(line: int, level: str, text: str) -> dict[str, object]:
    return {"line": line, "level": level, "text": text, "reported_by": BY}


def refs(project: Project) -> str:
    return project.git("for-each-ref").out


def test_what_is_good_is_opened_as_validated(checked: Project) -> None:
    checked.commit("one", {"a.md": "# A\n", "b.txt": "BAD\n"})
    document = checked.gate("open", "--json").ok().json
    assert [(one["path"], one["status"]) for one in document["deliverables"]] == [
        ("a.md", "validated"), ("b.txt", "validated"),
    ]  # fmt: skip
    assert document["context"]["validation_errors"] == document["context"]["warnings"] == 0
    assert (document["findings"], document["validated"]) == ([], [])


def test_an_error_refuses_the_opening_and_nothing_is_written(checked: Project) -> None:
    checked.commit("one", {"a.md": "# A\nODD\nBAD\n", "b/c.md": "BAD\n"})
    before = refs(checked)
    refused = checked.gate("open")
    assert (refused.status, refused.out) == (1, "")
    assert refused.err == (
        "git-gate: validation `check` found 2 errors, so nothing was opened:\n"
        "  a.md:3: error: bad: BAD\n"
        "  b/c.md:1: error: bad: BAD\n"
        "  a.md:2: warning: odd: ODD\n"
        "hint: mend the work and commit it, or git gate open --anyway\n"
    )
    assert refs(checked) == before


def test_the_refusal_is_a_document_too(checked: Project) -> None:
    checked.commit("one", {"a.md": "ODD\nBAD\n"})
    refused = checked.gate("open", "--json")
    assert refused.status == 1
    assert refused.json == {
        "schema": 1,
        "gate": "main",
        "subject": "feature",
        "result": "refused",
        "validations": [
            {"name": "check", "on_error": "block", "paths": 1, "errors": 1, "warnings": 1}
        ],
        "findings": [
            {"path": "a.md", **row(2, "error", "bad: BAD")},
            {"path": "a.md", **row(1, "warning", "odd: ODD")},
        ],
    }


def test_anyway_opens_it_and_the_panel_says_so(checked: Project) -> None:
    checked.commit("one", {"a.md": "# A\n", "b.md": "# B\nODD\n", "c.md": "# C\nODD\nBAD\n"})
    panel = checked.gate("open", "--anyway").ok().out
    assert (
        "Context:\n"
        "  • 3 artifacts created\n"
        "  • 1 validation error\n"
        "  • 3 warnings\n"
        "  • ⚠ warning: opened although validation `check` refuses it"
        f" (reported by {ADA})\n"
    ) in panel
    assert (
        "Deliverables:\n"
        "  ✗ c.md (1 error, 1 warning)  C\n"
        f"      ✗ line 3: error: bad: BAD (reported by {BY[0]})\n"
        "      ⚠ line 2: warning: odd: ODD\n"
        "  ⚠ b.md (1 warning)  B\n"
        f"      ⚠ line 2: warning: odd: ODD (reported by {BY[0]})\n"
        "  ✓ a.md  A\n"
    ) in panel
    checked.gate("approve").ok()


def test_after_it_is_mended_it_opens(checked: Project) -> None:
    checked.commit("one", {"a.md": "BAD\n"})
    assert checked.gate("open").status == 1
    checked.commit("two", {"a.md": "good\n"})
    assert checked.gate("open", "--json").ok().json["result"] == "opened"
    checked.commit("three", {"a.md": "BAD\n"})
    assert checked.gate("open").status == 1
    assert checked.gate("show", "--json").json["iteration"] == 1


def test_with_warn_an_error_is_shown_and_the_gate_opened(warned: Project) -> None:
    warned.commit("one", {"a.md": "# A\nBAD\nODD\n"})
    document = warned.gate("open", "--json").ok().json
    [deliverable] = document["deliverables"]
    assert deliverable == {
        "path": "a.md",
        "oid": warned.rev("HEAD:a.md"),
        "status": "error",
        "messages": ["line 2: error: bad: BAD", "line 3: warning: odd: ODD"],
        "description": "A",
        "reported_by": BY,
        "findings": [row(2, "error", "bad: BAD"), row(3, "warning", "odd: ODD")],
    }
    counts = ("artifact_count", "validation_errors", "warnings")
    assert [document["context"][name] for name in counts] == [1, 1, 1]
    assert document["findings"] == []


def test_whoever_waits_hears_the_findings(warned: Project) -> None:
    warned.commit("one", {"a.md": "# A\nBAD\n"})
    warned.gate("open").ok()
    warned.gate("reject", "-m", "no").ok()
    assert warned.gate("wait", "--json").json["findings"] == [
        {"path": "a.md", **row(2, "error", "bad: BAD")}
    ]


def test_each_path_is_an_argument_and_none_is_an_option(tmp_path: Path, home: Path) -> None:
    show = '#!/bin/sh\nfor word do printf "%s|" "$word" >&2; done\nexit 9\n'
    project = make(tmp_path, home, one('["./show", "--all"]', ", on_error: warn"), {"show": show})
    names = ("-rf", "a b.md", "$(touch x)", "--config=x", "é'\";.md")
    project.commit("one", dict.fromkeys(names, "x\n"))
    [finding] = project.gate("open", "--json").ok().json["findings"]
    assert finding["text"] == (
        "validation `check` failed with exit status 9: --all|"
        "$(touch x)|./--config=x|./-rf|a b.md|é'\";.md|"
    )


def test_nothing_runs_where_nothing_matches(tmp_path: Path, home: Path) -> None:
    rules = one('["./no-such-tool"]', ', paths: ["**/*.md"]')
    project = make(tmp_path, home, rules)
    project.commit("one", {"a.txt": "x\n"})
    project.gate("open").ok()


def test_it_runs_again_where_the_paths_are_too_many(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = '#!/bin/sh\necho "README.md: warning: $# paths"\nprintf "%s: error: e\\n" "$@"\n'
    project = make(tmp_path, home, one('["./count"]'), {"count": count})
    project.commit("one", {f"{n:03}{'x' * 200}": "x\n" for n in range(100)})
    from gitgate.app.policy import policycommand

    monkeypatch.setattr(policycommand, "_MOST_ARGUMENTS", 25_000)
    found = project.gate("open", "--json").json["findings"]
    assert sum(one["level"] == "error" for one in found) == 100
    counts = [int(one["text"].split()[1]) for one in found if one["level"] == "warning"]
    assert (sum(counts), len(counts) > 1) == (100, True)


def test_each_validation_sees_the_work_as_it_is(tmp_path: Path, home: Path) -> None:
    rules = '- {name: spoils, run: ["./spoil"]}\n- {name: check, run: ["./tools/check"]}\n'
    spoil = "#!/bin/sh\necho BAD >a.md; rm -r b; mkdir -m 0 b; chmod 0400 a.md; chmod 0500 .\n"
    project = make(tmp_path, home, rules, {**TOOLS, "spoil": spoil})
    project.commit("one", {"a.md": "# A\n", "b/c.md": "ODD\n"})
    document = project.gate("open", "--json").ok().json
    assert [one["status"] for one in document["deliverables"]] == ["validated", "warning"]


def test_findings_at_other_places(tmp_path: Path, home: Path) -> None:
    say = """#!/bin/sh
echo "$PWD/a.md:1: error: by its whole path"
echo "README.md:4: warning: of a file that is no deliverable"
echo "$0: warning: of the tool itself"
echo "checking..."
exit 1
"""
    project = make(tmp_path, home, one('["./say"]', ", on_error: warn"), {"say": say})
    project.commit("one", {"a.md": "x\n"})
    document = project.gate("open", "--json").ok().json
    assert document["deliverables"][0]["messages"] == ["line 1: error: by its whole path"]
    assert [one["text"] for one in document["findings"]] == [
        "README.md:4: of a file that is no deliverable",
        "say: of the tool itself",
    ]
