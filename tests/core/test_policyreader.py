"""What a sound policy is read as: every key, every default."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gitgate.core import policyreader
from gitgate.core.policy import (
    Agents,
    Approvals,
    BoxStyle,
    Deadline,
    Defaults,
    Display,
    Escalation,
    Gate,
    Logging,
    OnError,
    Options,
    Overdue,
    Phases,
    Policy,
    Presence,
    Rejections,
    Skip,
    Transition,
    UnknownAuthors,
    Validation,
    Verbosity,
    frozen,
)
from gitgate.core.policyreader import KEYS, parse_policy

_DOCS = Path(policyreader.__file__).parents[2] / "docs" / "policy.md"

# Each value differs from its default.
_EVERYTHING = """\
human_gates:
  version: 1
  gates:
    elaboration:
      title: Lifecycle Architecture
      transition: {from: elaboration, to: construction}
      guards: [refs/heads/main]
      when: [".aiwg/**"]
      deliverables: [".aiwg/requirements/**", ".aiwg/architecture/**"]
      validations:
        - {name: links, run: [./tools/check-links, "1"], paths: ["**/*.md"], on_error: warn,
           timeout_seconds: 30}
        - {name: spelling, run: [aspell]}
      next_steps: [Start iteration C1, Hand over]
      approvals: {required: 2, by: [ada@example.com, "@architects"], self_approval: true,
                  unknown_authors: allow, require_comment: true, presence: touch, agents: allow}
      rejections: advisory
      skip: {allowed: false, by: [ada@example.com], require_reason: false}
      deadline: {minutes: 90, action: park}
      escalation: [{after: 0m, notify: [lead]}, {after: 4h, notify: [lead, owner]},
                   {after: 2d, notify: [owner]}]
  policy_gate: elaboration
  groups: {architects: [ada@example.com, bob@example.com]}
  bots: ["bot[bot]@example.com"]
  openpgp: {ada@example.com: ["4a5f 4A5F 4A5F 4A5F 4A5F  4A5F 4A5F 4A5F 4A5F 4A5F"]}
  x509: {bob@example.com: ["ab:CDabcdabcdabcdabcdabcdabcdabcdabcdcdef"]}
  journal: true
  phases: {file: .aiwg/state, order: [elaboration, construction]}
  display: {verbosity: minimal, colors: false, box_style: bold, auto_clear: false}
  options: {show_edit: false, show_skip: false, show_diff: false}
  logging: {log_all_decisions: false, log_path: build/decisions.log}
  defaults: {timeout_minutes: 0, require_comment: true}
"""


def _parsed(text: str) -> Policy:
    policy = parse_policy(text.encode())
    assert policy is not None
    return policy


def test_every_key_is_effective() -> None:
    gate = Gate(
        id="elaboration",
        title="Lifecycle Architecture",
        transition=Transition("elaboration", "construction"),
        guards=("refs/heads/main",),
        when=(".aiwg/**",),
        deliverables=(".aiwg/requirements/**", ".aiwg/architecture/**"),
        validations=(
            Validation("links", ("./tools/check-links", "1"), ("**/*.md",), OnError.WARN, 30),
            Validation("spelling", ("aspell",), (), OnError.BLOCK, None),
        ),
        next_steps=("Start iteration C1", "Hand over"),
        approvals=Approvals(
            required=2,
            by=("ada@example.com", "@architects"),
            self_approval=True,
            unknown_authors=UnknownAuthors.ALLOW,
            require_comment=True,
            presence=Presence.TOUCH,
            agents=Agents.ALLOW,
        ),
        rejections=Rejections.ADVISORY,
        skip=Skip(allowed=False, by=("ada@example.com",), require_reason=False),
        deadline=Deadline(90, Overdue.PARK),
        escalation=(
            Escalation(0, ("lead",)),
            Escalation(240, ("lead", "owner")),
            Escalation(2880, ("owner",)),
        ),
    )
    assert _parsed(_EVERYTHING) == Policy(
        gates=frozen({"elaboration": gate}),
        policy_gate="elaboration",
        groups=frozen({"architects": ("ada@example.com", "bob@example.com")}),
        bots=("bot[bot]@example.com",),
        openpgp=frozen({"ada@example.com": ("4A5F" * 10,)}),
        x509=frozen({"bob@example.com": ("ABCD" * 9 + "CDEF",)}),
        journal=True,
        phases=Phases(".aiwg/state", ("elaboration", "construction")),
        display=Display(Verbosity.MINIMAL, False, BoxStyle.BOLD, False),
        options=Options(False, False, False),
        logging=Logging(False, "build/decisions.log"),
        defaults=Defaults(0, True),
    )


def test_what_is_left_out_has_its_default() -> None:
    assert _parsed("human_gates: {}") == Policy()
    gate = Gate(id="main", title="main", deadline=Deadline(60, Overdue.REJECT))
    assert _parsed("human_gates: {gates: {main: {}}}") == Policy(gates=frozen({"main": gate}))


def test_the_configuration_without_gates_is_a_policy_whose_values_hold() -> None:
    text = """\
