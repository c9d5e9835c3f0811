"""`pre-push`: judge each guarded ref of a push before it leaves this clone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gitgate.app.exchange.unpushed import unpushed
from gitgate.app.gather.policies import consulted
from gitgate.app.gather.world import World
from gitgate.app.judging.judgement import Judgement
from gitgate.app.judging.moves import judge_move
from gitgate.core.outcome import Outcome
from gitgate.core.policy import POLICY_FILE
from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.repository import Repository


@dataclass(frozen=True, slots=True)
class Update:
    """A line that git gives the hook; None is a ref that does not exist on that side."""

    local: str
    new: str | None
    ref: str
    old: str | None


def updates(lines: str) -> list[Update]:
    """The updates of a push. A local name may hold blanks, so a line is read from its end.

    Raises GateError (fatal) for a line that is none: what cannot be read blocks.
    """
    found: list[Update] = []
    for line in lines.split("\n"):
        if not line:
            continue
        parts = line.rsplit(" ", 3)
        if len(parts) != 4:
            raise GateError(
                Exit.FATAL, f"git gave the pre-push hook a strange line: {line[:200]!r}"
            )
        local, new, ref, old = parts
        found.append(Update(local, _oid(new), ref, _oid(old)))
    return found


def judge_push(world: World, pushed: Sequence[Update]) -> Iterator[Judgement]:
    """The judgement of each ref of the push; a guarded one that cannot be judged is blocked."""
    for update in pushed:
        try:
            judged = _judge(world, update)
            warnings = unpushed(world, judged.rows) if judged.status.allowed else ()
            yield replace(judged, warnings=(*judged.warnings, *warnings))
        except GateError as error:
            yield Judgement(
                Outcome.BLOCKED,
                update.ref,
                update.old,
                update.new,
                None,
                reasons=(error.message,),
                hint=error.hint,
            )


@dataclass(frozen=True, slots=True)
class Guards:
    """What of a remote is guarded, and all that was looked at to know it."""

    remote: str
    policy_ref_config: str
    consulted: tuple[tuple[str, str], ...]
    patterns: tuple[str, ...]
    tips: Mapping[str, str]


def guards(world: World) -> Guards | None:
    """What the hook's shell may know of the remote; None where it had better ask each time."""
    remote = world.remote
    ref = world.policy_ref()
    policy = world.policy_at(ref.tip) if ref is not None and ref.tip else None
    if remote is None or ref is None or policy is None:
        return None
    names = list(consulted(world.repo, None, remote))
    tips = {name: tip for name in names if (tip := refs.read(world.repo, name))}
    seen = tuple(
        (f"{name}:{POLICY_FILE.decode()}", _blob_or_missing(world.repo, tips.get(name)))
        for name in names
    )
    patterns = (ref.name, *(p for gate in policy.policy.gates.values() for p in gate.guards))
    return Guards(remote, world.repo.config.get("gate.policyref", ""), seen, patterns, tips)


def _judge(world: World, update: Update) -> Judgement:
    if not guarded(world, update.ref):
        return Judgement(Outcome.NOT_NEEDED, update.ref, update.old, update.new, None)
    if update.old is not None and world.repo.kind(update.old) is None:
        raise GateError(
            Exit.BLOCKED,
            f"{update.ref} of the remote is at {update.old[:12]}, which is not here",
            f"git fetch {world.remote or ''}".strip(),
        )
    old = peeled(world, update.old)
    new = peeled(world, update.new)
    subject = update.local.removeprefix("refs/heads/") if "refs/heads/" in update.local else None
    judged = judge_move(world, update.ref, old, new, subject=subject)
    if judged.status is Outcome.NO_POLICY:
        # Hooks let pass what nobody gates.
        return replace(judged, status=Outcome.NOT_NEEDED)
    return judged


def guarded(world: World, ref: str) -> bool:
    """Whether policy guards `ref`, or may be about to: the policy ref guards itself."""
    where = world.policy_ref(ref)
    if where is None or where.name == ref:
        return where is not None
    policy = world.policy_at(where.tip) if where.tip else None
    return policy is not None and bool(policy.policy.guarding(ref))


def peeled(world: World, oid: str | None) -> str | None:
    """The commit that an id stands for, tags peeled; what is no commit stays as it is."""
    if oid is None or world.repo.kind(oid) == "commit":
        return oid
    return world.repo.resolve(oid) if world.repo.kind(oid) == "tag" else oid


def _oid(text: str) -> str | None:
    return None if not text.strip("0") else text


def _blob_or_missing(repo: Repository, tip: str | None) -> str:
    found = repo.entry(repo.commit(tip).tree, POLICY_FILE) if tip else None
    return found[1] if found else "missing"
