"""merge(B, a, W), path by path, without a repository."""

from __future__ import annotations

import pytest
from support.memory_trees import EXECUTABLE, REGULAR, SUBMODULE, SYMLINK, Files, MemoryTrees, under

from gitgate.core.merging import (
    Both,
    Entry,
    Merged,
    Overlay,
    Value,
    WholeMerge,
    doubts,
    merge,
    merge_chain,
    merge_chain_by_git,
    merge_path,
    same_change,
)
from gitgate.errors import GateError

ONE, TWO, THREE = (Entry(REGULAR, text) for text in "123")


def everything(path: bytes) -> bool:
    return True


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        (ONE, ONE, ONE, ONE),
        (ONE, TWO, ONE, TWO),
        (ONE, ONE, TWO, TWO),
        (ONE, TWO, TWO, TWO),
        (ONE, None, ONE, None),
        (ONE, ONE, None, None),
        (None, None, ONE, ONE),
        (None, ONE, ONE, ONE),
        (ONE, TWO, THREE, Both.CHANGED),
        (ONE, None, TWO, Both.CHANGED),
        (ONE, TWO, None, Both.CHANGED),
        (None, ONE, TWO, Both.CHANGED),
        # Of regular files content and mode go each their own way.
        (ONE, Entry(EXECUTABLE, "1"), TWO, Entry(EXECUTABLE, "2")),
        (ONE, TWO, Entry(EXECUTABLE, "1"), Entry(EXECUTABLE, "2")),
        (ONE, Entry(EXECUTABLE, "2"), TWO, Entry(EXECUTABLE, "2")),
        (ONE, Entry(EXECUTABLE, "2"), THREE, Both.CHANGED),
        (None, Entry(EXECUTABLE, "1"), ONE, Both.CHANGED),
        # Of everything else nothing is merged.
        (Entry(SYMLINK, "1"), Entry(SYMLINK, "2"), Entry(SYMLINK, "3"), Both.CHANGED),
        (Entry(SUBMODULE, "1"), Entry(SUBMODULE, "2"), Entry(SUBMODULE, "3"), Both.CHANGED),
        (ONE, Entry(SYMLINK, "1"), TWO, Both.CHANGED),
        (ONE, TWO, Entry(SYMLINK, "1"), Both.CHANGED),
    ],
)
def test_one_path(base: Value, ours: Value, theirs: Value, expected: Value | Both) -> None:
    assert merge_path(base, ours, theirs) == expected


def merged(base: Files, ours: Files, theirs: Files) -> tuple[dict[str, object], set[str]]:
    trees = MemoryTrees()
    answer = merge(trees, trees.tree(base), trees.tree(ours), trees.tree(theirs), everything)
    values = {
        path.decode(): value and (value.mode, value.oid) for path, value in answer.values.items()
    }
    return values, {path.decode() for path in answer.conflicts}


def test_contents_and_modes_of_one_file_are_both_merged() -> None:
    values, conflicts = merged({"f": "a\nb"}, {"f": (EXECUTABLE, "A\nb")}, {"f": "a\nB"})
    assert (values, conflicts) == ({"f": (EXECUTABLE, "A\nB")}, set())


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "conflicts"),
    [
        ({"f": "a"}, {"f": "x"}, {"f": "y"}, {"f"}),
        ({"f": "a"}, {}, {"f": "y"}, {"f"}),
        ({"f": "a"}, {"f": "x"}, {}, {"f"}),
        ({}, {"f": "x"}, {"f": "y"}, {"f"}),
        ({"f": (SYMLINK, "a")}, {"f": (SYMLINK, "b")}, {"f": (SYMLINK, "c")}, {"f"}),
        ({"f": (SUBMODULE, "a")}, {"f": (SUBMODULE, "b")}, {"f": (SUBMODULE, "c")}, {"f"}),
        # A file against a folder, from either side.
        ({}, {"d/x": "1"}, {"d": "2"}, {"d"}),
        ({}, {"d": "1"}, {"d/x": "2"}, {"d/x"}),
        ({}, {"d": "1"}, {"d/e/x": "2"}, {"d/e/x"}),
        ({"d": "0"}, {"d": "1"}, {"d/x": "2"}, {"d", "d/x"}),
        ({"d/x": "0"}, {"d/x": "0", "d/y": "1"}, {"d": "2"}, {"d"}),
        ({"d/x": "0"}, {"d/x": "1"}, {"d": "2"}, {"d/x", "d"}),
    ],
)
def test_conflicts(base: Files, ours: Files, theirs: Files, conflicts: set[str]) -> None:
    assert merged(base, ours, theirs)[1] == conflicts


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "values"),
    [
        # The other side's entry goes away in the same merge.
        ({"d": "0"}, {"d": "0", "z": "1"}, {"d/x": "2"}, {"d": None, "d/x": (REGULAR, "2")}),
        ({"d/x": "0"}, {"d/x": "0", "z": "1"}, {"d": "2"}, {"d/x": None, "d": (REGULAR, "2")}),
        ({"d/x": "0", "d/y": "0"}, {"d/x": "0"}, {"d": "2"}, {"d/x": None, "d": (REGULAR, "2")}),
    ],
)
def test_a_file_takes_the_place_of_a_folder_that_goes(
    base: Files, ours: Files, theirs: Files, values: dict[str, object]
) -> None:
    assert merged(base, ours, theirs) == (values, set())


