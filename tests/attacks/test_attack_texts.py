"""Hazards 12 and 13: names that are other names, and text that is more than text."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

from forger import (
    MAIN,
    append,
    approved,
    asked_anew,
    blocked,
    decided,
    passes,
    push_lands,
    record,
    request_of,
    show,
    word,
    work,
)
from support.project import Person, Project, make_project

from gitgate.core import ids
from gitgate.core.decision import Action
from gitgate.core.events import EventName

# What no terminal may be given: each reorders, hides, moves the cursor, or forges a line.
HOSTILE = (
    "\x1b[2J\x1b]8;;http://evil.example\x07link\x1b]8;;\x07"
    "\u202eevil\u202c\u200b\u2066\ufeff\u0085\u2028\x7f\u009b31m\r"
    "[red]x[/red] ::error::no </details> @everyone %0A `$(touch pwned)`"
)
FORBIDDEN = frozenset("\x1b\u202e\u202c\u200b\u2066\ufeff\u0085\u2028\x7f\u009b\r\x07")

REFUSED = (
    "", " x", "x ", "a\nb", "a\tb", "a\x1b[2Jb", "a\x00b", "a\x7fb", "a\u0085b", "x" * 1025,
    "\udcff",
)  # fmt: skip
STRANGE = (
    "../../heads/main", "-x", "--all", "a@{1}", "a/.lock", "x.lock", "a//b", "a/", "con", "A", "a",
    "caf\u00e9", "cafe\u0301", "\u0430dmin", "admin", "a%2fb", "a/b", "~1:^?*[\\", "@", "\u202e",
    "x" * 300, "x" * 299 + "y", "..", "refs/heads/main", "'; touch pwned; '", "%-",
)  # fmt: skip


def test_subjects(project: Project) -> None:
    """12: a subject is refused or is one ref of its own, and an approval is for that one alone."""
    commit = work(project)
    for subject in REFUSED:
        assert project.gate("open", "--subject", subject).status == 129, subject
    heads = project.git("for-each-ref", "refs/heads").out
    for subject in STRANGE:
        opened = project.gate("open", f"--subject={subject}", "--json").ok().json
        assert (opened["subject"], opened["iteration"]) == (subject, 1)
    refs = project.git("for-each-ref", "--format=%(refname)", "refs/aiwg").out.split()
    assert len({name.casefold() for name in refs}) == len(STRANGE)
    assert all(name.startswith("refs/aiwg/gates/main/") and name.isascii() for name in refs)
    assert project.git("for-each-ref", "refs/heads").out == heads
    listed = project.gate("list", "--json").ok().json["instances"]
    assert {one["subject"] for one in listed} == set(STRANGE)
    for subject in ("caf\u00e9", "\u0430dmin", "a", "x" * 300, "-x", "../../heads/main"):
        project.gate("reject", f"--subject={subject}", "-m", "no").ok()
    listed = project.gate("list", "--json").ok().json["instances"]
    assert len(listed) == len(STRANGE) - 6
    assert not (project.top / "pwned").exists()
    project.commit("other work", {"other.md": "x\n"})
    project.gate("open", "--subject=-x").ok()
    project.gate("approve", "--subject=-x").ok()
    passes(project)
    assert commit != project.rev()
    push_lands(project)


def test_gates(project: Project) -> None:
    """12: a gate that the policy does not have is no gate, and a policy cannot have any."""
    work(project)
    for gate in ("../main", "-x", "Main", "m\u0430in", "main\n", "x" * 65, "a/b", ""):
        assert project.gate("open", "--", gate).status == 129, gate
    project.gate("open", "--", "main").ok()
    good = (project.top / "aiwg.yml").read_text()
    for name in ("../main", "Main", "main/x", "'-x'", "main.lock", "'@{'", "ma\u0131n"):
        project.write("aiwg.yml", good.replace("    main:", f"    {name}:"))
        found = project.gate("policy", "check", "--json")
        assert (found.status, found.json["valid"]) == (1, False), name
    project.write("aiwg.yml", good)
    project.gate("policy", "check").ok()


def _plain(text: str) -> None:
    assert not FORBIDDEN & set(text), text
    for char in text:
        assert char == "\n" or unicodedata.category(char) not in ("Cc", "Cf", "Zl", "Zp"), char


def test_hostile_words_everywhere(tmp_path: Path, home: Path) -> None:
    """13: in feedback, paths, branches, messages, names: visible escapes, and exact in JSON."""
    project = make_project(tmp_path, home)
    ada = project.people["ada"]
    branch = "b\u202e\u200b$(touch${IFS}pwned)"
    path = "p\x1b[2J\u202e\r\n::error::[red].md"
    project.branch(branch)
    project.write(path, f"# {HOSTILE}\n")
    project.git("-c", f"user.name=M\u202e{HOSTILE[:40]}", "add", "--all")
    project.commit(f"m {HOSTILE}")
    project.git("config", "user.name", "Ada \u202e\u200b[red]")
    project.gate("open", "--agent", "a\u202eb[red]", "-m", HOSTILE).ok()
    outputs = [project.gate(*command) for command in (
        ("show",), ("list",), ("log",), ("check",), ("check", "origin/main..HEAD"), ("doctor",),
    )]  # fmt: skip
    pushed = project.push(f"HEAD:{MAIN}")
    assert pushed.status == 1
    ours = pushed.err.partition("error: failed to push")[0]
    assert "git-gate: refs/heads/main may not move: pending" in ours
    _plain(ours)
    outputs.append(project.gate("reject", "-m", HOSTILE))
    outputs += [project.gate(*command) for command in (
        ("show",), ("log",), ("wait",), ("list", "--all"), ("check", "origin/main..HEAD"),
        ("open",), ("approve", "--expect", "0000000"), ("open", "--subject", "a\x1b[2J"),
        ("show", "--subject", "\u202eno"), ("open", "--target", "\x1b[2J"),
    )]  # fmt: skip
    for answer in outputs:
        _plain(answer.out)
        _plain(answer.err)
        assert "::error::" not in [line.strip()[:9] for line in answer.out.splitlines()]
    document = project.gate("show", "--json").ok()
    assert document.out.isascii()
    found = document.json
    assert [one["message"] for one in found["decisions"]] == [HOSTILE.replace("\r", "\n")]
    assert json.loads(document.out)["deliverables"][0]["description"]
    assert found["subject"] == branch
    assert not (project.top / "pwned").exists()
    request = request_of(project, subject=branch)
    liar = Person("Ada\u202e \u200b", "ada@example.com", ada.key)
    raw = record(word(request, liar, Action.RETRACT, subject=branch), liar)
    decided(project, request, raw, subject=branch)
    _plain(project.gate("show").ok().out)
    _plain(project.gate("log").ok().out)
    project.gate("retract").ok()
    project.gate("approve").ok()
    push_lands(project)


def test_hostile_findings_and_titles_of_an_opener(project: Project) -> None:
    """13: what an opener writes into a request by hand is shown as text."""
    approved(project)
    known = request_of(project)
    append(project, EventName.ITERATED, asked=asked_anew(
        project, known, "main", "feature", title=HOSTILE, summary=HOSTILE,
        next_steps=(HOSTILE, "git push --no-verify"), agent="x" * 500,
    ))  # fmt: skip
    for command in (("show",), ("list",), ("log",)):
        _plain(project.gate(*command).ok().out)
    assert show(project)["next_steps"][0] == HOSTILE
    blocked(project, "pending")
    project.gate("approve").ok()
    passes(project)


def test_no_subject_reaches_another_ref() -> None:
    """12: encoded names differ wherever the subjects do."""
    names = {ids.ledger_ref("main", subject).casefold() for subject in STRANGE}
    assert len(names) == len(STRANGE)
