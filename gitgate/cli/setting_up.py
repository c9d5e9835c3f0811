"""`init`, `repair`, `doctor`."""

from __future__ import annotations

import click

from gitgate.app.clone.doctor import examine
from gitgate.app.clone.findings import Finding
from gitgate.cli.env import Env
from gitgate.cli.hookfiles import Standing, standing, try_to_install
from gitgate.cli.options import json_option, pass_env
from gitgate.errors import Exit, GateError
from gitgate.hooks import PRE_PUSH, REFERENCE_TRANSACTION


@click.command("init")
@click.option(
    "--preset",
    type=click.Choice(["solo", "team", "aiwg-sdlc"]),
    default="solo",
    show_default=True,
    help="The policy to begin with.",
)
@click.option(
    "--block-local/--no-block-local",
    default=None,
    help="Also guard moves inside this repository (default: solo without a remote).",
)
@pass_env
def init_command(env: Env, preset: str, block_local: bool | None) -> None:
    """Write the policy if there is none, and set this clone up."""
    from gitgate.app.clone.setup import set_up
    from gitgate.ui.sanitise import safe

    said = set_up(env.repo, preset, env.home)
    if block_local is None:
        block_local = preset == "solo" and env.repo.default_remote() is None
    for name in (PRE_PUSH, *([REFERENCE_TRANSACTION] if block_local else [])):
        done, left = try_to_install(env, name)
        said.done += done
        said.next += left
    env.out([safe(line) for line in said.done])
    if said.next:
        env.out(["", "next:", *(f"  {safe(line)}" for line in said.next)])


@click.command("repair")
@pass_env
@json_option
def repair_command(env: Env) -> int:
    """Restore notes from ledgers, and take stray records in."""
    from gitgate.app.exchange.repair import repair
    from gitgate.ui.sanitise import safe

    with env.world() as world:
        said = repair(world, world.policy())
        document = {"schema": 1, "done": said.done, "left": said.left}
        lines = [safe(line) for line in (*said.done, *said.left)]
        env.show(document, lines or ["nothing to mend"])
        return int(Exit.UNTRUSTED if said.left else Exit.OK)


@click.command("doctor")
@pass_env
@json_option
def doctor_command(env: Env) -> int:
    """Say what is set up, what is not, and the command that mends it."""
    from gitgate.ui import plain

    found = examine(env.repo, env.now())
    found += hook_findings(env)
    document = {
        "schema": 1,
        "healthy": not any(one.level == "fault" for one in found),
        "findings": [
            {"level": one.level, "about": one.about, "text": one.text, "hint": one.hint}
            for one in found
        ],
    }
    env.show(document, plain.diagnosis(document))
    return int(Exit.OK if document["healthy"] else Exit.BLOCKED)


def hook_findings(env: Env) -> list[Finding]:
    """What the hooks folder says; only the command line knows both hooks and repository."""
    found: list[Finding] = []
    for name in (PRE_PUSH, REFERENCE_TRANSACTION):
        hook = standing(env, name)
        text, mend = hook.problem()
        if text and (hook.ours or name == PRE_PUSH):
            found.append(Finding("fault", "hook", text, mend))
        elif hook.works:
            found.append(Finding("good", "hook", hook.summary))
            found += fired(env, hook)
    return found


def fired(env: Env, hook: Standing) -> list[Finding]:
    """What a trial says; what keeps it from being made was found before, or is a fault."""
    from gitgate.app.clone import firing

    try:
        if hook.place.name == PRE_PUSH:
            return [*firing.fire_pre_push(env.repo)]
        return [*firing.fire_reference_transaction(env.repo, hook.place.folder)]
    except GateError as error:
        return [Finding("fault", "hook", error.message, error.hint)]
