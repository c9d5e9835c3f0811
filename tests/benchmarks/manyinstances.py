"""A project with thousands of instances, made fast: every object is computed and put into one pack.

Each ended instance was opened on a main that was a few landings old, approved and landed by a
merge; every twentieth was rejected first. Their refs are removed, and the journal names them. The
open ones have refs. All records are signed with Ada's key, in this process, and stand in notes too.
"""

from __future__ import annotations

import base64
import hashlib
import struct
import time
import zlib
from dataclasses import replace
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from measure import Sandbox

from gitgate.core import decision as codec
from gitgate.core import events, ids, journal
from gitgate.core import request as requests
from gitgate.core.decision import Action, Decision, Via
from gitgate.core.events import Event, EventName, Summary
from gitgate.core.journal import Line
from gitgate.core.person import Person, Stamp
from gitgate.core.request import Kind, Request
from gitgate.git.chain import object_id, root_commit
from gitgate.git.objects import format_commit
from gitgate.git.trees import DIRECTORY, EMPTY_TREE, REGULAR, format_tree

GATE, MAIN = "main", "refs/heads/main"
ADA = Person("Ada Lovelace", "ada@example.com")
FILES = 100
LAG = 3
"""Landings between the base of some work and the landing before its own."""

PUSHED = "pushed"
POLICY = """\
human_gates:
  version: 1
  gates:
    main:
      title: Changes to main
      guards: [refs/heads/main]
      approvals: {self_approval: true}
  policy_gate: main
  journal: true
  defaults: {timeout_minutes: 0}
"""

_TYPES = {"commit": 1, "tree": 2, "blob": 3}
Node = tuple[int, str]


class Pack:
    """Objects in memory, and the pack that holds them all."""

    def __init__(self) -> None:
        self._objects: dict[str, tuple[str, bytes]] = {}

    def add(self, kind: str, data: bytes) -> str:
        oid = object_id(kind, data)
        self._objects.setdefault(oid, (kind, data))
        return oid

    def file(self, data: bytes) -> Node:
        return REGULAR, self.add("blob", data)

    def tree(self, entries: dict[bytes, Node]) -> Node:
        return DIRECTORY, self.add("tree", format_tree(entries))

    def nested(self, names: tuple[bytes, ...], tree: Node) -> Node:
        for name in reversed(names):
            tree = self.tree({name: tree})
        return tree

    def commit(self, tree: Node, parents: tuple[str, ...], stamp: Stamp, message: str) -> str:
        return self.add("commit", format_commit(tree[1], parents, stamp, stamp, message))

    def write(self, path: Path) -> None:
        digest = hashlib.sha1(usedforsecurity=False)
        with path.open("wb") as file:

            def put(data: bytes) -> None:
                digest.update(data)
                file.write(data)

            put(b"PACK" + struct.pack(">II", 2, len(self._objects)))
            for kind, data in self._objects.values():
                put(_header(_TYPES[kind], len(data)) + zlib.compress(data, 1))
            file.write(digest.digest())


def _header(kind: int, size: int) -> bytes:
    first, size = kind << 4 | size & 0xF, size >> 4
    out = bytearray()
    while size:
        out.append(first | 0x80)
        first, size = size & 0x7F, size >> 7
    return bytes([*out, first])


