"""The configuration example of the display rules, unchanged: it is valid, and what each key does.

Only values are looked at for the keys of `display` and `options`: what they change is the
reviewer's session.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from outputs import Clock
from support.project import Project, make_project

from gitgate.core.policy import BoxStyle, Verbosity
from gitgate.core.policyreader import PolicyError, parse_policy

EXAMPLE = """\
human_gates:
  display:
    verbosity: detailed      # minimal | normal | detailed
    colors: true             # Enable terminal colors
    box_style: round         # single | double | round | bold
    auto_clear: true         # Clear screen before display

  options:
    show_edit: true          # Show edit option
    show_skip: true          # Show skip option
    show_diff: true          # Show diff option

  logging:
    log_all_decisions: true
    log_path: ".aiwg/gates/decisions.log"

  defaults:
    timeout_minutes: 60      # Auto-reject after timeout
    require_comment: false   # Require comment on approve
"""

GATE = """\
  gates:
    main: {guards: [refs/heads/main], approvals: {self_approval: true}}
  policy_gate: main
"""

LOG = ".aiwg/gates/decisions.log"


def policy_of(text: str) -> Any:
    found = parse_policy(text.encode())
    assert found is not None
    return found


def opened(tmp_path: Path, home: Path, old: str = "", new: str = "") -> Project:
    """A project with the example, one place of it changed, and a gate that is open."""
    assert not old or EXAMPLE.count(old) == 1
    project = make_project(tmp_path, home, EXAMPLE.replace(old, new) + GATE, hook=False)
    project.branch("feature")
    project.commit("Add a page", {"page.md": "# Page\n"})
    project.gate("open").ok()
    return project


def test_the_example_unchanged_is_a_valid_policy(project: Project) -> None:
    policy = policy_of(EXAMPLE)
    assert (policy.display.verbosity, policy.display.colors) == (Verbosity.DETAILED, True)
    assert (policy.display.box_style, policy.display.auto_clear) == (BoxStyle.ROUND, True)
    options = policy.options
    assert (options.show_edit, options.show_skip, options.show_diff) == (True, True, True)
    assert (policy.logging.log_all_decisions, policy.logging.log_path) == (True, LOG)
    assert (policy.defaults.timeout_minutes, policy.defaults.require_comment) == (60, False)
    project.write("aiwg.yml", EXAMPLE)
    assert project.gate("policy", "check").ok().out == "the policy is valid\n"


def test_it_says_what_holds_without_it() -> None:
    assert policy_of(EXAMPLE) == policy_of("human_gates: {version: 1}\n")


@pytest.mark.parametrize(
    ("key", "value", "part", "expected"),
    [
        ("verbosity: detailed", "verbosity: minimal", "display.verbosity", Verbosity.MINIMAL),
        ("verbosity: detailed", "verbosity: normal", "display.verbosity", Verbosity.NORMAL),
        ("colors: true", "colors: false", "display.colors", False),
        ("box_style: round", "box_style: single", "display.box_style", BoxStyle.SINGLE),
        ("box_style: round", "box_style: double", "display.box_style", BoxStyle.DOUBLE),
        ("box_style: round", "box_style: bold", "display.box_style", BoxStyle.BOLD),
        ("auto_clear: true", "auto_clear: false", "display.auto_clear", False),
        ("show_edit: true", "show_edit: false", "options.show_edit", False),
        ("show_skip: true", "show_skip: false", "options.show_skip", False),
        ("show_diff: true", "show_diff: false", "options.show_diff", False),
    ],
)
def test_what_the_session_goes_by_is_read(key: str, value: str, part: str, expected: Any) -> None:
    section, name = part.split(".")
    policy = policy_of(EXAMPLE.replace(key, value))
    assert getattr(getattr(policy, section), name) == expected


def test_log_path_is_where_decisions_are_logged(tmp_path: Path, home: Path) -> None:
    project = opened(tmp_path, home)
    project.gate("approve").ok()
    [row] = yaml.safe_load_all((project.top / LOG).read_text())
    assert row["gate_decision"]["action"] == "approve"


def test_another_log_path_is_another_place(tmp_path: Path, home: Path) -> None:
    project = opened(tmp_path, home, LOG, "gates/log.yml")
    project.gate("approve").ok()
    assert (project.top / "gates" / "log.yml").is_file() and not (project.top / LOG).exists()


def test_log_all_decisions_false_writes_no_log(tmp_path: Path, home: Path) -> None:
    project = opened(tmp_path, home, "log_all_decisions: true", "log_all_decisions: false")
    project.gate("approve").ok()
    assert not (project.top / LOG).exists()
    assert project.gate("check").ok().out


def test_timeout_minutes_rejects_when_they_are_over(
    tmp_path: Path, home: Path, clock: Clock
) -> None:
    project = opened(tmp_path, home)
    assert project.gate("show", "--json").ok().json["deadline"] == "2025-12-01T06:00:00Z"
    clock.later(minutes=60)
    assert project.gate("show", "--json").ok().json["status"] == "open"
    clock.later(seconds=1)
    assert project.gate("show", "--json").ok().json["status"] == "expired"
    assert project.gate("check").status == 12
    [row] = yaml.safe_load_all((project.top / LOG).read_text())
    told = row["gate_decision"]
    assert (told["action"], told["user"]) == ("reject", "(deadline)")


def test_other_timeout_minutes_are_another_time(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = opened(tmp_path, home, "timeout_minutes: 60", "timeout_minutes: 5")
    clock.later(minutes=5, seconds=1)
    assert project.gate("show", "--json").ok().json["status"] == "expired"


def test_no_timeout_minutes_are_no_deadline(tmp_path: Path, home: Path, clock: Clock) -> None:
    project = opened(tmp_path, home, "timeout_minutes: 60", "timeout_minutes: 0")
    clock.later(minutes=1_000_000)
    shown = project.gate("show", "--json").ok().json
    assert (shown["status"], shown["deadline"]) == ("open", None)


def test_require_comment_false_takes_an_approval_without_words(tmp_path: Path, home: Path) -> None:
    project = opened(tmp_path, home)
    assert project.gate("approve", "--json").ok().json["status"] == "approved"


def test_require_comment_true_wants_words(tmp_path: Path, home: Path) -> None:
    project = opened(tmp_path, home, "require_comment: false", "require_comment: true")
    refused = project.gate("approve")
    assert refused.status == 1 and "would not count" in refused.err
    assert project.gate("approve", "-m", "I read it", "--json").ok().json["status"] == "approved"


WRONG = """\
verbosity: → verbossity:
3: expected a key of display, found 'verbossity'; did you mean 'verbosity'?
colors: true → colors: yes
4: expected true or false as display.colors, found 'yes'; did you mean 'true'?
box_style: round → box_style: rounded
5: expected single, double, round or bold as display.box_style, found 'rounded'; did you mean 'round'?
auto_clear: true → auto_clear: 1
6: expected true or false as display.auto_clear, found '1'
show_edit: true → show_edit: [true]
9: expected true or false as options.show_edit, found a list
show_skip: true → show_skip: "true"
10: expected true or false as options.show_skip, found the text 'true'; leave out the quotes
show_diff: → show_dif:
11: expected a key of options, found 'show_dif'; did you mean 'show_diff'?
log_all_decisions: true → log_all_decisions:
14: expected true or false as logging.log_all_decisions, found nothing
.aiwg/gates/decisions.log → ../decisions.log
15: expected a relative path of a file (without '.', '..' and control characters) as logging.log_path, found '../decisions.log'
timeout_minutes: 60 → timeout_minutes: 1h
18: expected a whole number from 0 to 5270400 as defaults.timeout_minutes, found '1h'
require_comment: → require_coment:
19: expected a key of defaults, found 'require_coment'; did you mean 'require_comment'?
"""  # noqa: E501


@pytest.mark.parametrize(("change", "said"), [*zip(*[iter(WRONG.splitlines())] * 2, strict=True)])
def test_what_is_wrong_in_it_gets_its_line(change: str, said: str) -> None:
    old, new = change.split(" → ")
    with pytest.raises(PolicyError) as caught:
        parse_policy(EXAMPLE.replace(old, new).encode())
    assert [str(problem) for problem in caught.value.problems] == [f"aiwg.yml:{said}"]
