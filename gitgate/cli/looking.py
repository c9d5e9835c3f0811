"""`show`, `list`, `log`: commands that only look."""

from __future__ import annotations

import click

from gitgate.cli.env import Env
from gitgate.cli.options import gate_argument, json_option, pass_env, subject_option
from gitgate.cli.seeing import accessible_option, color_option, show_panel


@click.command("show")
@gate_argument
@subject_option
@click.option("--iteration", type=click.IntRange(min=1), help="An earlier round of this life.")
@color_option
@accessible_option
@pass_env
@json_option
def show_command(
    env: Env,
    gate: str | None,
    subject: str | None,
    iteration: int | None,
    color: str | None,
    accessible: bool,
) -> None:
    """Show one instance: what is asked, what is delivered, who has decided."""
    from gitgate.app.asking import choose
    from gitgate.app.asking.expiring import record_expiry
    from gitgate.app.showing import query

    with env.world() as world:
        policy = world.policy()
        name = choose.subject_of(world, subject)
        found = choose.gate_of_instance(world, policy, gate, name)
        loaded = record_expiry(world, policy, world.load(policy, found.id, name))
        document = query.show(world, policy, loaded, iteration)
        show_panel(env, policy.policy, document, color=color, accessible=accessible)


@click.command("list")
@click.option("--all", "every", is_flag=True, help="Also those that wait for nobody.")
@pass_env
@json_option
def list_command(env: Env, every: bool) -> None:
    """List the instances that wait for a decision."""
    from gitgate.app.showing import listing, query
    from gitgate.ui import plain

    with env.world() as world:
        policy = world.policy()
        whole = every or env.json
        found = list(
            listing.instances(world, policy, every=every) if whole else listing.lines(world, policy)
        )
        lines = plain.table(found, env.columns)
        document = {"schema": query.SCHEMA, "instances": found}
        env.show(document, lines or ["nothing waits for a decision"])


@click.command("log")
@gate_argument
@subject_option
@pass_env
@json_option
def log_command(env: Env, gate: str | None, subject: str | None) -> None:
    """Show the history of one instance."""
    from gitgate.app.asking import choose
    from gitgate.app.asking.expiring import record_expiry
    from gitgate.app.showing import query
    from gitgate.ui import plain

    with env.world() as world:
        policy = world.policy()
        name = choose.subject_of(world, subject)
        found = choose.gate_of_instance(world, policy, gate, name)
        loaded = record_expiry(world, policy, world.load(policy, found.id, name))
        document = query.log(loaded)
        env.show(document, plain.history(document))
