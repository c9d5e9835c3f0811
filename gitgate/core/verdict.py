"""Who counts, and what their decisions make of a request (design, sections 4 and 5).

A pure function of policy, signers, request, records, authors and the time passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from gitgate.core.authors import Author, Authors, who_made_it
from gitgate.core.decision import Action, Decision
from gitgate.core.gate import Status
from gitgate.core.people import People
from gitgate.core.policy import Gate, Overdue, Presence, Rejections, UnknownAuthors
from gitgate.core.request import Request
from gitgate.core.trust import SignatureStatus, Verification

# Where one person's records stand unordered, the earlier in this list wins: the rejection first,
# then whatever takes consent away (design, section 3).
_STRICTEST = (Action.REJECT, Action.QUIT, Action.RETRACT, Action.SKIP, Action.APPROVE)


_JUNK = (SignatureStatus.BAD, SignatureStatus.UNKNOWN_KEY, SignatureStatus.UNSIGNED)


@dataclass(frozen=True, slots=True)
class Judged:
    """A record of an instance with what its verification said, in order of the ledger."""

    id: str
    payload: bytes
    decision: Decision
    verification: Verification

    @property
    def good(self) -> bool:
        return self.verification.status is SignatureStatus.GOOD

    @property
    def junk(self) -> bool:
        """No listed person's at all, at whatever time and with whatever programs."""
        return self.verification.status in _JUNK

    @property
    def person(self) -> str | None:
        return self.verification.principal if self.good else None


@dataclass(frozen=True, slots=True)
class Veto:
    """A standing rejection: who, of which request, and how people find it; `doubt` is why its
    signature cannot be verified here, where it cannot."""

    record: str
    person: str
    request: str
    gate: str
    subject: str
    iteration: int
    doubt: str = ""

    @property
    def said(self) -> str:
        """What it blocks, as a sentence without its end."""
        where = f"iteration {self.iteration} of {self.subject}" if self.iteration else self.subject
        if not self.doubt:
            return f"{self.person} rejected the same content as {where}"
        record = self.record[:12]
        return f"record {record} rejects the same content as {where}, not verified: {self.doubt}"


@dataclass(frozen=True, slots=True)
class Count:
    """Whether one record counts, and the sentence that says why not (or what it is)."""

    record: str
    counts: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one request's records make of it.

    `status` is open, parked, approved, rejected, skipped, expired or withdrawn. `reasons` say why
    it is not satisfied, `obstacles` are those that no further decision can remove, `waiting_for`
    is who may still approve, `vetoes` the records that block.
    """

    status: Status
    reasons: tuple[str, ...]
    obstacles: tuple[str, ...]
    counts: tuple[Count, ...]
    approved_by: tuple[str, ...]
    waiting_for: tuple[str, ...]
    vetoes: tuple[str, ...]
    quit: str | None
    deadline: int | None

    def count_of(self, record: str) -> Count:
        return next(count for count in self.counts if count.record == record)


def deadline_of(gate: Gate, opened: int) -> int | None:
    """When the time of a request that was opened then is up, in seconds since the epoch; None where
    it has no end."""
    return None if gate.deadline is None else opened + 60 * gate.deadline.minutes


def undecided(gate: Gate, opened: int, now: int) -> Status:
    """What a request is that nobody has decided."""
    deadline = deadline_of(gate, opened)
    if gate.deadline is None or deadline is None or now <= deadline:
        return Status.OPEN
    overdue = {Overdue.REJECT: Status.EXPIRED, Overdue.PARK: Status.PARKED}
    return overdue.get(gate.deadline.action, Status.OPEN)


def effective(
    records: Sequence[Judged], request: str, counts: Callable[[Judged], bool] = lambda _: True
) -> dict[str, Judged]:
    """Each person's own word on `request`: their newest record by the signed `Previous`.

    Where that does not order them the strictest wins, and of several equally strict ones one that
    `counts`, so that the order in which they came into the ledger says nothing. `records` are all
    good records of the instance, since the chain of `Previous` runs through other people's.
    """
    named = {record.id: record.decision.previous for record in records}
    words: dict[str, Judged] = {}
    for person in {record.person for record in records if record.person}:
        own = [r for r in records if r.person == person and r.decision.request == request]
        behind = {one for record in own for one in _ancestors(record.id, named)}
        # By what was signed: the same words under a second valid signature are the same record.
        settled = {record.payload for record in own if record.id in behind}
        newest = [record for record in own if record.payload not in settled]
        if newest:
            words[person] = min(
                newest, key=lambda r: (_strictness(r.decision.action), not counts(r), r.payload)
            )
    return words


def _strictness(action: Action) -> int:
    return _STRICTEST.index(action) if action in _STRICTEST else len(_STRICTEST)


def _ancestors(record: str, named: Mapping[str, tuple[str, ...]]) -> set[str]:
    found: set[str] = set()
    todo = list(named.get(record, ()))
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo.extend(named.get(one, ()))
    return found


def may_approve(people: People, gate: Gate) -> frozenset[str]:
    """The people whom the gate's `by` admits; everyone where it says nothing."""
    by = gate.approvals.by
    return people.everyone if by is None else people.named(by)


