"""`sync`: ledgers, decisions and journal exchanged with a remote, so that neither loses any.

Fetch, bring together, push with the exact values that are replaced; whoever was slower than
somebody else does it again. Own refs move first, and only by compare-and-swap, so a run that is
killed at any point leaves both sides whole.
"""

from __future__ import annotations

import random
import shlex
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gitgate.app.exchange import exchangedone, journalling
from gitgate.app.exchange.exchange import Change, Exchange, Say, What
from gitgate.app.exchange.exchangeevents import Additions
from gitgate.app.exchange.exchangejournal import Journal
from gitgate.app.exchange.exchangeledgers import Ledgers
from gitgate.app.exchange.exchangenotes import Notes
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.core import ids
from gitgate.errors import Exit, GateError
from gitgate.git import remote as remotes
from gitgate.git.remote import Fate, Move, Pushed

ROUNDS = 100
"""How often `sync` begins again because somebody else was faster."""

REFUSALS = 8
"""How often a ref is refused, where its lock may be somebody else's, before that is final."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0


@dataclass(frozen=True, slots=True)
class Synced:
    """What an exchange came to. `warnings` and `details` are sentences, `details` for who asks for
    them; `problems` are errors that concern one ledger each and kept no other one back."""

    remote: str
    changes: tuple[Change, ...]
    problems: tuple[GateError, ...]
    warnings: tuple[str, ...]
    details: tuple[str, ...]
    dry_run: bool = False

    @property
    def exit(self) -> Exit:
        """The exit status: of several problems the gravest."""
        kinds = {error.kind for error in self.problems}
        grave = [kind for kind in (Exit.UNTRUSTED, Exit.FATAL, Exit.BLOCKED) if kind in kinds]
        return grave[0] if grave else next(iter(kinds), Exit.OK)


def sync(
    world: World,
    remote: str | None,
    *,
    only: Collection[tuple[str, str]] | None = None,
    dry_run: bool = False,
    say: Say = lambda text: None,
) -> Synced:
    """Exchange ledgers, notes and journal with `remote`; with `only` just these ledgers, each by
    gate and subject, with notes and journal.

    `say` takes what is going on, `dry_run` moves no ref here or there. Raises GateError: usage
    where there is no such remote, fatal where it cannot be reached or git does not know who
    commits, LostRace where others were faster for too long.
    """
    name = remotes.named(world.repo, remote or world.remote)
    world.repo.check_writable("what a remote has")
    wanted = None if only is None else frozenset(ids.ledger_ref(*one) for one in only)
    shared = Exchange(world, name, _policy(world), wanted, dry_run, say)
    try:
        _Sync(shared).run()
        exchangedone.keep_confirmed(shared)
    finally:
        world.forget()
    return Synced(
        name,
        tuple(shared.changes[ref] for ref in sorted(shared.changes)),
        tuple(shared.problems.values()),
        tuple(dict.fromkeys(shared.warnings)),
        tuple(shared.details),
        dry_run,
    )


def document(found: Synced) -> dict[str, Any]:
    """The document of `sync --json`."""
    return {
        "schema": 1,
        "remote": found.remote,
        "dry_run": found.dry_run,
        "changes": [
            {
                "ref": change.ref,
                "name": change.name,
                "result": change.what.value,
                "events_here": change.here,
                "events_there": change.there,
                "reasons": list(change.said),
            }
            for change in found.changes
        ],
        "warnings": list(found.warnings),
        "problems": [{"message": one.message, "hint": one.hint} for one in found.problems],
        "exit": int(found.exit),
    }


def _policy(world: World) -> PolicyCommit | None:
    """The policy in force; an exchange loses no word where there is none."""
    try:
        return world.policy()
    except GateError:
        return None


class _Sync:
    def __init__(self, shared: Exchange) -> None:
        self.shared = shared
        self.repo = shared.world.repo
        self.journal = Journal(shared)
        self.ledgers = Ledgers(shared, self.journal)
        self.notes = Notes(shared, self.journal)
        self.additions = Additions(shared)
        self.refused: Counter[str] = Counter()
        self.stuck: Counter[Move] = Counter()
        self.batch = remotes.BATCH
        self.given_up: set[str] = set()

    def run(self) -> None:
        for attempt in range(ROUNDS):
            self.shared.again = False
            self.round()
            if not self.shared.again:
                return
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(attempt, 10))
            time.sleep(random.uniform(0, pause))  # noqa: S311 - jitter, no secret
        raise GateError(
            Exit.LOST_RACE,
            f"others were faster at {self.shared.remote} {ROUNDS} times in a row",
            shlex.join(["git", "gate", "sync", self.shared.remote]),
        )

    def round(self) -> None:
        self.fetch()
        self.journal.look()
        moves = self.ledgers.look()
        self.notes.look()
        self.push(moves)
        if not self.shared.again:
            self.push(self.notes.outgoing())
        if self.shared.again or exchangedone.is_done(self.shared):
            return
        if self.additions.add():
            self.shared.again = True
            return
        self.push(self.journal.name_accepted())
        if not self.shared.again:
            self.push(self.ledgers.let_go())
            self.ledgers.remove()
        if not (self.shared.again or self.shared.problems or self.given_up):
            exchangedone.remember(self.shared)

    def fetch(self) -> None:
        """Bring what the remote has; first own refs take what only its tracking refs hold."""
        shared = self.shared
        if not shared.had:
            shared.had = remotes.tracked(self.repo, shared.remote)
        self.journal.secure()
        self.ledgers.secure()
        self.notes.secure()
        shared.say(f"fetching from {shared.remote}")
        if shared.dry_run:
            shared.there = remotes.listed(self.repo, shared.remote)
            new = [ref for ref, tip in shared.there.items() if tip != shared.had.get(ref)]
            remotes.fetch_objects(self.repo, shared.remote, new)
        else:
            remotes.fetch(
                self.repo, shared.remote, None if shared.only is None else sorted(shared.only)
            )
            shared.there = remotes.tracked(self.repo, shared.remote)
        shared.shows = shared.shows or any(ref.startswith(ids.GATES) for ref in shared.there)

    def push(self, moves: Sequence[Move]) -> None:
        moves = [move for move in moves if move.ref not in self.given_up]
        if not moves or self.shared.dry_run:
            return
        self.shared.say(f"pushing to {self.shared.remote}")
        silent, gone_out = [], []
        for pushed in remotes.push(self.repo, self.shared.remote, moves, batch=self.batch):
            if self.shared.confirmed(pushed):
                gone_out.append(pushed.move)
                continue
            if pushed.fate is Fate.LOST:
                self.lost(pushed)
            elif pushed.fate is Fate.REFUSED:
                self.refuse(pushed)
            else:
                silent.append(pushed)
        if silent and remotes.answers_pushes(self.repo, self.shared.remote, silent[0].move):
            for pushed in silent:
                self.refuse(replace(pushed, reason=f"it broke off: {pushed.reason}"))
        elif silent:
            self.read_only(silent, silent[0].reason)
        self.shown(gone_out)

    def shown(self, moves: Sequence[Move]) -> None:
        """What the remote took counts as there once it can be fetched: of a remote that has
        never shown a ledger, or is pushed to at another address, that is asked."""
        shared, new = self.shared, {move.ref: move.new for move in moves if move.new}
        key = f"remote.{shared.remote}.pushurl"
        if not new or (shared.shows and key not in self.repo.config):
            return
        listed = remotes.listed(self.repo, shared.remote)
        shared.shows = any(ref in listed for ref in new)
        hidden = [ref for ref in new if ref not in listed]
        for ref in hidden:
            remotes.note(self.repo, shared.remote, ref, None)
            shared.had.pop(ref, None)
            shared.there.pop(ref, None)
            self.given_up.add(ref)
            error = self.not_shown(ref, key)
            shared.fail(ref, self.name(ref).removeprefix("the "), What.REFUSED, error)

    def not_shown(self, ref: str, key: str) -> GateError:
        remote = self.shared.remote
        said = f"{remote} took {self.name(ref)} and does not show it to a fetch"
        if key in self.repo.config:
            why, way = f"{key} is another repository", ["git", "config", "--unset-all", key]
            return GateError(Exit.BLOCKED, f"{said}: {why}", shlex.join(way))
        why = "its uploadpack.hideRefs or transfer.hideRefs covers it"
        way = ["git", "ls-remote", remote, ref]
        return GateError(Exit.BLOCKED, f"{said}: {why}", f"{shlex.join(way)} once that is changed")

    def lost(self, pushed: Pushed) -> None:
        """Somebody who was faster shows in the next fetch; where nothing does, what is pushed to
        is not what is fetched."""
        move = pushed.move
        self.stuck[move] += 1
        if self.stuck[move] > REFUSALS:
            self.refuse(replace(pushed, reason=f"{pushed.reason}, which no fetch shows"))
            return
        name = self.name(move.ref)
        self.shared.details.append(f"somebody else was faster with {name}; tried again")
        self.shared.again = True

    def refuse(self, pushed: Pushed) -> None:
        """A lock of somebody else's push goes away; what a hook or a setting refuses does not."""
        ref, reason = pushed.move.ref, pushed.reason
        if reason == _UNPACKER:
            self.read_only([pushed], reason)
            return
        self.refused[ref] += 1
        if self.refused[ref] < (_BY_HOOK if _HOOK in reason else REFUSALS):
            self.shared.details.append(f"{self.name(ref)} was refused ({reason}); tried again")
            # A hook that refuses one ref of a push refuses all of them.
            self.batch = 1
            self.shared.again = True
            return
        self.given_up.add(ref)
        name = self.name(ref).removeprefix("the ")
        self.shared.fail(ref, name, What.REFUSED, self.refusal(pushed))

    def refusal(self, pushed: Pushed) -> GateError:
        ref, remote = pushed.move.ref, self.shared.remote
        if ref == ids.JOURNAL and remotes.has(self.repo, remote, journalling.BRANCH):
            return journalling.in_the_way(remote)
        said = "".join(f"\n  {word}" for word in pushed.words)
        way = f"mend what {remote} says, then {shlex.join(['git', 'gate', 'sync', remote])}"
        return GateError(
            Exit.BLOCKED, f"{remote} refused {self.name(ref)}: {pushed.reason}{said}", way
        )

    def read_only(self, silent: Sequence[Pushed], reason: str) -> None:
        shared = self.shared
        for pushed in silent:
            self.given_up.add(pushed.move.ref)
            shared.changes.pop(pushed.move.ref, None)
        names = ", ".join(self.name(pushed.move.ref) for pushed in silent[:3])
        more = f" and {len(silent) - 3} more" if silent[3:] else ""
        shared.warnings.append(
            f"{shared.remote} takes no pushes ({reason}): not sent: {names}{more}"
        )

    def name(self, ref: str) -> str:
        names = {ids.NOTES: "the notes", ids.JOURNAL: "the journal"}
        return names.get(ref) or self.ledgers.name(ref)


_UNPACKER = "unpacker error"
_HOOK = "hook declined"
_BY_HOOK = 2
