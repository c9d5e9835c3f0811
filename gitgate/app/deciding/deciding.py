"""A person decides: approve, reject, skip, quit, retract.

Nothing that can run without a person imports this module: an agent's interface must not reach it.
"""

from __future__ import annotations

import base64
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gitgate.app.asking.deliverables import misnamed
from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.landed import elsewhere
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.recording import append
from gitgate.app.gather.world import World
from gitgate.app.judging.vetoes import standing
from gitgate.core import decision as codec
from gitgate.core import ids
from gitgate.core.armor import Format
from gitgate.core.decision import Action, Comment, Decision, Record, Reviewed, Via
from gitgate.core.events import Event, EventName
from gitgate.core.gate import Status
from gitgate.core.person import Stamp
from gitgate.core.request import Request
from gitgate.core.trust import SignatureStatus, Verification
from gitgate.core.verdict import Count, Judged, Veto, effective
from gitgate.errors import Exit, GateError
from gitgate.git import notes
from gitgate.git.ledger import Draft, Ledger
from gitgate.signing.sign import SigningKey, public_key, signer

_LONGEST_ARMOR = 64 << 10
"""Bytes of a signature; the largest keys and certificate chains take a tenth of it."""


@dataclass(frozen=True, slots=True)
class Word:
    """What the person says. `expect` is the work commit that they looked at, or its beginning, and
    `key` in words the key that they were shown."""

    action: Action
    message: str = ""
    expect: str | None = None
    key: str | None = None
    iteration: int | None = None
    via: Via = Via.TERMINAL
    time_spent: int | None = None
    reviewed: tuple[Reviewed, ...] = ()
    comments: tuple[Comment, ...] = ()


@dataclass(frozen=True, slots=True)
class Decided:
    """The instance after the decision, the stored record, and whether and why it counts.

    `noted` is false where the copy in the notes could not be written; the ledger has the record.
    """

    loaded: Loaded
    request: Request
    record: Record
    count: Count
    signed_with: str
    noted: bool
    vetoes: tuple[Veto, ...]


def decide(world: World, policy: PolicyCommit, gate: str, subject: str, word: Word) -> Decided:
    """Sign `word` on the request in force and store it.

    Raises GateError where there is nothing to decide (not opened), the work is not what was
    expected (stale), the instance is untrusted, or an approval, skip or quit could not count
    (blocked): then nothing is signed or stored.
    """
    loaded = world.load(policy, gate, subject)
    request = _asked(loaded, word)
    if word.action in (Action.APPROVE, Action.SKIP):
        _refuse_deceiving(world, policy, loaded, request)
    decision = _decision(world, loaded, request, word)
    key = signer(world.repo.config, where=world.repo.work_tree)
    if word.key not in (None, key.describe):
        raise _another_key(f"{word.key} was shown, and {key.describe} would sign")
    person = person_of_key(world, policy, key)
    if word.iteration is not None and person is not None:
        request = _own(loaded, word.iteration, person) or request
        decision = replace(decision, request=request.id, reviewed=_reviewed(request, word))
    if person is not None:
        foreseen = Verification(SignatureStatus.GOOD, person, touch=True)
        _refuse_vain(world, policy, loaded, Judged("", b"", decision, foreseen))
    payload = _payload(decision)
    record = codec.parse(codec.assemble(payload, key.sign(payload)))
    judged = world.judged(policy, record)
    if person is not None and judged.person not in (None, person):
        raise _another_key(f"{key.describe} was one of {person}, and {judged.person} has signed")
    count = _refuse_vain(world, policy, loaded, judged)
    _store(world, policy, loaded, request, record)
    noted = _note(world, request, record)
    after = world.reload(policy, gate, subject)
    elsewhere = standing(world, policy, request) if word.action is Action.APPROVE else ()
    return Decided(after, request, record, count, key.describe, noted, elsewhere)


def _another_key(how: str) -> GateError:
    return GateError(
        Exit.BLOCKED,
        f"the key changed meanwhile: {how}",
        "git config --show-origin user.signingKey",
    )