class Key:
    """An ed25519 key that signs as `ssh-keygen -Y sign` does."""

    def __init__(self, box: Sandbox) -> None:
        path = box.root / "ada"
        box.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path))
        self.path = path
        self.public = " ".join(Path(f"{path}.pub").read_text().split()[:2])
        key = serialization.load_ssh_private_key(path.read_bytes(), None)
        assert isinstance(key, Ed25519PrivateKey)
        self._key = key
        self._blob = base64.b64decode(self.public.split()[1])

    def sign(self, payload: bytes) -> bytes:
        names = (b"git", b"", b"sha512")
        digest = hashlib.sha512(payload).digest()
        raw = self._key.sign(b"SSHSIG" + b"".join(map(_string, (*names, digest))))
        value = _string(b"ssh-ed25519") + _string(raw)
        parts = b"".join(map(_string, (self._blob, *names, value)))
        text = base64.b64encode(b"SSHSIG" + struct.pack(">I", 1) + parts).decode()
        lines = [text[at : at + 70] for at in range(0, len(text), 70)]
        armor = ["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""]
        return "\n".join(armor).encode()


def _string(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


class Ledger:
    """One instance while it is made."""

    def __init__(self, many: Many, subject: str) -> None:
        self._many = many
        self.subject = subject
        self._files: dict[bytes, Node] = {}
        self._newest: Request | None = None
        self._number = 0
        self.lines: list[Line] = []
        self.tip = many.pack.add("commit", root_commit(GATE, subject))

    def ask(self, name: EventName, base: str, work: str) -> None:
        many, tip = self._many, self._many.mains[-1]
        trees = many.trees[base], many.trees[work]
        asked = Request(
            "", Kind.APPROVAL, GATE, self.subject, MAIN, base, work, tip, many.adopted, None,
            f"{int(work[:32], 16):032x}", many.stamp(), "Changes to main",
        )  # fmt: skip
        body = many.pack.tree({b"request.yml": many.pack.file(requests.body(asked))})
        own = many.pack.nested((b"gates", GATE.encode()), body)
        tree = many.pack.tree({b".aiwg": own, b"base": trees[0], b"work": trees[1]})
        oid = many.pack.commit(tree, (work, base), asked.opened, requests.message(asked))
        self._newest = replace(asked, id=oid)
        self.lines.append(Line(self.subject, "", "", oid, work, trees[0][1], trees[1][1]))
        self._event(name, "open", brings=True)

    def decide(self, action: Action) -> None:
        assert self._newest
        many = self._many
        said = Decision(
            self._newest.id, ids.tag_name(GATE, self.subject), many.stamp(), action,
            codec.title_of(action, GATE, self.subject), "Because." , Via.TERMINAL,
        )  # fmt: skip
        payload = codec.payload(said)
        record = payload + many.key.sign(payload)
        self._files[events.record_name(self._number + 1)] = many.pack.file(record)
        status = "rejected" if action is Action.REJECT else "approved"
        self._event(EventName.DECIDED, status, record=object_id("tag", record))
        many.notes[self._newest.work] = record

    def land(self, old: str, new: str) -> None:
        self._event(EventName.LANDED, "landed", fields={"target": MAIN, "old": old, "new": new})

    def _event(
        self,
        name: EventName,
        status: str,
        *,
        record: str | None = None,
        brings: bool = False,
        fields: dict[str, str] | None = None,
    ) -> None:
        assert self._newest
        many, request = self._many, self._newest.id
        self._number += 1
        stamp = many.stamp()
        event = Event("", self._number, name, stamp.time, ADA, request, record, fields or {})
        self._files[events.file_name(self._number, name)] = many.pack.file(events.body(event))
        tree = many.pack.nested((b".aiwg", b"gates", GATE.encode()), many.pack.tree(self._files))
        summary = Summary(GATE, self.subject, name, self._number, len(self.lines), status, request)
        parents = (self.tip, request) if brings else (self.tip,)
        self.tip = many.pack.commit(tree, parents, stamp, events.summary_message(summary))
        self.lines[-1] = self.lines[-1]._replace(status=status)
        self.lines = [line._replace(tip=self.tip) for line in self.lines]


def _name(number: int) -> bytes:
    return b"f%02d" % (number % FILES)


class Many:
    """`ended` instances without refs and `waiting` ones with them, beside one that may land."""

    def __init__(self, box: Sandbox, ended: int, waiting: int) -> None:
        self.box = box
        self.pack = Pack()
        self.key = Key(box)
        self.time = int(time.time()) - 400 * 24 * 3600
        self.notes: dict[str, bytes] = {}
        self.trees: dict[str, Node] = {}
        self.journal: dict[tuple[str, str], dict[str, tuple[Line, ...]]] = {}
        self.remote, self.work = box.root / "remote.git", box.root / "work"
        start = {_name(n): self.pack.file(b"start\n") for n in range(FILES)}
        self._src: dict[str, dict[bytes, Node]] = {}
        signers = f'{ADA.email} namespaces="git" {self.key.public}\n'.encode()
        self._top = {
            b"aiwg.yml": self.pack.file(POLICY.encode()),
            b".aiwg": self.pack.tree({b"allowed_signers": self.pack.file(signers)}),
        }
        self.adopted = self._stored(start, (), "Adopt\n")
        self.mains = [self.adopted]
        refs = self._fill(ended, waiting)
        self._store(refs)

    def stamp(self) -> Stamp:
        self.time += 1
        return Stamp(ADA, self.time)

    def _commit(self, base: str, number: int, content: bytes) -> str:
        """Work on one file."""
        src = {**self._src[base], _name(number): self.pack.file(content)}
        return self._stored(src, (base,), f"work {number}\n")

    def _stored(self, src: dict[bytes, Node], parents: tuple[str, ...], message: str) -> str:
        tree = self.pack.tree({**self._top, b"src": self.pack.tree(src)})
        commit = self.pack.commit(tree, parents, self.stamp(), message)
        self.trees[commit] = tree
        self._src[commit] = src
        return commit

    def _fill(self, ended: int, waiting: int) -> dict[str, str]:
        batch: list[Ledger] = []
        tip = self.pack.commit((DIRECTORY, EMPTY_TREE), (), events.ROOT_STAMP, journal.ROOT_MESSAGE)
        self.pack.add("tree", b"")
        for number in range(ended):
            ledger = Ledger(self, f"feature/{number}")
            self._ended(ledger, number)
            batch.append(ledger)
            if len(batch) == journal.MAX_TIPS or number + 1 == ended:
                tip = self._named(tip, batch)
                batch = []
        self.time = int(time.time()) - 3600
        main = self.mains[-1]
        for number in range(waiting):
            ledger = Ledger(self, f"open/{number}")
            ledger.ask(EventName.OPENED, main, self._commit(main, number, b"open %d\n" % number))
            batch.append(ledger)
        self.pushed = self._commit(main, 7, b"pushed\n")
        ledger = Ledger(self, PUSHED)
        ledger.ask(EventName.OPENED, main, self.pushed)
        ledger.decide(Action.APPROVE)
        batch.append(ledger)
        refs = {ids.ledger_ref(GATE, one.subject): one.tip for one in batch}
        tip = self._named(tip, batch)
        return {**refs, MAIN: main, ids.JOURNAL: tip, ids.NOTES: self._noted()}

    def _ended(self, ledger: Ledger, number: int) -> None:
        base, old = self.mains[-LAG:][0], self.mains[-1]
        name = EventName.OPENED
        if number % 20 == 0:
            ledger.ask(name, base, self._commit(base, number, b"bad %d\n" % number))
            ledger.decide(Action.REJECT)
            name = EventName.ITERATED
        content = b"good %d\n" % number
        work = self._commit(base, number, content)
        ledger.ask(name, base, work)
        ledger.decide(Action.APPROVE)
        src = {**self._src[old], _name(number): self.pack.file(content)}
        new = self._stored(src, (old, work), f"Merge {number}\n")
        ledger.land(old, new)
        self.mains.append(new)
        for gone in [*self._src][: -3 * LAG]:
            del self._src[gone]

    def _named(self, tip: str, batch: list[Ledger]) -> str:
        """A journal commit that names these instances."""
        batch = sorted(batch, key=lambda one: (journal.shard_of(one.subject), one.subject.encode()))
        for one in batch:
            where = GATE, journal.shard_of(one.subject)
            self.journal.setdefault(where, {})[one.subject] = tuple(one.lines)
        folder = {
            journal.file_name(shard): self.pack.file(journal.format_lines(journal.flat(there)))
            for (_, shard), there in self.journal.items()
        }
        tree = self.pack.tree({GATE.encode(): self.pack.tree(folder)})
        message = journal.message([(GATE, one.lines[-1]) for one in batch])
        return self.pack.commit(tree, (tip, *(one.tip for one in batch)), self.stamp(), message)

    def _noted(self) -> str:
        folders: dict[bytes, dict[bytes, Node]] = {}
        for commit, record in self.notes.items():
            inside = folders.setdefault(commit[:2].encode(), {})
            inside[commit[2:].encode()] = self.pack.file(record)
        tree = self.pack.tree({name: self.pack.tree(there) for name, there in folders.items()})
        return self.pack.commit(tree, (), self.stamp(), "Notes\n")

    def _store(self, refs: dict[str, str]) -> None:
        """The remote has all of it; the clone as well, and knows what the remote has."""
        run = self.box.run
        run("git", "init", "-q", "--bare", str(self.remote))
        run("git", "init", "-q", str(self.work))
        path = self.remote / "objects" / "pack" / "many.pack"
        self.pack.write(path)
        name = run("git", "index-pack", str(path), cwd=self.remote).split()[-1]
        for end in ("pack", "idx"):
            path.with_suffix(f".{end}").rename(path.with_name(f"pack-{name}.{end}"))
        place = self.work / ".git" / "objects" / "pack"
        run(
            "cp",
            *(str(path.with_name(f"pack-{name}.{end}")) for end in ("pack", "idx")),
            str(place),
        )
        self.set_refs(self.remote, refs)
        there = {
            f"refs/gitgate/origin/gates/{ref.removeprefix(ids.GATES)}": tip
            for ref, tip in refs.items()
            if ref.startswith(ids.GATES)
        }
        there["refs/gitgate/origin/notes/gates"] = refs[ids.NOTES]
        there["refs/gitgate/origin/journal"] = refs[ids.JOURNAL]
        for branch in (MAIN, ids.JOURNAL):
            there[f"refs/remotes/origin/{branch.removeprefix('refs/heads/')}"] = refs[branch]
        self.set_refs(self.work, {**refs, **there})
        for key, value in {
            "remote.origin.url": str(self.remote),
            "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
            "gate.policyRef": MAIN,
            "gpg.format": "ssh",
            "user.signingKey": str(self.key.path),
        }.items():
            run("git", "config", key, value, cwd=self.work)
        run("git", "checkout", "-q", "-b", PUSHED, self.pushed, cwd=self.work)
        self.main = refs[MAIN]

    def set_refs(self, repository: Path, refs: dict[str, str]) -> None:
        for ref, tip in refs.items():
            self.box.run("git", "update-ref", ref, tip, cwd=repository)
        self.box.run("git", "pack-refs", "--all", cwd=repository)
