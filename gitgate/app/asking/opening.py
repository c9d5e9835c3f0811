"""`open`: put the work up for a decision, as iteration 1 or the next one."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from gitgate.app.asking.choose import gate_to_open, subject_of, target_of
from gitgate.app.asking.deliverables import deliverables_of, misnamed
from gitgate.app.asking.validations import Report, Watch, run_validations
from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.landed import candidate, compared_of, elsewhere, holds_policy
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.recording import append
from gitgate.app.gather.world import World, gate_of
from gitgate.app.judging.phasing import advance, concerns
from gitgate.app.landing.landingremote import fetch
from gitgate.app.landing.landings import record_landing
from gitgate.core.events import Event, EventName, Located
from gitgate.core.findings import attached, trouble
from gitgate.core.gate import Life, Status
from gitgate.core.outcome import Outcome
from gitgate.core.person import Stamp
from gitgate.core.policy import Gate
from gitgate.core.request import Kind, Level, Request
from gitgate.errors import Exit, GateError
from gitgate.git import ledger as ledgers
from gitgate.git.ledger import Draft, Ledger


class Result(StrEnum):
    """What `open` did, or why it had nothing to do."""

    OPENED = "opened"
    ITERATED = "iterated"
    ALREADY_OPEN = "already-open"
    ALREADY_APPROVED = "already-approved"
    NOTHING_NEW = "nothing-new"
    NOT_NEEDED = "not-needed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Opened:
    """`loaded` is the instance after it; None where nothing was written and none was there before:
    no gate was needed, or validations refuse the opening. `report` is what validations found."""

    result: Result
    gate: Gate
    subject: str
    target: str
    loaded: Loaded | None
    notes: tuple[str, ...] = ()
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """What the caller of `open` said; None is the default of each.

    `follows` is the request that has to be the newest one of a running instance when this one is
    written.
    """

    gate: str | None = None
    subject: str | None = None
    target: str | None = None
    commit: str | None = None
    base: str | None = None
    agent: str | None = None
    summary: str = ""
    advance: bool = False
    anyway: bool = False
    follows: str | None = None


def open_gate(
    world: World,
    ask: Ask,
    watch: Watch = lambda _: None,
    last_look: Callable[[], None] = lambda: None,
) -> Opened:
    """Open the gate for the work, or say why there is nothing to open.

    The gate's validations run before the request is written; `ask.anyway` opens it whatever they
    find, and `watch` is told what is running. `last_look` comes after them and may raise.

    Raises GateError (rejected is exit 1 here: nothing new since a rejection; not opened; usage;
    stale where `ask.follows` is not the newest request).
    """
    policy = world.policy(_full(ask.target))
    gate = gate_to_open(world, policy, ask.gate, _full(ask.target))
    subject = subject_of(world, ask.subject)
    target = target_of(world, policy, gate, ask.target)
    if _looks_again(world, policy, gate, subject, watch):
        policy = world.policy(_full(ask.target))
        gate = gate_of(policy, gate.id)
    if ask.advance:
        advance(world, policy, gate, target)
    request = _request(world, policy, gate, subject, target, ask)
    if not _concerns(world, policy, gate, request):
        return Opened(Result.NOT_NEEDED, gate, subject, target, None)
    # First what the target gained meanwhile: a landing ends the life that it landed.
    notes = record_landing(world, policy, gate.id, subject, request.opened)
    loaded = world.load(policy, gate.id, subject)
    settled = _settled(world, policy, loaded, request)
    if settled is not None:
        return Opened(settled, gate, subject, target, loaded, notes)
    report = run_validations(world, policy.commit, gate, request, request.opened.person, watch)
    if report.blocking and not ask.anyway:
        return Opened(Result.REFUSED, gate, subject, target, None, notes, report)
    request = attached(request, (*report.findings, *_opened_anyway(request, report)))
    last_look()
    return _write(world, policy, gate, loaded, request, notes, ask.follows)


def _looks_again(
    world: World, policy: PolicyCommit, gate: Gate, subject: str, watch: Watch
) -> bool:
    """Fetch the targets on which the running life has landed by its ledger and not by what is
    known of them here: an iteration after the end of a life would be one that nobody can use.
    Whether there was something to fetch.

    Raises GateError where a target cannot be had from the remote.
    """
    loaded = world.load(policy, gate.id, subject)
    running = loaded.instance.running
    if world.remote is None or running is None:
        return False
    told = [one.event for one in loaded.instance.ignored if one.event.name is EventName.LANDED]
    unseen = {
        str(event.fields["target"]): str(event.fields["new"])
        for event in told
        if event.number > running.first.number and not _is_seen(world, event)
    }
    for target, new in unseen.items():
        watch(f"fetching {target} of {world.remote}, on which {loaded.name} has landed")
        try:
            fetch(world, target)
        except GateError as error:
            if error.kind is not Exit.FATAL:
                raise
            raise GateError(
                Exit.FATAL,
                f"{loaded.name} has landed on {target} as {new[:12]}, by its ledger, and that"
                f" cannot be looked at: {error.message}",
                shlex.join(["git", "fetch", world.remote]),
            ) from None
    if unseen:
        world.forget()
    return bool(unseen)


def _is_seen(world: World, landed: Event) -> bool:
    """Whether what a `landed` event names is on the target as it is known here."""
    _, tip = world.target_tip(str(landed.fields["target"]))
    try:
        return tip is not None and world.mainline(tip).holds(str(landed.fields["new"]))
    except GateError:
        return False


def _opened_anyway(request: Request, report: Report) -> Iterator[Located]:
    """What a reviewer has to know of an opening that validations would have refused."""
    for one in report.blocking:
        text = f"opened although validation `{one.validation.name}` refuses it"
        yield trouble(text, str(request.opened.person), Level.WARNING)


def _write(
    world: World,
    policy: PolicyCommit,
    gate: Gate,
    loaded: Loaded,
    request: Request,
    notes: tuple[str, ...],
    follows: str | None,
) -> Opened:
    try:
        stored = ledgers.write_request(world.repo, request)
    except ValueError as error:
        raise GateError(Exit.USAGE, f"the request cannot be written: {error}", "") from None
    stamp = request.opened
    subject, result = request.subject, Result.OPENED

    def decide(ledger: Ledger) -> Draft | None:
        nonlocal result
        running = world.fold_of(policy, ledger).running
        if follows is not None:
            _check_follows(loaded, running, follows)
        if ledger.tip != loaded.ledger.tip:  # somebody was faster, perhaps with the very same
            now = world.reload(policy, gate.id, subject)
            settled = _settled(world, policy, now, request)
            if settled is not None:
                result = settled
                return None
        iteration = len(running.iterations) + 1 if running else 1
        name, result = (
            (EventName.ITERATED, Result.ITERATED) if running else (EventName.OPENED, Result.OPENED)
        )
        event = Event("", 0, name, stamp.time, stamp.person, stored.id, None, {})
        return Draft(event, iteration, Status.OPEN.value, request=stored)

    append(world, policy, gate.id, subject, decide, stamp=stamp)
    after = world.reload(policy, gate.id, subject)
    return Opened(result, gate, subject, request.target, after, notes)


def _check_follows(loaded: Loaded, running: Life | None, follows: str) -> None:
    newest = running.iterations[-1] if running and running.iterations else None
    if newest is None or newest.request != follows:
        now = f"iteration {newest.number} arrived" if newest else "it was ended"
        raise GateError(
            Exit.STALE,
            f"{loaded.name} changed meanwhile: {now}",
            f"git gate show {loaded.gate} --subject {shlex.quote(loaded.subject)}",
        )


def _request(
    world: World, policy: PolicyCommit, gate: Gate, subject: str, target: str, ask: Ask
) -> Request:
    repo = world.repo
    work = repo.resolve(ask.commit or "HEAD")
    _, tip = world.target_tip(target)
    base = repo.resolve(ask.base) if ask.base else _base(world, target, tip, work)
    if not repo.is_ancestor(base, work):
        raise GateError(
            Exit.USAGE,
            f"the base {base[:12]} is no ancestor of the work commit {work[:12]}",
            f"git gate open --base $(git merge-base {base[:12]} {work[:12]})",
        )
    stamp = repo.identity()
    return Request(
        id="",
        kind=Kind.APPROVAL,
        gate=gate.id,
        subject=subject,
        target=target,
        base=base,
        work=work,
        tip=tip,
        policy=policy.commit,
        agent=ask.agent,
        nonce=secrets.token_hex(16),
        opened=Stamp(stamp.person, world.now, stamp.offset),
        title=gate.title,
        summary=ask.summary,
        deliverables=tuple(deliverables_of(world, policy, gate, target, base, work)),
        next_steps=gate.next_steps,
    )


def _base(world: World, target: str, tip: str | None, work: str) -> str:
    if tip is None:
        raise GateError(
            Exit.USAGE,
            f"{target} does not exist yet, so nothing says where the reviewed work starts",
            "git gate open --base REF",
        )
    bases = world.repo.merge_bases(tip, work)
    if len(bases) == 1:
        return bases[0]
    found = ", ".join(base[:12] for base in bases) or "none"
    raise GateError(
        Exit.USAGE,
        f"{target} and {work[:12]} have {len(bases)} merge bases ({found}): say which one the"
        " reviewed work starts from",
        "git gate open --base REF",
    )


def _concerns(world: World, policy: PolicyCommit, gate: Gate, request: Request) -> bool:
    one = candidate(world, request)
    changes = world.trees.changes(one.base, one.work)
    on_policy_ref = holds_policy(world, request.target)
    asked = concerns(world, policy.policy, gate, on_policy_ref=on_policy_ref)
    if asked is not None:
        return asked(changes)
    compared = compared_of(world, policy, request)
    return any(compared(path) for path in changes)


def _settled(world: World, policy: PolicyCommit, loaded: Loaded, request: Request) -> Result | None:
    """Why no iteration is needed: the content that the gate compares was asked for already.

    Raises GateError where the instance is untrusted, and where nothing is new since a rejection.
    """
    loaded.check_trusted()
    newest = loaded.newest
    if loaded.instance.running is None or newest is None:
        return None
    verdict = world.verdict(policy, loaded, newest)
    _, tip = world.target_tip(newest.target)
    if verdict.status is Status.EXPIRED or (tip and elsewhere(world, newest, [tip])):
        return None
    same = newest.target == request.target and _same_content(world, policy, newest, request)
    if verdict.status in (Status.APPROVED, Status.SKIPPED):
        return Result.ALREADY_APPROVED if same or _passes(world, request) else None
    if not same:
        return None
    if verdict.status in (Status.OPEN, Status.PARKED):
        return None if misnamed(world, policy, newest) else Result.ALREADY_OPEN
    raise GateError(
        Exit.BLOCKED,
        f"nothing is new since {loaded.name} was {verdict.status}: " + "; ".join(verdict.reasons),
        "change the work, commit it, then git gate open",
    )


def _same_content(world: World, policy: PolicyCommit, one: Request, other: Request) -> bool:
    compared = compared_of(world, policy, other)
    first, second = candidate(world, one), candidate(world, other)
    moved = (
        *world.trees.changes(first.base, second.base),
        *world.trees.changes(first.work, second.work),
    )
    return not any(compared(path) for path in moved)


def _passes(world: World, request: Request) -> bool:
    from gitgate.app.judging.checking import may_land

    judged = may_land(world, request.target, request.work, request.subject)
    return judged.status in (Outcome.SATISFIED, Outcome.SKIPPED)


def _full(name: str | None) -> str | None:
    if name is None or name.startswith("refs/"):
        return name
    return f"refs/heads/{name}"
