"""What is to land: the instances that are meant, their branch, and the commit."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from gitgate.app.asking.choose import gate_of_instance
from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.app.judging.judgement import Row
from gitgate.core import ids
from gitgate.core.decision import Action
from gitgate.core.outcome import Outcome
from gitgate.core.request import Kind, Request
from gitgate.errors import Exit, GateError
from gitgate.git import refs


@dataclass(frozen=True)
class Work:
    """The instances of one subject that land together, and what of them lands: `head`.

    It is the request's work commit, or the tip of `branch`, the one that is called like the
    subject (None: there is none), where that has gone on; `policy` is the one in force.
    """

    policy: PolicyCommit
    subject: str
    target: str
    instances: tuple[Loaded, ...]
    head: str
    branch: str | None
    notes: tuple[str, ...]

    @property
    def about(self) -> str:
        """The words by which a command means it."""
        gate = f"{self.instances[0].gate} " if len(self.instances) == 1 else ""
        return f"{gate}--subject {shlex.quote(self.subject)}"

    @property
    def reopen(self) -> str:
        return " && ".join(
            f"git gate open {one.gate} --subject {shlex.quote(self.subject)}"
            for one in self.instances
        )


def work_of(
    world: World, policy: PolicyCommit, gate: str | None, subject: str, target: str | None
) -> Work:
    """The work of a subject that is to land: of the gate named, else of all that run for it.

    Raises GateError: not opened; usage where several branches or commits are meant; untrusted.
    """
    asked = [
        (one, _request(one))
        for one in _instances(world, policy, gate, subject)
        if target is None or _request(one).target == target
    ]
    if not asked:
        raise GateError(
            Exit.NOT_OPENED,
            f"no gate was opened for {subject} that lands on {target}",
            f"git gate open --subject {shlex.quote(subject)} --target {shlex.quote(target or '')}",
        )
    targets = sorted({request.target for _, request in asked})
    if len(targets) > 1:
        raise GateError(
            Exit.USAGE,
            f"{subject} was put up for several branches: {', '.join(targets)}",
            f"git gate land --subject {shlex.quote(subject)} --target {shlex.quote(targets[0])}",
        )
    work = _newest(world, subject, [request for _, request in asked])
    head, branch = _head(world, subject, work, targets[0])
    instances = tuple(one for one, _ in asked)
    notes = tuple(_left_out(world, subject, head))
    return Work(policy, subject, targets[0], instances, head, branch, notes)


def grounds(world: World, policy: PolicyCommit, rows: Sequence[Row]) -> list[tuple[str, list[str]]]:
    """The gates that let the work pass, each with the records that count for that."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.subject is None or row.status not in (Outcome.SATISFIED, Outcome.SKIPPED):
            continue
        loaded = world.load(policy, row.gate, row.subject)
        request = loaded.newest
        if request is None or row.gate not in policy.policy.gates:
            continue
        counted = {c.record for c in world.verdict(policy, loaded, request).counts if c.counts}
        found.setdefault(row.gate, []).extend(
            record.id
            for record in loaded.records
            if record.id in counted
            and record.decision.request == request.id
            and record.decision.action in (Action.APPROVE, Action.SKIP)
        )
    return list(found.items())


def _instances(world: World, policy: PolicyCommit, gate: str | None, subject: str) -> list[Loaded]:
    if gate is not None:
        return [world.load(policy, gate_of_instance(world, policy, gate, subject).id, subject)]
    every = [world.load(policy, one, subject) for one in policy.policy.gates]
    there = [one for one in every if one.ledger.tip or one.strays]
    running = [one for one in there if one.instance.running is not None]
    if running or there:
        return running or there
    return [world.load(policy, gate_of_instance(world, policy, None, subject).id, subject)]


def _request(loaded: Loaded) -> Request:
    request = loaded.newest
    if request is None:
        loaded.check_trusted()
        about = f"{loaded.gate} --subject {shlex.quote(loaded.subject)}"
        raise GateError(
            Exit.NOT_OPENED, f"{loaded.name} was never opened", f"git gate open {about}"
        )
    if request.kind is not Kind.APPROVAL:
        raise GateError(
            Exit.USAGE, f"{loaded.name} asks for no approval of work, so nothing of it can land"
        )
    return request


def _newest(world: World, subject: str, requests: Sequence[Request]) -> str:
    works = list(dict.fromkeys(request.work for request in requests))
    for work in works:
        if all(world.repo.is_ancestor(other, work) for other in works):
            return work
    gate = requests[0].gate
    raise GateError(
        Exit.USAGE,
        f"the gates of {subject} are about commits that do not follow one another:"
        f" {', '.join(work[:12] for work in works)}",
        f"git gate land {gate} --subject {shlex.quote(subject)}",
    )


def _head(world: World, subject: str, work: str, target: str) -> tuple[str, str | None]:
    """The branch that is called like the subject is what a person means, also where it has gone
    on: then the rule says whether that may land, and never lands only what is older."""
    name = f"refs/heads/{subject}"
    if not ids.is_ref(name) or name == target:
        return work, None
    branch = refs.read(world.repo, name)
    if branch is None:
        there = world.remote and refs.read(world.repo, f"refs/remotes/{world.remote}/{subject}")
        return work, subject if there else None
    _, tip = world.target_tip(target)
    behind = [commit for commit in (work, tip) if commit is not None]
    if any(world.repo.is_ancestor(branch, commit) for commit in behind):
        return work, subject
    return branch, subject


def _left_out(world: World, subject: str, head: str) -> list[str]:
    """What the remote's branch of that name has beyond what lands."""
    name = f"refs/remotes/{world.remote}/{subject}"
    there = refs.read(world.repo, name) if world.remote and ids.is_ref(name) else None
    if there is None or world.repo.is_ancestor(there, head):
        return []
    return [f"{world.remote}/{subject} has commits that were not asked about and do not land"]
