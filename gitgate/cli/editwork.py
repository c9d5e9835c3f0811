"""A reviewer's edit of an artifact, in a session: the editor, and what becomes of the file.

The file stays until the edit is a commit that a branch names; whatever fails before that says
where it is, and the same key goes on with it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gitgate.cli.handwork import Handwork, said_of
from gitgate.core.quoting import path_bytes
from gitgate.errors import Exit, GateError
from gitgate.process import run_attached
from gitgate.ui.sanitise import safe
from gitgate.ui.sections import shell
from gitgate.ui.state import Screen, State

if TYPE_CHECKING:
    from gitgate.app.gather.world import World
    from gitgate.app.reviewing.editfile import EditFile
    from gitgate.app.reviewing.reviewediting import Edit, Put

_AS_IT_WAS = "the work is as it was"


def edit(hands: Handwork, state: State) -> State:
    """The artifact in the editor, then as a commit of the reviewer and the next iteration."""
    if state.chosen is None:
        return state
    try:
        return _edit(hands, state, state.chosen.path)
    except (GateError, OSError) as error:
        return replace(state, message=said_of(error))


def _edit(hands: Handwork, state: State, path: str) -> State:
    from gitgate.app.reviewing import editfile, reviewediting

    loaded, world = hands.desk.loaded, hands.fresh()
    before = reviewediting.original(world, hands.desk.request, path_bytes(path))
    with editfile.edit_file(hands.env.repo, loaded.gate, loaded.subject, path, before) as held:
        after = _in_editor(hands, state, path, held)
        now = after if isinstance(after, State) else _put_up(hands, state, path, held, after)
    older = "".join(f"; an edit of earlier content of it is still in {one}" for one in held.older)
    return replace(now, message=now.message + older)


def _in_editor(hands: Handwork, state: State, path: str, held: EditFile) -> State | bytes:
    """What is to be put up, or the state that says why nothing is."""
    editor = hands.env.repo.git("var", "GIT_EDITOR").text
    with hands.sitting.terminal.given_back():
        status = run_attached(["sh", "-c", f'{editor} "$@"', editor, str(held.file)])
    after = held.read()
    ended = f"the editor ended with {status}"
    if after == held.before:
        held.drop()
        why = ended if status else "you changed nothing"
        return replace(state, message=f"{why}: {_AS_IT_WAS}")
    if status:
        return replace(state, message=f"{ended}: {_kept(held)}")
    if held.kept and not held.saved:
        message = f"you did not save it, so nothing was put up: {_kept(held)}"
        return replace(state, message=message)
    if not after.strip() and held.before.strip():
        held.drop()
        return replace(state, message=_emptied(hands, path))
    return after


def _emptied(hands: Handwork, path: str) -> str:
    request = hands.desk.request
    return (
        f"you left {path} empty, which is no edit: {_AS_IT_WAS}. To empty it, commit that on"
        f" {request.subject}, then git gate open {request.gate} --subject {shell(request.subject)}"
    )


def _put_up(hands: Handwork, state: State, path: str, held: EditFile, after: bytes) -> State:
    from gitgate.app.reviewing import reviewediting

    world, nothing = hands.fresh(), f"nothing was put up, {_AS_IT_WAS}"
    try:
        put = _opened(hands, world, path, after)
    except (GateError, OSError) as error:
        if isinstance(error, GateError) and error.kind is Exit.STALE:
            return _arrived(hands, state, error, held)
        return replace(state, message=f"{nothing}: {said_of(error)}; {_kept(held)}")
    except KeyboardInterrupt:
        return _interrupted(hands, state, held)
    try:
        # The terminal is raw again, so that no Ctrl-C comes between the ledger and the branch.
        edit = reviewediting.placed(world, hands.desk.request, put)
    except (GateError, OSError) as error:
        now = _shown(hands, state, path, put.commit) if put.opened else state
        return hands.keep(replace(now, message=f"{said_of(error)}; {_kept(held)}"))
    held.drop()
    warnings = [f"warning: {one}" for one in _told(hands, world, put)]
    now = _shown(hands, state, path, put.commit) if put.opened else state
    return hands.keep(replace(now, message="; ".join([_said(hands, edit), *warnings])))


def _kept(held: EditFile) -> str:
    return f"your edit is kept in {held.file} (e goes on with it)"


def _opened(hands: Handwork, world: World, path: str, after: bytes) -> Put:
    from gitgate.app.reviewing import reviewediting

    gate = hands.desk.gate
    with hands.sitting.terminal.lent():
        if gate.validations:
            names = ", ".join(one.name for one in gate.validations)
            hands.env.say(
                f"your edit goes through the validations of gate {gate.id} now, which are commands"
                f" of the policy: {safe(names)}. Ctrl-C stops them, and nothing is put up."
            )
        with hands.env.progress() as watch:
            return reviewediting.put_up(world, hands.desk, path_bytes(path), after, watch)


def _told(hands: Handwork, world: World, put: Put) -> list[str]:
    """Tell others of the iteration, as `open` does; what did not work."""
    from gitgate.cli.telling import told

    unheard = [f"{safe(put.unheard)} could not be asked for news"] if put.unheard else []
    if not world.written:
        return unheard
    with hands.sitting.terminal.lent():
        return [*unheard, *told(world)]


def _arrived(hands: Handwork, state: State, error: GateError, held: EditFile) -> State:
    """Another request is the newest now, or none: it is shown."""
    before = hands.desk.document["iteration"]
    now = _shown(hands, state)
    number = hands.desk.document["iteration"]
    said = said_of(error)
    if number != before:
        said = f"iteration {number} arrived while you edited iteration {before} (d: what changed)"
    message = f"{said}: nothing was put up, your edit is kept in {held.file}"
    return hands.keep(replace(now, message=message))


def _interrupted(hands: Handwork, state: State, held: EditFile) -> State:
    before = hands.desk.document["iteration"]
    now = _shown(hands, state)
    same = hands.desk.document["iteration"] == before
    what = f"nothing was put up, {_AS_IT_WAS}" if same else "the panel says what was put up"
    return hands.keep(replace(now, message=f"interrupted: {what}; {_kept(held)}"))


def _shown(hands: Handwork, state: State, path: str = "", commit: str = "") -> State:
    """The panel of the instance as it is now. Who wrote `path` has seen it, where that commit is
    what the session shows."""
    hands.gathered(hands.desk.loaded.gate, hands.desk.loaded.subject)
    request = hands.desk.request
    hands.memory.about(request.id)
    for one in request.deliverables:
        if request.work == commit and one.path == path_bytes(path):
            hands.memory.edited[path] = hands.memory.viewed[path] = one.oid
    return replace(hands.reseated(state), screen=Screen.PANEL, back=(), top=0)


def _said(hands: Handwork, edit: Edit) -> str:
    from gitgate.app.reviewing.reviewediting import following

    iteration = f"iteration {hands.desk.document['iteration']}, commit {edit.commit[:12]}"
    if not edit.aside:
        return f"your edit is {iteration}"
    take = f"the asking side takes it by {following(edit)}"
    if edit.opened:
        return f"your edit is {iteration}, on the branch {edit.branch}: {edit.aside}; {take}"
    on = f"your edit is on the branch {edit.branch}, and no iteration was opened"
    return f"{edit.aside}: {on}; {take}"
