"""What a reviewer typed into an artifact is kept until a branch has it, whatever happens."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from editkit import PAGE, adds, edited, kept, on, script, state
from reviewkit import put_up, session, waiting


def test_the_next_edit_goes_on_with_what_was_kept(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    edited(project, "the editor ended with 1", editor=adds(tmp_path, "two hours", "exit 1"))
    assert kept(project) == ["# A\ntwo hours\n"]
    before = state(project)
    edited(project, "you did not save it", editor="true")
    assert kept(project) == ["# A\ntwo hours\n"]
    assert state(project) == before
    edited(project, "your edit is iteration 2", editor=adds(tmp_path, "more"))
    assert on(project, "feature") == "# A\ntwo hours\nmore\n"
    assert kept(project) == []


def test_a_kept_edit_is_given_up_by_undoing_it(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    edited(project, "the editor ended with 1", editor=adds(tmp_path, "two hours", "exit 1"))
    before = state(project)
    edited(project, "you changed nothing", editor="sed -i '/two hours/d'")
    assert kept(project) == []
    assert state(project) == before


def test_a_terminal_that_closes_under_the_editor(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    saved = tmp_path / "saved"
    editor = adds(tmp_path, "saved", f": > {saved}\nexec sleep 60")
    with session(project, env={"GIT_EDITOR": editor}) as terminal:
        terminal.wait("[x] leave")
        terminal.keys("e")
        until(saved)
        os.kill(terminal.pid, signal.SIGHUP)
        assert terminal.end() == -signal.SIGHUP
    edited(project, "your edit is iteration 2", editor=adds(tmp_path, "more"))
    assert on(project, "feature") == "# A\nsaved\nmore\n"


def test_an_edit_of_what_it_was_before_is_not_forgotten(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files={"docs/[id].md": "# A\n"})
    edited(project, "the editor ended with 1", editor=adds(tmp_path, "mine", "exit 1"))
    put_up(project, {"docs/[id].md": "# A\nagent\n"})
    screen = edited(project, "your edit is iteration 3", editor=adds(tmp_path, "new"))
    file = Path(screen.split("an edit of earlier content of it is still in ")[1].split(" ")[0])
    assert file.read_text() == "# A\nmine\n"
    assert on(project, "feature", "docs/[id].md") == "# A\nagent\nnew\n"


def test_artifacts_of_one_name_have_files_of_their_own(tmp_path: Path, home: Path) -> None:
    files = {"docs/a/README.md": "# A\n", "docs/b/README.md": "# B\n"}
    project = waiting(tmp_path, home, files=files)
    editor = adds(tmp_path, "mine", "exit 1")
    with session(project, columns=400, env={"GIT_EDITOR": editor}) as terminal:
        terminal.wait("[x] leave")
        terminal.press("v", "[ENTER] open")
        terminal.press("e", "the editor ended with 1")
        terminal.press("j", "▶ ✓ docs/b/README.md")
        terminal.press("e", "the editor ended with 1")
        terminal.settle()
    assert sorted(kept(project)) == ["# A\nmine\n", "# B\nmine\n"]


def test_two_sessions_edit_one_artifact(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    saved, go = tmp_path / "saved", tmp_path / "go"
    slow = adds(tmp_path, "of a", f": > {saved}\nwhile [ ! -e {go} ]; do sleep 0.05; done")
    with session(project, columns=400, env={"GIT_EDITOR": slow}) as terminal:
        terminal.wait("[x] leave")
        terminal.keys("e")
        until(saved)
        edited(project, "your edit is iteration 2", editor=adds(tmp_path, "of b"))
        go.touch()
        terminal.wait("your edit is on the branch review/feature")
    assert on(project, "feature") == "# A\nof b\n"
    assert on(project, "review/feature") == "# A\nof a\n"
    assert kept(project) == []


def test_an_editor_that_removes_its_file_is_no_silence(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    before = state(project)
    edited(project, "the editor left no file", editor="rm")
    assert state(project) == before
    edited(project, "your edit is iteration 2", editor=adds(tmp_path, "more"))
    assert on(project, "feature") == "# A\nmore\n"


def test_an_emptied_artifact_is_no_edit(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home, files=PAGE)
    before = state(project)
    screen = edited(project, "you left docs/a.md empty", editor=script(tmp_path, ': > "$1"'))
    assert "commit that on feature, then git gate open main --subject feature" in screen
    assert state(project) == before
    edited(project, "your edit is iteration 2", editor=adds(tmp_path, "more"))
    assert on(project, "feature") == "# A\nmore\n"


def until(file: Path) -> None:
    """Wait for a program that makes the file."""
    end = time.monotonic() + 20
    while not file.exists():
        assert time.monotonic() < end, f"no {file}"
        time.sleep(0.05)
