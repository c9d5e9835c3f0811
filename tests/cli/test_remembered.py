"""What a reviewer did in this clone: a file of a fixed form; a broken one is an empty one."""

from __future__ import annotations

import json

import pytest
from support.project import Project

from gitgate.app.reviewing import remembered
from gitgate.app.reviewing.remembered import Memory
from gitgate.core.decision import Comment
from gitgate.git.repository import Repository

EXPECTED = """\
{
 "schema": 1,
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
   "line": 3,
   "text": "Too bold"
  }
 ],
 "words": {
  "reject": "No.\\nTwice."
 }
}"""


def test_the_file(project: Project) -> None:
    repo = Repository.open(project.top)
    memory = Memory(
        {"a.md": "1"},
        {'"a\\nb"': "2"},
        (Comment(b"\xff.md", 3, "Too bold"),),
        {"reject": "No.\nTwice."},
        "r",
        61,
    )
    remembered.keep(repo, "main", "feature/x", memory)
    file = project.top / ".git" / "git-gate" / "reviews" / "main-feature%2fx.json"
    assert file.read_text("utf-8") == EXPECTED
    assert remembered.recall(repo, "main", "feature/x") == memory
    remembered.forget(repo, "main", "feature/x")
    left = remembered.recall(repo, "main", "feature/x")
    assert (left.words, left.comments, left.viewed) == ({}, (), {"a.md": "1"})
    # Another request: the time begins anew.
    left.about("other")
    assert left.seconds == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        '{"schema": 2}',
        json.dumps({"schema": 1}),
        EXPECTED.replace("3,", '"x",'),
    ],
)
def test_a_broken_one_is_empty(project: Project, text: str) -> None:
    repo = Repository.open(project.top)
    file = remembered.place(repo, "main", "feature")
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert remembered.recall(repo, "main", "feature") == Memory()
