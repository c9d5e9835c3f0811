"""`diff`: what changed from one iteration to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import click

from gitgate.cli.env import Env
from gitgate.cli.options import json_option, pass_env, subject_option
from gitgate.errors import Exit, GateError

if TYPE_CHECKING:
    from gitgate.app.gather.instances import Loaded
    from gitgate.app.gather.policies import PolicyCommit
    from gitgate.app.gather.world import World
    from gitgate.app.showing.changes import Changes
    from gitgate.app.showing.rounds import Rounds
    from gitgate.ui.fulldiff import Palette, Row

_FIRST = 60  # lines that a pager gets at once, before the rest is made
_NEXT = 500


@click.command("diff")
@click.argument("what", nargs=-1, metavar="[GATE] [N..M]")
@subject_option
@click.option("--since-mine", is_flag=True, help="From the last round that you decided or viewed.")
@click.option("--summary", "form", flag_value="summary", help="What changed, in words (default).")
@click.option("--stat", "form", flag_value="stat", help="A line a file.")
@click.option("--full", "form", flag_value="full", help="Every changed line, for reading.")
@click.option("--patch", "form", flag_value="patch", help="A patch for git apply.")
@click.option(
    "--color",
    type=click.Choice(["always", "auto", "never"]),
    is_flag=False,
    flag_value="always",
    help="Colours of --full (default: git config color.diff, color.ui).",
)
@pass_env
@json_option
def diff_command(
    env: Env,
    what: tuple[str, ...],
    subject: str | None,
    since_mine: bool,
    form: str | None,
    color: str | None,
) -> None:
    """Show what changed from iteration N to M (default: the previous to the current one).

    0..N is the whole change of iteration N from its base. After a rebase only the author's own
    changes are shown. On a terminal --patch is --full.
    """
    from gitgate.app.showing.changes import Changes

    gate, spelled = _arguments(what)
    if since_mine and spelled is not None:
        raise GateError(
            Exit.USAGE,
            "a range and --since-mine both say where to start",
            "leave one of them out",
        )
    with env.world() as world:
        policy, loaded = _loaded(world, gate, subject)
        changes = Changes(world, loaded, _rounds(world, policy, loaded, spelled, since_mine))
        _show(env, changes, form, color)
        if env.terminal and not env.json:
            from gitgate.app.showing.viewed import mark

            mark(world.repo, changes.rounds.new.request.id)


def _arguments(what: tuple[str, ...]) -> tuple[str | None, str | None]:
    """The gate and the range; either may be left out."""
    ranges = [one for one in what if ".." in one]
    gates = [one for one in what if ".." not in one]
    if len(ranges) > 1 or len(gates) > 1:
        raise GateError(
            Exit.USAGE, "a gate and a range N..M are all that can be named", "git gate diff -h"
        )
    return (gates[0] if gates else None), (ranges[0] if ranges else None)


def _loaded(world: World, gate: str | None, subject: str | None) -> tuple[PolicyCommit, Loaded]:
    from gitgate.app.asking import choose

    policy = world.policy()
    name = choose.subject_of(world, subject)
    found = choose.gate_of_instance(world, policy, gate, name)
    return policy, world.load(policy, found.id, name)


def _rounds(
    world: World, policy: PolicyCommit, loaded: Loaded, spelled: str | None, since_mine: bool
) -> Rounds:
    from gitgate.app.showing import rounds

    if not since_mine:
        return rounds.chosen(loaded, spelled)
    from gitgate.app.deciding.myself import myself
    from gitgate.app.showing.viewed import viewed

    return rounds.since(loaded, myself(world, policy), viewed(world.repo))


def _show(env: Env, changes: Changes, form: str | None, color: str | None) -> None:
    from gitgate.app.showing import changedoc
    from gitgate.ui import changes as text

    if env.json:
        env.document(changedoc.document(changes, hunks=form != "stat"))
    elif form == "stat":
        document = changedoc.document(changes, hunks=False)
        env.show(document, text.statistics(document, env.columns))
    elif form == "full" or (form == "patch" and env.terminal):
        env.stream(_pieces(full_diff(changes, _palette(env, color))))
    elif form == "patch":
        env.stream(_patch(env, changes))
    else:
        document = changedoc.summary(changes)
        env.show(document, text.summary(document, env.columns, _following(changes)))


def full_diff(changes: Changes, palette: Palette) -> Iterator[str]:
    """The full diff, each file made when it is asked for."""
    return (row.text for row in full_rows(changes, palette))


def full_rows(changes: Changes, palette: Palette) -> Iterator[Row]:
    """The same, each line with its place."""
    from gitgate.app.showing import changedoc
    from gitgate.app.showing.changes import CONTEXT, of_policy
    from gitgate.ui import changes as text
    from gitgate.ui import fulldiff
    from gitgate.ui.fulldiff import Row

    for at, line in enumerate(text.heading(changedoc.head(changes))):
        yield Row(line, "said" if at else "title")
    yield Row("")
    for conflict in changes.conflicts():
        yield from fulldiff.conflict(conflict.path, conflict.hunks, palette)
    set_apart = None
    for pair in changes.pairs:
        if of_policy(pair) is not set_apart:
            if set_apart is not None or of_policy(pair):
                yield Row("The policy's own files:" if of_policy(pair) else "The other files:")
            set_apart = of_policy(pair)
        measured = changes.measure(pair, CONTEXT)
        said = changes.comments.get(pair.path, ())
        yield from fulldiff.file(measured, changes.hunks(measured), said, palette)
    if not changes.pairs and not changes.start.conflicts:
        yield Row("nothing changed")


def _patch(env: Env, changes: Changes) -> Iterator[bytes]:
    """Git's patch; where it does not start from what a commit holds, it says from what."""
    lines = []
    old, new = changes.rounds.old, changes.rounds.new
    if old is not None and changes.start.conflicts:
        said = f"the work of iteration {old.number} does not merge onto the base of iteration"
        what = "this patch also has the base's changes and applies to"
        lines = [f"{said} {new.number}: {what} {old.request.work}"]
    elif old is not None and changes.renewed:
        said = f"this patch applies to the work of iteration {old.number} merged onto the base of"
        lines = [
            f"{said} iteration {new.number}: the tree {changes.start.tree}",
            f"git merge-tree --write-tree {new.request.base} {old.request.work}",
        ]
    env.say(*lines)
    yield "".join(f"# {line}\n" for line in lines).encode()
    yield from changes.patch()


