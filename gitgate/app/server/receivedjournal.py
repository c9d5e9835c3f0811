"""The journal that is pushed, and what it says of the ledgers of a push (design, section 2)."""

from __future__ import annotations

from collections.abc import Iterator

from gitgate.app.server.receivedledgers import growth_objections, has_ended, holds, subject_of
from gitgate.app.server.receivedpush import Objection, Push, Update
from gitgate.core import ids
from gitgate.git import journal
from gitgate.git import ledger as ledgers
from gitgate.git.known import SYNC

_SHOWN = 3


def journal_objections(push: Push, update: Update) -> Iterator[Objection]:
    """What the journal, as it is after the push, says against the move of a ledger's ref."""
    tip = update.new or update.old
    subject = subject_of(push.world.repo, update.ref, tip) if tip else None
    index = push.journal_after
    if update.new is None:
        yield from _deletion(push, update, subject)
    elif index is not None and subject is not None:
        gate = update.ref.removeprefix(ids.GATES).partition("/")[0]
        named = index.tip(gate, subject)
        ledger = ledgers.read(push.world.repo, gate, subject, update.new)
        if named and not ledger.faults and not holds(ledger, named):
            what = f"the journal names {named[:12]} for {gate} of {subject}, which this lacks"
            yield Objection(what, SYNC)


def _deletion(push: Push, update: Update, subject: str | None) -> Iterator[Objection]:
    gate = update.ref.removeprefix(ids.GATES).partition("/")[0]
    if update.old is None:
        yield Objection(f"there is no {update.ref} to delete", SYNC)
        return
    if subject is None:
        return  # no ledger of anything: nothing is lost with it
    index, kept = push.journal_after, f"{update.ref} may not be deleted"
    if index is None or index.tip(gate, subject) != update.old:
        yield Objection(f"{kept}: the journal does not name {update.old[:12]} for it", SYNC)
    elif not has_ended(push, gate, subject, update.old):
        yield Objection(f"{kept}: {gate} of {subject} has not ended", SYNC)


def objections_to_journal(push: Push, update: Update) -> Iterator[Objection]:
    """Why the journal may not move so: it only grows, and what it newly names are ledgers that
    could have been pushed themselves."""
    repo = push.world.repo
    if update.new is None:
        yield Objection(f"{update.ref} keeps the ledgers and may not be deleted", SYNC)
        return
    if repo.kind(update.new) != "commit":
        yield Objection(f"{update.ref} would be no commit", SYNC)
        return
    defects = journal.defects(repo, update.old, update.new)
    for defect in defects[:_SHOWN]:
        yield Objection(f"the journal is not sound: {defect}", SYNC)
    if len(defects) > _SHOWN:
        yield Objection(f"and {len(defects) - _SHOWN} more")
    if not defects:
        yield from _newly_named(push, update.old, update.new)


def _newly_named(push: Push, old: str | None, new: str) -> Iterator[Objection]:
    for entry in journal.changes(push.world.repo, old, new):
        gate, subject, tip = entry.gate, entry.subject, entry.tip
        own = push.after(ids.ledger_ref(gate, subject))
        if own is not None and holds(ledgers.read(push.world.repo, gate, subject, own), tip):
            continue  # what the ref has is judged where it is pushed
        yield from growth_objections(push, gate, subject, tip)
