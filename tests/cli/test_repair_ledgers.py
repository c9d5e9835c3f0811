"""A ledger that was deleted, rewound or rewritten: untrusted until `repair`, then as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mending import (
    copied,
    decide,
    everything,
    findings,
    is_whole,
    ledger_of,
    make_team,
    records_of,
    status,
    texts,
)
from support.project import Project
from tampering import LEDGER, amended, blob, lose_object, tell, told

from gitgate.core.events import EventName

NOTES = "refs/notes/aiwg/gates"


_made: list[Project] = []


@pytest.fixture
def vetoed(tmp_path: Path, home: Path) -> Project:
    """Two iterations: Bob rejects the first, Ada approves the second and Bob rejects it too."""
    if not _made:
        (tmp_path / "first").mkdir()
        _made.append(_tell_the_story(make_team(tmp_path / "first", home)))
    return copied(_made[0], tmp_path)


def _tell_the_story(team: Project) -> Project:
    team.branch("feature")
    team.commit("work", {"page.md": "# Page\n"})
    team.gate("open").ok()
    decide(team, "bob", "reject", "-m", "no minimum length")
    team.commit("more", {"page.md": "# Page\n\nMinimum length: 4\n"})
    team.gate("open").ok()
    decide(team, "ada", "approve", "-m", "fine")
    decide(team, "bob", "reject", "-m", "too short")
    return team


def _deleted(project: Project) -> None:
    project.git("update-ref", "-d", LEDGER)


def _rewound(project: Project) -> None:
    project.git("update-ref", LEDGER, f"{LEDGER}~1")


def _emptied(project: Project) -> None:
    root = project.git("rev-list", "--max-parents=0", "--first-parent", LEDGER).out.strip()
    project.git("update-ref", LEDGER, root)


def _retold_without_the_veto(project: Project) -> None:
    tell(project, told(project)[:-1])


def _retold_without_an_earlier_record(project: Project) -> None:
    events = told(project)
    tell(project, [*events[:1], *events[2:]])


def _retold_with_the_second_request_alone(project: Project) -> None:
    opened, _, iterated, approved, _ = told(project)
    swapped = opened.files["opened.yml"], iterated.files["iterated.yml"]
    assert swapped[0] != swapped[1]
    first = iterated.saying("iterated", "opened")
    tell(project, [type(first)({"opened.yml": swapped[1]}, first.message, first.request), approved])


def _an_earlier_event_dropped(project: Project) -> None:
    amended(project, {"0002-decided.yml": None, "0002-decided.tag": None})


def _an_earlier_event_changed(project: Project) -> None:
    text = project.git("show", f"{LEDGER}:.aiwg/gates/main/0002-decided.yml").out
    amended(project, {"0002-decided.yml": blob(project, text.replace("Bob", "Eve"))})


def _a_record_changed(project: Project) -> None:
    text = project.git("show", f"{LEDGER}:.aiwg/gates/main/0002-decided.tag").out
    events = told(project)
    events[1] = events[1].with_file(
        "decided.tag", blob(project, text.replace("no minimum length", "very good"))
    )
    tell(project, events)


def _a_record_exchanged(project: Project) -> None:
    """The veto's event comes with the approval's record."""
    events = told(project)
    events[-1] = events[-1].with_file("decided.tag", events[3].files["decided.tag"])
    tell(project, events)


def _trailers_that_disagree(project: Project) -> None:
    events = told(project)
    events[2] = events[2].saying("Subject: feature", "Subject: other")
    tell(project, events)


def _a_message_about_another_event(project: Project) -> None:
    events = told(project)
    events[-1] = events[-1].saying("Event: decided", "Event: withdrawn")
    tell(project, events)


def _another_root(project: Project) -> None:
    empty = project.git("mktree", stdin="").out.strip()
    root = project.git("commit-tree", empty, "-m", "gate main: feature").out.strip()
    tell(project, told(project), root=root)


def _the_branch_itself(project: Project) -> None:
    project.git("update-ref", LEDGER, "HEAD")


def _a_blob(project: Project) -> None:
    path = project.top / ".git" / LEDGER
    path.write_text(blob(project, "nothing\n") + "\n")


def _nothing_there_at_all(project: Project) -> None:
    (project.top / ".git" / LEDGER).write_text("1" * 40 + "\n")


def _a_commit_lost(project: Project) -> None:
    lose_object(project, project.rev(f"{LEDGER}~2"))


def _a_record_lost(project: Project) -> None:
    lose_object(project, project.rev(f"{LEDGER}:.aiwg/gates/main/0004-decided.tag"))


TAMPERED = [
    _deleted,
    _rewound,
    _emptied,
    _retold_without_the_veto,
    _retold_without_an_earlier_record,
    _retold_with_the_second_request_alone,
    _an_earlier_event_dropped,
    _an_earlier_event_changed,
    _a_record_changed,
    _a_record_exchanged,
    _trailers_that_disagree,
    _a_message_about_another_event,
    _another_root,
    _the_branch_itself,
    _a_blob,
    _nothing_there_at_all,
    _a_commit_lost,
    _a_record_lost,
]


@pytest.mark.parametrize("tamper", TAMPERED, ids=lambda one: one.__name__.strip("_"))
def test_untrusted_until_repaired(vetoed: Project, tamper: Callable[[Project], None]) -> None:
    before = {record.id for record in records_of(vetoed)}
    asked = list(ledger_of(vetoed).requests)
    tamper(vetoed)
    checked = vetoed.gate("check", "--json")
    assert (checked.status, checked.json["status"]) == (14, "untrusted"), checked.json
    assert checked.json["hint"] == "git gate repair"
    for command in ("approve", "open"):
        refused = vetoed.gate(command)
        assert (refused.status, refused.out) == (14, "")
        assert "hint: git gate repair\n" in refused.err
    assert {one["hint"] for one in findings(vetoed)} == {"git gate repair"}

    vetoed.gate("repair").ok()
    assert status(vetoed) == "rejected"
    assert {record.id for record in records_of(vetoed)} == before
    assert list(ledger_of(vetoed).requests) == asked
    assert findings(vetoed) == []
    refs = everything(vetoed)
    assert vetoed.gate("repair").ok().out == "nothing to mend\n"
    assert everything(vetoed) == refs
    is_whole(vetoed)


def test_nobody_is_told_that_it_is_approved(vetoed: Project) -> None:
    """Without the veto the approval would stand: every command says that nothing is sure."""
    _retold_without_the_veto(vetoed)
    fault = "(Reject main of feature) stands in a note and not in the ledger"
    shown = vetoed.gate("show", "--json").ok().json
    assert shown["status"] == "open"
    assert shown["reasons"][0].endswith(fault)
    assert "git gate repair" in shown["reasons"][-1]
    assert "git gate repair" in vetoed.gate("show").ok().out
    assert fault in vetoed.gate("log").ok().out
    [listed] = vetoed.gate("list", "--json").ok().json["instances"]
    assert listed["status"] == "open"
    assert vetoed.gate("wait", "--timeout", "5").status == 14


def test_a_push_is_refused_until_the_veto_is_lifted(vetoed: Project) -> None:
    _retold_without_the_veto(vetoed)
    refused = vetoed.push("HEAD:refs/heads/main")
    assert refused.status == 1
    assert "may not move: untrusted\n" in refused.err
    assert "hint: git gate repair\n" in refused.err
    vetoed.gate("repair").ok()
    assert "may not move: rejected\n" in vetoed.push("HEAD:refs/heads/main").err
    decide(vetoed, "bob", "retract")
    vetoed.push("HEAD:refs/heads/main").ok()


def test_a_record_that_is_nowhere_stays_missed(vetoed: Project) -> None:
    """What cannot be mended stays untrusted and says so, until somebody brings it."""
    vetoed.git("push", "--quiet", "--no-verify", "origin", NOTES, LEDGER)
    events = told(vetoed)
    lost = records_of(vetoed)[0].id
    tell(vetoed, [*events[:1], *events[2:]])
    vetoed.git("notes", "--ref=aiwg/gates", "remove", "HEAD~1")
    nowhere = f"names an earlier one, {lost[:12]}, that is nowhere"
    for _ in range(2):
        checked = vetoed.gate("check", "--json")
        assert checked.status == 14
        assert any(nowhere in reason for reason in checked.json["reasons"])
        refs = everything(vetoed)
        repaired = vetoed.gate("repair", "--json")
        assert repaired.status == 14
        [left] = repaired.json["left"]
        assert left.startswith("main of feature is still not to be trusted: record ")
        assert nowhere in left
        assert everything(vetoed) == refs
    assert any(nowhere in text for text in texts(vetoed, about="ledgers"))
    vetoed.git("fetch", "--quiet", "origin", f"+{NOTES}:{NOTES}")
    vetoed.gate("repair").ok()
    assert status(vetoed) == "rejected"
    is_whole(vetoed)


def test_a_request_that_is_gone(vetoed: Project) -> None:
    """With the ledger deleted and git's waste collected only the notes remember: it stays so."""
    vetoed.git("update-ref", "-d", LEDGER)
    vetoed.git("gc", "--quiet", "--prune=now")
    repaired = vetoed.gate("repair", "--json")
    assert repaired.status == 14
    assert len([left for left in repaired.json["left"] if "cannot be taken in" in left]) == 3
    assert status(vetoed) == "untrusted"
    # The veto is known by its note: its work commit is not approved under another name either.
    vetoed.gate("open", "--subject", "other").ok()
    decide(vetoed, "ada", "approve", "--subject", "other")
    assert status(vetoed, "other") == "rejected"


