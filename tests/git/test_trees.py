"""Raw trees: what git writes is read, what git's fsck refuses is refused."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from gitworld import git, make

from gitgate.git.trees import (
    DIRECTORY,
    EMPTY_TREE,
    EXECUTABLE,
    REGULAR,
    SUBMODULE,
    SYMLINK,
    canonical_mode,
    format_tree,
    parse_tree,
)

ID = "11" * 20


def entry(name: bytes, mode: bytes = b"100644") -> bytes:
    return mode + b" " + name + b"\0" + bytes.fromhex(ID)


def test_what_is_written_is_read_again_in_gits_order() -> None:
    entries = {b"a-b": (REGULAR, ID), b"a": (DIRECTORY, ID), b"a.b": (SYMLINK, ID)}
    data = format_tree(entries)
    assert list(parse_tree(data)) == [b"a-b", b"a.b", b"a"]
    assert parse_tree(data) == entries
    assert parse_tree(b"") == {}


def test_a_tree_of_gits_own(tmp_path: Path) -> None:
    root = make(tmp_path / "a", commits=0)
    for name in ("a", "a b", "a-b/x", "a.b", "a/x", ".gitignore", "git", ".github/y", "...", "ä"):
        file = root / name
        if name != "a":
            file.parent.mkdir(exist_ok=True)
            file.write_text(name)
    (root / "run").write_text("x")
    (root / "run").chmod(0o755)
    (root / "link").symlink_to("nowhere")
    git(root, "add", ".")
    git(root, "update-index", "--add", "--cacheinfo", f"{SUBMODULE:o},{ID},sub")
    tree = git(root, "write-tree")
    raw = bytes.fromhex(
        git(root, "cat-file", "tree", tree).encode("utf-8", "surrogateescape").hex()
    )
    listed = git(root, "-c", "core.quotePath=false", "ls-tree", tree).split("\n")
    expected = {}
    for line in listed:
        what, _, name = line.partition("\t")
        mode, _, oid = what.split()
        expected[name.encode()] = (int(mode, 8), oid)
    assert parse_tree(raw) == expected
    assert format_tree(expected) == raw
    assert git(root, "mktree", stdin=b"") == EMPTY_TREE


def test_modes_are_those_that_git_takes_them_for(tmp_path: Path) -> None:
    root = make(tmp_path / "a", commits=0)
    modes = ["100644", "100755", "100664", "100600", "100700", "100777", "120000", "120777"]
    modes += ["40000", "040000", "40755", "160000", "160644", "110000", "060000", "0100644"]
    for mode in modes:
        data = entry(b"n", mode.encode())
        tree = git(root, "hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=data)
        shown = git(root, "diff-tree", "--raw", EMPTY_TREE, tree).split()[1]
        assert parse_tree(data)[b"n"][0] == int(shown, 8) == canonical_mode(int(mode, 8)), mode


@pytest.mark.parametrize(
    "data",
    [
        entry(b""),
        entry(b"a/b"),
        entry(b"."),
        entry(b".."),
        entry(b".git"),
        entry(b".GIT", b"40000"),
        entry(b".git ."),
        entry(b"GIT~1"),
        entry(b".git:stream"),
        entry(b".git\\x"),
        entry(".g\u200cit".encode()),
        entry("\ufeff.git".encode()),
        entry(b"a") + entry(b"a"),
        entry(b"a") + entry(b"a", b"40000"),
        entry(b"a") + entry(b"a.b") + entry(b"a", b"40000"),
        entry(b"b") + entry(b"a"),
        entry(b"a", b"40000") + entry(b"a.b"),
        entry(b"a", b""),
        entry(b"a", b"644"),
        entry(b"a", b"100648"),
        entry(b"a", b"+100644"),
        entry(b"a", b"00000100644"),
        entry(b"a")[:-1],
        entry(b"a") + b"x",
        b"100644 a",
        b"\0" * 30,
    ],
)
def test_what_fsck_calls_an_error_is_no_tree(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"^it"):
        parse_tree(data)


@pytest.mark.parametrize("name", [b"...", b".gitx", b"git~2", b"gi", b"x.git", b"\xff", b"a\nb"])
def test_odd_names_are_names(name: bytes) -> None:
    assert parse_tree(entry(name)) == {name: (REGULAR, ID)}


def test_any_cut_or_flipped_byte_is_refused_or_still_well_formed() -> None:
    chance = random.Random(5)
    names = sorted(b"f%d" % number for number in range(20))
    data = format_tree(dict.fromkeys(names, (EXECUTABLE, ID)))
    for _ in range(2000):
        broken = bytearray(data)
        broken[chance.randrange(len(broken))] = chance.randrange(256)
        del broken[len(broken) - chance.randrange(3) :]
        try:
            found = parse_tree(bytes(broken))
        except ValueError:
            continue
        assert len(format_tree(found)) in (len(broken), len(broken) + 1, len(broken) - 1)


def test_junk_takes_time_in_proportion_to_its_size() -> None:
    def seconds(count: int) -> float:
        started = time.perf_counter()
        with pytest.raises(ValueError, match=r"^it"):
            parse_tree(b"100644 " * count)
        return time.perf_counter() - started

    seconds(1000)
    assert seconds(400_000) < 60 * max(seconds(20_000), 0.01)
