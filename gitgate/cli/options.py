"""Arguments and options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from gitgate.cli.env import Env

pass_env = click.make_pass_decorator(Env)

gate_argument = click.argument("gate", required=False)
subject_option = click.option(
    "--subject", metavar="SUBJECT", help="The instance (default: the current branch)."
)


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--json`: one document on standard output and nothing else there."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
    @functools.wraps(function)
    def wrapped(env: Env, *args: Any, as_json: bool, **named: Any) -> Any:
        env.json = as_json
        return function(env, *args, **named)

    return wrapped
