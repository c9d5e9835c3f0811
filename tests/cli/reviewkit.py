"""A change that waits for a reviewer, and the reviewer's session at a real pseudo-terminal."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from support.project import EPOCH, SOLO, TEAM, Project, make_project
from support.terminal import Terminal

CHILD = Path(__file__).with_name("review_child.py")
HERE = Path(__file__).parent
WRITE = os.environ.get("GIT_GATE_WRITE_SCREENS") == "1"

ASKED = """\
      deliverables: [docs/**]
      next_steps: [Tell the others, Start the next phase]
      deadline: {minutes: 90}
      approvals:"""
PEOPLE = (("Ada Lovelace", "ada@example.com"), ("Bob Babbage", "bob@example.com"))

PAGES = {
    "docs/UC-001-login.md": "# UC-001: User Login\n\n## Primary Actor\nEnd User\n\n## Main Flow\n"
    + "".join(f"{number}. The user does step {number}\n" for number in range(1, 41)),
    "docs/UC-002-register.md": "# UC-002: Register\n\nSome *words* <b>here</b>.\n",
    "docs/code.py": "def login() -> bool:\n    return True\n",
}


def waiting(
    folder: Path,
    home: Path,
    policy: str = SOLO,
    files: dict[str, str] | None = None,
    subject: str = "feature",
) -> Project:
    """A project with one gate that waits: an agent asked, Ada is at work on main."""
    os.environ.update(dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{EPOCH} +0000"))
    project = make_project(
        folder, home, policy.replace("      approvals:", ASKED), PEOPLE, hook=False
    )
    put_up(project, files or PAGES, subject)
    return project


def put_up(project: Project, files: dict[str, str], subject: str = "feature") -> None:
    """Commit files on a branch of that name, as the agent, and open the gate."""
    project.git("config", "user.name", "Agent")
    project.git("config", "user.email", "agent@example.com")
    if not project.git("branch", "--list", subject).out:
        project.branch(subject)
    project.git("switch", "--quiet", subject)
    project.commit("Write the documents", files)
    agent(project, "open", "--agent", "claude")
    project.git("switch", "--quiet", "main")
    project.be(project.people["ada"])
    project.git("config", "user.signingKey", "~/keys/ada-at-example.com-ed25519")


def agent(project: Project, *args: str, at: int = EPOCH) -> None:
    """A command at that time."""
    from gitgate.cli.env import Env

    real = Env.now
    try:
        Env.now = lambda _env: at  # type: ignore[method-assign]
        project.gate(*args).ok()
    finally:
        Env.now = real  # type: ignore[method-assign]


def session(project: Project, *args: str, minutes: int = 5, **named: Any) -> Terminal:
    """`git gate review ARGS`, minutes after it was asked."""
    now = str(EPOCH + 60 * minutes)
    return Terminal([sys.executable, str(CHILD), now, "review", *args], project.top, **named)


def decisions(project: Project, gate: str = "main", subject: str = "feature") -> list[Any]:
    """What is recorded, with `show --json`'s fields."""
    found: list[Any] = project.gate("show", gate, "--subject", subject, "--json").json["decisions"]
    return found


def stable(lines: list[str]) -> list[str]:
    """Lines without what differs from run to run: ids, keys, the home folder."""
    text = "\n".join(lines)
    text = re.sub(r"\b[0-9a-f]{40}\b", "<id>", text)
    text = re.sub(r"\b[0-9a-f]{12}\b", "............", text)
    text = re.sub(r"SHA256:[A-Za-z0-9+/]+(\n +[A-Za-z0-9+/]+)?", "<key>", text)
    return text.replace(os.environ["HOME"], "<home>").split("\n")


def golden(name: str, found: str) -> None:
    """Compare with the file of that name beside the tests; GIT_GATE_WRITE_SCREENS=1 writes it."""
    file = HERE / "screens" / name
    if WRITE:
        file.parent.mkdir(exist_ok=True)
        file.write_text(found, encoding="utf-8")
    from outputs import same

    same(found, file.read_text(encoding="utf-8"))


__all__ = [
    "CHILD",
    "PAGES",
    "SOLO",
    "TEAM",
    "agent",
    "decisions",
    "golden",
    "put_up",
    "session",
    "stable",
    "waiting",
]
