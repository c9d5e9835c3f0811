"""After a write: the derived files, and whoever wants to know. None of it changes the outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from gitgate.core.events import EventName
from gitgate.errors import GateError

if TYPE_CHECKING:
    from gitgate.app.gather.recording import Written
    from gitgate.app.gather.world import World

_LOGGED = (EventName.DECIDED, EventName.EXPIRED)


def told(world: World) -> list[str]:
    """Log and tell what `world` has written; what did not work, each once, as sentences."""
    from gitgate.app.telling import notifying
    from gitgate.ui.sanitise import safe

    done, reminders = list(world.written), list(world.reminders)
    tried = [_tried("logged", one, partial(_log, world, one)) for one in done]
    if done:
        tried.append(_tried("sent", done[-1], partial(_share, world, done)))
    tried += [_tried("told", one, partial(notifying.tell, world, one, safe)) for one in done]
    for reminder in reminders:
        remind = partial(notifying.remind, world, reminder, safe)
        tried.append(_tried("told", reminder.opening, remind))
    world.written.clear()
    world.reminders.clear()
    return [safe(one) for one in dict.fromkeys(chain.from_iterable(tried))]


def _log(world: World, written: Written) -> list[str]:
    from gitgate.app.telling.derived import note_decision

    if written.event.name not in _LOGGED:
        return []
    loaded = world.load(written.policy, written.gate, written.subject)
    return note_decision(world, written.policy, loaded, written.event)


def _share(world: World, written: Sequence[Written]) -> list[str]:
    if not world.repo.flag("gate.autosync"):
        return []
    from gitgate.app.exchange.autosync import share

    return share(world, written)


def _tried(done: str, written: Written, step: Callable[[], list[str]]) -> list[str]:
    try:
        return step()
    except GateError as error:
        why = error.message
    except KeyboardInterrupt:
        why = "you interrupted it, and what was recorded stands"
    except Exception as error:  # what is written stands, whatever is wrong here
        why = f"{type(error).__name__}: {error}"
    return [f"{written.event.name} of {written.gate} for {written.subject} was not {done}: {why}"]
