"""Real documents, landed in each of the four ways, each with twins that hold one thing more.

The history is of requirement documents of a public project; what main gains meanwhile touches the
same large document as the branch.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from landingkit import (
    EXECUTABLE,
    LARGE,
    MAIN,
    MISSING,
    REGULAR,
    REWRITTEN,
    SUBMODULE,
    SYMLINK,
    WAYS,
    Templates,
    corpus_project,
    methods_are_true,
    passes,
    plant,
    refused,
    twin,
)
from support.project import SOLO, Project

WHEN = SOLO.replace("      approvals", '      when: [".aiwg/requirements/**"]\n      approvals')

TWINS: dict[str, tuple[str, str, str | None]] = {
    "line": (REWRITTEN, REGULAR, "# Something else\n"),
    "mode": (LARGE, EXECUTABLE, None),
    "symlink": (REWRITTEN, SYMLINK, "README.md"),
    "added file": (".aiwg/requirements/use-cases/UC-666.md", REGULAR, "# Smuggled\n"),
}
SPECIAL = {
    "submodule": (REWRITTEN, SUBMODULE, "1" * 40),
    "missing file": (REWRITTEN, MISSING, ""),
    "other case": (".AIWG/Requirements/UC-666.md", REGULAR, "# Smuggled\n"),
    "a file for the folder": (".AIWG", SYMLINK, "src"),
    "own file": (".aiwg/allowed_signers", REGULAR, "mallory@example.com ssh-ed25519 AAAA\n"),
}
OUTSIDE = ("src/main.py", REGULAR, "print()\n")


@pytest.fixture
def corpus(templates: Templates, tmp_path: Path, home: Path) -> Project:
    return templates.copy("corpus", corpus_project(WHEN), tmp_path)


@pytest.fixture
def whole(templates: Templates, tmp_path: Path, home: Path) -> Project:
    return templates.copy("whole corpus", corpus_project(SOLO), tmp_path)


def content(project: Project, commit: str, path: str) -> str:
    return project.git("show", f"{commit}:{path}").out


def edited(project: Project, commit: str, kind: str) -> str:
    path, mode, text = (TWINS | SPECIAL)[kind]
    return twin(project, commit, path, mode, text or content(project, commit, path))


def move_main(project: Project) -> None:
    project.land("moved:refs/heads/main")


@pytest.mark.parametrize("moved", [False, True], ids=["as it was", "moved"])
@pytest.mark.parametrize("way", ["ff", "merge", "squash", "rebase"])
def test_what_was_approved_lands_and_no_twin_of_it(corpus: Project, way: str, moved: bool) -> None:
    if moved:
        move_main(corpus)
    landing = WAYS[way](corpus, "feature")
    if moved and way == "ff":
        refused(corpus, landing, "blocked", "--no-ff", "first-parent chain", force=True)
        return
    for kind in TWINS if moved else list(TWINS)[way in ("ff", "squash") :: 2]:  # taking turns
        evil = edited(corpus, landing, kind)
        refused(corpus, evil, "blocked", first=evil)
    passes(corpus, twin(corpus, landing, *OUTSIDE), dry=True)
    passes(corpus, landing)


@pytest.mark.parametrize("kind", SPECIAL)
def test_other_twins(corpus: Project, kind: str) -> None:
    evil = edited(corpus, WAYS["squash"](corpus, "feature"), kind)
    refused(corpus, evil, "blocked", first=evil)


@pytest.mark.parametrize("way", ["ff", "rebase"])
def test_an_evil_step_that_is_undone_later_is_found(corpus: Project, way: str) -> None:
    if way == "rebase":
        move_main(corpus)
    landing = WAYS[way](corpus, "feature")
    steps = corpus.git("rev-list", "--reverse", f"origin/main..{landing}").out.split()
    evil = edited(corpus, steps[1], "line")
    undone = plant(corpus, landing, evil)
    refused(corpus, undone, "blocked", "what was never on the reviewed branch", first=evil)
    early = edited(corpus, plant(corpus, "origin/main", "origin/main"), "added file")
    undone = plant(corpus, landing, early)
    refused(corpus, undone, "blocked", first=early)


def test_the_whole_tree_counts_without_when(whole: Project) -> None:
    move_main(whole)
    landing = WAYS["squash"](whole, "feature")
    refused(whole, twin(whole, landing, *OUTSIDE), "blocked", "src/main.py")
    passes(whole, landing)


@pytest.mark.parametrize("moved", [False, True], ids=["as it was", "moved"])
def test_check_names_the_ways_that_pass(corpus: Project, moved: bool) -> None:
    if moved:
        move_main(corpus)
    found = methods_are_true(corpus, "feature")
    assert found == (["merge", "squash", "rebase"] if moved else list(WAYS))


def test_a_conflict_in_a_large_document_is_not_reproducible(corpus: Project) -> None:
    """Main gained another edit of a line that the branch changed."""
    corpus.git("switch", "--quiet", "--detach", "origin/main")
    text = content(corpus, "HEAD", LARGE)
    line = "- Corruption detected: `aiwg -reinstall` (force fresh reinstall, <5 minutes)\n"
    assert line in text
    corpus.commit("Hotfix", {LARGE: text.replace(line, line.replace("5", "4"))})
    corpus.land()
    corpus.git("merge", "--no-ff", "feature", check=False)
    corpus.git("checkout", "--quiet", "--theirs", LARGE)
    landing = corpus.commit("Merge feature")
    doc = refused(corpus, landing, "not-reproducible", LARGE, "git merge", first=landing)
    assert doc["exit"] == 1
    corpus.git("switch", "--quiet", "feature")
    assert corpus.gate("check", "--json").json["status"] == "not-reproducible"
    assert doc["ref"] == MAIN
