"""`land`: bring the approved work onto the guarded branch, by the rule, and with its ledger.

The landing is built by real git on the branch's present tip, judged as a push of it would be, and
pushed with that tip as the expected old value. Whoever is slower builds again. Until the branch
has moved nothing is different from before, except that ledgers were exchanged, as `sync` does.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from gitgate.app.asking.choose import subject_of
from gitgate.app.exchange.unpushed import unpushed
from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.landed import has_landed
from gitgate.app.gather.world import World
from gitgate.app.judging.checking import may_land
from gitgate.app.judging.judgement import Judgement, Row
from gitgate.app.judging.moves import judge_move
from gitgate.app.judging.phasing import current_phase
from gitgate.app.landing.landingbuild import Method, Plan, base_merge, build
from gitgate.app.landing.landingnext import next_commands
from gitgate.app.landing.landingremote import fetch, hear, push
from gitgate.app.landing.landings import record_landing
from gitgate.app.landing.landingtext import Grounds
from gitgate.app.landing.landingtree import landing_tree, sweep
from gitgate.app.landing.landingwork import Work, grounds, work_of
from gitgate.core.events import EventName
from gitgate.core.outcome import Outcome
from gitgate.core.person import Stamp
from gitgate.errors import Exit, GateError
from gitgate.git.refs import LostRace

_ATTEMPTS = 8

Say = Callable[[str], None]


class Result(StrEnum):
    """What `land` did."""

    LANDED = "landed"
    ALREADY_LANDED = "already-landed"
    WOULD_LAND = "would-land"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Ask:
    """What the caller of `land` said; None is the default of each."""

    gate: str | None = None
    subject: str | None = None
    target: str | None = None
    method: str | None = None
    text: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Landed:
    """What came of it. `new` is the commit that the target has, or would have; `judged` says by
    which gates, or why not; `phase` is from where to where the landing moves it; `then` are
    commands that make sense now."""

    result: Result
    work: Work
    method: Method
    remote: str | None
    judged: Judgement
    old: str
    new: str | None
    grounds: Grounds = ()
    phase: tuple[str | None, str | None] | None = None
    warnings: tuple[str, ...] = ()
    then: tuple[str, ...] = ()


def land(world: World, ask: Ask, say: Say = lambda _: None) -> Landed:
    """Land the work of a subject; a result that is `refused` says why in its judgement.

    `say` is told what goes on that takes time or had to be done again.
    Raises GateError: blocked (a conflict, a hook, the remote refuses), usage, not opened,
    untrusted, fatal (no policy, the remote cannot be reached), lost race after several tries.
    """
    method = _method(world, ask)
    sweep(world.repo)
    for _ in range(_ATTEMPTS):
        try:
            return _try(world, ask, method, say)
        except LostRace as lost:
            say(f"{lost.message}: once more on what is there now")
            world.forget()
    words = [word for word in (ask.gate, "--subject", subject_of(world, ask.subject)) if word]
    raise GateError(
        Exit.LOST_RACE,
        f"others were faster {_ATTEMPTS} times; nothing landed",
        shlex.join(["git", "gate", "land", *words]),
    )


def _method(world: World, ask: Ask) -> Method:
    named = ask.method or world.repo.config.get("gate.landmethod") or Method.MERGE
    if named not in list(Method):
        raise GateError(
            Exit.USAGE,
            f"{named!r} is no way to land; there are: {', '.join(Method)}",
            "git config gate.landMethod merge",
        )
    method = Method(named)
    if ask.text is not None and not method.commits:
        raise GateError(
            Exit.USAGE,
            f"as {method} the commits land as they are, so there is no message to be given",
            f"git gate land --method {Method.MERGE}",
        )
    return method


def _try(world: World, ask: Ask, method: Method, say: Say) -> Landed:
    subject = subject_of(world, ask.subject)
    work, judged = _prepared(world, ask, subject, say)
    read_from, tip = world.target_tip(work.target)
    if tip is None:
        raise GateError(
            Exit.USAGE,
            f"{work.target} does not exist, so nothing can land on it",
            f"git branch {shlex.quote(_short(work.target))} COMMIT",
        )
    now = Landed(Result.REFUSED, work, method, world.remote, judged, tip, None)
    if _has_all(world, work, tip):
        return _there_already(world, now, ask, say)
    plan = _plan(now, read_from, ask.text, grounds(world, work.policy, judged.rows))
    if not judged.status.allowed:
        return _told(now, plan)
    with landing_tree(world.repo, tip, plan.again) as tree:
        say(f"building the landing on {_name(read_from)} ({tip[:12]})")
        new = build(world.repo, tree, plan)
        kept = _exchange(world, [*_keys(work), *_rows(judged)], say, dry_run=ask.dry_run)
        built = judge_move(world, work.target, tip, new, subject=subject)
        if not built.status.allowed:
            # What arrived meanwhile, a rejection, says more than what is wrong with this landing.
            judged = may_land(world, work.target, work.head, subject)
            if judged.status.allowed:
                judged = _otherwise(world, plan, replace(built, methods=judged.methods), new)
            return _told(replace(now, judged=judged), plan)
        now = replace(now, judged=built, new=new)
        now = replace(now, grounds=plan.grounds, phase=_phase(world, now), warnings=work.notes)
        if ask.dry_run:
            return replace(now, result=Result.WOULD_LAND)
        _check_sent(world, built.rows, kept)
        say(f"pushing to {world.remote}" if world.remote else f"moving {work.target}")
        push(world, tree, work.target, tip, new, plan.again)
    now = _recorded(world, replace(now, result=Result.LANDED), say)
    return replace(now, then=_then(world, now))


def _prepared(world: World, ask: Ask, subject: str, say: Say) -> tuple[Work, Judgement]:
    """The work and whether it may land, by what is known here; where it may not, by what the
    remote knows, too."""
    target = _full(ask.target)
    try:
        work, judged = _look(world, ask, subject, target)
        if judged.status.allowed or world.remote is None:
            return work, judged
    except GateError as error:
        if error.kind not in (Exit.NOT_OPENED, Exit.UNTRUSTED) or world.remote is None:
            raise
    every = [(gate, subject) for gate in world.policy(target).policy.gates]
    if ask.dry_run:
        hear(world, every)
    else:
        _exchange(world, every, say)
    return _look(world, ask, subject, target)


def _look(world: World, ask: Ask, subject: str, target: str | None) -> tuple[Work, Judgement]:
    policy = world.policy(target)
    work = work_of(world, policy, ask.gate, subject, target)
    where = world.policy_ref(work.target)
    fetch(world, work.target, *([where.name] if where else []))
    renewed = world.policy(target)
    if renewed.commit != policy.commit:
        work = work_of(world, renewed, ask.gate, subject, target)
    return work, may_land(world, work.target, work.head, subject)


def _exchange(
    world: World, instances: Iterable[tuple[str, str]], say: Say, *, dry_run: bool = False
) -> list[str]:
    """Bring these ledgers to the remote, and what it has of them here; what kept one back."""
    if world.remote is None or dry_run:
        return []
    from gitgate.app.exchange.syncing import sync

    only = list(dict.fromkeys(instances))
    say(f"exchanging ledgers with {world.remote}")
    found = sync(world, world.remote, only=only, say=say)
    world.forget()
    return [*(problem.message for problem in found.problems), *found.warnings]


def _check_sent(world: World, rows: Sequence[Row], why: Sequence[str]) -> None:
    """The ledger comes before the branch: a server judges by what it has (design, section 6)."""
    for unsent in unpushed(world, rows):
        command = shlex.join(["git", "gate", "sync", world.remote or ""])
        said = "\n  ".join(["nothing landed, since its ledger comes first:", *(why or [unsent])])
        raise GateError(Exit.BLOCKED, said, command)


def _keys(work: Work) -> list[tuple[str, str]]:
    return [(one.gate, one.subject) for one in work.instances]


def _rows(judged: Judgement) -> list[tuple[str, str]]:
    return [(row.gate, row.subject) for row in judged.rows if row.subject is not None]


def _has_all(world: World, work: Work, tip: str) -> bool:
    """Whether the target holds the work already, as a merge or by content alone."""
    if world.repo.is_ancestor(work.head, tip):
        return True
    merged = world.trees.merge_commits(tip, work.head)
    tree = world.repo.commit(tip).tree
    return merged is not None and not merged.conflicts and merged.tree == tree


def _there_already(world: World, now: Landed, ask: Ask, say: Say) -> Landed:
    """As after a run that was killed before it could record what it had landed."""
    ended = next((e for one in now.work.instances if (e := _landed_as(world, now.work, one))), None)
    now = replace(now, result=Result.ALREADY_LANDED, new=ended or now.old)
    unrecorded = any(one.instance.running is not None for one in now.work.instances)
    now = _recorded(world, now, say) if unrecorded and not ask.dry_run else now
    return replace(now, then=_then(world, now))


def _landed_as(world: World, work: Work, loaded: Loaded) -> str | None:
    life = loaded.instance.life
    if life is not None and life.last is not None:
        return str(life.last.fields["new"]) if life.last.name is EventName.LANDED else None
    request = loaded.newest
    stretch = has_landed(world, work.policy, request) if request else None
    return stretch[1] if stretch else None


def _recorded(world: World, now: Landed, say: Say) -> Landed:
    """The landing in the ledgers. What has landed stays so, whatever becomes of that."""
    work = now.work
    keys = list(dict.fromkeys([*_keys(work), *_rows(now.judged)]))
    warnings = list(now.warnings)
    try:
        world.forget()
        if world.target_tip(work.target)[1] != now.new:
            fetch(world, work.target)
        person = world.repo.identity()
        stamp = Stamp(person.person, world.now, person.offset)
        for gate, subject in keys:
            record_landing(world, work.policy, gate, subject, stamp)
        trouble = _exchange(world, keys, say)
    except GateError as error:
        trouble = [error.message]
    warnings += [f"the landing stands, and not everybody knows of it: {one}" for one in trouble]
    return replace(now, warnings=tuple(warnings))


def _plan(now: Landed, read_from: str, text: str | None, why: Grounds) -> Plan:
    work = now.work
    return Plan(
        method=now.method,
        tip=now.old,
        head=work.head,
        name=work.branch or work.subject,
        is_branch=work.branch is not None,
        base=_name(read_from),
        again=f"git gate land {work.about}",
        reopen=work.reopen,
        text=text,
        grounds=why,
    )


def _told(now: Landed, plan: Plan) -> Landed:
    """A refusal by the rule; after a conflict with the commands that fit here."""
    if now.judged.status is not Outcome.NOT_REPRODUCIBLE:
        return now
    return replace(now, judged=replace(now.judged, hint=base_merge(plan)))


def _otherwise(world: World, plan: Plan, built: Judgement, new: str) -> Judgement:
    """Why the landing that was built does not pass where the plain merge would, and what does."""
    merged = world.trees.merge_commits(plan.tip, plan.head)
    if plan.method.commits and merged and merged.tree != world.repo.commit(new).tree:
        reason = "a hook or a setting of this clone changed what was merged"
        return replace(built, reasons=(*built.reasons, reason), hint="git gate hook status")
    other = next(name for name in _PREFERRED if name in built.methods and name != plan.method)
    return replace(built, hint=f"{plan.again} --method {other}")


_PREFERRED = (Method.MERGE, Method.SQUASH, Method.FF, Method.REBASE)


def _phase(world: World, now: Landed) -> tuple[str | None, str | None] | None:
    before, after = (
        current_phase(world, now.work.policy, commit) for commit in (now.old, now.new or now.old)
    )
    return None if before == after else (before, after)


def _then(world: World, now: Landed) -> tuple[str, ...]:
    new = now.new or now.old
    return tuple(next_commands(world, now.work, new, whole=now.method.keeps_commits))


def _name(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/")


def _full(name: str | None) -> str | None:
    return name if name is None or name.startswith("refs/") else f"refs/heads/{name}"
