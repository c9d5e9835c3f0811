"""What a server judges pushes by, for whoever looks after it."""

from __future__ import annotations

from pathlib import Path

from gitgate.app.server.receivednames import several_names
from gitgate.app.server.receivedpush import Push
from gitgate.app.server.receiving import server
from gitgate.errors import GateError


def judged_by(place: Path, now: int) -> tuple[str | None, list[str]]:
    """The branch by whose policy the server at `place` judges, and sentences about it."""
    with server(now, place) as world:
        push = Push(world, ())
        try:
            where, policy = world.policy_ref(), push.policy
            names = [*several_names(push)]
        except GateError as error:
            return None, [f"pushes cannot be judged: {error.message}: {error.hint}"]
    if where is None:
        said = "no branch is to hold the policy: git config gate.policyRef refs/heads/main"
        return None, [said, *names]
    if policy is None:
        said = f"{where.name} has no policy yet: the first push of one adopts it"
    else:
        said = f"pushes are judged by the policy of {where.name}"
    return where.name, [said, *names]
