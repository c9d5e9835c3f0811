"""Hazards 2, 3 and 28: a ledger or the notes are rewound, rewritten, deleted, or re-ordered."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from forger import (
    NOTES,
    append,
    approved,
    blob,
    blocked,
    copy_of,
    decided,
    note_on,
    passes,
    push_lands,
    push_refused,
    rebuilt,
    record,
    repository,
    request_of,
    show,
    word,
    work,
)
from support.project import Project

from gitgate.core.decision import Action
from gitgate.core.events import EventName
from gitgate.git import ledger as ledgers

IN_A_NOTE = "stands in a note and not in the ledger"


def rejected(project: Project, branch: str = "feature", **files: str) -> str:
    commit = work(project, branch, **files)
    project.gate("open").ok()
    project.gate("reject", "-m", "no minimum length").ok()
    return commit


def test_ledger_rewound_past_a_rejection(team: Project) -> None:
    """2: the ledger goes back to before a rejection, and an approval is put there instead."""
    ada, bob = team.people["ada"], team.people["bob"]
    work(team)
    team.gate("open").ok()
    before = team.rev(team.ledger())
    team.be(ada)
    team.gate("reject", "-m", "no").ok()
    team.git("update-ref", team.ledger(), before)
    blocked(team, "untrusted", IN_A_NOTE)
    team.be(bob)
    assert "is not to be trusted" in team.gate("approve").err
    request = ledgers.read(repository(team), "main", "feature").newest
    assert request
    decided(team, request.id, record(word(request.id, bob), bob))
    blocked(team, "untrusted", IN_A_NOTE)
    push_refused(team, "untrusted", IN_A_NOTE)
    assert team.gate("open").status == 14
    team.gate("repair").ok()
    blocked(team, "rejected", "ada@example.com rejected it")
    team.be(ada)
    team.gate("retract").ok()
    push_lands(team)


def test_ledger_deleted_or_emptied(project: Project) -> None:
    """2: with the ledger gone, or back at its root, the rejection's note speaks for it."""
    rejected(project)
    ledger = project.ledger()
    tip = project.rev(ledger)
    root = project.git("rev-list", "--max-parents=0", "--first-parent", ledger).out.strip()
    project.git("update-ref", ledger, root)
    assert project.gate("open").status == 14
    blocked(project, "untrusted", IN_A_NOTE)
    project.git("switch", "--quiet", "--create", "other")
    assert project.gate("open").status == 0
    project.gate("approve")
    blocked(project, "rejected", "ada@example.com rejected the same content", subject="other")
    project.git("update-ref", "-d", ledger)
    blocked(project, "rejected", "ada@example.com rejected the same content", subject="other")
    project.git("commit", "--quiet", "--amend", "--message", "another commit of the same")
    project.gate("open", "--subject", "third").ok()
    project.gate("approve", "--subject", "third")
    blocked(project, "rejected", "ada@example.com rejected the same content", subject="third")
    push_refused(project, "rejected", "ada@example.com rejected the same content")
    assert project.gate("repair").status == 0
    assert project.gate("log", "--subject", "feature", "--json").ok().json["faults"] == []
    project.gate("retract", "--subject", "feature").ok()
    passes(project)
    assert tip != project.rev(ledger)


def test_an_approvals_ledger_deleted(project: Project) -> None:
    """2: a lost ledger loses its approval, and `repair` brings it back from the note."""
    approved(project)
    project.git("update-ref", "-d", project.ledger())
    blocked(project, "untrusted", IN_A_NOTE)
    assert project.gate("repair").status == 0
    push_lands(project)


def _drop(files: dict[str, str]) -> Mapping[str, str]:
    return {name: oid for name, oid in files.items() if not name.startswith("0002-")}


def _renumber(files: dict[str, str]) -> Mapping[str, str]:
    return {name.replace("0003", "0004"): oid for name, oid in files.items()}


ALTERED: dict[str, tuple[Callable[[dict[str, str]], Mapping[str, str]], Callable[[str], str]]] = {
    "an earlier event dropped": (_drop, str),
    "a number left out": (_renumber, str),
    "other trailers": (dict, lambda said: said.replace("Subject: feature", "Subject: other")),
    "another event in the trailers": (dict, lambda said: said.replace("decided", "landed")),
    "a stray file": (lambda files: {**files, "note.txt": next(iter(files.values()))}, str),
}


