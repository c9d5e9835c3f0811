"""Whatever is wrong with a policy is said at once: the line, what was expected, what was found."""

# ruff: noqa: E501
# Messages are compared whole, each on a line of its own.

from __future__ import annotations

from textwrap import dedent

import pytest

from gitgate.core.policyreader import PolicyError, parse_policy


def _complaints(text: str | bytes) -> str:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(PolicyError) as caught:
        parse_policy(data)
    return str(caught.value) + "\n"


def test_all_problems_of_a_file_are_reported_by_line() -> None:
    text = """\
    human_gates:
      version: "1"
      gates:
        main:
          titel: Changes
          guards: main
          approvals: {required: 3, by: [ada@example.com, "@architect"], self_approval: yes}
          skip: {by: []}
          deadline: {minutes: 1.5, action: parc}
          transition: {from: alpha}
        other:
          approvals: {required: 3, by: ["@architects", Ada@example.com]}
      policy_gate: man
      groups: {architects: [ada@example.com, bob@example.com, "@x"]}
      journal: "true"
      display: {verbosity: detailled, colors: False, box_style: ~, sound: true}
      defaults: {timeout_minutes: 0777, require_comment: [true]}
    """
    assert _complaints(dedent(text)) == dedent("""\
    aiwg.yml:2: expected 1 as version, found the text '1'; leave out the quotes
    aiwg.yml:5: expected a key of gates.main, found 'titel'; did you mean 'title'?
    aiwg.yml:6: expected a list of texts as gates.main.guards, found 'main'; write [main]
    aiwg.yml:7: expected a group of 'groups' in gates.main.approvals.by, found '@architect'; did you mean '@architects'?
    aiwg.yml:7: expected true or false as gates.main.approvals.self_approval, found 'yes'; did you mean 'true'?
    aiwg.yml:8: expected a list of texts as gates.main.skip.by, found an empty list
    aiwg.yml:9: expected a whole number from 0 to 5270400 as gates.main.deadline.minutes, found '1.5'
    aiwg.yml:9: expected reject, park or none as gates.main.deadline.action, found 'parc'; did you mean 'park'?
    aiwg.yml:10: expected the key 'to' in gates.main.transition, found no such key
    aiwg.yml:10: expected the key 'phases' in human_gates, for gates.main.transition, found no such key
    aiwg.yml:12: expected no more than 2, the people in gates.other.approvals.by, as gates.other.approvals.required, found 3
    aiwg.yml:13: expected a gate as policy_gate, found 'man'; did you mean 'main'?
    aiwg.yml:14: expected a principal and no group in groups.architects, found '@x'
    aiwg.yml:15: expected true or false as journal, found the text 'true'; leave out the quotes
    aiwg.yml:16: expected a key of display, found 'sound'; its keys are verbosity, colors, box_style, auto_clear
    aiwg.yml:16: expected minimal, normal or detailed as display.verbosity, found 'detailled'; did you mean 'detailed'?
    aiwg.yml:16: expected true or false as display.colors, found 'False'; did you mean 'false'?
    aiwg.yml:16: expected single, double, round or bold as display.box_style, found nothing
    aiwg.yml:17: expected a whole number from 0 to 5270400 as defaults.timeout_minutes, found '0777'
    aiwg.yml:17: expected true or false as defaults.require_comment, found a list
    """)


def test_the_problems_are_values_with_file_and_line() -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy(b"human_gates:\n  jurnal: true\n", file="rules/aiwg.yml")
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == ("rules/aiwg.yml", 2)
    assert (
        problem.message == "expected a key of human_gates, found 'jurnal'; did you mean 'journal'?"
    )


