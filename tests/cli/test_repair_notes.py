"""Notes are a copy: whatever happens to them changes no verdict, is said, and is mended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mending import (
    copied,
    decide,
    everything,
    findings,
    follow,
    fsck,
    is_whole,
    ledger_of,
    make_team,
    noted,
    records_of,
    status,
    texts,
)
from support.project import TEAM, Project, person
from tampering import append, blob, lose_object, signed, tell, told

from gitgate.core.decision import Action
from gitgate.core.events import EventName

NOTES = "refs/notes/aiwg/gates"

TWO_GATES = TEAM.replace(
    "  policy_gate: main\n",
    "    second:\n"
    "      title: The second pair of eyes\n"
    "      guards: [refs/heads/main]\n"
    "  policy_gate: main\n",
)
_made: list[Project] = []


@pytest.fixture
def settled(tmp_path: Path, home: Path) -> Project:
    """Bob rejects the first iteration, Ada approves the second: it may land."""
    if not _made:
        (tmp_path / "first").mkdir()
        team = make_team(tmp_path / "first", home)
        team.branch("feature")
        team.commit("work", {"page.md": "# Page\n"})
        team.gate("open").ok()
        decide(team, "bob", "reject", "-m", "# no minimum length")
        team.commit("more", {"page.md": "# Page\n\nMinimum length: 12\n"})
        team.gate("open").ok()
        decide(team, "ada", "approve", "-m", "fine")
        _made.append(team)
    return copied(_made[0], tmp_path)


def notes_git(project: Project, *args: str, stdin: str | None = None) -> str:
    return project.git("notes", "--ref=aiwg/gates", *args, stdin=stdin).out


def _a_note_removed(project: Project) -> None:
    notes_git(project, "remove", "HEAD~1")


def _all_notes_deleted(project: Project) -> None:
    project.git("update-ref", "-d", NOTES)


def _a_record_moved(project: Project) -> None:
    """To the note of another commit."""
    text = notes_git(project, "show", "HEAD~1")
    notes_git(project, "append", "--file=-", "HEAD", stdin=text)
    notes_git(project, "remove", "HEAD~1")


def _a_note_edited(project: Project) -> None:
    """As `git notes edit` does it, which drops lines that begin with `#`."""
    text = notes_git(project, "show", "HEAD~1")
    kept = "".join(line for line in text.splitlines(True) if not line.startswith("#"))
    assert kept != text
    notes_git(project, "add", "--force", "--file=-", "HEAD~1", stdin=kept)


def _lines_sorted(project: Project) -> None:
    """What `git notes merge --strategy=cat_sort_uniq` makes of records."""
    text = "".join(sorted(set(notes_git(project, "show", "HEAD").splitlines(True))))
    notes_git(project, "add", "--force", "--file=-", "HEAD", stdin=text)


def _words_of_a_stranger(project: Project) -> None:
    notes_git(project, "append", "-m", "Approved-by: everybody", "HEAD")


def _a_record_of_a_stranger(project: Project) -> None:
    eve = person("Eve", "eve@example.com", project.people["ada"].key.parents[1])
    newest = ledger_of(project).newest
    assert newest
    raw = signed(eve, newest.id, Action.REJECT)
    notes_git(project, "append", "--file=-", "HEAD", stdin=raw.decode())


def _copied_by_an_amended_commit(project: Project) -> None:
    """`notes.rewriteRef` takes a note along to a commit that nobody has reviewed."""
    project.git("switch", "--quiet", "--create", "side")
    project.git("config", "notes.rewriteRef", NOTES)
    project.git("commit", "--quiet", "--amend", "--message", "amended")
    assert notes_git(project, "show", "HEAD")
    project.git("switch", "--quiet", "feature")


def _a_huge_note(project: Project) -> None:
    notes_git(project, "append", "--file=-", "HEAD", stdin="junk\n" * (1 << 20))


HARM = {
    _a_note_removed: ("fault", "is missing from the note of"),
    _all_notes_deleted: ("fault", "is missing from the note of"),
    _a_record_moved: ("fault", "is missing from the note of"),
    _a_note_edited: ("fault", "is missing from the note of"),
    _lines_sorted: ("fault", "is missing from the note of"),
    _words_of_a_stranger: ("note", "has what counts for nothing (1): "),
    _a_record_of_a_stranger: ("note", "has what counts for nothing (1): "),
    _copied_by_an_amended_commit: ("note", "has what counts for nothing (1): record "),
    _a_huge_note: ("fault", "was left out: it is larger than 4 MiB"),
}


@pytest.mark.parametrize("harm", HARM, ids=lambda one: one.__name__.strip("_"))
def test_no_verdict_changes(settled: Project, harm: Callable[[Project], None]) -> None:
    shown = without_time(settled)
    ledger = settled.rev(settled.ledger())
    harm(settled)
    assert status(settled) == "satisfied"
    assert without_time(settled) == shown
    level, text = HARM[harm]
    said = findings(settled, "fault", "note", about="notes")
    assert any((one["level"], text in one["text"]) == (level, True) for one in said), said
    for hint in dict.fromkeys(one["hint"] for one in said):
        follow(settled, hint)
    assert findings(settled, "fault", "note", about="notes") == []
    is_whole(settled)
    refs = everything(settled)
    assert settled.gate("repair").ok().out == "nothing to mend\n"
    assert everything(settled) == refs
    assert settled.rev(settled.ledger()) == ledger


def without_time(project: Project) -> Any:
    shown = project.gate("show", "--json").ok().json
    shown["context"].pop("time_elapsed")
    shown.pop("waited")
    return shown


def test_repair_leaves_junk_and_restores_what_it_hid(settled: Project) -> None:
    """Nothing of anybody's is thrown away, and the records are whole again."""
    for harm in (_a_note_edited, _lines_sorted, _words_of_a_stranger, _a_record_of_a_stranger):
        harm(settled)
    junk = {commit: notes_git(settled, "show", commit).strip() for commit in ("HEAD", "HEAD~1")}
    settled.gate("repair").ok()
    for commit, text in junk.items():
        assert notes_git(settled, "show", commit).startswith(text)
    assert {one.id for one in noted(settled)} > {one.id for one in records_of(settled)}
    assert texts(settled) == []
    fsck(settled)
    assert settled.gate("repair").ok().out == "nothing to mend\n"


