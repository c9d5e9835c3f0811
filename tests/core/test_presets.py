"""The presets are sound policies and say what they promise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitgate.core.policy import (
    Approvals,
    Deadline,
    Defaults,
    Gate,
    Phases,
    Policy,
    Transition,
    frozen,
)
from gitgate.core.policyreader import parse_policy
from gitgate.core.presets import PRESETS, preset
from gitgate.errors import Exit, GateError


def _policy(name: str, branch: str = "main", person: str = "ada@example.com") -> Policy:
    policy = parse_policy(preset(name, branch=branch, person=person).encode())
    assert policy is not None
    return policy


_SOLO = Policy(
    gates=frozen(
        {
            "main": Gate(
                "main",
                "Changes to main",
                guards=("refs/heads/main",),
                approvals=Approvals(self_approval=True),
            )
        }
    ),
    policy_gate="main",
    defaults=Defaults(timeout_minutes=0),
)


def test_solo_lets_one_person_decide_on_their_own_work_without_a_deadline() -> None:
    assert _policy("solo") == _SOLO


def test_team_takes_no_self_approval_and_keeps_a_journal() -> None:
    gate = replace(_SOLO.gates["main"], approvals=Approvals(self_approval=False))
    assert _policy("team") == replace(_SOLO, gates=frozen({"main": gate}), journal=True)


def test_the_sdlc_has_a_gate_out_of_each_phase_and_the_seed_s_hour() -> None:
    policy = _policy("aiwg-sdlc")
    order = ("inception", "elaboration", "construction", "transition", "released")
    assert policy.phases == Phases(".aiwg/phase", order)
    assert (policy.policy_gate, policy.defaults) == ("policy", Defaults(60, False))
    assert [(gate.id, gate.title, gate.transition) for gate in policy.gates.values()] == [
        ("inception", "Lifecycle Objective", Transition("inception", "elaboration")),
        ("elaboration", "Lifecycle Architecture", Transition("elaboration", "construction")),
        (
            "construction",
            "Initial Operational Capability",
            Transition("construction", "transition"),
        ),
        ("transition", "Product Release", Transition("transition", "released")),
        ("policy", "Changes to the gates", None),
    ]
    assert policy.gates["policy"].when == ("aiwg.yml", ".aiwg/allowed_signers", ".mailmap")
    for gate in policy.gates.values():
        assert gate.guards == ("refs/heads/main",)
        assert gate.deadline == Deadline(60)
        assert gate.approvals == Approvals()
        assert all(pattern.startswith(".aiwg/") for pattern in gate.deliverables)
        assert bool(gate.deliverables) == (gate.transition is not None)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_leaves_the_people_to_the_signers_file(name: str) -> None:
    policy = _policy(name)
    assert policy.policy_gate in policy.gates
    assert {gate.approvals.by for gate in policy.gates.values()} == {None}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_can_follow_other_keys_of_the_file(name: str) -> None:
    text = "models: [a, b]\n" + preset(name, branch="main", person="ada@example.com")
    assert parse_policy(text.encode()) == _policy(name)


@pytest.mark.parametrize(
    "branch", ["trunk", "release/1.x", 'a"b', "it's", "a#b", "a,b", "{x}", "ü", "\u202ex", "😀"]
)  # fmt: skip
@pytest.mark.parametrize("name", PRESETS)
def test_the_branch_is_named_whatever_it_is_called(name: str, branch: str) -> None:
    policy = _policy(name, branch)
    assert policy.guarding(f"refs/heads/{branch}") == tuple(policy.gates.values())
    assert _policy(name, f"refs/heads/{branch}") == policy


def test_the_title_names_the_branch() -> None:
    assert _policy("solo", "release/1.x").gates["main"].title == "Changes to release/1.x"


def test_a_person_cannot_write_more_than_a_comment() -> None:
    for person in ("a\njournal: false", "a\u0085journal: false", "]\r{", '"', "\udcff"):
        assert _policy("team", person=person) == _policy("team")


@pytest.mark.parametrize("branch", ["aiwg/journal", "a\udcff"])
def test_a_branch_that_no_policy_can_guard_is_refused(branch: str) -> None:
    with pytest.raises(GateError) as caught:
        preset("solo", branch=branch, person="ada@example.com")
    assert caught.value.kind is Exit.USAGE
    assert caught.value.message == f"no policy can guard the branch {branch!r}"


def test_an_unknown_preset_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(GateError) as caught:
        preset("duo", branch="main", person="ada@example.com")
    assert caught.value.message == "there is no preset 'duo'"
    assert caught.value.hint == "--preset solo|team|aiwg-sdlc"
