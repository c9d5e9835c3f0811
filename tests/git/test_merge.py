"""Merges of a real repository's trees: the same answer whatever is configured."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from gitworld import commit, git, make
from support.treekit import EXECUTABLE, REGULAR, SUBMODULE, SYMLINK, Flat, plant, read

from gitgate.core.merging import Entry, Trees, merge, same_change
from gitgate.errors import GateError
from gitgate.git.merge import GitTrees
from gitgate.git.repository import Repository
from gitgate.git.trees import EMPTY_TREE

LINES = [b"line %d\n" % number for number in range(20)]
OTHER_ID = b"22" * 20


def text(**changed: bytes) -> bytes:
    """Twenty lines, some of them changed: l3=b"x" replaces line 3."""
    return b"".join(changed.get(f"l{number}", line) for number, line in enumerate(LINES))


BASE = {b"f": text(), b"g": b"g\n"}
OURS = {b"f": text(l2=b"ours\n"), b"g": b"g\n"}
THEIRS = {b"f": text(l15=b"theirs\n"), b"g": b"g\n"}
BOTH = {b"f": text(l2=b"ours\n", l15=b"theirs\n"), b"g": b"g\n"}
CLASH = {b"f": text(l2=b"clash\n"), b"g": b"g\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "a", commits=0)


@pytest.fixture
def repo(root: Path) -> Repository:
    return Repository.open(root)


@pytest.fixture
def trees(repo: Repository) -> Iterator[GitTrees]:
    with GitTrees(repo) as opened:
        yield opened


def entry(trees: GitTrees, tree: str, path: bytes) -> Entry:
    found = trees.entry(tree, path)
    assert found is not None
    return found


def sides(trees: GitTrees, *three: str, path: bytes = b"f") -> dict[bytes, tuple[Entry, ...]]:
    return {path: tuple(entry(trees, tree, path) for tree in three)}


def test_it_is_what_the_core_asks_for(trees: GitTrees) -> None:
    asked: Trees = trees
    assert asked is trees


def test_changes_are_gits_changes(root: Path, repo: Repository, trees: GitTrees) -> None:
    chance = random.Random(3)
    names = [b"a", b"a/b", b"a/b/c", b"a.b", b"d/x", b"d/y", b"z"]

    def some() -> str:
        files: dict[bytes, bytes | tuple[int, bytes]] = {}
        for name in chance.sample(names, chance.randrange(len(names))):
            if not any(name.startswith(at + b"/") or at.startswith(name + b"/") for at in files):
                mode = chance.choice([REGULAR, REGULAR, EXECUTABLE, SYMLINK, SUBMODULE])
                files[name] = (mode, OTHER_ID if mode == SUBMODULE else chance.choice([b"1", b"2"]))
        return plant(repo, files)

    for _ in range(60):
        old, new = some(), some()
        raw = git(root, "diff-tree", "-r", "-z", "--no-renames", "--no-abbrev", old, new)
        fields = raw.encode().split(b"\0")[:-1]
        expected = {}
        for what, path in zip(fields[::2], fields[1::2], strict=True):
            before, after, one, other, _ = what.decode().removeprefix(":").split()
            expected[path] = (
                Entry(int(before, 8), one) if int(before, 8) else None,
                Entry(int(after, 8), other) if int(after, 8) else None,
            )
        assert trees.changes(old, new) == expected
        for path, (_, value) in expected.items():
            assert trees.entry(new, path) == value
        assert trees.files(new, b"a").keys() == {p for p in _all(trees, new) if p[:2] == b"a/"}
        assert trees.folder(new, b"a") == bool(trees.files(new, b"a"))


def _all(trees: GitTrees, tree: str) -> set[bytes]:
    return set(trees.changes(EMPTY_TREE, tree))


def test_contents_are_merged_or_in_conflict(repo: Repository, trees: GitTrees) -> None:
    base, ours, theirs, clash = (plant(repo, files) for files in (BASE, OURS, THEIRS, CLASH))
    merged = trees.merge_files(sides(trees, base, ours, theirs))
    assert merged == {b"f": entry(trees, plant(repo, BOTH), b"f").oid}
    assert trees.merge_files(sides(trees, base, ours, clash)) == {}
    many = {b"n%d" % number: sides(trees, base, ours, theirs)[b"f"] for number in range(5)}
    many[b"c"] = sides(trees, base, ours, clash)[b"f"]
    assert trees.merge_files(many) == {b"n%d" % number: merged[b"f"] for number in range(5)}


@pytest.mark.parametrize(
    "contents",
    [(b"a\0b", b"a\0c", b"a\0d"), (b"", b"1\n", b"2\n"), (b"1", b"2", b"3")],
)
def test_binary_and_unmergeable_contents_conflict(
    repo: Repository, trees: GitTrees, contents: tuple[bytes, ...]
) -> None:
    three = [plant(repo, {b"f": data}) for data in contents]
    assert trees.merge_files(sides(trees, *three)) == {}


def test_whole_trees_follow_a_rename(repo: Repository, trees: GitTrees) -> None:
    base, theirs = plant(repo, BASE), plant(repo, THEIRS)
    moved = plant(repo, {b"sub/f": text(), b"g": b"g\n"})
    expected = plant(repo, {b"sub/f": THEIRS[b"f"], b"g": b"g\n"})
    found = trees.merge_whole(base, moved, theirs)
    assert found == (expected, frozenset())
    assert trees.entry(expected, b"sub/f")
    assert same_change(trees, (base, theirs), (moved, expected), lambda path: True)


def test_a_file_for_a_renamed_folder_is_a_conflict(repo: Repository, trees: GitTrees) -> None:
    """As for git itself: it names the place it would guess, and stops."""
    folder = {b"d/%d" % number: b"%d\n" % number * 9 for number in range(4)}
    moved = {path.replace(b"d/", b"e/"): data for path, data in folder.items()}
    found = trees.merge_whole(
        plant(repo, folder), plant(repo, moved), plant(repo, {**folder, b"d/new": b"n\n"})
    )
    assert found is not None
    assert b"e/new" in found.conflicts
    assert read(repo, _kept(repo, trees, found.tree)) == {**moved, b"e/new": b"n\n"}


def _kept(repo: Repository, trees: GitTrees, tree: str) -> str:
    """The same tree in the real repository: a merge's own lies in the scratch one."""
    listed = {path: new for path, (_, new) in trees.changes(plant(repo, {}), tree).items()}
    files: dict[bytes, bytes | tuple[int, bytes]] = {}
    for path, value in listed.items():
        assert value is not None
        files[path] = (value.mode, repo.read(value.oid, "blob"))
    return plant(repo, files)


