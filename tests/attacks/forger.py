"""What an attacker has: plain git, our formats, their own keys, and the push access of anybody."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from support.project import Person, Project

from gitgate.core import decision as codec
from gitgate.core import ids, person
from gitgate.core.decision import Action, Decision, Via
from gitgate.core.events import Event, EventName
from gitgate.core.person import Stamp
from gitgate.core.request import Request
from gitgate.git import ledger as ledgers
from gitgate.git.ledger import Draft, Ledger
from gitgate.git.repository import Repository

MAIN = "refs/heads/main"
NOTES = "aiwg/gates"


# The two ends of every test: what must not pass, and what must.


def judged(project: Project, moves: str | None = "origin/main..HEAD", *options: str) -> Any:
    """The document of `check --json`; its exit status is the one that the document names."""
    answer = project.gate("check", *([moves] if moves else []), *options, "--json")
    assert answer.out, answer.err
    found = answer.json
    assert answer.status == found["exit"]
    assert found["allowed"] == (answer.status == 0)
    return found


def blocked(
    project: Project,
    status: str,
    *reasons: str,
    moves: str | None = "origin/main..HEAD",
    ref: str = MAIN,
    subject: str = "",
) -> Any:
    """`check` says `status`, and each of `reasons` is part of one of its sentences."""
    about = ["--subject", subject] if subject else []
    found = judged(project, moves, "--ref", ref, *about)
    assert not found["allowed"], found
    assert found["status"] == status, found["reasons"]
    for reason in reasons:
        assert any(reason in one for one in found["reasons"]), (reason, found["reasons"])
    return found


def passes(
    project: Project,
    status: str = "satisfied",
    *,
    moves: str | None = "origin/main..HEAD",
    ref: str = MAIN,
) -> Any:
    found = judged(project, moves, "--ref", ref)
    assert (found["allowed"], found["status"]) == (True, status), found["reasons"]
    return found


def push_refused(
    project: Project, status: str, *reasons: str, refspec: str = f"HEAD:{MAIN}"
) -> None:
    """A real push that the real hook refuses: nothing moves, and the reasons are said."""
    ref = refspec.rpartition(":")[2]
    before = at_remote(project, ref)
    pushed = project.push("--force", refspec)
    assert pushed.status == 1, pushed.err
    assert at_remote(project, ref) == before
    assert f"git-gate: {ref} may not move: {status}\n" in pushed.err, pushed.err
    for reason in reasons:
        assert reason in pushed.err, pushed.err


def all_refused(project: Project, *refused: tuple[str, str, str]) -> None:
    """One real push of several refs, of each its refspec, the status and a reason: none moves."""
    refspecs = [refspec for refspec, _, _ in refused]
    before = project.git("--git-dir", str(project.remote), "for-each-ref").out
    pushed = project.push("--force", *refspecs)
    assert pushed.status == 1, pushed.err
    assert project.git("--git-dir", str(project.remote), "for-each-ref").out == before
    assert pushed.err.count(" may not move: ") == len(refused), pushed.err
    for refspec, status, reason in refused:
        ref = refspec.rpartition(":")[2]
        said = pushed.err.partition(f"git-gate: {ref} may not move: {status}\n")[2]
        assert reason in said.partition("git-gate: ")[0], (refspec, pushed.err)


def push_lands(project: Project, refspec: str = f"HEAD:{MAIN}") -> None:
    """A real push that the real hook lets through."""
    source, _, ref = refspec.rpartition(":")
    wanted = project.rev(f"{source.removeprefix('+') or 'HEAD'}^{{commit}}")
    pushed = project.push(refspec)
    assert pushed.status == 0, pushed.err
    assert project.git("--git-dir", str(project.remote), "rev-parse", f"{ref}^{{commit}}").out == (
        f"{wanted}\n"
    )


def at_remote(project: Project, ref: str) -> str:
    return project.git("--git-dir", str(project.remote), "for-each-ref", ref).out


# Work and what is asked about it.


def work(project: Project, branch: str = "feature", **files: str) -> str:
    """A branch off main with one commit."""
    project.branch(branch)
    return project.commit(f"work on {branch}", files or {f"{branch}.md": f"# {branch}\n"})


def approved(project: Project, branch: str = "feature", **files: str) -> str:
    """As `work`, and the gate opened and approved by whoever is at work."""
    commit = work(project, branch, **files)
    project.gate("open").ok()
    project.gate("approve").ok()
    return commit


def show(project: Project, gate: str = "main", subject: str = "feature") -> Any:
    return project.gate("show", gate, "--subject", subject, "--json").ok().json


def request_of(project: Project, gate: str = "main", subject: str = "feature") -> str:
    found: str = show(project, gate, subject)["request"]
    return found


# Forged records.


def sign(payload: bytes, who: Person, namespace: str = "git") -> bytes:
    """The armor that ssh-keygen makes, as git asks it to."""
    command = ["ssh-keygen", "-Y", "sign", "-n", namespace, "-f", str(who.key)]
    return subprocess.run(command, input=payload, capture_output=True, check=True).stdout


def word(
    request: str,
    who: Person,
    action: Action = Action.APPROVE,
    *,
    gate: str = "main",
    subject: str = "feature",
    at: int | None = None,
    message: str = "",
    previous: tuple[str, ...] = (),
) -> Decision:
    """What somebody says on a request; `at` is what they say the time was."""
    return Decision(
        request=request,
        tag=ids.tag_name(gate, subject),
        tagger=Stamp(person.Person(who.name, who.email), at or int(time.time())),
        action=action,
        title=codec.title_of(action, gate, subject),
        message=message,
        via=Via.TERMINAL,
        previous=previous,
    )


def record(said: Decision, who: Person, namespace: str = "git") -> bytes:
    """The signed record of what was said."""
    payload = codec.payload(said)
    return payload + sign(payload, who, namespace)


# Forged ledgers and notes.


def repository(project: Project) -> Repository:
    return Repository.open(project.top)


def stamp(who: Person | None = None) -> Stamp:
    name, email = (who.name, who.email) if who else ("Mallory", "mallory@example.com")
    return Stamp(person.Person(name, email), int(time.time()))


def append(
    project: Project,
    name: EventName,
    request: str | None = None,
    *,
    raw: bytes | None = None,
    asked: Request | None = None,
    gate: str = "main",
    subject: str = "feature",
    status: str = "approved",
    fields: Mapping[str, Any] | None = None,
) -> Ledger:
    """Append an event as anybody can who has push access; nothing is asked or checked."""
    who = stamp()
    event = Event("", 0, name, who.time, who.person, request, None, fields or {})
    draft = Draft(event, 1, status, request=asked, record=raw)
    return ledgers.append(repository(project), gate, subject, lambda _: draft, stamp=who)


def decided(
    project: Project, request: str, raw: bytes, *, gate: str = "main", subject: str = "feature"
) -> None:
    """Put a record into a ledger, whatever it is."""
    append(project, EventName.DECIDED, request, raw=raw, gate=gate, subject=subject)


def noted(project: Project, commit: str, raw: bytes) -> None:
    """Put a record into a note with stock git."""
    file = project.top / ".git" / "forged-note"
    file.write_bytes(raw)
    project.git("notes", f"--ref={NOTES}", "append", "--file", str(file), commit)


def note_on(project: Project, commit: str, *, check: bool = True) -> str:
    return project.git("notes", f"--ref={NOTES}", "show", commit, check=check).out


def copy_of(project: Project, gate: str = "main", subject: str = "feature") -> list[bytes]:
    """The records of a ledger, oldest first."""
    ledger = ledgers.read(repository(project), gate, subject)
    return [ledger.records[event.record] for event in ledger.events if event.record]


def rebuilt(
    project: Project,
    change: Callable[[dict[str, str]], Mapping[str, str]],
    *,
    message: Callable[[str], str] = str,
    ref: str = "",
) -> str:
    """Replace a ledger's newest commit by one with other files below its gate's folder.

    `change` gets the files as name to blob. Plain git plumbing, no word of ours.
    """
    ref = ref or project.ledger()
    gate = ref.removeprefix(ids.GATES).partition("/")[0]
    folder = f".aiwg/gates/{gate}"
    listed = project.git("ls-tree", f"{ref}:{folder}").out.splitlines()
    files = {line.partition("\t")[2]: line.split()[2] for line in listed}
    index = {"GIT_INDEX_FILE": str(project.top / ".git" / "forged-index")}
    project.git("read-tree", "--empty", env=index)
    entries = "".join(f"100644 {oid}\t{folder}/{name}\n" for name, oid in change(files).items())
    project.git("update-index", "--add", "--index-info", stdin=entries, env=index)
    tree = project.git("write-tree", env=index).out.strip()
    parents = project.git("rev-list", "--parents", "-1", ref).out.split()[1:]
    said = message(project.git("log", "-1", "--format=%B", ref).out.rstrip("\n") + "\n")
    options = [option for parent in parents for option in ("-p", parent)]
    new = project.git("commit-tree", tree, *options, stdin=said).out.strip()
    project.git("update-ref", ref, new)
    return new


def blob(project: Project, text: str) -> str:
    return project.git("hash-object", "-w", "--stdin", stdin=text).out.strip()


def asked_anew(project: Project, request: str, gate: str, subject: str, **fields: Any) -> Request:
    """A request as its opener could also have written it, not yet stored."""
    known = ledgers.read(repository(project), gate, subject).requests[request]
    return replace(known, id="", nonce=os.urandom(16).hex(), **fields)
