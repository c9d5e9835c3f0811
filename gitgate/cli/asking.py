"""`open`, `withdraw`, `wait`: the asking side."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from gitgate.cli.env import Env
from gitgate.cli.options import gate_argument, json_option, pass_env, subject_option
from gitgate.cli.seeing import show_panel

if TYPE_CHECKING:
    from gitgate.app.gather.world import World


def _finite(context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """What is no number of seconds, such as `nan`, would wait for ever."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is no number of seconds")
    return value


@click.command("open")
@gate_argument
@subject_option
@click.option("--target", metavar="REF", help="The guarded ref (default: the only one).")
@click.option("--commit", metavar="REV", help="The work commit (default: HEAD).")
@click.option("--base", metavar="REV", help="Where the work starts (default: the merge base).")
@click.option("--agent", metavar="NAME", help="The agent that asks.")
@click.option("-m", "--message", default="", metavar="TEXT", help="What the asking side says.")
@click.option("--advance", is_flag=True, help="First commit the phase change that the gate names.")
@click.option("--anyway", is_flag=True, help="Open it whatever the validations find.")
@pass_env
@json_option
def open_command(
    env: Env,
    gate: str | None,
    subject: str | None,
    target: str | None,
    commit: str | None,
    base: str | None,
    agent: str | None,
    message: str,
    advance: bool,
    anyway: bool,
) -> None:
    """Put the work up for a decision, as iteration 1 or the next one."""
    from gitgate.app.asking.opening import Ask, open_gate
    from gitgate.app.showing import query
    from gitgate.ui import plain

    ask = Ask(gate, subject, target, commit, base, agent, message, advance, anyway)
    with env.world() as world:
        with env.progress() as watch:
            opened = open_gate(world, ask, watch)
        if opened.report is not None:
            from gitgate.cli.validating import refuse

            about = {"gate": opened.gate.id, "subject": opened.subject, "result": opened.result}
            refuse(env, about, opened.report)
        if opened.loaded is None:
            document = {"schema": query.SCHEMA, "gate": opened.gate.id, "result": opened.result}
            said = f"gate {opened.gate.id} is not needed: nothing that it compares changes"
            env.show(document, [said])
            return
        policy = world.policy(opened.target)
        document = query.show(world, policy, opened.loaded)
        document["result"] = opened.result.value
        notes = opened.notes
        show_panel(env, policy.policy, document, lambda it: plain.opened(document, notes, it))


@click.command("withdraw")
@gate_argument
@subject_option
@click.option("--all", "every", is_flag=True, help="Every undecided instance that you opened.")
@click.option("-m", "--message", default="", metavar="TEXT", help="Why.")
@pass_env
def withdraw_command(
    env: Env, gate: str | None, subject: str | None, every: bool, message: str
) -> None:
    """Take back what nobody has decided yet."""
    from gitgate.app.asking import choose
    from gitgate.app.asking.withdrawing import own_undecided, withdraw
    from gitgate.ui.sanitise import safe

    with env.world() as world:
        policy = world.policy()
        if every:
            wanted = list(own_undecided(world, policy))
        else:
            name = choose.subject_of(world, subject)
            wanted = [(choose.gate_of_instance(world, policy, gate, name).id, name)]
        for one, about in wanted:
            withdraw(world, policy, one, about, message)
            env.out([f"withdrew {safe(one)} of {safe(about)}"])
        if not wanted:
            env.out(["nothing of yours is undecided"])


@click.command("wait")
@gate_argument
@subject_option
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    callback=_finite,
    metavar="SECONDS",
    help="Give up then.",
)
@click.option("--remote", metavar="NAME", help="Also look at this remote, again and again.")
@pass_env
@json_option
def wait_command(
    env: Env, gate: str | None, subject: str | None, timeout: float | None, remote: str | None
) -> int:
    """Return when the instance is decided; the exit status says how."""
    from gitgate.app.asking import choose
    from gitgate.app.asking.waiting import wait
    from gitgate.app.showing import query
    from gitgate.ui import plain

    with env.world(remote) as world:
        policy = world.policy()
        name = choose.subject_of(world, subject)
        found = choose.gate_of_instance(world, policy, gate, name)
        watch = _watching(found.id, name, env) if remote else lambda world: None
        later, policy, loaded = wait(world, found.id, name, timeout, env.now, env.say, watch)
        env.tell(later)
        document = query.answer(later, policy, loaded)
        env.show(document, plain.answer(document))
        return int(query.exit_of(query.status_of(later, policy, loaded)))


def _watching(gate: str, subject: str, env: Env) -> Callable[[World], None]:
    from gitgate.app.asking.remotewatch import RemoteWatch

    return RemoteWatch(gate, subject, env.say).look
