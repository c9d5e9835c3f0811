"""Several clones of one bare repository, and what people and programs do in them at random."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from support.project import TEAM, Answer, Person, Project, make_project

from gitgate.core import decision as codec
from gitgate.core import ids, person
from gitgate.core.decision import Action, Decision, Via
from gitgate.core.events import Event, EventName
from gitgate.core.gate import Facts, Instance, fold, may_follow
from gitgate.core.person import Stamp
from gitgate.core.request import Kind, Request
from gitgate.git import ledger as ledgers
from gitgate.git import refs
from gitgate.git.known import tracking_ref
from gitgate.git.ledger import Draft, Ledger
from gitgate.git.repository import Repository

PEOPLE = (
    ("Ada Lovelace", "ada@example.com"),
    ("Bob Babbage", "bob@example.com"),
    ("Cy Carol", "cy@example.com"),
)
POLICY = TEAM.replace("policy_gate: main", "journal: true\n  policy_gate: main")
SUBJECTS = ("one", "two", "Three/x")
STEPS = ("run/1", "run/2")
QUESTIONS = ("which db?",)

_STEP_EVENTS = (
    *(EventName.STARTED, EventName.ESCALATED, EventName.PARKED, EventName.CLAIMED),
    *(EventName.RESUMED, EventName.STRIPPED, EventName.COMPENSATED, EventName.COMPLETED),
    *(EventName.TERMINATED, EventName.EXPIRED, EventName.WITHDRAWN, EventName.DECIDED),
)

_NEW = (EventName.ESCALATED, EventName.ASKED, EventName.STARTED)


@dataclass
class Clone:
    """One clone, whose it is, and how many operations it stays off-line."""

    project: Project
    who: Person
    offline: int = 0

    @property
    def repo(self) -> Repository:
        return Repository.open(self.project.top)


@dataclass
class Fleet:
    """`signed` has the records that some ledger got, by the instance; `log` what was done."""

    base: Project
    clones: list[Clone]
    chance: random.Random
    signed: dict[str, tuple[str, str]] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    _number: int = 0

    # Operations.

    def step(self) -> None:
        clone = self.chance.choice(self.clones)
        operations: list[tuple[int, Callable[[Clone], str]]] = [
            (4, self.open),
            (5, self.decide),
            (1, self.retract),
            (1, self.withdraw),
            (6, self.step_event),
            (2, self.ask),
            (1, self.expire),
            (1, self.land),
            (1, self.delete),
            (1, self.go_offline),
            (1, self.kill),
            (5, self.sync),
        ]
        weights, functions = zip(*operations, strict=True)
        [operation] = self.chance.choices(functions, weights)
        where = clone.project.top.name
        self.log.append(f"{where}: {operation.__name__}: {operation(clone)}")
        clone.offline = max(0, clone.offline - 1)
        if not clone.offline:
            self.connect(clone)

    def open(self, clone: Clone) -> str:
        """New work, more work, work rebased or force-pushed, or a merge of the base."""
        project, subject = clone.project, self.chance.choice(SUBJECTS)
        branch, kind = f"refs/rounds/{subject}", self.chance.choice(["anew", "more", "merge"])
        there = project.git("rev-parse", "--verify", "-q", branch, check=False).status == 0
        merged = self.merged(clone, branch, "origin/main") if there and kind == "merge" else ""
        work = merged or self.work(clone, branch if there and kind == "more" else "origin/main")
        project.git("update-ref", branch, work)
        answer = project.gate("open", "main", "--subject", subject, "--commit", work)
        return f"{kind} {subject} {self.ended(answer)}"

    def decide(self, clone: Clone) -> str:
        subject = self.chance.choice(SUBJECTS)
        action = self.chance.choice(["approve", "approve", "reject", "reject", "skip", "quit"])
        before = self.records(clone, "main", subject)
        answer = clone.project.gate(action, "main", "--subject", subject, "-m", "Because.")
        return f"{action} {subject} {self.ended(answer)}{self.note(clone, 'main', subject, before)}"

    def retract(self, clone: Clone) -> str:
        subject = self.chance.choice(SUBJECTS)
        before = self.records(clone, "main", subject)
        answer = clone.project.gate("retract", "main", "--subject", subject)
        return f"{subject} {self.ended(answer)}{self.note(clone, 'main', subject, before)}"

    def withdraw(self, clone: Clone) -> str:
        subject = self.chance.choice(SUBJECTS)
        return (
            f"{subject} {self.ended(clone.project.gate('withdraw', 'main', '--subject', subject))}"
        )

    def expire(self, clone: Clone) -> str:
        subject = self.chance.choice(SUBJECTS)
        return f"{subject} {self.event(clone, 'main', subject, EventName.EXPIRED, Kind.APPROVAL)}"

    def land(self, clone: Clone) -> str:
        """Somebody merges the work, whatever was said of it; who looks next records it."""
        project, subject = clone.project, self.chance.choice(SUBJECTS)
        branch = f"refs/rounds/{subject}"
        if clone.offline or project.git("rev-parse", "-q", "--verify", branch, check=False).status:
            return "nothing to land"
        project.git("fetch", "--quiet", "origin", "main")
        merged = self.merged(clone, "origin/main", branch)
        if not merged:
            return "conflict"
        pushed = project.git("push", "--no-verify", "-q", "origin", f"{merged}:main", check=False)
        return f"{subject} {pushed.status}"

    def merged(self, clone: Clone, ours: str, theirs: str) -> str:
        tree = clone.project.git("merge-tree", "--write-tree", ours, theirs, check=False)
        if tree.status:
            return ""
        parents = ("-p", ours, "-p", theirs)
        return clone.project.git(
            "commit-tree", tree.out.split()[0], *parents, "-m", "Merge"
        ).out.strip()

    def delete(self, clone: Clone) -> str:
        """A ref that the remote was seen to have."""
        found = refs.listing(clone.repo, ids.GATES)
        shared = [
            ref
            for ref, tip in found.items()
            if refs.read(clone.repo, tracking_ref("origin", ref)) == tip
        ]
        if not shared:
            return "nothing shared"
        ref = self.chance.choice(shared)
        clone.project.git("update-ref", "-d", ref)
        return ref

    def go_offline(self, clone: Clone) -> str:
        clone.offline = self.chance.randrange(2, 8)
        clone.project.git("remote", "set-url", "origin", str(self.base.top / "nowhere"))
        return str(clone.offline)

    def connect(self, clone: Clone) -> None:
        clone.project.git("remote", "set-url", "origin", str(self.base.remote))

    def sync(self, clone: Clone) -> str:
        answer = clone.project.gate("sync")
        if clone.offline:
            assert answer.status == 128, answer
            return "off-line"
        assert answer.status == 0, (answer, "\n".join(self.log))
        return answer.out.strip().replace("\n", " / ")

    def kill(self, clone: Clone) -> str:
        """A `sync` that is killed with all that it started, at any moment."""
        after = self.chance.uniform(0.0, 0.4)
        child = os.fork()
        if child == 0:
            os.setsid()
            try:
                clone.project.gate("sync")
            finally:
                os._exit(0)
        time.sleep(after)
        for _ in range(100):
            try:
                os.killpg(child, signal.SIGKILL)
                break
            except ProcessLookupError:
                if os.waitpid(child, os.WNOHANG)[0]:
                    break
                time.sleep(0.01)
        else:
            os.kill(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)
        for folder in (clone.project.top / ".git", self.base.remote):
            for lock in [*folder.rglob("*.lock")]:
                lock.unlink(missing_ok=True)
        return f"after {after * 1000:.0f} ms"

    # Steps and questions, for which there is no command yet.

    def step_event(self, clone: Clone) -> str:
        subject = self.chance.choice(STEPS)
        instance = self.instance(ledgers.read(clone.repo, "step", subject))
        about = instance.newest.request if instance.newest else None
        fits = [
            name
            for name in _STEP_EVENTS
            if not may_follow(instance, name, None, None if name in _NEW else about)
        ]
        name = self.chance.choice(fits)
        return f"{subject} {name} {self.event(clone, 'step', subject, name, Kind.STEP)}"

    def ask(self, clone: Clone) -> str:
        subject = self.chance.choice(QUESTIONS)
        name = self.chance.choice([EventName.ASKED, EventName.DECIDED, EventName.WITHDRAWN])
        return f"{name} {self.event(clone, 'question', subject, name, Kind.QUESTION)}"

    @staticmethod
    def instance(ledger: Ledger) -> Instance:
        kinds = {oid: one.kind for oid, one in ledger.requests.items()}
        good = frozenset(e.id for e in ledger.events if e.name is EventName.DECIDED)
        return fold(ledger.events, kinds, Facts(good))

    def event(self, clone: Clone, gate: str, subject: str, name: EventName, kind: Kind) -> str:
        """Append an event if it may follow, as a program would."""
        repo, said = clone.repo, ""
        stamp = Stamp(person.Person(clone.who.name, clone.who.email), int(time.time()))

        def draft(ledger: Ledger) -> Draft | None:
            nonlocal said
            instance = self.instance(ledger)
            brings = name in _NEW
            newest = instance.newest
            about = newest.request if newest else None
            said = may_follow(instance, name, kind if brings else None, None if brings else about)
            if said or (about is None and name in (EventName.DECIDED, EventName.EXPIRED)):
                return None
            return self.drafted(clone, gate, subject, name, kind, ledger, about, stamp)

        try:
            ledgers.append(repo, gate, subject, draft, stamp=stamp)
        except ValueError as error:
            return str(error)
        return said or "appended"

    def drafted(
        self,
        clone: Clone,
        gate: str,
        subject: str,
        name: EventName,
        kind: Kind,
        ledger: Ledger,
        about: str | None,
        stamp: Stamp,
    ) -> Draft | None:
        fields: dict[str, Any] = {}
        request, raw, record = about, None, None
        records = [e.record for e in ledger.events if e.record and e.name is EventName.DECIDED]
        if name in _NEW and name is not EventName.STARTED:
            asked = self.request(clone, gate, subject, kind, stamp)
            return Draft(Event("", 0, name, stamp.time, stamp.person), 1, "open", asked)
        if name in (EventName.CLAIMED, EventName.RESUMED, EventName.STRIPPED):
            if not records:
                return None
            record, request = records[-1], None
        if name in (EventName.CLAIMED, EventName.RESUMED):
            fields = {"consumer": clone.project.top.name}
        if name is EventName.STARTED:
            fields, request = {"attempt": 1, "input": clone.project.rev("origin/main")}, None
        if name is EventName.COMPENSATED:
            fields, request = {"command": ("true",), "status": 0}, None
        if name is EventName.EXPIRED:
            fields = {"deadline": stamp.time}
        if name is EventName.DECIDED:
            action = Action.INSTRUCTION if kind is Kind.STEP else Action.FREEFORM
            raw = self.signed_word(clone, gate, subject, str(request), action)
        event = Event("", 0, name, stamp.time, stamp.person, request, record, fields)
        return Draft(event, 1, "open", None, raw)

    def request(self, clone: Clone, gate: str, subject: str, kind: Kind, stamp: Stamp) -> Request:
        commit = clone.project.rev("origin/main")
        extra = (
            {"question": {"text": "Which?"}}
            if kind is Kind.QUESTION
            else {"diagnosis": {"class": "x"}}
        )
        return Request(
            *("", kind, gate, subject, "", commit, commit, None, None, None),
            nonce=f"{self.chance.getrandbits(128):032x}",
            opened=stamp,
            extra=extra,
        )

    def signed_word(
        self, clone: Clone, gate: str, subject: str, request: str, action: Action
    ) -> bytes:
        self._number += 1
        said = Decision(
            request=request,
            tag=ids.tag_name(gate, subject),
            tagger=Stamp(person.Person(clone.who.name, clone.who.email), int(time.time())),
            action=action,
            title=codec.title_of(action, gate, subject),
            message=f"Word {self._number}.",
            via=Via.TERMINAL,
        )
        payload = codec.payload(said)
        command = ["ssh-keygen", "-Y", "sign", "-n", "git", "-f", str(clone.who.key)]
        raw = (
            payload + subprocess.run(command, input=payload, capture_output=True, check=True).stdout
        )
        self.signed[codec.parse(raw).id] = gate, subject
        return raw

    # What they share.

    def work(self, clone: Clone, start: str) -> str:
        """A commit with one file more, without touching the work tree."""
        self._number += 1
        project = clone.project
        index = {"GIT_INDEX_FILE": str(project.top / ".git" / "random-index")}
        project.git("read-tree", start, env=index)
        text = f"{clone.who.name} {self._number}\n"
        blob = project.git("hash-object", "-w", "--stdin", stdin=text).out.strip()
        project.git(
            "update-index", "--add", "--cacheinfo", f"100644,{blob},w{self._number}", env=index
        )
        tree = project.git("write-tree", env=index).out.strip()
        return project.git("commit-tree", tree, "-p", start, "-m", text).out.strip()

    def records(self, clone: Clone, gate: str, subject: str) -> set[str]:
        return set(ledgers.read(clone.repo, gate, subject).records)

    def note(self, clone: Clone, gate: str, subject: str, before: set[str]) -> str:
        new = self.records(clone, gate, subject) - before
        for record in new:
            if record in set(self.own_words(clone, gate, subject)):
                self.signed[record] = gate, subject
        return f" {' '.join(one[:8] for one in new)}" if new else ""

    def own_words(self, clone: Clone, gate: str, subject: str) -> list[str]:
        ledger = ledgers.read(clone.repo, gate, subject)
        return [one for one, raw in ledger.records.items() if clone.who.email.encode() in raw]

    @staticmethod
    def ended(answer: Answer) -> str:
        assert answer.status not in (128, 130) or "inside" not in answer.err, answer
        return str(answer.status)


def fleet(folder: Path, home: Path, count: int, seed: int) -> Fleet:
    base = make_project(folder, home, POLICY, PEOPLE, hook=False)
    people = list(base.people.values())
    clones = []
    for number in range(count):
        top = folder / f"clone{number}"
        subprocess.run(["git", "clone", "--quiet", base.remote, top], check=True)
        project = replace(base, top=top)
        who = people[number % len(people)]
        project.be(who)
        clones.append(Clone(project, who))
    return Fleet(base, clones, random.Random(seed))