def _asked(loaded: Loaded, word: Word) -> Request:
    """The request that the word is about: the newest, or for a retraction the iteration named."""
    loaded.check_trusted()
    about = f"{loaded.gate} --subject {shlex.quote(loaded.subject)}"
    life = loaded.instance.life
    if life is None:
        raise GateError(
            Exit.NOT_OPENED, f"{loaded.name} was never opened", f"git gate open {about}"
        )
    if life.ended and word.action is not Action.RETRACT:
        raise GateError(
            Exit.NOT_OPENED,
            f"{loaded.name} is {life.status}: there is nothing to decide",
            f"git gate open {about}",
        )
    rounds = [
        iteration
        for one in (loaded.instance.lives if word.iteration else (life,))
        for iteration in one.iterations
        if word.iteration in (None, iteration.number)
    ]
    if not rounds:
        raise GateError(
            Exit.NOT_OPENED,
            f"{loaded.name} has no iteration {word.iteration}",
            f"git gate log {about}",
        )
    request = loaded.ledger.requests[rounds[-1].request]
    if word.expect is not None and not _is_prefix(word.expect, request.work):
        raise GateError(
            Exit.STALE,
            f"the work commit of {loaded.name} is {request.work[:12]}, not {word.expect[:12]}",
            f"git gate show {about}",
        )
    return request


def _own(loaded: Loaded, number: int, person: str) -> Request | None:
    """The request with this number that the person's word stands on, the newest that they rejected
    first: a rejection blocks the same content in later lives too, until it is taken back."""
    good = [record for record in loaded.records if record.good]
    asked = [
        iteration.request
        for life in reversed(loaded.instance.lives)
        for iteration in life.iterations
        if iteration.number == number
    ]
    words = {one: effective(good, one).get(person) for one in asked}
    said = {one: word.decision.action for one, word in words.items() if word is not None}
    rejected = [one for one, action in said.items() if action is Action.REJECT]
    stands = [one for one, action in said.items() if action is not Action.RETRACT]
    found = next(iter(rejected or stands), None)
    return loaded.ledger.requests[found] if found is not None else None


def _payload(decision: Decision) -> bytes:
    """What is signed; GateError (usage) where no record can hold it."""
    try:
        payload = codec.payload(decision)
    except codec.Defect as defect:
        raise GateError(Exit.USAGE, f"this cannot be recorded: {defect}") from None
    if len(payload) > codec.MAX_RECORD - _LONGEST_ARMOR:
        raise GateError(
            Exit.USAGE,
            f"your words are too long: a record has at most {codec.MAX_RECORD >> 20} MiB",
            "shorten them, or commit them to a branch and name that",
        )
    return payload


def _refuse_deceiving(world: World, policy: PolicyCommit, loaded: Loaded, request: Request) -> None:
    """Nothing is signed that could only authorise a landing somewhere else, or that its opener
    shows as other than it is."""
    _, tip = world.target_tip(request.target)
    foreign = elsewhere(world, request, [tip]) if tip else ""
    if foreign or (wrong := misnamed(world, policy, request)):
        raise GateError(
            Exit.BLOCKED,
            f"{loaded.name} {foreign}" if foreign else f"{loaded.name}: {wrong}",
            f"git gate open {loaded.gate} --subject {shlex.quote(loaded.subject)}",
        )


def _is_prefix(given: str, oid: str) -> bool:
    return len(given) >= 7 and oid.startswith(given.lower())


def _decision(world: World, loaded: Loaded, request: Request, word: Word) -> Decision:
    try:
        message = codec.normalise(word.message)
    except ValueError as error:
        why = "they are not valid UTF-8" if isinstance(error, UnicodeError) else str(error)
        raise GateError(Exit.USAGE, f"your words cannot be recorded: {why}") from None
    stamp = world.repo.identity()
    return Decision(
        request=request.id,
        tag=ids.tag_name(loaded.gate, loaded.subject),
        tagger=Stamp(stamp.person, world.now, stamp.offset),
        action=word.action,
        title=codec.title_of(word.action, loaded.gate, loaded.subject),
        message=message,
        via=word.via,
        time_spent=word.time_spent,
        reviewed=_reviewed(request, word),
        comments=word.comments,
        previous=_heads(loaded.records),
    )


def _reviewed(request: Request, word: Word) -> tuple[Reviewed, ...]:
    given = {one.path: one for one in word.reviewed}
    return tuple(given.get(item.path, Reviewed(item.path)) for item in request.deliverables)


