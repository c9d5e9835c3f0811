"""A policy is plain YAML or an error: nothing that hides, repeats, explodes or constructs."""

# ruff: noqa: E501
# Messages are compared whole, each on a line of its own.

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitgate.core.policyreader import KEYS, MAX_SIZE, PolicyError, parse_policy


def _complaints(data: bytes) -> str:
    with pytest.raises(PolicyError) as caught:
        parse_policy(data)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("human_gates: {}\nx: 1\nhuman_gates: {}", "3: expected human_gates once, found it again (first in line 1)"),
        ('human_gates: {}\n"human\\u005fgates": {}', "2: expected human_gates once, found it again (first in line 1)"),
        ("human_gates:\n  journal: true\n  journal: true", "3: expected each key once, found 'journal' again (first in line 2)"),
        ("human_gates: {gates: {a: {}, 'a': {}}}", "1: expected each key once, found 'a' again (first in line 1)"),
        ("human_gates:\n  gates:\n    a: {skip: {allowed: true, allowed: true}}", "3: expected each key once, found 'allowed' again (first in line 3)"),
        ("x: &x {}\nhuman_gates: *x", "2: expected no anchors and aliases in human_gates, found alias 'x'"),
        ("human_gates: &x {}", "1: expected no anchors and aliases in human_gates, found anchor 'x'"),
        ("&x human_gates: {}", "1: expected no anchors and aliases in human_gates, found anchor 'x'"),
        ("human_gates: {bots: [&x a]}", "1: expected no anchors and aliases in human_gates, found anchor 'x'"),
        ("human_gates: {&x journal: true}", "1: expected no anchors and aliases in human_gates, found anchor 'x'"),
        ("x: &x human_gates\n*x : {}", "2: expected a key at the top of the file, found an alias"),
        ("x: &x {human_gates: {}}\n<<: *x", "2: expected no merge key at the top of the file, found '<<'"),
        ("x: &x {human_gates: {}}\n!!merge m: *x", "2: expected no merge key at the top of the file, found '<<'"),
        ("human_gates: {<<: {journal: true}}", "1: expected no merge key in human_gates, found '<<'"),
        ("human_gates: {gates: {a: {<<: {title: x}}}}", "1: expected no merge key in human_gates, found '<<'"),
        ("human_gates: !!map {}", "1: expected no tags in human_gates, found 'tag:yaml.org,2002:map'"),
        ("human_gates: !!python/object:os.system {}", "1: expected no tags in human_gates, found 'tag:yaml.org,2002:python/object:os.system'"),
        ("human_gates: {journal: !!bool true}", "1: expected no tags in human_gates, found 'tag:yaml.org,2002:bool'"),
        ("human_gates: {bots: [! a]}", "1: expected no tags in human_gates, found '!'"),
        ("human_gates: {[a]: b}", "1: expected a text as key, found a list"),
        ("human_gates: {? {a: b} : c}", "1: expected a text as key, found a mapping"),
        ("human_gates: " + "[" * 21 + "]" * 21, "1: expected at most 20 levels in human_gates, found one more"),
        ("human_gates: {}\n---\nx: 1", "2: expected one YAML document, found the start of a second one"),
        ("x: 1\n---\nhuman_gates: {}", "2: expected one YAML document, found the start of a second one"),
        ("- human_gates: {}", "1: expected a mapping at the top of the file, found something else"),
        ("human_gates", "1: expected a mapping at the top of the file, found something else"),
        ("human_gates:", "1: expected a mapping as human_gates, found nothing"),
        ("human_gates: []", "1: expected a mapping as human_gates, found a list"),
        ("human_gates: {}\nx: [", "3: expected valid YAML, found a mistake (did not find expected node content)"),
        ("human_gates: {}\nx: a: b", "2: expected valid YAML, found a mistake (mapping values are not allowed in this context)"),
        ("human_gates: {}\nx: *nowhere\n\ty: z", "3: expected valid YAML, found a mistake (found character that cannot start any token)"),
        ("x: 1\nhuman_gates: \x07", "2: expected valid YAML, found a character that it does not allow"),
        ("x: 1\ny: \0", "2: expected a text file, found a NUL byte"),
    ],
)  # fmt: skip
def test_what_is_no_plain_yaml_is_refused(text: str, said: str) -> None:
    assert f"aiwg.yml:{said}" in _complaints(text.encode()).splitlines()


