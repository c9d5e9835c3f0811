"""Drawing the digest of a verified ledger, and what state its newest life is in."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from gitgate.app.gather.policies import PolicyCommit
from gitgate.core import decision as codec
from gitgate.core import ids
from gitgate.core.decision import Action
from gitgate.core.digest import (
    CONSENT,
    CONSENTED,
    ENDED,
    MAX_TOUCHES,
    NONE,
    REJECTED,
    UNKNOWN,
    WAITS,
    Asked,
    Digest,
    Touch,
    Waits,
    added_lines,
    format_asked,
    is_sound,
)
from gitgate.core.events import EventName
from gitgate.core.merging import Value, parents
from gitgate.core.policy import Gate
from gitgate.core.request import Kind, Request
from gitgate.errors import GateError
from gitgate.git.ledger import Ledger

if TYPE_CHECKING:
    from gitgate.app.gather.instances import Loaded
    from gitgate.app.gather.world import World

_MOST_READ, _LARGEST_READ = 50, 1 << 20

_MARKS = {Action.REJECT: REJECTED, Action.APPROVE: CONSENT, Action.SKIP: CONSENT}

# Records of these actions end no life, whoever signed them; the text may hold such lines too.
_ENDS_NOTHING = frozenset(action.encode() for action in (*_MARKS, Action.RETRACT))
_ACTION = re.compile(rb"^Action: ([^\n]*)", re.MULTILINE)


def digest(world: World, ledger: Ledger, journal: str = NONE) -> Digest | None:
    """The digest of a ledger, its state not known yet; None where it does not verify."""
    if ledger.tip is None or ledger.faults:
        return None
    records: list[str] = []
    marks: dict[str, set[str]] = {one: set() for one in ledger.requests}
    for record, request, action in _records(ledger):
        records.append(record)
        marks[request].add(_MARKS.get(action, ""))
    asked = [_asked(world, ledger, one, marks[one.id]) for one in ledger.requests.values()]
    found = Digest(
        ledger.ref.removeprefix(ids.GATES),
        ledger.subject,
        journal,
        ledger.tip,
        UNKNOWN + (REJECTED if any(REJECTED in one for one in marks.values()) else NONE),
        records=",".join(dict.fromkeys(records)) or NONE,
        asked="\t".join(map(format_asked, asked)),
    )
    return found if is_sound(found) else None


def settled(
    loaded: Loaded, found: Digest, policy: PolicyCommit, place_of: Callable[[Request], int | None]
) -> Digest:
    """The digest with the state that the fold gave; unchanged where that may come out otherwise
    tomorrow. `place_of` gives the number of the place where a request has landed."""
    instance = loaded.instance
    life = instance.life
    if life is None or loaded.ledger.tip != found.tip:
        return found
    landed: list[str] = []
    for event in loaded.ledger.events:
        if event.name is not EventName.LANDED:
            continue
        request = loaded.ledger.requests.get(event.request or "")
        ended = any(one.last is event for one in instance.lives)
        number = place_of(request) if ended and request is not None else None
        if number is None:
            return found
        landed.append(f"{number}:{event.fields['new']}")
    newest = life.iterations[-1].request if life.iterations else None
    consented = any(one.id == newest and CONSENT in one.marks for one in found.requests())
    state = ENDED if life.ended else CONSENTED if consented else WAITS
    waits = _waits(loaded) if state == WAITS else None
    return found._replace(
        state=state + found.state[1],
        latest=newest or NONE,
        people=people_key(policy) if _rests_on_people(loaded.ledger) else NONE,
        landed=",".join(landed) or NONE,
        waits=str(waits or NONE),
    )


def _waits(loaded: Loaded) -> Waits | None:
    """What a list says of the newest request, where no event but its opening and no record is
    about it, good or not."""
    life, iteration, request = loaded.instance.life, loaded.instance.newest, loaded.newest
    if life is None or iteration is None or request is None or request.kind is not Kind.APPROVAL:
        return None
    if iteration.expired or any(r.decision.request == request.id for r in loaded.records):
        return None
    return Waits(iteration.number, life.first.at, request.opened.time)


def people_key(policy: PolicyCommit) -> str:
    """A mark of the policy, its people and their addresses together."""
    told = hashlib.sha1(usedforsecurity=False)
    for data in policy.key:
        told.update(b"%d\0" % len(data) + data)
    return told.hexdigest()[:16]


def compared_key(policy: PolicyCommit, gate: Gate, target: str, on_policy_ref: bool) -> str:
    """A mark of all that says which paths `gate` compares on `target` (core.compared)."""
    phases = policy.policy.phases
    told = (
        gate.id,
        gate.guards_ref(target),
        gate.when,
        gate.transition is not None and phases is not None and (phases.file, gate.deliverables),
        on_policy_ref and policy.policy.policy_gate in (None, gate.id),
    )
    return hashlib.sha1(repr(told).encode(), usedforsecurity=False).hexdigest()[:16]


def _records(ledger: Ledger) -> Iterator[tuple[str, str, Action]]:
    """The well-formed records: id, request and action of each; who signed them is not asked."""
    tag = ids.tag_name(ledger.gate, ledger.subject)
    for event in ledger.events:
        raw = ledger.records.get(event.record) if event.record else None
        if raw is None or event.request is None:
            continue
        try:
            record = codec.parse(raw, tag=tag, request=event.request)
        except codec.Defect:
            continue
        yield record.id, event.request, record.decision.action


def _rests_on_people(ledger: Ledger) -> bool:
    """Whether it may take the signers to say which lives have ended."""
    said = (one for raw in ledger.records.values() for one in _ACTION.findall(raw))
    if not _ENDS_NOTHING.issuperset(said):
        return True
    names = {event.name for event in ledger.events}
    return {EventName.WITHDRAWN, EventName.DECIDED} <= names


def _asked(world: World, ledger: Ledger, request: Request, marks: Iterable[str]) -> Asked:
    base, work = ledger.trees[request.id]
    said = "".join(mark for mark in (REJECTED, CONSENT) if mark in marks)
    try:
        touches = _touches(world, base, work, rejected=REJECTED in said)
    except GateError:
        touches = None
    return Asked(request.id, request.target, request.tip, request.work, base, work, said, touches)


def _touches(world: World, base: str, work: str, *, rejected: bool) -> tuple[Touch, ...] | None:
    changes = world.trees.changes(base, work)
    if len(changes) > MAX_TOUCHES:
        return None
    if not rejected:
        return tuple(Touch("P", path) for path in sorted(changes))
    found: list[Touch] = []
    for path, (old, new) in sorted(changes.items()):
        if new is None:
            found.append(Touch("D", path, value_text(old)))
            continue
        lines = _added_lines(world, old, new) if len(changes) <= _MOST_READ else frozenset()
        kind, value = ("A", value_text(new)) if old is None else ("M", "")
        found.append(Touch(kind, path, value, lines))
    added = [path for path, (old, _) in changes.items() if old is None]
    removed = [path for path, (_, new) in changes.items() if new is None]
    near = {
        next((up for up in parents(path) if world.trees.folder(base, up)), b"") for path in added
    }
    found += [Touch("F", folder) for folder in sorted(near - {b""})]
    gone = {up for path in removed for up in parents(path) if not world.trees.folder(work, up)}
    topmost = {folder for folder in gone if gone.isdisjoint(parents(folder))}
    found += [Touch("C", folder, node_text(world, base, folder)) for folder in sorted(topmost)]
    return tuple(found)


def _added_lines(world: World, old: Value, new: Value) -> frozenset[str]:
    before = content(world, old) if old is not None else b""
    after = content(world, new)
    return frozenset() if before is None or after is None else added_lines(before, after)


def content(world: World, value: Value) -> bytes | None:
    """What a small regular file holds; None for a large one, and for what is none."""
    if value is None or not value.regular:
        return None
    return world.repo.read_small(value.oid, _LARGEST_READ)


def value_text(value: Value) -> str:
    """A file of a tree as a digest has it; "" for none."""
    return f"{value.mode:o}:{value.oid}" if value is not None else ""


def node_text(world: World, tree: str, path: bytes) -> str:
    """Whatever is at a path of a tree, folders too, in the same form."""
    found = world.repo.entry(tree, path)
    return f"{found[0]:o}:{found[1]}" if found else ""
