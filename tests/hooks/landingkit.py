"""What the tests of landings share: projects built once and copied, ways to land, and twins.

`judged` is the question of all these tests: a real push with the real hook, and `git gate check`
of the same move, which must say the same.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from support.corpora import bundle
from support.project import SOLO, Answer, Project, make_project, person

from gitgate import hooks
from gitgate.ui import plain

MAIN = "refs/heads/main"
PEOPLE = (("Ada Lovelace", "ada@example.com"),)
REGULAR, EXECUTABLE, SYMLINK, SUBMODULE, MISSING = "100644", "100755", "120000", "160000", "0"

GUARDED = SOLO.replace(
    "[refs/heads/main]", '[refs/heads/main, "refs/heads/release/*", "refs/tags/v*"]'
)

Doc = Mapping[str, Any]


class Templates:
    """Projects that are built when the first test wants them; each test gets a copy."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._built: dict[str, Project] = {}

    def copy(self, name: str, build: Callable[[Path, Path], Project], to: Path) -> Project:
        """A copy in `to` of the project that `build(folder, home of the keys)` makes."""
        if name not in self._built:
            folder = self._folder / name
            folder.mkdir(exist_ok=True)
            self._built[name] = build(folder, self._folder)
        made = self._built[name]
        source = made.top.parent
        shutil.copytree(source, to, symlinks=True, dirs_exist_ok=True)
        copied = replace(
            made, top=to / made.top.relative_to(source), remote=to / made.remote.relative_to(source)
        )
        if copied.remote.exists():
            copied.git("remote", "set-url", "origin", str(copied.remote))
        return copied


def plain_project(policy: str = SOLO) -> Callable[[Path, Path], Project]:
    """Builds a project that has adopted `policy`; Ada is at work."""
    return lambda folder, home: make_project(folder, home, policy, PEOPLE)


def corpus_project(policy: str) -> Callable[[Path, Path], Project]:
    """Builds a project on the first six commits of the corpus, with `policy` adopted after them.

    `feature` holds three more of its commits, approved: an edit of a large document, a rewrite
    with three new files, a new file in a new folder. `moved` is what main gains meanwhile: part of
    a mass edit, and a line of the large document.
    """

    def build(folder: Path, home: Path) -> Project:
        remote, top = folder / "remote.git", folder / "project"
        subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
        subprocess.run(
            ["git", "clone", "--quiet", bundle("aiwg-requirements.bundle"), top], check=True
        )
        ada = person("Ada Lovelace", "ada@example.com", home)
        project = Project(top, remote, {"ada": ada})
        project.be(ada)
        commits = project.git("rev-list", "--reverse", "HEAD").out.split()
        project.git("remote", "set-url", "origin", str(remote))
        project.git("config", "gate.policyRef", MAIN)
        project.git("reset", "--quiet", "--hard", commits[5])
        files = {"aiwg.yml": policy, ".aiwg/allowed_signers": ada.line() + "\n"}
        project.commit("Adopt git-gate", files)
        project.git("push", "--quiet", "--set-upstream", "origin", "main")
        hooks.install(top / ".git" / "hooks", top / ".git", program())
        _move_main(project, commits)
        project.branch("feature", "main")
        project.git("cherry-pick", commits[6], commits[8], commits[11])
        approve(project)
        return project

    return build


LARGE = ".aiwg/requirements/supplemental-specification.md"
REWRITTEN = ".aiwg/requirements/use-cases/UC-006-automated-traceability.md"


def _move_main(project: Project, commits: list[str]) -> None:
    project.branch("moved", "main")
    part = [".aiwg/requirements/use-case-briefs", ".aiwg/requirements/use-cases/UC-001*"]
    change = project.git("diff", commits[9], commits[10], "--", *part).out
    project.git("apply", "--index", stdin=change)
    project.commit("Part of a mass edit")
    text = (project.top / LARGE).read_text()
    project.commit("Hotfix", {LARGE: text.replace("**Status**: DRAFT", "**Status**: FINAL", 1)})


def program() -> Path:
    """The git-gate that the hooks start."""
    from support import project

    return project._program()


def approve(project: Project, *options: str, subject: str | None = None) -> None:
    """Put HEAD up for a decision and approve it."""
    about = ["--subject", subject] if subject else []
    project.gate("open", *about, *options).ok()
    project.gate("approve", *about).ok()


def approved_branch(
    project: Project,
    name: str,
    *commits: Mapping[str, str],
    start: str = "origin/main",
    target: str | None = None,
) -> str:
    """A branch with a commit for each of `commits`, approved; its tip. HEAD stays there."""
    project.branch(name, start)
    for number, files in enumerate(commits, 1):
        project.commit(f"{name} {number}", files)
    approve(project, *(["--target", target] if target else []))
    return project.rev()


def administer(project: Project, files: Mapping[str, str], message: str = "meanwhile") -> str:
    """What main gains past the gate: a set-up of tests, as an administrator would."""
    branch = project.git("branch", "--show-current").out.strip()
    back = [branch] if branch else ["--detach", project.rev()]
    project.git("switch", "--quiet", "--detach", "origin/main")
    made = project.commit(message, files)
    project.land()
    project.git("switch", "--quiet", *back)
    return made


# The ways to land a branch on origin/main; HEAD is left detached at what would be pushed.


def by_ff(project: Project, branch: str) -> str:
    project.git("switch", "--quiet", "--detach", branch)
    return project.rev()


