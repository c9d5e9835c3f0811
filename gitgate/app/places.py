"""Where a guarded branch was allowed to stand: where a new guarded ref may be created.

Design, section 5: at a commit up to the branch's adoption, or at the end of a stretch or of a
free step since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitgate.app.policies import PolicyCommit
from gitgate.core.landing import Step

if TYPE_CHECKING:
    from gitgate.app.world import World


def standing_places(world: World, policy: PolicyCommit) -> dict[str, str]:
    """The commits at which some guarded branch was allowed to stand, each with the branch."""
    from gitgate.app.judge import accepted_positions

    places: dict[str, str] = {}
    for ref, tip in world.known_refs().items():
        if not ref.startswith("refs/heads/") or not policy.policy.guarding(ref):
            continue
        commits = world.repo.first_parents(tip) or []
        chain = [Step(c.id, c.tree) for c in reversed(commits)]
        for position in accepted_positions(world, ref, chain, policy):
            places.setdefault(chain[position].commit, ref)
    return places
