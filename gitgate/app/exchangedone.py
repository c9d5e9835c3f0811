"""What a `sync` found to be done, kept in a file: with nothing new the next one reads no ledger.

Only speed depends on it: without the file, or with a wrong one of this clone's own making, the
journal is told of a ledger, or let go of a ref, up to a day later.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from gitgate.app.exchange import Exchange
from gitgate.core import ids
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


def _file(shared: Exchange) -> Path:
    name = hashlib.sha256(shared.remote.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return shared.world.repo.common_dir / "git-gate" / "exchanged" / name


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
    known = shared.world.known_refs().items()
    return _hashed(sorted(one for one in known if policy.guarding(one[0])))


def _hashed(value: object) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "surrogateescape")).hexdigest()
