"""`show`, `log` and `wait`: an instance as the plain values that their JSON prints."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from gitgate.app.asking.deliverables import misnamed
from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.landed import has_landed
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.app.judging.phasing import phase_began
from gitgate.app.judging.vetoes import standing
from gitgate.app.reviewing.reviewercommit import reviewer_edit
from gitgate.app.showing.reported import count, reported
from gitgate.core.gate import Iteration, Status
from gitgate.core.quoting import path_text
from gitgate.core.request import Level, Request
from gitgate.core.trust import SignatureStatus
from gitgate.core.verdict import Judged, Verdict
from gitgate.errors import Exit, GateError

SCHEMA = 1
"""The version of every JSON document."""

_EXITS = {
    Status.OPEN: Exit.PENDING,
    Status.PARKED: Exit.PENDING,
    Status.REJECTED: Exit.REJECTED,
    Status.DECLINED: Exit.REJECTED,
    Status.EXPIRED: Exit.EXPIRED,
    Status.WITHDRAWN: Exit.NOT_OPENED,
}


def iteration_of(loaded: Loaded, number: int | None) -> Iteration:
    """The newest iteration of the latest life, or the one numbered so; GateError without it."""
    life = loaded.instance.life
    wanted = [
        one for one in (life.iterations if life else ()) if number is None or one.number == number
    ]
    if wanted and wanted[-1].request in loaded.ledger.requests:
        return wanted[-1]
    loaded.check_trusted()
    about = f"{loaded.gate} --subject {shlex.quote(loaded.subject)}"
    if number is not None and life is not None:
        raise GateError(
            Exit.NOT_OPENED,
            f"{loaded.name} has no iteration {number}",
            f"git gate show {about}",
        )
    raise GateError(Exit.NOT_OPENED, f"{loaded.name} was never opened", f"git gate open {about}")


def status_of(world: World, policy: PolicyCommit, loaded: Loaded) -> Status:
    """What the instance is now (design, section 3); GateError where it was never opened."""
    life = loaded.instance.life
    if life is not None and life.status is not None:
        return life.status
    request = loaded.ledger.requests[iteration_of(loaded, None).request]
    if request.gate not in policy.policy.gates:
        return Status.OPEN
    status = world.verdict(policy, loaded, request).status
    if status in (Status.APPROVED, Status.SKIPPED):
        if loaded.faults:
            return Status.OPEN
        vetoes = standing(world, policy, request)
        if vetoes:
            return Status.OPEN if all(one.doubt for one in vetoes) else Status.REJECTED
        if _landed(world, policy, request):
            return Status.LANDED
    return status


def _landed(world: World, policy: PolicyCommit, request: Request) -> bool:
    """Whether it surely has landed: what nobody can tell keeps no list from being shown, and a
    landing is judged without it."""
    try:
        return has_landed(world, policy, request) is not None
    except GateError as error:
        if error.kind is not Exit.BLOCKED:
            raise
        return False


def exit_of(status: Status) -> Exit:
    """The exit status by which `wait` says how an instance was decided."""
    return _EXITS.get(status, Exit.OK)


def show(
    world: World,
    policy: PolicyCommit,
    loaded: Loaded,
    number: int | None = None,
    *,
    trees: bool = True,
) -> dict[str, Any]:
    """The document of `show --json` (docs/reference.md); without `trees` nothing that takes one
    is looked at, which is enough for a list."""
    iteration = iteration_of(loaded, number)
    request = loaded.ledger.requests[iteration.request]
    gate = policy.policy.gates.get(loaded.gate)
    verdict = world.verdict(policy, loaded, request) if gate else None
    transition = gate.transition if gate else None
    misnaming = misnamed(world, policy, request) if trees and gate else ""
    edit = reviewer_edit(world, policy, loaded, iteration.number) if trees else None
    found = reported(request, iteration)
    deliverables, general = found.deliverable_documents(), found.general_documents()
    return {
        "schema": SCHEMA,
        "gate": loaded.gate,
        "title": request.title,
        "kind": request.kind.value,
        "subject": loaded.subject,
        "target": request.target,
        "status": status_of(world, policy, loaded).value,
        "iteration": iteration.number,
        "request": request.id,
        "work": request.work,
        "base": request.base,
        "agent": request.agent,
        "opened_by": str(request.opened.person),
        "opened_at": rfc3339(request.opened.time),
        "summary": request.summary,
        "reviewer_edit": edit.document() if edit else None,
        "transition": {"from": transition.from_phase, "to": transition.to_phase}
        if transition
        else None,
        "context": {
            "artifact_count": len(deliverables),
            "validation_errors": count(deliverables, general, Level.ERROR),
            "warnings": count(deliverables, general, Level.WARNING),
            "iteration": iteration.number,
            "time_elapsed": duration(world.now - _phase_began(world, policy, loaded, request)),
        },
        "deliverables": deliverables,
        "findings": general,
        "validated": [{**run, "at": rfc3339(run["at"])} for run in found.run_documents()],
        "next_steps": list(request.next_steps),
        "waited": duration(world.now - _began(loaded, request)),
        **until(verdict.deadline if verdict else None, world.now),
        "waiting_for": list(verdict.waiting_for) if verdict else [],
        "reasons": _reasons(world, policy, loaded, request, verdict),
        "warnings": [*loaded.reports, *filter(None, [misnaming])],
        "decisions": list(_decisions(world, policy, loaded)),
        "diagnosis": request.extra.get("diagnosis"),
        "question": request.extra.get("question"),
    }


def log(loaded: Loaded) -> dict[str, Any]:
    """The history of one instance, oldest first, as `log --json` prints it."""
    ignored = {one.event.id: one.reason for one in loaded.instance.ignored}
    return {
        "schema": SCHEMA,
        "gate": loaded.gate,
        "subject": loaded.subject,
        "ledger": loaded.ledger.tip,
        "faults": list(loaded.faults),
        "warnings": list(loaded.junk),
        "events": [
            {
                "number": event.number,
                "event": event.name.value,
                "at": rfc3339(event.at),
                "by": str(event.by),
                "request": event.request,
                "record": event.record,
                "says": _says(loaded, event.record),
                "ignored": ignored.get(event.id),
            }
            for event in loaded.ledger.events
        ],
    }


def answer(world: World, policy: PolicyCommit, loaded: Loaded) -> dict[str, Any]:
    """The document of `wait --json`: what an agent needs to go on."""
    document = show(world, policy, loaded)
    status = Status(document["status"])
    telling = _telling(document, status)
    iteration = iteration_of(loaded, None)
    request = loaded.ledger.requests[iteration.request]
    edit = document["reviewer_edit"]
    return {
        "schema": SCHEMA,
        "gate": loaded.gate,
        "subject": loaded.subject,
        "kind": document["kind"],
        "iteration": document["iteration"],
        "status": status.value,
        "id": telling["id"] if telling else None,
        "action": telling["action"] if telling else None,
        "message": telling["message"] if telling else "",
        "by": telling["by"] if telling else None,
        "at": telling["at"] if telling else None,
        "reviewer_commit": edit["commit"] if edit else None,
        "decisions": document["decisions"],
        "comments": [
            comment
            for one in document["decisions"]
            for comment in one["comments"]
            if one["iteration"] == document["iteration"]
        ],
        "findings": reported(request, iteration).flat_documents(),
        "choices": telling["choices"] if telling else [],
        "next": following(loaded, status),
    }


def rfc3339(seconds: int) -> str:
    """A time in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def duration(seconds: int) -> str:
    """ISO 8601, to the minute once it is longer than one: `PT2H14M`."""
    if seconds < 60:
        return f"PT{max(seconds, 0)}S"
    days, rest = divmod(seconds // 60, 24 * 60)
    hours, minutes = divmod(rest, 60)
    time = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "")
    return "P" + (f"{days}D" if days else "") + (f"T{time}" if time else "")


