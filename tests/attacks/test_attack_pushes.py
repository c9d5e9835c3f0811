"""Every attack on a landing again, as pushes to a server with the hooks by clients without any.

The tests of the other files are run with their questions put to a server: what `check` or the
client's hook refuses there is pushed here past every hook of the client, to a server that has the
client's ledgers and notes as they are, forged ones too. What passes there lands here. The short
form takes one attack of each kind; GIT_GATE_LONG=1 takes all.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import forger
import pytest
import test_attack_refs
from forger import MAIN
from support.project import Answer, Project
from support.server import LONG, at, guard, push, sound, state

from gitgate import hooks

NAMES = (
    "copied_decisions",
    "landings",
    "ledgers",
    "merges",
    "policy",
    "refs",
    "self_approval",
    "signatures",
    "texts",
    "vetoes",
)

SHORT = {
    "test_a_second_landing_behind_an_approved_one",
    "test_approved_for_main_used_for_a_release",
}

# What only a clone can meet: this server's own ledgers were never taken away or damaged.
OF_A_CLONE = {
    "test_a_ledger_that_lost_its_objects",
    "test_ledger_deleted_or_emptied",
    "test_ledger_rewound_that_the_remote_knows",
}

guarded = test_attack_refs.guarded


def attacks() -> list[Any]:
    found = []
    for name in NAMES:
        module = importlib.import_module(f"test_attack_{name}")
        for title, test in vars(module).items():
            marks = {mark.name for mark in getattr(test, "pytestmark", ())}
            wanted = LONG and title not in OF_A_CLONE and "parametrize" not in marks
            if title.startswith("test_") and (wanted or title in SHORT):
                found.append(pytest.param(module, test, id=f"{name}:{title[5:]}"))
    return found


@contextmanager
def on_guard(project: Project) -> Iterator[None]:
    """The server has what the client has of ledgers and notes, and judges until this ends."""
    ours = ("+refs/aiwg/*:refs/aiwg/*", "+refs/notes/aiwg/*:refs/notes/aiwg/*")
    at(project.remote, "fetch", "--quiet", "--prune", "--no-tags", str(project.top), *ours)
    guard(project.remote)
    try:
        yield
    finally:
        for name in hooks.SERVER:
            hooks.uninstall(project.remote / "hooks", project.remote, name)


def kept_out(project: Project, *refspecs: str) -> Answer:
    """The server refuses the push and is as it was."""
    with on_guard(project):
        before = state(project.remote)
        done = push(project, *refspecs)
        assert done.status == 1, done.err
        assert state(project.remote) == before
        sound(project.remote)
    assert "(pre-receive hook declined)" in done.err
    return done


def push_refused(
    project: Project, status: str, *reasons: str, refspec: str = f"HEAD:{MAIN}"
) -> None:
    """The local name of what is pushed tells a client, and no server, which instance is meant:
    where it calls the move something else, its reasons are others too."""
    said = kept_out(project, refspec).err
    refusal = f"git-gate: {refspec.rpartition(':')[2]} may not move: "
    assert refusal in said, said
    for reason in reasons if refusal + status in said else ():
        assert reason in said, said


def all_refused(project: Project, *refused: tuple[str, str, str]) -> None:
    said = kept_out(project, *(refspec for refspec, _, _ in refused)).err
    for refspec, _, reason in refused:
        assert f"git-gate: {refspec.rpartition(':')[2]} may not move: " in said, said
        assert reason in said, (refspec, said)


def push_lands(project: Project, refspec: str = f"HEAD:{MAIN}") -> None:
    source, _, ref = refspec.rpartition(":")
    with on_guard(project):
        done = push(project, refspec)
        assert done.status == 0, done.err
        sound(project.remote)
    wanted = project.rev(f"{source.removeprefix('+') or 'HEAD'}^{{commit}}")
    assert at(project.remote, "rev-parse", f"{ref}^{{commit}}") == wanted


def blocked(
    asked: Callable[..., Any], project: Project, status: str, *reasons: str, **how: Any
) -> Any:
    """As `check` says of a move, so the server does with it."""
    found = asked(project, status, *reasons, **how)
    ref, moves = how.get("ref", MAIN), how.get("moves", "origin/main..HEAD")
    new = project.rev(f"{moves.partition('..')[2]}^{{commit}}" if moves else "HEAD")
    if new != at(project.remote, "for-each-ref", "--format=%(objectname)", ref):
        said = kept_out(project, f"{new}:{ref}").err
        assert f"git-gate: {ref} may not move: " in said, said
    return found


@pytest.mark.parametrize(("module", "attack"), attacks())
def test_the_attack_as_a_push(
    module: ModuleType,
    attack: Callable[..., None],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for ours in (push_refused, all_refused, push_lands):
        monkeypatch.setattr(module, ours.__name__, ours, raising=False)
    monkeypatch.setattr(
        module, "blocked", lambda *a, **k: blocked(forger.blocked, *a, **k), raising=False
    )
    attack(**{name: request.getfixturevalue(name) for name in inspect.signature(attack).parameters})
