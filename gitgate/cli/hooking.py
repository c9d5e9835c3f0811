"""`hook`: the git hooks, and what they call."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gitgate import hooks
from gitgate.cli.env import Env
from gitgate.cli.options import json_option, pass_env
from gitgate.errors import Exit, GateError


@click.group("hook")
def hook_command() -> None:
    """Install the git hooks, and what they call."""


@hook_command.command("install")
@pass_env
def install(env: Env) -> None:
    """Install the pre-push hook; a hook that is there goes on running first."""
    env.out(hooks.install(hooks_folder(env), env.repo.common_dir, program()))
    env.say("next: git gate hook status")


@hook_command.command("uninstall")
@pass_env
def uninstall(env: Env) -> None:
    """Remove the hook and give back what was there."""
    env.out(hooks.uninstall(hooks_folder(env), env.repo.common_dir))


@hook_command.command("status")
@pass_env
@json_option
def status(env: Env) -> int:
    """Say whether the hook is installed and would run."""
    found = hooks.status(hooks_folder(env))
    sound = found.state is hooks.HookState.INSTALLED and found.runs and found.program_runs
    document = {
        "schema": 1,
        "path": str(found.path),
        "state": found.state.value,
        "runs": found.runs,
        "program": str(found.program) if found.program else None,
        "program_runs": found.program_runs,
        "earlier": str(found.earlier) if found.earlier else None,
    }
    lines = [f"pre-push: {found.state.value}: {found.path}"]
    if found.state is hooks.HookState.INSTALLED and not found.runs:
        lines.append("it has no run bit, so git passes over it: git gate hook install")
    if found.program is not None and not found.program_runs:
        lines.append(f"the program that it starts is gone: {found.program}: git gate hook install")
    if found.earlier:
        lines.append(f"the hook that was here before runs first: {found.earlier}")
    env.show(document, lines)
    return int(Exit.OK if sound else Exit.BLOCKED)


@hook_command.command("run", context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@pass_env
def run(env: Env, name: str, args: tuple[str, ...]) -> int:
    """What the installed hooks call; not for people."""
    if name != "pre-push":
        raise GateError(Exit.USAGE, f"git-gate has no hook {name!r}", "git gate hook status")
    return _pre_push(env, args[0] if args else "", sys.stdin.buffer.read())


def _pre_push(env: Env, remote: str, lines: bytes) -> int:
    """Judge each ref of the push; every refusal is exit 1, with its reason and what resolves it."""
    from gitgate.app import prepush
    from gitgate.ui import plain
    from gitgate.ui.sanitise import safe

    named = remote if f"remote.{remote}.url" in env.repo.config else None
    with env.world(named) as world:
        refused = False
        for judged in prepush.judge_push(
            world, prepush.updates(lines.decode("utf-8", "surrogateescape"))
        ):
            env.say(*(f"git-gate: warning: {safe(warning)}" for warning in judged.warnings))
            if not judged.status.allowed:
                refused = True
                env.say(
                    *plain.refusal(judged.ref, judged.status.value, judged.reasons, judged.hint)
                )
        guards = prepush.guards(world) if named else None
        if guards is not None:
            hooks.write_guard_cache(
                env.repo.common_dir,
                guards.remote,
                guards.policy_ref_config,
                guards.consulted,
                guards.patterns,
                guards.tips,
            )
    return int(Exit.BLOCKED if refused else Exit.OK)


def hooks_folder(env: Env) -> Path:
    """Where git looks for hooks here; `core.hooksPath` is honoured."""
    answer = env.repo.git("rev-parse", "--git-path", "hooks")
    return (env.repo.work_tree or env.repo.git_dir) / answer.text


def program() -> Path:
    """The git-gate that runs now, for the hook to start."""
    beside = Path(sys.executable).with_name("git-gate")
    return beside if beside.is_file() else Path(sys.argv[0]).resolve()
