"""A repository of many instances that is made in this process, and the slow way to look at it."""

from __future__ import annotations

import base64
import hashlib
import random
import struct
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gitgate.app.digests import noteindex
from gitgate.app.gather.landed import candidate
from gitgate.app.gather.world import World
from gitgate.core import decision as codec
from gitgate.core import ids
from gitgate.core.decision import Action, Decision, Via
from gitgate.core.digest import Waits
from gitgate.core.events import Event, EventName
from gitgate.core.landing import Candidate
from gitgate.core.person import Person, Stamp
from gitgate.core.request import Kind, Request
from gitgate.errors import GateError
from gitgate.git import journal, ledger, notes, refs
from gitgate.git.journal import Entry
from gitgate.git.ledger import Draft
from gitgate.git.repository import Repository
from gitgate.git.trees import DIRECTORY, REGULAR

GATE, MAIN, OTHER = "main", "refs/heads/main", "refs/heads/other"
NOW = 1_764_565_200
POLICY = """\
human_gates:
  version: 1
  gates:
    main:
      guards: [refs/heads/main, refs/heads/other]
      {when}
      approvals: {{self_approval: true}}
  policy_gate: main
  defaults: {{timeout_minutes: 0}}
"""
Files = Mapping[str, bytes]


class Signer:
    """A person with a key that signs as `ssh-keygen -Y sign` does."""

    def __init__(self, name: str) -> None:
        self.person = Person(name.title(), f"{name}@example.com")
        seed = hashlib.sha256(name.encode()).digest()
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        blob = b"ssh-ed25519", self._key.public_key().public_bytes_raw()
        self._blob = b"".join(map(_string, blob))

    @property
    def line(self) -> str:
        public = base64.b64encode(self._blob).decode()
        return f'{self.person.email} namespaces="git" ssh-ed25519 {public}\n'

    def sign(self, payload: bytes) -> bytes:
        names = (b"git", b"", b"sha512")
        digest = hashlib.sha512(payload).digest()
        raw = self._key.sign(b"SSHSIG" + b"".join(map(_string, (*names, digest))))
        value = _string(b"ssh-ed25519") + _string(raw)
        parts = b"".join(map(_string, (self._blob, *names, value)))
        text = base64.b64encode(b"SSHSIG" + struct.pack(">I", 1) + parts).decode()
        lines = [text[at : at + 70] for at in range(0, len(text), 70)]
        armor = ["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""]
        return payload + "\n".join(armor).encode()


def _string(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


ADA, BOB, MALLORY = Signer("ada"), Signer("bob"), Signer("mallory")


class Town:
    """A repository, and everything that can happen in it."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
        subprocess.run(["git", "-C", folder, "config", "gate.policyRef", MAIN], check=True)
        self.repo = Repository.open(folder)
        self.chance = chance
        self.clock = NOW - 100_000
        self.requests: dict[str, list[Request]] = {}
        self.files: dict[str, Files] = {}
        self.mains: list[str] = []
        start = {f"{d}/{n}": b"".join(b"%d\n" % i for i in range(9)) for d in "de" for n in "xy"}
        self.mains.append(self.commit({**start, **self.rules("")}))
        self.set(MAIN, self.mains[-1])
        self.set(OTHER, self.mains[-1])

    # Objects and refs.

    def rules(self, when: str, *people: Signer) -> dict[str, bytes]:
        signers = "".join(one.line for one in people or (ADA, BOB))
        return {
            "aiwg.yml": POLICY.format(when=when).encode(),
            ".aiwg/allowed_signers": signers.encode(),
        }

    def stamp(self) -> Stamp:
        self.clock += 1
        return Stamp(ADA.person, self.clock)

    def tree(self, files: Files) -> str:
        entries: dict[bytes, tuple[int, str]] = {}
        below: dict[str, dict[str, bytes]] = {}
        for path, data in files.items():
            name, slash, rest = path.partition("/")
            if slash:
                below.setdefault(name, {})[rest] = data
            else:
                entries[name.encode()] = (REGULAR, self.repo.write_blob(data))
        for name, inside in below.items():
            entries[name.encode()] = (DIRECTORY, self.tree(inside))
        return self.repo.write_tree(entries)

    def commit(self, files: Files, *parents: str) -> str:
        stamp = self.stamp()
        made = self.repo.write_commit(self.tree(files), parents, stamp, stamp, "work\n")
        self.files[made] = files
        return made

    def set(self, ref: str, new: str) -> None:
        refs.compare_and_swap(self.repo, ref, new, refs.read(self.repo, ref), "test")

    def drop(self, ref: str) -> None:
        (self.repo.common_dir / ref).unlink(missing_ok=True)

    # What people do.

    def edited(self, base: str) -> dict[str, bytes]:
        """One of few changes, so that the same one is made on several bases."""
        files = dict(self.files[base])
        paths = sorted(path for path in files if path[0] in "defn") or ["d/again"]
        for _ in range(self.chance.randint(1, 2)):
            path = self.chance.choice(paths)
            match self.chance.randrange(6):
                case 0 | 1 | 2:
                    lines = files.get(path, b"new\n").split(b"\n")
                    at = self.chance.choice([0, 7])
                    lines[min(at, len(lines) - 1)] = self.chance.choice([b"one", b"two"])
                    files[path] = b"\n".join(lines)
                case 3:
                    files[self.chance.choice(["d/new", "n/new", "n/other"])] = b"new\n"
                case 4:
                    files.pop(path, None)
                case _:
                    moved = {p: d for p, d in files.items() if p.startswith("d/")}
                    for old, data in moved.items():
                        del files[old]
                        files[f"f{old[1:]}"] = data
        return files

    def ask(self, subject: str) -> None:
        base = self.chance.choice(self.mains[-3:])
        work = self.commit(self.edited(base), base)
        if self.requests.get(subject) and self.chance.random() < 0.2:
            work = self.requests[subject][-1].work
            base = self.requests[subject][-1].base
        asked = self.request(subject, base, work, self.chance.choice([MAIN] * 5 + [OTHER]))
        name = EventName.ITERATED if self.requests.get(subject) else EventName.OPENED
        if self.chance.random() < 0.2:
            name = self.chance.choice([EventName.ITERATED, EventName.OPENED])
        after = self.append(subject, name, asked=asked)
        if after is not None and after.newest is not None:
            self.requests.setdefault(subject, []).append(after.newest)

    def request(self, subject: str, base: str, work: str, target: str = MAIN) -> Request:
        return Request(
            "", Kind.APPROVAL, GATE, subject, target, base, work, base, self.mains[0], None,
            f"{self.chance.getrandbits(128):032x}", self.stamp(),
        )  # fmt: skip

    def decide(self, subject: str) -> None:
        request = self.chance.choice(self.requests[subject][-2:])
        actions = [Action.APPROVE] * 6 + [Action.REJECT] * 3
        actions += [Action.RETRACT, Action.SKIP, Action.QUIT]
        action = self.chance.choice(actions)
        who = self.chance.choice([ADA, ADA, BOB, MALLORY])
        before = ledger.read(self.repo, GATE, subject)
        said = Decision(
            request.id, ids.tag_name(GATE, subject), Stamp(who.person, self.stamp().time), action,
            codec.title_of(action, GATE, subject), "Because.", Via.TERMINAL,
            previous=tuple(before.records)[-1:] if self.chance.random() < 0.5 else (),
        )  # fmt: skip
        record = who.sign(codec.payload(said))
        fate = self.chance.random()
        if fate < 0.9:
            self.append(subject, EventName.DECIDED, request.id, record=record)
        if fate > 0.7:
            notes.add(self.repo, request.work, record)

    def land(self, subject: str) -> None:
        request = self.requests[subject][-1]
        new = self.merged(request)
        if new is None or request.target != MAIN:
            return
        old = self.mains[-1]
        if self.chance.random() < 0.95:
            self.mains.append(new)
            self.set(MAIN, new)
        if self.chance.random() < 0.9:
            fields = {"old": old, "new": new, "target": MAIN}
            self.append(subject, EventName.LANDED, request.id, fields=fields)

    def merged(self, request: Request) -> str | None:
        """A merge of the request on main, as a commit; None where it conflicts."""
        world = World(self.repo, NOW)
        old = self.mains[-1]
        try:
            trees = [self.repo.commit(one).tree for one in (request.base, old, request.work)]
            found = world.trees.merge_whole(*trees)
            if found is None or found.conflicts:
                return None
            files = {
                path.decode(): self._content(world, entry.oid)
                for path, entry in world.trees.everything(found.tree).items()
            }
        finally:
            world.close()
        return self.commit(files, old, request.work)

    @staticmethod
    def _content(world: World, oid: str) -> bytes:
        return world.trees.blob(oid, 1 << 20)[1]

    def withdraw(self, subject: str) -> None:
        self.append(subject, EventName.WITHDRAWN, self.requests[subject][-1].id)

    def advance(self) -> None:
        """Main goes on, with other content, a moved folder, or another policy; or goes back."""
        files: dict[str, bytes] = dict(self.edited(self.mains[-1]))
        fate = self.chance.random()
        if fate < 0.15:
            files |= self.rules(self.chance.choice(['when: ["d/**", aiwg.yml]', ""]))
        elif fate < 0.25:
            files |= self.rules("", ADA)
        elif fate < 0.5 and len(self.mains) > 2:
            del self.mains[-1]
            self.set(MAIN, self.mains[-1])
            return
        self.mains.append(self.commit(files, self.mains[-1]))
        self.set(MAIN, self.mains[-1])

    def name_in_journal(self, *, drop: bool) -> None:
        """The journal names all ledgers; the refs of some of them go."""
        here = refs.listing(self.repo, ids.GATES)
        entries = [
            Entry(GATE, subject, here[ref])
            for subject in self.requests
            if (ref := ids.ledger_ref(GATE, subject)) in here
        ]
        before = refs.read(self.repo, ids.JOURNAL)
        tip = journal.append(self.repo, before, entries, self.stamp(), lambda error: None)
        if tip != before:
            self.set(ids.JOURNAL, tip)
        for entry in entries if drop else ():
            if self.chance.random() < 0.7:
                self.drop(ids.ledger_ref(GATE, entry.subject))

    def spoil(self, subject: str) -> None:
        """A ledger loses its last event, its ref, or what is in it."""
        ref = ids.ledger_ref(GATE, subject)
        tip = refs.read(self.repo, ref)
        parents = self.repo.commit(tip).parents if tip else ()
        match self.chance.randrange(3):
            case 0 if parents:
                self.set(ref, parents[0])
            case 1:
                self.drop(ref)
            case _ if tip:
                stamp = self.stamp()
                tree = self.repo.write_tree({})
                self.set(ref, self.repo.write_commit(tree, (tip,), stamp, stamp, "spoiled\n"))

    def append(
        self,
        subject: str,
        name: EventName,
        request: str | None = None,
        *,
        asked: Request | None = None,
        record: bytes | None = None,
        fields: Mapping[str, Any] | None = None,
    ) -> ledger.Ledger | None:
        """Append an event as anybody can; nothing where the ledger is spoiled."""
        stamp = self.stamp()
        if refs.read(self.repo, ids.ledger_ref(GATE, subject)) is None:
            heads = journal.heads(self.repo, None)
            named = journal.Index(self.repo, heads[0]).tip(GATE, subject) if heads else None
            if named is not None:
                self.set(ids.ledger_ref(GATE, subject), named)
        event = Event("", 0, name, stamp.time, ADA.person, request, None, fields or {})
        with suppress(GateError):
            draft = Draft(event, 1, "open", request=asked, record=record)
            return ledger.append(self.repo, GATE, subject, lambda _: draft, stamp=stamp)
        return None


class PlainSieve:
    """Every instance is read for every question, as if nothing were ever remembered."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.catalogue = self.settling = self

    @property
    def listed(self) -> list[tuple[str, str | None]]:
        repo = self._world.repo
        found: dict[str, str | None] = {}
        for ref, tip in refs.listing(repo, ids.GATES).items():
            found[ref] = ledger.subject_of(repo, ledger.instance(repo, ref, tip))
        for head in journal.heads(repo, None):
            for entry in journal.Index(repo, head).instances():
                found.setdefault(ids.ledger_ref(entry.gate, entry.subject), entry.subject)
        return list(found.items())

    def subjects(self, gate: str) -> list[str]:
        found = {s: None for ref, s in self.listed if s and ref.startswith(f"{ids.GATES}{gate}/")}
        kept = {ids.tag_name(gate, subject) for subject in found}
        for tag in self._world.noted.records:
            if tag.startswith(f"gate/{gate}/") and tag not in kept:
                found[ids.decode_subject(tag.rpartition("/")[2]) or ""] = None
        return list(found)

    def consenting(self, policy: object, gate: str, ref: str) -> list[str]:
        return self.subjects(gate)

    def waiting(self, policy: object, gate: str) -> list[str]:
        return self.subjects(gate)

    def unanswered(self, policy: object, gate: str) -> dict[str, Waits]:
        return {}

    def rejecting(self, policy: object, request: Request) -> list[str]:
        return self.subjects(request.gate)

    def near(self, policy: object, gate: str, subject: object, wanted: object) -> list[str]:
        return self.subjects(gate)

    def partners(self, gate: str, target: str, around: object) -> tuple[Candidate, ...]:
        return tuple(self._candidates(gate, target))

    def _candidates(self, gate: str, target: str) -> Iterator[Candidate]:
        for subject in self.subjects(gate):
            for request in self._world.ledger(gate, subject).requests.values():
                if request.target == target:
                    with suppress(GateError):
                        yield candidate(self._world, request)

    def learn(self, policy: object, loaded: object) -> None:
        return None

    def keep(self) -> None:
        return None


class PlainWorld(World):
    """A world that remembers nothing."""

    @property
    def sieve(self) -> Any:
        return PlainSieve(self)

    @property
    def note_index(self) -> noteindex.NoteIndex:
        return noteindex.FullIndex(self.repo, self.noted)
