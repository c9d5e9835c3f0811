"""The landing rule against real git: whatever git lands passes, whatever is changed fails."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from support.memory_trees import MemoryTrees
from support.stories import SLOTS, Story, Town, changed, inside, stories, text
from support.treekit import EXECUTABLE, REGULAR, SYMLINK, Flat, read

from gitgate.core.merging import doubts, merge

GIT = settings(max_examples=settings().max_examples // 3)
HOW = st.sampled_from(["content", "mode", "link", "delete", "add"])


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = tmp_path_factory.mktemp("town")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    told = Town(folder)
    yield told
    told.trees.close()


class Told:
    """A story in the town: ids of trees, and git's merge of the branch into the target."""

    def __init__(self, town: Town, story: Story) -> None:
        self.town = town
        self.base = town.plant(story.base)
        self.branch = [town.plant(files) for files in story.branch]
        self.work = self.branch[-1]
        self.main = town.plant(story.target[-1]) if story.target else self.base
        self.merged, self.conflicts = town.merge(self.base, self.main, self.work)

    def changes(self, old: str, new: str) -> set[bytes]:
        return {path for path in self.town.trees.changes(old, new) if inside(path)}

    def passes(self, *chain: str) -> bool:
        return self.town.walk(chain, self.base, self.branch).stopped is None

    @property
    def clean(self) -> bool:
        return not self.conflicts

    @property
    def worth(self) -> bool:
        """Whether it is a landing at all: clean, and changing something that is compared."""
        return self.clean and bool(self.changes(self.main, self.merged))


def told_landing(town: Town, story: Story) -> Told:
    told = Told(town, story)
    assume(told.worth)
    return told


@GIT
@given(stories())
def test_the_merge_by_path_is_gits_merge(town: Town, story: Story) -> None:
    told = Told(town, story)
    links = [(told.base, told.work)]
    found = merge(town.trees, told.base, told.main, told.work, lambda path: True)
    event(f"clean: {told.clean}")
    if not doubts(town.trees, links, told.main).names:
        assert found.clean == told.clean
    if told.clean and found.clean:
        after = {p: new for p, (_, new) in town.trees.changes(told.main, told.merged).items()}
        assert found.values == after


@GIT
@given(stories(moves=True))
def test_whatever_git_merges_cleanly_lands_and_nothing_else(town: Town, story: Story) -> None:
    told = Told(town, story)
    by_path = merge(town.trees, told.base, told.main, told.work, inside)
    if told.worth:
        assert told.passes(told.main, told.merged)
    elif any(map(inside, told.conflicts)) and not by_path.clean:
        event("conflict")
        assert not told.changes(told.main, told.merged) or not told.passes(told.main, told.merged)


@GIT
@given(stories())
def test_fast_forward_and_rebase_land(town: Town, story: Story) -> None:
    told = told_landing(town, story)
    if not story.target:
        assert told.passes(told.base, *told.branch)
    rebased = town.rebase(told.base, told.branch, told.main)
    if rebased and not told.changes(rebased[-1], told.merged):
        event("rebased")
        assert told.passes(*rebased)


@GIT
@given(stories(moves=True), HOW, st.data())
def test_any_change_of_a_compared_path_fails(
    town: Town, story: Story, how: str, data: st.DataObject
) -> None:
    told = told_landing(town, story)
    files = read(town.repo, told.merged)
    path = data.draw(st.sampled_from(sorted(filter(inside, files)) or [b"in/smuggled"]))
    evil = town.plant(changed(files, path, how))
    by_path = merge(town.trees, told.base, told.main, told.work, inside)
    lands = {p: new for p, (_, new) in town.trees.changes(told.main, evil).items() if inside(p)}
    assume(lands and not (by_path.clean and lands == by_path.values))
    assert not told.passes(told.main, evil)


@GIT
@given(stories(), st.sampled_from([b"out/o", b"out/more"]), HOW.filter(lambda how: how != "add"))
def test_a_change_outside_of_the_compared_paths_passes(
    town: Town, story: Story, path: bytes, how: str
) -> None:
    told = told_landing(town, story)
    files = {b"out/o": b"1\n", b"out/more": b"1\n", **read(town.repo, told.merged)}
    assert told.passes(told.main, town.plant(changed(files, path, how)))


@GIT
@given(stories(moves=True))
def test_one_approval_is_for_one_landing(town: Town, story: Story) -> None:
    told = told_landing(town, story)
    main, merged = told.main, told.merged
    again = town.walk([main, merged], told.base, told.branch, past=[main, merged])
    assert again.stopped == 1
    assert town.walk([main, merged, main, merged], told.base, told.branch).stopped is None
    revert = {"back": (merged, main)}
    back = town.walk([merged, main], told.base, told.branch, past=[main], more=revert)
    assert back.stopped is None
    fresh = {"R2": (told.base, told.work)}
    new = town.walk([main, merged], told.base, told.branch, past=[main, merged], more=fresh)
    assert new.stopped is None


@GIT
@given(stories())
def test_evil_steps_are_found(town: Town, story: Story) -> None:
    told = told_landing(town, story)
    landed = read(town.repo, told.merged)
    evil = town.plant({**landed, b"in/evil": b"evil\n"})
    early = town.plant({**read(town.repo, told.main), b"in/evil": b"evil\n"})
    assert town.walk([told.main, early, told.merged], told.base, told.branch).stopped == 1
    after = town.walk([told.main, told.merged, evil, told.merged], told.base, told.branch)
    assert after.stopped == 2
    hidden = [town.plant({**files, b"in/evil": b"evil\n"}) for files in story.branch]
    base = town.plant({**story.base, b"in/evil": b"evil\n"})
    assert town.walk([told.main, evil], base, hidden).stopped == 1
    if told.changes(told.work, told.merged):
        assert not told.passes(told.main, told.work)


ENTRY = st.sampled_from([REGULAR, EXECUTABLE, SYMLINK]).flatmap(
    lambda mode: st.sampled_from([(mode, b"1"), (mode, b"2")])
)
NAMES = st.sampled_from([b"a", b"a/b", b"a/b/c", b"a/d", b"e", b"a-"])


@st.composite
def small_trees(draw: st.DrawFn) -> Flat:
    """Trees in which files and folders take each other's place."""
    found: dict[bytes, tuple[int, bytes]] = {}
    for path, entry in draw(st.dictionaries(NAMES, ENTRY, max_size=5)).items():
        below = path + b"/"
        if not any(path.startswith(at + b"/") or at.startswith(below) for at in found):
            found[path] = entry
    return found


@given(small_trees(), small_trees(), small_trees())
def test_trees_in_memory_and_in_git_are_merged_alike(
    town: Town, base: Flat, ours: Flat, theirs: Flat
) -> None:
    memory = MemoryTrees()
    planted = [town.plant(files) for files in (base, ours, theirs)]
    named = [
        memory.tree({path.decode(): (one[0], one[1].decode()) for path, one in files.items()})
        for files in (base, ours, theirs)
    ]
    real = merge(town.trees, *planted, lambda path: True)
    same = merge(memory, *named, lambda path: True)
    assert real.conflicts == same.conflicts
    assert real.values.keys() == same.values.keys()
    for path, value in same.values.items():
        found = real.values[path]
        assert (found is None) == (value is None)
        if found is not None and value is not None:
            assert found.mode == value.mode
            assert town.repo.read(found.oid, "blob") == value.oid.encode()


def test_the_slots_of_a_file_are_apart() -> None:
    assert text(b"p", [b"0"] * SLOTS).count(b"\n") == SLOTS * 5
