"""Generated histories: a base, a branch on it, and what the target did meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st
from support.treekit import EXECUTABLE, REGULAR, SYMLINK, Content, Flat, plant

from gitgate.core.landing import Candidate, Reviewed, Rule, Step, Walk, walk
from gitgate.core.person import Person, Stamp
from gitgate.git.merge import GitTrees
from gitgate.git.repository import Repository

SLOTS = 3
STAMP = Stamp(Person("Ada Lovelace", "ada@example.com"), 1_764_565_200)
HELD = [b"in/a", b"in/b", b"in/d/c", b"top", b"out/o"]
FREE = [b"in/new", b"in/d/new", b"in/x/y", b"out/new", b"z"]

Edit = tuple[str, bytes, int]


def text(path: bytes, slots: Sequence[bytes]) -> bytes:
    """A file whose slots are so far apart that edits of different ones never touch."""
    lines: list[bytes] = []
    for number, slot in enumerate(slots):
        lines += [slot, *(b"%b %d %d" % (path, number, filler) for filler in range(4))]
    return b"\n".join(lines) + b"\n"


def edits(names: Sequence[bytes], kinds: Sequence[str]) -> st.SearchStrategy[list[Edit]]:
    one = st.tuples(st.sampled_from(kinds), st.sampled_from(names), st.integers(0, SLOTS - 1))
    return st.lists(one, min_size=1, max_size=3)


@dataclass(frozen=True)
class Story:
    """The trees of B, of each commit of the branch, and of the target after B."""

    base: Flat
    branch: tuple[Flat, ...]
    target: tuple[Flat, ...]


@st.composite
def stories(draw: st.DrawFn, *, moves: bool = False) -> Story:
    """`moves` lets the target, or the branch, rename files."""
    kinds = ["line"] * 5 + ["add", "delete", "mode", "link"] + ["move"] * (3 if moves else 0)
    base = {path: text(path, [b"0"] * SLOTS) for path in HELD}
    branch = draw(st.lists(edits(HELD + FREE, kinds), min_size=1, max_size=3))
    target = draw(st.lists(edits(HELD + FREE, kinds), max_size=2))
    return Story(base, tuple(_apply(base, branch, b"b")), tuple(_apply(base, target, b"t")))


def _apply(base: Flat, commits: Sequence[Sequence[Edit]], who: bytes) -> list[Flat]:
    files: dict[bytes, Content] = dict(base)
    states: list[Flat] = []
    for number, commit in enumerate(commits):
        for place, (kind, path, slot) in enumerate(commit):
            _edit(files, kind, path, slot, b"%b%d.%d" % (who, number, place))
        states.append(dict(files))
    return states


def _edit(files: dict[bytes, Content], kind: str, path: bytes, slot: int, mark: bytes) -> None:
    content = files.get(path)
    if content is None:
        files[path] = b"new %b\n" % mark
    elif kind == "delete":
        del files[path]
    elif kind == "link":
        files[path] = (SYMLINK, mark)
    elif kind == "move":
        files[b"in/moved-%b" % path.replace(b"/", b"-")] = files.pop(path)
    elif isinstance(content, tuple):
        files[path] = (content[0], mark)
    elif kind == "mode":
        files[path] = (EXECUTABLE, content)
    else:
        lines = content.split(b"\n")
        lines[min(slot * 5, len(lines) - 2)] = mark
        files[path] = b"\n".join(lines)


def inside(path: bytes) -> bool:
    """The compared paths of these tests."""
    return not path.startswith(b"out/")


class Town:
    """One real repository in which stories are told, with git's own merges of real commits."""

    def __init__(self, folder: Path) -> None:
        self.repo = Repository.open(folder)
        self.trees = GitTrees(self.repo)

    def plant(self, files: Flat) -> str:
        return plant(self.repo, files)

    def commit(self, tree: str, *parents: str) -> str:
        return self.repo.write_commit(tree, parents, STAMP, STAMP, "c\n")

    def merge(self, base: str, ours: str, theirs: str) -> tuple[str, set[bytes]]:
        """What `git merge` makes of three trees, and the paths that are in conflict."""
        root = self.commit(base)
        sides = (self.commit(ours, root), self.commit(theirs, root))
        done = self.repo.git("merge-tree", "--write-tree", "-z", "--name-only", *sides)
        assert done.status in (0, 1), done.complaint
        tree, *names = done.stdout.split(b"\0")
        # Some conflicts leave no stages, and then no name.
        conflicts = set(names[: names.index(b"")]) if done.status else set()
        return tree.decode(), conflicts or ({b"in/?"} if done.status else set())

    def rebase(self, base: str, branch: Sequence[str], onto: str) -> list[str] | None:
        """The trees of a rebase, which picks one commit after another; None for a conflict."""
        made = [onto]
        for before, after in zip([base, *branch], branch, strict=False):
            tree, conflicts = self.merge(before, made[-1], after)
            if conflicts:
                return None
            made.append(tree)
        return made

    def walk(
        self,
        chain: Sequence[str],
        base: str,
        branch: Sequence[str],
        *,
        past: Sequence[str] = (),
        compared: Callable[[bytes], bool] = inside,
        more: Mapping[str, tuple[str, str]] | None = None,
    ) -> Walk:
        """A push of the chain's trees after its first; the request R is open since the past."""
        names = [f"c{number}" for number in range(len(past) + len(chain))]
        steps = [Step(name, tree) for name, tree in zip(names, [*past, *chain], strict=True)]
        branches = {"R": [Reviewed((base,), tree) for tree in branch]}
        requests = [Candidate("R", base, branch[-1], "c0")]
        for name, (start, end) in (more or {}).items():
            requests.append(Candidate(name, start, end, f"c{len(past)}"))
            branches[name] = [Reviewed((start,), end)]
        told = _Told(steps[: len(past) + 1], branches)
        rule = Rule(compared, tuple(requests))
        return walk(steps[len(past) :], lambda position: rule, self.trees, told)


@dataclass(frozen=True)
class _Told:
    past: Sequence[Step]
    branches: Mapping[str, Sequence[Reviewed]]

    def since(self, tip: str | None, commit: str) -> Sequence[Step]:
        places = [step.commit for step in self.past]
        return self.past[places.index(tip) if tip in places else 0 : places.index(commit) + 1]

    def reviewed(self, request: str) -> Sequence[Reviewed]:
        return self.branches[request]


def changed(files: Flat, path: bytes, how: str) -> dict[bytes, Content]:
    """The files with one path changed, in a way that no story ever does."""
    found = dict(files)
    content = found.get(path)
    if content is None or how == "add":
        found[b"in/smuggled"] = b"evil\n"
        return found
    mode, data = content if isinstance(content, tuple) else (REGULAR, content)
    match how:
        case "delete":
            del found[path]
        case "mode":
            found[path] = (EXECUTABLE if mode != EXECUTABLE else REGULAR, data)
        case "link":
            found[path] = (SYMLINK, b"/etc/passwd")
        case _:
            found[path] = (mode, data + b"evil\n")
    return found
