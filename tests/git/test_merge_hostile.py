"""Merges under hostile configuration and attributes, and trees that are made to harm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gitworld import git, make
from support.treekit import Flat, plant

from gitgate.core.merging import Entry, Malformed, merge
from gitgate.errors import Exit
from gitgate.git.merge import GitTrees
from gitgate.git.repository import Repository
from gitgate.git.trees import DIRECTORY, EMPTY_TREE, REGULAR

CLASH = (b"1\n2\n3\n", b"1\nours\n3\n", b"1\ntheirs\n3\n")
CLEAN = (b"1\n2\n3\n4\n5\n6\n", b"x\n2\n3\n4\n5\n6\n", b"1\n2\n3\n4\n5\ny\n")
MERGED = b"x\n2\n3\n4\n5\ny\n"
ATTRIBUTES = ["* merge=union\n", "* -merge\n", "* merge=own\n", "* text=auto eol=crlf\n"]
ATTRIBUTES += ["* filter=own\n", "[attr]text -merge\n* text\n", "* merge=binary -diff\n"]

Place = Callable[[Path, Path, str, pytest.MonkeyPatch], None]


def write(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)


def of_the_user(home: Path, root: Path, rules: str, patch: pytest.MonkeyPatch) -> None:
    write(home / ".config" / "git" / "attributes", rules)


def of_a_setting(home: Path, root: Path, rules: str, patch: pytest.MonkeyPatch) -> None:
    write(home / "rules", rules)
    git(root, "config", "--global", "core.attributesFile", str(home / "rules"))


def of_the_repository(home: Path, root: Path, rules: str, patch: pytest.MonkeyPatch) -> None:
    write(root / ".git" / "info" / "attributes", rules)


def of_the_work_tree(home: Path, root: Path, rules: str, patch: pytest.MonkeyPatch) -> None:
    write(root / ".gitattributes", rules)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "attributes")


def of_a_variable(home: Path, root: Path, rules: str, patch: pytest.MonkeyPatch) -> None:
    write(home / "rules", rules)
    patch.setenv("GIT_CONFIG_COUNT", "2")
    patch.setenv("GIT_CONFIG_KEY_0", "core.attributesFile")
    patch.setenv("GIT_CONFIG_VALUE_0", str(home / "rules"))
    patch.setenv("GIT_CONFIG_KEY_1", "merge.default")
    patch.setenv("GIT_CONFIG_VALUE_1", "union")


def of_the_command_line(home: Path, root: Path, rules: str, patch: pytest.MonkeyPatch) -> None:
    write(home / "rules", rules)
    patch.setenv("GIT_CONFIG_PARAMETERS", f"'core.attributesFile'='{home / 'rules'}'")


def of_the_default_driver(home: Path, root: Path, rules: str, patch: pytest.MonkeyPatch) -> None:
    git(root, "config", "--global", "merge.default", "union")
    git(root, "config", "--global", "merge.renames", "false")
    git(root, "config", "--global", "merge.renormalize", "true")
    git(root, "config", "--global", "merge.directoryRenames", "false")


PLACES = [of_the_user, of_a_setting, of_the_repository, of_the_work_tree, of_a_variable]
PLACES += [of_the_command_line, of_the_default_driver]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "a")


@pytest.fixture
def trees(root: Path) -> Iterator[GitTrees]:
    with GitTrees(Repository.open(root)) as opened:
        yield opened


def own_driver(root: Path, mark: Path) -> None:
    """A merge driver and a filter that leave a mark when they run."""
    git(root, "config", "--global", "merge.own.driver", f"touch {mark}; cp %B %A")
    git(root, "config", "--global", "filter.own.smudge", f"touch {mark}; cat")
    git(root, "config", "--global", "filter.own.clean", f"touch {mark}; cat")


@pytest.mark.parametrize("place", PLACES)
def test_attributes_and_settings_change_nothing(
    place: Place, root: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    own_driver(root, mark)
    for rules in ATTRIBUTES:
        place(home, root, rules, monkeypatch)
        mark.unlink(missing_ok=True)
        inside = {b".gitattributes": rules.encode()}
        repo = Repository.open(root)
        with GitTrees(repo) as trees:
            base, ours, theirs = (plant(repo, {**inside, b"f": data}) for data in CLEAN)
            expected = plant(repo, {**inside, b"f": MERGED})
            whole = trees.merge_whole(base, ours, theirs)
            assert whole == (expected, frozenset()), rules
            merged = merge(trees, base, ours, theirs, lambda path: True)
            assert merged.values == {b"f": trees.entry(expected, b"f")}, rules
            base, ours, theirs = (plant(repo, {**inside, b"f": data}) for data in CLASH)
            whole = trees.merge_whole(base, ours, theirs)
            assert whole is not None
            assert whole.conflicts == {b"f"}, rules
            assert not merge(trees, base, ours, theirs, lambda path: True).clean, rules
        assert not mark.exists(), rules


def test_without_the_scratch_they_would_have_changed_it(root: Path, home: Path) -> None:
    """The hazard is real: what the test above shuts out changes git's own merge."""
    of_the_user(home, root, "* merge=union\n", pytest.MonkeyPatch())
    base = git(root, "rev-parse", "HEAD")
    for name, content in (("ours", "ours\n"), ("theirs", "theirs\n")):
        git(root, "checkout", "-q", "-b", name, base)
        (root / "f").write_text(content)
        git(root, "commit", "-q", "-a", "-m", name)
    git(root, "merge-tree", "--write-tree", "ours", "theirs")


