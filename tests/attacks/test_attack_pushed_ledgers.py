"""Hazards 1, 2, 3, 7 to 12, 21 and 28, as pushes to a server with the hooks: ledgers and notes.

The clients skip their own hooks. Each forged ledger is an instance of its own, so that one push
holds them all; each has an honest twin that is received.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from forger import (
    append,
    asked_anew,
    decided,
    rebuilt,
    record,
    repository,
    request_of,
    sign,
    stamp,
    word,
    work,
)
from support.project import Project
from support.server import NOTES, at, guard, long, received, refused, sound

from gitgate.core import decision as codec
from gitgate.core.decision import Action
from gitgate.core.events import Event, EventName
from gitgate.core.ids import ledger_ref
from gitgate.git import ledger as ledgers
from gitgate.git.ledger import Draft

Forge = Callable[[Project, str], None]


def written(project: Project, subject: str, draft: Draft) -> None:
    """Append what the program itself would refuse to append."""
    repo = repository(project)
    new = ledgers._write(repo, ledgers.read(repo, "main", subject), draft, stamp())
    project.git("update-ref", ledger_ref("main", subject), new)


def event(name: EventName, request: str | None = None, **fields: object) -> Event:
    return Event("", 0, name, stamp().time, stamp().person, request, None, fields)


def says(project: Project, subject: str, raw: bytes) -> None:
    """A `decided` about the newest request, with these bytes as its record."""
    request = request_of(project, subject=subject)
    written(project, subject, Draft(event(EventName.DECIDED, request), 1, "open", record=raw))


def bobs_word(project: Project, subject: str) -> bytes:
    bob, request = project.people["bob"], request_of(project, subject=subject)
    return record(word(request, bob, subject=subject), bob)


def rewound(project: Project, subject: str) -> None:
    ref = ledger_ref("main", subject)
    project.git("update-ref", ref, f"{ref}~1")


def emptied(project: Project, subject: str) -> None:
    ref = ledger_ref("main", subject)
    root = project.git("rev-list", "--max-parents=0", "--first-parent", ref).out.strip()
    project.git("update-ref", ref, root)


def forked(project: Project, subject: str) -> None:
    rewound(project, subject)
    says(project, subject, bobs_word(project, subject))


def dropped(project: Project, subject: str) -> None:
    rebuilt(
        project,
        lambda files: {name: oid for name, oid in files.items() if not name.startswith("0001-")},
        ref=ledger_ref("main", subject),
    )


def grown_on_a_drop(project: Project, subject: str) -> None:
    """The tip stays an ancestor; the new commit's tree lacks what the old one had."""
    says(project, subject, bobs_word(project, subject))
    dropped(project, subject)


def mislabelled(project: Project, subject: str) -> None:
    says(project, subject, bobs_word(project, subject))
    ref = ledger_ref("main", subject)
    rebuilt(project, dict, message=lambda said: said.replace("Subject: ", "Subject: x"), ref=ref)


def copied(project: Project, subject: str) -> None:
    """Another instance's record."""
    says(project, subject, bobs_word(project, "honest"))


def of_an_earlier_round(project: Project, subject: str) -> None:
    bob, first = project.people["bob"], request_of(project, subject=subject)
    asked = asked_anew(project, first, "main", subject)
    append(project, EventName.ITERATED, asked=asked, subject=subject)
    says(project, subject, record(word(first, bob, subject=subject), bob))


def altered(project: Project, subject: str) -> None:
    raw = bobs_word(project, subject)
    says(project, subject, raw.replace(b"Bob Babbage", b"Bob Cabbage"))


def for_files(project: Project, subject: str) -> None:
    bob, request = project.people["bob"], request_of(project, subject=subject)
    says(project, subject, record(word(request, bob, subject=subject), bob, "file"))


def unsigned(project: Project, subject: str) -> None:
    bob, request = project.people["bob"], request_of(project, subject=subject)
    says(project, subject, codec.payload(word(request, bob, subject=subject)))


