"""Rejections that stand: they also block the same content under another name.

Design, section 4: a veto blocks any other instance or iteration of its gate and target with the
same work commit, the same trees, or the same change on another base.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.landed import candidate, compared_of
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import gate_of
from gitgate.core.decision import Action
from gitgate.core.landing import same_change
from gitgate.core.policy import Rejections
from gitgate.core.request import Request
from gitgate.core.trust import SignatureStatus
from gitgate.core.verdict import Judged, Veto, effective, may_approve
from gitgate.errors import GateError
from gitgate.git.requests import read_request

if TYPE_CHECKING:
    from gitgate.app.gather.world import World


def standing(world: World, policy: PolicyCommit, request: Request) -> tuple[Veto, ...]:
    """The vetoes on other requests of the same gate and target that block `request` too; one that
    cannot be verified here may be one."""
    gate = gate_of(policy, request.gate)
    if gate.rejections is Rejections.ADVISORY:
        return ()
    voters = may_approve(policy.people, gate)
    found: list[Veto] = []
    for subject in world.sieve.rejecting(policy, request):
        loaded = world.load(policy, request.gate, subject)
        for veto in _of_instance(world, policy, loaded, voters):
            if veto.request != request.id and _blocks(world, policy, loaded, veto, request):
                found.append(veto)
    return tuple(found)


def _of_instance(
    world: World, policy: PolicyCommit, loaded: Loaded, voters: frozenset[str]
) -> Iterator[Veto]:
    good = [record for record in loaded.records if record.good]
    good += [world.judged(policy, stray) for stray in loaded.strays]
    rejected = {r.decision.request for r in good if r.decision.action is Action.REJECT}
    for vetoed in sorted(rejected):
        for person, record in effective(good, vetoed).items():
            if person in voters and record.decision.action is Action.REJECT:
                yield _veto(loaded, record, person)
    strays = (world.judged(policy, stray) for stray in loaded.strays)
    for record in (*loaded.records, *strays):
        unsure = record.verification.status is SignatureStatus.UNVERIFIABLE
        if unsure and record.decision.action is Action.REJECT:
            yield _veto(loaded, record, "", record.verification.reason)


def _blocks(
    world: World, policy: PolicyCommit, loaded: Loaded, veto: Veto, request: Request
) -> bool:
    """Whether what was rejected is what `request` asks for.

    Where a ledger and the request in it are lost, the note still says which work commit it was.
    """
    vetoed = loaded.ledger.requests.get(veto.request)
    if vetoed is None:
        try:
            vetoed = read_request(world.repo, veto.request, loaded.gate, loaded.subject).request
        except GateError:
            noted = world.noted_on(loaded.gate, loaded.subject, veto.record)
            return noted is not None and _same_as_noted(world, policy, noted, request)
    return vetoed.target == request.target and _same(world, policy, vetoed, request)


def _same_as_noted(world: World, policy: PolicyCommit, noted: str, request: Request) -> bool:
    """Whether `request` asks for the change that the work commit `noted` was. Where its base was is
    lost; it is taken to be where the two histories part."""
    if noted == request.work:
        return True
    try:
        own = candidate(world, request)
        work = world.repo.commit(noted).tree
        bases = [world.repo.commit(one).tree for one in world.repo.merge_bases(request.base, noted)]
        compared = compared_of(world, policy, request)
        return any(
            same_change(world.trees, (base, work), (own.base, own.work), compared) for base in bases
        )
    except GateError:  # the commit is nowhere either: there is nothing to compare
        return False


def _veto(loaded: Loaded, record: Judged, person: str, doubt: str = "") -> Veto:
    found = loaded.instance.find(record.decision.request)
    return Veto(
        record.id,
        person,
        record.decision.request,
        loaded.gate,
        loaded.subject,
        found[1].number if found else 0,
        doubt,
    )


def _same(world: World, policy: PolicyCommit, vetoed: Request, request: Request) -> bool:
    if vetoed.work == request.work:
        return True
    try:
        first, second = candidate(world, vetoed), candidate(world, request)
        compared = compared_of(world, policy, request)
        return same_change(
            world.trees, (first.base, first.work), (second.base, second.work), compared
        )
    except GateError as error:
        raise GateError(
            error.kind,
            f"cannot tell whether the rejected request {vetoed.id[:12]} of {vetoed.subject}"
            f" is the same change: {error.message}",
            error.hint,
        ) from None
