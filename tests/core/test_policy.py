"""The questions that a policy answers."""

from __future__ import annotations

import subprocess
import sys

from gitgate.core.policy import (
    POLICY_FILES,
    Deadline,
    Gate,
    Overdue,
    Policy,
    Transition,
    frozen,
)

_MAIN = Gate("main", "Main", guards=("refs/heads/main",))
_RELEASE = Gate("release", "Release", guards=("refs/heads/main", "refs/heads/release/*"))
_ALPHA = Gate("alpha", "Alpha", transition=Transition("alpha", "beta"))
_POLICY = Policy(
    gates=frozen({gate.id: gate for gate in (_RELEASE, _MAIN, _ALPHA)}),
    groups=frozen({"leads": ("ada@example.com", "bob@example.com")}),
)


def test_members_are_people_with_groups_resolved() -> None:
    names = ("carl@example.com", "@leads", "ada@example.com")
    everybody = {"ada@example.com", "bob@example.com", "carl@example.com"}
    assert _POLICY.members(names) == everybody
    assert _POLICY.members(()) == frozenset()


def test_guarding_names_all_gates_of_a_ref_in_the_order_of_the_file() -> None:
    assert _POLICY.guarding("refs/heads/main") == (_RELEASE, _MAIN)
    assert _POLICY.guarding("refs/heads/release/1") == (_RELEASE,)
    assert _POLICY.guarding("refs/heads/Main") == ()
    assert _POLICY.guarding("refs/tags/main") == ()


def test_no_gate_guards_what_holds_the_decisions() -> None:
    gate = Gate("all", "All", guards=("refs/**",))
    assert gate.guards_ref("refs/heads/main")
    assert not gate.guards_ref("refs/heads/aiwg/journal")
    assert not gate.guards_ref("refs/aiwg/gates/all/x")
    assert not gate.guards_ref("refs/notes/aiwg/gates")


def test_values_compare_and_hash() -> None:
    same = Gate("main", "Main", guards=("refs/heads/main",))
    assert (same, hash(same)) == (_MAIN, hash(_MAIN))
    assert Policy(gates=frozen({"main": same})) == Policy(gates=frozen({"main": _MAIN}))
    assert hash(Policy()) == hash(Policy())
    assert Deadline(5) == Deadline(5, Overdue.REJECT)


def test_the_policy_s_own_files_are_paths() -> None:
    assert POLICY_FILES == (b"aiwg.yml", b".aiwg/allowed_signers", b".mailmap")


def test_the_values_need_no_yaml() -> None:
    code = "import sys, gitgate.core.policy; print('yaml' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