def test_bytes_that_are_no_utf8_are_refused_by_line() -> None:
    said = "aiwg.yml:2: expected UTF-8, found the byte 0xff"
    assert _complaints(b"human_gates: {}\nx: \xff\n") == said
    assert (
        _complaints("é: 1".encode("latin-1")) == "aiwg.yml:1: expected UTF-8, found the byte 0xe9"
    )


def test_a_huge_file_is_refused_before_it_is_parsed() -> None:
    said = f"aiwg.yml:1: expected at most {MAX_SIZE} bytes, found {MAX_SIZE + 1}"
    assert _complaints(b"#" * (MAX_SIZE + 1)) == said
    assert parse_policy(b"#" * MAX_SIZE) is None


@pytest.mark.parametrize(
    "data",
    [
        b"human_gates: " + b"[" * 100_000,
        b"human_gates: " + b"{a: " * 50_000,
        b"x: " + b"- " * 100_000,
        b"? " * 100_000,
        b"human_gates:\n" + b"".join(b" " * depth + b"-\n" for depth in range(500)),
        b"human_gates: {gates: {" + b", ".join(b"a%d: {titl: 3}" % n for n in range(3000)) + b"}}",
        b"human_gates: {bots: [" + b"*a, " * 50_000 + b"]}",
        b"human_gates: {phases: {order: [" + b"a, " * 80_000 + b"]}}",
        b"human_gates: {gates: {g: {when: ['" + b"[" * 200_000 + b"']}}}",
    ],
)  # fmt: skip
def test_files_that_are_made_to_explode_end_in_an_ordinary_error(data: bytes) -> None:
    _complaints(data)


def _either_way(data: bytes) -> None:
    try:
        parse_policy(data)
    except PolicyError as error:
        assert error.problems


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_random_bytes_are_a_policy_or_a_policy_error(data: bytes) -> None:
    _either_way(data)
    _either_way(b"human_gates:\n  gates:\n    a: " + data)


_WORDS = st.sampled_from(
    [
        *sorted({key for keys in KEYS.values() for key in keys}),
        *("main", "true", "no", "1", "0", "~", "4h", "block", "refs/heads/main", "@leads", "leads"),
        *("ada@example.com", "src/**", "[a", "\\", "<<", "&a b", "*a", "!!str x", '"', "", "- a"),
    ]
)
_TREES = st.recursive(
    _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=5),
    max_leaves=20,
)


def _flow(tree: object) -> str:
    match tree:
        case dict():
            return "{" + ", ".join(f"{key}: {_flow(value)}" for key, value in tree.items()) + "}"
        case list():
            return "[" + ", ".join(map(_flow, tree)) + "]"
        case _:
            return str(tree)


@given(st.dictionaries(st.sampled_from(KEYS["human_gates"]), _TREES, max_size=8))
@settings(max_examples=100, deadline=None)
def test_random_yaml_is_a_policy_or_a_policy_error(tree: dict[str, object]) -> None:
    _either_way(f"human_gates: {_flow(tree)}".encode())


_GATE_TREES = st.dictionaries(st.sampled_from(KEYS["gate"]), _TREES, max_size=6)


@given(st.dictionaries(st.sampled_from(["main", "other", "No"]), _GATE_TREES, min_size=1))
@settings(max_examples=100, deadline=None)
def test_random_gates_are_a_policy_or_a_policy_error(gates: dict[str, object]) -> None:
    _either_way(f"human_gates: {{gates: {_flow(gates)}}}".encode())
