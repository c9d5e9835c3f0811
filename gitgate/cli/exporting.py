"""`export`: the decisions in other forms."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from gitgate.cli.env import Env
from gitgate.cli.options import pass_env
from gitgate.errors import Exit, GateError


@click.command("export")
@click.option(
    "--format",
    "form",
    type=click.Choice(["log", "json", "prov"]),
    default="log",
    show_default=True,
    help="The decision log, all instances as `show` has them, or W3C PROV-JSON.",
)
@click.option("--record", metavar="ID", help="One record, byte for byte as it was signed.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@pass_env
def export_command(env: Env, form: str, record: str | None, output: Path | None) -> None:
    """Print the decision log, or rebuild a derived file with -o."""
    from gitgate.app.showing import listing, query
    from gitgate.app.telling import exporting
    from gitgate.app.telling.derived import exclude_derived, replace

    # A log looks back, each decision at its own time; the documents are of now, as `show` has them.
    with env.world(historic=form != "json") as world:
        policy = world.policy()
        if record is not None:
            data = exporting.raw_record(world, policy, record)
        elif form == "log":
            data = exporting.as_log(world, policy)
        elif form == "prov":
            data = exporting.as_prov(world, policy)
        else:
            found = list(listing.instances(world, policy, every=True))
            document = {"schema": query.SCHEMA, "instances": found}
            data = json.dumps(document, indent=2).encode() + b"\n"
    if output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            replace(output, data)
            exclude_derived(env.repo, policy, output)
        except OSError as error:
            raise GateError(
                Exit.FATAL, f"{output} cannot be written: {error.strerror}", "-o FILE"
            ) from None
        env.say(f"wrote {output}")
