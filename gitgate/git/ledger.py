"""Ledgers: read whole and verified, appended to by one compare-and-swap, listed by their tips."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from gitgate.core import events, ids
from gitgate.core.events import Event, Summary
from gitgate.core.person import Stamp
from gitgate.core.request import Request
from gitgate.errors import Exit, GateError
from gitgate.git import chain, refs
from gitgate.git.chain import BRINGS_REQUEST, MAX_EVENTS, Ledger, object_id
from gitgate.git.repository import Repository
from gitgate.git.requests import nested, write_request
from gitgate.git.trees import DIRECTORY, REGULAR

__all__ = [
    "Draft",
    "Instance",
    "Ledger",
    "append",
    "extended",
    "instance",
    "listing",
    "read",
    "subject_of",
    "write_request",
    "write_root",
]

RETRIES = 100
"""How often `append` tries again after it lost a race."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.5
_REMEMBERED = 8

# Faultless ledgers that were read, by ref and tip: what follows them is all that is read again.
_known: WeakKeyDictionary[Repository, dict[str, dict[str, Ledger]]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be appended: an event without id and number, and what comes with it.

    `request` is stored first where it has no id yet, and the event is made to name it. `record`
    is the signed record of a decision, `data` the contents of its files in the order of its `Data`
    trailers. `iteration` and `status` are the summary for lists.
    """

    event: Event
    iteration: int
    status: str
    request: Request | None = None
    record: bytes | None = None
    data: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Instance:
    """A line of a list: what the newest commit of a ledger says, which no verdict relies on.

    `summary` is None where it cannot be read, and `fault` says why.
    """

    ref: str
    tip: str
    summary: Summary | None
    fault: str = ""


def read(repo: Repository, gate: str, subject: str, tip: str | None = None) -> Ledger:
    """The ledger of an instance, verified whole; with `tip` the one that ends there.

    What is wrong with it is in `faults`: a missing or altered object is no exception here.
    """
    ref = ids.ledger_ref(gate, subject)
    tip = tip or refs.read(repo, ref)
    if tip is None:
        return Ledger(gate, subject, ref)
    known = _known.setdefault(repo, {}).setdefault(ref, {})
    if tip in known:
        return known[tip]
    ledger = chain.verify(repo, gate, subject, tip, known)
    if not ledger.faults:
        known[tip] = ledger
        if len(known) > _REMEMBERED:
            del known[next(iter(known))]
    return ledger


def append(
    repo: Repository,
    gate: str,
    subject: str,
    decide: Callable[[Ledger], Draft | None],
    *,
    stamp: Stamp,
    retries: int = RETRIES,
) -> Ledger:
    """Append the event that `decide` drafts from the ledger as it is now; the ledger after it.

    Objects first, then one compare-and-swap; after a lost race the ledger is read and `decide`
    asked again. It is to give None where there is nothing to write (any more). `stamp` is author
    and committer.

    Raises GateError: untrusted where the ledger is faulty, LostRace after `retries` lost races,
    and what `refs.compare_and_swap` raises. ValueError for an event that has no stored form.
    """
    ref = ids.ledger_ref(gate, subject)
    for attempt in range(retries + 1):
        ledger = read(repo, gate, subject)
        _check_sound(ledger)
        draft = decide(ledger)
        if draft is None:
            return ledger
        after = extended(repo, ledger, draft, stamp)
        try:
            refs.compare_and_swap(
                repo, ref, str(after.tip), ledger.tip, f"gate: {draft.event.name}"
            )
        except refs.LostRace:
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
            time.sleep(random.uniform(0, pause))  # noqa: S311 - jitter, no secret
        else:
            return after
    raise refs.LostRace(ref)


def extended(repo: Repository, ledger: Ledger, draft: Draft, stamp: Stamp) -> Ledger:
    """The ledger with one event more, stored as objects; no ref moves.

    Raises GateError (untrusted) where it does not verify then, and what `append` raises.
    """
    after = read(repo, ledger.gate, ledger.subject, _write(repo, ledger, draft, stamp))
    _check_sound(after)
    return after


def _check_sound(ledger: Ledger) -> None:
    if ledger.faults:
        raise GateError(
            Exit.UNTRUSTED,
            f"nothing can be added to {ledger.ref}: {ledger.faults[0]}",
            "git gate repair",
        )


def _write(repo: Repository, ledger: Ledger, draft: Draft, stamp: Stamp) -> str:
    number = len(ledger.events) + 1
    if number > MAX_EVENTS:
        raise GateError(
            Exit.FATAL, f"{ledger.ref} is full: it has {MAX_EVENTS} events", "use another subject"
        )
    event = _completed(repo, draft)
    parent = ledger.tip or write_root(repo, ledger.gate, ledger.subject)
    path = (b".aiwg", b"gates", ledger.gate.encode())
    before = repo.entry(repo.commit(parent).tree, b"/".join(path))
    files = dict(repo.children(before[1])) if before else {}
    files.update(_write_files(repo, number, event, draft))
    tree = nested(repo, path, repo.write_tree(files))
    brought = event.request if event.name in BRINGS_REQUEST else None
    newest = brought or (ledger.newest.id if ledger.newest else None)
    summary = Summary(
        ledger.gate, ledger.subject, event.name, number, draft.iteration, draft.status, newest
    )
    parents = (parent, brought) if brought else (parent,)
    return repo.write_commit(tree, parents, stamp, stamp, events.summary_message(summary))


def _completed(repo: Repository, draft: Draft) -> Event:
    """The event with the ids of what comes with it."""
    event = draft.event
    if draft.request:
        request = draft.request if draft.request.id else write_request(repo, draft.request)
        event = replace(event, request=request.id)
    if draft.record is not None:
        event = replace(event, record=object_id("tag", draft.record))
    return event


def write_root(repo: Repository, gate: str, subject: str) -> str:
    """Store the commit that every ledger of this instance begins with; no ref moves."""
    stamp = events.ROOT_STAMP
    message = events.root_message(gate, subject)
    return repo.write_commit(repo.write_tree({}), (), stamp, stamp, message)


def _write_files(
    repo: Repository, number: int, event: Event, draft: Draft
) -> dict[bytes, tuple[int, str]]:
    files = {events.file_name(number, event.name): _file(repo, events.body(event))}
    if draft.record is not None:
        files[events.record_name(number)] = _file(repo, draft.record)
    if draft.data:
        beside = {b"%d" % n: _file(repo, data) for n, data in enumerate(draft.data, 1)}
        files[events.data_folder(number)] = (DIRECTORY, repo.write_tree(beside))
    return files


def _file(repo: Repository, data: bytes) -> tuple[int, str]:
    return REGULAR, repo.write_blob(data)


def listing(repo: Repository) -> list[Instance]:
    """All instances that have a ledger ref here, by what their newest commits say."""
    return [instance(repo, ref, tip) for ref, tip in refs.listing(repo, ids.GATES).items()]


def instance(repo: Repository, ref: str, tip: str) -> Instance:
    """The line of a list for the ledger of `ref` that ends in `tip`."""
    try:
        summary = events.parse_summary(repo.commit(tip).message)
    except GateError as error:
        return Instance(ref, tip, None, f"{ref}: {error.message}")
    except ValueError as error:
        return Instance(ref, tip, None, f"{ref}: its newest commit {tip} cannot be read: {error}")
    if ids.ledger_ref(summary.gate, summary.subject) != ref:
        other = f"{summary.gate} of {summary.subject}"
        return Instance(ref, tip, None, f"{ref}: its newest commit {tip} is about {other}")
    return Instance(ref, tip, summary)


def subject_of(repo: Repository, listed: Instance) -> str | None:
    """The subject of an instance: what its newest commit says, else its ref's own name, else, for
    a long one, its first commit. None where nothing says it."""
    if listed.summary is not None:
        return listed.summary.subject
    gate, _, name = listed.ref.removeprefix(ids.GATES).partition("/")
    if not ids.is_gate(gate):
        return None
    return ids.decode_subject(name) or _named_by_root(repo, listed, gate)


def _named_by_root(repo: Repository, listed: Instance, gate: str) -> str | None:
    try:
        chain = repo.first_parents(listed.tip) or []
        said, _, subject = chain[-1].message.removesuffix("\n").partition(": ")
        ids.check_subject(subject)
    except (GateError, IndexError):
        return None
    named = said == f"gate {gate}" and ids.ledger_ref(gate, subject) == listed.ref
    return subject if named else None
