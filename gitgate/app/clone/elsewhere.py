"""Doctor's look at what others cannot see of this clone, and at clocks that do not agree."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import join

from gitgate.app.clone.findings import Finding, capped
from gitgate.app.gather.world import World
from gitgate.core import ids
from gitgate.core.person import format_time
from gitgate.git import refs
from gitgate.git.known import tracking_ref

_DAY = 24 * 3600


def look_at_unpushed(world: World) -> Iterator[Finding]:
    """The ledgers that the remote is not known to have, and the one push that brings them."""
    remote, repo = world.remote, world.repo
    if remote is None:
        return
    ledgers = []
    for ref, tip in refs.listing(repo, ids.GATES).items():
        known = refs.read(repo, tracking_ref(remote, ref))
        if known is None or not (repo.kind(known) and repo.is_ancestor(tip, known)):
            ledgers.append(ref)
    if ledgers:
        text = f"{remote} is not known to have {len(ledgers)} of the ledgers here: {ledgers[0]}"
        text += ", …" if ledgers[1:] else ""
        yield Finding("note", "exchange", text, join(["git", "gate", "sync", remote]))


def look_at_clocks(world: World) -> Iterator[Finding]:
    """Branches and ledgers whose newest commit is later than now by more than a day: this clock
    is wrong, or that of whoever made them. Deadlines and validity of keys are read by it."""
    yield from capped(_ahead(world))


def _ahead(world: World) -> Iterator[Finding]:
    for prefix in ("refs/heads/", "refs/remotes/", ids.GATES):
        for ref, tip in refs.listing(world.repo, prefix).items():
            if world.repo.kind(tip) != "commit":
                continue
            time = world.repo.commit(tip).committer.time
            if time > world.now + _DAY:
                text = f"the newest commit of {ref} is of {format_time(time)}, and here it is"
                text += f" {format_time(world.now)}: this machine's clock is wrong, or was there"
                yield Finding("fault", "clock", text, "timedatectl set-ntp true")
