"""What a session does to the world: opens a request, keeps drafts, signs.

Every write starts from the repository as it is at that moment; what was typed is on disk before
anything that can fail.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gitgate.cli.deciding import keep_agents_out
from gitgate.cli.draft import place, written
from gitgate.cli.env import Env
from gitgate.cli.seats import Texts, comments_of, remarks_of, seat_of
from gitgate.cli.stopwatch import Stopwatch
from gitgate.core.decision import Action
from gitgate.errors import Exit, GateError
from gitgate.ui import plain
from gitgate.ui.keys import Terminal
from gitgate.ui.pager import page, page_pieces
from gitgate.ui.sanitise import safe
from gitgate.ui.session import worded
from gitgate.ui.state import Screen, State

if TYPE_CHECKING:
    from gitgate.app.deciding.deciding import Decided
    from gitgate.app.gather.world import World
    from gitgate.app.reviewing.remembered import Memory
    from gitgate.app.reviewing.reviewing import Desk


_ANOTHER_KEY = "another key would sign now than the one that was shown: nothing was recorded"


class Place(Protocol):
    """Where the session sits."""

    terminal: Terminal


class Handwork:
    """The instance that is open, and what is done with it."""

    desk: Desk
    memory: Memory
    texts: Texts | None = None

    def __init__(self, env: Env, sitting: Place) -> None:
        self.env, self.sitting = env, sitting
        self._world: World | None = None
        self._watch: Stopwatch | None = None

    # Opening and keeping.

    def open(self, state: State, gate: str, subject: str) -> State:
        """The panel of an instance, with the drafts that were kept. Raises GateError."""
        from gitgate.app.gather.world import gate_of
        from gitgate.app.reviewing import remembered
        from gitgate.app.showing import viewed

        self._store(state)
        if self._watch is not None:
            self._watch.stop()
        world = self.fresh()
        policy = world.policy()
        desk = self.gathered(gate_of(policy, gate).id, subject)
        self.memory = remembered.recall(self.env.repo, gate, subject)
        self.memory.about(desk.request.id)
        self._watch = Stopwatch(self.memory.seconds)
        viewed.mark(self.env.repo, desk.request.id)
        words = dict(self.memory.words)
        draft = _read(place(self.env, gate, subject))
        if draft.strip() and draft != words.get(Action.REJECT.value):
            words[Action.REJECT.value] = draft.strip()
        return State(
            Screen.PANEL,
            seat=seat_of(desk, self.memory),
            waiting=state.waiting,
            words=words,
            remarks=remarks_of(self.memory),
        )

    def gathered(self, gate: str, subject: str) -> Desk:
        """The desk with the instance as it is now, which is this session's from here on."""
        from gitgate.app.gather.world import gate_of
        from gitgate.app.reviewing import reviewing

        world = self.fresh()
        policy = world.policy()
        self.desk = reviewing.gather(world, policy, gate_of(policy, gate), subject)
        self.texts = Texts(world, self.desk)
        return self.desk

    def fresh(self) -> World:
        """The repository as it is now."""
        from gitgate.app.gather.world import World

        if self._world is not None:
            self._world.close()
        self._world = World(self.env.repo, self.env.now())
        return self._world

    def keep(self, state: State) -> State:
        """Write down what was typed; the state says it where that fails."""
        try:
            self._store(state)
        except OSError as error:
            return replace(state, message=f"your draft could not be kept: {error}")
        return state

    def _store(self, state: State) -> None:
        if state.seat is None or self._watch is None:
            return
        from gitgate.app.reviewing import remembered

        loaded = self.desk.loaded
        self.memory.words = dict(state.words)
        self.memory.comments = comments_of(state.remarks)
        self.memory.seconds = self._watch.seconds
        remembered.keep(self.env.repo, loaded.gate, loaded.subject, self.memory)
        if state.action is not None and state.said.strip():
            self._draft.write_text(state.said, "utf-8", errors="surrogateescape")

    @property
    def _draft(self) -> Path:
        """The file in which people find their words."""
        return place(self.env, self.desk.loaded.gate, self.desk.loaded.subject)

    def viewed(self, state: State) -> State:
        """The artifact that is on the screen was seen."""
        one = state.chosen
        if one is None or self.texts is None or self.memory.viewed.get(one.path) == one.oid:
            return state
        if self.texts.preview(one).content.oid != one.oid:
            return state
        self.memory.viewed[one.path] = one.oid
        return self.keep(self.reseated(state))

    def reseated(self, state: State) -> State:
        """The state with what is remembered by now, on the artifact that was chosen if the request
        has it, else on the first."""
        seat = seat_of(self.desk, self.memory)
        paths = [one.path for one in seat.artifacts]
        chosen = state.chosen.path if state.chosen else ""
        return replace(state, seat=seat, artifact=paths.index(chosen) if chosen in paths else 0)

    def rest(self, state: State) -> None:
        """The end, however it came: what was typed is kept, the scratch folder goes."""
        try:
            self._store(state)
        except OSError as error:
            self.env.say(f"warning: your draft could not be kept: {safe(str(error))}")
        if self._watch is not None:
            self._watch.stop()
        if self._world is not None:
            self._world.close()

    # Other programs.

    def words(self, state: State) -> State:
        """The words of the action in the editor that git would use."""
        action = state.action or Action.REJECT
        words = {**state.words, action.value: state.typed.text}
        state = self.keep(replace(state, words=words))
        with suppress(OSError):
            self._draft.write_text(state.said, "utf-8", errors="surrogateescape")
        try:
            with self.sitting.terminal.given_back():
                text = written(self.env, self.desk.document, action.value)
        except (GateError, OSError) as error:
            return self._failed(state, error)
        after, _ = worded(state, text)
        return self.keep(after)

    def _failed(self, state: State, error: GateError | OSError) -> State:
        """The words stay where they were; a draft that the editor left is taken."""
        draft = _read(self._draft).strip()
        if draft and state.action is not None:
            from gitgate.ui.field import Field

            words = {**state.words, state.action.value: draft}
            state = replace(state, words=words, typed=Field.of(draft))
        return replace(state, message=said_of(error))

    def page(self, state: State) -> State:
        """The artifact in the pager that git would use."""
        if state.chosen is None or self.texts is None:
            return state
        preview = self.texts.preview(state.chosen)
        pager = self.env.repo.git("var", "GIT_PAGER").text or "less"
        try:
            with self.sitting.terminal.given_back():
                if preview.readable:
                    status = page_pieces(pager, preview.pieces(self.texts.content(state.chosen)))
                else:
                    status = page(pager, "\n".join(preview.summary()))
        except GateError as error:
            return replace(state, message=said_of(error))
        if status > 0:
            said = f"the pager {pager!r} ended with {status}: git config core.pager PROGRAM"
            return replace(state, message=said)
        return state

    # Deciding.

    def decide(self, state: State) -> State | tuple[list[str], list[str]]:
        """Sign and store; the lines that say so and warnings, or the state that says why not."""
        state = self.keep(state)
        try:
            with self.sitting.terminal.lent():
                return self._decide(state, state.action or Action.QUIT)
        except GateError as error:
            kept = f"; your words are kept in {self._draft}" if state.said.strip() else ""
            return replace(state, message=f"nothing was recorded: {said_of(error)}{kept}")
        except KeyboardInterrupt:
            message = "interrupted; the panel says what is recorded, and your words are kept"
            return self._again(state, message)

    def _decide(self, state: State, action: Action) -> State | tuple[list[str], list[str]]:
        from gitgate.app.reviewing import remembered, reviewing
        from gitgate.app.showing.query import show
        from gitgate.cli.telling import told

        desk = self.desk
        keep_agents_out(self.env, action, desk.gate.approvals.agents.value, desk.gate.id)
        world = self.fresh()
        warnings: list[str] = []
        if not reviewing.fetch(world, desk.loaded.gate, desk.loaded.subject):
            warnings.append(f"warning: {safe(str(world.remote))} could not be asked for news")
        try:
            if reviewing.moved(world, desk) is not None:
                return self._arrived(state)
            if not reviewing.signs_as_shown(world, desk):
                return self._again(state, _ANOTHER_KEY)
            self.memory.seconds = self._watch.seconds if self._watch else 0
            decided = reviewing.decide(world, desk, action, state.said, self.memory)
        except GateError as error:
            if error.kind is not Exit.STALE:
                raise
            return self._arrived(state)
        warnings += [f"warning: {one}" for one in told(world)]
        if not decided.noted:
            warnings.append("warning: the copy in the notes could not be written: git gate repair")
        document = show(world, desk.policy, decided.loaded)
        document["record"] = decided.record.id
        remembered.forget(self.env.repo, desk.loaded.gate, desk.loaded.subject)
        if _read(self._draft).strip() == state.said.strip():
            self._draft.unlink(missing_ok=True)
        self._closed()
        return _told(document, action, decided), warnings

    def _closed(self) -> None:
        """Nothing is kept of this instance from here on."""
        if self._watch is not None:
            self._watch.stop()
            self._watch = None

    def _arrived(self, state: State) -> State:
        """Another request is the newest now: nothing is signed, and it is shown."""
        before = self.desk.document["iteration"]
        return self._again(
            state,
            "iteration {now} arrived while you looked at {before}: nothing was signed, your words"
            " are kept; d shows what changed",
            before,
        )

    def _again(self, state: State, message: str, before: int = 0) -> State:
        desk = self.gathered(self.desk.loaded.gate, self.desk.loaded.subject)
        self.memory.about(desk.request.id)
        if self._watch is not None:
            self._watch.stop()
        self._watch = Stopwatch(self.memory.seconds)
        said = message.format(now=desk.document["iteration"], before=before)
        now = replace(self.reseated(state), screen=Screen.PANEL, back=(), top=0, message=said)
        return self.keep(now)


def _told(document: dict[str, object], action: Action, decided: Decided) -> list[str]:
    """What was recorded, as `approve` and the others say it."""
    return plain.decided(
        document,
        action.value,
        decided.signed_with,
        decided.count.reason,
        [veto.said for veto in decided.vetoes],
    )


def said_of(error: GateError | OSError) -> str:
    if isinstance(error, GateError):
        return f"{error.message}: {error.hint}" if error.hint else error.message
    return str(error)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="surrogateescape")
    except OSError:
        return ""
