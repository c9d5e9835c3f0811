"""`check` and `policy`: what would be allowed, and whether the policy is sound."""

from __future__ import annotations

from pathlib import Path

import click

from gitgate.cli.env import Env
from gitgate.cli.options import json_option, pass_env, subject_option
from gitgate.errors import Exit, GateError


@click.command("check")
@click.argument("moves", required=False, metavar="[OLD..NEW]")
@click.option("--ref", metavar="REF", help="The guarded ref (default: the only guarded branch).")
@subject_option
@pass_env
@json_option
def check_command(env: Env, moves: str | None, ref: str | None, subject: str | None) -> int:
    """May HEAD land on REF; with a range, may REF make exactly this move?"""
    from gitgate.app.judging.checking import check
    from gitgate.app.judging.judgement import document
    from gitgate.ui import plain
    from gitgate.ui.sanitise import safe

    with env.world() as world:
        found = document(check(world, ref, moves, subject))
        env.show(found, plain.judgement(found))
        if not env.json and found["hint"] and not found["allowed"]:
            env.say(f"hint: {safe(found['hint'])}")
        return int(found["exit"])


@click.group("policy")
def policy_command() -> None:
    """Look at the policy."""


@policy_command.command("check")
@click.argument("rev", required=False)
@pass_env
@json_option
def policy_check(env: Env, rev: str | None) -> int:
    """Validate the policy in the work tree, or at REV."""
    from gitgate.app.policy.policycheck import problems_at, problems_in
    from gitgate.ui.sanitise import safe

    if rev is None and env.repo.work_tree is None:
        raise GateError(Exit.USAGE, "there is no work tree here", "git gate policy check REV")
    problems = problems_at(env.repo, rev) if rev else problems_in(Path(env.repo.work_tree or "."))
    document = {"schema": 1, "valid": not problems, "problems": problems}
    env.show(document, [safe(one) for one in problems] or ["the policy is valid"])
    return int(Exit.BLOCKED if problems else Exit.OK)


@policy_command.command("explain")
@click.argument("ref")
@pass_env
@json_option
def policy_explain(env: Env, ref: str) -> None:
    """Say what guards REF, who may decide, and what a landing would need."""
    from gitgate.app.policy.explaining import explain_ref
    from gitgate.ui import policytext

    with env.world() as world:
        document = explain_ref(world, ref)
        env.show(document, policytext.explanation(document))


@policy_command.command("test")
@click.option("--since", required=True, metavar="DATE", help="A date, as git log takes it.")
@click.option("--ref", metavar="REF", help="The guarded ref (default: the only guarded branch).")
@pass_env
@json_option
def policy_test(env: Env, since: str, ref: str | None) -> None:
    """Replay the policy of the work tree over what has landed: what would it have asked for?"""
    from gitgate.app.policy.rehearsing import rehearse
    from gitgate.ui import policytext

    with env.world() as world:
        document = rehearse(world, since, ref)
        env.show(document, policytext.rehearsal(document))
