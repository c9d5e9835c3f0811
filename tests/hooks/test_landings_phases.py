"""Phases: an approved transition lands in every way; a phase that is moved in any other way does
not, and the reason is one that a person understands (design, section 5, "Phases")."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from landingkit import (
    MISSING,
    REGULAR,
    SUBMODULE,
    SYMLINK,
    WAYS,
    Templates,
    administer,
    approve,
    by_ff,
    by_merge,
    by_rebase,
    by_squash,
    corpus_project,
    passes,
    plain_project,
    plant,
    refused,
    twin,
)
from support.project import SOLO, Project

PHASE = ".aiwg/phase"
PHASED = """\
human_gates:
  version: 1
  gates:
    inception:
      title: Lifecycle Objectives
      transition: {from: inception, to: elaboration}
      guards: [refs/heads/main]
      deliverables: [".aiwg/requirements/**"]
      approvals: {self_approval: true}
    elaboration:
      title: Lifecycle Architecture
      transition: {from: elaboration, to: construction}
      guards: [refs/heads/main]
      deliverables: [".aiwg/requirements/**", ".aiwg/architecture/**"]
      approvals: {self_approval: true}
  policy_gate: elaboration
  phases: {file: .aiwg/phase, order: [inception, elaboration, construction]}
  defaults: {timeout_minutes: 0}
