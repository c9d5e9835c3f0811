"""What a session does to the world: opens a request, keeps drafts, edits, signs.

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
from gitgate.core.quoting import path_bytes
from gitgate.errors import Exit, GateError
from gitgate.process import run_attached
from gitgate.ui import plain
from gitgate.ui.keys import Terminal
from gitgate.ui.pager import page
from gitgate.ui.sanitise import safe
from gitgate.ui.session import worded
from gitgate.ui.state import Screen, State

if TYPE_CHECKING:
    from gitgate.app.deciding.deciding import Decided
    from gitgate.app.gather.world import World
    from gitgate.app.reviewing.remembered import Memory
    from gitgate.app.reviewing.reviewediting import Edit
    from gitgate.app.reviewing.reviewing import Desk


class Place(Protocol):
    """Where the session sits."""

    terminal: Terminal


class Handwork:
    """The instance that is open, and what is done with it."""

    desk: Desk
    memory: Memory
    texts: Texts | None = None

    def __init__(self, env: Env, sitting: Place) -> None:
        self._env, self._sitting = env, sitting
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
        world = self._fresh()
        policy = world.policy()
        desk = self._gathered(gate_of(policy, gate).id, subject)
        self.memory = remembered.recall(self._env.repo, gate, subject)
        self.memory.about(desk.request.id)
        self._watch = Stopwatch(self.memory.seconds)
        viewed.mark(self._env.repo, desk.request.id)
        words = dict(self.memory.words)
        draft = _read(place(self._env, gate, subject))
        if draft.strip() and draft != words.get(Action.REJECT.value):
            words[Action.REJECT.value] = draft.strip()
        return State(
            Screen.PANEL,
            seat=seat_of(desk, self.memory),
            waiting=state.waiting,
            words=words,
            remarks=remarks_of(self.memory),
        )

    def _gathered(self, gate: str, subject: str) -> Desk:
        from gitgate.app.reviewing import reviewing

        world = self._fresh()
        policy = world.policy()
        self.desk = reviewing.gather(world, policy, policy.policy.gates[gate], subject)
        self.texts = Texts(world, self.desk)
        return self.desk

    def _fresh(self) -> World:
        """The repository as it is now."""
        from gitgate.app.gather.world import World

        if self._world is not None:
            self._world.close()
        self._world = World(self._env.repo, self._env.now())
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
        remembered.keep(self._env.repo, loaded.gate, loaded.subject, self.memory)
        if state.action is not None and state.said.strip():
            self._draft.write_text(state.said, "utf-8", errors="surrogateescape")

    @property
    def _draft(self) -> Path:
        """The file in which people find their words."""
        return place(self._env, self.desk.loaded.gate, self.desk.loaded.subject)

    def viewed(self, state: State) -> State:
        """The artifact that is on the screen was seen."""
        one = state.chosen
        if one is None or self.texts is None or self.memory.viewed.get(one.path) == one.oid:
            return state
        if self.texts.preview(one).content.oid != one.oid:
            return state
        self.memory.viewed[one.path] = one.oid
        return self.keep(self._reseated(state))

    def _reseated(self, state: State) -> State:
        return replace(state, seat=seat_of(self.desk, self.memory))

    def rest(self, state: State) -> None:
        """The end, however it came: what was typed is kept, the scratch folder goes."""
        try:
            self._store(state)
        except OSError as error:
            self._env.say(f"warning: your draft could not be kept: {safe(str(error))}")
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
            with self._sitting.terminal.given_back():
                text = written(self._env, self.desk.document, action.value)
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
        return replace(state, message=_said(error))

    def page(self, state: State) -> State:
        """The artifact in the pager that git would use."""
        if state.chosen is None or self.texts is None:
            return state
        preview = self.texts.preview(state.chosen)
        text = "\n".join(preview.summary())
        if preview.readable:
            data = preview.content.data.decode("utf-8", "surrogateescape")
            text = safe(data.expandtabs(8), multiline=True)
        with self._sitting.terminal.given_back():
            page(self._env.repo.git("var", "GIT_PAGER").text or "less", text)
        return state

    def edit(self, state: State) -> State:
        """The artifact in the editor, then as a commit of the reviewer and the next iteration."""
        if state.chosen is None:
            return state
        try:
            return self._edit(state, state.chosen.path)
        except (GateError, OSError) as error:
            return replace(state, message=_said(error))

    def _edit(self, state: State, path: str) -> State:
        from gitgate.app.reviewing import reviewediting

        world, request = self._fresh(), self.desk.request
        before = reviewediting.original(world, request, path_bytes(path))
        file = self._editable(path)
        file.write_bytes(before)
        editor = self._env.repo.git("var", "GIT_EDITOR").text
        with self._sitting.terminal.given_back():
            status = run_attached(["sh", "-c", f'{editor} "$@"', editor, str(file)])
        after = file.read_bytes() if file.exists() else before
        if after == before:
            file.unlink(missing_ok=True)
            why = f"the editor ended with {status}" if status else "you changed nothing"
            return replace(state, message=f"{why}: the work is as it was")
        if status:
            message = f"the editor ended with {status}: your edit is kept in {file}"
            return replace(state, message=message)
        number = self.desk.document["iteration"]
        try:
            with self._sitting.terminal.given_back(here=True):
                edit = reviewediting.commit_edit(
                    world, request, number, path_bytes(path), after, lambda _: None
                )
        except GateError as error:
            return replace(state, message=f"{_said(error)}; your edit is kept in {file}")
        file.unlink(missing_ok=True)
        return self._edited(state, path, edit)

    def _editable(self, path: str) -> Path:
        """A file for the editor, with the artifact's name where that is a plain one."""
        folder = self._env.repo.common_dir / "git-gate" / "edits" / self.desk.request.id[:12]
        folder.mkdir(parents=True, exist_ok=True)
        name = path.rsplit("/", 1)[-1]
        plainly = name.isascii() and name.isprintable() and not set("\\\"'") & set(name)
        return folder / (f"edit-{name}" if plainly and len(name) < 100 else "edit")

    def _edited(self, state: State, path: str, edit: Edit) -> State:
        from gitgate.app.reviewing.reviewediting import following

        if edit.aside:
            message = (
                f"{edit.aside}: your edit is on the branch {edit.branch}, and no iteration was"
                f" opened; the asking side takes it by {following(edit)}"
            )
            return replace(state, message=message)
        self._gathered(self.desk.loaded.gate, self.desk.loaded.subject)
        for one in self.desk.request.deliverables:
            if one.path == path_bytes(path):
                self.memory.edited[path] = self.memory.viewed[path] = one.oid
        self.memory.about(self.desk.request.id)
        now = replace(self._reseated(state), screen=Screen.PANEL, back=(), top=0)
        number = self.desk.document["iteration"]
        if self.desk.request.work != edit.commit:
            message = f"your edit is commit {edit.commit[:12]} on {edit.branch}; it was not put up"
        else:
            message = f"your edit is iteration {number}, commit {edit.commit[:12]}"
        return self.keep(replace(now, message=message))

    # Deciding.

    def decide(self, state: State) -> State | tuple[list[str], list[str]]:
        """Sign and store; the lines that say so and warnings, or the state that says why not."""
        state = self.keep(state)
        try:
            with self._sitting.terminal.given_back(here=True):
                return self._decide(state, state.action or Action.QUIT)
        except GateError as error:
            kept = f"; your words are kept in {self._draft}" if state.said.strip() else ""
            return replace(state, message=f"nothing was recorded: {_said(error)}{kept}")
        except KeyboardInterrupt:
            message = "interrupted; the panel says what is recorded, and your words are kept"
            return self._again(state, message)

    def _decide(self, state: State, action: Action) -> State | tuple[list[str], list[str]]:
        from gitgate.app.reviewing import remembered, reviewing
        from gitgate.app.showing.query import show
        from gitgate.cli.telling import told

        desk = self.desk
        keep_agents_out(self._env, action, desk.gate.approvals.agents.value, desk.gate.id)
        world = self._fresh()
        warnings: list[str] = []
        if not reviewing.fetch(world, desk.loaded.gate, desk.loaded.subject):
            warnings.append(f"warning: {safe(str(world.remote))} could not be asked for news")
        try:
            if reviewing.moved(world, desk) is not None:
                return self._arrived(state)
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
        remembered.forget(self._env.repo, desk.loaded.gate, desk.loaded.subject)
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
        desk = self._gathered(self.desk.loaded.gate, self.desk.loaded.subject)
        self.memory.about(desk.request.id)
        if self._watch is not None:
            self._watch.stop()
        self._watch = Stopwatch(self.memory.seconds)
        said = message.format(now=desk.document["iteration"], before=before)
        now = replace(self._reseated(state), screen=Screen.PANEL, back=(), top=0, message=said)
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


def _said(error: GateError | OSError) -> str:
    if isinstance(error, GateError):
        return f"{error.message}: {error.hint}" if error.hint else error.message
    return str(error)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="surrogateescape")
    except OSError:
        return ""