def test_whole_parts_of_an_altered_ledger_are_kept(vetoed: Project) -> None:
    """Requests that nobody has decided, and good records that no note has, are not lost."""
    vetoed.commit("again", {"page.md": "# Page\n\nMinimum length: 12\n"})
    vetoed.gate("open").ok()
    asked = list(ledger_of(vetoed).requests)
    events = told(vetoed)
    text = vetoed.git("cat-file", "blob", events[1].files["decided.tag"]).out
    events[1] = events[1].with_file("decided.tag", blob(vetoed, text.replace("no min", "nice")))
    tell(vetoed, events)
    vetoed.git("notes", "--ref=aiwg/gates", "remove", "HEAD~1")
    assert status(vetoed) == "untrusted"
    vetoed.gate("repair").ok()
    ledger = ledger_of(vetoed)
    assert list(ledger.requests) == asked
    said = {record.decision.message for record in records_of(vetoed)}
    assert said == {"no minimum length", "fine", "too short"}
    assert [event.name for event in ledger.events].count(EventName.DECIDED) == 3
    assert status(vetoed) == "pending"
    is_whole(vetoed)


def test_repair_says_what_it_did(vetoed: Project) -> None:
    tip = _tamper_trailers(vetoed)
    first, *rest = vetoed.gate("repair").ok().out.splitlines()
    assert first.startswith(
        "main of feature: the ledger went back to its last sound event, number 2; the altered one"
        f" was {tip} (event 3, commit "
    )
    assert [line.partition(" (")[2] for line in rest] == [
        "Approve main of feature) was taken into the ledger of main of feature",
        "Reject main of feature) was taken into the ledger of main of feature",
    ]


def _tamper_trailers(project: Project) -> str:
    _trailers_that_disagree(project)
    return project.rev(LEDGER)
