"""History rewritten with plain git plumbing, as anybody with push access can."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from support.project import Person, Project

from gitgate.core import decision as codec
from gitgate.core import ids, person
from gitgate.core.decision import Action, Decision, Via
from gitgate.core.events import Event, EventName
from gitgate.core.ids import GATES
from gitgate.core.person import Stamp
from gitgate.git import ledger as ledgers
from gitgate.git.ledger import Draft
from gitgate.git.repository import Repository

LEDGER = "refs/aiwg/gates/main/feature"


@dataclass(frozen=True)
class Told:
    """An event as its commit tells it: files without their number, message, second parent."""

    files: Mapping[str, str]
    message: str
    request: str | None

    def with_file(self, name: str, oid: str) -> Told:
        return replace(self, files={**self.files, name: oid})

    def saying(self, old: str, new: str) -> Told:
        assert old in self.message
        return replace(self, message=self.message.replace(old, new))


def told(project: Project, ref: str = LEDGER) -> list[Told]:
    """The events of a ledger, oldest first."""
    commits = project.git("rev-list", "--first-parent", "--reverse", ref).out.split()[1:]
    return [_event(project, commit, number) for number, commit in enumerate(commits, 1)]


def _event(project: Project, commit: str, number: int) -> Told:
    listed = project.git("ls-tree", "-r", commit).out.splitlines()
    own = {}
    for line in listed:
        name = Path(line.partition("\t")[2]).name
        if name.startswith(f"{number:04d}-"):
            own[name.removeprefix(f"{number:04d}-")] = line.split()[2]
    message = project.git("log", "-1", "--format=%B", commit).out.rstrip("\n") + "\n"
    parents = project.git("rev-list", "--parents", "-1", commit).out.split()[1:]
    return Told(own, message, parents[1] if len(parents) > 1 else None)


def tell(
    project: Project, events: Sequence[Told], ref: str = LEDGER, *, root: str | None = None
) -> str:
    """Make the ledger anew of these events, all of it consistent; its new tip."""
    gate = ref.removeprefix(GATES).partition("/")[0]
    old = project.git("rev-list", "--max-parents=0", "--first-parent", ref).out.strip()
    lines, files = [f"reset {ref}", f"from {root or old}", ""], {}
    for number, event in enumerate(events, 1):
        said = _numbered(event.message, number)
        files.update({f"{number:04d}-{name}": oid for name, oid in event.files.items()})
        lines += [
            f"commit {ref}",
            "committer Mallory <mallory@example.com> 1764565200 +0000",
            f"data {len(said.encode())}",
            said,
            *([f"merge {event.request}"] if event.request else []),
            "deleteall",
            *(f"M 100644 {oid} .aiwg/gates/{gate}/{name}" for name, oid in files.items()),
            "",
        ]
    project.git("fast-import", "--quiet", "--force", stdin="\n".join(lines) + "\n")
    return project.rev(ref)


def _numbered(message: str, number: int) -> str:
    lines = message.split("\n")
    return "\n".join(f"Number: {number}" if x.startswith("Number: ") else x for x in lines)


def amended(project: Project, change: Mapping[str, str | None], ref: str = LEDGER) -> str:
    """The newest ledger commit made anew with other files: by full name, None is removed."""
    gate = ref.removeprefix(GATES).partition("/")[0]
    message = project.git("log", "-1", "--format=%B", ref).out.rstrip("\n") + "\n"
    first, *further = project.git("rev-list", "--parents", "-1", ref).out.split()[1:]
    own = project.git("diff-tree", "-r", "--no-renames", first, ref).out.splitlines()
    lines = [
        f"commit {ref}",
        "committer Mallory <mallory@example.com> 1764565200 +0000",
        f"data {len(message.encode())}",
        message,
        f"from {first}",
        *(f"merge {one}" for one in further),
    ]
    for line in own:
        (_, mode, _, oid, _), path = line.partition("\t")[0].split(), line.partition("\t")[2]
        lines.append(f"M {mode} {oid} {path}")
    for name, blob in change.items():
        path = f".aiwg/gates/{gate}/{name}"
        lines.append(f"M 100644 {blob} {path}" if blob else f"D {path}")
    project.git("fast-import", "--quiet", "--force", stdin="\n".join(lines) + "\n")
    return project.rev(ref)


def blob(project: Project, text: str) -> str:
    return project.git("hash-object", "-w", "--stdin", stdin=text).out.strip()


def lose_object(project: Project, oid: str) -> None:
    """An object is gone, as after a disk fault."""
    path = project.top / ".git" / "objects" / oid[:2] / oid[2:]
    path.chmod(0o644)
    path.unlink()


def signed(
    who: Person,
    request: str,
    action: Action,
    *,
    gate: str = "main",
    subject: str = "feature",
    previous: tuple[str, ...] = (),
) -> bytes:
    """A record as anybody can make one with their own key."""
    said = Decision(
        request=request,
        tag=ids.tag_name(gate, subject),
        tagger=Stamp(person.Person(who.name, who.email), int(time.time())),
        action=action,
        title=codec.title_of(action, gate, subject),
        message="",
        via=Via.TERMINAL,
        previous=previous,
    )
    payload = codec.payload(said)
    command = ["ssh-keygen", "-Y", "sign", "-n", "git", "-f", str(who.key)]
    return payload + subprocess.run(command, input=payload, capture_output=True, check=True).stdout


def append(
    project: Project,
    name: EventName,
    request: str,
    *,
    record: bytes | None = None,
    fields: Mapping[str, str] | None = None,
    gate: str = "main",
    subject: str = "feature",
) -> None:
    """Append an event with nothing asked or checked."""
    stamp = Stamp(person.Person("Mallory", "mallory@example.com"), int(time.time()))
    event = Event("", 0, name, stamp.time, stamp.person, request, None, fields or {})
    draft = Draft(event, 1, "approved", record=record)
    ledgers.append(Repository.open(project.top), gate, subject, lambda _: draft, stamp=stamp)
