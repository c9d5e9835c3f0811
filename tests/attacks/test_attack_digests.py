"""Hazards 2, 22 and 29, for what a clone remembers of ledgers: nothing passes because a file in
git's folder is broken, old or gone, and no rejection is overlooked because its instance has ended.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from forger import (
    append,
    blocked,
    decided,
    judged,
    noted,
    passes,
    push_lands,
    push_refused,
    record,
    repository,
    request_of,
    stamp,
    word,
    work,
)
from support.project import Project

from gitgate.app.gather.world import World
from gitgate.app.landing.landings import record_landing
from gitgate.core import ids
from gitgate.core.decision import Action
from gitgate.core.events import EventName
from gitgate.git import journal, refs
from gitgate.git.journal import Entry

VETO = "ada@example.com rejected the same content as iteration 1 of feature"


def ended(team: Project, *, rejected: bool = True) -> str:
    """The agent's `feature` has landed with other content than that of its first round, which Ada
    may have rejected; only the journal names it. Gives the first round's request."""
    work(team)
    team.gate("open").ok()
    first = request_of(team)
    if rejected:
        by(team, "ada", "reject", "-m", "not this")
    team.git("rm", "--quiet", "feature.md")
    team.commit("something else", {"else.md": "else\n"})
    team.gate("open").ok()
    by(team, "bob", "approve")
    push_lands(team)
    with closing(World(repository(team), int(time.time()))) as world:
        assert record_landing(world, world.policy(), "main", "feature", stamp())
    only_in_journal(team)
    return first


def by(team: Project, who: str, *args: str) -> None:
    team.be(team.people[who])
    team.gate(*args).ok()
    team.be(team.people["agent"], signs=False)


def only_in_journal(team: Project, subject: str = "feature") -> None:
    """The journal names the ledger's tip, and its ref goes."""
    repo, ref = repository(team), team.ledger(subject=subject)
    tip = refs.read(repo, ref)
    assert tip
    before = refs.read(repo, ids.JOURNAL)
    new = journal.append(repo, before, [Entry("main", subject, tip)], stamp())
    team.git("update-ref", ids.JOURNAL, new)
    team.git("update-ref", "-d", ref)


def again(team: Project, subject: str = "again") -> None:
    """What the first round asked for, on the newest main under another name; Bob approves it."""
    team.git("switch", "--quiet", "--create", subject, "origin/main")
    team.commit("once more", {"feature.md": "# feature\n"})
    team.gate("open").ok()
    by(team, "bob", "approve")


def kept(team: Project, name: str = "digests") -> Path:
    return team.top / ".git" / "git-gate" / name


