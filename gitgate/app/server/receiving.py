"""`pre-receive`: judge every ref of a push by what the server had before it (design, section 6).

Guarded refs move by the landing rule; ledgers, notes and journal only grow; what belongs to
git-gate and is none of these is refused. Nothing is written: the new objects are in quarantine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from gitgate.app.gather.world import World
from gitgate.app.judging.judgement import Judgement
from gitgate.app.judging.moves import judge_move
from gitgate.app.judging.prepush import guarded, peeled
from gitgate.app.server.receivedjournal import journal_objections, objections_to_journal
from gitgate.app.server.receivedledgers import ledger_objections
from gitgate.app.server.receivednames import is_ours, misnamed
from gitgate.app.server.receivednotes import notes_objections
from gitgate.app.server.receivedpush import Objection, Push, Update
from gitgate.core import ids
from gitgate.core.outcome import Outcome
from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.known import SYNC
from gitgate.git.repository import Repository

_SHOWN = 3

# What a decision or a ledger that the server does not have yet may change.
_MAY_BE_ELSEWHERE = (
    Outcome.NOT_OPENED,
    Outcome.PENDING,
    Outcome.REJECTED,
    Outcome.EXPIRED,
    Outcome.STALE,
    Outcome.WITHDRAWN,
    Outcome.UNTRUSTED,
)


class ServerRepository(Repository):
    """A repository that is pushed to: what it once fetched from elsewhere decides nothing here."""

    def default_remote(self) -> None:
        return None


@contextmanager
def server(now: int, place: Path | None = None) -> Iterator[World]:
    """The server, as a hook in its environment sees it; else the one at `place`.

    Raises GateError where it is no repository of a supported kind.
    """
    with closing(World(ServerRepository.open(place), now)) as world:
        yield world


def updates(lines: str) -> list[Update]:
    """The updates of a push, from the lines that git gives the hook.

    Raises GateError (fatal) for a line that is none, and where there is no line: what cannot be
    read is not received, and git starts these hooks for no push without a ref.
    """
    found: list[Update] = []
    for line in filter(None, lines.split("\n")):
        parts = line.split(" ", 2)
        if len(parts) != 3 or not all(ids.is_oid(oid) for oid in parts[:2]):
            raise GateError(Exit.FATAL, f"git gave the hook a strange line: {line[:200]!r}")
        old, new, ref = parts
        found.append(Update(ref, _known(old), _known(new)))
    if not found:
        raise GateError(
            Exit.FATAL,
            "no ref was named to this hook, so nothing of this push was checked",
            "whoever runs the server: hand the hook's standard input on to git-gate"
            " (a program before it may have read it); then git gate hook status --server",
        )
    return found


def _known(oid: str) -> str | None:
    return None if oid == ids.ZERO else oid


def judge_received(world: World, pushed: Sequence[Update]) -> Iterator[Judgement]:
    """The judgement of each ref of a push; what cannot be judged is blocked.

    `world` is the server before the push, with the objects of the push.
    """
    push = Push(world, tuple(pushed))
    for update in pushed:
        try:
            yield _judge(push, update)
        except GateError as error:
            way = SYNC if is_ours(update.ref) else f"git gate policy explain {update.ref}"
            yield _blocked(update, Objection(error.message, error.hint or way))


def _judge(push: Push, update: Update) -> Judgement:
    if not ids.is_ref(update.ref):
        return _blocked(update, Objection("it is no full ref name", "git check-ref-format"))
    judged = [_judge_as(push, update, name) for name in push.names(update.ref)]
    refused = [one for one in judged if not one.status.allowed]
    warnings = tuple(one for each in judged for one in each.warnings)
    return replace((refused or judged)[0], ref=update.ref, warnings=warnings)


def _judge_as(push: Push, update: Update, name: str) -> Judgement:
    """The judgement of a move under one of the names that the ref has on this server."""
    there = replace(update, ref=name)
    objections = [*misnamed(push, there)]
    if not objections and not is_ours(name):
        judged = _judge_move(push, there)
    else:
        if not objections:
            objections = [*_stale(push, there), *_objections(push, there)]
        judged = _blocked(there, *objections) if objections else _free(there)
    said = push.remarks.get(name, [])
    cut = [f"and {len(said) - _SHOWN} more"] if len(said) > _SHOWN else []
    judged = replace(judged, warnings=(*judged.warnings, *said[:_SHOWN], *cut))
    if name == update.ref or judged.status.allowed:
        return judged
    also = f"{update.ref} and {name} are one ref on this server, by a symbolic ref"
    return replace(judged, reasons=(*judged.reasons, also))


def _objections(push: Push, update: Update) -> Iterator[Objection]:
    ref = update.ref
    if ref.startswith(ids.GATES):
        found = [*ledger_objections(push, update)]
        yield from found or journal_objections(push, update)
    elif ref == ids.NOTES:
        yield from notes_objections(push, update)
    elif ref == ids.JOURNAL:
        yield from objections_to_journal(push, update)
    elif ref.startswith(ids.TRACKING):
        what = "is what one clone knows of its remotes, and has no place on a server"
        yield Objection(
            f"{ref} {what}", "push without it: git push origin BRANCH, or git gate sync"
        )
    else:
        yield Objection(
            f"{ref} is kept for git-gate, and no ledger, notes or journal has that name",
            f"choose another name, outside of {ref.rpartition('/aiwg')[0]}/aiwg",
        )


def _stale(push: Push, update: Update) -> Iterator[Objection]:
    """The old value that a client names is what the judgement starts from, so it has to be true."""
    now = refs.read(push.world.repo, update.ref)
    if now != update.old:
        where = f"at {now[:12]}" if now else "not there"
        yield Objection(
            f"{update.ref} was moved meanwhile: it is {where} now", f"git fetch; {SYNC}"
        )


# Guarded refs.


def _judge_move(push: Push, update: Update) -> Judgement:
    world = push.world
    if not guarded(world, update.ref):
        return _free(update)
    stale = [*_stale(push, update)]
    if stale:
        return _blocked(update, *stale)
    old, new = peeled(world, update.old), peeled(world, update.new)
    judged = judge_move(world, update.ref, old, new)
    if judged.status is Outcome.NO_POLICY:
        return _free(update)  # hooks let pass what nobody gates
    return judged if judged.status.allowed else _with_way_out(push, judged)


def _with_way_out(push: Push, judged: Judgement) -> Judgement:
    """The refusal with what the person who pushes can do, who may have more than the server."""
    late = judged.rows and push.brings_ledgers
    if late:
        reason = "the ledgers of this push come too late: what the server had before it decides"
        judged = replace(judged, reasons=(*judged.reasons, reason))
    if late or judged.status in _MAY_BE_ELSEWHERE:
        other = f"; if that changes nothing: {judged.hint}" if judged.hint else ""
        judged = replace(judged, hint=f"{SYNC}, then push again{other}")
    return judged if judged.hint else replace(judged, hint=f"git gate policy explain {judged.ref}")


def _free(update: Update) -> Judgement:
    return Judgement(Outcome.NOT_NEEDED, update.ref, update.old, update.new, None)


def _blocked(update: Update, *objections: Objection) -> Judgement:
    return Judgement(
        Outcome.BLOCKED,
        update.ref,
        update.old,
        update.new,
        None,
        reasons=tuple(one.reason for one in objections),
        hint=next((one.hint for one in objections if one.hint), ""),
    )
