"""An author's two rounds with every way to carry work onto another base in between."""

from __future__ import annotations

from support.project import Project

APP = "".join(f"line {number} of the application\n" for number in range(1, 61))
DOC = "# Login\n\n## Flow\n\n1. Enter the name\n2. Enter the word\n3. Get in\n"


def edit(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


def first_round(project: Project) -> None:
    """Two commits on a branch, put up as iteration 1 and rejected."""
    project.commit("The application", {"app.txt": APP, "other.txt": APP})
    project.land("HEAD:refs/heads/main")
    project.branch("feature")
    project.commit("Login page", {"login.md": DOC})
    project.commit("Early line", {"app.txt": edit(APP, "line 5 of", "line five of")})
    project.gate("open").ok()
    project.gate("reject", "-m", "more").ok()


def base_moves(project: Project, commits: int = 3, files: dict[str, str] | None = None) -> None:
    """Somebody else's commits arrive on main; the author is on their branch again."""
    project.git("switch", "--quiet", "main")
    for number in range(commits):
        project.commit(f"Base {number}", {f"base{number}.txt": f"{number}\n"})
    if files:
        project.commit("Base edits", files)
    project.land("HEAD:refs/heads/main")
    project.git("switch", "--quiet", "feature")


def changed(project: Project, *args: str) -> list[tuple[str, list[str]]]:
    """Each file of the diff with its added and deleted lines."""
    found = project.gate("diff", *args, "--json").ok().json
    return [
        (
            file["path"],
            [
                line["kind"] + line["text"]
                for hunk in file["hunks"]
                for line in hunk["lines"]
                if line["kind"] != " "
            ],
        )
        for file in found["files"]
    ]
