"""`--patch`: what git apply makes of it is the tree of the later round."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from random import Random

import pytest
from rebasing import APP, DOC, base_moves, edit, first_round
from support.difflab import LONG, Files, changed, tree
from support.project import Project
from support.treekit import plant

from gitgate.git.repository import Repository

MORE = edit(DOC, "3. Get in\n", "3. Show the code\n4. Get in\n")


def patch(project: Project, *args: str) -> tuple[bytes, str]:
    """The bytes of the patch and what is said beside it."""
    answer = project.gate("diff", "--patch", *args).ok()
    return answer.out.encode("utf-8", "surrogateescape"), answer.err


def applied(folder: Path, start: str, text: bytes) -> str:
    """The tree that `git apply` makes of a tree, in an index of its own."""
    env = {**os.environ, "GIT_INDEX_FILE": str(folder / ".git" / "applied")}

    def git(*args: str, stdin: bytes = b"") -> str:
        done = subprocess.run(
            ["git", *args], cwd=folder, env=env, input=stdin, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().strip()

    git("read-tree", start)
    if text:
        git("apply", "--cached", "--whitespace=nowarn", "-", stdin=text)
    return git("write-tree")


def tree_of(project: Project, rev: str) -> str:
    return project.rev(f"{rev}^{{tree}}")


def test_it_applies_to_the_old_tree(project: Project) -> None:
    first_round(project)
    old = project.rev()
    project.git("mv", "login.md", "sign in.md")
    (project.top / "sign in.md").chmod(0o755)
    (project.top / "picture").write_bytes(bytes(range(256)))
    (project.top / "link").symlink_to("sign in.md")
    project.commit("Much", {"empty": "", "no-newline": "x", "cr.txt": "a\r\nb\x0cc\rd\n"})
    project.gate("open").ok()
    text, said = patch(project)
    assert (applied(project.top, old, text), said) == (tree_of(project, "HEAD"), "")
    assert text.startswith(b"diff --git ")
    back, _ = patch(project, "2..1")
    assert applied(project.top, "HEAD", back) == tree_of(project, old)
    whole, _ = patch(project, "0..2")
    assert applied(project.top, "main", whole) == tree_of(project, "HEAD")


def test_after_a_rebase_it_names_the_tree_that_it_applies_to(project: Project) -> None:
    first_round(project)
    work = project.rev()
    base_moves(project, 2, {"app.txt": edit(APP, "line 50 of", "line fifty of")})
    project.git("rebase", "--quiet", "main")
    project.commit("Show the code", {"login.md": MORE})
    project.gate("open").ok()
    text, said = patch(project)
    made = project.git("merge-tree", "--write-tree", "main", work).out.strip()
    said_first = "this patch applies to the work of iteration 1 merged onto the base of iteration"
    lines = [
        f"{said_first} 2: the tree {made}",
        f"git merge-tree --write-tree {project.rev('main')} {work}",
    ]
    assert said.splitlines() == lines
    assert text.decode().splitlines()[:2] == [f"# {line}" for line in lines]
    assert applied(project.top, made, text) == tree_of(project, "HEAD")


def test_where_the_work_does_not_merge_it_applies_to_the_old_work(project: Project) -> None:
    first_round(project)
    work = project.rev()
    base_moves(project, 1, {"app.txt": edit(APP, "line 5 of", "line V of")})
    project.git("merge", "--no-edit", "main", check=False)
    project.commit("Merge main", {"app.txt": edit(APP, "line 5 of", "line five (V) of")})
    project.gate("open").ok()
    text, said = patch(project)
    assert said == (
        "the work of iteration 1 does not merge onto the base of iteration 2: this patch also has"
        f" the base's changes and applies to {work}\n"
    )
    assert applied(project.top, work, text) == tree_of(project, "HEAD")


@pytest.mark.parametrize("setting", ["diff.noprefix", "diff.mnemonicPrefix", "color.ui"])
def test_the_users_settings_do_not_change_it(project: Project, setting: str) -> None:
    first_round(project)
    project.commit("Show the code", {"login.md": MORE})
    project.gate("open").ok()
    before, _ = patch(project)
    project.git("config", setting, "always" if setting == "color.ui" else "true")
    project.git("config", "diff.external", "false")
    project.git("config", "diff.algorithm", "patience")
    project.git("config", "diff.context", "0")
    assert patch(project)[0] == before
    assert applied(project.top, "HEAD~1", before) == tree_of(project, "HEAD")


def committed(project: Project, files: Files, parent: str) -> str:
    made = plant(Repository.open(project.top), files)
    return project.git("commit-tree", made, "-p", parent, "-m", "generated").out.strip()


def test_hostile_trees(project: Project) -> None:
    rng = Random(8)
    for number in range(100 if LONG else 6):
        files = tree(rng)
        old = committed(project, files, "main")
        new = committed(project, changed(rng, files), old)
        if tree_of(project, old) == tree_of(project, new):
            continue
        named = ["--subject", f"s{number}", "--base", "main"]
        project.gate("open", *named, "--commit", old).ok()
        project.gate("open", *named, "--commit", new).ok()
        text, _ = patch(project, "--subject", f"s{number}", "1..2")
        assert applied(project.top, old, text) == tree_of(project, new), f"pair {number}"
