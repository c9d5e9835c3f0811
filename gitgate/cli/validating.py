"""`validate`, and what `open` says where validations refuse it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import click

from gitgate.cli.env import Env
from gitgate.cli.options import gate_argument, json_option, pass_env, subject_option
from gitgate.cli.seeing import show_panel
from gitgate.errors import Exit, GateError

if TYPE_CHECKING:
    from gitgate.app.asking.validations import Report

_SHOWN = 50


@click.command("validate")
@gate_argument
@subject_option
@pass_env
@json_option
def validate_command(env: Env, gate: str | None, subject: str | None) -> None:
    """Run the validations again over the newest request, and record what they find."""
    from gitgate.app.asking import choose
    from gitgate.app.asking.validating import validate
    from gitgate.app.showing import query
    from gitgate.ui import plain

    with env.world() as world:
        policy = world.policy()
        name = choose.subject_of(world, subject)
        found = choose.gate_of_instance(world, policy, gate, name)
        with env.progress() as watch:
            done = validate(world, policy, found.id, name, watch)
        document = query.show(world, policy, done.loaded)
        document["validations"] = validations(done.report)
        show_panel(env, policy.policy, document, lambda it: plain.validated(document, it))


def validations(report: Report) -> list[dict[str, Any]]:
    """What each validation found, for a document."""
    return [
        {
            "name": one.validation.name,
            "on_error": one.validation.on_error.value,
            "paths": len(one.paths),
            "errors": one.errors,
            "warnings": one.warnings,
        }
        for one in report.ran
    ]


def refuse(env: Env, opened: Mapping[str, Any], report: Report) -> NoReturn:
    """Say why nothing was opened: GateError (blocked), after the document with `--json`."""
    from gitgate.app.showing.query import SCHEMA
    from gitgate.app.showing.reported import flat
    from gitgate.core.findings import gravest_first, line_of

    if env.json:
        env.document(
            {
                "schema": SCHEMA,
                **opened,
                "validations": validations(report),
                "findings": flat(report.findings),
            }
        )
    lines = []
    for one in report.blocking:
        errors = f"{one.errors} error{'' if one.errors == 1 else 's'}"
        lines.append(f"validation `{one.validation.name}` found {errors}, so nothing was opened:")
        lines += [f"  {line_of(located)}" for located in gravest_first(one.findings)[:_SHOWN]]
        if len(one.findings) > _SHOWN:
            lines.append(f"  and {len(one.findings) - _SHOWN} more")
    raise GateError(
        Exit.BLOCKED, "\n".join(lines), "mend the work and commit it, or git gate open --anyway"
    )
