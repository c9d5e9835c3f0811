"""Every kind of repository is found as git finds it, or refused with a sentence."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from gitworld import STAMP, commit, git, make

from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.repository import Repository


def refusal(start: Path | None) -> GateError:
    with pytest.raises(GateError) as caught:
        Repository.open(start)
    assert caught.value.kind is Exit.FATAL
    return caught.value


def test_from_a_subfolder(tmp_path: Path) -> None:
    root = make(tmp_path / "a b\udcff")
    (root / "deep" / "er").mkdir(parents=True)
    repo = Repository.open(root / "deep" / "er")
    assert (repo.git_dir, repo.common_dir) == (root / ".git", root / ".git")
    assert repo.work_tree == root
    assert repo.git("rev-parse", "--show-toplevel").text == str(root)
    assert not (repo.shallow or repo.partial or repo.quarantine)
    assert repo.resolve("HEAD") == git(root, "rev-parse", "HEAD")
    assert repo.object_directories() == (root / ".git" / "objects",)


def test_bare(tmp_path: Path) -> None:
    source = make(tmp_path / "source")
    git(tmp_path, "clone", "-q", "--bare", str(source), "bare.git")
    repo = Repository.open(tmp_path / "bare.git")
    assert repo.work_tree is None
    assert repo.git_dir == tmp_path / "bare.git"
    assert repo.resolve("main") == git(source, "rev-parse", "main")
    refs.compare_and_swap(repo, "refs/aiwg/gates/g/s", repo.resolve("main"), None, "test")
    assert git(repo.git_dir, "rev-parse", "refs/aiwg/gates/g/s") == repo.resolve("main")


def test_inside_the_git_folder(tmp_path: Path) -> None:
    root = make(tmp_path / "a")
    repo = Repository.open(root / ".git" / "refs")
    assert repo.git_dir == root / ".git"
    assert repo.work_tree is None


def test_linked_work_tree_shares_the_refs(tmp_path: Path) -> None:
    root = make(tmp_path / "a")
    git(root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    commit(tmp_path / "linked", "on the side")
    repo = Repository.open(tmp_path / "linked")
    assert repo.git_dir == root / ".git" / "worktrees" / "linked"
    assert repo.common_dir == root / ".git"
    assert repo.work_tree == tmp_path / "linked"
    assert repo.head_ref() == "refs/heads/side"
    assert repo.git("symbolic-ref", "HEAD").text == "refs/heads/side"
    side = repo.resolve("HEAD")
    refs.compare_and_swap(repo, "refs/aiwg/gates/g/s", side, None, "test")
    assert refs.read(Repository.open(root), "refs/aiwg/gates/g/s") == side
    assert list(refs.listing(repo, "refs/aiwg/")) == ["refs/aiwg/gates/g/s"]
    assert (root / ".git" / "refs" / "aiwg" / "gates" / "g" / "s").is_file()


def test_submodule(tmp_path: Path) -> None:
    inner = make(tmp_path / "inner", commits=2)
    outer = make(tmp_path / "outer")
    git(outer, "submodule", "--quiet", "add", str(inner), "sub")
    repo = Repository.open(outer / "sub")
    assert repo.git_dir == outer / ".git" / "modules" / "sub"
    assert repo.work_tree == outer / "sub"
    assert repo.resolve("HEAD") == git(inner, "rev-parse", "HEAD")


def test_the_environment_decides_without_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = make(tmp_path / "one"), make(tmp_path / "other", commits=2)
    monkeypatch.chdir(one)
    monkeypatch.setenv("GIT_DIR", "../other/.git")
    monkeypatch.setenv("GIT_WORK_TREE", "../other")
    repo = Repository.open()
    assert (repo.git_dir, repo.work_tree) == (other / ".git", other)
    assert repo.git("rev-parse", "HEAD").text == git(
        other, "rev-parse", "HEAD", env={"GIT_DIR": ".git"}
    )
    assert Repository.open(one).git_dir == one / ".git"


def test_hook_with_git_dir_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make(tmp_path / "a")
    monkeypatch.chdir(root)
    monkeypatch.setenv("GIT_DIR", ".git")
    assert Repository.open().work_tree == root
    monkeypatch.chdir(root / ".git")
    monkeypatch.setenv("GIT_DIR", ".")
    assert (Repository.open().git_dir, Repository.open().work_tree) == (root / ".git", None)


def test_another_common_dir_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = make(tmp_path / "one"), make(tmp_path / "other")
    monkeypatch.chdir(one)
    monkeypatch.setenv("GIT_DIR", str(one / ".git"))
    monkeypatch.setenv("GIT_COMMON_DIR", str(other / ".git"))
    assert "GIT_COMMON_DIR" in refusal(None).message


def test_alternates_of_alternates(tmp_path: Path) -> None:
    first = make(tmp_path / "fi rst")
    git(tmp_path, "clone", "-q", "--shared", str(first), "second")
    git(tmp_path, "clone", "-q", "--shared", "second", "third")
    repo = Repository.open(tmp_path / "third")
    assert repo.commit(repo.resolve("HEAD")).message == "c1\n"
    assert repo.object_directories() == tuple(
        folder / ".git" / "objects" for folder in (tmp_path / "third", tmp_path / "second", first)
    )


def test_not_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "not a git repository" in refusal(tmp_path).message
    assert "git init" in refusal(tmp_path).hint
    assert "not a folder" in refusal(tmp_path / "nowhere").message
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert "current folder" in refusal(None).message


def test_what_is_not_supported(tmp_path: Path) -> None:
    sha256 = make(tmp_path / "sha256", "--object-format=sha256", commits=0)
    assert "sha256" in refusal(sha256).message

    declared = make(tmp_path / "declared")
    git(declared, "config", "core.repositoryFormatVersion", "1")
    git(declared, "config", "extensions.refStorage", "reftable")
    assert "reftable" in refusal(declared).message

    present = make(tmp_path / "present")
    (present / ".git" / "reftable").mkdir()
    assert "reftable" in refusal(present).message

    unknown = make(tmp_path / "unknown")
    git(unknown, "config", "core.repositoryFormatVersion", "1")
    git(unknown, "config", "extensions.fromTheFuture", "true")
    assert "extension" in refusal(unknown).message

    broken_line = make(tmp_path / "line\nbreak")
    assert "line break" in refusal(broken_line).message


def test_grafts_are_refused(tmp_path: Path) -> None:
    root = make(tmp_path / "a", commits=3)
    grafts = root / ".git" / "info" / "grafts"
    grafts.touch()
    Repository.open(root)
    grafts.write_text(f"{git(root, 'rev-parse', 'HEAD')}\n")
    assert "grafts" in refusal(root).message


def test_replace_refs_change_nothing(tmp_path: Path) -> None:
    root = make(tmp_path / "a", commits=3)
    first, second, third = git(root, "rev-list", "--reverse", "HEAD").split()
    git(root, "replace", third, first)
    repo = Repository.open(root)
    assert repo.commit(third).parents == (second,)
    assert repo.git("log", "-1", "--format=%P", third).text == second
    assert [one.id for one in repo.first_parents(third) or ()] == [third, second, first]
    assert {one.id for one in repo.between(first, third)} == {second, third}


def test_git_judges_who_owns_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make(tmp_path / "a")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    error = refusal(root)
    assert "ownership" in error.message
    assert error.hint.startswith("git config --global --add safe.directory")
    git(tmp_path, "config", "--global", "safe.directory", "*")
    assert Repository.open(root).resolve("HEAD")


def test_empty_repository(tmp_path: Path) -> None:
    repo = Repository.open(make(tmp_path / "a", commits=0))
    assert repo.head_ref() == "refs/heads/main"
    with pytest.raises(GateError, match="HEAD has no commit yet") as caught:
        repo.resolve("HEAD")
    assert caught.value.kind is Exit.USAGE
    assert refs.listing(repo, "refs/") == {}


def test_a_shared_repository_stays_writable_for_the_group(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        for name, setting, folder_mode, file_mode in (
            ("group", "group", 0o775, 0o664),
            ("all", "all", 0o775, 0o664),
            ("octal", "0640", 0o750, 0o640),
            ("own", "umask", 0o755, 0o644),
        ):
            root = make(tmp_path / name, f"--shared={setting}")
            repo = Repository.open(root)
            blob = repo.write_blob(b"shared by " + name.encode())
            refs.compare_and_swap(repo, "refs/aiwg/gates/g/s", repo.resolve("HEAD"), None, "test")
            ref = root / ".git" / "refs" / "aiwg" / "gates" / "g" / "s"
            assert _mode(root / ".git" / "objects" / blob[:2]) == folder_mode, name
            assert _mode(ref.parent) == folder_mode, name
            assert _mode(ref) == file_mode, name
            assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode) & 0o777


def test_configuration_as_git_sees_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make(tmp_path / "a")
    git(root, "config", "--add", "Gate.Sub Case.Key", "one\ntwo")
    git(root, "config", "--add", "Gate.Sub Case.Key", "three")
    with (root / ".git" / "config").open("a") as file:
        file.write("[gate]\n\tflag\n")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "gate.given")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "by the environment")
    repo = Repository.open(root)
    assert repo.config["gate.Sub Case.key"] == "three"
    assert repo.config_all("gate.Sub Case.key") == ("one\ntwo", "three")
    assert repo.config["gate.flag"] == "true"
    assert repo.config["gate.given"] == "by the environment"
    assert repo.config_all("gate.none") == ()


def test_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repository.open(make(tmp_path / "a"))
    assert repo.identity().person == STAMP.person
    monkeypatch.setenv("GIT_COMMITTER_NAME", "Bob")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "@1764565200 +0130")
    assert (repo.identity().person.name, repo.identity().offset) == ("Bob", "+0130")
    git(repo.git_dir, "config", "user.useConfigOnly", "true")
    git(repo.git_dir, "config", "--global", "--unset", "user.email")
    with pytest.raises(GateError, match="who you are") as caught:
        repo.identity()
    assert "git config --global user.name" in caught.value.hint


def test_remotes(tmp_path: Path) -> None:
    make(tmp_path / "source")
    git(tmp_path, "clone", "-q", "source", "clone")
    clone = tmp_path / "clone"
    repo = Repository.open(clone)
    assert (repo.default_remote(), repo.remote_head("origin")) == (
        "origin",
        "refs/remotes/origin/main",
    )
    git(clone, "remote", "add", "fork", "../source")
    git(clone, "config", "branch.main.remote", "fork")
    repo = Repository.open(clone)
    assert (repo.default_remote(), repo.remote_head("fork")) == ("fork", None)
    git(clone, "checkout", "-q", "--detach")
    repo = Repository.open(clone)
    assert (repo.default_remote(), repo.head_ref()) == ("origin", None)
    git(clone, "remote", "remove", "origin")
    assert Repository.open(clone).default_remote() == "fork"
    git(clone, "remote", "remove", "fork")
    assert Repository.open(clone).default_remote() is None