def test_a_note_that_takes_no_more(settled: Project) -> None:
    """The decision is in its ledger all the same, and the command says that the copy is not."""
    _a_huge_note(settled)
    settled.be(settled.people["bob"])
    answer = settled.gate("reject", "-m", "wait")
    assert answer.status == 0
    assert "warning: the copy in the notes could not be written: git gate repair" in answer.err
    assert status(settled) == "rejected"
    repaired = settled.gate("repair", "--json")
    assert repaired.status == 14
    [left] = repaired.json["left"]
    command = f"git notes --ref={NOTES} remove {settled.rev()}"
    assert f"({command})" in left
    follow(settled, f"{command}, then git gate repair")
    is_whole(settled)


def _a_blob(project: Project) -> str:
    return blob(project, "junk\n")


def _a_tree(project: Project) -> str:
    return project.rev("HEAD^{tree}")


def _no_object(project: Project) -> str:
    return "1" * 40


def _a_tree_lost(project: Project) -> str:
    lose_object(project, project.rev(f"{NOTES}^{{tree}}"))
    return project.rev(NOTES)


@pytest.mark.parametrize(
    "broken", [_a_blob, _a_tree, _no_object, _a_tree_lost], ids=lambda one: one.__name__.strip("_")
)
def test_notes_that_cannot_be_read(settled: Project, broken: Callable[[Project], str]) -> None:
    """Nobody knows then which records stand in them: nothing passes until they are made anew."""
    (settled.top / ".git" / NOTES).write_text(broken(settled) + "\n")
    is_mended_by(settled, f"git update-ref -d {NOTES}, then git gate repair")
    is_whole(settled)


def test_a_note_that_cannot_be_read(settled: Project) -> None:
    _words_of_a_stranger(settled)
    lose_object(settled, notes_git(settled, "list", "HEAD").strip())
    hint = f"git notes --ref={NOTES} remove {settled.rev()}, then git gate repair"
    is_mended_by(settled, hint)


@pytest.mark.parametrize("name", [NOTES, "refs/aiwg/gates/main/feature"])
def test_a_ref_that_is_damaged(settled: Project, name: str) -> None:
    """As after a power failure: the file is there, and says nothing."""
    file = settled.top / ".git" / name
    file.write_text("")
    for args in (["check"], ["approve"], ["repair"]):
        refused = settled.gate(*args)
        assert refused.status == 14, refused
        assert refused.err.startswith(f"git-gate: the ref {name} is damaged: ")
        assert refused.err.endswith(f"hint: rm {file}\n"), refused.err
    follow(settled, f"rm {file}, then git gate repair")
    assert status(settled) == "satisfied"
    assert findings(settled) == []
    is_whole(settled)


