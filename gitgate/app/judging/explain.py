"""Why a step is not accounted for: the words, the outcome and the command that resolves it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitgate.app.gather.instances import KEY_NEEDED
from gitgate.app.gather.landed import elsewhere
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.judging.judgement import Move, Row
from gitgate.app.judging.vetoes import standing
from gitgate.core.digest import Asked
from gitgate.core.gate import Status
from gitgate.core.landing import Miss, MissKind, Walk
from gitgate.core.outcome import Outcome
from gitgate.core.policy import Gate
from gitgate.core.quoting import path_text
from gitgate.core.request import Request
from gitgate.core.verdict import Veto
from gitgate.errors import GateError

if TYPE_CHECKING:
    from gitgate.app.gather.instances import Loaded
    from gitgate.app.gather.world import World

_SHOWN = 5

_BY_STATUS = {
    Status.OPEN: Outcome.PENDING,
    Status.PARKED: Outcome.PENDING,
    Status.REJECTED: Outcome.REJECTED,
    Status.EXPIRED: Outcome.EXPIRED,
    Status.WITHDRAWN: Outcome.WITHDRAWN,
}


def explain(world: World, move: Move, policy: PolicyCommit, gate: Gate, result: Walk) -> Row:
    """The row of a gate whose walk stopped: about the instance that most likely was meant."""
    stopped = move.chain[result.stopped or 0].commit
    first = f"nothing that was approved accounts for {describe(world, stopped)}"
    nearest = _nearest(world, move, policy, gate, result)
    if nearest is None:
        return _unopened(world, move, policy, gate, first)
    loaded, request = nearest
    if loaded.faults or request is None:
        work = request.work if request else None
        reasons = (first, *loaded.faults)
        return Row(gate.id, loaded.subject, Outcome.UNTRUSTED, None, work, reasons, loaded.remedy)
    found = loaded.instance.find(request.id)
    number = found[1].number if found else None
    outcome, reasons, hint = _say(world, move, policy, loaded, request, result)
    return Row(gate.id, loaded.subject, outcome, number, request.work, (first, *reasons), hint)


def _unopened(world: World, move: Move, policy: PolicyCommit, gate: Gate, first: str) -> Row:
    """Nothing was asked for this; perhaps it was for another ref."""
    reasons = [first, f"no gate `{gate.id}` was opened for it"]
    hint = f"git gate open {gate.id}"
    pushed = _pushed(world, move)

    def elsewhere_asked(one: Asked) -> bool:
        return one.target != move.ref and one.work in pushed

    for subject in world.sieve.near(policy, gate.id, None, elsewhere_asked):
        request = world.load(policy, gate.id, subject).newest
        if request is None or request.target == move.ref or request.work not in pushed:
            continue
        reasons.append(f"{gate.id} of {subject} is for {request.target}, not for {move.ref}")
        hint = f"git gate open {gate.id} --subject {shlex.quote(subject)}"
    if gate.guards != (move.ref,):
        hint += f" --target {move.ref}"
    outcome = Outcome.NOT_OPENED
    return Row(gate.id, move.subject, outcome, None, None, tuple(reasons), hint)


def describe(world: World, commit: str) -> str:
    """A commit as people name it: its short id and its subject line, where it can be read."""
    try:
        message = world.repo.commit(commit).message
    except GateError:
        return commit[:12]
    subject = message.split("\n", 1)[0].strip()
    return f"{commit[:12]} ({subject})" if subject else commit[:12]


def _nearest(
    world: World, move: Move, policy: PolicyCommit, gate: Gate, result: Walk
) -> tuple[Loaded, Request | None] | None:
    """The instance that the move is most likely about: by name, by its work commit, by age.

    Its request is None where the ledger is gone and only a note remembers it.
    """
    pushed = _pushed(world, move)
    on = {step.commit for step in move.chain[1:]}
    other = _merged_later(world, move, result) - on
    done = _done(result)
    best: tuple[tuple[int, int, int], Loaded, Request | None] | None = None
    changed = world.trees.changes(move.chain[0].tree, move.chain[-1].tree)

    def near(one: Asked) -> bool:
        if one.target != move.ref:
            return False
        return one.work in pushed or one.touches is None or one.paths <= changed.keys()

    for subject in world.sieve.near(policy, gate.id, move.subject, near):
        loaded = world.load(policy, gate.id, subject)
        request = loaded.newest
        if request is None:
            noted = max((pushed.get(commit, -1) for commit in _noted(world, loaded)), default=-1)
            named = subject == move.subject
            if loaded.faults and (named or noted >= 0):
                rank = (int(named), noted, 0)
                best = (rank, loaded, None) if best is None or rank > best[0] else best
            continue
        if request.target != move.ref and not loaded.faults:
            continue
        named = subject == move.subject
        place = pushed.get(request.work, -1)
        if not named and place < 0 and not _touches(world, move, request):
            continue
        if not named and (request.work in other or (request.id in done and request.work not in on)):
            continue
        rank = (int(named), place, request.opened.time)
        if best is None or rank > best[0]:
            best = (rank, loaded, request)
    return (best[1], best[2]) if best else None


def _noted(world: World, loaded: Loaded) -> Iterator[str]:
    """The commits whose notes have a record of an instance whose requests cannot be read."""
    records = [stray.id for stray in loaded.strays] + [one.id for one in loaded.records]
    for record in records:
        commit = world.noted_on(loaded.gate, loaded.subject, record)
        if commit is not None:
            yield commit


def _pushed(world: World, move: Move) -> dict[str, int]:
    """The commits that the move brings, with a rank that grows towards its tip."""
    start = move.chain[0].commit
    found: dict[str, int] = {}
    for tip in move.tips:
        commits = world.repo.between(start, tip)
        for rank, commit in enumerate(reversed(commits)):
            found.setdefault(commit.id, rank)
    return found


def _merged_later(world: World, move: Move, result: Walk) -> set[str]:
    """The commits that the move merges only after the one at which the walk stopped."""
    stopped = move.chain[result.stopped or 0].commit
    return {one.id for tip in move.tips for one in world.repo.between(stopped, tip)}


def _done(result: Walk) -> set[str]:
    """The requests that have nothing to add where the walk stopped."""
    spent = {one for stretch in result.stretches for one in stretch.requests}
    return spent | {m.request for m in result.misses if m.kind is MissKind.DIFFERS and not m.paths}


def _touches(world: World, move: Move, request: Request) -> bool:
    """Whether the whole request is among what the move changes, as in a squash of it."""
    commit = world.repo.commit
    changed = world.trees.changes(move.chain[0].tree, move.chain[-1].tree)
    asked = world.trees.changes(commit(request.base).tree, commit(request.work).tree)
    return bool(asked) and all(path in changed for path in asked)


def _say(
    world: World,
    move: Move,
    policy: PolicyCommit,
    loaded: Loaded,
    request: Request,
    result: Walk,
) -> tuple[Outcome, tuple[str, ...], str]:
    who = f"{loaded.gate} {loaded.subject}"
    if loaded.instance.running is None:
        return _ended(loaded)
    verdict = world.verdict(policy, loaded, request)
    again = f"git gate open {loaded.gate} --subject {shlex.quote(loaded.subject)}"
    if verdict.status in _BY_STATUS:
        outcome = _BY_STATUS[verdict.status]
        if outcome is Outcome.PENDING and verdict.obstacles:  # no approval would change that
            return Outcome.BLOCKED, verdict.reasons, "git gate signers add PERSON KEY"
        if outcome is Outcome.PENDING:
            hint = f"git gate approve {loaded.gate} --subject {shlex.quote(loaded.subject)}"
            return outcome, verdict.reasons, hint
        return outcome, verdict.reasons, again
    vetoes = standing(world, policy, request)
    if vetoes:
        doubted = all(veto.doubt for veto in vetoes)
        outcome = Outcome.UNTRUSTED if doubted else Outcome.REJECTED
        return outcome, tuple(_veto_words(veto) for veto in vetoes), _lifting(vetoes[0])
    foreign = elsewhere(world, request, move.commits)
    if foreign:
        return Outcome.BLOCKED, (f"{who} {foreign}",), again
    return _missed(world, move, request, result, who, again)


def _ended(loaded: Loaded) -> tuple[Outcome, tuple[str, ...], str]:
    life = loaded.instance.life
    status = life.status if life is not None else None
    again = f"git gate open {loaded.gate} --subject {shlex.quote(loaded.subject)}"
    if status is Status.WITHDRAWN:
        return Outcome.WITHDRAWN, (f"{loaded.name} was withdrawn or quit",), again
    reason = f"the last request of {loaded.name} is {status or 'gone'}: this needs a new one"
    return Outcome.NOT_OPENED, (reason,), again


def _veto_words(veto: Veto) -> str:
    return veto.said if veto.doubt else f"{veto.said}; only they can lift that"


def _lifting(veto: Veto) -> str:
    if veto.doubt:
        return KEY_NEEDED
    if not veto.iteration:
        return "git gate repair"
    about = f"{veto.gate} --subject {shlex.quote(veto.subject)} --iteration {veto.iteration}"
    return f"{veto.person} can lift it: git gate retract {about}; else change the work"


def _missed(
    world: World, move: Move, request: Request, result: Walk, who: str, again: str
) -> tuple[Outcome, tuple[str, ...], str]:
    miss = next((m for m in result.misses if m.request == request.id), None)
    work = describe(world, request.work)
    landed = world.repo.is_ancestor(request.work, move.chain[0].commit)
    if landed or (miss is not None and miss.kind is MissKind.LANDED):
        reason = f"{who} was approved and has landed before: one approval is for one landing"
        return Outcome.BLOCKED, (reason,), again
    if _newer_work(world, move, request):
        reason = f"{who} was approved at {work}, and newer work came on top of it"
        return Outcome.STALE, (reason, *_paths(miss)), again
    if miss is None:
        return Outcome.BLOCKED, (f"{who} was approved at {work}, which is not this",), again
    match miss.kind:
        case MissKind.CONFLICT | MissKind.DIFFERS if _git_stops(world, move, request, result, miss):
            return (
                Outcome.NOT_REPRODUCIBLE,
                (f"{who} was approved at {work}, which does not merge cleanly", *_paths(miss)),
                f"git merge {move.chain[0].commit[:12]} into {request.subject}, then {again}",
            )
        case MissKind.STALE_DELIVERABLES:
            reason = f"{who} was approved at {work}, and a deliverable is not as it was there"
            return Outcome.STALE, (reason, *_paths(miss)), again
        case MissKind.ABSENT:
            return Outcome.BLOCKED, (miss.detail,), "git fetch --unshallow"
        case MissKind.INTERIOR | MissKind.LATER:
            reason = f"{who} was approved at {work}, but {miss.detail}"
            return Outcome.BLOCKED, (reason, *_paths(miss)), "git gate check"
        case _:
            reason = f"{who} was approved at {work}, and this is not the merge of that"
            return Outcome.BLOCKED, (reason, *_paths(miss)), "git gate check"


def _git_stops(world: World, move: Move, request: Request, result: Walk, miss: Miss) -> bool:
    """Whether the merge of the request is a conflict for git, who may see a moved folder in it."""
    if miss.kind is MissKind.CONFLICT:
        return True
    start = move.chain[result.stretches[-1].end if result.stretches else 0].tree
    base, work = world.repo.commit(request.base).tree, world.repo.commit(request.work).tree
    try:
        merged = world.trees.merge_whole(base, start, work)
    except GateError:
        return False
    return merged is not None and not merged.conflicts.isdisjoint(miss.paths)


def _newer_work(world: World, move: Move, request: Request) -> bool:
    """Whether a tip that is being landed stands on top of the approved work commit."""
    for tip in move.tips:
        parents = world.repo.commit(tip).parents
        heads = parents[1:] if len(parents) > 1 else (tip,)
        for head in heads:
            if head != request.work and world.repo.is_ancestor(request.work, head):
                return True
    return False


def _paths(miss: Miss | None) -> Iterator[str]:
    if miss is None or not miss.paths:
        return
    names = [path_text(path) for path in sorted(miss.paths)]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    yield f"it differs at {', '.join(names[:_SHOWN])}{more}"
