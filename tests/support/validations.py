"""A project whose gate has validations, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from support.project import SOLO, TEAM, Project, make_project, person

ADA = "Ada Lovelace <ada@example.com>"


def policy(validations: str, text: str = SOLO) -> str:
    """A policy whose gate has these lines of `validations`."""
    lines = "".join(f"        {line}\n" for line in validations.splitlines())
    return text.replace("      approvals", f"      validations:\n{lines}      approvals")


def make(
    folder: Path, home: Path, validations: str, tools: Mapping[str, str] | None = None
) -> Project:
    """A clone that has adopted such a policy with executable `tools`; on branch `feature`."""
    project = make_project(folder, home, policy(validations))
    return adopt_tools(project, tools or {})


def make_team(folder: Path, home: Path, validations: str, tools: Mapping[str, str]) -> Project:
    """The same with the policy for two, Ada and Bob; an agent is at work."""
    people = (("Ada Lovelace", "ada@example.com"), ("Bob Babbage", "bob@example.com"))
    project = make_project(folder, home, policy(validations, TEAM), people)
    project.people["agent"] = person("Agent", "agent@example.com", home)
    adopt_tools(project, tools)
    project.be(project.people["agent"], signs=False)
    return project


def adopt_tools(project: Project, tools: Mapping[str, str]) -> Project:
    """Land executable files on main, and begin a branch."""
    for path, text in tools.items():
        project.write(path, text)
        (project.top / path).chmod(0o755)
    project.commit("Tools")
    project.land()
    project.git("fetch", "--quiet")
    project.branch("feature")
    return project


def one(run: str, more: str = "") -> str:
    """A single validation `check` of this command (a YAML list)."""
    return f"- {{name: check, run: {run}{more}}}"


# Prints an error for each line with BAD and a warning for each with ODD.
CHECK = """\
#!/bin/sh
for file do
    awk -v level=error '/BAD/ { print FILENAME ":" NR ": error: bad: " $0 }
                        /ODD/ { print FILENAME ":" NR ": warning: odd: " $0 }' "./$file"
done
"""