def test_only_compared_paths_are_given_and_can_conflict() -> None:
    trees = MemoryTrees()
    base = trees.tree({"in/a": "1", "out/b": "1", "out/c": "1"})
    ours = trees.tree({"in/a": "1", "out/b": "2", "out/c": "1"})
    theirs = trees.tree({"in/a": "3", "out/b": "3", "out/c": "3"})
    answer = merge(trees, base, ours, theirs, under("in/"))
    assert answer.values == {b"in/a": Entry(REGULAR, "3")}
    assert answer.clean
    assert answer.beside == {b"out/c": Entry(REGULAR, "3")}


def test_an_overlay_is_a_tree_with_other_values() -> None:
    trees = MemoryTrees()
    overlay = Overlay(
        trees.tree({"d/x": "1", "d/y": "1", "f": "1"}),
        {b"d/x": None, b"d/y": None, b"e/z": ONE, b"f": TWO},
    )
    assert overlay.entry(trees, b"d/x") is None
    assert overlay.entry(trees, b"f") == TWO
    assert not overlay.folder(trees, b"d")
    assert overlay.files(trees, b"e") == {b"e/z": ONE}


def test_a_chain_is_merged_link_by_link() -> None:
    trees = MemoryTrees()
    one, two = trees.tree({"f": "a\nb\nc"}), trees.tree({"f": "A\nb\nc", "g": "1"})
    three = trees.tree({"f": "A\nB\nc", "g": "2"})
    main = trees.tree({"f": "a\nb\nC", "z": "1"})
    answer = merge_chain(trees, [(one, two), (two, three)], main, everything)
    assert answer.clean
    assert answer.values == {b"f": Entry(REGULAR, "A\nB\nC"), b"g": TWO}