def until(deadline: int | None, now: int) -> dict[str, str | None]:
    """A deadline and the time that is left, as all documents have them."""
    if deadline is None:
        return {"deadline": None, "time_left": None}
    return {"deadline": rfc3339(deadline), "time_left": duration(deadline - now)}


def following(loaded: Loaded, status: Status) -> list[str] | None:
    """The command by which the asking side goes on; None where there is none."""
    subject = ["--subject", loaded.subject]
    match status:
        case Status.OPEN | Status.PARKED:
            return ["git", "gate", "wait", loaded.gate, *subject]
        case Status.REJECTED | Status.EXPIRED | Status.WITHDRAWN:
            return ["git", "gate", "open", loaded.gate, *subject]
        case Status.APPROVED | Status.SKIPPED:
            return ["git", "gate", "land", loaded.gate, *subject]
        case _:
            return None


def _telling(document: dict[str, Any], status: Status) -> dict[str, Any] | None:
    """The decision that made the instance what it is: the last one of its kind that counts."""
    actions = {
        Status.REJECTED: ("reject",),
        Status.APPROVED: ("approve",),
        Status.SKIPPED: ("skip",),
        Status.WITHDRAWN: ("quit",),
        Status.LANDED: ("approve", "skip"),
    }.get(status, ())
    for one in reversed(document["decisions"]):
        current = one["iteration"] == document["iteration"]
        if current and one["counts"] and one["action"] in actions:
            telling: dict[str, Any] = one
            return telling
    return None


