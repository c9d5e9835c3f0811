"""Remotes over every transport: what is fetched, what a push comes to, ref by ref."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gitworld import commit, git, make
from support.smarthttp import served

from gitgate.errors import Exit, GateError
from gitgate.git import remote
from gitgate.git.remote import Fate, Move
from gitgate.git.repository import Repository

A, B = "refs/aiwg/gates/main/a", "refs/aiwg/gates/main/b"
NOTES, JOURNAL = "refs/notes/aiwg/gates", "refs/heads/aiwg/journal"
TRACKED = "refs/gitgate/origin"


@pytest.fixture(params=["file", "ext", "http"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty bare repository that takes pushes."""
    make(tmp_path / "served" / "bare.git", "--bare", commits=0)
    bare = tmp_path / "served" / "bare.git"
    git(bare, "config", "http.receivepack", "true")
    if request.param == "http":
        with served(tmp_path / "served") as base:
            yield f"{base}/bare.git"
    else:
        yield str(bare) if request.param == "file" else f"ext::git %s {bare}"


@pytest.fixture
def clone(tmp_path: Path, url: str) -> Repository:
    """A clone with three commits, of which the remote has none."""
    return cloned(tmp_path / "clone", url)


def cloned(folder: Path, url: str) -> Repository:
    make(folder, commits=3)
    git(folder, "remote", "add", "origin", url)
    git(folder, "config", "protocol.ext.allow", "always")
    return Repository.open(folder)


def tips(repo: Repository) -> list[str]:
    return [repo.resolve(one) for one in ("HEAD~2", "HEAD~1", "HEAD")]


def fates(repo: Repository, *moves: Move) -> list[Fate]:
    return [one.fate for one in remote.push(repo, "origin", moves)]


def test_there_and_back(clone: Repository, tmp_path: Path, url: str) -> None:
    first, second, third = tips(clone)
    moves = [Move(A, None, first), Move(NOTES, None, second), Move(JOURNAL, None, third)]
    assert fates(clone, *moves) == [Fate.MOVED] * 3
    have = {A: first, NOTES: second, JOURNAL: third}
    assert remote.listed(clone, "origin") == have
    other = cloned(tmp_path / "other", url)
    assert remote.tracked(other, "origin") == {}
    remote.fetch(other, "origin")
    assert remote.tracked(other, "origin") == have
    assert git(other.git_dir, "for-each-ref", "--format=%(refname)", TRACKED).split() == [
        f"{TRACKED}/gates/main/a",
        f"{TRACKED}/journal",
        f"{TRACKED}/notes/gates",
    ]
    assert fates(clone, Move(A, first, None), Move(JOURNAL, third, None)) == [Fate.MOVED] * 2
    remote.fetch(other, "origin")
    assert remote.tracked(other, "origin") == {NOTES: second}


def test_a_push_names_the_exact_value_that_it_replaces(clone: Repository) -> None:
    first, second, third = tips(clone)
    assert fates(clone, Move(A, None, second), Move(B, None, second)) == [Fate.MOVED] * 2
    # a ref that is there already, one that moved, one that never was, and one as it was seen
    asked = [Move(A, None, third), Move(B, first, third), Move(NOTES, first, third)]
    assert fates(clone, *asked) == [Fate.LOST] * 3
    assert fates(clone, Move(A, second, first), Move(B, first, third)) == [Fate.MOVED, Fate.LOST]
    assert remote.listed(clone, "origin") == {A: first, B: second}


def test_more_refs_than_one_push_takes(clone: Repository) -> None:
    first, *_ = tips(clone)
    moves = [Move(f"{A}{number}", None, first) for number in range(5)]
    assert [one.fate for one in remote.push(clone, "origin", moves, batch=2)] == [Fate.MOVED] * 5
    assert len(remote.listed(clone, "origin")) == 5


def test_objects_alone(clone: Repository, tmp_path: Path, url: str) -> None:
    first, *_ = tips(clone)
    new = commit(tmp_path / "clone", "new", f="new\n")
    fates(clone, Move(A, None, new), Move(B, None, first))
    other = cloned(tmp_path / "other", url)
    before = git(other.git_dir, "for-each-ref")
    remote.fetch_objects(other, "origin", [A])
    assert other.kind(new) == "commit"
    assert git(other.git_dir, "for-each-ref") == before
    assert not (other.git_dir / "FETCH_HEAD").exists()


def test_only_some_ledgers(clone: Repository, tmp_path: Path, url: str) -> None:
    first, second, _ = tips(clone)
    fates(clone, Move(A, None, first), Move(B, None, second), Move(NOTES, None, second))
    other = cloned(tmp_path / "other", url)
    remote.fetch(other, "origin", [A, "refs/aiwg/gates/main/none"])
    assert remote.tracked(other, "origin") == {A: first, NOTES: second}


# What the user configured.


