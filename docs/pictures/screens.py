"""Makes the pictures of the reviewer's session: `python docs/pictures/screens.py`.

A real session at a pseudo-terminal, in a project made for it; what it painted last is the picture.
Each is drawn on a dark and on a light background. Nothing in it is typed by hand. Object ids and
keys, which differ each time, are replaced.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TESTS = HERE.parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "cli"), str(HERE)]

from drawing import DARK, LIGHT, draw  # noqa: E402
from reviewkit import ASKED, PEOPLE, TEAM, put_up, session  # noqa: E402
from support.project import EPOCH, Project, make_project  # noqa: E402
from support.terminal import Terminal  # noqa: E402

COLUMNS, ROWS = 80, 38

POLICY = TEAM.replace("Changes to main", "Lifecycle Architecture").replace(
    "      approvals:",
    "      validations:\n      - {name: words, run: [./tools/check], paths: [docs/**]}\n" + ASKED,
)
CHECK = '#!/bin/sh\ngrep -Hn TODO "$@" | sed "s/:TODO/: warning: unfinished: TODO/"\nexit 0\n'
FIRST = {
    "docs/UC-001-login.md": "# UC-001: User Login\n\n## Primary Actor\nEnd User\n\n"
    "## Preconditions\n- User has registered account\n- User is not currently authenticated\n\n"
    "## Main Flow\n1. User navigates to login page\n2. User enters email and password\n"
    "3. System validates credentials\n4. System shows the start page\n",
    "docs/security.md": "# Security\n\nTODO lockout\n",
}
SECOND = {
    "docs/UC-001-login.md": FIRST["docs/UC-001-login.md"].replace(
        "4. System", "4. After five wrong tries the account is locked for an hour\n5. System"
    ),
    "docs/UC-003-password-reset.md": "# UC-003: Password Reset\n\nNew, after the feedback.\n",
}

# What each picture shows: the keys that lead to it, one after another, and a word on it.
PICTURES = {
    "panel": ((), "Options:"),
    "view": (("v", "\x1b[B", "\r"), "Artifact:"),
    "diff": (("d",), "Changes from"),
    "diff-full": (("d", "v"), "diff --git"),
    "sign": (("a",), "sign and record"),
    "help": (("?",), "any key: back"),
}


def main() -> None:
    """Write every picture."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), HERE)


def write(folder: Path, pictures: Path) -> None:
    """Write every picture into `pictures`; the project is made in `folder`."""
    for name, lines in screens(folder).items():
        draw(lines, pictures / f"review-{name}.svg", DARK, COLUMNS)
        draw(lines, pictures / f"review-{name}-light.svg", LIGHT, COLUMNS)


def screens(folder: Path) -> dict[str, list[str]]:
    """The screens as they were painted, line by line, by the names of their pictures."""
    home = folder / "home"
    home.mkdir()
    _seal(home)
    project = _project(folder, home)
    found: dict[str, list[str]] = {}
    for name, (keys, word) in PICTURES.items():
        with session(project, minutes=17, columns=COLUMNS, rows=ROWS) as terminal:
            terminal.wait("Options:")
            for key in keys[:-1]:
                terminal.settle()
                terminal.keys(key)
                terminal.settle()
            if keys:
                terminal.press(keys[-1], word)
            found[name] = _painted(terminal)
    put_up(project, {"docs/UC-004-profile.md": "# UC-004: Profile\n"}, "feature-profile")
    with session(project, minutes=17, columns=COLUMNS, rows=ROWS) as terminal:
        terminal.wait("2 gates waiting")
        found["list"] = _painted(terminal)
    return found


def _seal(home: Path) -> None:
    for name in list(os.environ):
        if name.startswith(("GIT_", "SSH_")):
            del os.environ[name]
    os.environ.update(
        HOME=str(home),
        XDG_CONFIG_HOME=str(home / ".config"),
        GIT_CONFIG_NOSYSTEM="1",
        LANG="C.UTF-8",
        TZ="UTC",
    )
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Ada Lovelace\n\temail = ada@example.com\n"
        "[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n"
    )


def _project(folder: Path, home: Path) -> Project:
    os.environ.update(dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{EPOCH} +0000"))
    project = make_project(folder, home, POLICY, PEOPLE, hook=False)
    project.write("tools/check", CHECK)
    (project.top / "tools/check").chmod(0o755)
    project.commit("Check the words")
    project.land()
    project.git("fetch", "--quiet")
    put_up(project, FIRST, "feature-login")
    put_up(project, SECOND, "feature-login")
    return project


def _painted(terminal: Terminal) -> list[str]:
    """What was painted last, colours and all."""
    terminal.settle()
    screen = terminal.raw.decode().rsplit("\x1b[H", 1)[1].split("\x1b[J")[0]
    text = screen.replace("\x1b[K", "")
    text = re.sub(r"\b[0-9a-f]{40}\b", "6d1f0c9e27b84a35d0e1f7a2c3b4958617203e4f", text)
    text = re.sub(r"\b[0-9a-f]{12}\b", "6d1f0c9e27b8", text)
    text = re.sub(r"(m[0-9a-f]{40})", "m6d1f0c9e27b84a35d0e1f7a2c3b4958617203e4f", text)
    text = re.sub(r"SHA256:[A-Za-z0-9+/]{43}", "SHA256:" + "Q" * 43, text)
    return re.split("\r*\n", text.replace(os.environ["HOME"], "~"))


if __name__ == "__main__":
    main()
