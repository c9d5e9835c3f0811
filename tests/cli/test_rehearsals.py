"""`policy test`: what a policy would have asked for, over history that knew no gate."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.corpora import bundle
from support.project import SOLO, Project, make_project

WORK = """\
human_gates:
  gates:
    docs: {guards: [refs/heads/main], when: ["docs/**"]}
    code: {guards: [refs/heads/main], when: ["src/**", "*.toml"]}
    other: {guards: [refs/heads/release]}
  policy_gate: code
"""

PHASED = """\
human_gates:
  gates:
    alpha:
      guards: [refs/heads/main]
      transition: {from: alpha, to: beta}
      deliverables: ["docs/**"]
      when: ["docs/**"]
  phases: {order: [alpha, beta, released]}
"""


OVER = "the policy of the work tree, over"
MISSPELT = (
    "the policy of the work tree is not valid: aiwg.yml:1: expected a key of human_gates, found"
    " 'gate'; did you mean 'gates'?"
)
TWO = "say which guarded ref is meant; there is: refs/heads/main, refs/heads/release"


@pytest.fixture
def history(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A main branch with a landing a day since the second of December, no remote, no policy."""
    top = tmp_path / "project"
    subprocess.run(["git", "init", "--quiet", top], check=True)
    project = Project(top, tmp_path / "none")

    def land(day: int, message: str, **files: str) -> str:
        at = f"2025-12-{day:02d}T12:00:00+0000"
        monkeypatch.setenv("GIT_AUTHOR_DATE", "2001-01-01T00:00:00+0000")
        monkeypatch.setenv("GIT_COMMITTER_DATE", at)
        return project.commit(message, {path.replace("__", "/"): t for path, t in files.items()})

    land(2, "Begin", README="# Project\n")
    land(3, "Write docs", docs__one="1\n", docs__two="2\n")
    project.git("switch", "-q", "-c", "side")
    land(4, "Code on the side", src__main="1\n")
    land(4, "More code on the side", src__main="2\n")
    project.git("switch", "-q", "main")
    project.git("merge", "-q", "--no-ff", "-m", "Merge the side", "side")
    land(5, "Both", docs__one="11\n", src__main="3\n", README="# The project\n")
    land(6, "Move on", **{".aiwg__phase": "beta\n"})
    land(7, "Jump", **{".aiwg__phase": "alpha\n"})
    monkeypatch.delenv("GIT_AUTHOR_DATE")
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    return project


def tried(project: Project, policy: str, *args: str) -> str:
    """The output with `policy` in the work tree; commits by their first words."""
    project.write("aiwg.yml", policy)
    out = project.gate("policy", "test", *args).ok().out
    for line in project.git("log", "--format=%h %H", "--abbrev=12").out.splitlines():
        out = out.replace(line.split()[0], "<commit>")
    return out


def test_each_landing_that_a_gate_compares_is_listed(history: Project) -> None:
    assert tried(history, WORK, "--since", "2025-12-03", "--ref", "main") == (
        f"{OVER} 5 landings on refs/heads/main since 2025-12-03T00:00:00Z\n"
        "  2 landings would have needed gate docs\n"
        "  2 landings would have needed gate code\n"
        "  0 landings would have been refused, whatever the gates say\n"
        "\n"
        "2025-12-03T12:00:00Z  <commit>  Write docs\n"
        "  gate docs: 2 paths\n"
        "\n"
        "2025-12-04T12:00:00Z  <commit>  Merge the side\n"
        "  gate code: 1 path\n"
        "\n"
        "2025-12-05T12:00:00Z  <commit>  Both\n"
        "  gate docs: 1 path\n"
        "  gate code: 1 path\n"
    )


def test_the_document_has_ids_counts_and_what_was_not_listed(history: Project) -> None:
    history.write("aiwg.yml", WORK)
    answer = (
        history.gate("policy", "test", "--since", "2025-12-05 00:00", "--ref", "main", "--json")
        .ok()
        .json
    )
    old, new = history.rev("HEAD~3"), history.rev("HEAD~2")
    assert answer == {
        "schema": 1,
        "ref": "refs/heads/main",
        "read_from": "refs/heads/main",
        "since": "2025-12-05T00:00:00Z",
        "policy": "work tree",
        "landings": 3,
        "needed": 1,
        "blocked": 0,
        "gates": {"docs": 1, "code": 1},
        "steps": [
            {
                "old": old,
                "new": new,
                "at": "2025-12-05T12:00:00Z",
                "title": "Both",
                "gates": [{"gate": "docs", "paths": 1}, {"gate": "code", "paths": 1}],
                "blocked": [],
            }
        ],
        "left_out": 0,
    }


