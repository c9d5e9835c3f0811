"""Which paths a gate compares, and which steps concern it (design, section 6)."""

from __future__ import annotations

from collections.abc import Callable

from gitgate.core.patterns import compile_paths
from gitgate.core.policy import POLICY_FILES, Gate, Policy

Compared = Callable[[bytes], bool]


def compared_paths(policy: Policy, gate: Gate, ref: str, *, on_policy_ref: bool) -> Compared:
    """The paths that `gate` compares on `ref`: those of `when`, without it the whole tree.

    With a transition and `when` also the phase file and the deliverables. On the policy ref the
    policy's own files are compared by the gate that guards them (without a `policy_gate`, by
    every gate of the ref), and they alone where it does not guard the ref otherwise.
    """
    guards_policy = on_policy_ref and guards_policy_files(policy, gate)
    if not gate.guards_ref(ref):
        return POLICY_FILES.__contains__ if guards_policy else _nothing
    if not gate.when:
        return _everything
    patterns = list(gate.when)
    if gate.transition is not None and policy.phases is not None:
        patterns += [policy.phases.file, *gate.deliverables]
    matches = compile_paths(patterns)
    if not guards_policy:
        return matches
    return lambda path: path in POLICY_FILES or matches(path)


def guards_policy_files(policy: Policy, gate: Gate) -> bool:
    """Whether a change of the policy's own files on the policy ref is this gate's business,
    whatever its `when` and its transition say (design, section 5)."""
    return policy.policy_gate in (None, gate.id)


def _nothing(path: bytes) -> bool:
    del path
    return False


def _everything(path: bytes) -> bool:
    del path
    return True