def is_mended_by(project: Project, hint: str) -> None:
    for args in (["check"], ["approve"], ["repair"]):
        refused = project.gate(*args)
        assert refused.status == 14, refused
        assert refused.err.endswith(f"hint: {hint}\n"), refused.err
    assert [one["hint"] for one in findings(project, about="ledgers")] == [hint]
    follow(project, hint)
    assert status(project) == "satisfied"
    assert findings(project) == []


def test_a_landing_that_was_not(settled: Project) -> None:
    """An event `landed` that is not so ends nothing, uses nothing up, and is reported."""
    newest = ledger_of(settled).newest
    assert newest
    base, work = settled.rev("origin/main"), settled.rev()
    fields = {"old": base, "new": work, "target": "refs/heads/main"}
    append(settled, EventName.LANDED, newest.id, fields=fields)
    assert status(settled) == "satisfied"
    shown = settled.gate("show", "--json").ok().json
    assert shown["status"] == "approved"
    assert [one for one in shown["warnings"] if one.startswith("event 0005-landed has no effect")]
    assert "0005-landed has no effect" in settled.gate("show").ok().out
    assert "(no effect: the landing that it names is not" in settled.gate("log").ok().out
    settled.push("HEAD:refs/heads/main").ok()


def test_junk_in_a_ledger(settled: Project) -> None:
    """A stranger's veto, and a record that was made for another request, never count."""
    first, newest = ledger_of(settled).requests.values()
    eve = person("Eve", "eve@example.com", settled.people["ada"].key.parents[1])
    append(settled, EventName.DECIDED, newest.id, record=signed(eve, newest.id, Action.REJECT))
    append(settled, EventName.DECIDED, newest.id, record=records_of(settled)[0].raw)
    assert status(settled) == "satisfied"
    shown = settled.gate("show", "--json").ok().json
    strange = [one for one in shown["decisions"] if one["signature"] == "unknown-key"]
    assert [(one["by"], one["counts"]) for one in strange] == [(None, False)]
    about = [one for one in shown["warnings"] if "never counts" in one]
    assert len(about) == 1
    assert f"signed for request {first.id}, not {newest.id}" in about[0]
    assert about[0] in settled.gate("show").ok().out
    assert about[0] in settled.gate("log").ok().out
    said = texts(settled, "note", about="ledgers")
    assert f"main of feature: {about[0]}" in said
    assert any("never counts: the signers file does not list the key" in one for one in said), said
    assert settled.gate("repair").ok().out == "nothing to mend\n"
    assert findings(settled) == []
    settled.push("HEAD:refs/heads/main").ok()


def test_a_record_in_another_gates_ledger(tmp_path: Path, home: Path) -> None:
    """Copied it counts for nothing there; taken away here as well, it is missed and comes back."""
    project = make_team(tmp_path, home, TWO_GATES)
    project.branch("feature")
    project.commit("work", {"page.md": "# Page\n"})
    project.gate("open", "main").ok()
    project.gate("open", "second").ok()
    decide(project, "bob", "reject", "main", "-m", "no")
    decide(project, "ada", "approve", "second")
    [veto] = records_of(project)
    second = ledger_of(project, gate="second").newest
    assert second
    append(project, EventName.DECIDED, second.id, record=veto.raw, gate="second")
    found = project.gate("check", "--json").json
    assert {row["gate"]: row["status"] for row in found["gates"]} == {
        "main": "rejected",
        "second": "satisfied",
    }
    [said] = texts(project, "note", about="ledgers")
    assert said.startswith("second of feature: the record of event 0003 never counts")
    assert "signed for gate/main/feature, not gate/second/feature" in said
    tell(project, told(project)[:-1])
    assert status(project) == "untrusted"
    assert project.gate("log", "main", "--json").ok().json["faults"]
    assert not project.gate("log", "second", "--json").ok().json["faults"]
    project.gate("repair").ok()
    assert status(project) == "rejected"
    assert findings(project) == []
    assert [record.id for record in records_of(project)] == [veto.id]
    fsck(project)