_GATE = "human_gates: {phases: {order: [alpha, beta]}, gates: {main: {%s}}}"


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ("guards: [main]", "a pattern that begins with 'refs/' in gates.main.guards, found 'main'; did you mean 'refs/heads/main'?"),
        ("guards: [refs/notes/x]", "refs other than the journal, ledgers and notes in gates.main.guards, found 'refs/notes/x'"),
        ("guards: [refs/../x]", "a pattern without the folders '.' and '..' ('**' is everything) in gates.main.guards, found 'refs/../x'"),
        ("when: [/src]", "a pattern relative to the top of the repository in gates.main.when, found '/src'"),
        ('when: ["!src"]', "a pattern without exclusion or magic (a name that begins so: '\\!') in gates.main.when, found '!src'"),
        ('when: ["a\\tb"]', "a pattern without control characters in gates.main.when, found 'a\\tb'"),
        ('deliverables: ["src*/"]', "a pattern that ends in '/**' to mean all in a folder in gates.main.deliverables, found 'src*/'"),
        ("when: 3", "a list of texts as gates.main.when, found '3'; write [3]"),
        ("when: ", "a list of texts as gates.main.when, found nothing"),
        ("title: ", "a text as gates.main.title, found nothing"),
        ("title: {a: b}", "a text as gates.main.title, found a mapping"),
        ('title: " x"', "one line of 1 to 1000 characters without blanks at its edges as gates.main.title, found ' x'"),
        ("rejections: vetoes", "veto or advisory as gates.main.rejections, found 'vetoes'; did you mean 'veto'?"),
        ("transition: [alpha, beta]", "a mapping as gates.main.transition, found a list"),
        ("transition: {from: alpha, to: bet}", "a phase of phases.order as gates.main.transition.to, found 'bet'; did you mean 'beta'?"),
        ("transition: {from: beta, to: beta}", "two phases in gates.main.transition, found 'beta' as both"),
        ("approvals: {required: 0}", "a whole number from 1 to 1000 as gates.main.approvals.required, found '0'"),
        ("approvals: {required: 2, by: [a, A]}", "no more than 1, the people in gates.main.approvals.by, as gates.main.approvals.required, found 2"),
        ('approvals: {by: ["*@x.org"]}', "a principal as in .aiwg/allowed_signers, such as ada@example.com in gates.main.approvals.by, found '*@x.org'"),
        ("approvals: {presence: face}", "none or touch as gates.main.approvals.presence, found 'face'"),
        ("validations: {name: x}", "a list of mappings as gates.main.validations, found a mapping"),
        ("validations: [{run: [x]}]", "the key 'name' in gates.main.validations[1], found no such key"),
        ("validations: [{name: x, run: []}]", "a list of texts as gates.main.validations[1].run, found an empty list"),
        ("validations: [{name: x, run: [../x]}]", "a program, or its path without '..', first in gates.main.validations[1].run, found '../x'"),
        ("validations: [{name: x, run: [x, 4]}]", "a text in gates.main.validations[1].run, found 4 without quotes; write '4'"),
        ("validations: [{name: x, run: [x]}, {name: x, run: [z]}]", "a name of its own in gates.main.validations[2], found 'x' again"),
        ("validations: [{name: x, run: [x], timeout_seconds: 0}]", "a whole number from 1 to 604800 as gates.main.validations[1].timeout_seconds, found '0'"),
        ("escalation: [{after: 4, notify: [x]}]", "a text as gates.main.escalation[1].after, found 4 without quotes; write '4'"),
        ("escalation: [{after: 4w, notify: [x]}]", "a duration such as 0m, 4h or 2d as gates.main.escalation[1].after, found '4w'"),
        ("escalation: [{after: 1d, notify: [x]}, {after: 2h, notify: [x]}]", "no less than in the entry before as gates.main.escalation[2].after, found '2h'"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_gate(gate: str, said: str) -> None:
    assert _complaints(_GATE % gate) == f"aiwg.yml:1: expected {said}\n"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("gates: {Main: {}}", "a gate id (1 to 64 of a-z, 0-9 and -, not - first) as a key of gates, found 'Main'"),
        ("gates: [main]", "a mapping as gates, found a list"),
        ("gates: ", "a mapping as gates, found nothing"),
        ("gates: {main: }", "a mapping as gates.main, found nothing"),
        ("version: 0", "1 as version, found '0'"),
        ("version: one", "1 as version, found 'one'"),
        ("groups: {leads: []}", "a list of texts as groups.leads, found an empty list"),
        ("groups: {le ads: [a]}", "a name of up to 64 letters, digits, '.', '_' and '-' as a key of groups, found 'le ads'"),
        ('bots: ["@bots"]', "a principal and no group in bots, found '@bots'"),
        ("openpgp: {a: [ABCD]}", "a whole fingerprint (40 or 64 hex digits) in openpgp.a, found 'ABCD'"),
        (f"x509: {{a: [{'AB' * 20}], b: [{'ab' * 20}]}}", f"a key of one person in x509.b, found {'AB' * 20} of a again"),
        ("phases: {}", "the key 'order' in phases, found no such key"),
        ("phases: {order: [a, b, a]}", "each phase once in phases.order, found 'a' twice"),
        ('phases: {order: [a], file: "a*"}', "a path without wildcards and backslashes as phases.file, found 'a*'"),
        ("phases: {order: [a], file: .GIT/x}", "a path outside of git's own folder as phases.file, found '.GIT/x'"),
        ("phases: {order: [a], file: a/../../x}", "a relative path of a file (without '.', '..' and control characters) as phases.file, found 'a/../../x'"),
        ("logging: {log_path: /etc/passwd}", "a relative path of a file (without '.', '..' and control characters) as logging.log_path, found '/etc/passwd'"),
        ("logging: {log_path: aiwg.yml}", "a file that is no part of the policy as logging.log_path, found 'aiwg.yml'"),
        ("owners: {}", "a key of human_gates, found 'owners'; its keys are version, gates, policy_gate, groups, bots, openpgp, x509, journal, phases, display, options, logging, defaults"),
    ],
)  # fmt: skip
def test_what_is_said_of_the_rest(entry: str, said: str) -> None:
    assert _complaints(f"human_gates: {{{entry}}}") == f"aiwg.yml:1: expected {said}\n"