def may_skip(people: People, gate: Gate) -> frozenset[str]:
    """Who may skip the gate: nobody where it does not allow it."""
    if not gate.skip.allowed:
        return frozenset()
    return may_approve(people, gate) if gate.skip.by is None else people.named(gate.skip.by)


@dataclass(frozen=True, slots=True)
class _Rules:
    """What the gate's policy says of this request, worked out once."""

    gate: Gate
    voters: frozenset[str]
    skippers: frozenset[str]
    authors: Authors
    deadline: int | None
    opener: str | None

    @property
    def rejects_when_overdue(self) -> bool:
        return self.gate.deadline is not None and self.gate.deadline.action is Overdue.REJECT

    def late(self, decision: Decision) -> bool:
        overdue = self.deadline is not None and decision.tagger.time > self.deadline
        return overdue and self.rejects_when_overdue


def judge(
    people: People,
    gate: Gate,
    request: Request,
    records: Sequence[Judged],
    authors: Iterable[Author],
    now: int,
) -> Verdict:
    """What `records` make of `request` under the gate's policy at the time `now`.

    `records` are all records of the instance; `authors` all who had a hand in the work under
    review, over all iterations, the opener included.
    """
    rules = _Rules(
        gate,
        may_approve(people, gate),
        may_skip(people, gate),
        who_made_it(authors, people),
        deadline_of(gate, request.opened.time),
        people.person_of(request.opened.person.email),
    )
    good = [record for record in records if record.good]
    words = effective(good, request.id, lambda one: not _not_admitted(rules, one))
    counts = _count_all(rules, request, records, words)
    counted = {c.record for c in counts if c.counts}
    standing = {p: r for p, r in words.items() if r.id in counted}
    return _conclude(rules, standing, counts, undecided(gate, request.opened.time, now))


def _count_all(
    rules: _Rules, request: Request, records: Sequence[Judged], words: Mapping[str, Judged]
) -> tuple[Count, ...]:
    counts: list[Count] = []
    seen: set[tuple[str | None, bytes]] = set()
    for record in records:
        if record.decision.request != request.id:
            continue
        twin = (record.person, record.payload)
        if record.good and twin in seen:
            counts.append(Count(record.id, False, "the same decision was signed twice"))
            continue
        seen.add(twin)
        reason = _why_not(rules, record, words)
        counts.append(Count(record.id, not reason, reason))
    return tuple(counts)


def _why_not(rules: _Rules, record: Judged, words: Mapping[str, Judged]) -> str:
    """Why a record does not count; empty where it does."""
    person = record.person
    if person is None:
        return record.verification.reason
    word = words.get(person)
    if word is not record:
        back = word is not None and word.decision.action is Action.RETRACT
        return f"{person} took it back" if back else f"{person} has decided again since"
    return _not_admitted(rules, record)


def _not_admitted(rules: _Rules, record: Judged) -> str:
    """Why a good record would not count if it were its author's only one."""
    decision, person = record.decision, record.person or ""
    match decision.action:
        case Action.APPROVE:
            return _approval_fails(rules, person, record)
        case Action.SKIP:
            return _skip_fails(rules, person, record)
        case Action.REJECT:
            if rules.gate.rejections is Rejections.ADVISORY:
                return "rejections of this gate are advisory"
            if person not in rules.voters:
                return f"{person} is not among those who decide this gate: advisory"
            return ""
        case Action.QUIT:
            if person not in rules.voters and person != rules.opener:
                return f"{person} neither opened the gate nor decides it"
            return _late_or_untouched(rules, record)
        case Action.RETRACT:
            return ""
        case _:
            return f"`{decision.action}` is no answer to an approval"


