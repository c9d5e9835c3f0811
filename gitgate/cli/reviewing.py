"""`review`: the reviewer's seat."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from gitgate.cli.env import Env, is_terminal
from gitgate.cli.options import gate_argument, pass_env, subject_option
from gitgate.cli.seeing import accessible_option, color_option
from gitgate.errors import Exit, GateError

if TYPE_CHECKING:
    from gitgate.app.gather.policies import PolicyCommit
    from gitgate.app.gather.world import World

Document = Mapping[str, Any]


@click.command("review")
@gate_argument
@subject_option
@color_option
@accessible_option
@pass_env
def review_command(
    env: Env, gate: str | None, subject: str | None, color: str | None, accessible: bool
) -> int:
    """Sit down before what waits for you: look at it, then decide.

    Without GATE and --subject it begins with what waits, most urgent first. One key an action;
    Enter decides nothing, and what would be signed is shown before it is.
    """
    from gitgate.cli.sitting import Sitting

    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise GateError(
            Exit.USAGE,
            "review needs a terminal: nothing was decided",
            "git gate show, then git gate approve or git gate reject -m TEXT",
        )
    with env.world() as world:
        policy = world.policy()
        waiting = _waiting(world, policy, gate, subject)
    if not waiting:
        env.out(["nothing waits for a decision"])
        return int(Exit.OK)
    return int(Sitting(env, color, accessible=accessible).run(waiting))


def _waiting(
    world: World, policy: PolicyCommit, gate: str | None, subject: str | None
) -> list[Document]:
    """The instances of the session: the one that is named, else what waits of the gate or of all
    gates."""
    from gitgate.app.asking import choose
    from gitgate.app.gather.world import gate_of
    from gitgate.app.reviewing import reviewing
    from gitgate.app.showing import query

    if subject is not None:
        name = choose.subject_of(world, subject)
        found = choose.gate_of_instance(world, policy, gate, name)
        return [query.show(world, policy, world.load(policy, found.id, name), trees=False)]
    every = reviewing.waiting(world, policy)
    if gate is None:
        return list(every)
    gate_of(policy, gate)
    own: list[Document] = [one for one in every if one["gate"] == gate]
    head = (world.repo.head_ref() or "").removeprefix("refs/heads/")
    return [one for one in own if one["subject"] == head] or own