@pytest.mark.parametrize(
    ("ours", "theirs", "conflicts"),
    [
        ({b"f": text(l2=b"1\n")}, {b"f": text(l2=b"2\n")}, {b"f"}),
        ({}, {b"f": text(l2=b"2\n")}, {b"f"}),
        ({b"f": text(l2=b"1\n")}, {}, {b"f"}),
        ({b"f": text(), b"d": b"1\n"}, {b"f": text(), b"d/x": b"2\n"}, {b"d"}),
        ({b"f": text(), b"d/x": b"1\n"}, {b"f": text(), b"d": b"2\n"}, {b"d"}),
        ({b"f": (SYMLINK, b"1")}, {b"f": (SYMLINK, b"2")}, {b"f"}),
        ({b"m": text()}, {b"n": text()}, {b"f", b"m", b"n"}),
        ({b"m": text()}, {}, {b"m"}),
        (
            {b"f": text(), b"s": (SUBMODULE, b"11" * 20)},
            {b"f": text(), b"s": (SUBMODULE, OTHER_ID)},
            {b"s"},
        ),
    ],
)
def test_conflicts_of_whole_trees_name_their_paths(
    repo: Repository, trees: GitTrees, ours: Flat, theirs: Flat, conflicts: set[bytes]
) -> None:
    base = plant(repo, {b"f": text()})
    found = trees.merge_whole(base, plant(repo, ours), plant(repo, theirs))
    assert found is not None
    assert conflicts <= found.conflicts


def test_paths_that_are_no_text_are_merged_too(repo: Repository, trees: GitTrees) -> None:
    for name in (b"\xff\xfe", b'a"b\n', b"t\tab", b"x y"):
        base, ours, theirs, both, clash = (
            plant(repo, {name: files[b"f"]}) for files in (BASE, OURS, THEIRS, BOTH, CLASH)
        )
        assert merge(trees, base, ours, theirs, lambda path: True).values == {
            name: entry(trees, both, name)
        }
        assert trees.merge_whole(base, ours, theirs) == (both, frozenset())
        whole = trees.merge_whole(base, ours, clash)
        assert whole is not None
        assert whole.conflicts == {name}