def _began(loaded: Loaded, request: Request) -> int:
    life = loaded.instance.life
    return life.first.at if life else request.opened.time


def _phase_began(world: World, policy: PolicyCommit, loaded: Loaded, request: Request) -> int:
    """When the phase began that the gate leads out of, else when the instance was opened."""
    gate = policy.policy.gates.get(loaded.gate)
    transition = gate.transition if gate else None
    if transition is not None:
        began = phase_began(world, policy, request.target, transition.from_phase)
        if began is not None:
            return began
    return _began(loaded, request)


def _reasons(
    world: World,
    policy: PolicyCommit,
    loaded: Loaded,
    request: Request,
    verdict: Verdict | None,
) -> list[str]:
    if loaded.faults:
        return [*loaded.faults, f"it is not to be trusted until it is mended: {loaded.remedy}"]
    if verdict is None:
        return [f"the policy has no gate {loaded.gate!r} any more"]
    vetoes = standing(world, policy, request)
    return [
        *verdict.reasons,
        *(veto.said for veto in vetoes),
    ]


def _decisions(world: World, policy: PolicyCommit, loaded: Loaded) -> Iterator[dict[str, Any]]:
    life = loaded.instance.life
    for iteration in life.iterations if life else ():
        request = loaded.ledger.requests.get(iteration.request)
        if request is None or request.gate not in policy.policy.gates:
            continue
        verdict = world.verdict(policy, loaded, request)
        for record in loaded.records:
            if record.decision.request == request.id:
                yield _decision(iteration.number, record, verdict)


def _decision(iteration: int, record: Judged, verdict: Verdict) -> dict[str, Any]:
    decision, count = record.decision, verdict.count_of(record.id)
    return {
        "id": record.id,
        "action": decision.action.value,
        "by": record.verification.principal,
        "name": decision.tagger.person.name,
        "at": rfc3339(decision.tagger.time),
        "via": decision.via.value,
        "message": decision.message,
        "iteration": iteration,
        "request": decision.request,
        "signature": _signature(record.verification.status),
        "counts": count.counts,
        "reason": count.reason,
        "reviewed": [
            {"path": path_text(one.path), "viewed": one.viewed, "edited": one.edited}
            for one in decision.reviewed
        ],
        "time_spent_seconds": decision.time_spent,
        "comments": [
            {"path": path_text(one.path), "line": one.line, "text": one.text}
            for one in decision.comments
        ],
        "choices": [{"id": one.number, "title": one.title} for one in decision.choices],
        "data": [{"path": path_text(one.path), "oid": one.oid} for one in decision.data],
    }


def _signature(status: SignatureStatus) -> str:
    unknown = SignatureStatus.UNVERIFIABLE
    return (SignatureStatus.UNKNOWN_KEY if status is unknown else status).value


def _says(loaded: Loaded, record: str | None) -> str | None:
    found = loaded.raws.get(record or "")
    if found is None:
        return None
    first = found.decision.message.split("\n", 1)[0]
    return f"{found.decision.action}: {first}" if first else found.decision.action.value
