"""`approve`, `reject`, `skip`, `quit`, `retract`: a person decides at a terminal."""

from __future__ import annotations

from typing import BinaryIO

import click

from gitgate.cli.env import Env
from gitgate.cli.options import gate_argument, json_option, pass_env, subject_option
from gitgate.core.decision import Action
from gitgate.errors import Exit, GateError

_text = click.option("-m", "--message", metavar="TEXT", help="What you have to say.")
_expect = click.option(
    "--expect", metavar="OID", help="Only if this is still the work commit (7 digits or more)."
)


@click.command("approve")
@gate_argument
@subject_option
@_text
@_expect
@pass_env
@json_option
def approve_command(
    env: Env, gate: str | None, subject: str | None, message: str | None, expect: str | None
) -> None:
    """Approve the work of the newest iteration, with your signature."""
    _decide(env, Action.APPROVE, gate, subject, message or "", expect)


@click.command("reject")
@gate_argument
@subject_option
@_text
@click.option("-F", "--file", type=click.File("rb"), metavar="FILE", help="The feedback (- stdin).")
@_expect
@pass_env
@json_option
def reject_command(
    env: Env,
    gate: str | None,
    subject: str | None,
    message: str | None,
    file: BinaryIO | None,
    expect: str | None,
) -> None:
    """Reject it with feedback; without -m or -F the editor opens."""
    if message is not None and file is not None:
        raise GateError(Exit.USAGE, "-m and -F exclude each other", "git gate reject -h")
    text = file.read().decode("utf-8", "surrogateescape") if file is not None else message
    _decide(env, Action.REJECT, gate, subject, text, expect, must_say="the feedback")


@click.command("skip")
@gate_argument
@subject_option
@_text
@_expect
@pass_env
@json_option
def skip_command(
    env: Env, gate: str | None, subject: str | None, message: str | None, expect: str | None
) -> None:
    """Let it land without approval; the reason stays on record."""
    _decide(env, Action.SKIP, gate, subject, message or "", expect)


@click.command("quit")
@gate_argument
@subject_option
@_text
@pass_env
@json_option
def quit_command(env: Env, gate: str | None, subject: str | None, message: str | None) -> None:
    """End the instance; the work needs a new one to land."""
    _decide(env, Action.QUIT, gate, subject, message or "", None)


@click.command("retract")
@gate_argument
@subject_option
@_text
@click.option("--iteration", type=click.IntRange(min=1), help="The round (default: the newest).")
@pass_env
@json_option
def retract_command(
    env: Env,
    gate: str | None,
    subject: str | None,
    message: str | None,
    iteration: int | None,
) -> None:
    """Take your own decision back."""
    _decide(env, Action.RETRACT, gate, subject, message or "", None, iteration=iteration)


def _decide(
    env: Env,
    action: Action,
    gate: str | None,
    subject: str | None,
    text: str | None,
    expect: str | None,
    *,
    iteration: int | None = None,
    must_say: str = "",
) -> None:
    from gitgate.app.asking import choose
    from gitgate.app.deciding.deciding import Word, decide
    from gitgate.app.showing import query
    from gitgate.cli.draft import keeping, written
    from gitgate.ui import plain
    from gitgate.ui.sanitise import says_something

    with env.world() as world:
        policy = world.policy()
        name = choose.subject_of(world, subject)
        found = choose.gate_of_instance(world, policy, gate, name)
        keep_agents_out(env, action, found.approvals.agents.value, found.id)
        loaded = world.load(policy, found.id, name)
        if text is None:
            text = written(env, query.show(world, policy, loaded), action.value)
        if must_say and not says_something(text):
            raise GateError(
                Exit.USAGE,
                f"{must_say} is empty: nothing was recorded",
                f"git gate {action} {found.id} -m TEXT",
            )
        if action is Action.SKIP:
            if found.skip.require_reason and not says_something(text):
                raise GateError(
                    Exit.USAGE, "a skip needs a reason", f"git gate skip {found.id} -m REASON"
                )
            env.say(*plain.skipping(query.show(world, policy, loaded)))
        with keeping(env, found.id, name, action.value, text):
            decided = decide(
                world, policy, found.id, name, Word(action, text, expect, iteration=iteration)
            )
        document = query.show(world, policy, decided.loaded)
        document["record"] = decided.record.id
        env.show(
            document,
            plain.decided(
                document,
                action.value,
                decided.signed_with,
                decided.count.reason,
                [veto.said for veto in decided.vetoes],
            ),
        )
        if not decided.noted:
            env.say("warning: the copy in the notes could not be written: git gate repair")


def keep_agents_out(env: Env, action: Action, agents: str, gate: str) -> None:
    """A guard rail, not a wall: a known coding agent's environment does not approve or skip."""
    variable = env.coding_agent()
    if action in (Action.APPROVE, Action.SKIP) and agents != "allow" and variable:
        raise GateError(
            Exit.BLOCKED,
            f"this is a coding agent's environment ({variable} is set), and gate `{gate}` wants a"
            f" person to {action} (a guard rail, not a wall)",
            "run it in a terminal of your own, or set approvals.agents: allow in the policy",
        )
