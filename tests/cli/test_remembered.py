"""What a reviewer did in this clone: files of a fixed form, which several sessions write into."""

from __future__ import annotations

import json

import pytest
from support.project import Project

from gitgate.app.reviewing import drafts, remembered
from gitgate.app.reviewing.remembered import Memory, Noted
from gitgate.core.decision import Comment
from gitgate.git.repository import Repository

EXPECTED = """\
{
 "schema": 2,
 "request": "r",
 "seconds": 61,
 "viewed": {
  "a.md": "1"
 },
 "edited": {
  "\\"a\\\\nb\\"": "2"
 },
 "comments": [
  {
   "path": "\\"\\\\377.md\\"",
   "object": "3",
   "line": 3,
   "text": "Too bold"
  }
 ],
 "begun": [
  {
   "path": "a.md",
   "object": "1",
   "line": 0,
   "text": "Half a "
  }
 ]
}"""
BOLD = Noted(Comment(b"\xff.md", 3, "Too bold"), "3")
HALF = Noted(Comment(b"a.md", 0, "Half a "), "1")


@pytest.fixture
def repo(project: Project) -> Repository:
    return Repository.open(project.top)


def test_the_files(repo: Repository) -> None:
    words = {"reject": "No.\nTwice.", "approve": "caf\udce9"}
    memory = Memory({"a.md": "1"}, {'"a\\nb"': "2"}, (BOLD,), {"a.md": HALF}, words, "r", 61)
    assert remembered.store(repo, "main", "feature/x", Memory(), memory) == memory
    folder = repo.common_dir / "git-gate" / "drafts" / "main" / "feature%2fx"
    assert sorted(one.name for one in folder.iterdir()) == [
        "approve.md",
        "reject.md",
        "review.json",
    ]
    assert (folder / "review.json").read_text("utf-8") == EXPECTED
    assert (folder / "reject.md").read_bytes() == b"No.\nTwice."
    assert (folder / "approve.md").read_bytes() == b"caf\xe9"
    assert remembered.recall(repo, "main", "feature/x") == memory
    # Another request: the time begins anew.
    memory.about("other")
    assert memory.seconds == 0


def test_no_two_instances_share_a_folder(repo: Repository) -> None:
    """`main` with `docs-feature`, and `main-docs` with `feature`."""
    remembered.store(repo, "main", "docs-feature", Memory(), Memory(words={"reject": "No."}))
    assert remembered.recall(repo, "main-docs", "feature") == Memory()


def test_each_session_writes_its_own_changes(repo: Repository) -> None:
    def store(before: Memory, now: Memory) -> Memory:
        return remembered.store(repo, "main", "feature", before, now)

    begun = store(Memory(), Memory({"a": "1"}, comments=(BOLD,), words={"reject": "No."}))
    ours, theirs = begun.copy(), begun.copy()
    theirs.viewed["b"], theirs.words["approve"], theirs.comments = "2", "Yes.", (BOLD, HALF)
    store(begun, theirs)
    # Nothing changed here: nothing of theirs is undone, and it is seen.
    seen = store(begun, ours)
    assert (seen.viewed, seen.comments) == ({"a": "1", "b": "2"}, (BOLD, HALF))
    assert seen.words == {"reject": "No.", "approve": "Yes."}
    # What they signed is gone, though it was known here.
    signed = seen.copy()
    signed.comments, signed.words = (), {}
    store(seen, signed)
    left = store(seen, seen.copy())
    assert (left.comments, left.words) == ((), {})
    # Words of both on one action: both are there.
    mine, other = left.copy(), left.copy()
    mine.words, other.words = {"reject": "Mine"}, {"reject": "Other"}
    store(left, other)
    assert store(left, mine).words == {"reject": "Mine"}
    place = drafts.place(repo, "main", "feature", "reject")
    assert place.with_suffix(".1.md").read_text() == "Other"


def test_what_an_editor_saved_before_its_session_was_killed(repo: Repository) -> None:
    place = drafts.place(repo, "main", "feature", "reject")
    place.parent.mkdir(parents=True)
    left = place.with_suffix(".editing.999999999.md")
    left.write_text(f"Saved\n{drafts.SCISSORS}\n# Human Approval Gate\n")
    assert remembered.recall(repo, "main", "feature").words == {"reject": "Saved"}
    assert not left.exists()
    assert place.read_text() == "Saved"
    # One that still runs keeps its file.
    alive = place.with_suffix(".editing.1.md")
    alive.write_text("Not yet")
    assert remembered.recall(repo, "main", "feature").words == {"reject": "Saved"}
    assert alive.exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        '{"schema": 1}',
        json.dumps({"schema": 2}),
        EXPECTED.replace("3,", '"x",'),
    ],
)
def test_a_broken_one_is_empty_but_for_the_words(repo: Repository, text: str) -> None:
    file = remembered.place(repo, "main", "feature")
    file.parent.mkdir(parents=True)
    file.write_text(text)
    file.with_name("skip.md").write_text("Hot fix")
    assert remembered.recall(repo, "main", "feature") == Memory(words={"skip": "Hot fix"})