def _heads(records: Sequence[Judged]) -> tuple[str, ...]:
    """The records that no other record names, in order of their ids; junk is not among them."""
    good = [record for record in records if record.good]
    named = {one for record in good for one in record.decision.previous}
    return tuple(sorted(record.id for record in good if record.id not in named))


def _refuse_vain(world: World, policy: PolicyCommit, loaded: Loaded, judged: Judged) -> Count:
    """The count of a record once it is stored; GateError where it would be signed in vain.

    A rejection is recorded all the same where it is only advisory.
    """
    action = judged.decision.action
    request = loaded.ledger.requests[judged.decision.request]
    count = world.judge(policy, loaded, request, (*loaded.records, judged)).count_of(judged.id)
    if not judged.good:
        raise GateError(
            Exit.BLOCKED,
            f"your signature would not count: {count.reason}",
            "git gate doctor",
        )
    own = any(
        record.person == judged.person and record.decision.request == request.id
        for record in loaded.records
    )
    if action is Action.RETRACT and not own:
        raise GateError(
            Exit.BLOCKED,
            f"{judged.person} has not decided this request, so there is nothing to take back",
            f"git gate log {loaded.gate} --subject {shlex.quote(loaded.subject)}",
        )
    if action in (Action.APPROVE, Action.SKIP, Action.QUIT) and not count.counts:
        raise GateError(
            Exit.BLOCKED,
            f"your {action} would not count: {count.reason}",
            f"git gate show {loaded.gate} --subject {shlex.quote(loaded.subject)}",
        )
    return count


def _store(
    world: World, policy: PolicyCommit, loaded: Loaded, request: Request, record: Record
) -> None:
    decision = record.decision
    event = Event(
        "",
        0,
        EventName.DECIDED,
        decision.tagger.time,
        decision.tagger.person,
        request.id,
        record.id,
    )
    seen = loaded.instance.newest

    def draft(ledger: Ledger) -> Draft:
        instance = world.fold_of(policy, ledger)
        found = instance.find(request.id)
        newest = instance.newest
        moved = newest is None or seen is None or newest.request != seen.request
        if found is None or (moved and decision.action is not Action.RETRACT):
            raise GateError(
                Exit.STALE,
                f"a new iteration of {loaded.name} arrived: nothing was recorded",
                f"git gate show {loaded.gate} --subject {shlex.quote(loaded.subject)}",
            )
        if instance.running is None and decision.action is not Action.RETRACT:
            raise GateError(
                Exit.NOT_OPENED,
                f"{loaded.name} has ended meanwhile: nothing was recorded",
                f"git gate log {loaded.gate} --subject {shlex.quote(loaded.subject)}",
            )
        status = _STATUS[decision.action].value
        return Draft(event, found[1].number, status, record=record.raw)

    append(world, policy, loaded.gate, loaded.subject, draft, stamp=decision.tagger)


# What the ledger commit's summary says of a life after a decision; a summary, never the verdict.
_STATUS = {
    Action.APPROVE: Status.APPROVED,
    Action.REJECT: Status.REJECTED,
    Action.SKIP: Status.SKIPPED,
    Action.QUIT: Status.WITHDRAWN,
    Action.RETRACT: Status.OPEN,
}


def _note(world: World, request: Request, record: Record) -> bool:
    """Copy the record to the note of the work commit; whether it is there afterwards."""
    try:
        notes.add(world.repo, request.work, record.raw)
    except GateError:
        return False
    return record.raw.strip() in notes.read(world.repo, request.work)


def person_of_key(world: World, policy: PolicyCommit, key: SigningKey) -> str | None:
    """The listed person whose public key will sign, where that can be told before signing.

    Raises GateError (blocked) for an SSH key that the policy commit does not list.
    """
    if key.format is not Format.SSH:
        return None
    line = public_key(world.repo.config, where=world.repo.work_tree)
    entries = policy.signers.listing(base64.b64decode(line.split()[1]))
    people = {policy.signers.person(entry) for entry in entries}
    if not people:
        raise GateError(
            Exit.BLOCKED,
            f"your signature would not count: {key.describe} is not listed in"
            f" .aiwg/allowed_signers of the policy commit {policy.commit[:12]}",
            "git gate init says how to get listed",
        )
    return people.pop() if len(people) == 1 else None