def test_ledger_rewritten(project: Project) -> None:
    """2, 28: a ledger commit that drops, renumbers, or says what its tree does not say."""
    rejected(project)
    project.gate("retract").ok()
    project.gate("approve").ok()
    sound = project.rev(project.ledger())
    for name, (change, message) in ALTERED.items():
        rebuilt(project, change, message=message)
        found = blocked(project, "untrusted")
        assert project.gate("approve").status == 14, name
        assert project.gate("log", "--json").ok().json["faults"], name
        assert "ledger" in found["reasons"][1] or "event" in found["reasons"][1], found["reasons"]
        project.git("update-ref", project.ledger(), sound)
    rebuilt(project, _drop)
    push_refused(project, "untrusted")
    assert "went back to its last sound event" in project.gate("repair").ok().out
    passes(project)
    push_lands(project)


def test_ledger_forked_into_two_views(project: Project) -> None:
    """2: somebody shows the remote a ledger without the rejection; ours stays as it is."""
    project.gate("init").ok()
    rejected(project)
    mine = project.rev(project.ledger())
    project.git("push", "--quiet", "origin", project.ledger(), f"refs/notes/{NOTES}")
    opened = f"{project.ledger()}~1"
    project.git("push", "--quiet", "--force", "origin", f"{opened}:{project.ledger()}")
    project.git("push", "--quiet", "--delete", "origin", f"refs/notes/{NOTES}")
    project.git("fetch", "--quiet", "--prune", "origin")
    assert project.rev(project.ledger()) == mine
    blocked(project, "rejected", "ada@example.com rejected it")
    project.commit("the length", {"feature.md": "# Eight or more\n"})
    project.gate("open").ok()
    project.gate("approve").ok()
    push_lands(project)


def test_ledger_rewound_that_the_remote_knows(team: Project) -> None:
    """2: ledger and note lose a rejection that this clone has fetched from its remote."""
    team.gate("init").ok()
    work(team)
    team.gate("open").ok()
    opened = team.rev(team.ledger())
    team.be(team.people["ada"])
    team.gate("reject", "-m", "no").ok()
    team.git("push", "--quiet", "origin", team.ledger(), f"refs/notes/{NOTES}")
    team.git("fetch", "--quiet", "origin")
    team.git("update-ref", team.ledger(), opened)
    team.git("update-ref", "-d", f"refs/notes/{NOTES}")
    bob, request = team.people["bob"], request_of(team)
    decided(team, request, record(word(request, bob), bob))
    blocked(team, "untrusted")


def test_note_removed(project: Project) -> None:
    """3: the note of a rejection, or of an approval, is removed: the ledger has it."""
    commit = rejected(project)
    project.git("notes", f"--ref={NOTES}", "remove", commit)
    blocked(project, "rejected", "ada@example.com rejected it")
    assert project.gate("open").status == 1
    project.gate("retract").ok()
    project.gate("approve").ok()
    project.git("update-ref", "-d", f"refs/notes/{NOTES}")
    passes(project)
    assert "copied to the note" in project.gate("repair").ok().out
    assert note_on(project, commit).encode().count(b"-----BEGIN SSH SIGNATURE-----") == 3
    push_lands(project)


@pytest.mark.parametrize("strategy", ["union", "cat_sort_uniq", "ours", "theirs"])
def test_note_deleted_by_a_merge(project: Project, strategy: str) -> None:
    """3: one side deletes the note, and stock git merges the deletion or shreds the records."""
    commit = rejected(project)
    notes = f"refs/notes/{NOTES}"
    project.git("update-ref", "refs/notes/theirs", notes)
    project.git("notes", "--ref=theirs", "remove", commit)
    project.git("notes", f"--ref={NOTES}", "add", "--message", "hello", "origin/main")
    project.git("notes", f"--ref={NOTES}", "merge", "--strategy", strategy, "theirs")
    assert not note_on(project, commit, check=False)
    blocked(project, "rejected", "ada@example.com rejected it")
    project.gate("repair").ok()
    assert note_on(project, commit).encode() == copy_of(project)[0]


def test_shredded_notes(project: Project) -> None:
    """3: `cat_sort_uniq` shreds records; the pieces count for nothing and hide nothing."""
    commit = approved(project)
    whole = note_on(project, commit)
    project.git(
        "notes", f"--ref={NOTES}", "add", "--force", "--file", "-", commit,
        stdin="\n".join(sorted(whole.splitlines())) + "\n",
    )  # fmt: skip
    passes(project)
    project.gate("repair").ok()
    assert whole in note_on(project, commit)


def test_an_old_approval_appended_again(project: Project) -> None:
    """28: after a rejection somebody appends the earlier approval once more."""
    approved(project)
    project.gate("reject", "-m", "on second thoughts: no").ok()
    first, _ = copy_of(project)
    decided(project, request_of(project), first)
    blocked(project, "rejected", "ada@example.com rejected it")
    assert any("stands in this ledger already" in one for one in show(project)["warnings"])
    push_refused(project, "rejected")
    project.gate("approve", "-m", "I was wrong").ok()
    push_lands(project)


