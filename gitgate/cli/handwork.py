"""What a session does to the world: opens a request, keeps drafts, signs.

Every write starts from the repository as it is at that moment; what was typed is on disk before
anything that can fail.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gitgate.app.reviewing import drafts
from gitgate.cli.deciding import keep_agents_out
from gitgate.cli.draft import written
from gitgate.cli.env import Env
from gitgate.cli.seats import Texts, notes_of, remarks_of, seat_of
from gitgate.cli.stopwatch import Stopwatch
from gitgate.core.decision import Action
from gitgate.core.quoting import path_bytes
from gitgate.errors import Exit, GateError
from gitgate.ui import plain
from gitgate.ui.field import Field
from gitgate.ui.keys import Terminal
from gitgate.ui.pager import page, page_pieces
from gitgate.ui.sanitise import safe
from gitgate.ui.state import Remark, Screen, State
from gitgate.ui.wording import worded

if TYPE_CHECKING:
    from gitgate.app.deciding.deciding import Decided
    from gitgate.app.gather.world import World
    from gitgate.app.reviewing.remembered import Memory
    from gitgate.app.reviewing.reviewing import Desk


_CHANGED = (
    "another session changed these words or comments: nothing was signed; read them and press the"
    " key again"
)
_ANOTHER_KEY = "another key would sign now than the one that was shown: nothing was recorded"


class Place(Protocol):
    """Where the session sits."""

    terminal: Terminal


class Handwork:
    """The instance that is open, and what is done with it."""

    desk: Desk
    memory: Memory
    _before: Memory
    texts: Texts | None = None

    def __init__(self, env: Env, sitting: Place) -> None:
        self.env, self.sitting = env, sitting
        self._world: World | None = None
        self._watch: Stopwatch | None = None
        self._news = ""

    # Opening and keeping.

    def open(self, state: State, gate: str, subject: str) -> State:
        """The panel of an instance, with the drafts that were kept. Raises GateError."""
        from gitgate.app.reviewing import remembered
        from gitgate.app.showing import viewed

        try:
            self._store(state)
        except OSError as error:
            return replace(state, message=self._unkept(error))
        if self._watch is not None:
            self._watch.stop()
        desk = self.gathered(gate, subject)
        self.memory = remembered.recall(self.env.repo, gate, subject)
        self._before = self.memory.copy()
        self.memory.about(desk.request.id)
        self._watch = Stopwatch(self.memory.seconds)
        viewed.mark(self.env.repo, desk.request.id)
        found = State(
            Screen.PANEL,
            waiting=state.waiting,
            words=dict(self.memory.words),
            remarks=remarks_of(self.memory.comments),
            begun=_by_path(remarks_of(self.memory.begun.values())),
        )
        return self.keep(self.reseated(found))

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
        news = "; ".join(one for one in (state.message, self._news) if one)
        state, self._news = replace(state, message=news), ""
        try:
            return self._store(state)
        except OSError as error:
            return replace(state, message=self._unkept(error))

    def _store(self, state: State) -> State:
        """Write down what this session changed; the state with what others did meanwhile."""
        if state.seat is None or self._watch is None:
            return state
        from gitgate.app.reviewing import remembered

        state = self._stamped(state)
        loaded, now = self.desk.loaded, self.memory
        now.words = {action: text for action, text in state.words.items() if text.strip()}
        now.comments = notes_of(state.remarks)
        now.begun = dict(zip(state.begun, notes_of(state.begun.values()), strict=True))
        now.seconds = self._watch.seconds
        found = remembered.store(self.env.repo, loaded.gate, loaded.subject, self._before, now)
        found.request, found.seconds = now.request, now.seconds
        self.memory, self._before = found, found.copy()
        return replace(
            state,
            words=dict(found.words),
            remarks=remarks_of(found.comments),
            begun=_by_path(remarks_of(found.begun.values())),
        )

    def _stamped(self, state: State) -> State:
        """Each comment with the content that it was written on."""
        from gitgate.app.reviewing.carrying import content

        def stamped(one: Remark) -> Remark:
            path = path_bytes(one.path)
            return replace(one, oid=one.oid or content(self.env.repo, self.desk.request, path))

        begun = {path: stamped(one) for path, one in state.begun.items()}
        return replace(state, remarks=tuple(map(stamped, state.remarks)), begun=begun)

    def _unkept(self, error: OSError) -> str:
        folder = self._place(Action.REJECT.value).parent
        return f"your draft could not be kept in {folder}: {error}: make room, or chmod u+w, there"

    def _place(self, action: str) -> Path:
        """The file with the words for an action."""
        return drafts.place(self.env.repo, self.desk.loaded.gate, self.desk.loaded.subject, action)

    def kept(self, state: State) -> list[str]:
        """Where what was typed is, read from the files; in full what is in none of them."""
        if state.seat is None:
            return []
        from gitgate.app.reviewing import remembered

        found = remembered.recall(self.env.repo, self.desk.loaded.gate, self.desk.loaded.subject)
        lines: list[str] = []
        for action, text in state.words.items():
            where = safe(str(self._place(action)))
            if found.words.get(action, "") != text.strip():
                lines += [f"your words ({action}) could not be kept in {where}; they are:"]
                lines += safe(text, multiline=True).split("\n")
            elif text.strip() and state.action == action:
                lines.append(f"your words are kept in {where}")
        for one in (*state.begun.values(), *state.remarks):
            [note] = notes_of([one])
            if note not in (*found.comments, *found.begun.values()):
                said = f"{one.path}:{one.line}: {one.text}"
                lines.append(f"your comment could not be kept; it is: {safe(said)}")
            elif one.path in state.begun and one is state.begun[one.path]:
                lines.append(f"the comment that you began on {safe(one.path)} is kept for c there")
        return lines

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
        has it, else on the first; comments go with their lines."""
        from gitgate.app.reviewing.carrying import carry

        seat = seat_of(self.desk, self.memory)
        paths = [one.path for one in seat.artifacts]
        chosen = state.chosen.path if state.chosen else ""

        notes, self._news = carry(self.env.repo, self.desk.request, notes_of(state.remarks))
        at = paths.index(chosen) if chosen in paths else 0
        return replace(state, seat=seat, artifact=at, remarks=remarks_of(notes))

    def rest(self, state: State) -> State:
        """The end, however it came: what was typed is kept, the scratch folder goes."""
        try:
            state = self._store(state)
        except OSError as error:
            self.env.say(f"warning: {safe(self._unkept(error))}")
        if self._watch is not None:
            self._watch.stop()
        if self._world is not None:
            self._world.close()
        return state

    # Other programs.

    def words(self, state: State) -> State:
        """The words of the action in the editor that git would use."""
        action = state.action or Action.REJECT
        words = {**state.words, action.value: state.typed.text}
        state = self.keep(replace(state, words=words))
        try:
            with self.sitting.terminal.given_back():
                text = written(self.env, self.desk.document, action.value, state.said)
        except (GateError, OSError) as error:
            return self._failed(state, error)
        after, _ = worded(state, text)
        return self.keep(after)

    def _failed(self, state: State, error: GateError | OSError) -> State:
        """The words stay where they were; what the editor left is taken."""
        if state.action is not None:
            left = drafts.read(self._place(state.action.value)) or state.said
            words = {**state.words, state.action.value: left}
            state = self.keep(replace(state, words=words, typed=Field.of(left)))
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
        shown, state = self._stamped(state), self.keep(state)
        if (state.said.strip(), state.remarks) != (shown.said.strip(), shown.remarks):
            return replace(state, message=_CHANGED)
        try:
            with self.sitting.terminal.lent():
                return self._decide(state, state.action or Action.QUIT)
        except GateError as error:
            said = f"nothing was recorded: {said_of(error)}"
            return replace(state, message="; ".join((said, *self.kept(state))))
        except OSError as error:
            said = f"signing or storing failed: {error}; the panel says what is recorded"
            return self._looked_again(state, said)
        except KeyboardInterrupt:
            return self._looked_again(state, "interrupted; the panel says what is recorded")

    def _looked_again(self, state: State, said: str) -> State:
        """The panel after something stopped in the middle, with what was typed."""
        said = "; ".join((said, *self.kept(state)))
        try:
            return replace(self._again(state, ""), message=said)
        except (GateError, OSError) as error:
            return replace(state, message=f"{said}; it cannot be read again: {said_of(error)}")

    def _decide(self, state: State, action: Action) -> State | tuple[list[str], list[str]]:
        from gitgate.app.reviewing import reviewing
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
        warnings += self._signed(action)
        self._closed()
        return _told(document, action, decided), warnings

    def _signed(self, action: Action) -> list[str]:
        """The words and comments of the record are no drafts any more; a warning where they stay
        for want of a write."""
        from gitgate.app.reviewing import remembered

        before, now, loaded = self._before.copy(), self.memory.copy(), self.desk.loaded
        before.words, before.comments = dict(now.words), now.comments
        now.comments = ()
        now.words.pop(action.value, None)
        try:
            remembered.store(self.env.repo, loaded.gate, loaded.subject, before, now)
        except OSError as error:
            return [f"warning: your signed words and comments are still drafts: {error}"]
        return []

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


def _by_path(remarks: Iterable[Remark]) -> dict[str, Remark]:
    return {one.path: one for one in remarks}
