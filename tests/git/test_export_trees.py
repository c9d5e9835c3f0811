"""The files of a tree in a folder: exactly those of the tree, and nothing beyond the folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from gitworld import git, make
from support.treekit import EXECUTABLE, SUBMODULE, SYMLINK, Flat, plant

from gitgate.app.telling.exports import remove
from gitgate.errors import Exit, GateError
from gitgate.git import export as exporting
from gitgate.git.export import export
from gitgate.git.merge import GitTrees
from gitgate.git.repository import Repository


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return Repository.open(make(tmp_path / "repo"))


def written(repo: Repository, files: Flat, folder: Path) -> dict[bytes, str]:
    with GitTrees(repo) as trees:
        return export(repo, trees.everything(plant(repo, files)), folder)


def link(target: bytes) -> tuple[int, bytes]:
    return SYMLINK, target


def test_the_files_are_written_as_git_stores_them(repo: Repository, tmp_path: Path) -> None:
    top = Path(repo.work_tree or "")
    git(top, "config", "filter.mark.smudge", f"touch {tmp_path}/filtered; cat")
    git(top, "config", "core.autocrlf", "true")
    files: Flat = {
        b".gitattributes": b"* filter=mark eol=crlf\nsecret export-ignore\n",
        b"a/b/c.txt": b"one\ntwo\n",
        b"secret": b"$Id$\n",
        b"run.sh": (EXECUTABLE, b"#!/bin/sh\n"),
        b"-rf": b"",
        b"new\nline": b"\0\xff\r\n",
        b"\xff\xfe": b"x",
        b"module": (SUBMODULE, b"1" * 40),
        b"here": link(b"a/../a/b/c.txt"),
    }
    out = tmp_path / "out"
    assert written(repo, files, out) == {}
    found = {os.fsencode(file.relative_to(out)): file for file in out.rglob("*")}
    assert set(found) == {*files, b"a", b"a/b"}
    assert found[b"module"].is_dir()
    assert found[b"here"].readlink() == Path("a/../a/b/c.txt")
    for path, content in files.items():
        if isinstance(content, bytes):
            assert found[path].read_bytes() == content
            assert not found[path].stat().st_mode & stat.S_IXUSR
    assert found[b"run.sh"].stat().st_mode & stat.S_IXUSR
    assert not (tmp_path / "filtered").exists()


@pytest.mark.parametrize(
    ("files", "out"),
    [
        ({b"l": link(b"/etc/passwd")}, {b"l"}),
        ({b"l": link(b"..")}, {b"l"}),
        ({b"a/b/l": link(b"../../../x")}, {b"a/b/l"}),
        ({b"l": link(b"a/b/../../../x"), b"a/b/f": b""}, {b"l"}),
        ({b"l": link(b"k"), b"k": link(b"/etc/passwd")}, {b"k"}),
        ({b"k": link(b"l"), b"l": link(b"/etc/passwd")}, {b"l"}),
        # The folder is deeper by name than in truth, so `..` leads higher.
        ({b"a/b/up": link(b"../.."), b"l": link(b"a/b/up/../x")}, {b"l"}),
        ({b"a/z": link(b".."), b"l": link(b"a/z/../x")}, {b"l"}),
        ({b"a/l": link(b"b/../.."), b"a/b": link(b"..")}, {b"a/l"}),
        ({b"l": link(b""), b"n": link(b"x\0y")}, {b"l", b"n"}),
        ({b"n" * 300: b"too long", b"l": link(b"n" * 5000)}, {b"n" * 300, b"l"}),
        ({b"l": link(b"l"), b"m": link(b"nowhere/x")}, set()),
        ({b"r": link(b"."), b"a/r": link(b"..")}, set()),
    ],
)
def test_links_that_lead_out_are_left_out(
    repo: Repository, tmp_path: Path, files: Flat, out: set[bytes]
) -> None:
    folder = tmp_path / "out"
    left_out = written(repo, {**files, b"beside": b""}, folder)
    assert set(left_out) == out
    for place in folder.rglob("*"):
        if place.is_symlink():
            assert Path(os.path.realpath(place)).is_relative_to(folder.resolve())
    assert (folder / "beside").is_file()


def test_sizes_have_limits(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "MAX_OBJECT", 10)
    left_out = written(repo, {b"large": b"x" * 11, b"small": b"x" * 10}, tmp_path / "one")
    assert left_out == {b"large": "it has 11 bytes"}
    monkeypatch.setattr(exporting, "MAX_BYTES", 20)
    with pytest.raises(GateError, match="more than") as caught:
        written(repo, {b"a": b"x" * 10, b"b": b"x" * 10, b"c": b"x"}, tmp_path / "two")
    assert caught.value.kind is Exit.BLOCKED


def test_a_folder_that_cannot_be_written_is_an_error(repo: Repository, tmp_path: Path) -> None:
    with pytest.raises(GateError, match="cannot be written") as caught:
        written(repo, {b"a": b""}, tmp_path / "no" / "such" / "folder")
    assert caught.value.kind is Exit.FATAL


def test_folders_are_removed_whatever_their_rights(tmp_path: Path) -> None:
    deep = tmp_path / "out" / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "file").write_text("x")
    (tmp_path / "out" / "link").symlink_to(tmp_path)
    for place, mode in ((deep / "file", 0o400), (deep, 0o500), (deep.parent, 0)):
        place.chmod(mode)
    remove(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert tmp_path.exists()
    remove(tmp_path / "out")
