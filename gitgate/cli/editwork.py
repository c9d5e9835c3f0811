"""A reviewer's edit of an artifact, in a session: the editor, and what becomes of the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gitgate.cli.handwork import Handwork, said_of
from gitgate.core.quoting import path_bytes
from gitgate.errors import GateError
from gitgate.process import run_attached
from gitgate.ui.state import Screen, State

if TYPE_CHECKING:
    from gitgate.app.reviewing.reviewediting import Edit


def edit(hands: Handwork, state: State) -> State:
    """The artifact in the editor, then as a commit of the reviewer and the next iteration."""
    if state.chosen is None:
        return state
    try:
        return _edit(hands, state, state.chosen.path)
    except (GateError, OSError) as error:
        return replace(state, message=said_of(error))


def _edit(hands: Handwork, state: State, path: str) -> State:
    from gitgate.app.reviewing import reviewediting

    world, request = hands.fresh(), hands.desk.request
    before = reviewediting.original(world, request, path_bytes(path))
    file = _editable(hands, path)
    file.write_bytes(before)
    editor = hands.env.repo.git("var", "GIT_EDITOR").text
    with hands.sitting.terminal.given_back():
        status = run_attached(["sh", "-c", f'{editor} "$@"', editor, str(file)])
    after = file.read_bytes() if file.exists() else before
    if after == before:
        file.unlink(missing_ok=True)
        why = f"the editor ended with {status}" if status else "you changed nothing"
        return replace(state, message=f"{why}: the work is as it was")
    if status:
        message = f"the editor ended with {status}: your edit is kept in {file}"
        return replace(state, message=message)
    number = hands.desk.document["iteration"]
    try:
        with hands.sitting.terminal.lent():
            edit = reviewediting.commit_edit(
                world, request, number, path_bytes(path), after, lambda _: None
            )
    except GateError as error:
        return replace(state, message=f"{said_of(error)}; your edit is kept in {file}")
    file.unlink(missing_ok=True)
    return _edited(hands, state, path, edit)


def _editable(hands: Handwork, path: str) -> Path:
    """A file for the editor, with the artifact's name where that is a plain one."""
    folder = hands.env.repo.common_dir / "git-gate" / "edits" / hands.desk.request.id[:12]
    folder.mkdir(parents=True, exist_ok=True)
    name = path.rsplit("/", 1)[-1]
    plainly = name.isascii() and name.isprintable() and not set("\\\"'") & set(name)
    return folder / (f"edit-{name}" if plainly and len(name) < 100 else "edit")


def _edited(hands: Handwork, state: State, path: str, edit: Edit) -> State:
    from gitgate.app.reviewing.reviewediting import following

    if edit.aside:
        message = (
            f"{edit.aside}: your edit is on the branch {edit.branch}, and no iteration was"
            f" opened; the asking side takes it by {following(edit)}"
        )
        return replace(state, message=message)
    hands.gathered(hands.desk.loaded.gate, hands.desk.loaded.subject)
    for one in hands.desk.request.deliverables:
        if one.path == path_bytes(path):
            hands.memory.edited[path] = hands.memory.viewed[path] = one.oid
    hands.memory.about(hands.desk.request.id)
    now = replace(hands.reseated(state), screen=Screen.PANEL, back=(), top=0)
    number = hands.desk.document["iteration"]
    if hands.desk.request.work != edit.commit:
        message = f"your edit is commit {edit.commit[:12]} on {edit.branch}; it was not put up"
    else:
        message = f"your edit is iteration {number}, commit {edit.commit[:12]}"
    return hands.keep(replace(now, message=message))
