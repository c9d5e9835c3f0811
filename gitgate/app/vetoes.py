"""Rejections that stand: they also block the same content under another name.

Design, section 4: a veto blocks any other instance or iteration of its gate and target with the
same work commit, the same trees, or the same change on another base.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitgate.app.instances import Loaded
from gitgate.app.landed import candidate, compared_of
from gitgate.app.policies import PolicyCommit
from gitgate.app.world import gate_of
from gitgate.core import ids
from gitgate.core.decision import Action
from gitgate.core.landing import same_change
from gitgate.core.policy import Rejections
from gitgate.core.request import Request
from gitgate.core.verdict import Judged, Veto, effective, may_approve
from gitgate.errors import GateError

if TYPE_CHECKING:
    from gitgate.app.world import World


def standing(world: World, policy: PolicyCommit, request: Request) -> tuple[Veto, ...]:
    """The vetoes on other requests of the same gate and target that block `request` too."""
    gate = gate_of(policy, request.gate)
    if gate.rejections is Rejections.ADVISORY:
        return ()
    found: list[Veto] = []
    for veto, vetoed in _all(world, policy, request):
        if vetoed is None or vetoed.id == request.id or vetoed.target != request.target:
            continue
        if _same(world, policy, vetoed, request):
            found.append(veto)
    found += _of_lost_ledgers(world, policy, request)
    return tuple(found)


def _all(
    world: World, policy: PolicyCommit, request: Request
) -> Iterator[tuple[Veto, Request | None]]:
    voters = may_approve(policy.people, gate_of(policy, request.gate))
    for subject in world.subjects(request.gate):
        loaded = world.load(policy, request.gate, subject)
        good = [record for record in loaded.records if record.good]
        good += [world.judged(policy, stray) for stray in loaded.strays]
        rejected = {r.decision.request for r in good if r.decision.action is Action.REJECT}
        for vetoed in sorted(rejected):
            for person, record in effective(good, vetoed).items():
                if person in voters and record.decision.action is Action.REJECT:
                    yield _veto(loaded, record, person), loaded.ledger.requests.get(vetoed)


def _veto(loaded: Loaded, record: Judged, person: str) -> Veto:
    found = loaded.instance.find(record.decision.request)
    return Veto(
        record.id,
        person,
        record.decision.request,
        loaded.gate,
        loaded.subject,
        found[1].number if found else 0,
    )


def _of_lost_ledgers(world: World, policy: PolicyCommit, request: Request) -> Iterator[Veto]:
    """A good rejection whose ledger is gone blocks the work commit that its note stands on."""
    voters = may_approve(policy.people, gate_of(policy, request.gate))
    kept = {ids.tag_name(request.gate, subject) for subject in world.subjects(request.gate)}
    for tag in world.stray_tags():
        if tag in kept or not tag.startswith(f"gate/{request.gate}/"):
            continue
        strays = world.strays(tag)
        judged = [world.judged(policy, record) for _, record in strays]
        places = {record.id: commit for commit, record in strays}
        for vetoed in {record.decision.request for record in judged}:
            words = effective([record for record in judged if record.good], vetoed)
            for person, record in words.items():
                rejected = record.decision.action is Action.REJECT and person in voters
                if rejected and places[record.id] == request.work:
                    subject = tag.removeprefix(f"gate/{request.gate}/")
                    yield Veto(record.id, person, vetoed, request.gate, subject, 0)


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
