"""Real requirement documents, landed by real git in four ways, and their edited twins."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from gitworld import STAMP, git
from support.corpora import bundle
from support.treekit import EXECUTABLE, SYMLINK, Content, plant, read

from gitgate.core.landing import Candidate, MissKind, Reviewed, Rule, Step, Walk, walk
from gitgate.git.merge import GitTrees
from gitgate.git.repository import Repository

USE_CASES = b".aiwg/requirements/use-cases/"
WINDOWS = [(1, 4), (7, 10), (9, 10), (10, 13)]
METHODS = ["ff", "merge", "squash", "rebase"]


@dataclass(frozen=True)
class History:
    """What the rule asks of histories, from a repository."""

    repo: Repository
    base: str
    work: str

    def since(self, tip: str | None, commit: str) -> Sequence[Step]:
        chain = self.repo.first_parents(commit) or []
        steps = [Step(one.id, one.tree) for one in reversed(chain)]
        places = [step.commit for step in steps]
        return steps[places.index(tip) if tip in places else 0 :]

    def reviewed(self, request: str) -> Sequence[Reviewed]:
        base = self.repo.commit(self.base).tree
        return [Reviewed((base,), one.tree) for one in self.repo.between(self.base, self.work)]


class Land:
    """A clone of the corpus in which a piece of its history is a branch and is landed."""

    def __init__(self, root: Path, window: tuple[int, int]) -> None:
        self.root = root
        commits = git(root, "rev-list", "--reverse", "origin/main").split()
        self.base, self.work = commits[window[0]], commits[window[1]]
        git(root, "checkout", "-q", "-B", "main", self.base)
        git(root, "checkout", "-q", "-B", "work", self.work)
        git(root, "checkout", "-q", "main")
        self.branch = commits[window[0] + 1 : window[1] + 1]

    def move_main(self) -> None:
        """Edit files that the branch edits too, beside others, on main."""
        touched = git(self.root, "diff", "--name-only", self.base, self.work).split("\n")
        both = [name for name in touched if (self.root / name).is_file()]
        for name in both[:5]:
            file = self.root / name
            clean = f"<!-- kept -->\n\n\n{file.read_text()}"
            if self._merges(name, clean):
                file.write_text(clean)
        (self.root / "notes.md").write_text("main moved\n")
        (self.root / ".aiwg" / "requirements" / "vision-document.md").chmod(0o755)
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", "main moves")

    def _merges(self, name: str, ours: str) -> bool:
        """Whether these contents merge cleanly; a piece that rewrites a file's head does not."""
        folder = self.root.parent
        for part, content in (
            ("base", git(self.root, "show", f"{self.base}:{name}") + "\n"),
            ("ours", ours),
            ("theirs", git(self.root, "show", f"{self.work}:{name}") + "\n"),
        ):
            (folder / part).write_text(content)
        merge = ["git", "merge-file", "-p", "ours", "base", "theirs"]
        return subprocess.run(merge, cwd=folder, capture_output=True, check=False).returncode == 0

    def land(self, method: str) -> str:
        """Land the branch on a new branch `landed`; its tip."""
        git(self.root, "checkout", "-q", "-B", "landed", "main")
        match method:
            case "ff":
                git(self.root, "merge", "-q", "--ff-only", "work")
            case "merge":
                git(self.root, "merge", "-q", "--no-ff", "-m", "merge", "work")
            case "squash":
                git(self.root, "merge", "-q", "--squash", "work")
                git(self.root, "commit", "-q", "-m", "squash")
            case "rebase":
                git(self.root, "checkout", "-q", "-B", "landed", "work")
                git(self.root, "rebase", "-q", "main")
        return git(self.root, "rev-parse", "landed")

    def twins(self, repo: Repository, tip: str) -> Iterator[tuple[str, bytes, str]]:
        """Commits like the tip with one thing edited: what, the path, and the commit."""
        commit = repo.commit(tip)
        files = read(repo, commit.tree)
        changed = git(self.root, "diff", "--name-only", "--diff-filter=d", f"{tip}~1", tip)
        path = next(name for name in changed.split("\n") if name.endswith(".md")).encode()
        data = files[path]
        assert isinstance(data, bytes)
        lines = data.split(b"\n")
        lines[len(lines) // 2] += b" and one thing more"
        edits: dict[str, tuple[bytes, Content]] = {
            "line": (path, b"\n".join(lines)),
            "mode": (path, (EXECUTABLE, data)),
            "symlink": (path, (SYMLINK, b"/etc/passwd")),
            "added": (path + b".orig", b"more\n"),
        }
        for what, (place, content) in edits.items():
            tree = plant(repo, {**files, place: content})
            yield what, place, repo.write_commit(tree, commit.parents, STAMP, STAMP, what)


def judge(
    land: Land, repo: Repository, trees: GitTrees, tip: str, compared: Callable[[bytes], bool]
) -> Walk:
    old = git(land.root, "rev-parse", "main")
    chain = repo.first_parents(tip, old)
    assert chain is not None
    steps = [Step(one.id, one.tree) for one in reversed(chain)]
    request = Candidate("R", repo.commit(land.base).tree, repo.commit(land.work).tree, old)
    rule = Rule(compared, (request,))
    return walk(steps, lambda place: rule, trees, History(repo, land.base, land.work))


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    source = bundle("aiwg-requirements.bundle")
    subprocess.run(["git", "clone", "-q", str(source), "documents"], cwd=folder, check=True)
    return folder / "documents"


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("moved", [False, True])
def test_pieces_land_in_four_ways_and_no_twin_does(
    clone: Path, window: tuple[int, int], moved: bool
) -> None:
    land = Land(clone, window)
    if moved:
        land.move_main()
    with GitTrees(Repository.open(clone)) as trees:
        repo = Repository.open(clone)
        for method in METHODS[moved:]:
            tip = land.land(method)
            everything = judge(land, repo, trees, tip, lambda path: True)
            assert everything.stopped is None, (method, everything.misses)
            assert [one.requests for one in everything.stretches] == [("R",)]
            steps = int(git(clone, "rev-list", "--count", "--first-parent", f"main..{tip}"))
            for what, path, twin in land.twins(repo, tip):
                judged = judge(land, repo, trees, twin, lambda path: True)
                assert judged.stopped == steps, (method, what)
                assert [(one.kind, one.paths) for one in judged.misses] == [
                    (MissKind.DIFFERS, (path,))
                ]
                outside = judge(land, repo, trees, twin, lambda at, path=path: at != path)
                assert outside.stopped is None, (method, what)


def test_under_when_a_file_outside_passes(clone: Path) -> None:
    land = Land(clone, (9, 10))
    land.move_main()
    with GitTrees(Repository.open(clone)) as trees:
        repo = Repository.open(clone)
        tip = land.land("merge")
        git(clone, "checkout", "-q", "--detach", tip)
        (clone / "notes.md").write_text("edited in the merge\n")
        git(clone, "commit", "-q", "-a", "--amend", "--no-edit")
        twin = git(clone, "rev-parse", "HEAD")
        assert judge(land, repo, trees, twin, lambda path: True).stopped == 1
        assert judge(land, repo, trees, twin, lambda p: p.startswith(USE_CASES)).stopped is None


def test_every_commit_of_the_corpus_is_one_landing_of_its_own(clone: Path) -> None:
    repo = Repository.open(clone)
    commits = [
        repo.commit(oid) for oid in git(clone, "rev-list", "--reverse", "origin/main").split()
    ]
    steps = [Step(one.id, one.tree) for one in commits]
    requests = [
        Candidate(f"R{place}", old.tree, new.tree, steps[0].commit)
        for place, (old, new) in enumerate(pairwise(steps))
    ]

    class Straight:
        def since(self, tip: str | None, commit: str) -> Sequence[Step]:
            return steps[:1]

        def reviewed(self, request: str) -> Sequence[Reviewed]:
            place = int(request.removeprefix("R"))
            return [Reviewed((steps[place].tree,), steps[place + 1].tree)]

    with GitTrees(repo) as trees:
        rule = Rule(lambda path: True, tuple(requests))
        result = walk(steps, lambda place: rule, trees, Straight())
        assert result.stopped is None
        named = [request for one in result.stretches for request in one.requests]
        assert sorted(named) == sorted(one.request for one in requests)
        assert (
            walk(steps, lambda place: Rule(lambda path: True, ()), trees, Straight()).stopped == 1
        )