human_gates:
  display:
    verbosity: normal        # minimal | normal | detailed
    colors: false            # Enable terminal colors
    box_style: double        # single | double | round | bold
    auto_clear: false        # Clear screen before display

  options:
    show_edit: false         # Show edit option
    show_skip: true          # Show skip option
    show_diff: false         # Show diff option

  logging:
    log_all_decisions: true
    log_path: ".aiwg/gates/log"

  defaults:
    timeout_minutes: 30      # Auto-reject after timeout
    require_comment: true    # Require comment on approve
"""
    assert _parsed(text) == Policy(
        display=Display(Verbosity.NORMAL, False, BoxStyle.DOUBLE, False),
        options=Options(False, True, False),
        logging=Logging(True, ".aiwg/gates/log"),
        defaults=Defaults(30, True),
    )


@pytest.mark.parametrize(
    ("defaults", "own", "deadline"),
    [
        ("{}", "", Deadline(60, Overdue.REJECT)),
        ("{timeout_minutes: 0}", "", None),
        ("{timeout_minutes: 5}", "", Deadline(5, Overdue.REJECT)),
        ("{timeout_minutes: 5}", "deadline: {action: park}", Deadline(5, Overdue.PARK)),
        ("{timeout_minutes: 5}", "deadline: {minutes: 9}", Deadline(9, Overdue.REJECT)),
        ("{timeout_minutes: 5}", "deadline: {minutes: 0}", None),
        ("{timeout_minutes: 0}", "deadline: {minutes: 9, action: none}", Deadline(9, Overdue.NONE)),
        ("{timeout_minutes: 0}", "deadline: {action: park}", None),
    ],
)
def test_a_gate_s_own_deadline_wins(defaults: str, own: str, deadline: Deadline | None) -> None:
    text = f"human_gates: {{defaults: {defaults}, gates: {{main: {{{own}}}}}}}"
    assert _parsed(text).gates["main"].deadline == deadline


def test_a_gate_s_own_require_comment_wins() -> None:
    text = "human_gates: {defaults: {require_comment: true}, gates: {a: {}, b: {approvals: %s}}}"
    gates = _parsed(text % "{require_comment: false}").gates
    assert [gate.approvals.require_comment for gate in gates.values()] == [True, False]


def test_gates_keep_the_order_of_the_file() -> None:
    assert [*_parsed("human_gates: {gates: {b: {}, a: {}, c: {}}}").gates] == ["b", "a", "c"]


@pytest.mark.parametrize(
    "text",
    ["", "# nothing\n", "~", "---\n...\n", "other: {human_gates: 1}\n", "? [human_gates]\n: 1\n"],
)
def test_a_file_without_the_key_holds_no_policy(text: str) -> None:
    assert parse_policy(text.encode()) is None


def test_other_keys_of_the_file_are_passed_over() -> None:
    text = """\
models: &fast {name: x, <<: {a: 1}, name: y}
agents: [*fast, !!python/object:os.system {}, [[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]
? [a, {b: c}]
: d
human_gates: {journal: true}
models: again
"""
    assert _parsed(text) == Policy(journal=True)


def test_a_byte_order_mark_and_carriage_returns_are_no_problem() -> None:
    assert _parsed("\ufeffhuman_gates:\r\n  journal: true\r\n") == Policy(journal=True)


def test_the_reference_has_a_row_for_every_key() -> None:
    sections = re.split(r"^##+ ", _DOCS.read_text(), flags=re.MULTILINE)
    rows: dict[str, list[str]] = {}
    for section in sections:
        heading = section.partition("\n")[0].strip("`")
        rows["gate" if heading == "A gate" else heading] = re.findall(
            r"^\| `([a-z0-9_]+)` \| .* \| .* \| .* \| .* \|$", section, flags=re.MULTILINE
        )
    assert {name: tuple(rows.get(name, ())) for name in KEYS} == KEYS


def test_the_example_in_the_reference_is_sound() -> None:
    example = re.findall(r"```yaml\n(.*?)```", _DOCS.read_text(), flags=re.DOTALL)
    assert [_parsed(text).policy_gate for text in example] == ["elaboration"]
