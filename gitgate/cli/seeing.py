"""How commands show a gate: what the person, the policy and the terminal make of it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gitgate.cli.env import Env, is_terminal

if TYPE_CHECKING:
    from gitgate.core.policy import Policy
    from gitgate.ui.look import Look

color_option = click.option(
    "--color",
    type=click.Choice(["always", "auto", "never"]),
    is_flag=False,
    flag_value="always",
    help="Colours (default: git config color.gate, color.ui).",
)
accessible_option = click.option(
    "--accessible", is_flag=True, help="For a screen reader: no boxes, words for every mark."
)


def look(env: Env, policy: Policy, color: str | None = None, *, accessible: bool = False) -> Look:
    """How to draw on standard output."""
    from gitgate.ui.look import Surroundings, look_of

    term, no_color = env.variables
    size = shutil.get_terminal_size((80, 24))
    around = Surroundings(
        terminal=is_terminal(sys.stdout),
        columns=size.columns,
        rows=size.lines,
        term=term,
        no_color=no_color,
        color=color,
        accessible=accessible,
    )
    return look_of(policy.display, policy.options, env.repo.config, around)


def show_panel(
    env: Env,
    policy: Policy,
    document: Mapping[str, Any],
    around: Callable[[list[str]], Sequence[str]] = list,
    *,
    color: str | None = None,
    accessible: bool = False,
) -> None:
    """The panel with the lines that `around` puts before and after it: JSON with `--json`, boxed
    on a terminal, in words where the person wants that, plain elsewhere."""
    from gitgate.ui import plain

    if env.json:
        env.document(document)
        return
    chosen = look(env, policy, color, accessible=accessible)
    drawn = is_terminal(sys.stdout) or color == "always"
    if not (drawn or chosen.accessible):
        env.show(document, around(plain.panel(document, chosen.display, chosen.options)))
        return
    from gitgate.ui.paint import ansi
    from gitgate.ui.panel import panel
    from gitgate.ui.sanitise import safe

    if not is_terminal(sys.stdout):
        chosen = replace(chosen, columns=max(chosen.columns, 80))
    drawn_lines = ansi(panel(document, chosen), chosen.palette)
    known = set(drawn_lines)
    env.draw([one if one in known else safe(one) for one in around(drawn_lines)])
