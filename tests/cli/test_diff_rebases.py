"""After a rebase, a merge, a squash and the like only what the author wrote is shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rebasing import APP, DOC, base_moves, changed, edit, first_round
from support.project import Project

MORE = edit(DOC, "3. Get in\n", "3. Show the code\n4. Get in\n")
ONLY = [("login.md", ["-3. Get in", "+3. Show the code", "+4. Get in"])]


def rebase(project: Project) -> None:
    project.git("rebase", "--quiet", "main")


def base_merge(project: Project) -> None:
    project.git("merge", "--quiet", "--no-edit", "main")


def squash(project: Project) -> None:
    project.git("rebase", "--quiet", "main")
    project.git("reset", "--quiet", "--soft", "main")
    project.commit("All in one")


def reordered(project: Project) -> None:
    """The two commits, the later one first, on the new base."""
    page, line = project.rev("HEAD~1"), project.rev("HEAD")
    project.git("reset", "--quiet", "--hard", "main")
    project.git("cherry-pick", line, page)


def rewritten(project: Project) -> None:
    """Another history with the same content, as a force-push leaves it."""
    project.git("rebase", "--quiet", "main")
    project.git("checkout", "--quiet", "--detach", "main")
    project.git("checkout", "feature", "--", ".")
    project.commit("Somebody else's words")
    project.git("branch", "--quiet", "--force", "feature")
    project.git("switch", "--quiet", "feature")


@pytest.mark.parametrize("how", [rebase, base_merge, squash, reordered, rewritten])
def test_the_authors_lines_alone_are_shown(
    project: Project, how: Callable[[Project], None]
) -> None:
    first_round(project)
    base_moves(project, 3, {"app.txt": edit(APP, "line 50 of", "line fifty of")})
    how(project)
    project.commit("Show the code", {"login.md": MORE})
    project.gate("open").ok()
    assert changed(project) == ONLY
    found = project.gate("diff", "--json").ok().json
    assert found["base"] == {"commits": 4, "lost": 0, "files": 4, "touches": ["app.txt"]}
    assert found["conflicts"] == []


def test_a_rebase_alone_changes_nothing(project: Project) -> None:
    first_round(project)
    base_moves(project, 2)
    rebase(project)
    project.gate("reject", "-m", "still").ok()
    project.commit("Empty")
    project.gate("open").ok()
    assert project.gate("diff", "1..2").ok().out.splitlines() == [
        "Changes from iteration 1 → 2",
        "The base moved by 2 commits; none of its changes touches what was reviewed",
        "Its commits say: “Empty”",
        "",
        "Modified: (none)",
        "",
        "Added: (none)",
        "",
        "Deleted: (none)",
        "",
        "Summary: 0 modified, 0 added, 0 deleted",
        "",
        "next: git gate diff main --subject feature 1..2 --full shows every line",
    ]
    full = project.gate("diff", "1..2", "--full").ok().out.splitlines()
    assert full[-1] == "nothing changed"


def test_a_fix_up_commit_shows_as_what_it_changed(project: Project) -> None:
    first_round(project)
    base_moves(project)
    project.commit("fixup! Login page", {"login.md": MORE})
    project.git(
        "-c", "sequence.editor=true", "rebase", "--quiet", "--interactive", "--autosquash", "main"
    )
    project.gate("open").ok()
    assert changed(project) == ONLY


def test_a_dropped_commit_shows_as_lines_that_are_gone(project: Project) -> None:
    first_round(project)
    base_moves(project)
    project.git("rebase", "--quiet", "--onto", "main", "feature~2", "feature~1")
    project.git("branch", "--force", "feature")
    project.git("switch", "--quiet", "feature")
    project.gate("open").ok()
    assert changed(project) == [
        ("app.txt", ["-line five of the application", "+line 5 of the application"])
    ]


def test_an_edit_that_hides_in_a_merge_of_the_base_is_shown(project: Project) -> None:
    first_round(project)
    base_moves(project)
    project.git("merge", "--quiet", "--no-commit", "--no-ff", "main")
    project.commit("Merge main", {"other.txt": edit(APP, "line 30 of", "line thirty of")})
    project.gate("open").ok()
    assert changed(project) == [
        ("other.txt", ["-line 30 of the application", "+line thirty of the application"])
    ]


def test_a_conflict_is_named_and_its_patches_are_compared(project: Project) -> None:
    first_round(project)
    base_moves(project, 1, {"app.txt": edit(APP, "line 5 of", "line V of")})
    project.git("merge", "--no-edit", "main", check=False)
    solved = edit(APP, "line 5 of", "line five (V) of")
    project.commit("Merge main", {"app.txt": edit(solved, "line 30 of", "line hidden of")})
    project.gate("open").ok()
    assert changed(project) == []
    shown = project.gate("diff").ok().out.splitlines()
    assert shown[:6] == [
        "Changes from iteration 1 → 2",
        "The base moved by 2 commits; it changed a reviewed file too: app.txt",
        "Its commits say: “Merge main”",
        "",
        "Where the old work does not merge onto the new base (the two patches are compared):",
        "  app.txt: its patch changed",
    ]
    full = project.gate("diff", "--full").ok().out
    assert full.split("\n\n", 1)[1].splitlines() == [
        "app.txt: the old work does not merge onto the new base",
        "@@ the old patch (-) against the new one (+)",
        "  line 2 of the application",
        "  line 3 of the application",
        "  line 4 of the application",
        "--line 5 of the application",
        "-+line five of the application",
        "+-line V of the application",
        "++line five (V) of the application",
        "  line 6 of the application",
        "  line 7 of the application",
        "  line 8 of the application",
        "+@@ line 26 of the application",
        "+ line 27 of the application",
        "+ line 28 of the application",
        "+ line 29 of the application",
        "+-line 30 of the application",
        "++line hidden of the application",
        "+ line 31 of the application",
        "+ line 32 of the application",
        "+ line 33 of the application",
    ]


def test_the_same_lines_on_another_base_are_not_called_unchanged(project: Project) -> None:
    first_round(project)
    base_moves(project, 1, {"app.txt": edit(APP, "line 5 of the application\n", "")})
    project.git("merge", "--no-edit", "main", check=False)
    without = edit(APP, "line 5 of the application\n", "")
    project.commit("Merge main", {"app.txt": without})
    project.gate("open").ok()
    found = project.gate("diff", "--json").ok().json
    assert [one["path"] for one in found["conflicts"]] == ["app.txt"]
    assert found["conflicts"][0]["hunks"] != []


def test_a_file_against_a_folder_is_a_conflict_of_what_was_written(project: Project) -> None:
    first_round(project)
    project.git("switch", "--quiet", "main")
    project.git("rm", "--quiet", "app.txt")
    base_moves(project, 0, {"app.txt/inner": "a folder now\n"})
    project.git("reset", "--quiet", "--hard", "main")
    project.commit("Login page again", {"login.md": DOC, "app.txt/more": "mine\n"})
    project.gate("open").ok()
    found = project.gate("diff", "--json").ok().json
    assert [one["path"] for one in found["conflicts"]] == ["app.txt"]
    assert [file["path"] for file in found["files"]] == ["app.txt/more"]


def test_a_base_that_was_replaced_is_said_to_be(project: Project) -> None:
    first_round(project)
    project.git("switch", "--quiet", "main")
    old = project.rev()
    project.git("reset", "--quiet", "--hard", "HEAD~1")
    project.commit("Another application", {"app.txt": APP, "other.txt": APP, "new.txt": "new\n"})
    project.git("push", "--quiet", "--force", "--no-verify", "origin", "HEAD:refs/heads/main")
    project.git("rebase", "--quiet", "--onto", "main", old, "feature")
    project.commit("Show the code", {"login.md": MORE})
    project.gate("open").ok()
    assert changed(project) == ONLY
    lines = project.gate("diff").ok().out.splitlines()
    assert lines[1] == (
        "The base was replaced: 1 commit left it, 1 commit came; none of its changes touches what"
        " was reviewed"
    )


def test_any_two_rounds_can_be_compared_and_the_whole_change(project: Project) -> None:
    first_round(project)
    project.commit("Show the code", {"login.md": MORE})
    project.gate("open").ok()
    project.gate("reject", "-m", "again").ok()
    project.commit("Third", {"third.txt": "3\n"})
    project.gate("open").ok()
    third = ("third.txt", ["+3"])
    assert changed(project) == [third]
    assert changed(project, "2..3") == [third]
    assert changed(project, "1..3") == [*ONLY, third]
    assert changed(project, "1..") == [*ONLY, third]
    assert changed(project, "3..1") == [
        ("login.md", ["-3. Show the code", "-4. Get in", "+3. Get in"]),
        ("third.txt", ["-3"]),
    ]
    assert [path for path, _ in changed(project, "0..3")] == ["app.txt", "login.md", "third.txt"]
    assert [path for path, _ in changed(project, "main", "0..1")] == ["app.txt", "login.md"]


@pytest.mark.parametrize(
    ("range_", "status", "message"),
    [
        ("1..1", 129, "iteration 1 is compared with itself"),
        ("0..0", 129, "iteration 0 is the base: it can only come first"),
        ("1..9", 15, "main of feature has no iteration 9"),
        ("7..1", 15, "main of feature has no iteration 7"),
        ("HEAD..main", 129, "'HEAD..main' is no range of iterations"),
        ("..2", 129, "'..2' is no range of iterations"),
    ],
)
def test_a_range_that_names_nothing(
    project: Project, range_: str, status: int, message: str
) -> None:
    first_round(project)
    answer = project.gate("diff", range_)
    assert (answer.status, answer.out) == (status, "")
    assert answer.err.startswith(f"git-gate: {message}\n")
