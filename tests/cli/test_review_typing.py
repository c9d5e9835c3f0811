"""What is typed or pasted is taken whole, or the person is told; a signal loses none of it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from reviewkit import CHILD, decisions, session, waiting
from support.project import EPOCH, Project
from support.terminal import Terminal

from gitgate.app.reviewing import remembered
from gitgate.app.reviewing.remembered import Memory
from gitgate.git.repository import Repository


def kept(project: Project) -> Memory:
    return remembered.recall(Repository.open(project.top), "main", "feature")


def send(terminal: Terminal, text: str, until: str) -> list[str]:
    """Type more than a terminal takes at once."""

    def write() -> None:
        data = text.encode()
        while data:
            data = data[os.write(terminal.fd, data[:1000]) :]

    thread = threading.Thread(target=write)
    thread.start()
    screen = terminal.wait(until)
    thread.join()
    return screen


@pytest.mark.parametrize("end", ["SIGHUP", "SIGTERM", "\x03", "\x1b"])
def test_a_comment_that_is_not_finished_is_offered_again(
    tmp_path: Path, home: Path, end: str
) -> None:
    project = waiting(tmp_path, home)
    with session(project) as terminal:
        terminal.wait("[x] leave")
        terminal.press("v", "[ENTER] open")
        terminal.press("\r", "[p] previous")
        terminal.press("c", "on which line (0")
        terminal.press("3\r", "Comment on line 3 of")
        terminal.press("A comment of many words", "many words")
        if end == "\x1b":
            terminal.press(end, "what you began to write is kept")
            terminal.keys("\x03")
        elif end == "\x03":
            terminal.keys(end)
        else:
            os.kill(terminal.pid, signal.Signals[end])
        assert terminal.end() == 130
        said = " ".join(line.strip() for line in terminal.screen)
        assert "the comment that you began on docs/UC-001-login.md is kept" in said
    assert kept(project).comments == ()
    with session(project) as terminal:
        terminal.wait("[x] leave")
        terminal.press("v", "[ENTER] open")
        terminal.press("\r", "[p] previous")
        terminal.press("c", "on which line (0")
        terminal.press("4\r", "you began this on line 3")
        terminal.press(" and more\r", "noted on line 4 of")
        terminal.keys("\x03")
        terminal.end()
    [note] = kept(project).comments
    assert (note.comment.line, note.comment.text) == (4, "A comment of many words and more")
    assert kept(project).begun == {}


def test_a_paste_that_is_too_long_is_not_cut(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    with session(project) as terminal:
        terminal.wait("[x] leave")
        terminal.press("r", "Your feedback")
        terminal.press("Before. ", "Before.")
        paste = f"\x1b[200~{'word ' * 16000}LAST\x1b[201~"
        screen = send(terminal, paste, "not taken: 80004 characters")
        assert "Ctrl-E, and paste it in your editor" in " ".join(" ".join(screen).split())
        terminal.press("After.\r", "words: Before. After.")
        terminal.press("y", "the instance is now rejected")
        terminal.end()
    assert [one["message"] for one in decisions(project)] == ["Before. After."]


def spoken(terminal: Terminal) -> Terminal:
    terminal.wait("x: leave")
    return terminal


def test_a_spoken_prompt_offers_the_words_and_erases_none(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    with session(project, "--accessible") as terminal:
        spoken(terminal).press("a", "y: sign")
        terminal.press("m", "nothing to go back")
        terminal.press("Well done\r", "words: Well done")
        terminal.press("m", "Enter takes them")
        terminal.press("\r", "words: Well done")
        terminal.keys("\x03")
        assert terminal.end() == 130
    assert kept(project).words == {"approve": "Well done"}
    with session(project, "--accessible") as terminal:
        spoken(terminal).press("a", "words: Well done")
        terminal.press("m", "Enter takes them")
        terminal.press("\x15All is well\x7f\x7f\x7f\x7fbad\r", "words: All is bad")
        terminal.press("m", "Enter takes them")
        terminal.press("\x15\r", "words: (none)")
        terminal.keys("\x03")
        terminal.end()
    assert kept(project).words == {}


def test_a_spoken_prompt_takes_all_lines_and_long_ones(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    with session(project, "--accessible") as terminal:
        spoken(terminal).press("r", "nothing to go back")
        terminal.press("first line\nsecond line\nthird line\n", "y: sign")
        assert "third line" in "\n".join(terminal.screen)
        terminal.press("b", "nothing was decided")
        terminal.press("r", "Enter takes them")
        terminal.keys("\x15")
        send(terminal, "w" * 5000 + "END", "END")
        terminal.press("\r", "y: sign")
        terminal.press("y", "the instance is now rejected")
        terminal.end()
    assert [one["message"] for one in decisions(project)] == ["w" * 5000 + "END"]


def test_lines_of_a_spoken_paste_are_signed(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    with session(project, "--accessible") as terminal:
        spoken(terminal).press("r", "nothing to go back")
        lines = "".join(f"This is line {number} of a long paste\n" for number in range(500))
        send(terminal, f"{lines}The end", "The end")
        terminal.press("\r", "y: sign")
        terminal.press("y", "the instance is now rejected")
        terminal.end()
    [rejected] = decisions(project)
    assert rejected["message"] == f"{lines}The end"


@pytest.mark.parametrize("end", ["\x04", "\x03", "SIGHUP"])
def test_a_spoken_prompt_that_ends_keeps_what_was_typed(
    tmp_path: Path, home: Path, end: str
) -> None:
    project = waiting(tmp_path, home)
    with session(project, "--accessible", columns=160) as terminal:
        spoken(terminal).press("s", "nothing to go back")
        terminal.press("my reason", "my reason")
        if end == "SIGHUP":
            os.kill(terminal.pid, signal.SIGHUP)
        else:
            terminal.keys(end)
        assert terminal.end() == 130
        assert "your words are kept in" in "\n".join(terminal.screen)
    assert kept(project).words == {"skip": "my reason"}


def test_a_spoken_line_goes_on_in_the_editor(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    editor = """sh -c 'sed -i "1s/$/ in the editor/" "$1"' x"""
    with session(project, "--accessible", env={"GIT_EDITOR": editor}) as terminal:
        spoken(terminal).press("r", "nothing to go back")
        terminal.press("Begun", "Begun")
        os.kill(terminal.pid, signal.SIGWINCH)
        terminal.press("\x05", "words: Begun in the editor")
        terminal.keys("\x03")
        terminal.end()
    assert kept(project).words == {"reject": "Begun in the editor"}


def test_a_spoken_line_is_there_after_a_stop(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    shell = ["bash", "--norc", "--noprofile", "-i"]
    with Terminal(shell, project.top, env={"PS1": "shell> "}) as terminal:
        terminal.wait("shell>")
        terminal.keys(f"{sys.executable} {CHILD} {EPOCH + 60} review --accessible\r")
        spoken(terminal).press("r", "nothing to go back")
        terminal.press("Begun", "Begun")
        terminal.press("\x1a", "Stopped")
        terminal.press("fg\r", "nothing to go back: Begun")
        terminal.press(", done\r", "words: Begun, done")
        terminal.press("y", "the instance is now rejected")
    assert [one["message"] for one in decisions(project)] == ["Begun, done"]