def test_a_move_of_the_phase_needs_its_gate_or_is_refused(history: Project) -> None:
    assert tried(history, PHASED, "--since", "2025-12-01", "--ref", "main") == (
        f"{OVER} 5 landings on refs/heads/main since 2025-12-01T00:00:00Z\n"
        "  1 landing would have needed gate alpha\n"
        "  1 landing would have been refused, whatever the gates say\n"
        "\n"
        "2025-12-06T12:00:00Z  <commit>  Move on\n"
        "  gate alpha: 1 path\n"
        "\n"
        "2025-12-07T12:00:00Z  <commit>  Jump\n"
        "  blocked: <commit> moves the phase from beta to alpha, and no gate leads that way\n"
    )


def test_a_change_of_the_policy_itself_needs_its_gate(project: Project) -> None:
    """Over a remote-tracking branch; the policy of HEAD where the work tree has none."""
    first = project.rev()
    project.commit("Other rules", {"aiwg.yml": SOLO + "# more\n", "page.md": "# Page\n"})
    project.land()
    project.git("rm", "-q", "--cached", "aiwg.yml")
    (project.top / "aiwg.yml").unlink()
    answer = project.gate("policy", "test", "--since", "1 day ago", "--json").ok().json
    assert (answer["read_from"], answer["policy"]) == ("refs/remotes/origin/main", project.rev())
    [step] = answer["steps"]
    assert (step["old"], step["gates"]) == (first, [{"gate": "main", "paths": 2}])
    narrow = SOLO.replace("    main:\n", "    main:\n      when: [docs/**]\n")
    project.write("aiwg.yml", narrow)
    [step] = project.gate("policy", "test", "--since", "1 day ago", "--json").ok().json["steps"]
    assert step["gates"] == [{"gate": "main", "paths": 1}]


def test_no_ledger_is_read_and_none_is_written(project: Project) -> None:
    project.branch("feature")
    project.commit("Add a page", {"page.md": "# Page\n"})
    project.gate("open").ok()
    ledger = project.ledger()
    broken = project.rev("HEAD")
    project.git("update-ref", ledger, broken)
    project.git("update-ref", "refs/notes/aiwg/gates", broken)
    project.land()
    assert (
        project.gate("policy", "test", "--since", "1 day ago").ok().out.count("gate main: 1 path")
        == 1
    )
    assert project.rev(ledger) == broken


def test_nothing_in_the_time_asked_for_is_said(history: Project) -> None:
    assert tried(history, WORK, "--since", "2025-12-08", "--ref", "main") == (
        "nothing landed on refs/heads/main since 2025-12-08T00:00:00Z: nothing was replayed\n"
    )


def test_a_ref_that_no_gate_guards_is_said(history: Project) -> None:
    assert tried(
        history,
        PHASED.replace("refs/heads/main", "refs/heads/x"),
        "--since",
        "2025-12-01",
        "--ref",
        "side",
    ) == (
        f"{OVER} 3 landings on refs/heads/side since 2025-12-01T00:00:00Z\n"
        "no gate of it guards refs/heads/side\n"
    )


@pytest.mark.parametrize("date", ["", "soon", "yesterdoy", "2199-01-01", "\x1b[2J"])
def test_what_is_no_date_in_the_past_is_refused(history: Project, date: str) -> None:
    history.write("aiwg.yml", WORK)
    answer = history.gate("policy", "test", "--since", date)
    assert (answer.status, answer.out) == (129, "")
    assert "is no date in the past\nhint: git gate policy test --since 2025-01-31" in answer.err


