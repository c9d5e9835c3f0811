"""The world outside, built once at the entry: streams, clock, terminal, folder."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from gitgate.errors import Exit, GateError

if TYPE_CHECKING:
    from gitgate.app.gather.world import World
    from gitgate.git.repository import Repository

# Variables by which known coding agents mark the commands that they run.
_AGENTS = (
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CODEX_SANDBOX",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "AIDER_MODEL",
    "OPENCODE",
    "GOOSE_TERMINAL",
    "AMP_CURRENT_THREAD_ID",
    "COPILOT_AGENT",
    "CLINE_ACTIVE",
    "AGENT_NAME",
    "REPLIT_AGENT",
)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a standard stream is a terminal; one that was closed is None."""
    return stream is not None and stream.isatty()


@dataclass
class Env:
    """What a command may know of its surroundings."""

    json: bool = False
    verbose: bool = False
    _repo: Repository | None = field(default=None, repr=False)

    @property
    def home(self) -> Path:
        return Path.home()

    @property
    def columns(self) -> int:
        return shutil.get_terminal_size((80, 24)).columns if is_terminal(sys.stdout) else 10_000

    @property
    def variables(self) -> tuple[str, bool]:
        """TERM, and whether NO_COLOR asks for no colours (no-color.org: not empty)."""
        return os.environ.get("TERM", ""), bool(os.environ.get("NO_COLOR"))

    @property
    def terminal(self) -> bool:
        """Whether a person reads the output at a terminal."""
        return is_terminal(sys.stdout)

    def coloured(self, when: str | None) -> bool:
        """Whether a diff is in colour: `--color`, NO_COLOR, git's color.diff, color.ui say it."""
        term, no_color = self.variables
        said = when or ("never" if no_color else "")
        said = said or self.repo.config.get("color.diff", self.repo.config.get("color.ui", "auto"))
        if said == "always" or said.lower() in ("never", "false", "no", "off", "0"):
            return said == "always"
        return self.terminal and term not in ("", "dumb")

    @property
    def repo(self) -> Repository:
        if self._repo is None:
            from gitgate.git.repository import Repository

            self._repo = Repository.open()
        return self._repo

    def now(self) -> int:
        return int(time.time())

    @contextmanager
    def world(self, remote: str | None = None, *, historic: bool = False) -> Iterator[World]:
        """The gathered repository; its scratch folder goes when the command ends.

        `historic` judges signatures as of the time of each decision alone.
        """
        from gitgate.app.gather.world import World

        world = World(self.repo, self.now(), remote, historic=historic)
        world.progress = self.progress
        with closing(world):
            try:
                yield world
            finally:
                self.tell(world)

    def tell(self, world: World) -> None:
        """Log and tell what `world` has written; what did not work is a warning."""
        if world.written or world.reminders:
            from gitgate.cli.telling import told

            self.say(*(f"warning: {one}" for one in told(world)))

    def coding_agent(self) -> str | None:
        """The variable that shows a known coding agent's environment; None where none does."""
        return next((name for name in _AGENTS if os.environ.get(name)), None)

    def interactive(self) -> bool:
        return is_terminal(sys.stdin) and is_terminal(sys.stderr)

    def say(self, *lines: str) -> None:
        """Tell the person at the terminal something that is not the command's output."""
        _print(lines, err=True)

    @contextmanager
    def progress(self) -> Iterator[Callable[[str], None]]:
        """One line on a terminal's standard error that says what is running, until it is done."""
        shown = 0

        def watch(text: str) -> None:
            nonlocal shown
            if not is_terminal(sys.stderr):
                return
            from gitgate.ui.sanitise import clip, safe, width

            line = clip(safe(text), shutil.get_terminal_size().columns - 1)
            click.echo(f"\r{line}{' ' * (shown - width(line))}", err=True, nl=False)
            shown = width(line)

        try:
            yield watch
        finally:
            if shown:
                watch("")
                click.echo("\r", err=True, nl=False)

    def out(self, lines: Sequence[str]) -> None:
        """The output of a command that prints text."""
        _print(lines)

    def document(self, value: Mapping[str, Any]) -> None:
        """The output of a command that prints JSON: one document, all of it ASCII."""
        click.echo(json.dumps(value, indent=2))

    def show(self, document: Mapping[str, Any], lines: Sequence[str]) -> None:
        """The document with `--json`, else the lines, through the pager where they do not fit."""
        if self.json:
            self.document(document)
        elif self._pages(lines):
            self._page(lines)
        else:
            self.out(lines)

    def draw(self, lines: Sequence[str]) -> None:
        """Lines that `ui/paint` made, escape sequences of colours and all; paged as in `show`."""
        if self._pages(lines):
            self._page(lines)
        else:
            click.echo("\n".join(lines), color=True)

    def stream(self, pieces: Iterable[bytes]) -> None:
        """Output that is made while it is read, through the user's pager for diffs on a terminal.

        The pieces are bytes for a program, or text whose hostile parts are escapes already.
        """
        if self.terminal:
            from gitgate.ui.pager import page_pieces

            page_pieces(self._diff_pager(), pieces)
            return
        sys.stdout.flush()
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()

    def _diff_pager(self) -> str:
        """The pager that git would start for `git diff`."""
        own = self.repo.config.get("pager.diff", "")
        if own.lower() in ("false", "no", "off", "0"):
            return "cat"
        if "GIT_PAGER" not in os.environ and own.lower() not in ("", "true", "yes", "on", "1"):
            return own
        return self.repo.git("var", "GIT_PAGER").text or "less"

    def _pages(self, lines: Sequence[str]) -> bool:
        return is_terminal(sys.stdout) and len(lines) >= shutil.get_terminal_size().lines

    def _page(self, lines: Sequence[str]) -> None:
        from gitgate.ui.pager import page

        page(self.repo.git("var", "GIT_PAGER").text or "less", "\n".join(lines) + "\n")


def _print(lines: Sequence[str], *, err: bool = False) -> None:
    """Print lines whose hostile parts are escapes already; one that was forgotten becomes one."""
    from gitgate.ui.sanitise import safe

    if lines:
        click.echo(safe("\n".join(lines), multiline=True), err=err)


def without_agents() -> dict[str, str]:
    """The variables that take a coding agent's marks off an environment: empty is not set."""
    return dict.fromkeys(_AGENTS, "")


def fail(error: GateError) -> int:
    """Print an error as people and agents read it; the exit status."""
    from gitgate.ui.sanitise import safe

    click.echo(f"git-gate: {safe(error.message, multiline=True)}", err=True)
    if error.hint:
        click.echo(f"hint: {safe(error.hint, multiline=True)}", err=True)
    return int(error.kind)


def internal(error: BaseException) -> int:
    """An error that is ours: one line, no traceback, and how to see more."""
    from gitgate.ui.sanitise import safe

    what = safe(f"{type(error).__name__}: {error}")
    click.echo(f"git-gate: something went wrong inside git-gate: {what}", err=True)
    click.echo(
        "hint: GIT_GATE_TRACE=1 shows where; nothing was recorded that is not whole", err=True
    )
    return int(Exit.FATAL)
