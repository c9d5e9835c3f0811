"""A reviewer's edits of artifacts in a session, for the tests of them."""

from __future__ import annotations

from pathlib import Path

from reviewkit import SOLO, session
from support.project import Project

LOGIN = "docs/UC-001-login.md"
EDITOR = "sed -i 's/step 3$/step three/'"
PAGE = {"docs/a.md": "# A\n"}


def edited(
    project: Project, until: str, *, editor: str = EDITOR, first: str = "", subject: str = "feature"
) -> str:
    """Press `e` on the first artifact; the screen once it shows `until`."""
    env = {"GIT_EDITOR": editor}
    with session(project, "main", "--subject", subject, columns=400, env=env) as terminal:
        terminal.wait("[x] leave")
        screen = terminal.press("e", "")
        if any("which one to edit?" in line for line in screen):
            if first:
                terminal.press("\r", first)
            screen = terminal.press("\r", until)
        return " ".join(line.strip() for line in terminal.wait(until))


def script(folder: Path, text: str) -> str:
    """An editor that runs `text`, with the file as "$1"."""
    file = folder / f"editor-{len(list(folder.glob('editor-*')))}"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return str(file)


def adds(folder: Path, line: str, then: str = "") -> str:
    """An editor that adds a line."""
    return script(folder, f"echo '{line}' >> \"$1\"\n{then}")


def kept(project: Project) -> list[str]:
    """What is in the files of edits that were not put up."""
    found = (project.top / ".git" / "git-gate" / "edits").glob("*/edit*")
    return [file.read_text() for file in sorted(found)]


def on(project: Project, branch: str, path: str = "docs/a.md") -> str:
    """A file on a branch."""
    return project.git("show", f"{branch}:{path}").out


def state(project: Project) -> str:
    """All refs of the project."""
    return project.git("for-each-ref").out


def validated(shell: str) -> str:
    """A policy whose gate has one validation, `words`, which blocks."""
    validation = f"{{name: words, run: [sh, -c, '{shell}'], on_error: block}}"
    return SOLO.replace("      approvals:", f"      validations: [{validation}]\n      approvals:")