@pytest.mark.parametrize(
    ("policy", "args", "status", "said"),
    [
        (None, (), 128, "neither the work tree nor HEAD has a policy"),
        ("other: 1\n", (), 128, "aiwg.yml has no `human_gates`"),
        ("human_gates: {gate: {}}\n", (), 128, MISSPELT),
        (WORK, (), 129, TWO),
        (WORK, ("--ref", "release"), 129, "there is no refs/heads/release here"),
    ],
)
def test_what_cannot_be_tried_is_an_error(
    history: Project, policy: str | None, args: tuple[str, ...], status: int, said: str
) -> None:
    if policy is not None:
        history.write("aiwg.yml", policy)
    answer = history.gate("policy", "test", "--since", "2025-12-01", *args)
    assert (answer.status, answer.out) == (status, "")
    assert answer.err.startswith(f"git-gate: {said}\n")


def test_hostile_titles_are_shown_and_do_nothing(project: Project) -> None:
    project.commit("\x1b[2J\u202eEvil", {"page.md": "# Page\n"})
    project.land()
    out = project.gate("policy", "test", "--since", "1 day ago").ok().out
    assert r"\x1b[2J\u202eEvil" in out and "\x1b" not in out


CORPUS_POLICY = """\
human_gates:
  gates:
    requirements:
      guards: [refs/heads/main]
      when: [".aiwg/requirements/use-cases/**"]
    nfr:
      guards: [refs/heads/main]
      when: [".aiwg/requirements/nfr-modules/**"]
"""


def test_over_the_corpus_git_counts_the_same(tmp_path: Path, home: Path) -> None:
    top = tmp_path / "corpus"
    subprocess.run(["git", "clone", "-q", bundle("aiwg-requirements.bundle"), top], check=True)
    project = Project(top, tmp_path)
    project.write("aiwg.yml", CORPUS_POLICY)
    answer = project.gate("policy", "test", "--since", "2025-10-01", "--json").ok().json
    expected = []
    log = project.git("log", "--first-parent", "--reverse", "--format=%H", "--since=2025-10-01")
    commits = log.out.split()
    for new in commits:
        if project.git("rev-parse", "-q", "--verify", f"{new}^", check=False).status:
            continue  # the first commit of all lands on nothing
        gates = []
        for gate, folder in (("requirements", "use-cases"), ("nfr", "nfr-modules")):
            paths = project.git(
                "diff-tree",
                "-r",
                "--no-renames",
                "--name-only",
                f"{new}^",
                new,
                "--",
                f".aiwg/requirements/{folder}",
            ).out.splitlines()
            gates += [{"gate": gate, "paths": len(paths)}] if paths else []
        if gates:
            expected.append((new, gates))
    assert [(step["new"], step["gates"]) for step in answer["steps"]] == expected
    assert answer["landings"] == len(commits) - 1 == 13
    assert answer["gates"] == {
        gate: sum(any(one["gate"] == gate for one in gates) for _, gates in expected)
        for gate in ("requirements", "nfr")
    }
    assert (answer["needed"], answer["blocked"]) == (len(expected), 0)
    later = project.gate("policy", "test", "--since", "2026-01-01").ok().out
    assert later.startswith(
        f"{OVER} 2 landings on refs/remotes/origin/main since 2026-01-01T00:00:00Z\n"
    )


def test_the_presets_of_init_can_be_rehearsed_before_they_are_adopted(
    history: Project, home: Path
) -> None:
    history.gate("init").ok()
    out = history.gate("policy", "test", "--since", "2025-12-01").ok().out
    assert "  5 landings would have needed gate main\n" in out


def test_every_reading_of_time_is_by_the_date_of_each_landing(project: Project) -> None:
    """One commit with an old date hides none of those before it."""
    project.commit("Recent", {"a": "1\n"})
    project.write("b", "1\n")
    project.git("add", "--all")
    old = {"GIT_COMMITTER_DATE": "1999-01-01T00:00:00+0000"}
    project.git("commit", "-q", "-m", "Imported", env=old)
    project.land()
    answer = project.gate("policy", "test", "--since", "1 day ago", "--json").ok().json
    assert [step["title"] for step in answer["steps"]] == ["Recent"]


def test_make_project_is_seen_as_adopted(tmp_path: Path, home: Path) -> None:
    project = make_project(tmp_path, home, hook=False)
    out = project.gate("policy", "test", "--since", "1 day ago").ok().out
    assert out.startswith("nothing landed on refs/remotes/origin/main since ")