def test_configuration_has_no_say(tmp_path: Path) -> None:
    bare = make(tmp_path / "bare.git", "--bare", commits=0)
    repo = cloned(tmp_path / "clone", str(bare))
    folder = tmp_path / "clone"
    first, second, _ = tips(repo)
    git(folder, "tag", "-a", "-m", "v", "v1", second)
    for key, value in {
        "remote.origin.mirror": "true",
        "remote.origin.prune": "true",
        "remote.origin.pruneTags": "true",
        "remote.origin.fetch": "+refs/*:refs/*",
        "push.followTags": "true",
        "push.recurseSubmodules": "check",
        "fetch.prune": "true",
    }.items():
        git(folder, "config", key, value)
    git(folder, "update-ref", B, first)
    repo = Repository.open(folder)
    assert fates(repo, Move(A, None, second)) == [Fate.MOVED]
    before = git(folder, "for-each-ref")
    remote.fetch(repo, "origin")
    after = git(folder, "for-each-ref")
    assert set(before.split("\n")) <= set(after.split("\n"))
    assert git(bare, "for-each-ref", "--format=%(refname)") == A


@pytest.mark.parametrize("name", ["team/origin", "a.b"])
def test_names_of_remotes(tmp_path: Path, name: str) -> None:
    bare = make(tmp_path / "bare.git", "--bare", commits=0)
    folder = make(tmp_path / "clone")
    git(folder, "remote", "add", name, str(bare))
    repo = Repository.open(folder)
    tip = repo.resolve("HEAD")
    [pushed] = remote.push(repo, name, [Move(A, None, tip)])
    assert pushed.fate is Fate.MOVED
    remote.note(repo, name, A, tip)
    assert remote.tracked(repo, name) == {A: tip}
    remote.note(repo, name, A, None)
    assert remote.tracked(repo, name) == {}


# What does not work.


def test_no_such_remote(tmp_path: Path) -> None:
    repo = Repository.open(make(tmp_path / "clone"))
    for name, said in (
        (None, "this repository has no remote"),
        ("other", "there is no remote 'other' here"),
        ("--upload-pack=x", "there is no remote '--upload-pack=x' here"),
    ):
        with pytest.raises(GateError) as caught:
            remote.named(repo, name)
        assert (caught.value.kind, caught.value.message) == (Exit.USAGE, said)


def test_out_of_reach(tmp_path: Path) -> None:
    repo = cloned(tmp_path / "clone", str(tmp_path / "nowhere"))
    for ask in (remote.fetch, remote.listed):
        with pytest.raises(GateError) as caught:
            ask(repo, "origin")
        assert caught.value.kind is Exit.FATAL
        assert caught.value.message.startswith("origin cannot be reached: ")
        assert caught.value.hint == "git ls-remote origin"


def test_a_remote_that_only_gives(tmp_path: Path) -> None:
    bare = make(tmp_path / "served" / "bare.git", "--bare", commits=0)
    ext = cloned(tmp_path / "ext", f"ext::sh -c test%S'%%G'='upload'&&git%S%s%S{bare}")
    with served(tmp_path / "served") as base:
        http = cloned(tmp_path / "http", f"{base}/bare.git")
        for repo in (http, ext):
            [pushed] = remote.push(repo, "origin", [Move(A, None, repo.resolve("HEAD"))])
            assert pushed.fate is Fate.UNKNOWN
            assert pushed.reason
    assert git(bare, "for-each-ref") == ""


def test_a_hook_that_refuses(tmp_path: Path) -> None:
    bare = make(tmp_path / "bare.git", "--bare", commits=0)
    hook = bare / "hooks" / "update"
    hook.write_text(f'#!/bin/sh\necho not today >&2\ntest "$1" != {A}\n')
    hook.chmod(0o755)
    repo = cloned(tmp_path / "clone", str(bare))
    first, *_ = tips(repo)
    refused, moved = remote.push(repo, "origin", [Move(A, None, first), Move(B, None, first)])
    assert (refused.fate, refused.reason) == (Fate.REFUSED, "hook declined")
    assert refused.words == ("not today", f"error: hook declined to update {A}", "not today")
    assert moved.fate is Fate.MOVED


def test_an_own_hook_is_not_run(tmp_path: Path) -> None:
    bare = make(tmp_path / "bare.git", "--bare", commits=0)
    repo = cloned(tmp_path / "clone", str(bare))
    hook = repo.git_dir / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    assert fates(repo, Move(A, None, repo.resolve("HEAD"))) == [Fate.MOVED]


def test_a_ref_in_the_way(tmp_path: Path) -> None:
    bare = make(tmp_path / "bare.git", "--bare", commits=0)
    repo = cloned(tmp_path / "clone", str(bare))
    tip = repo.resolve("HEAD")
    assert fates(repo, Move("refs/heads/aiwg", None, tip)) == [Fate.MOVED]
    assert fates(repo, Move(JOURNAL, None, tip)) == [Fate.REFUSED]
