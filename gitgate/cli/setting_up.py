"""`init`, `repair`, `doctor`."""

from __future__ import annotations

import click

from gitgate import hooks
from gitgate.app.doctor import Finding, examine
from gitgate.cli.env import Env
from gitgate.cli.hooking import hooks_folder, program
from gitgate.cli.options import json_option, pass_env
from gitgate.errors import Exit


@click.command("init")
@click.option(
    "--preset",
    type=click.Choice(["solo", "team", "aiwg-sdlc"]),
    default="solo",
    show_default=True,
    help="The policy to begin with.",
)
@pass_env
def init_command(env: Env, preset: str) -> None:
    """Write the policy if there is none, and set this clone up."""
    from gitgate.app.setup import set_up
    from gitgate.ui.sanitise import safe

    said = set_up(env.repo, preset, env.home)
    said.done += hooks.install(hooks_folder(env), env.repo.common_dir, program())
    env.out([safe(line) for line in said.done])
    if said.next:
        env.out(["", "next:", *(f"  {safe(line)}" for line in said.next)])


@click.command("repair")
@pass_env
@json_option
def repair_command(env: Env) -> int:
    """Restore notes from ledgers, and take stray records in."""
    from gitgate.app.repair import repair
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
    found = hooks.status(hooks_folder(env))
    mend = "git gate hook install"
    if found.state is not hooks.HookState.INSTALLED:
        text = f"the pre-push hook is {found.state}: nothing is checked before a push"
        return [Finding("fault", "hook", text, mend)]
    if not found.runs:
        return [Finding("fault", "hook", f"{found.path} has no run bit: git passes over it", mend)]
    if not found.program_runs:
        return [Finding("fault", "hook", f"the hook starts {found.program}, which is gone", mend)]
    return [Finding("good", "hook", f"the pre-push hook is installed: {found.path}")]
