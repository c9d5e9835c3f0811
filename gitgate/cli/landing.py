"""`land`: bring approved work onto its guarded branch."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from gitgate.cli.env import Env
from gitgate.cli.options import gate_argument, json_option, pass_env, subject_option

if TYPE_CHECKING:
    from gitgate.app.landing.land import Landed


@click.command("land")
@gate_argument
@subject_option
@click.option(
    "--method",
    type=click.Choice(["ff", "merge", "squash", "rebase"]),
    help="How (default: gate.landMethod, else merge).",
)
@click.option("--target", metavar="REF", help="The guarded ref (default: the request's).")
@click.option("-m", "--message", metavar="TEXT", help="The message of the merge or squash.")
@click.option("-n", "--dry-run", is_flag=True, help="Build and check it, then leave all as it is.")
@pass_env
@json_option
def land_command(
    env: Env,
    gate: str | None,
    subject: str | None,
    method: str | None,
    target: str | None,
    message: str | None,
    dry_run: bool,
) -> int:
    """Land the approved work: build it, check it, push it with its ledger."""
    from gitgate.app.landing.land import Ask, Result, land
    from gitgate.ui.landed import landed, refused

    with env.world() as world:
        with _ending_tidily(), env.progress() as watch:
            done = land(world, Ask(gate, subject, target, method, message, dry_run), watch)
        document = _document(done)
        if done.result is not Result.REFUSED:
            env.show(document, landed(document))
        elif env.json:
            env.document(document)
        else:
            env.say(*refused(document))
        return int(document["exit"])


@contextmanager
def _ending_tidily() -> Iterator[None]:
    """A job that is cancelled or a terminal that is closed ends it as Ctrl-C does, so that no
    scratch work tree stays behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(one, _interrupt) for one in signals]
    try:
        yield
    finally:
        for one, handler in zip(signals, before, strict=True):
            signal.signal(one, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _document(done: Landed) -> dict[str, Any]:
    """The document of `land --json` (docs/reference.md)."""
    from gitgate.app.judging.judgement import document

    judged = document(done.judged)
    return {
        "schema": judged["schema"],
        "result": done.result.value,
        "status": judged["status"],
        "exit": judged["exit"],
        "ref": done.work.target,
        "remote": done.remote,
        "old": done.old,
        "new": done.new,
        "method": done.method.value,
        "subject": done.work.subject,
        "work": done.work.head,
        "gates": judged["gates"],
        "records": [{"gate": gate, "records": list(ids)} for gate, ids in done.grounds],
        "phase": {"from": done.phase[0], "to": done.phase[1]} if done.phase else None,
        "hint": judged["hint"] if done.result == "refused" else "",
        "reasons": judged["reasons"],
        "warnings": [*done.warnings, *judged["warnings"]],
        "next": list(done.then),
    }
