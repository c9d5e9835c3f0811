"""`post-receive`: what a push that was received has done, recorded on the server.

Landings get their `landed`, records are copied into the notes. The push is over, so whatever does
not work is a sentence; `open` and `sync` of any clone do the same later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from gitgate.app.gather.world import World
from gitgate.app.judging.moves import judge_move
from gitgate.app.judging.prepush import guarded, peeled
from gitgate.app.landing.landings import record_landing
from gitgate.app.server.receivedledgers import subject_of
from gitgate.app.server.receivedpush import Push, Update
from gitgate.core import ids
from gitgate.core.person import Person, Stamp
from gitgate.errors import GateError
from gitgate.git import notes, refs
from gitgate.git.repository import Repository

NOBODY = Person("git-gate", "git-gate@git-gate.invalid")


def record_received(world: World, pushed: Sequence[Update]) -> Iterator[str]:
    """Record what was received; a sentence for each thing that was done or could not be done.

    `world` is the server after the push.
    """
    push = Push(world, tuple(pushed))
    for update in pushed:
        for step in (_put_back, _record_landings, _copy_to_notes):
            yield from _tried(push, update, step)


def server_stamp(repo: Repository, now: int) -> Stamp:
    """Who the server is: `user.name` and `user.email` of its configuration where both are set,
    else git-gate itself. Git's guess from account and host name would be in history for ever."""
    name, email = repo.config.get("user.name"), repo.config.get("user.email")
    return Stamp(Person(name, email) if name and email else NOBODY, now)


def _tried(
    push: Push, update: Update, step: Callable[[Push, Update], Iterable[str]]
) -> Iterator[str]:
    try:
        yield from step(push, update)
    except GateError as error:
        hint = f" ({error.hint})" if error.hint else ""
        yield f"{update.ref} has moved, and not all of it is recorded: {error.message}{hint}"


def _put_back(push: Push, update: Update) -> Iterator[str]:
    """A ledger was deleted because the same push was to bring the journal that names it, and that
    part of the push was lost in a race: git moves each ref of a push by itself."""
    if update.new is not None or update.old is None or not update.ref.startswith(ids.GATES):
        return
    subject = subject_of(push.world.repo, update.ref, update.old)
    gate = update.ref.removeprefix(ids.GATES).partition("/")[0]
    index = push.journal_before  # as it is now, whoever moved it
    if subject is None or (index is not None and index.tip(gate, subject) == update.old):
        return
    try:
        refs.compare_and_swap(push.world.repo, update.ref, update.old, None, "gate: put back")
    except refs.LostRace:
        return
    yield f"{update.ref} is back: the journal does not name it"


def _record_landings(push: Push, update: Update) -> Iterator[str]:
    for name in push.names(update.ref):
        yield from _landings_on(push.world, replace(update, ref=name))


def _landings_on(world: World, update: Update) -> Iterator[str]:
    ref = update.ref
    if update.new is None or ref.startswith(ids.GATES) or not guarded(world, ref):
        return
    old, new = peeled(world, update.old), peeled(world, update.new)
    judged = judge_move(world, ref, old, new)
    policy = world.policy(ref)
    for gate, subject in dict.fromkeys((row.gate, row.subject) for row in judged.rows):
        if subject is not None:
            stamp = server_stamp(world.repo, world.now)
            for said in record_landing(world, policy, gate, subject, stamp):
                yield f"{gate} of {subject}: {said}"


def _copy_to_notes(push: Push, update: Update) -> Sequence[str]:
    world = push.world
    if update.new is None or not update.ref.startswith(ids.GATES) or push.policy is None:
        return ()
    subject = subject_of(world.repo, update.ref, update.new)
    if subject is None:
        return ()
    held = world.held(push.policy, update.ref.removeprefix(ids.GATES).partition("/")[0], subject)
    missing: dict[str, list[bytes]] = {}
    for commit, record in world.uncopied(held):
        missing.setdefault(commit, []).append(record.raw)
    if missing:
        notes.add_many(world.repo, missing, stamp=server_stamp(world.repo, world.now))
    return ()
