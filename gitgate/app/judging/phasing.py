"""Phases in a repository: which steps a gate with a transition is asked about, and which phase
the project is in (design, section 5, "Phases")."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gitgate.app.gather.policies import PolicyCommit
from gitgate.core.compared import guards_policy_files
from gitgate.core.landing import Compared, Entry
from gitgate.core.patterns import compile_paths
from gitgate.core.phases import MAX_FILE, Moves, phase_move, read_phase
from gitgate.core.policy import POLICY_FILES, Gate, Policy
from gitgate.errors import Exit, GateError

if TYPE_CHECKING:
    from gitgate.app.gather.world import World
    from gitgate.app.judging.judgement import Move

_REACH = 10_000
"""Commits of a first-parent chain that are looked at for the landing that began a phase."""


def concerns(
    world: World, policy: Policy, gate: Gate, *, on_policy_ref: bool
) -> Callable[[Moves], bool] | None:
    """Which steps a gate with a transition is asked about: those that make it and, where it guards
    the policy on the policy ref, those that touch the policy's files; None for other gates."""
    phases, transition = policy.phases, gate.transition
    if phases is None or transition is None:
        return None

    guards_policy = on_policy_ref and guards_policy_files(policy, gate)

    def asked(step: Moves) -> bool:
        if guards_policy and any(path in step for path in POLICY_FILES):
            return True
        move = phase_move(phases, step, _reader(world))
        if move is None or move.problem:
            return False
        return (move.before, move.after) == (transition.from_phase, transition.to_phase)

    return asked


def exact_paths(policy: Policy, gate: Gate) -> Compared | None:
    """The deliverables of a gate with a transition: as in W where its stretch ends."""
    if policy.phases is None or gate.transition is None or not gate.deliverables:
        return None
    return compile_paths(gate.deliverables)


def unnamed_moves(world: World, move: Move) -> Iterator[str]:
    """The steps of a chain that move the phase and that no gate's transition names."""
    for position, (old, new) in enumerate(zip(move.chain, move.chain[1:], strict=False)):
        policy = move.policy_at(position)
        phases = policy.policy.phases if policy else None
        if policy is None or phases is None or not policy.policy.guarding(move.ref):
            continue
        found = phase_move(phases, world.trees.changes(old.tree, new.tree), _reader(world))
        if found is None:
            continue
        if found.problem:
            yield f"{new.commit[:12]} may not touch the phase so: {found.problem}"
        elif not any(
            gate.transition is not None
            and (gate.transition.from_phase, gate.transition.to_phase)
            == (found.before, found.after)
            for gate in policy.policy.guarding(move.ref)
        ):
            yield (
                f"{new.commit[:12]} moves the phase from {found.before or 'nothing'} to"
                f" {found.after}, and no gate leads that way"
            )


def current_phase(world: World, policy: PolicyCommit, commit: str) -> str | None:
    """The phase of a commit; None without phases or where the file cannot be read as one."""
    phases = policy.policy.phases
    if phases is None:
        return None
    found = world.trees.entry(world.repo.commit(commit).tree, phases.file.encode())
    name, wrong = read_phase(phases, found if isinstance(found, Entry) else None, _reader(world))
    return None if wrong else name


def phase_began(world: World, policy: PolicyCommit, target: str, phase: str) -> int | None:
    """When the landing was committed by which `target` came into the phase that it is in, in
    seconds since the epoch; None where that is another phase, or no landing here began it."""
    _, tip = world.target_tip(target)
    phases = policy.policy.phases
    if phases is None or tip is None:
        return None
    key = tip, phases.file, phase
    if key not in world.phases_began:
        try:
            world.phases_began[key] = _phase_began(world, policy, tip, phases.file, phase)
        except GateError:  # the clone does not reach back so far
            world.phases_began[key] = None
    return world.phases_began[key]


def _phase_began(world: World, policy: PolicyCommit, tip: str, file: str, phase: str) -> int | None:
    if current_phase(world, policy, tip) != phase:
        return None
    commit = world.repo.commit(tip)
    value = world.trees.entry(commit.tree, file.encode())
    for _ in range(_REACH):
        if not commit.parents:
            return None
        before = world.repo.commit(commit.parents[0])
        found = world.trees.entry(before.tree, file.encode())
        if found != value and current_phase(world, policy, before.id) != phase:
            return commit.committer.time
        commit, value = before, found
    return None


def advance(world: World, policy: PolicyCommit, gate: Gate, target: str) -> str:
    """Commit the phase change of `gate` on the current branch, and that alone; the new commit.

    Raises GateError (usage) for a gate without a transition, and where git cannot commit.
    """
    repo, phases, transition = world.repo, policy.policy.phases, gate.transition
    if phases is None or transition is None:
        raise GateError(
            Exit.USAGE, f"gate `{gate.id}` moves no phase", "git gate open, without --advance"
        )
    if repo.work_tree is None:
        raise GateError(Exit.USAGE, "there is no work tree to commit the phase change in")
    here = current_phase(world, policy, repo.resolve("HEAD"))
    if here == transition.to_phase:
        return repo.resolve("HEAD")
    if here != transition.from_phase:
        raise GateError(
            Exit.USAGE,
            f"the phase here is {here or 'not readable'}, and gate `{gate.id}` leads from"
            f" {transition.from_phase} to {transition.to_phase}",
            f"git merge {target.removeprefix('refs/heads/')}",
        )
    file = repo.work_tree / phases.file
    if any(path.is_symlink() for path in (file, *file.parents) if path != repo.work_tree):
        raise GateError(Exit.USAGE, f"{phases.file} leads through a symbolic link")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{transition.to_phase}\n", encoding="utf-8")
    message = f"Advance from {transition.from_phase} to {transition.to_phase}"
    for args in (("add", "--", phases.file), ("commit", "-q", "-m", message, "--", phases.file)):
        done = repo.git(*args)
        if done.status != 0:
            raise GateError(Exit.BLOCKED, f"git could not commit {phases.file}: {done.complaint}")
    return repo.resolve("HEAD")


def _reader(world: World) -> Callable[[str], bytes]:
    def read(oid: str) -> bytes:
        try:
            return world.repo.read(oid, "blob", MAX_FILE)
        except GateError:
            header = world.repo.header(oid)
            if header is None or header[1] <= MAX_FILE:
                raise
            return b"\n\n"  # larger than any line: more than one line is what it is judged as

    return read
