"""A reviewer's session at work: reads keys, lets the state machine decide what they mean, and does
what it asks for.

Whatever happens, the terminal is given back as it was and what was written is kept.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gitgate.cli.editwork import edit
from gitgate.cli.env import Env
from gitgate.cli.handwork import Handwork
from gitgate.cli.seeing import look
from gitgate.errors import Exit, GateError
from gitgate.ui.body import Body, Shown
from gitgate.ui.decoder import Key
from gitgate.ui.keys import Terminal
from gitgate.ui.look import Look
from gitgate.ui.pages import page, prompt_of
from gitgate.ui.paint import Line, text_of, wrap
from gitgate.ui.sanitise import safe
from gitgate.ui.screens import rows_of
from gitgate.ui.session import step
from gitgate.ui.stage import Stage
from gitgate.ui.state import Asked, Do, Screen, State
from gitgate.ui.wording import SEVERAL

Document = Mapping[str, Any]

_SEARCHED = (Screen.VIEW, Screen.CHANGES)
_KEPT = (*_SEARCHED, Screen.PANEL)
_WHOLE = (Screen.PANEL, Screen.LIST, Screen.ARTIFACTS)  # printed whole where screens follow


class Sitting:
    """One session, from the first screen to the last."""

    def __init__(self, env: Env, color: str | None, *, accessible: bool) -> None:
        self.env = env
        self._color, self._accessible = color, accessible
        self._look = self._seen()
        term, _ = env.variables
        plainly = self._look.accessible or term in ("", "dumb")
        self.terminal = Terminal(plain=plainly)
        flows = plainly or not self._look.display.auto_clear
        self._look = replace(self._look, flows=flows)
        self.stage = Stage(self.terminal, flows=flows)
        self.state = State(Screen.LIST)
        self.hands = Handwork(env, self)
        self._decided = 0
        self._farewell: list[str] = []
        self._rows: dict[Screen, tuple[object, list[Shown]]] = {}

    def run(self, waiting: Sequence[Document]) -> Exit:
        """The whole session; how it ended."""
        self.state = replace(self.state, waiting=tuple(waiting))
        if len(waiting) == 1:
            self._open(0)
        try:
            with self.terminal:
                self.terminal.on_suspend, self.terminal.on_resume = self._away, self._here
                try:
                    ended = self._turns()
                finally:
                    self.stage.leave()
        finally:
            self.state = self.hands.rest(self.state)
        if not self.terminal.lost:
            lines: list[Line] = [((line, ""),) for line in self._farewell or self._left()]
            wrapped = [row for line in lines for row in wrap(line, self._look.columns, 2)]
            self.env.out([text_of(row) for row in wrapped])
        return ended

    def _turns(self) -> Exit:
        while True:
            body = self._paint()
            key = self._key()
            self.state, do = step(self.state, key, body)
            if do in (Do.LEAVE, Do.INTERRUPT):
                interrupted = Exit.INTERRUPTED if do is Do.INTERRUPT else Exit.PENDING
                return Exit.OK if self._decided and do is Do.LEAVE else interrupted
            if self._do(do):
                return Exit.OK

    def _do(self, do: Do) -> bool:
        """What a key asked for; whether the session ends with it."""
        match do:
            case Do.SUSPEND:
                self.terminal.suspend()
            case Do.KEEP:
                self.state = self.hands.keep(self.state)
            case Do.OPEN:
                self._open(self.state.at)
            case Do.DECIDE:
                return self._decide()
            case Do.EDITOR:
                self.state = self.hands.words(self.state)
            case Do.EDIT:
                self.state = edit(self.hands, self.state)
            case Do.PAGE:
                self.state = self.hands.page(self.state)
        return False

    # Seeing.

    def _seen(self) -> Look:
        with self.env.world() as world:
            policy = world.policy().policy
        found = look(self.env, policy, self._color, accessible=self._accessible)
        return self._sized(found)

    def _sized(self, found: Look) -> Look:
        try:
            size = os.get_terminal_size(1)
        except OSError:
            return found
        if not size.columns or not size.lines:
            return found
        return replace(found, columns=max(size.columns, 20), rows=size.lines)

    def _paint(self) -> Body:
        """Show the screen, and remember which artifact was seen."""
        self._look = self._sized(self._look)
        shown = page(self.state, self._look, self._content())
        content = self.state.content
        if content.screen is self.state.screen:
            self.state = replace(self.state, top=shown.top)
        if self.stage.flows and self.state.screen in _WHOLE:
            shown = replace(shown, body=replace(shown.body, height=max(len(shown.body.rows), 1)))
        searched = self.state.searched if content.screen in _SEARCHED else ""
        self.stage.paint(shown, self._look, searched)
        if self.state.screen is Screen.VIEW:
            self.state = self.hands.viewed(self.state)
        return shown.body

    def _content(self) -> list[Shown]:
        """The lines of the screen; those of a panel, an artifact or a diff are made once."""
        state, screen = self.state, self.state.content.screen
        if screen not in _KEPT:
            return rows_of(state, self._look, self.hands.texts)
        key: tuple[object, ...] = (self.hands.texts, self._look)
        if screen is not Screen.PANEL:
            key += (state.artifact, state.rendered, state.full)
        if screen not in self._rows or self._rows[screen][0] != key:
            try:
                self._rows[screen] = (key, rows_of(state, self._look, self.hands.texts))
            except GateError as error:
                told = f"it cannot be shown: {error.message}: {error.hint}"
                self._rows[screen] = (key, [Shown(0, ((safe(told), "error"),))])
        return self._rows[screen][1]

    def _key(self) -> Key:
        if self.state.guarded:
            return self.terminal.read_one()
        if self.stage.flows and self.state.screen in (Screen.WORDS, Screen.LIST, Screen.ARTIFACTS):
            return self._line()
        return self.terminal.read()

    def _line(self) -> Key:
        """What is typed at a prompt. What came before it was for another screen and is dropped,
        but for the text of a comment, which may come at once with its line's number."""
        words = self.state.screen is Screen.WORDS
        if not (words and self.state.asked is Asked.REMARK):
            self.terminal.flush()
        text = self.state.typed.text if words else ""
        several = words and self.state.asked in SEVERAL
        return self.terminal.line(prompt_of(self.state), text, several=several)

    def _away(self) -> None:
        self.stage.leave()

    def _here(self) -> None:
        self.stage.forget()

    # Doing.

    def _open(self, at: int) -> None:
        one = self.state.waiting[at]
        try:
            self.state = self.hands.open(self.state, one["gate"], one["subject"])
        except GateError as error:
            if len(self.state.waiting) == 1:
                raise
            self.state = replace(self.state, message=f"{error.message}: {error.hint}")

    def _decide(self) -> bool:
        decided = self.hands.decide(self.state)
        if isinstance(decided, State):
            self.state = decided
            return False
        self._decided += 1
        lines, warnings = decided
        doc = self.hands.desk.document
        left = tuple(
            one
            for one in self.state.waiting
            if (one["gate"], one["subject"]) != (doc["gate"], doc["subject"])
        )
        if not left:
            self._farewell = [*lines, *warnings]
            return True
        self.state = State(Screen.TOLD, waiting=left, told=(*lines, *warnings))
        return False

    def _left(self) -> list[str]:
        if self.state.screen is Screen.TOLD:
            return list(self.state.told)
        return ["left: nothing was decided", *self.hands.kept(self.state)]
