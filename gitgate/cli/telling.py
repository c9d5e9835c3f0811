"""After a write: the derived files, and whoever wants to know. None of it changes the outcome."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from gitgate.core.events import EventName
from gitgate.errors import GateError

if TYPE_CHECKING:
    from gitgate.app.recording import Written
    from gitgate.app.world import World

_LOGGED = (EventName.DECIDED, EventName.EXPIRED)


def told(world: World) -> list[str]:
    """Log and tell what `world` has written; what did not work, each once, as sentences."""
    from gitgate.app import notifying
    from gitgate.ui.sanitise import safe

    failed: dict[str, None] = {}
    for written in world.written:
        failed.update(dict.fromkeys(_tried("logged", _log, world, written)))
        tell = partial(notifying.tell, clean=safe)
        failed.update(dict.fromkeys(_tried("told", tell, world, written)))
    world.written.clear()
    return [safe(one) for one in failed]


def _log(world: World, written: Written) -> list[str]:
    from gitgate.app.derived import note_decision

    if written.event.name not in _LOGGED:
        return []
    loaded = world.load(written.policy, written.gate, written.subject)
    return note_decision(world, written.policy, loaded, written.event)


def _tried(
    done: str, step: Callable[[World, Written], list[str]], world: World, written: Written
) -> list[str]:
    try:
        return step(world, written)
    except GateError as error:
        why = error.message
    except KeyboardInterrupt:
        why = "you interrupted it, and what was recorded stands"
    except Exception as error:  # what is written stands, whatever is wrong here
        why = f"{type(error).__name__}: {error}"
    return [f"{written.event.name} of {written.gate} for {written.subject} was not {done}: {why}"]
