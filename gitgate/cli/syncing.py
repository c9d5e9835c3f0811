"""`sync`: exchange ledgers, decisions and journal with a remote."""

from __future__ import annotations

import click

from gitgate.cli.env import Env
from gitgate.cli.options import json_option, pass_env


@click.command("sync")
@click.argument("remote", required=False)
@click.option("--dry-run", is_flag=True, help="Say what would move, and move nothing.")
@click.option("-v", "--verbose", is_flag=True, help="Also say which races were lost.")
@pass_env
@json_option
def sync_command(env: Env, remote: str | None, dry_run: bool, verbose: bool) -> int:
    """Exchange ledgers, decisions and journal with REMOTE, losing none."""
    from gitgate.app.exchange.syncing import document, sync
    from gitgate.ui import exchanged
    from gitgate.ui.sanitise import safe

    with env.world(remote) as world, env.progress() as watch:
        found = sync(world, remote, dry_run=dry_run, say=watch)
    doc = document(found)
    env.show(doc, exchanged.lines(doc))
    env.say(*(safe(one) for one in found.details if verbose))
    env.say(*(f"warning: {safe(one)}" for one in found.warnings))
    for error in found.problems:
        env.say(f"git-gate: {safe(error.message, multiline=True)}", f"hint: {safe(error.hint)}")
    return int(found.exit)
