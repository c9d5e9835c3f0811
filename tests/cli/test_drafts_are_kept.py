"""What a person typed is kept until it is recorded, and a message that fails says where."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from outputs import Clock
from support.project import Answer, Project

WORDS = "The password policy is missing:\n\n- minimum length\n- Ärger mit der Sperre 👍"


@pytest.fixture
def asked(project: Project, clock: Clock) -> Project:
    project.branch("Feature/login")
    project.commit("Work", {"page.md": "# Page\n"})
    project.gate("open").ok()
    return project


def drafts(project: Project) -> list[Path]:
    return sorted((project.top / ".git/git-gate/drafts").rglob("*.md"))


def kept_in(answer: Answer) -> Path:
    """The file that the message names; nothing was recorded."""
    assert answer.out == ""
    found = re.search(r"your words are kept in (\S+)\n", answer.err)
    assert found, answer.err
    return Path(found[1])


def test_a_failure_keeps_the_words_and_says_where(asked: Project) -> None:
    key = asked.people["ada"].key
    key.rename(key.with_suffix(".away"))
    for command in (["reject", "-m", WORDS], ["approve", "-m", WORDS], ["skip", "-m", WORDS]):
        answer = asked.gate(*command)
        path = kept_in(answer)
        assert path.parent == asked.top / ".git/git-gate/drafts/main/%46eature%2flogin"
        assert path.read_text(encoding="utf-8") == WORDS
        assert answer.err.count("\nhint: ") == 1
        path.unlink()
    key.with_suffix(".away").rename(key)
    asked.gate("reject", "-m", WORDS).ok()
    assert drafts(asked) == []


def test_words_from_a_file_that_are_no_text_are_kept_as_bytes(
    asked: Project, tmp_path: Path
) -> None:
    file = tmp_path / "feedback"
    file.write_bytes(b"caf\xe9\n")
    assert kept_in(asked.gate("reject", "-F", str(file))).read_bytes() == b"caf\xe9\n"


def test_a_lost_race_keeps_the_words(asked: Project) -> None:
    lock = asked.top / f".git/{asked.ledger('main', 'Feature/login')}.lock"
    lock.touch()
    answer = asked.gate("reject", "-m", WORDS)
    assert answer.status == 128
    assert f"is locked by {lock}" in answer.err
    assert kept_in(answer).read_text(encoding="utf-8") == WORDS


def test_nothing_to_keep_is_not_kept(asked: Project) -> None:
    asked.git("config", "--unset", "user.signingKey")
    asked.git("config", "--unset", "gpg.format")
    answer = asked.gate("approve")
    assert answer.status == 128
    assert "kept" not in answer.err
    assert drafts(asked) == []


def at_a_terminal(project: Project, editor: str, *command: str) -> tuple[int, str]:
    """Run a command with a terminal as its streams; its exit status and what the terminal shows."""
    leader, follower = pty.openpty()
    env = {**os.environ, "GIT_EDITOR": editor, "GIT_PAGER": "cat"}
    with subprocess.Popen(
        [sys.executable, "-m", "gitgate", *command],
        cwd=project.top,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=env,
    ) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                part = os.read(leader, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
    os.close(leader)
    return process.returncode, shown.decode().replace("\r\n", "\n")


def test_the_editor_opens_with_the_panel_below(asked: Project, tmp_path: Path) -> None:
    seen, script = tmp_path / "seen", tmp_path / "editor"
    script.write_text(f'#!/bin/sh\ncp "$1" {seen}\nprintf "%s\\n" "No title" "" "# kept" >"$1"\n')
    script.chmod(0o755)
    status, shown = at_a_terminal(asked, str(script), "reject")
    assert (status, "the instance is now rejected" in shown) == (0, True), shown
    lines = seen.read_text().split("\n")
    assert lines[1].startswith("# ---") and lines[1].endswith("---")
    assert lines[2] == "# Everything from the line above on is left out."
    assert "# Human Approval Gate" in lines
    assert all(line.startswith("#") for line in lines[1:-1])
    decision = asked.gate("show", "--json").ok().json["decisions"][0]
    assert decision["message"] == "No title\n\n# kept"
    assert drafts(asked) == []


def test_an_editor_that_fails_keeps_what_it_wrote_and_it_is_offered_again(
    asked: Project, tmp_path: Path
) -> None:
    script, seen = tmp_path / "editor", tmp_path / "seen"
    script.write_text('#!/bin/sh\nprintf "half a thought" >"$1"\nexit 3\n')
    script.chmod(0o755)
    status, shown = at_a_terminal(asked, str(script), "reject")
    assert status == 1
    assert "the editor ended with 3: nothing was recorded\n" in shown
    [path] = drafts(asked)
    assert f"hint: your words are kept in {path}\n" in shown
    assert path.read_text() == "half a thought"
    script.write_text(f'#!/bin/sh\ncp "$1" {seen}\nprintf " and the rest" >>"$1"\n')
    status, shown = at_a_terminal(asked, f"{script}", "reject")
    assert seen.read_text().startswith("half a thought\n# ---")
    assert status == 0, shown


def test_words_that_show_nothing_are_none(asked: Project) -> None:
    for command, said in (("reject", "the feedback is empty"), ("skip", "a skip needs a reason")):
        answer = asked.gate(command, "-m", "\u200b\u3164")
        assert (answer.status, answer.out) == (129, "")
        assert said in answer.err
    assert asked.gate("show", "--json").ok().json["decisions"] == []


def test_an_editor_that_takes_kept_words_away_leaves_them(asked: Project, tmp_path: Path) -> None:
    status, _ = at_a_terminal(asked, """sh -c 'printf Kept >"$1"; exit 3' x""", "reject")
    assert status == 1
    status, shown = at_a_terminal(asked, """sh -c ': >"$1"' x""", "reject")
    [path] = drafts(asked)
    assert (status, path.read_text()) == (129, "Kept")
    assert "the editor left no words: those from before stay, and nothing was recorded\n" in shown
    assert f"hint: git gate review main offers them again; your words are kept in {path}\n" in shown


def test_an_editor_that_leaves_no_utf8(asked: Project) -> None:
    latin = """sh -c 'printf "caf\\351\\n" >"$1"' x"""
    status, shown = at_a_terminal(asked, latin, "reject")
    [path] = drafts(asked)
    assert (status, path.read_bytes()) == (129, b"caf\xe9")
    assert "the editor left words that are not UTF-8: nothing was recorded\n" in shown
    assert f"your words are kept in {path}\n" in shown


def test_a_command_that_is_killed_in_the_editor(asked: Project, tmp_path: Path) -> None:
    """What was saved is offered again, without what was shown below it."""
    script = tmp_path / "editor"
    script.write_text(
        '#!/bin/sh\nsed -i "1s/.*/Saved/" "$1"\np=$PPID\n'
        "until grep -q gitgate /proc/$p/cmdline; do read -r _ _ _ p _ </proc/$p/stat; done\n"
        "kill -9 $p\n"
    )
    script.chmod(0o755)
    status, _ = at_a_terminal(asked, str(script), "reject")
    assert status == -9
    status, shown = at_a_terminal(asked, "true", "reject")
    assert status == 0, shown
    assert asked.gate("show", "--json").ok().json["decisions"][0]["message"] == "Saved"


def test_an_editor_that_writes_nothing_records_nothing(asked: Project) -> None:
    for editor in ("true", "sh -c ': >\"$1\"' x"):
        status, shown = at_a_terminal(asked, editor, "reject")
        assert status == 129
        assert "the feedback is empty: nothing was recorded\n" in shown
        assert drafts(asked) == []
    assert asked.gate("show", "--json").ok().json["decisions"] == []