def signed_twice(project: Project, subject: str) -> None:
    raw = bobs_word(project, subject)
    says(project, subject, raw + sign(raw, project.people["bob"]))


def with_junk(project: Project, subject: str) -> None:
    says(project, subject, bobs_word(project, subject) + b"junk\n")


def huge(project: Project, subject: str) -> None:
    says(project, subject, bobs_word(project, subject) + b"x" * (1 << 20))


def said_again(project: Project, subject: str) -> None:
    """An old approval put behind the rejection that came later."""
    bob, request = project.people["bob"], request_of(project, subject=subject)
    raw = bobs_word(project, subject)
    decided(project, request, raw, subject=subject)
    no = word(request, bob, Action.REJECT, subject=subject, message="no")
    decided(project, request, record(no, bob), subject=subject)
    says(project, subject, raw)


def landed_nowhere(project: Project, subject: str) -> None:
    request, main = request_of(project, subject=subject), project.rev("origin/main")
    fields = {"old": main, "new": project.rev("feature"), "target": "refs/heads/main"}
    append(project, EventName.LANDED, request, fields=fields, subject=subject)


def taken_back_after_a_no(project: Project, subject: str) -> None:
    append(project, EventName.WITHDRAWN, subject=subject)


def claimed(project: Project, subject: str) -> None:
    fields = {"consumer": "me"}
    oid = project.rev("HEAD")
    one = Event("", 0, EventName.CLAIMED, stamp().time, stamp().person, None, oid, fields)
    written(project, subject, Draft(one, 1, "open"))


def opened_while_open(project: Project, subject: str) -> None:
    asked = asked_anew(project, request_of(project, subject=subject), "main", subject)
    append(project, EventName.OPENED, asked=asked, subject=subject)


def without_its_trees(project: Project, subject: str) -> None:
    """A request that keeps from the server what it is about."""
    request = request_of(project, subject=subject)
    tree = project.git("ls-tree", request).out
    kept = "".join(line + "\n" for line in tree.splitlines() if not line.endswith("\twork"))
    bare = project.git("mktree", stdin=kept).out.strip()
    sides = [word for parent in project.git("rev-parse", f"{request}^@").out.split()
             for word in ("-p", parent)]  # fmt: skip
    message = project.git("log", "-1", "--format=%B", request).out.rstrip("\n") + "\n"
    made = project.git("commit-tree", bare, *sides, stdin=message).out.strip()
    written(project, subject, Draft(event(EventName.ITERATED, made), 2, "open"))


def not_yaml(project: Project, subject: str) -> None:
    """11: an event that explodes, or says the same twice."""
    says(project, subject, bobs_word(project, subject))
    evil = project.git("hash-object", "-w", "--stdin", stdin="a: &a [1,1]\nb: [*a,*a]\n")
    name = "0003-decided.yml"
    ref = ledger_ref("main", subject)
    rebuilt(project, lambda files: {**files, name: evil.out.strip()}, ref=ref)


FORGED: dict[str, tuple[Forge, str]] = {
    "rewound": (rewound, "would lose events: it only grows"),
    "emptied": (emptied, "has no event"),
    "forked": (forked, "would lose events: it only grows"),
    "dropped": (dropped, "does not only add its own files to those before it"),
    "grown": (grown_on_a_drop, "does not only add its own files to those before it"),
    "mislabelled": (mislabelled, "has a message that cannot be read"),
    "earlier": (of_an_earlier_round, "was signed for another request, "),
    "huge": (huge, "and 1048576 are the most allowed"),
    "landed": (landed_nowhere, "has no effect: the landing that it names is not on the target's"),
    "taken": (taken_back_after_a_no, "`withdrawn` may not follow once somebody has decided"),
    "claimed": (claimed, "`claimed` may not follow while the instance is open"),
    "opened": (opened_while_open, "`opened` may not follow while the instance is open"),
    "treeless": (without_its_trees, "does not hold exactly the trees of its base and its work"),
    "yaml": (not_yaml, "cannot be read: an alias"),
}