def by_merge(project: Project, branch: str) -> str:
    project.git("switch", "--quiet", "--detach", "origin/main")
    project.git("merge", "--quiet", "--no-ff", "-m", f"Merge {branch}", branch)
    return project.rev()


def by_squash(project: Project, branch: str) -> str:
    project.git("switch", "--quiet", "--detach", "origin/main")
    project.git("merge", "--quiet", "--squash", branch)
    project.git("commit", "--quiet", "-m", f"Squash {branch}")
    return project.rev()


def by_rebase(project: Project, branch: str) -> str:
    project.git("switch", "--quiet", "--detach", branch)
    env = {"GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
    project.git("rebase", "--quiet", "--no-ff", "origin/main", env=env)
    return project.rev()


WAYS = {"ff": by_ff, "merge": by_merge, "squash": by_squash, "rebase": by_rebase}


def twin(project: Project, commit: str, path: str, mode: str, content: str) -> str:
    """A commit like `commit` (same parents) in which one path is something else.

    `content` is the commit's id for a submodule, and nothing for a file that is to be missing.
    """
    env = {"GIT_INDEX_FILE": str(project.top / ".git" / "twin-index")}
    project.git("read-tree", commit, env=env)
    oid = content
    if mode != SUBMODULE:
        oid = project.git("hash-object", "-w", "--stdin", stdin=content).out.strip()
    project.git("update-index", "--index-info", env=env, stdin=f"{mode} {oid}\t{path}\n")
    tree = project.git("write-tree", env=env).out.strip()
    return plant(project, tree, *project.git("rev-parse", f"{commit}^@").out.split())


def plant(project: Project, tree: str, *parents: str, message: str = "twin") -> str:
    """A commit with the tree of the revision `tree`, whatever its parents hold."""
    tree = project.rev(f"{tree}^{{tree}}")
    sides = [word for parent in parents for word in ("-p", parent)]
    return project.git("commit-tree", tree, *sides, "-m", message).out.strip()


def judged(
    project: Project,
    new: str,
    ref: str = MAIN,
    *,
    pushed: str | None = None,
    subject: str | None = None,
    dry: bool = False,
    force: bool = False,
) -> Doc:
    """What `check` says of moving the remote's `ref` to `new`, once the hook has said the same.

    It is pushed by its bare id, else by the name `pushed`, or as the branch `subject`, which then
    is the instance that is meant. Without `force` git itself refuses what is no fast-forward.
    """
    old = project.remote_tip(ref.removeprefix("refs/heads/"))
    about = ["--subject", subject] if subject else []
    asked = project.gate("check", f"{old}..{new}", "--ref", ref, *about, "--json")
    assert asked.out, asked
    doc: Doc = asked.json
    options = [*(["--dry-run"] if dry else []), *(["--force"] if force else [])]
    done = project.push(*options, f"{pushed or subject or new}:{ref}")
    said = f"{done.err}\n{asked.out}"
    assert (done.status == 0) == doc["allowed"] == (asked.status == 0), said
    refusal = plain.refusal(ref, doc["status"], doc["reasons"], doc["hint"])
    assert ("\n".join(refusal) + "\n" in done.err) == (not doc["allowed"]), said
    now = project.remote_tip(ref.removeprefix("refs/heads/"))
    assert now == (new if doc["allowed"] and not dry else old), said
    return doc


def passes(project: Project, new: str, ref: str = MAIN, **how: Any) -> Doc:
    """The move is allowed by hook and `check`."""
    doc = judged(project, new, ref, **how)
    assert doc["allowed"], doc
    return doc


def refused(
    project: Project,
    new: str,
    status: str,
    *words: str,
    first: str = "",
    ref: str = MAIN,
    **how: Any,
) -> Doc:
    """The move is refused with `status`; `first` is the commit named as the first unaccounted
    for, and all `words` stand in the reasons or the hint."""
    doc = judged(project, new, ref, **how)
    assert doc["status"] == status, doc
    if first:
        assert f"accounts for {first[:12]} " in doc["reasons"][0], doc
    said = "\n".join([*doc["reasons"], doc["hint"]])
    assert all(word in said for word in words), doc
    return doc


def allowed(project: Project, *words: str, at: Path | None = None) -> Answer:
    """`git push origin WORDS` goes through, and the hook has nothing to say."""
    done = replace(project, top=at or project.top).push(*words).ok()
    assert "may not move" not in done.err, done.err
    return done


def stopped(project: Project, *words: str, to: str = "origin", at: Path | None = None) -> str:
    """What the hook says of `git push TO WORDS`, of which nothing arrives."""
    before = _refs(project)
    done = replace(project, top=at or project.top).git("push", to, *words, check=False)
    assert done.status != 0, done
    assert "git-gate: refs/" in done.err, done.err
    assert "may not move" in done.err, done.err
    assert _refs(project) == before
    return done.err


def _refs(project: Project) -> str:
    return replace(project, top=project.remote).git("for-each-ref").out


def methods_are_true(project: Project, branch: str) -> list[str]:
    """The `methods` of `check`, each tried: what is listed passes and nothing else does."""
    project.git("switch", "--quiet", branch)
    doc = project.gate("check", "--json").json
    for name, way in WAYS.items():
        new = way(project, branch)
        done = project.push("--dry-run", f"{new}:{MAIN}")
        assert (done.status == 0) == (name in doc["methods"]), (name, doc, done.err)
    project.git("switch", "--quiet", branch)
    return list(doc["methods"])
