"""The decision log of a project: what the tests of `export` and of the derived files share."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import yaml
from support.project import SOLO, Project

LOG = ".aiwg/gates/decisions.log"
PROV = ".aiwg/provenance/gates.prov.json"
TIMED = SOLO.replace("timeout_minutes: 0", "timeout_minutes: 60")


def read(log: str) -> list[dict[str, Any]]:
    """The documents of the log by a stock reader of YAML."""
    return [one["gate_decision"] for one in yaml.safe_load_all(log)]


def exported(project: Project) -> str:
    return project.gate("export", "--format", "log").ok().out


def log_of(project: Project) -> str:
    return (project.top / LOG).read_text(encoding="utf-8")


def work(project: Project, name: str = "feature", path: str = "page.md") -> str:
    """Work on a branch of its own, with the gate open for it."""
    project.branch(name)
    commit = project.commit(f"Add {path}", {path: f"# {name}\n"})
    project.gate("open", "--agent", "claude").ok()
    return commit


def clone_of(project: Project, folder: Path) -> Project:
    """Another clone with the same ledgers and notes, in which `init` never ran."""
    subprocess.run(["git", "clone", "--quiet", project.remote, folder], check=True)
    made = Project(folder, project.remote)
    project.git(
        "push", "-q", "--no-verify", "origin", "refs/aiwg/*:refs/aiwg/*", "refs/notes/aiwg/*"
    )
    made.git(
        "fetch", "-q", "origin", "refs/aiwg/*:refs/aiwg/*", "refs/notes/aiwg/*:refs/notes/aiwg/*"
    )
    made.git("config", "gate.policyRef", "refs/heads/main")
    return made
