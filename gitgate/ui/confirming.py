"""What a person reads before they write their words, and before they sign."""

from __future__ import annotations

from collections.abc import Iterator

from gitgate.core.decision import Action
from gitgate.ui.paint import Line
from gitgate.ui.sanitise import safe
from gitgate.ui.sections import counted
from gitgate.ui.state import Seat, State

_SHOWN = 5

_ASKS = {
    Action.APPROVE: "Your comment:",
    Action.REJECT: "Your feedback, which the asking side is given:",
    Action.SKIP: "The reason, which stays on record:",
    Action.QUIT: "Why (may be left out):",
}
_SKIPPING = "Skipping lets it land without approval, and stays on record as that."
_QUITTING = (
    "Quitting ends this instance: the work cannot land by it any more, and needs a new one."
    " To leave without deciding anything, press x."
)


def words_for(state: State) -> list[Line]:
    """What is asked where the words of an action are typed."""
    if state.action is None or state.seat is None:
        return []
    lines: list[Line] = [((_title(state, state.seat), "title"),)]
    if state.action is Action.SKIP:
        lines.append(((_SKIPPING, "warning"),))
        lines += _unfinished(state.seat)
    return [*lines, ((_ASKS[state.action], "heading"),)]


def confirmation(state: State) -> Iterator[Line]:
    """What would be signed: the answer, the words, the object, the key."""
    seat, action = state.seat, state.action
    if seat is None or action is None:
        return
    yield ((_title(state, seat), "title"),)
    if action is Action.SKIP:
        yield ((_SKIPPING, "warning"),)
    if action is Action.QUIT:
        yield ((_QUITTING, "warning"),)
    if action in (Action.APPROVE, Action.SKIP):
        yield from _unfinished(seat)
    yield ()
    yield (("This will be signed:", "heading"),)
    yield from _fact("answer", action.value)
    yield from _fact("request", seat.doc["request"])
    yield from _fact("work", seat.doc["work"])
    if seat.signer:
        yield from _fact("with", seat.signer)
    if seat.person:
        yield from _fact("as", seat.person)
    yield from _fact("words", state.said.strip() or "(none)")
    for remark in state.remarks:
        yield from _fact("comment", f"{remark.path}:{remark.line}: {remark.text}")
    yield from _fact("viewed", _viewed(seat))
    yield (("  and the time that you spent here", ""),)
    if seat.obstacle:
        yield ()
        yield ((safe(seat.obstacle), "error"),)


def _title(state: State, seat: Seat) -> str:
    doc = seat.doc
    word = (state.action or Action.QUIT).value.capitalize()
    return (
        f"{word}: {safe(doc['title'] or doc['gate'])} ({safe(doc['gate'])}) of"
        f" {safe(doc['subject'])}, iteration {doc['iteration']}"
    )


def _unfinished(seat: Seat) -> Iterator[Line]:
    context = seat.doc["context"]
    for number, thing, slot in (
        (context["validation_errors"], "validation error", "error"),
        (context["warnings"], "warning", "warning"),
    ):
        if number:
            stand = "stands" if number == 1 else "stand"
            yield ((f"{counted(number, thing)} {stand} in it.", slot),)


def _fact(name: str, text: str) -> Iterator[Line]:
    first, *rest = safe(text, multiline=True).split("\n")
    yield ((f"  {name}: ", "dim"), (first, ""))
    yield from (((f"    {line}", ""),) for line in rest)


def _viewed(seat: Seat) -> str:
    total = len(seat.artifacts)
    unseen = [one.path for one in seat.artifacts if one.seen != "viewed"]
    if not unseen:
        return f"{total} of {counted(total, 'artifact')}"
    names = ", ".join(unseen[:_SHOWN])
    more = f" and {len(unseen) - _SHOWN} more" if len(unseen) > _SHOWN else ""
    return f"{total - len(unseen)} of {counted(total, 'artifact')}; not {names}{more}"