def test_gits_chain_stops_counting_as_clean_where_a_link_before_the_last_conflicts() -> None:
    trees = MemoryTrees()
    one, two, three = (trees.tree({"in/a": text, "out/b": text}) for text in "123")
    end = trees.tree({"in/a": "9", "out/b": "9"})
    trees.whole[one, one, two] = WholeMerge(two, frozenset({b"out/b"}))
    trees.whole[two, two, three] = WholeMerge(end, frozenset())
    links = [(one, two), (two, three)]
    inside = under("in/")
    answer = merge_chain_by_git(trees, links, one, inside)
    assert answer is not None
    assert not answer.clean
    trees.whole[one, one, two] = WholeMerge(two, frozenset())
    trees.whole[two, two, three] = WholeMerge(end, frozenset({b"out/b"}))
    assert merge_chain_by_git(trees, links, one, inside) == Merged(
        {b"in/a": Entry(REGULAR, "9")}, frozenset()
    )


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "paths", "names"),
    [
        ({"f": "1"}, {"f": "1", "g": "9"}, {"f": "2"}, set(), False),
        ({"f": "1"}, {"f": "2"}, {"f": "2"}, set(), False),
        ({"f": "1"}, {"f": "3"}, {"f": "2"}, {b"f"}, False),
        # A rename of the target's may have taken the path away.
        ({"f": "1"}, {"g": "1"}, {"f": "2"}, {b"f"}, True),
        # The work may have renamed what the target edited.
        ({"f": "1"}, {"f": "3"}, {"g": "1"}, {b"f", b"g"}, True),
        ({"f": "1"}, {"f": "3"}, {"g": "1", "h": "1"}, {b"f", b"g", b"h"}, True),
        ({}, {"f": "3"}, {"f": "2"}, {b"f"}, True),
        # The folder of an added path is gone, or a cleared folder has something new.
        ({"d/x": "1"}, {"e/x": "1"}, {"d/x": "1", "d/n": "2"}, {b"d/n"}, True),
        ({"d/s/x": "1"}, {"e/s/x": "1"}, {"d/s/x": "1", "d/s/n": "2"}, {b"d/s/n"}, True),
        ({"d/x": "1"}, {"d/x": "1", "d/n": "2"}, {"e/x": "1"}, {b"e/x"}, True),
        ({"d/x": "1"}, {"d/x": "1"}, {"e/x": "1"}, set(), False),
        ({"d/x": "1"}, {"d/x": "1", "e": "2"}, {"d/x": "1", "n/m": "2"}, set(), False),
    ],
)
def test_where_git_may_say_something_else(
    base: Files, ours: Files, theirs: Files, paths: set[bytes], names: bool
) -> None:
    trees = MemoryTrees()
    found = doubts(trees, [(trees.tree(base), trees.tree(theirs))], trees.tree(ours))
    assert (found.paths, found.names) == (paths, names)
    assert bool(found) == (bool(paths) or names)


def test_a_link_is_not_doubted_for_what_the_link_before_it_does() -> None:
    trees = MemoryTrees()
    one, two, three = (trees.tree({"f": text}) for text in "123")
    main = trees.tree({"f": "1", "z": "1"})
    assert not doubts(trees, [(one, two), (two, three)], main)
    assert doubts(trees, [(two, three)], main)


def test_the_same_change_on_another_base() -> None:
    trees = MemoryTrees()
    first = trees.tree({"f": "a\nb"}), trees.tree({"f": "a\nB", "n": "1"})
    moved = trees.tree({"f": "A\nb", "z": "1"})
    again = moved, trees.tree({"f": "A\nB", "n": "1", "z": "1"})
    mended = moved, trees.tree({"f": "A\nB", "n": "2", "z": "1"})
    assert same_change(trees, first, first, everything)
    assert same_change(trees, first, again, everything)
    assert not same_change(trees, first, mended, everything)
    assert same_change(trees, first, mended, under("f"))


def test_the_same_change_over_a_rename_is_gits_to_tell() -> None:
    trees = MemoryTrees()
    base, work = trees.tree({"f": "1\nx"}), trees.tree({"f": "2\nx"})
    moved, again = trees.tree({"g": "1\nx"}), trees.tree({"g": "2\nx"})
    assert not same_change(trees, (base, work), (moved, again), everything)
    trees.whole[base, moved, work] = WholeMerge(again, frozenset())
    assert same_change(trees, (base, work), (moved, again), everything)
    trees.whole[base, moved, work] = WholeMerge(again, frozenset({b"g"}))
    assert not same_change(trees, (base, work), (moved, again), everything)
    other = trees.tree({"g": "1\nx", "f": "3"})
    assert not same_change(trees, (base, work), (moved, other), under("z"))
    assert not same_change(trees, (base, base), (moved, other), under("z"))
    trees.old_git = True
    with pytest.raises(GateError, match=r"older than 2\.38"):
        same_change(trees, (base, work), (moved, again), everything)


def test_git_is_not_asked_where_its_answer_could_not_matter() -> None:
    trees = MemoryTrees()
    base, work = trees.tree({"f": "1", "sure": "1"}), trees.tree({"f": "2", "sure": "2"})
    moved = trees.tree({"f": "3", "sure": "1"})
    for unlike in ({"f": "4", "sure": "1"}, {"f": "4", "sure": "2", "more": "1"}):
        assert not same_change(trees, (base, work), (moved, trees.tree(unlike)), everything)
    assert not trees.asked
    again = trees.tree({"f": "4", "sure": "2"})
    assert not same_change(trees, (base, work), (moved, again), everything)
    assert trees.asked == [(base, moved, work)]