JUNK: dict[str, tuple[Forge, str]] = {
    "copied": (copied, "never counts: the record was signed for gate/main/honest, not gate/main/"),
    "altered": (altered, "never counts: the signature does not fit"),
    "files": (for_files, "never counts: the signature is not accepted: it is for the namespace "),
    "unsigned": (unsigned, "never counts: the record is not signed"),
    "twice": (signed_twice, "never counts: the record has a second armor"),
    "behind": (with_junk, "never counts: the record has text after its armor"),
    "again": (said_again, "has no effect: its record stands in this ledger already"),
}


@pytest.fixture
def asked(team: Project) -> Project:
    """A server that has an instance for each forgery: opened, and rejected by Ada."""
    return asked_of(team, *FORGED)


def asked_of(team: Project, *subjects: str, no: bool = True) -> Project:
    work(team)
    for subject in ("honest", *subjects):
        team.gate("open", "--subject", subject, "--base", "origin/main").ok()
        ada, request = team.people["ada"], request_of(team, subject=subject)
        if no:
            said = word(request, ada, Action.REJECT, subject=subject, message="no")
            decided(team, request, record(said, ada), subject=subject)
    guard(team.remote)
    received(team, "refs/aiwg/gates/*:refs/aiwg/gates/*")
    return team


def test_forged_ledgers(asked: Project) -> None:
    before = {ref: asked.rev(ref) for ref in (ledger_ref("main", one) for one in FORGED)}
    for subject, (forge, _) in FORGED.items():
        forge(asked, subject)
    said = refused(
        asked,
        *((ledger_ref("main", subject), reason) for subject, (_, reason) in FORGED.items()),
    )
    assert max(map(len, said.splitlines())) < 400
    for ref, tip in before.items():
        asked.git("update-ref", ref, tip)
    for subject in FORGED:
        says(asked, subject, bobs_word(asked, subject))
    received(asked, *before)
    sound(asked.remote)


def test_junk_is_received_and_never_counts(team: Project) -> None:
    """10: nobody is locked out by it, whose ledger has it from elsewhere; it lets nothing land, and
    does not keep an honest record from counting."""
    asked_of(team, *JUNK, no=False)
    for subject, (forge, _) in JUNK.items():
        forge(team, subject)
    said = received(team, *(ledger_ref("main", subject) for subject in JUNK))
    warned = [line for line in said.splitlines() if "git-gate: warning: the record of" in line]
    for subject, (_, reason) in JUNK.items():
        assert [line for line in warned if f" of main of {subject} {reason}" in line], said
    refused(team, ("feature:refs/heads/main", "nothing that was approved accounts for"))
    honest = [subject for subject in JUNK if subject != "again"]
    for subject in honest:
        says(team, subject, bobs_word(team, subject))
    received(team, *(ledger_ref("main", subject) for subject in honest))
    sound(team.remote)


def test_junk_beside_an_approval(team: Project) -> None:
    """An approval counts, whatever junk stands in front of it."""
    asked_of(team, no=False)
    for forge in (altered, unsigned, with_junk, signed_twice):
        forge(team, "honest")
    received(team, ledger_ref("main", "honest"))
    refused(team, ("feature:refs/heads/main", "nothing that was approved accounts for"))
    says(team, "honest", bobs_word(team, "honest"))
    received(team, ledger_ref("main", "honest"))
    received(team, "feature:refs/heads/main")


def rejected_note(project: Project) -> tuple[str, str]:
    """A rejection with its note, both on the server; the work commit and the notes' tip."""
    commit = work(project)
    project.gate("open").ok()
    project.be(project.people["ada"])
    project.gate("reject", "-m", "no").ok()
    guard(project.remote)
    received(project, project.ledger(), NOTES)
    return commit, project.rev(NOTES)