def _following(changes: Changes) -> str:
    import shlex

    from gitgate.ui.sanitise import safe

    loaded, rounds = changes.loaded, changes.rounds
    subject = safe(shlex.quote(loaded.subject))
    span = f"{rounds.first}..{rounds.new.number}"
    return f"git gate diff {loaded.gate} --subject {subject} {span} --full shows every line"


def _palette(env: Env, when: str | None) -> Palette:
    """Git's colours, those of the user where they are set."""
    from gitgate.ui.fulldiff import SLOTS, Palette

    if not env.coloured(when):
        return Palette()
    starts: dict[str, str] = {}
    for slot, default in SLOTS.items():
        key = f"color.diff.{slot}"
        if key in env.repo.config:
            starts[slot] = env.repo.git("config", "--get-color", key, default).text
        else:
            starts[slot] = _ANSI[default]
    return Palette(starts)


_ANSI = {
    "": "",
    "bold": "\x1b[1m",
    "cyan": "\x1b[36m",
    "red": "\x1b[31m",
    "green": "\x1b[32m",
    "normal red": "\x1b[41m",
}


def _pieces(lines: Iterable[str]) -> Iterator[bytes]:
    """The lines in portions: a pager has its first screen before the last line is made."""
    rest = iter(lines)
    size = _FIRST
    while portion := list(islice(rest, size)):
        yield "".join(f"{line}\n" for line in portion).encode("utf-8", "replace")
        size = _NEXT
