"""What a `sync` keeps in files below git's own folder, of this clone alone.

That nothing was left to do: with nothing new the next one reads no ledger. And which ledger tips
the remote has confirmed: a plain `git fetch` overwrites the refs that say so.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from gitgate.app.exchange.exchange import Exchange
from gitgate.core import ids
from gitgate.git import confirmed as known
from gitgate.git import refs

_DAY = 24 * 3600


def is_done(shared: Exchange) -> bool:
    """Whether the refs here and there are as when all that they ask for had been done."""
    kept = _kept(shared)
    fresh = 0 <= kept.until - shared.world.now <= _DAY
    return fresh and kept.refs == _digest(shared) and not targets_moved(shared)


def targets_moved(shared: Exchange) -> bool:
    """Whether a guarded ref is not where it was when all landings had been recorded."""
    return _kept(shared).targets != _targets(shared)


def remember(shared: Exchange) -> None:
    """Keep in mind that nothing is left to do, for a day at most."""
    if shared.only is not None or shared.dry_run:
        return
    with suppress(OSError):
        file = _file(shared)
        file.parent.mkdir(parents=True, exist_ok=True)
        until = shared.world.now + _DAY
        file.write_text(f"{_digest(shared)} {_targets(shared)} {until}\n", "ascii")


class _Kept(NamedTuple):
    refs: str = ""
    targets: str = ""
    until: int = 0


def _kept(shared: Exchange) -> _Kept:
    try:
        digest, targets, until = _file(shared).read_text("ascii").split()
        return _Kept(digest, targets, int(until))
    except (OSError, ValueError):
        return _Kept()


def confirmed(shared: Exchange) -> dict[str, str]:
    """The tips of ledgers and journal that the remote was known to have when it was last exchanged
    with, or that a fetch has shown since, by their refs."""
    return known.read(shared.world.repo, shared.remote)


def keep_confirmed(shared: Exchange) -> None:
    """Keep in mind what the remote has now of what was exchanged."""
    if shared.dry_run:
        return
    before = confirmed(shared)
    kept = {ref: tip for ref, tip in before.items() if not _is_exchanged(shared, ref)}
    now = {ref: tip for ref, tip in shared.had.items() if _is_exchanged(shared, ref)}
    if before != kept | now:
        known.write(shared.world.repo, shared.remote, kept | now)


def _is_exchanged(shared: Exchange, ref: str) -> bool:
    """Whether this exchange knows best; what could not be settled stays known as it was."""
    if ref in shared.problems:
        return False
    return ref == ids.JOURNAL or (ref.startswith(ids.GATES) and shared.wants(ref))


def _file(shared: Exchange) -> Path:
    return known.place(shared.world.repo, shared.remote)


def _digest(shared: Exchange) -> str:
    repo = shared.world.repo
    own = {**refs.listing(repo, ids.GATES), ids.JOURNAL: refs.read(repo, ids.JOURNAL)}
    policy = shared.policy.commit if shared.policy else ""
    return _hashed((sorted(own.items(), key=str), sorted(shared.there.items()), policy))


def _targets(shared: Exchange) -> str:
    """Where the guarded refs are, as far as this clone knows."""
    if shared.policy is None:
        return "-"
    policy = shared.policy.policy
    there = shared.world.known_refs().items()
    return _hashed(sorted(one for one in there if policy.guarding(one[0])))


def _hashed(value: object) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "surrogateescape")).hexdigest()