def signed(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change a file, and give it the first line that belongs to it then."""
    first, _, rest = path.read_bytes().partition(b"\n")
    new = change(rest)
    told = hashlib.sha1(new, usedforsecurity=False).hexdigest().encode()
    path.write_bytes(first.rpartition(b" ")[0] + b" " + told + b"\n" + new)


def test_a_rejection_of_an_ended_instance(team: Project) -> None:
    """29: it blocks the same change on another base as long as its author does not lift it."""
    ended(team)
    again(team)
    blocked(team, "rejected", VETO)
    assert kept(team).is_file()
    blocked(team, "rejected", VETO)
    push_refused(team, "rejected", VETO)
    by(team, "ada", "retract", "--subject", "feature", "--iteration", "1")
    push_lands(team)


def test_its_twin_that_nobody_rejected(team: Project) -> None:
    ended(team, rejected=False)
    again(team)
    passes(team)
    push_lands(team)


def test_a_late_rejection(team: Project) -> None:
    """2, 29: Ada rejects the first round after all has ended, and after all was remembered."""
    first = ended(team, rejected=False)
    again(team)
    passes(team)
    repo = repository(team)
    tip = journal.Index(repo, refs.read(repo, ids.JOURNAL)).tip("main", "feature")
    team.git("update-ref", team.ledger(), str(tip))
    ada = team.people["ada"]
    decided(team, first, record(word(first, ada, Action.REJECT), ada))
    only_in_journal(team)
    blocked(team, "rejected", VETO)
    push_refused(team, "rejected", VETO)


def test_a_late_rejection_in_a_note_alone(team: Project) -> None:
    """2, 3: the ledger that is remembered does not have it, and a note does."""
    first = ended(team, rejected=False)
    again(team)
    passes(team)
    ada = team.people["ada"]
    noted(team, team.rev("again"), record(word(first, ada, Action.REJECT), ada))
    blocked(team, "rejected", VETO)
    push_refused(team, "rejected", VETO)


def test_a_rejection_whose_ledger_is_gone(team: Project) -> None:
    """2: remembered or not, what no ref and no journal names is known from its note."""
    ended(team)
    again(team)
    blocked(team, "rejected", VETO)
    team.git("update-ref", "-d", ids.JOURNAL)
    blocked(team, "rejected", "ada@example.com rejected the same content as feature")


def test_an_approval_that_was_taken_back(team: Project) -> None:
    """22: what somebody consented to once is no consent."""
    ended(team)
    team.git("switch", "--quiet", "--create", "other", "origin/main")
    team.commit("other", {"other.md": "other\n"})
    team.gate("open").ok()
    by(team, "bob", "approve")
    passes(team)
    by(team, "bob", "retract")
    blocked(team, "pending", moves="origin/main..other")


BROKEN: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-200]),
    "one line cut": lambda path: path.write_bytes(path.read_bytes().rpartition(b"\nmain/")[0]),
    "garbage": lambda path: path.write_bytes(b"\x00\xff\n\n" * 1000),
    "another version": lambda path: path.write_bytes(path.read_bytes().replace(b" 1 ", b" 2 ", 1)),
    "a bit": lambda path: path.write_bytes(path.read_bytes().replace(b"\ter\t", b"\te-\t")),
    "a link to nowhere": lambda path: (path.unlink(), path.symlink_to("nowhere")),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("name", ["digests", "noted"])
def test_a_file_that_is_broken(team: Project, name: str) -> None:
    """22: what cannot be read is not there, and all ledgers are read."""
    ended(team)
    again(team)
    for how in BROKEN.values():
        blocked(team, "rejected", VETO)
        how(kept(team, name))
    blocked(team, "rejected", VETO)


def test_a_file_of_another_time(team: Project) -> None:
    """2: from before the rejection, and from another repository."""
    first = ended(team, rejected=False)
    again(team)
    passes(team)
    older = shutil.copytree(kept(team).parent, team.top.parent / "older")
    ada = team.people["ada"]
    repo = repository(team)
    tip = journal.Index(repo, refs.read(repo, ids.JOURNAL)).tip("main", "feature")
    team.git("update-ref", team.ledger(), str(tip))
    decided(team, first, record(word(first, ada, Action.REJECT), ada))
    blocked(team, "rejected", VETO)
    for name in ("digests", "noted"):
        shutil.copy(older / name, kept(team, name))
    blocked(team, "rejected", VETO)


def test_a_file_that_says_who_consented(team: Project) -> None:
    """22: even one with a right checksum makes nothing pass that its ledger does not."""
    ended(team)
    team.git("switch", "--quiet", "--create", "other", "origin/main")
    team.commit("other", {"other.md": "other\n"})
    team.gate("open").ok()
    team.gate("list").ok()
    before = judged(team)
    assert before["status"] == "pending"
    assert b"\tw-\t" in kept(team).read_bytes()
    signed(kept(team), lambda data: data.replace(b"\tw-\t", b"\tc-\t").replace(b" - P", b" c P"))
    assert judged(team) == before


def statuses(team: Project) -> list[tuple[str, str]]:
    listed = team.gate("list", "--all", "--json").ok().json["instances"]
    return [(one["subject"], one["status"]) for one in listed]


def test_a_line_that_nobody_wrote(team: Project) -> None:
    """22: with a right checksum it was put there on purpose. What it hides nobody can tell."""
    ended(team, rejected=False)
    again(team)
    passes(team)
    assert b"\te-\t" in kept(team).read_bytes()
    shown = statuses(team)
    signed(kept(team), lambda data: data.replace(b"\te-\t", b"\teee\t"))
    assert statuses(team) == shown
    signed(kept(team), lambda data: data.replace(b"\te-\t", b" e-\t"))
    answer = team.gate("list", "--all")
    assert (answer.status, answer.out) == (14, "")
    assert answer.err == (
        "git-gate: git-gate/digests in the folder of git has a line that no git-gate wrote\n"
        "hint: rm .git/git-gate/digests\n"
    )


def test_an_event_that_claims_the_end(team: Project) -> None:
    """28: a `landed` that anybody wrote ends nothing, also not in what is remembered."""
    ended(team)
    team.git("switch", "--quiet", "--create", "other", "origin/main")
    team.commit("other", {"other.md": "other\n"})
    team.gate("open").ok()
    by(team, "bob", "approve")
    request = request_of(team, subject="other")
    fields = {"old": team.rev("main"), "new": team.rev("origin/main"), "target": "refs/heads/main"}
    append(team, EventName.LANDED, request, subject="other", fields=fields)
    passes(team)
    passes(team)
    push_lands(team)
