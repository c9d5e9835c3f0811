"""The derived files of a work tree: where they stand, and what stands in their way."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from logbook import LOG, PROV, exported, read, work
from outputs import Clock
from support.project import SOLO, Project, make_project


def test_the_files_are_none_of_the_work_trees_business(project: Project, clock: Clock) -> None:
    """Nobody ran `init` here."""
    exclude = project.top / ".git" / "info" / "exclude"
    exclude.write_bytes(b"*.tmp\n/caf\xe9")
    work(project)
    project.gate("approve").ok()
    assert (
        project.git("status", "--porcelain", "--ignored").out
        == "!! .aiwg/gates/\n!! .aiwg/provenance/\n"
    )
    assert exclude.read_bytes() == f"*.tmp\n/caf\udce9\n/{LOG}\n/{PROV}\n".encode(
        errors="surrogateescape"
    )
    linked = project.top.parent / "linked"
    project.git("worktree", "add", "-q", "-b", "linked", str(linked), "feature")
    project.gate("retract", "--subject", "feature", at=linked).ok()
    assert (linked / LOG).is_file()
    assert project.git("-C", str(linked), "status", "--porcelain").out == ""


def test_log_all_decisions_stops_the_file_and_nothing_else(tmp_path: Path, home: Path) -> None:
    policy = SOLO + "  logging: {log_all_decisions: false}\n"
    project = make_project(tmp_path, home, policy)
    work(project)
    answer = project.gate("approve", "-m", "fine").ok()
    assert answer.err == ""
    assert not (project.top / LOG).exists()
    assert (project.top / PROV).is_file()
    assert [one["comment"] for one in read(exported(project))] == ["fine"]
    assert project.gate("check").ok().out


def test_without_a_work_tree_there_is_no_file(project: Project, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    work(project)
    project.git("clone", "-q", "--mirror", str(project.top), str(bare))
    for key in ("user.name", "user.email", "gpg.format", "user.signingKey", "gate.policyRef"):
        value = project.git("config", key).out.strip()
        subprocess.run(["git", "config", key, value], cwd=bare, check=True)
    answer = project.gate("approve", "main", "--subject", "feature", at=bare).ok()
    assert answer.err == ""
    assert not (bare / ".aiwg").exists()


@pytest.mark.parametrize(
    ("way", "why"),
    [
        ("symlink", "it leads through the symbolic link <top>/.aiwg/gates"),
        ("file-link", "it leads through the symbolic link <top>/.aiwg/gates/decisions.log"),
        ("folder", "there is something that is no file"),
        ("file", "<top>/.aiwg/gates: File exists"),
    ],
)
def test_what_is_in_the_way_of_the_log_undoes_no_decision(
    project: Project, tmp_path: Path, way: str, why: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "decisions.log").write_text("theirs\n")
    gates = project.top / ".aiwg" / "gates"
    work(project)
    match way:
        case "symlink":
            gates.symlink_to(outside)
        case "file-link":
            gates.mkdir()
            (gates / "decisions.log").symlink_to(outside / "decisions.log")
        case "folder":
            (gates / "decisions.log").mkdir(parents=True)
        case "file":
            gates.write_text("a file\n")
    answer = project.gate("approve", "--json").ok()
    assert answer.json["status"] == "approved"
    assert answer.err.replace(str(project.top), "<top>") == (
        f"warning: {LOG} was not written, the decision stands: {why}; once that is mended:"
        f" git gate export --format log -o {LOG}\n"
    )
    assert (outside / "decisions.log").read_text() == "theirs\n"
    assert [one["action"] for one in read(exported(project))] == ["approve"]
    project.push("HEAD:refs/heads/main").ok()


def test_an_exclude_file_that_cannot_be_written_undoes_no_decision(project: Project) -> None:
    work(project)
    exclude = project.top / ".git" / "info" / "exclude"
    exclude.unlink()
    exclude.mkdir()
    answer = project.gate("approve").ok()
    assert answer.err == (
        f"warning: the derived files are in the work tree's status: {exclude}: Is a directory\n"
    )
    assert (project.top / LOG).is_file() and (project.top / PROV).is_file()


@pytest.mark.parametrize("content", [b"[]", b"{", b'{"entity": 3}', b"[" * 100_000, b"\xff"])
def test_a_provenance_that_is_none_of_ours_undoes_no_decision(
    project: Project, content: bytes
) -> None:
    file = project.top / PROV
    work(project)
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    answer = project.gate("approve").ok()
    assert answer.err.startswith(f"warning: {PROV} was not written, the decision stands: ")
    assert answer.err.endswith(f"git gate export --format prov -o {PROV}\n")
    assert file.read_bytes() == content
    project.gate("export", "--format", "prov", "-o", PROV).ok()
    assert json.loads(file.read_bytes())["agent"]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("../decisions.log", "(without '.', '..' and control characters)"),
        ("/tmp/decisions.log", "(without '.', '..' and control characters)"),
        (".git/hooks/pre-push", "expected a path outside of git's own folder"),
        (".aiwg/allowed_signers", "expected a file that is no part of the policy"),
    ],
)
def test_a_path_that_leads_out_is_no_valid_policy(project: Project, path: str, why: str) -> None:
    project.write("aiwg.yml", SOLO + f"  logging: {{log_path: {path}}}\n")
    answer = project.gate("policy", "check")
    assert answer.status == 1
    [line] = answer.out.splitlines()
    assert line.startswith("aiwg.yml:10: ") and why in line and "logging.log_path" in line


def test_a_log_elsewhere_is_excluded_there(tmp_path: Path, home: Path) -> None:
    policy = SOLO + "  logging: {log_path: records/every decision.log}\n"
    project = make_project(tmp_path, home, policy)
    work(project)
    project.gate("approve").ok()
    text = (project.top / "records" / "every decision.log").read_text()
    assert text == exported(project)
    assert project.git("status", "--porcelain").out == ""
