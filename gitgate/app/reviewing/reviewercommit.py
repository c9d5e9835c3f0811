"""Which work commit is a reviewer's own edit of what was under review before."""

from __future__ import annotations

from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.world import World
from gitgate.core.trailers import parse_trailers

TRAILER = "Edited-In-Review"
"""The trailer of an edit's commit; its value is the request that was under review."""


def reviewer_commit(world: World, loaded: Loaded, iteration: int) -> str | None:
    """The work commit of an iteration of the latest life where it is a reviewer's edit of what the
    iteration before asked."""
    life = loaded.instance.life
    asked = {one.number: one.request for one in (life.iterations if life else ())}
    now = loaded.ledger.requests.get(asked.get(iteration, ""))
    before = loaded.ledger.requests.get(asked.get(iteration - 1, ""))
    if now is None or before is None:
        return None
    commit = world.repo.commit(now.work)
    try:
        named = (TRAILER, before.id) in parse_trailers(commit.message)
    except ValueError:
        return None
    return commit.id if named and commit.parents == (before.work,) else None