def test_forged_notes(team: Project) -> None:
    """2, 3, 10: no record is lost from a note, whatever git makes of it; sizes have limits."""
    commit, tip = rejected_note(team)
    lost = f"a decision would be lost from the notes on {commit[:12]}"

    def tried(reason: str) -> None:
        refused(team, (f"{NOTES}:{NOTES}", reason))
        team.git("update-ref", NOTES, tip)

    notes = ["notes", "--ref=aiwg/gates"]
    team.git(*notes, "remove", commit)
    tried(lost)
    team.git(*notes, "add", "--force", "-m", "nothing was ever said", commit)
    tried(lost)
    text = team.git(*notes, "show", commit).out
    team.git(*notes, "add", "--force", "-m", text.replace("Reject", "Approve"), commit)
    tried(lost)
    team.git("update-ref", "-d", NOTES)
    team.git(*notes, "append", "-m", "another history", "HEAD~1")
    moved = team.git("rev-parse", f"{NOTES}^{{tree}}").out.strip()
    tried(f"{NOTES} would lose its history: it only grows")
    flat = team.git("commit-tree", moved, "-p", tip, "-m", "emptied").out.strip()
    team.git("update-ref", NOTES, flat)
    tried(lost)
    file = team.top / ".git" / "large"
    file.write_text("x\n" * (2 << 20) + "x")
    team.git(*notes, "append", "--file", str(file), "HEAD~1")
    tried("was left out: it is larger than 4 MiB")
    file.write_text("object x\n-----END SSH SIGNATURE-----\n\n" * 10_001)
    team.git(*notes, "append", "--file", str(file), "HEAD~1")
    tried("was cut after 10000 records")


def test_honest_notes(team: Project) -> None:
    """What loses nothing is received: more notes, another fan-out, a merge, junk that goes."""
    commit, tip = rejected_note(team)
    notes = ["notes", "--ref=aiwg/gates"]
    team.git(*notes, "append", "-m", "a remark", commit)
    team.git(*notes, "append", "-m", "another", "HEAD~1")
    received(team, NOTES)
    team.git(*notes, "remove", "HEAD~1")
    blob = team.git(*notes, "list", commit).out.strip()
    inner = team.git("mktree", stdin=f"100644 blob {blob}\t{commit[2:]}\n").out.strip()
    fanned = team.git("mktree", stdin=f"040000 tree {inner}\t{commit[:2]}\n").out.strip()
    side = team.git("commit-tree", fanned, "-p", tip, "-p", NOTES, "-m", "fan-out").out.strip()
    team.git("update-ref", NOTES, side)
    received(team, NOTES)
    sound(team.remote)


@long
def test_too_many_events(team: Project) -> None:
    """10: a chain of any length costs the server no more than its limit."""
    guard(team.remote)
    who = "A <a@example.com> 0 +0000"
    lines = [f"commit refs/aiwg/gates/main/many\ncommitter {who}\ndata 1\nx\n"] * 20_002
    team.git("fast-import", "--quiet", stdin="\n".join(lines) + "\n")
    refused(team, ("refs/aiwg/gates/main/many", "a push may bring 20000 events"))


def test_a_broken_ledger_can_be_healed(team: Project) -> None:
    """A ledger that was altered before the server had hooks gives way to a sound one that has
    all that was signed, and to no other."""
    work(team)
    team.gate("open").ok()
    opened = team.rev(team.ledger())
    team.be(team.people["ada"])
    team.gate("reject", "-m", "no").ok()
    sound_tip = team.rev(team.ledger())
    dropped(team, "feature")
    received(team, team.ledger())
    guard(team.remote)
    refused(team, (f"{opened}:{team.ledger()}", "would lose events: it only grows"))
    received(team, f"{sound_tip}:{team.ledger()}")
    assert at(team.remote, "rev-parse", team.ledger()) == sound_tip
