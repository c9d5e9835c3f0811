"""What one command gathers: the repository, the time, ledgers, notes, and who signed what.

Everything here reads; what is read once is kept for the run of the command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

from gitgate.app.digests import digests, noteindex
from gitgate.app.digests.noteindex import FullIndex, NoteIndex
from gitgate.app.digests.sieve import Sieve
from gitgate.app.gather import instances, noted
from gitgate.app.gather.authorship import authors_of
from gitgate.app.gather.instances import Held, Loaded
from gitgate.app.gather.ledgers import Ledgers
from gitgate.app.gather.mainline import Mainline
from gitgate.app.gather.noted import Noted
from gitgate.app.gather.policies import (
    PolicyCommit,
    PolicyKey,
    PolicyRef,
    policy_at,
    policy_ref,
    target_tip,
)
from gitgate.app.gather.recording import Reminder, Written
from gitgate.core import ids
from gitgate.core.decision import Record
from gitgate.core.gate import Instance
from gitgate.core.policy import Gate
from gitgate.core.request import Request
from gitgate.core.trailers import parse_trailers
from gitgate.core.trust import SignatureStatus
from gitgate.core.verdict import Judged, Verdict, judge
from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.ledger import Ledger
from gitgate.git.merge import GitTrees
from gitgate.git.repository import Repository
from gitgate.signing.verify import Trust, verify, verify_signature

T = TypeVar("T")

_SAID_EVERY = 100


def _nobody_looks() -> AbstractContextManager[Callable[[str], None]]:
    return nullcontext(lambda text: None)


class World:
    """The repository at one moment, read lazily and once."""

    def __init__(
        self, repo: Repository, now: int, remote: str | None = None, *, historic: bool = False
    ) -> None:
        """`historic` judges as of the moment of each decision: what has landed stays valid when
        a key is removed or expires later (design, section 5)."""
        self.repo = repo
        self.now = now
        self.remote = remote if remote is not None else repo.default_remote()
        self.historic = historic
        self.written: list[Written] = []
        self.reminders: list[Reminder] = []
        self.phases_began: dict[tuple[str, str, str], int | None] = {}
        self._policies: dict[str, PolicyCommit | None] = {}
        self._loaded: dict[tuple[PolicyKey, str, str], Loaded] = {}
        self._verdicts: dict[tuple[PolicyKey, str], Verdict] = {}
        self._noted: Noted | None = None
        self._trees: GitTrees | None = None
        self._ledgers: Ledgers | None = None
        self._judged: dict[tuple[PolicyKey, str], Judged] = {}
        self.progress: Callable[[], AbstractContextManager[Callable[[str], None]]] = _nobody_looks
        self._note_index: NoteIndex | None = None
        self._sieve: Sieve | None = None
        self._book: digests.Book | None = None
        self._mainlines: dict[str, Mainline] = {}

    @property
    def trees(self) -> GitTrees:
        if self._trees is None:
            self._trees = GitTrees(self.repo)
        return self._trees

    def close(self) -> None:
        """Keep what was learned of ledgers for the next command, and tidy up."""
        if self._sieve is not None:
            self._sieve.keep()
        if self._trees is not None:
            self._trees.close()

    def policy_at(self, commit: str) -> PolicyCommit | None:
        if commit not in self._policies:
            self._policies[commit] = policy_at(self.repo, commit)
        return self._policies[commit]

    def policy_ref(self, asked: str | None = None) -> PolicyRef | None:
        return policy_ref(self.repo, asked, self.remote)

    def policy(self, asked: str | None = None) -> PolicyCommit:
        """The policy in force now; GateError (fatal) where there is none."""
        ref = self.policy_ref(asked)
        found = self.policy_at(ref.tip) if ref is not None and ref.tip else None
        if found is not None:
            return found
        local = refs.read(self.repo, ref.name) if ref is not None else None
        if ref is not None and local and local != ref.tip and self.policy_at(local):
            raise GateError(
                Exit.FATAL,
                f"{ref.name} has a policy that {ref.read_from} has not adopted yet",
                f"git push {self.remote} {ref.name}",
            )
        where = f"{ref.read_from} has no aiwg.yml with `human_gates`" if ref else "no ref has one"
        raise GateError(Exit.FATAL, f"no policy: {where}", "git gate init")

    def target_tip(self, ref: str) -> tuple[str, str | None]:
        return target_tip(self.repo, ref, self.remote)

    def known_refs(self) -> dict[str, str]:
        """The branches and tags of the remote as last fetched, by their names there, with their
        commits; of this repository where there is no remote. The journal is not among them."""
        if self.remote is None:
            found = refs.listing(self.repo, "refs/heads/") | refs.listing(self.repo, "refs/tags/")
        else:
            prefix = f"refs/remotes/{self.remote}/"
            found = {
                f"refs/heads/{name.removeprefix(prefix)}": tip
                for name, tip in refs.listing(self.repo, prefix).items()
                if name != f"{prefix}HEAD"
            }
        found.pop(ids.JOURNAL, None)
        return found

    def ledger(self, gate: str, subject: str) -> Ledger:
        """The ledger of one instance as this command first read it."""
        return self.ledgers.read(gate, subject)

    @property
    def ledgers(self) -> Ledgers:
        """The ledgers that this clone knows.

        The notes are read before any of them: a writer stores in the ledger first, so a record in
        a note is never one that is only younger than the ledger that was read.
        """
        if self._ledgers is None:
            _ = self.note_index
            self._ledgers = Ledgers(self.repo, self.remote)
        return self._ledgers

    def signer_of(
        self, policy: PolicyCommit, payload: bytes, armor: bytes, time: int
    ) -> str | None:
        """The listed person who signed `payload` (a commit), None where nobody surely did."""
        times = (time,) if self.historic else (time, self.now)
        checked = verify_signature(payload, armor, self._trust(policy), times=times)
        return checked.principal if checked.status is SignatureStatus.GOOD else None

    def gates(self, policy: PolicyCommit | None) -> list[str]:
        """The gates of the policy, then those of which only ledgers or notes are left."""
        own = policy.policy.gates if policy else ()
        named = {ref.removeprefix(ids.GATES) for ref, _ in self.sieve.catalogue.listed}
        left = {name.partition("/")[0] for name in named if "/" in name} | self.note_index.gates()
        return list(dict.fromkeys([*own, *filter(ids.is_gate, sorted(left))]))

    def subjects(self, gate: str) -> list[str]:
        """The subjects of `gate`: those that have a ledger, and those of which a note has a
        record though the ledger is gone."""
        return self.sieve.subjects(gate)

    @property
    def sieve(self) -> Sieve:
        """Which instances a question needs to be read for."""
        if self._sieve is None:
            _ = self.ledgers
            if self._book is None:
                self._book = digests.read_book(self.repo)
            self._sieve = Sieve(self, self._book)
        return self._sieve

    def each(self, doing: str, things: Sequence[T]) -> Iterator[T]:
        """The things one by one; where they are many, whoever looks is told how far it is."""
        with self.progress() as watch:
            for number, thing in enumerate(things):
                if number % _SAID_EVERY == 0 and len(things) > _SAID_EVERY:
                    watch(f"{doing}: {number} of {len(things)}")
                yield thing

    def mainline(self, tip: str) -> Mainline:
        """The first-parent chain of a commit."""
        if tip not in self._mainlines:
            self._mainlines[tip] = Mainline(self.repo, tip)
        return self._mainlines[tip]

    def nameless(self) -> list[str]:
        """The refs among those of ledgers of which nothing says what instance they are of."""
        return [ref for ref, subject in self.sieve.catalogue.listed if subject is None]

    def subject_of(self, gate: str, tag: str) -> str | None:
        """The subject of records whose ledger is gone: the tag's name, else what R says."""
        subject = ids.decode_subject(tag.removeprefix(f"gate/{gate}/"))
        place = tag.removeprefix("gate/")
        for _, record in () if subject is not None else self._noted_at(place):
            try:
                message = self.repo.commit(record.decision.request).message
                named = ids.check_subject(dict(parse_trailers(message)).get("Subject", ""))
            except (GateError, ValueError):
                continue
            if ids.tag_name(gate, named) == tag:
                return named
        return subject

    def load(self, policy: PolicyCommit, gate: str, subject: str) -> Loaded:
        """One instance, its records verified against the signers of `policy`."""
        key = (policy.key, gate, subject)
        if key not in self._loaded:
            self._loaded[key] = instances.load(self, policy, gate, subject)
            if self._sieve is not None:
                self._sieve.settling.learn(policy, self._loaded[key])
        return self._loaded[key]

    def fold_of(self, policy: PolicyCommit, ledger: Ledger) -> Instance:
        """The fold of a ledger that a writer has just read again."""
        return instances.fold_of(self, policy, ledger)

    def held(self, policy: PolicyCommit, gate: str, subject: str) -> Held:
        """As `load`, without what the events come to."""
        return instances.held(self, policy, gate, subject)

    def forget(self) -> None:
        """Read all that can change anew from now on."""
        self._noted = None
        self._note_index = None
        self._sieve = None
        self._ledgers = None
        self._verdicts.clear()
        self._loaded.clear()

    def reload(self, policy: PolicyCommit, gate: str, subject: str) -> Loaded:
        """As `load`, from the repository as it is now."""
        self.forget()
        return self.load(policy, gate, subject)

    def verdict(self, policy: PolicyCommit, loaded: Loaded, request: Request) -> Verdict:
        """What the records of `loaded` make of `request` now; GateError without that gate."""
        key = (policy.key, request.id)
        if key not in self._verdicts:
            self._verdicts[key] = self.judge(policy, loaded, request, loaded.records)
        return self._verdicts[key]

    def judged(self, policy: PolicyCommit, record: Record) -> Judged:
        """The record with what its verification says, at its own time and now."""
        key = (policy.key, record.id)
        if key not in self._judged:
            time = record.decision.tagger.time
            times = (time,) if self.historic else (time, self.now)
            checked = verify(record, self._trust(policy), times=times)
            self._judged[key] = Judged(record.id, record.payload, record.decision, checked)
        return self._judged[key]

    def _trust(self, policy: PolicyCommit) -> Trust:
        return Trust(
            policy.signers,
            policy.signers_file,
            policy.policy.openpgp,
            policy.policy.x509,
            self.repo.config,
        )

    @property
    def noted(self) -> Noted:
        """What stands in notes."""
        if self._noted is None:
            self._noted = noted.read(self.repo, self.remote)
        return self._noted

    @property
    def note_index(self) -> NoteIndex:
        """Which records stand in notes, without reading those that were read before.

        Raises GateError (untrusted) as `noted` does.
        """
        if self._note_index is None:
            found = noteindex.read(self.repo, self.remote)
            self._note_index = found or FullIndex(self.repo, self.noted)
        return self._note_index

    def strays(self, gate: str, subject: str) -> list[Record]:
        """The well-formed records of an instance that stand in notes."""
        return [record for _, record in self._noted_of(gate, subject)]

    def noted_on(self, gate: str, subject: str, record: str) -> str | None:
        """The commit on which a note has this record."""
        found = self._noted_of(gate, subject)
        return next((commit for commit, one in found if one.id == record), None)

    def uncopied(self, held: Held) -> list[tuple[str, Record]]:
        """The records of an instance that the notes lack, each with its work commit; not junk."""
        there = {(commit, one.id) for commit, one in self._noted_of(held.gate, held.subject)}
        found: list[tuple[str, Record]] = []
        for judged in held.records:
            request = held.ledger.requests.get(judged.decision.request)
            if request and not judged.junk and (request.work, judged.id) not in there:
                found.append((request.work, held.raws[judged.id]))
        return found

    def _noted_of(self, gate: str, subject: str) -> list[tuple[str, Record]]:
        return self._noted_at(ids.tag_name(gate, subject).removeprefix("gate/"))

    def _noted_at(self, place: str) -> list[tuple[str, Record]]:
        try:
            return self.note_index.records(place)
        except GateError:
            return self.noted.records.get(f"gate/{place}", [])

    def judge(
        self,
        policy: PolicyCommit,
        loaded: Loaded | None,
        request: Request,
        records: tuple[Judged, ...],
    ) -> Verdict:
        """What `records` make of `request`; the work of all iterations of its life is looked at
        where `loaded` is known."""
        gate = gate_of(policy, request.gate)
        requests = [request]
        found = loaded.instance.find(request.id) if loaded is not None else None
        if loaded is not None and found is not None:
            asked = (loaded.ledger.requests.get(one.request) for one in found[0].iterations)
            requests = [one for one in asked if one is not None]
        needed = not gate.approvals.self_approval
        authors = authors_of(self, policy, requests) if needed else ()
        now = request.opened.time if self.historic else self.now
        return judge(policy.people, gate, request, records, authors, now)


def gate_of(policy: PolicyCommit, gate: str) -> Gate:
    """The gate `gate` of a policy; GateError (usage) that lists those there are."""
    found = policy.policy.gates.get(gate)
    if found is None:
        there = ", ".join(policy.policy.gates) or "none"
        raise GateError(
            Exit.USAGE,
            f"the policy of commit {policy.commit[:12]} has no gate {gate!r}; it has: {there}",
            "git gate policy check",
        )
    return found
