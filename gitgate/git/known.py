"""What this clone knows of a ledger: its own ref, and what its remote and the journal had.

A reader takes the newest of them. Where they do not lie on one chain, something that should be
there is missing from each, and only `sync` can put them together (design, sections 2 and 4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gitgate.core import ids
from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.repository import Repository

SYNC = "git gate sync"
"""The command that puts together what went apart."""


@dataclass(frozen=True, slots=True)
class Known:
    """The newest known tip of a ledger; `apart` is a sentence where the tips went apart."""

    ref: str
    own: str | None
    tip: str | None
    apart: str = ""


def tracking_ref(remote: str, ref: str) -> str:
    """The ref of this clone that shows what `remote` was last known to have of a ledger or of the
    notes."""
    if ref == ids.NOTES:
        return f"{ids.TRACKING}{remote}/notes/{ref.removeprefix('refs/notes/aiwg/')}"
    return f"{ids.TRACKING}{remote}/gates/{ref.removeprefix(ids.GATES)}"


def tracked(repo: Repository, remote: str | None) -> dict[str, str]:
    """The ledgers that `remote` was last known to have, by their own names, with their tips."""
    if remote is None:
        return {}
    prefix = f"{ids.TRACKING}{remote}/gates/"
    found = refs.listing(repo, prefix)
    return {f"{ids.GATES}{name.removeprefix(prefix)}": tip for name, tip in found.items()}


def newest(repo: Repository, ref: str, elsewhere: Mapping[str, str | None]) -> Known:
    """The newest of this clone's own ref and of the tips known `elsewhere`, by where that is."""
    own = refs.read(repo, ref)
    tips = {f"the ref {ref}": own, **elsewhere}
    there = {where: tip for where, tip in tips.items() if tip is not None}
    if len(set(there.values())) <= 1:
        return Known(ref, own, next(iter(there.values()), None))
    try:
        for tip in dict.fromkeys(there.values()):
            if all(repo.is_ancestor(other, tip) for other in there.values()):
                return Known(ref, own, tip)
    except GateError as error:
        return Known(ref, own, own, f"what is known of {ref} cannot be compared: {error.message}")
    places = " and ".join(there)
    return Known(ref, own, own or next(iter(there.values())), f"{places} went apart")


def catch_up(repo: Repository, known: Known) -> None:
    """Bring this clone's own ref to the newest tip, so that it can be written on.

    Raises GateError (untrusted) where the tips went apart, and what `compare_and_swap` raises
    except a lost race: who writes next reads the ref again.
    """
    if known.apart:
        raise GateError(Exit.UNTRUSTED, f"nothing can be added to {known.ref}: {known.apart}", SYNC)
    if known.tip is None or known.tip == known.own:
        return
    try:
        refs.compare_and_swap(repo, known.ref, known.tip, known.own, "gate: as the remote has it")
    except refs.LostRace:
        return
