"""What the journal is told of this clone's ledgers, and which refs it lets go.

`journal: true` in the policy switches writing on; a journal that is there is read whatever the
policy says (design, section 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from shlex import join

from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.core import ids
from gitgate.core.gate import Status
from gitgate.core.person import Stamp
from gitgate.errors import Exit, GateError
from gitgate.git import journal as journals
from gitgate.git import journalmove, ledger, refs
from gitgate.git.journal import Entry, Index
from gitgate.git.known import SYNC

AGE = 30 * 24 * 3600
"""Seconds after its last event until the ref of an ended instance may go."""

BRANCH = "refs/heads/aiwg"
"""A branch of this name leaves no room for the journal: git keeps `aiwg` and `aiwg/journal` in
one place."""

_RETRIES = 20

ENDED = frozenset(
    [
        Status.LANDED,
        Status.WITHDRAWN,
        Status.EXPIRED,
        Status.ANSWERED,
        Status.DECLINED,
        Status.COMPLETED,
        Status.TERMINATED,
    ]
)
"""What a summary says where no life runs any more, as far as a summary can tell."""


def in_the_way(remote: str | None = None) -> GateError:
    """A branch `aiwg`, here or on `remote`, where the journal belongs."""
    other = "aiwg-branch"
    if remote is None:
        where, command = "this repository", join(["git", "branch", "-m", "aiwg", other])
    else:
        moved = f"refs/remotes/{remote}/aiwg:refs/heads/{other}"
        fetch, push = ["git", "fetch", remote], ["git", "push", remote, moved, f":{BRANCH}"]
        where, command = remote, f"{join(fetch)} && {join(push)}"
    return GateError(
        Exit.FATAL,
        f"the branch aiwg of {where} is in the way of the journal, the branch aiwg/journal",
        command,
    )


def record(
    world: World,
    policy: PolicyCommit,
    remote: str | None,
    say: Callable[[str], None] = lambda text: None,
) -> str | None:
    """Name on this clone's journal each of its own ledger tips that it does not name yet.

    Gives the journal's commit; None where the policy wants no journal or there is nothing to name.
    It goes on from the own journal, or from the newer one that `remote` was seen to have, if that
    has no defects; putting together what went apart is for `sync`. A ledger that does not verify,
    or went apart from what the journal names, is told to `say` and left out.

    Raises GateError: fatal where a branch `aiwg` is in the way, LostRace after many tries.
    """
    if not policy.policy.journal:
        return None
    repo = world.repo
    if refs.read(repo, BRANCH) is not None:
        raise in_the_way()
    someone = repo.identity()
    stamp = Stamp(someone.person, world.now, someone.offset)
    for _ in range(_RETRIES):
        own = refs.read(repo, ids.JOURNAL)
        parent = _newest(world, own, remote, say)
        entries = list(_unnamed(world, Index(repo, parent)))
        tip = parent
        if entries:
            tip = journals.append(repo, parent, entries, stamp, lambda error: say(error.message))
        if tip in (own, None) or tip == journals.write_root(repo):
            return own
        try:
            journalmove.move(repo, tip, own, "gate: journal")
        except refs.LostRace:
            continue
        return tip
    raise refs.LostRace(ids.JOURNAL)


def _newest(
    world: World, own: str | None, remote: str | None, say: Callable[[str], None]
) -> str | None:
    """The own journal, or the one that goes on from it and can be believed."""
    for head in journals.heads(world.repo, remote):
        if head == own or (own and not journals.goes_on_from(world.repo, head, own)):
            continue
        defects = journals.defects(world.repo, own, head)
        if not defects:
            return head
        say(f"the journal of {remote} is not taken over: {defects[0]}")
        if own is None:
            raise GateError(Exit.UNTRUSTED, defects[0], SYNC)
    return own


def _unnamed(world: World, index: Index) -> Iterator[Entry]:
    for ref, tip in refs.listing(world.repo, ids.GATES).items():
        listed = ledger.instance(world.repo, ref, tip)
        subject = ledger.subject_of(world.repo, listed)
        gate = ref.removeprefix(ids.GATES).partition("/")[0]
        if subject is not None and _named(index, gate, subject) != tip:
            yield Entry(gate, subject, tip)


def _named(index: Index, gate: str, subject: str) -> str | None:
    """What the index names; None too where its file is malformed, which the next line heals."""
    try:
        return index.tip(gate, subject)
    except journals.Malformed:
        return None


def removable(world: World, policy: PolicyCommit, index: Index) -> dict[str, str]:
    """The own ledger refs, with their tips, that the journal lets go: of instances that ended at
    least 30 days ago, and of which `index` names exactly this tip.

    None where the policy wants no journal. `index` has to be what the remote has: what only this
    clone's journal names would be gone with it.
    """
    if not policy.policy.journal:
        return {}
    own = refs.listing(world.repo, ids.GATES)
    return {ref: tip for ref, tip in own.items() if _may_go(world, policy, index, ref, tip)}


def _may_go(world: World, policy: PolicyCommit, index: Index, ref: str, tip: str) -> bool:
    summary = ledger.instance(world.repo, ref, tip).summary
    if summary is None or summary.status not in ENDED:  # most are sorted out by this alone
        return False
    due = world.now - AGE
    if world.repo.commit(tip).committer.time > due:
        return False
    if _named(index, summary.gate, summary.subject) != tip:
        return False
    loaded = world.load(policy, summary.gate, summary.subject)
    ended = bool(loaded.instance.lives) and loaded.instance.running is None
    sound = not loaded.faults and loaded.ledger.tip == tip
    return ended and sound and all(event.at <= due for event in loaded.ledger.events)


def remove(world: World, going: Mapping[str, str]) -> tuple[str, ...]:
    """Remove these own refs where they still have these tips; gives those that are gone.

    One transaction: a ref that moved meanwhile keeps all of them until the next time.
    """
    if not going:
        return ()
    repo = world.repo
    repo.check_writable("the refs of ended instances")
    lines = "".join(f"delete {ref}\0{tip}\0" for ref, tip in going.items())
    repo.git("update-ref", "-z", "--stdin", stdin=lines.encode())
    world.forget()
    return tuple(ref for ref in going if refs.read(repo, ref) is None)