def test_line_ends_are_left_as_they_are(root: Path, trees: GitTrees) -> None:
    repo = Repository.open(root)
    git(root, "config", "--global", "core.autocrlf", "true")
    contents = [data.replace(b"\n", b"\r\n") for data in (*CLEAN, MERGED)]
    base, ours, theirs, merged = (plant(repo, {b"f": data}) for data in contents)
    assert trees.merge_whole(base, ours, theirs) == (merged, frozenset())
    found = merge(trees, base, ours, theirs, lambda path: True)
    assert found.values == {b"f": trees.entry(merged, b"f")}


def raw_tree(root: Path, data: bytes) -> str:
    return git(root, "hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=data)


def line(name: bytes, oid: str, mode: bytes = b"100644") -> bytes:
    return mode + b" " + name + b"\0" + bytes.fromhex(oid)


def hostile(blob: str) -> dict[str, bytes]:
    return {
        "twice": line(b"x", blob) + line(b"x", blob),
        "file and folder": line(b"x", blob) + line(b"x", EMPTY_TREE, b"40000"),
        "apart": line(b"x", blob) + line(b"x-", blob) + line(b"x", EMPTY_TREE, b"40000"),
        "unsorted": line(b"y", blob) + line(b"x", blob),
        "git": line(b".git", EMPTY_TREE, b"40000"),
        "empty name": line(b"", blob),
        "slash": line(b"a/b", blob),
        "cut": line(b"x", blob)[:-3],
        "no mode": line(b"x", blob, b""),
    }


def test_a_malformed_tree_is_named_wherever_it_stands(root: Path, trees: GitTrees) -> None:
    repo = Repository.open(root)
    blob = repo.write_blob(b"1\n")
    base = plant(repo, {b"d/x": b"1\n", b"f": b"1\n"})
    for data in hostile(blob).values():
        bad = raw_tree(root, data)
        within = repo.write_tree({b"d": (DIRECTORY, bad), b"f": (REGULAR, blob)})
        questions: list[Callable[[], object]] = [
            lambda tree=bad: trees.changes(base, tree),
            lambda tree=within: trees.changes(tree, base),
            lambda tree=within: trees.entry(tree, b"d/x"),
            lambda tree=within: trees.folder(tree, b"d"),
            lambda tree=within: trees.files(tree, b"d"),
            lambda tree=within: trees.merge_whole(base, tree, base),
            lambda tree=within: merge(trees, base, base, tree, lambda path: True),
        ]
        for question in questions:
            with pytest.raises(Malformed, match=f"tree {bad} is malformed") as caught:
                question()
            assert caught.value.kind is Exit.UNTRUSTED


def test_modes_that_git_takes_for_one_are_one(root: Path, trees: GitTrees) -> None:
    blob = Repository.open(root).write_blob(b"1\n")
    odd, plain = (raw_tree(root, line(b"x", blob, mode)) for mode in (b"100664", b"100644"))
    assert odd != plain
    assert trees.changes(odd, plain) == {}
    assert trees.entry(odd, b"x") == Entry(REGULAR, blob)


def test_empty_folders_are_nothing(root: Path, trees: GitTrees) -> None:
    repo = Repository.open(root)
    repo.write_tree({})
    hollow = repo.write_tree({b"e": (DIRECTORY, EMPTY_TREE)})
    nested = repo.write_tree({b"d": (DIRECTORY, hollow)})
    base, more = plant(repo, {}), plant(repo, {b"d": b"1\n"})
    assert trees.changes(base, nested) == {}
    assert not trees.folder(nested, b"d")
    assert not trees.folder(nested, b"d/e")
    assert trees.files(nested, b"d") == {}
    assert merge(trees, base, nested, more, lambda path: True).clean


def test_a_tree_that_unfolds_without_end_is_refused(
    root: Path, trees: GitTrees, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repository.open(root)
    monkeypatch.setattr("gitgate.git.merge.MAX_PATHS", 20_000)
    monkeypatch.setattr("gitgate.git.merge.MAX_FOLDERS", 20_000)
    for leaf in ((REGULAR, repo.write_blob(b"1")), (DIRECTORY, repo.write_tree({}))):
        tree = repo.write_tree({b"%d" % number: leaf for number in range(10)})
        for _ in range(30):
            tree = repo.write_tree({b"%d" % number: (DIRECTORY, tree) for number in range(10)})
        with pytest.raises(Malformed, match="more than 20000"):
            trees.changes(EMPTY_TREE, tree)
        assert trees.changes(tree, tree) == {}


def test_a_tree_that_is_too_deep_is_refused(root: Path, trees: GitTrees) -> None:
    repo = Repository.open(root)
    tree = repo.write_tree({b"x": (REGULAR, repo.write_blob(b"1"))})
    for _ in range(25):
        tree = repo.write_tree({b"d" * 200: (DIRECTORY, tree)})
    with pytest.raises(Malformed, match="a path of more than 4096 bytes"):
        trees.changes(EMPTY_TREE, tree)


def test_a_tree_in_the_place_of_a_file_is_an_error(root: Path, trees: GitTrees) -> None:
    repo = Repository.open(root)
    flat: Flat = {b"f": b"1\n"}
    posing = repo.write_tree({b"f": (REGULAR, plant(repo, flat))})
    sides = (plant(repo, flat), posing, plant(repo, {b"f": b"2\n"}))
    entries = [trees.entry(tree, b"f") for tree in sides]
    assert None not in entries
    base, ours, theirs = (entry for entry in entries if entry)
    with pytest.raises(Exception, match="is a tree, not a blob"):
        trees.merge_files({b"f": (base, ours, theirs)})
