"""The entry: one group of commands, loaded when they are named, and the one error boundary."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from gitgate import __version__
from gitgate.cli.env import Env, fail, internal
from gitgate.errors import Exit, GateError

# Where each command is, in the order of a gate's life.
_COMMANDS = {
    "init": "gitgate.cli.setting_up",
    "open": "gitgate.cli.asking",
    "withdraw": "gitgate.cli.asking",
    "wait": "gitgate.cli.asking",
    "validate": "gitgate.cli.validating",
    "show": "gitgate.cli.looking",
    "list": "gitgate.cli.looking",
    "log": "gitgate.cli.looking",
    "review": "gitgate.cli.reviewing",
    "diff": "gitgate.cli.diffing",
    "approve": "gitgate.cli.deciding",
    "reject": "gitgate.cli.deciding",
    "skip": "gitgate.cli.deciding",
    "quit": "gitgate.cli.deciding",
    "retract": "gitgate.cli.deciding",
    "check": "gitgate.cli.checking",
    "sync": "gitgate.cli.syncing",
    "land": "gitgate.cli.landing",
    "policy": "gitgate.cli.checking",
    "signers": "gitgate.cli.signing",
    "repair": "gitgate.cli.setting_up",
    "export": "gitgate.cli.exporting",
    "hook": "gitgate.cli.hooking",
    "doctor": "gitgate.cli.setting_up",
    "demo": "gitgate.cli.demo",
}


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: click.Command = getattr(importlib.import_module(module), f"{cmd_name}_command")
        return command


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`git gate init` begins; `git gate demo` shows the whole story.",
)
@click.version_option(__version__, prog_name="git-gate")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Human approval gates that live in git.

    A gate asks, a person answers with a signed git object, and nothing lands unless it is exactly
    what was approved.
    """
    ctx.obj = Env()


def main(args: list[str] | None = None) -> None:
    """Run the command line; every way out is an exit status of design section 8."""
    _stand_in()
    sys.exit(run(args))


def _stand_in() -> None:
    """Where a standard stream is closed, as git does: no file that is opened takes its place."""
    fd = os.open(os.devnull, os.O_RDWR)
    while fd <= 2:
        os.set_inheritable(fd, True)
        fd = os.open(os.devnull, os.O_RDWR)
    os.close(fd)


def run(args: list[str] | None) -> int:
    """Run the command line and give its exit status."""
    try:
        result: Any = cli.main(args=args, prog_name="git gate", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        return int(result) if isinstance(result, int) else int(Exit.OK)
    except GateError as error:
        return fail(error)
    except click.exceptions.Exit as error:
        return int(error.exit_code)
    except click.Abort:  # click has ended the line
        return int(Exit.INTERRUPTED)
    except click.ClickException as error:
        return _misused(error)
    except KeyboardInterrupt:
        click.echo("", err=True)
        return int(Exit.INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13
    except Exception as error:
        if os.environ.get("GIT_GATE_TRACE"):
            raise
        return internal(error)


def _misused(error: click.ClickException) -> int:
    """A mistake on the command line, told as every other error; a bare `git gate` gets the help."""
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
        error.show()
        return int(Exit.USAGE)
    context = error.ctx if isinstance(error, click.UsageError) else None
    said = error.format_message().rstrip(".")
    command = context.command_path if context else "git gate"
    return fail(GateError(Exit.USAGE, said[:1].lower() + said[1:], f"{command} -h"))
