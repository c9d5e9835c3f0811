"""Partial clones fetch what is missing; a push that is being received is read and not written."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from gitworld import ROOT, commit, git, make

from gitgate.errors import Exit, GateError
from gitgate.git import notes, refs
from gitgate.git.repository import Repository


@pytest.fixture
def partial(tmp_path: Path) -> tuple[Path, Path]:
    """A repository and a clone of it without any blob."""
    source = make(tmp_path / "source")
    commit(source, "big", big="x" * 5000)
    git(source, "config", "uploadpack.allowFilter", "true")
    git(source, "config", "uploadpack.allowAnySHA1InWant", "true")
    options = ["--filter=blob:none", "--no-checkout"]
    git(tmp_path, "clone", "-q", *options, source.as_uri(), "clone")
    return source, tmp_path / "clone"


def test_a_partial_clone_fetches_what_is_read(partial: tuple[Path, Path]) -> None:
    source, clone = partial
    repo = Repository.open(clone)
    assert repo.partial
    assert repo.blob_at(repo.resolve("HEAD"), b"big") == b"x" * 5000
    blob = git(source, "rev-parse", "HEAD:f")
    assert repo.header(blob) == ("blob", 2)
    assert repo.kind("1" * 40) is None


def test_the_older_form_of_a_partial_clone(partial: tuple[Path, Path]) -> None:
    source, clone = partial
    git(clone, "config", "--unset", "remote.origin.promisor")
    git(clone, "config", "extensions.partialClone", "origin")
    repo = Repository.open(clone)
    assert repo.partial
    assert repo.read(git(source, "rev-parse", "HEAD:f"), "blob") == b"1\n"


def test_a_partial_clone_without_its_remote(partial: tuple[Path, Path]) -> None:
    source, clone = partial
    blob = git(source, "rev-parse", "HEAD:f")
    shutil.rmtree(source)
    with pytest.raises(GateError, match=f"object {blob} is missing") as caught:
        Repository.open(clone).read(blob, "blob")
    assert (caught.value.kind, caught.value.hint) == (Exit.UNTRUSTED, "git fetch")


_HOOK = """#!{python}
import sys
sys.path[:0] = [{root!r}]
from gitgate.errors import GateError
from gitgate.git import notes, refs
from gitgate.git.repository import Repository

repo = Repository.open()
assert repo.quarantine
for line in sys.stdin:
    old, new, name = line.split()
    print("saw", repo.blob_at(new, b"new"), len(repo.between(old, new)), repo.is_ancestor(old, new))
    print("git saw", repo.git("show", new + ":new").text)
    print("folders", len(repo.object_directories()))
    assert repo.resolve(new[:12]) == new
for attempt in (
    lambda: repo.write_blob(b"x"),
    lambda: repo.write_tree(dict()),
    lambda: refs.compare_and_swap(repo, "refs/aiwg/gates/g/s", new, None, "m"),
    lambda: refs.compare_and_swap(repo, name, new, old, "m"),
    lambda: notes.add(repo, new, b"record"),
):
    try:
        attempt()
        print("WRITTEN")
    except GateError as error:
        print("refused:", error.message)
sys.exit(1)
"""


@pytest.mark.parametrize("bare", [True, False])
def test_a_push_in_quarantine(tmp_path: Path, bare: bool) -> None:
    client = make(tmp_path / "client")
    place = tmp_path / 'a: "server"'  # git quotes such a path in GIT_ALTERNATE_OBJECT_DIRECTORIES
    git(tmp_path, "clone", "-q", *(["--bare"] if bare else []), "client", str(place))
    server = place if bare else place / ".git"
    git(server, "config", "receive.denyCurrentBranch", "ignore")
    hook = server / "hooks" / "pre-receive"
    hook.write_text(_HOOK.format(python=sys.executable, root=str(ROOT)))
    hook.chmod(0o755)
    commit(client, "new", new="new content\n")
    before = git(server, "for-each-ref")
    command = ["-C", str(client), "push", str(server), "main"]
    said = _stderr_of_failed_push(command)
    assert "saw b'new content\\n' 1 True" in said
    assert "git saw new content" in said
    assert "folders 2" in said
    assert said.count("refused:") == 5
    assert "while a push is being received" in said
    assert "WRITTEN" not in said
    assert git(server, "for-each-ref") == before
    git(server, "fsck", "--strict")


def _stderr_of_failed_push(command: list[str]) -> str:
    import subprocess

    done = subprocess.run(["git", *command], capture_output=True, check=False)
    assert done.returncode != 0
    return done.stderr.decode()


def test_quarantine_forbids_writes_wherever_they_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make(tmp_path / "a")
    head = git(root, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_QUARANTINE_PATH", str(tmp_path))
    repo = Repository.open(root)
    for attempt in (
        lambda: repo.write_blob(b"x"),
        lambda: refs.compare_and_swap(repo, "refs/heads/x", head, None, "m"),
        lambda: notes.add(repo, head, b"record"),
    ):
        with pytest.raises(GateError, match="while a push is being received") as caught:
            attempt()
        assert caught.value.kind is Exit.FATAL