"""
Way = Callable[[Project, str], str]
CASE = ".aiwg/requirements/UC-001.md"


@pytest.fixture
def phased(templates: Templates, tmp_path: Path, home: Path) -> Project:
    """A project in the phase `inception`; the branch `work` has an approved transition."""
    return templates.copy("phased", _phased, tmp_path)


@pytest.fixture
def begun(templates: Templates, tmp_path: Path, home: Path) -> Project:
    """A project in the phase `inception`, in which nobody has asked for anything."""
    return templates.copy("begun", _begun, tmp_path)


def _begun(folder: Path, home: Path) -> Project:
    project = plain_project(PHASED)(folder, home)
    administer(project, {PHASE: "inception\n"}, "Begin")
    return project


def _phased(folder: Path, home: Path) -> Project:
    project = _begun(folder, home)
    project.branch("work")
    project.commit("Write a use case", {CASE: "# UC-001: User Login\n"})
    project.gate("open", "--advance", "-m", "Inception is done").ok()
    project.gate("approve").ok()
    return project


def moved(project: Project, text: str, start: str = "origin/main") -> str:
    """A commit on `start` in which the phase file says `text`."""
    project.git("switch", "--quiet", "--detach", start)
    return project.commit("Move on", {PHASE: text})


@pytest.mark.parametrize("way", WAYS)
def test_an_approved_transition_lands(phased: Project, way: str) -> None:
    doc = passes(phased, WAYS[way](phased, "work"))
    assert [(row["gate"], row["status"]) for row in doc["gates"]] == [
        ("inception", "satisfied"),
        ("elaboration", "not-needed"),
    ]
    assert phased.git("show", f"origin/main:{PHASE}").out == "elaboration\n"


def test_the_landing_moves_the_phase_and_the_next_gate_is_meant(phased: Project) -> None:
    phased.git("switch", "--quiet", "work")
    shown = phased.gate("show").ok().out
    assert "Phase: inception → elaboration\n" in shown
    passes(phased, by_ff(phased, "work"))
    phased.git("switch", "--quiet", "--create", "next", "origin/main")
    phased.commit("Architecture", {".aiwg/architecture/sad.md": "# SAD\n"})
    opened = phased.gate("open", "--advance").ok().out
    assert "Phase: elaboration → construction\n" in opened
    assert "  ✓ .aiwg/requirements/UC-001.md" in opened, "all that the phase delivered"
    phased.gate("approve").ok()
    passes(phased, by_merge(phased, "next"))


def test_on_the_corpus_a_phase_of_real_documents_lands_in_each_way(
    templates: Templates, tmp_path: Path, home: Path
) -> None:
    project = templates.copy("phased-corpus", _corpus, tmp_path)
    start = project.rev("origin/main")
    for way in (by_merge, by_squash):
        doc = passes(project, way(project, "milestone"), dry=True)
        assert doc["gates"][0]["status"] == "satisfied"
    assert project.rev("origin/main") == start


def _corpus(folder: Path, home: Path) -> Project:
    """Three real commits on the corpus, and the phase that they end."""
    project = corpus_project(SOLO)(folder, home)
    administer(project, {PHASE: "inception\n", "aiwg.yml": PHASED}, "Begin")
    project.git("switch", "--quiet", "--create", "milestone", "feature")
    project.git("merge", "--quiet", "-m", "Take the phase", "origin/main")
    project.gate("open", "inception", "--advance").ok()
    project.gate("approve", "inception").ok()
    return project


@pytest.mark.parametrize("way", [by_merge, by_squash, by_rebase])
def test_a_transition_that_nobody_approved_is_blocked(begun: Project, way: Way) -> None:
    begun.git("switch", "--quiet", "--create", "hasty", "origin/main")
    begun.commit("Write", {CASE: "# Half a use case\n"})
    begun.commit("Move on", {PHASE: "elaboration\n"})
    refused(begun, way(begun, "hasty"), "not-opened", "no gate `inception` was opened")


def test_in_two_steps_it_is_blocked_as_in_one(begun: Project) -> None:
    """First a step that no gate asks about, then the phase; or both phases in one push."""
    begun.git("switch", "--quiet", "--detach", "origin/main")
    free = begun.commit("Write", {CASE: "# Half a use case\n"})
    second = begun.commit("Move on", {PHASE: "elaboration\n"})
    refused(begun, second, "not-opened", "no gate `inception`", first=second)
    passes(begun, free, dry=True)
    third = begun.commit("And on", {PHASE: "construction\n"})
    refused(begun, third, "not-opened", "no gate `inception`", first=second)


def test_two_phases_at_once_are_no_transition_of_any_gate(begun: Project) -> None:
    new = moved(begun, "construction\n")
    refused(begun, new, "blocked", "moves the phase from inception to construction")


def test_a_phase_that_goes_back_is_no_transition_of_any_gate(phased: Project) -> None:
    passes(phased, by_ff(phased, "work"))
    new = moved(phased, "inception\n")
    refused(phased, new, "blocked", "moves the phase from elaboration to inception")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("elaboration\nconstruction\n", "has more than one line"),
        ("elaboration\n\n", "has more than one line"),
        ("Elaboration\n", "'Elaboration', which is no phase"),
        (" elaboration\n", "' elaboration', which is no phase"),
        ("elaboration\r\n", "which is no phase"),
        ("", "which is no phase"),
        ("elaboration" * 1000 + "\n", "has more than one line"),
    ],
)
def test_a_phase_file_that_says_something_else(begun: Project, text: str, words: str) -> None:
    refused(begun, moved(begun, text), "blocked", f"{PHASE} ", words)


def test_a_phase_file_that_is_deleted_or_is_no_file(begun: Project) -> None:
    start = begun.rev("origin/main")
    landing = plant(begun, start, start)
    refused(begun, twin(begun, landing, PHASE, MISSING, ""), "blocked", f"{PHASE} is gone")
    for mode, content in ((SYMLINK, "elsewhere"), (SUBMODULE, start)):
        new = twin(begun, landing, PHASE, mode, content)
        refused(begun, new, "blocked", f"{PHASE} is no regular file")


@pytest.mark.parametrize("path", [".AIWG/phase", ".aiwg/Phase", ".aiwg/PHASE"])
def test_another_spelling_beside_it(begun: Project, path: str) -> None:
    """On a file system that ignores case it would be the phase file."""
    start = begun.rev("origin/main")
    new = twin(begun, plant(begun, start, start), path, REGULAR, "elaboration\n")
    refused(begun, new, "blocked", "could be taken for .aiwg/phase")


def test_a_link_in_the_place_of_its_folder(begun: Project) -> None:
    """The phase would be read where the link leads."""
    start = begun.rev("origin/main")
    begun.git("switch", "--quiet", "--detach", start)
    begun.git("rm", "-rq", ".aiwg")
    (begun.top / "other").mkdir()
    (begun.top / "other" / "phase").write_text("elaboration\n")
    (begun.top / ".aiwg").symlink_to("other")
    new = begun.commit("A link")
    refused(begun, new, "blocked", ".aiwg could be taken for .aiwg/phase")


def test_the_edit_of_a_file_that_a_link_leads_to_is_no_move(begun: Project) -> None:
    """A link elsewhere that leads to the phase file moves nothing: only the file's own entry
    says the phase."""
    begun.git("switch", "--quiet", "--detach", "origin/main")
    (begun.top / "link").symlink_to(PHASE)
    passes(begun, begun.commit("A link to it"), dry=True)
    (begun.top / "link").write_text("elaboration\n")
    new = begun.commit("Written through the link")
    refused(begun, new, "not-opened", "no gate `inception`", first=new)


def test_what_slipped_in_elsewhere_does_not_ride_through(phased: Project) -> None:
    """A deliverable that main gained after the review is not what was approved."""
    late = {".aiwg/requirements/UC-002.md": "# Nobody saw this\n"}
    administer(phased, late, "Meanwhile")
    refused(phased, by_merge(phased, "work"), "stale", ".aiwg/requirements/UC-002.md")
    phased.git("switch", "--quiet", "work")
    phased.git("merge", "--quiet", "-m", "Take main", "origin/main")
    approve(phased)
    passes(phased, by_merge(phased, "work"))


def test_a_landing_that_leaves_the_phase_is_nobodys_business(begun: Project) -> None:
    begun.git("switch", "--quiet", "--detach", "origin/main")
    passes(begun, begun.commit("Free", {"src/main.c": "int main;\n"}))


def test_an_edited_landing_of_an_approved_transition(phased: Project) -> None:
    merged = by_merge(phased, "work")
    for path in (CASE, PHASE, "README.md"):
        new = twin(phased, merged, path, REGULAR, "construction\n")
        assert phased.push(f"{new}:refs/heads/main").status != 0, path
    passes(phased, merged)


def test_a_rebase_that_replays_the_transition(phased: Project) -> None:
    """The same change on a main that moved elsewhere: what was approved lands, all else not."""
    administer(phased, {"src/a.c": "1\n"}, "Meanwhile")
    rebased = by_rebase(phased, "work")
    passes(phased, rebased, dry=True)
    phased.git("switch", "--quiet", "--detach", rebased)
    more = phased.commit("More", {CASE: "# Another use case\n"})
    squashed = plant(phased, more, "origin/main")
    refused(phased, squashed, "blocked", first=squashed)


def test_of_two_that_lead_out_of_one_phase_the_second_moves_nothing(phased: Project) -> None:
    """What it brings beside the phase is ordinary work, which no gate of this policy asks about."""
    phased.git("switch", "--quiet", "--create", "rival", "origin/main")
    phased.commit("Another use case", {".aiwg/requirements/UC-009.md": "# UC-009\n"})
    phased.gate("open", "--advance").ok()
    phased.gate("approve").ok()
    passes(phased, by_merge(phased, "work"))
    doc = passes(phased, by_merge(phased, "rival"))
    assert {row["status"] for row in doc["gates"]} == {"not-needed"}
    assert phased.git("show", f"origin/main:{PHASE}").out == "elaboration\n"


def test_the_policy_guards_itself_in_phase_mode(begun: Project) -> None:
    """Whatever the phases say (design, section 5): the policy's gate is asked."""
    begun.git("switch", "--quiet", "--detach", "origin/main")
    new = begun.commit("Loosen", {"aiwg.yml": SOLO})
    refused(begun, new, "not-opened", "no gate `elaboration`")


def test_a_change_of_the_policy_lands_through_its_gate_whatever_the_phase(begun: Project) -> None:
    begun.branch("rules")
    begun.commit("Loosen", {"aiwg.yml": PHASED.replace("Lifecycle Objectives", "Objectives")})
    begun.gate("open", "elaboration").ok()
    begun.gate("approve", "elaboration").ok()
    shown = begun.gate("show", "elaboration", "--json").json
    assert [one["path"] for one in shown["deliverables"]] == ["aiwg.yml"]
    passes(begun, by_merge(begun, "rules"))