def test_decisions_in_another_order(project: Project) -> None:
    """28: the ledger is built anew with the approval behind the rejection that superseded it."""
    approved(project)
    project.gate("reject", "-m", "no").ok()
    approval, rejection = copy_of(project)
    request = request_of(project)
    project.git("update-ref", project.ledger(), f"{project.ledger()}~2")
    for raw in (rejection, approval):
        decided(project, request, raw)
    blocked(project, "rejected", "ada@example.com rejected it")
    assert not show(project)["warnings"]


def test_unordered_decisions_of_one_person(project: Project) -> None:
    """28: where nothing that is signed orders two records, the rejection wins."""
    work(project)
    project.gate("open").ok()
    request, ada = request_of(project), project.people["ada"]
    for action in (Action.REJECT, Action.APPROVE):
        decided(project, request, record(word(request, ada, action, message="x"), ada))
    blocked(project, "rejected", "ada@example.com rejected it")
    project.gate("approve").ok()
    passes(project)


def test_forged_summary(project: Project) -> None:
    """28: an opener's ledger commit that says `Status: approved`."""
    work(project)
    project.gate("open").ok()
    rebuilt(project, dict, message=lambda said: said.replace("Status: open", "Status: approved"))
    [listed] = project.gate("list", "--all", "--json").ok().json["instances"]
    assert listed["status"] == "open"
    blocked(project, "pending", "nobody has approved it yet")
    project.gate("approve").ok()
    passes(project)


def test_unsigned_events(project: Project) -> None:
    """28: `withdrawn`, `landed` and `expired` by anybody neither authorise nor use up anything."""
    rejected(project)
    request, old, new = request_of(project), project.rev("origin/main"), project.rev()
    landed = {"old": old, "new": new, "target": "refs/heads/main"}
    append(project, EventName.WITHDRAWN, request, fields={"reason": "never mind"})
    append(project, EventName.LANDED, request, fields=landed)
    blocked(project, "rejected", "ada@example.com rejected it")
    withdrawn, landing = (one for one in show(project)["warnings"] if "has no effect" in one)
    assert withdrawn.startswith("event 0003-withdrawn has no effect: ")
    assert landing.startswith("event 0004-landed has no effect: the landing that it names is not")
    project.gate("retract").ok()
    project.gate("approve").ok()
    append(project, EventName.LANDED, request, fields=landed)
    append(project, EventName.WITHDRAWN, request, fields={})
    push_lands(project)


def test_a_forged_request_behind_the_rejected_one(project: Project) -> None:
    """28: the rejected request is asked again by an unsigned event, with its old approval."""
    approved(project)
    request = request_of(project)
    [approval] = copy_of(project)
    project.commit("worse", {"feature.md": "# Worse\n"})
    project.gate("open").ok()
    project.gate("reject", "-m", "worse").ok()
    known = ledgers.read(repository(project), "main", "feature").requests[request]
    project.git("switch", "--quiet", "--create", "again", f"{request}^1")
    append(project, EventName.ITERATED, asked=replace(known, id="", nonce="0" * 32))
    decided(project, request_of(project), approval)
    blocked(project, "pending", "nobody has approved it yet")
    project.gate("approve", "--subject", "feature").ok()
    passes(project)


def _with_body(body: str) -> Callable[[dict[str, str]], Mapping[str, str]]:
    return lambda files: {**files, "0002-decided.yml": body}


def test_hostile_yaml_in_a_ledger(project: Project) -> None:
    """2, 11: an event whose YAML explodes, constructs objects, or is no event."""
    approved(project)
    sound = project.rev(project.ledger())
    bombs = (
        "a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a, *a, *a]\n" for n in range(2000)),
        "at: !!python/object/apply:os.system ['touch pwned']\n",
        "[" * 20_000,
        "at: 2025-12-01T05:00:00Z\nat: 2025-12-01T05:00:00Z\n",
        "",
    )
    for text in bombs:
        body = blob(project, text)
        rebuilt(project, _with_body(body))
        blocked(project, "untrusted", "event 2, commit")
        project.git("update-ref", project.ledger(), sound)
    assert not (project.top / "pwned").exists()
    passes(project)


def test_a_ledger_that_lost_its_objects(project: Project) -> None:
    """2: the ref is there and the objects are not: nothing is approved, and nothing crashes."""
    approved(project)
    request = request_of(project)
    file = project.top / ".git" / "objects" / request[:2] / request[2:]
    shutil.move(file, file.with_suffix(".away"))
    blocked(project, "untrusted", f"object {request} is missing")
    shutil.move(file.with_suffix(".away"), file)
    passes(project)
