"""What a gate asks for, out of the reviewed change, and whether a request names all of it.

A request is written by whoever opens the gate, and anybody can write one by hand: what a person is
shown is drawn from the trees in it (design, section 3).
"""

from __future__ import annotations

from collections.abc import Iterator

from gitgate.app.gather.landed import holds_policy
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World, gate_of
from gitgate.core.compared import compared_paths, guards_policy_files
from gitgate.core.decision import MAX_RECORD
from gitgate.core.describe import LOOKED_AT, describe
from gitgate.core.landing import Entry
from gitgate.core.patterns import compile_paths
from gitgate.core.policy import POLICY_FILES, Gate
from gitgate.core.quoting import path_text, quote
from gitgate.core.request import Deliverable, Request
from gitgate.errors import Exit, GateError

_REVIEWED = len("Reviewed:  viewed edited\n")
_LARGEST_DESCRIBED = 4 << 20
_SHOWN = 5


def deliverables_of(
    world: World, policy: PolicyCommit, gate: Gate, target: str, base: str, work: str
) -> Iterator[Deliverable]:
    """The deliverables of a request for the work from `base` to `work`.

    Raises GateError (blocked) where there are more than a record can name.
    """
    there = _wanted(world, policy, gate, target, base, work)
    # A decision names every deliverable, and a record has a limit.
    if sum(len(quote(path)) + _REVIEWED for path in there) > MAX_RECORD // 2:
        raise GateError(
            Exit.BLOCKED,
            f"the change has {len(there)} deliverables, more than one signed record can name",
            f"narrow `deliverables` of gate `{gate.id}` in aiwg.yml, or split the work",
        )
    for path, new in there.items():
        text = _beginning(world, new.oid) if new.regular else b""
        yield Deliverable(path, new.oid, describe(text))


def misnamed(world: World, policy: PolicyCommit, request: Request) -> str:
    """The sentence that says what `request` leaves out of the deliverables, or names although the
    work does not have it so; empty where it names what is there."""
    gate = gate_of(policy, request.gate)
    there = _wanted(world, policy, gate, request.target, request.base, request.work)
    named = {one.path: one.oid for one in request.deliverables}
    tree = world.repo.commit(request.work).tree
    lost = {path for path, new in there.items() if named.get(path) != new.oid}
    made_up = {path for path, oid in named.items() if not _holds(world, tree, path, oid)}
    wrong = sorted(lost | made_up)
    if not wrong:
        return ""
    names = ", ".join(path_text(path) for path in wrong[:_SHOWN])
    more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    return f"the request does not name what is under review as it is there: {names}{more}"


def _holds(world: World, tree: str, path: bytes, oid: str) -> bool:
    entry = world.trees.entry(tree, path)
    return entry is not None and entry.oid == oid


def _wanted(
    world: World, policy: PolicyCommit, gate: Gate, target: str, base: str, work: str
) -> dict[bytes, Entry]:
    """What the gate asks for: of what the reviewed change leaves in W; where a phase ends, of all
    that W holds, since the phase's earlier landings brought it."""
    repo = world.repo
    tree = repo.commit(work).tree
    on_policy_ref = holds_policy(world, target)
    wanted = (
        compile_paths(gate.deliverables)
        if gate.deliverables
        else compared_paths(policy.policy, gate, target, on_policy_ref=on_policy_ref)
    )
    changes = world.trees.changes(repo.commit(base).tree, tree)
    found = {path: new for path, (_, new) in changes.items() if new}
    rules = on_policy_ref and guards_policy_files(policy.policy, gate)
    own = {path for path in found if rules and path in POLICY_FILES}
    if gate.transition is not None and gate.deliverables:
        found |= world.trees.everything(tree)
    return {path: new for path, new in sorted(found.items()) if path in own or wanted(path)}


def _beginning(world: World, blob: str) -> bytes:
    """What a description is made of; nothing of a file that is too large to be a document."""
    return (world.repo.read_small(blob, _LARGEST_DESCRIBED) or b"")[:LOOKED_AT]
