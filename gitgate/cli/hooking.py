"""`hook`: the git hooks, and what they call."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import click

from gitgate import hookguards
from gitgate.app.judging.judgement import Judgement
from gitgate.app.judging.prepush import Guards
from gitgate.cli.env import Env
from gitgate.cli.hookfiles import check_server, install_hook, standing, uninstall_hook
from gitgate.cli.options import json_option, pass_env
from gitgate.errors import Exit, GateError
from gitgate.hooks import PRE_PUSH, PRE_RECEIVE, REFERENCE_TRANSACTION, SERVER

_server_option = click.option(
    "--server", is_flag=True, help="The hooks of a bare repository that is pushed to."
)


@click.group("hook")
def hook_command() -> None:
    """Install the git hooks, and what they call."""


@hook_command.command("install")
@click.option("--block-local", is_flag=True, help="Also guard moves inside this repository.")
@_server_option
@pass_env
def install(env: Env, block_local: bool, server: bool) -> None:
    """Install the pre-push hook; a hook that is there goes on running first."""
    if server:
        _install_on_server(env, block_local)
        return
    env.out(install_hook(env, PRE_PUSH))
    if block_local or standing(env, REFERENCE_TRANSACTION).ours:
        env.out(install_hook(env, REFERENCE_TRANSACTION))
    env.say("next: git gate hook status")


def _install_on_server(env: Env, block_local: bool) -> None:
    check_server(env)
    if block_local:
        raise GateError(
            Exit.USAGE,
            "--block-local guards a repository that people work in, and --server one for pushes",
            "git gate hook install --server",
        )
    for name in SERVER:
        env.out(install_hook(env, name))
    env.say("next: git gate hook status --server")


@hook_command.command("uninstall")
@_server_option
@pass_env
def uninstall(env: Env, server: bool) -> None:
    """Remove the hooks and give back what was there."""
    if server:
        check_server(env)
        env.out([line for name in SERVER for line in uninstall_hook(env, name)])
        return
    env.out(uninstall_hook(env, PRE_PUSH) + uninstall_hook(env, REFERENCE_TRANSACTION))


@hook_command.command("status")
@_server_option
@pass_env
@json_option
def status(env: Env, server: bool) -> int:
    """Say whether the hooks are installed and would run."""
    if server:
        return _status_of_server(env)
    push, local = standing(env, PRE_PUSH), standing(env, REFERENCE_TRANSACTION)
    shown = [push, *([local] if local.ours else [])]
    document = {
        "schema": 1,
        **push.document(),
        "block_local": local.document() if local.ours else None,
    }
    env.show(document, [line for one in shown for line in one.lines()])
    return int(Exit.OK if all(one.works for one in shown) else Exit.BLOCKED)


def _status_of_server(env: Env) -> int:
    """The hooks of a server, and the branch by whose policy they judge."""
    from gitgate.app.server import standing as servers

    check_server(env)
    found = {name: standing(env, name) for name in SERVER}
    where, said = servers.judged_by(env.repo.git_dir, env.now())
    document = {
        "schema": 1,
        **{name.replace("-", "_"): one.document() for name, one in found.items()},
        "policy_ref": where,
    }
    env.show(document, [*(line for one in found.values() for line in one.lines()), *said])
    return int(Exit.OK if all(one.works for one in found.values()) else Exit.BLOCKED)


@hook_command.command("run", context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@pass_env
def run(env: Env, name: str, args: tuple[str, ...]) -> int:
    """What the installed hooks call; not for people."""
    if name in SERVER:
        return (_pre_receive if name == PRE_RECEIVE else _post_receive)(env, _told())
    runners = {PRE_PUSH: _pre_push, REFERENCE_TRANSACTION: _reference_transaction}
    if name not in runners:
        raise GateError(Exit.USAGE, f"git-gate has no hook {name!r}", "git gate hook status")
    if not args:
        raise GateError(
            Exit.USAGE,
            f"git gives a {name} hook arguments, and none came here: nothing was checked",
            f'hand them on, and its input: git-gate hook run {name} "$@"',
        )
    return runners[name](env, args[0], _told())


def _told() -> str:
    """What git tells the hook: a line a ref."""
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")


def _pre_push(env: Env, remote: str, lines: str) -> int:
    """Judge each ref of the push; every refusal is exit 1, with its reason and what resolves it."""
    from gitgate.app.judging import prepush

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

    from gitgate.app.judging import localmoves
    from gitgate.ui.sanitise import safe

    with closing(localmoves.LocalWorld(env.repo, env.now())) as world:
        moves = localmoves.local_moves(lines)
        refused = _refused(env, localmoves.judge_local(world, moves))
        for judged in refused:
            env.say(*(f"hint: {safe(way)}" for way in localmoves.way_back(env.repo, judged)))
        _note(env, localmoves.local_guards(world))
    return int(Exit.BLOCKED if refused else Exit.OK)


def _pre_receive(env: Env, lines: str) -> int:
    """Judge each ref of a push that the server is about to receive."""
    from gitgate.app.server import receiving

    with receiving.server(env.now()) as world:
        refused = _refused(env, receiving.judge_received(world, receiving.updates(lines)))
    return int(Exit.BLOCKED if refused else Exit.OK)


def _post_receive(env: Env, lines: str) -> int:
    """Record what a push has done; the push is over, so nothing here is an error."""
    from gitgate.app.server import received, receiving
    from gitgate.ui.sanitise import safe

    with receiving.server(env.now()) as world:
        for said in received.record_received(world, receiving.updates(lines)):
            env.say(f"git-gate: {safe(said)}")
    return int(Exit.OK)


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