def _approval_fails(rules: _Rules, person: str, record: Judged) -> str:
    if person not in rules.voters:
        return f"{person} is not among those who approve this gate"
    if not rules.gate.approvals.self_approval and person in rules.authors.people:
        return f"{person} {rules.authors.people[person]}; the gate takes no self-approval"
    if rules.gate.approvals.require_comment and not record.decision.message.strip():
        return "the gate requires a comment on an approval"
    return _late_or_untouched(rules, record)


def _skip_fails(rules: _Rules, person: str, record: Judged) -> str:
    if not rules.gate.skip.allowed:
        return "the gate may not be skipped"
    if person not in rules.skippers:
        return f"{person} is not among those who may skip this gate"
    named = rules.gate.skip.by is not None
    if not named and not rules.gate.approvals.self_approval and person in rules.authors.people:
        return f"{person} {rules.authors.people[person]}; the gate's `skip.by` does not name them"
    if rules.gate.skip.require_reason and not record.decision.message.strip():
        return "the gate requires a reason for a skip"
    return _late_or_untouched(rules, record)


def _late_or_untouched(rules: _Rules, record: Judged) -> str:
    if rules.late(record.decision):
        return "it came after the deadline"
    if rules.gate.approvals.presence is Presence.TOUCH and not record.verification.touch:
        return "the gate requires a hardware key that was touched"
    return ""


def _conclude(
    rules: _Rules, standing: Mapping[str, Judged], counts: tuple[Count, ...], idle: Status
) -> Verdict:
    """`idle` is what the request is where nobody has decided it."""
    by_action: dict[Action, list[str]] = {action: [] for action in Action}
    for person in sorted(standing):
        by_action[standing[person].decision.action].append(person)
    approved_by = tuple(by_action[Action.APPROVE])
    vetoers, quitters, skippers = (
        by_action[action] for action in (Action.REJECT, Action.QUIT, Action.SKIP)
    )
    obstacles = _obstacles(rules)
    required = rules.gate.approvals.required
    reasons: list[str] = []
    if vetoers:
        status = Status.REJECTED
        reasons += [f"{person} rejected it" for person in vetoers]
    elif quitters:
        status = Status.WITHDRAWN
        reasons += [f"{person} quit it" for person in quitters]
    elif skippers:
        status = Status.SKIPPED
    elif len(approved_by) >= required and not obstacles:
        status = Status.APPROVED
    elif idle is Status.EXPIRED:
        status = idle
        reasons.append("its deadline passed without a decision")
    else:
        status = idle
        reasons += obstacles or (_missing(len(approved_by), required),)
    eligible = rules.voters - (
        frozenset() if rules.gate.approvals.self_approval else rules.authors.people.keys()
    )
    return Verdict(
        status=status,
        reasons=tuple(reasons),
        obstacles=obstacles if status in (Status.OPEN, Status.PARKED) else (),
        counts=counts,
        approved_by=approved_by,
        waiting_for=tuple(sorted(eligible - set(approved_by))),
        vetoes=tuple(standing[person].id for person in vetoers),
        quit=standing[quitters[0]].id if quitters else None,
        deadline=rules.deadline,
    )


def _obstacles(rules: _Rules) -> tuple[str, ...]:
    """What keeps any number of approvals from satisfying the gate."""
    approvals = rules.gate.approvals
    found: list[str] = []
    if not approvals.self_approval and approvals.unknown_authors is UnknownAuthors.BLOCK:
        found += [
            f"nobody knows who {identity} is, who {role} under review: list the address in"
            " .mailmap or .aiwg/allowed_signers, or in `bots` if it is nobody's"
            for identity, role in rules.authors.unknown
        ]
    eligible = len(
        rules.voters if approvals.self_approval else rules.voters - rules.authors.people.keys()
    )
    if eligible < approvals.required:
        found.append(
            f"{approvals.required} must approve and only {eligible} may: "
            + (
                "the signers file lists nobody who may"
                if not rules.voters
                else "the others had a hand in the work and the gate takes no self-approval"
            )
        )
    return tuple(found)


def _missing(have: int, required: int) -> str:
    if required == 1:
        return "nobody has approved it yet"
    return f"{have} of {required} approvals"
