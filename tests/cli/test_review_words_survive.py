"""Whatever goes wrong with the editor or the key, the words survive and the message says where."""

from __future__ import annotations

import subprocess
from pathlib import Path

from reviewkit import decisions, session, waiting
from support.project import Project, person

WORDS = "The lockout is missing."
FAILING = {
    "missing": ("/no/such/editor", "the editor ended with 127"),
    "failing": ("false", "the editor ended with 1"),
    "killed": ("sh -c 'kill -9 $$'", "the editor ended with"),
}


def draft(project: Project) -> Path:
    return project.top / ".git" / "git-gate" / "drafts" / "main" / "feature" / "reject.md"


def joined(screen: list[str]) -> str:
    return " ".join(line.strip() for line in screen)


def test_the_editor(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    for editor, said in FAILING.values():
        draft(project).unlink(missing_ok=True)
        with session(project, columns=200, env={"GIT_EDITOR": editor}) as terminal:
            terminal.wait("[x] leave")
            terminal.press("r", "Your feedback")
            if WORDS not in joined(terminal.screen):
                terminal.keys(WORDS)
            terminal.wait(WORDS)
            screen = joined(terminal.press("\x05", said))
            assert f"your words are kept in {draft(project)}" in screen and WORDS in screen
            assert draft(project).read_text() == WORDS
            # They are still there to be sent, and to be gone on with another time.
            terminal.press("\r", f"words: {WORDS}")
            terminal.press("b", "nothing was decided")
            terminal.keys("x")
            assert terminal.end() == 10
            assert f"your words are kept in {draft(project)}" in joined(terminal.screen)

    # Ctrl-C in an editor that takes it as a key of its own reaches the session too.
    interrupted = """sh -c 'kill -INT "$(cut -d " " -f 6 /proc/$$/stat)"' x"""
    for editor in ("true", interrupted):
        with session(project, env={"GIT_EDITOR": editor}) as terminal:
            terminal.wait("[x] leave")
            terminal.press("r", WORDS)
            terminal.press("\x05", f"words: {WORDS}")

    empty = """sh -c ': > "$1"' x"""
    with session(project, columns=200, env={"GIT_EDITOR": empty}) as terminal:
        terminal.wait("[x] leave")
        terminal.press("r", WORDS)
        screen = joined(terminal.press("\x05", "the editor left no words"))
        assert f"your words are kept in {draft(project)}" in screen and WORDS in screen

    longer = """sh -c 'printf "Line one.\\n\\n# Line two.\\n" > "$1"' x"""
    with session(project, env={"GIT_EDITOR": longer}) as terminal:
        terminal.wait("[x] leave")
        terminal.press("r", "Your feedback")
        terminal.press("\x05", "words: Line one.")
        terminal.press("y", "the instance is now rejected")
        assert terminal.end() == 0
    [rejected] = decisions(project)
    assert rejected["message"] == "Line one.\n\n# Line two."
    assert not draft(project).exists()


def test_signing(tmp_path: Path, home: Path) -> None:
    project = waiting(tmp_path, home)
    locked = home / "keys" / "locked"
    make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "open sesame", "-f", locked]
    subprocess.run(make, check=True)
    stranger = person("Mallory", "mallory@example.com", home)
    line = f'ada@example.com namespaces="git" {Path(f"{locked}.pub").read_text()}'
    signers = project.top / ".aiwg" / "allowed_signers"
    project.commit("List another key", {".aiwg/allowed_signers": signers.read_text() + line})
    project.land()
    for key, obstacle, said in (
        (home / "keys" / "none", str(home / "keys" / "none"), "nothing was recorded"),
        (stranger.key, "is not listed", "is not listed"),
        (locked, "", "was wrong"),
    ):
        project.git("config", "user.signingKey", str(key))
        with session(project, columns=200) as terminal:
            terminal.wait("[x] leave")
            terminal.press("r", "Your feedback")
            if WORDS not in joined(terminal.screen):
                terminal.keys(WORDS)
            terminal.wait(WORDS)
            terminal.press("\r", "[y] sign and record")
            if key is locked:
                terminal.press("y", "passphrase")
                terminal.keys("wrong\r")
                screen = joined(terminal.wait(said))
            else:
                assert obstacle in joined(terminal.screen)
                screen = joined(terminal.press("y", "nothing was recorded"))
            assert said in screen, screen
            assert f"your words are kept in {draft(project)}" in screen, screen
            assert draft(project).read_text() == WORDS
    assert decisions(project) == []

    with session(project) as terminal:  # and the right one
        terminal.wait("[x] leave")
        terminal.press("r", WORDS)
        terminal.press("\r", "[y] sign and record")
        terminal.press("y", "passphrase")
        terminal.keys("open sesame\r")
        terminal.wait("the instance is now rejected")
        assert terminal.end() == 0
    [rejected] = decisions(project)
    assert rejected["message"] == WORDS