@pytest.mark.parametrize(
    "name",
    ["no", "On", "y", "TRUE", "null", "~", "1", "-1", "0777", "0o7", "0x1F", "1_000", "1.5", "1e3",
     ".5", "-.inf", ".NaN", "12:30", "12:30:45.5", "2001-12-14", "2001-12-14t21:59:43.10-05:00", "="],
)  # fmt: skip
def test_a_name_that_yaml_may_take_for_something_else_has_to_be_in_quotes(name: str) -> None:
    """`no` is false, `0777` is 511, a date is a date: for some reader of the same file."""
    said = "nothing" if name in ("null", "~") else f"{name} without quotes; write {name!r}"
    for text, where in (
        (f"groups: {{g: [{name}]}}", "in groups.g"),
        (f"gates: {{a: {{title: {name}}}}}", "as gates.a.title"),
        (f"phases: {{order: [{name}]}}", "in phases.order"),
    ):
        expected = f"aiwg.yml:1: expected a text {where}, found {said}\n"
        assert _complaints(f"human_gates: {{{text}}}") == expected
    quoted = f"human_gates: {{groups: {{g: ['{name}']}}, phases: {{order: ['{name}']}}}}"
    policy = parse_policy(quoted.encode())
    assert policy is not None
    assert policy.groups["g"] == (name,)


def test_a_gate_named_no_has_to_be_in_quotes() -> None:
    said = "aiwg.yml:1: expected a text as a key of gates, found no without quotes; write 'no'\n"
    assert _complaints("human_gates: {gates: {no: {}}}") == said
    policy = parse_policy(b'human_gates: {gates: {"no": {}}}')
    assert policy is not None
    assert [*policy.gates] == ["no"]


@pytest.mark.parametrize("rest", ["", ", future: yes", ", gates: [1], <<: {}", ", jurnal: true"])
def test_a_newer_version_is_the_only_problem(rest: str) -> None:
    said = "aiwg.yml:1: expected version 1, found version 2; upgrade git-gate\n"
    assert _complaints(f"human_gates: {{version: 2{rest}}}") == said


def test_hostile_texts_are_shown_shortened_and_escaped() -> None:
    text = 'human_gates: {"a\\e[2J\\u202eb": 1, "%s": 1}' % ("x" * 500)
    first, second = _complaints(text).splitlines()
    assert first.startswith(
        "aiwg.yml:1: expected a key of human_gates, found 'a\\x1b[2J\\u202eb'; "
    )
    assert f"found '{'x' * 60}…'; its keys are" in second


def test_a_long_list_of_problems_is_cut_and_says_so() -> None:
    text = "human_gates: {" + ", ".join(f"key{number}: 1" for number in range(70)) + "}"
    lines = _complaints(text).splitlines()
    assert (len(lines), lines[-1]) == (51, "and 20 more")
