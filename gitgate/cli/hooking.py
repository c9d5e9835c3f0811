"""`hook`: the git hooks, and what they call."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from gitgate import hookguards
from gitgate.app.judgement import Judgement
from gitgate.app.prepush import Guards
from gitgate.cli.env import Env
from gitgate.cli.hookfiles import install_hook, standing, uninstall_hook
from gitgate.cli.options import json_option, pass_env
from gitgate.errors import Exit, GateError
from gitgate.hooks import PRE_PUSH, REFERENCE_TRANSACTION


@click.group("hook")
def hook_command() -> None:
    """Install the git hooks, and what they call."""


@hook_command.command("install")
@click.option("--block-local", is_flag=True, help="Also guard moves inside this repository.")
@pass_env
def install(env: Env, block_local: bool) -> None:
    """Install the pre-push hook; a hook that is there goes on running first."""
    env.out(install_hook(env, PRE_PUSH))
    if block_local or standing(env, REFERENCE_TRANSACTION).ours:
        env.out(install_hook(env, REFERENCE_TRANSACTION))
    env.say("next: git gate hook status")


@hook_command.command("uninstall")
@pass_env
def uninstall(env: Env) -> None:
    """Remove the hooks and give back what was there."""
    env.out(uninstall_hook(env, PRE_PUSH) + uninstall_hook(env, REFERENCE_TRANSACTION))


@hook_command.command("status")
@pass_env
@json_option
def status(env: Env) -> int:
    """Say whether the hooks are installed and would run."""
    push, local = standing(env, PRE_PUSH), standing(env, REFERENCE_TRANSACTION)
    shown = [push, *([local] if local.ours else [])]
    document = {
        "schema": 1,
        **push.document(),
        "block_local": local.document() if local.ours else None,
    }
    env.show(document, [line for one in shown for line in one.lines()])
    return int(Exit.OK if all(one.works for one in shown) else Exit.BLOCKED)


@hook_command.command("run", context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@pass_env
def run(env: Env, name: str, args: tuple[str, ...]) -> int:
    """What the installed hooks call; not for people."""
    runners = {PRE_PUSH: _pre_push, REFERENCE_TRANSACTION: _reference_transaction}
    if name not in runners:
        raise GateError(Exit.USAGE, f"git-gate has no hook {name!r}", "git gate hook status")
    if not args:
        raise GateError(
            Exit.USAGE,
            f"git gives a {name} hook arguments, and none came here: nothing was checked",
            f'hand them on, and its input: git-gate hook run {name} "$@"',
        )
    return runners[name](env, args[0], sys.stdin.buffer.read().decode("utf-8", "surrogateescape"))


def _pre_push(env: Env, remote: str, lines: str) -> int:
    """Judge each ref of the push; every refusal is exit 1, with its reason and what resolves it."""
    from gitgate.app import prepush

    named = remote if f"remote.{remote}.url" in env.repo.config else None
    with env.world(named) as world:
        refused = _refused(env, prepush.judge_push(world, prepush.updates(lines)))
        if named:
            _note(env, prepush.guards(world))
    return int(Exit.BLOCKED if refused else Exit.OK)


def _reference_transaction(env: Env, state: str, lines: str) -> int:
    """Judge each branch and tag that is about to move here; in other states nothing can be said."""
    if state != "prepared":
        return int(Exit.OK)
    from contextlib import closing

    from gitgate.app import localmoves
    from gitgate.ui.sanitise import safe

    with closing(localmoves.LocalWorld(env.repo, env.now())) as world:
        moves = localmoves.local_moves(lines)
        refused = _refused(env, localmoves.judge_local(world, moves))
        for judged in refused:
            env.say(*(f"hint: {safe(way)}" for way in localmoves.way_back(env.repo, judged)))
        _note(env, localmoves.local_guards(world))
    return int(Exit.BLOCKED if refused else Exit.OK)


def _refused(env: Env, judgements: Iterable[Judgement]) -> list[Judgement]:
    """Those that are not allowed, each said with its reason; warnings of the others are too."""
    from gitgate.ui import plain
    from gitgate.ui.sanitise import safe

    refused = []
    for judged in judgements:
        env.say(*(f"git-gate: warning: {safe(warning)}" for warning in judged.warnings))
        if not judged.status.allowed:
            refused.append(judged)
            env.say(*plain.refusal(judged.ref, judged.status.value, judged.reasons, judged.hint))
    return refused


def _note(env: Env, guards: Guards | None) -> None:
    if guards is not None:
        hookguards.write_guard_cache(
            env.repo.common_dir,
            guards.remote,
            guards.policy_ref_config,
            guards.consulted,
            guards.patterns,
            guards.tips,
        )
