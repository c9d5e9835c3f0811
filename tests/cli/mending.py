"""What tests of trouble share: doctor's findings, its hints followed, and a repository's state."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from support.project import TEAM, Project, make_project, person

from gitgate.core import ids
from gitgate.core.decision import Defect, Record, parse, split_note
from gitgate.git import ledger as ledgers
from gitgate.git import notes
from gitgate.git.ledger import Ledger
from gitgate.git.repository import Repository

NOTES = "aiwg/gates"


def findings(project: Project, *levels: str, about: str = "") -> list[dict[str, str]]:
    """What `doctor` says of these levels (else: the faults), which agrees with how it ends."""
    answer = project.gate("doctor", "--json")
    found = answer.json["findings"]
    sick = any(one["level"] == "fault" for one in found)
    assert answer.status == (1 if sick else 0), answer
    wanted = levels or ("fault",)
    return [one for one in found if one["level"] in wanted and about in ("", one["about"])]


def texts(project: Project, *levels: str, about: str = "") -> list[str]:
    return [one["text"] for one in findings(project, *levels, about=about)]


def follow(project: Project, hint: str) -> None:
    """Run the commands of a hint, as a person would type them."""
    for command in hint.split(", then "):
        if command.startswith("git gate "):
            project.gate(*command.split()[2:])
        else:
            subprocess.run(["sh", "-c", command], cwd=project.top, check=True)


def mend(project: Project, found: list[dict[str, str]] | None = None) -> None:
    """Follow the hints of all faults; what is said more than once is done once."""
    for hint in dict.fromkeys(one["hint"] for one in found or findings(project)):
        follow(project, hint)


def age_locks(project: Project) -> list[Path]:
    """Make left locks as old as they are when somebody comes to look at them."""
    locks = sorted((project.top / ".git" / "refs").rglob("*.lock"))
    for lock in locks:
        os.utime(lock, (1, 1))
    return locks


def ledger_of(project: Project, subject: str = "feature", gate: str = "main") -> Ledger:
    return ledgers.read(Repository.open(project.top), gate, subject)


def records_of(project: Project, subject: str = "feature", gate: str = "main") -> list[Record]:
    return [parse(raw) for raw in ledger_of(project, subject, gate).records.values()]


def noted(project: Project, subject: str = "feature", gate: str = "main") -> Iterator[Record]:
    """The records of an instance that stand in notes, as often as they do; no junk."""
    tag = ids.tag_name(gate, subject)
    for _, data in notes.every(Repository.open(project.top)):
        for piece in split_note(data):
            with suppress(Defect):
                record = parse(piece)
                if record.decision.tag == tag:
                    yield record


def fsck(project: Project) -> None:
    """git itself finds nothing wrong."""
    answer = project.git("fsck", "--strict", "--no-dangling", check=False)
    assert (answer.status, answer.out) == (0, ""), (answer.out, answer.err)


def is_whole(project: Project, *subjects: str, gate: str = "main") -> None:
    """Each record of the ledgers stands in the note of its work commit, once; git is content."""
    repo = Repository.open(project.top)
    for subject in subjects or ("feature",):
        ledger = ledgers.read(repo, gate, subject)
        assert ledger.faults == ()
        expected = []
        for raw in ledger.records.values():
            work = ledger.requests[parse(raw).decision.request].work
            expected.append((work, raw))
        tag = ids.tag_name(gate, subject)
        found = [
            (commit, piece)
            for commit, data in notes.every(repo)
            for piece in split_note(data)
            if parse(piece).decision.tag == tag
        ]
        assert sorted(found) == sorted(expected)
    fsck(project)
    assert not list((project.top / ".git" / "refs").rglob("*.lock"))


def make_team(folder: Path, home: Path, policy: str = TEAM) -> Project:
    """As the fixture `team`: Ada and Bob are listed, and the agent is at work."""
    people = (("Ada Lovelace", "ada@example.com"), ("Bob Babbage", "bob@example.com"))
    made = make_project(folder, home, policy, people)
    made.people["agent"] = person("Agent", "agent@example.com", home)
    made.be(made.people["agent"], signs=False)
    return made


def decide(project: Project, who: str, *args: str) -> None:
    """Somebody decides; then the agent is at work again."""
    project.be(project.people[who])
    project.gate(*args).ok()
    project.be(project.people["agent"], signs=False)


def copied(project: Project, folder: Path) -> Project:
    """A project of its own with the same history, keys and people: quicker than making it anew."""
    copy = replace(project, top=folder / "project", remote=folder / "remote.git")
    shutil.copytree(project.top, copy.top, symlinks=True)
    shutil.copytree(project.remote, copy.remote, symlinks=True)
    copy.git("config", "remote.origin.url", str(copy.remote))
    return copy


def everything(project: Project) -> dict[str, str]:
    """All refs, to see that nothing has changed."""
    shown = project.git("for-each-ref", "--format=%(refname) %(objectname)").out
    return dict(line.split(" ") for line in shown.splitlines())


def status(project: Project, subject: str = "feature", *moves: str) -> Any:
    """The status that `check` says, which its exit status and `allowed` agree with."""
    answer = project.gate("check", *moves, "--subject", subject, "--json")
    assert answer.out, answer.err
    found = answer.json
    assert answer.status == found["exit"]
    assert found["allowed"] == (answer.status == 0)
    return found["status"]


def program_path() -> str:
    """A PATH on which `git gate` is found, whatever else is."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