def test_the_real_repository_gains_nothing_and_the_scratch_goes_away(
    root: Path, repo: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    base, ours, theirs = (plant(repo, files) for files in (BASE, OURS, THEIRS))
    before = git(root, "count-objects", "-v")
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    with GitTrees(repo) as trees:
        assert not list(place.iterdir())
        trees.merge_whole(base, ours, theirs)
        trees.merge_files(sides(trees, base, ours, theirs))
        assert len(list(place.iterdir())) == 1
    assert not list(place.iterdir())
    assert git(root, "count-objects", "-v") == before


@pytest.mark.parametrize("name", ["plain", 'quo"te', '"q', "co:lon", "#hash", "ä b", "back\\"])
def test_objects_are_found_wherever_they_lie(tmp_path: Path, name: str) -> None:
    source = make(tmp_path / name / "a", commits=1)
    there = Repository.open(source)
    base, ours, theirs, both = (plant(there, files) for files in (BASE, OURS, THEIRS, BOTH))
    git(tmp_path, "clone", "-q", "--shared", str(source), str(tmp_path / "borrower"))
    for repo in (there, Repository.open(tmp_path / "borrower")):
        with GitTrees(repo) as trees:
            assert trees.merge_whole(base, ours, theirs) == (both, frozenset())
            assert trees.merge_files(sides(trees, base, ours, theirs))


def test_an_old_git_has_no_answer(
    repo: Repository, trees: GitTrees, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, ours, theirs, both = (plant(repo, files) for files in (BASE, OURS, THEIRS, BOTH))
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text('#!/bin/sh\ntest "$1" = merge-tree && exit 129\nexit 1\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    assert trees.merge_whole(base, ours, theirs) is None
    assert trees.merge_files(sides(trees, base, ours, theirs)) == {
        b"f": entry(trees, both, b"f").oid
    }


def test_a_conflict_that_names_no_path_is_one_at_all_of_them(
    repo: Repository, trees: GitTrees, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, ours, theirs = (plant(repo, files) for files in (BASE, OURS, THEIRS))
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(f"#!/bin/sh\nprintf '{ours}\\0\\0'\nexit 1\n")
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    assert trees.merge_whole(base, ours, theirs) == (ours, frozenset({b"f"}))


def test_a_conflict_may_have_no_stages(repo: Repository, trees: GitTrees) -> None:
    """An added file whose folder was renamed, and at the new place there is one already."""
    base = {b"in/d/c": text(), b"z": b"1\n"}
    moved = {b"in/moved": text(), b"z": b"1\n"}
    work = {**base, b"in/d/c": text(l3=b"x\n"), b"in/d/new": b"1\n", b"in/new": b"2\n"}
    found = trees.merge_whole(*(plant(repo, files) for files in (base, moved, work)))
    assert found is not None
    assert {b"in/d/new", b"in/new"} <= found.conflicts


def test_a_git_that_fails_is_an_error(repo: Repository, trees: GitTrees) -> None:
    base, ours, lost = plant(repo, BASE), plant(repo, OURS), "33" * 20
    with pytest.raises(GateError, match="is missing"):
        trees.merge_whole(base, ours, lost)
    with pytest.raises(GateError, match=f"object {lost} is missing"):
        entries = sides(trees, base, ours)[b"f"]
        trees.merge_files({b"f": (*entries, Entry(REGULAR, lost))})
    hollow = repo.write_tree({b"f": (REGULAR, lost)})
    with pytest.raises(GateError, match="git cannot merge the trees"):
        trees.merge_whole(base, ours, hollow)


def test_a_partial_clone_fetches_what_merges_need(root: Path, tmp_path: Path) -> None:
    for name, files in {"b": BASE, "a": OURS, "w": THEIRS, "m": BOTH}.items():
        (root / "f").write_bytes(files[b"f"])
        (root / "g").write_bytes(b"g\n")
        git(root, "add", ".")
        commit(root, name)
        git(root, "branch", name)
    git(root, "mv", "f", "h")
    commit(root, "moved")
    git(root, "config", "uploadpack.allowFilter", "true")
    git(root, "config", "uploadpack.allowAnySHA1InWant", "true")
    clone = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--bare", "--filter=tree:0", root.as_uri(), str(clone))
    repo = Repository.open(clone)
    ids = {name: repo.commit(git(root, "rev-parse", name)).tree for name in ("b", "a", "w", "m")}
    moved = repo.commit(git(root, "rev-parse", "HEAD")).tree
    assert repo.partial
    with GitTrees(repo) as trees:
        merged = merge(trees, ids["b"], ids["a"], ids["w"], lambda path: True)
        assert merged.values == {b"f": entry(trees, ids["m"], b"f")}
        whole = trees.merge_whole(ids["w"], moved, ids["b"])
        assert whole is not None
        assert whole.conflicts == frozenset()
