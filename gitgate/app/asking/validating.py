"""`validate`: run the validations again over the newest request, and record what they found."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from gitgate.app.asking.validations import Report, Watch, run_validations
from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.recording import append
from gitgate.app.gather.world import World, gate_of
from gitgate.core.events import Event, EventName
from gitgate.core.gate import Status, may_follow
from gitgate.core.person import Stamp
from gitgate.errors import Exit, GateError
from gitgate.git.ledger import Draft, Ledger


@dataclass(frozen=True, slots=True)
class Validated:
    """What was found, and the instance after it was recorded."""

    report: Report
    loaded: Loaded


def validate(
    world: World, policy: PolicyCommit, gate: str, subject: str, watch: Watch
) -> Validated:
    """Run the validations of the policy in force over the newest request; who ran them, and what
    they found, becomes a `validated` event.

    Raises GateError: not opened, and where the gate has no validations (usage).
    """
    loaded = world.load(policy, gate, subject)
    loaded.check_trusted()
    found = gate_of(policy, gate)
    if not found.validations:
        raise GateError(
            Exit.USAGE,
            f"gate `{gate}` has no validations in the policy of commit {policy.commit[:12]}",
            "docs/validations.md says how to write one",
        )
    newest = loaded.instance.newest
    request = loaded.newest
    if newest is None or request is None:
        raise GateError(
            Exit.NOT_OPENED, f"there is no {loaded.name} to validate", f"git gate open {gate}"
        )
    _check_follows(world, policy, loaded.ledger, request.id)
    stamp = world.repo.identity()
    report = run_validations(world, policy.commit, found, request, stamp.person, watch)
    fields = {"findings": report.findings}
    event = Event("", 0, EventName.VALIDATED, world.now, stamp.person, request.id, None, fields)

    def draft(ledger: Ledger) -> Draft:
        _check_follows(world, policy, ledger, request.id)
        return Draft(event, newest.number, Status.OPEN.value)

    append(world, policy, gate, subject, draft, stamp=Stamp(stamp.person, world.now, stamp.offset))
    return Validated(report, world.reload(policy, gate, subject))


def _check_follows(world: World, policy: PolicyCommit, ledger: Ledger, request: str) -> None:
    why_not = may_follow(world.fold_of(policy, ledger), EventName.VALIDATED, request=request)
    if why_not:
        raise GateError(
            Exit.NOT_OPENED,
            f"nothing of {ledger.gate} of {ledger.subject} is to be validated: {why_not}",
            f"git gate log {ledger.gate} --subject {shlex.quote(ledger.subject)}",
        )
