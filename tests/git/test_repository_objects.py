"""Objects: what is read is checked, what is written is what git would have written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from gitworld import STAMP, WHEN, commit, git, make

from gitgate.core.person import Person, Stamp
from gitgate.errors import Exit, GateError
from gitgate.git.objects import parse_commit
from gitgate.git.repository import Repository
from gitgate.git.trees import DIRECTORY, EMPTY_TREE, EXECUTABLE, REGULAR, SUBMODULE, SYMLINK


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "a")


def raw(root: Path, kind: str, data: bytes) -> str:
    return git(root, "hash-object", "-t", kind, "-w", "--stdin", "--literally", stdin=data)


def untrusted(question: object, *args: object) -> GateError:
    with pytest.raises(GateError) as caught:
        question(*args)  # type: ignore[operator]
    assert caught.value.kind is Exit.UNTRUSTED
    return caught.value


def test_a_commit_in_every_part(root: Path) -> None:
    first = git(root, "rev-parse", "HEAD")
    env = {
        "GIT_AUTHOR_NAME": "Zoë",
        "GIT_AUTHOR_EMAIL": "zoe@example.com",
        "GIT_AUTHOR_DATE": f"@{WHEN} -0730",
        "GIT_COMMITTER_DATE": f"@{WHEN + 5} +0000",
    }
    git(root, "commit", "-q", "--allow-empty", "-m", "größer\n\nbody", env=env)
    repo = Repository.open(root)
    found = repo.commit(repo.resolve("HEAD"))
    assert found.author == Stamp(Person("Zoë", "zoe@example.com"), WHEN, "-0730")
    assert found.committer == Stamp(STAMP.person, WHEN + 5)
    assert (found.parents, found.message) == ((first,), "größer\n\nbody\n")
    assert found.tree == git(root, "rev-parse", "HEAD^{tree}")
    assert (found.signature, found.signed_payload) == (None, None)
    assert repo.commit(found.id) is found


def test_commits_of_other_tools(root: Path) -> None:
    repo = Repository.open(root)
    head = f"tree {EMPTY_TREE}\n".encode()
    people = b"author Nobody 12 +0000\ncommitter J\xe9r\xf4me <j@x> 12 +0099\n"
    found = repo.commit(raw(root, "commit", head + people + b"encoding ISO-8859-1\n\ncaf\xe9"))
    assert found.author == Stamp(Person("Nobody 12 +0000", ""), 0)
    assert found.committer.person == Person("J\udce9r\udcf4me", "j@x")
    assert found.message == "caf\udce9"
    assert parse_commit("0" * 40, head + people).message == ""


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"tree 12\nauthor a <b> 1 +0000\ncommitter a <b> 1 +0000\n\n",
        f"tree {EMPTY_TREE.upper()}\nauthor a <b> 1 +0000\ncommitter a <b> 1 +0000\n\n".encode(),
        f"tree {EMPTY_TREE}\nparent 12\nauthor a <b> 1 +0000\ncommitter a <b> 1 +0000\n\n".encode(),
        f"tree {EMPTY_TREE}\ncommitter a <b> 1 +0000\nauthor a <b> 1 +0000\n\n".encode(),
        f"tree {EMPTY_TREE}\nauthor a <b> 1 +0000\n\ncommitter a <b> 1 +0000\n".encode(),
    ],
)
def test_malformed_commits(root: Path, data: bytes) -> None:
    repo = Repository.open(root)
    assert "malformed" in untrusted(repo.commit, raw(root, "commit", data)).message


def test_what_a_commit_signature_covers(root: Path) -> None:
    head = f"tree {EMPTY_TREE}\nauthor a <b> 1 +0000\ncommitter a <b> 1 +0000\n".encode()
    other = b"gpgsig-sha256 other\n its second line\n"
    own = b"gpgsig -----BEGIN X-----\n \n abc\n -----END X-----\n"
    extra = b"mergetag object\n gpgsig inside a mergetag\nx y\n"
    found = parse_commit("0" * 40, head + other + own + extra + b"\ngpgsig no header\n")
    assert found.signature == b"-----BEGIN X-----\n\nabc\n-----END X-----\n"
    assert found.signed_payload == head + extra + b"\ngpgsig no header\n"
    only_other = parse_commit("0" * 40, head + other + b"\nm")
    assert (only_other.signature, only_other.signed_payload) == (None, head + b"\nm")
    git(root, "cat-file", "-e", raw(root, "commit", head + own + b"\nm"))


def test_a_signed_commit_verifies_over_the_payload(root: Path, tmp_path: Path) -> None:
    import subprocess

    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    sign = ["-c", "gpg.format=ssh", "-c", f"user.signingKey={key}"]
    git(root, *sign, "commit", "-q", "--allow-empty", "-S", "-m", "signed")
    repo = Repository.open(root)
    found = repo.commit(repo.resolve("HEAD"))
    assert found.signature and found.signed_payload
    (tmp_path / "sig").write_bytes(found.signature)
    check = ["ssh-keygen", "-Y", "check-novalidate", "-n", "git", "-s", tmp_path / "sig"]
    subprocess.run(check, input=found.signed_payload, check=True, capture_output=True)


def test_reading_checks_kind_size_and_presence(root: Path) -> None:
    repo = Repository.open(root)
    blob = repo.write_blob(b"twelve bytes")
    assert repo.kind(blob) == "blob"
    assert repo.header(blob) == ("blob", 12)
    assert repo.read(blob, "blob", 12) == b"twelve bytes"
    assert "12 bytes" in untrusted(repo.read, blob, "blob", 11).message
    assert "is a blob, not a tree" in untrusted(repo.read, blob, "tree").message
    missing = untrusted(repo.read, "1" * 40, "blob")
    assert missing.message == f"object {'1' * 40} is missing"
    assert "git fsck" in missing.hint
    assert repo.kind("1" * 40) is None
    for no_id in ("", "HEAD", blob[:10], blob.upper(), "1" * 64):
        assert repo.kind(no_id) is None
        untrusted(repo.read, no_id, "blob")


def test_corrupt_objects_are_no_content(root: Path) -> None:
    repo = Repository.open(root)
    one, other = repo.write_blob(b"one"), repo.write_blob(b"other")
    objects = root / ".git" / "objects"
    paths = [objects / oid[:2] / oid[2:] for oid in (one, other)]
    paths[0].chmod(0o600)
    shutil.copy(paths[1], paths[0])
    fresh = Repository.open(root)
    assert one in untrusted(fresh.read, one, "blob").message
    paths[0].write_bytes(b"not zlib")
    assert one in untrusted(Repository.open(root).read, one, "blob").message


def test_objects_that_another_process_packs(root: Path) -> None:
    repo = Repository.open(root)
    head = repo.resolve("HEAD")
    git(root, "gc", "-q", "--prune=now")
    assert repo.commit(head).id == head
    later = commit(root, "later", f="later\n")
    git(root, "gc", "-q", "--prune=now")
    assert repo.commit(later).parents == (head,)


def test_entries_and_blobs(root: Path) -> None:
    (root / "dir" / "deep").mkdir(parents=True)
    (root / "dir" / "deep" / "run").write_text("x")
    (root / "dir" / "deep" / "run").chmod(0o755)
    (root / "link").symlink_to("f")
    git(root, "add", ".")
    head = git(root, "rev-parse", "HEAD")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    git(root, "commit", "-q", "-m", "kinds")
    repo = Repository.open(root)
    tip = repo.commit(repo.resolve("HEAD"))
    assert set(repo.children(tip.tree)) == {b"dir", b"f", b"link", b"sub"}
    kinds = {b"dir": DIRECTORY, b"dir/deep": DIRECTORY, b"dir/deep/run": EXECUTABLE}
    for path, mode in {**kinds, b"link": SYMLINK, b"sub": SUBMODULE, b"f": REGULAR}.items():
        entry = repo.entry(tip.tree, path)
        assert entry == (mode, git(root, "rev-parse", "HEAD:" + path.decode())), path
    for path in (b"none", b"f/x", b"link/x", b"sub/x", b"dir/", b"", b"dir//deep", b"dir/deep/no"):
        assert repo.entry(tip.tree, path) is None, path
    assert repo.blob_at(tip.id, b"dir/deep/run") == b"x"
    assert repo.blob_at(tip.id, b"f") == b"1\n"
    for path in (b"link", b"sub", b"dir", b"none"):
        assert repo.blob_at(tip.id, path) is None, path
    untrusted(repo.blob_at, tip.id, b"f", 1)


def test_malformed_trees(root: Path) -> None:
    repo = Repository.open(root)
    oid = bytes.fromhex(repo.write_blob(b"x"))
    twice = raw(root, "tree", b"100644 a\0" + oid + b"100755 a\0" + oid)
    assert "malformed" in untrusted(repo.children, twice).message
    with pytest.raises(ValueError, match="forbidden"):
        repo.write_tree({b".git": (REGULAR, oid.hex())})


def test_written_objects_are_those_of_git(root: Path) -> None:
    repo = Repository.open(root)
    blob = repo.write_blob(b"content\0\xff")
    assert blob == git(root, "hash-object", "--stdin", stdin=b"content\0\xff")
    inner = repo.write_tree({b"b": (REGULAR, blob)})
    tree = repo.write_tree(
        {b"a.b": (REGULAR, blob), b"a": (DIRECTORY, inner), b"a0": (SYMLINK, blob)}
    )
    listed = f"040000 tree {inner}\ta\n120000 blob {blob}\ta0\n100644 blob {blob}\ta.b\n"
    assert tree == git(root, "mktree", stdin=listed.encode())
    assert repo.write_tree({}) == EMPTY_TREE
    head = repo.resolve("HEAD")
    written = repo.write_commit(tree, (head,), STAMP, STAMP, "subject\n\nbody\n")
    env = {
        "GIT_AUTHOR_DATE": f"@{WHEN} +0000",
        "GIT_COMMITTER_DATE": f"@{WHEN} +0000",
    }
    message = b"subject\n\nbody\n"
    assert written == git(root, "commit-tree", tree, "-p", head, stdin=message, env=env)
    assert repo.commit(written).message == "subject\n\nbody\n"
    with pytest.raises(ValueError, match="NUL"):
        repo.write_commit(tree, (), STAMP, STAMP, "a\0b")
    git(root, "fsck", "--strict")


def test_resolve(root: Path) -> None:
    head = git(root, "rev-parse", "HEAD")
    git(root, "tag", "-a", "-m", "t", "v1")
    repo = Repository.open(root)
    for word in ("HEAD", "main", "refs/heads/main", "v1", head, head[:8], "HEAD^0", "@"):
        assert repo.resolve(word) == head, word
    for word in (
        "none",
        "",
        "HEAD~5",
        "v1^{tree}",
        "1" * 40,
        "--all",
        "-h",
        "a\0b",
        "HEAD:f",
        "a\nb",
    ):
        with pytest.raises(GateError) as caught:
            repo.resolve(word)
        assert caught.value.kind is Exit.USAGE, word
