"""Notes: whatever tree git makes is read, git reads what is written, and no record is lost."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest
from gitworld import STAMP, git, race
from ledgerworld import record, world

from gitgate.core import ids
from gitgate.core.decision import split_note
from gitgate.errors import Exit, GateError
from gitgate.git import notes, refs
from gitgate.git.repository import Repository
from gitgate.git.trees import DIRECTORY, REGULAR, SYMLINK

REF = f"--ref={ids.NOTES}"


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return world(tmp_path / "a")


def oid(number: int) -> str:
    """Some object id; a note can be on anything."""
    return hashlib.sha1(b"%d" % number).hexdigest()


def set_tree(repo: Repository, tree: str) -> None:
    commit = repo.write_commit(tree, (), STAMP, STAMP, "m\n")
    git(repo.git_dir, "update-ref", ids.NOTES, commit)


def shape(repo: Repository) -> list[str]:
    """The paths of the notes tree."""
    return git(repo.git_dir, "ls-tree", "-r", "--name-only", ids.NOTES).split()


def test_nothing_there(repo: Repository) -> None:
    assert notes.read(repo, repo.resolve("HEAD")) == b""
    assert list(notes.every(repo)) == []
    assert not notes.add_many(repo, {})
    assert refs.read(repo, ids.NOTES) is None


def test_records_and_stock_git(repo: Repository) -> None:
    head = repo.resolve("HEAD")
    first, second, third = (record(head, text) for text in ("first", "second", "third"))
    assert notes.add(repo, head, first, stamp=STAMP)
    assert git(repo.git_dir, "notes", REF, "show", head).encode() + b"\n" == first
    assert notes.add(repo, head, second)
    assert "Fine" not in git(repo.git_dir, "log", "-1", "--notes=aiwg/gates", head)
    shown = git(repo.git_dir, "log", "-1", "--notes=aiwg/gates", "--format=%N", head)
    assert (first + b"\n" + second).decode().strip() == shown.strip()
    (repo.git_dir / "third").write_bytes(third)
    git(repo.git_dir, "notes", REF, "append", "-F", str(repo.git_dir / "third"), head)
    assert split_note(notes.read(repo, head)) == [first, second, third]
    assert not notes.add_many(repo, {head: [third, first, second]})
    assert list(notes.every(repo)) == [(head, notes.read(repo, head))]
    tip = refs.read(repo, ids.NOTES)
    assert tip
    git(repo.git_dir, "fsck", "--strict")


def test_the_notes_commit(repo: Repository) -> None:
    git(repo.git_dir, "config", "commit.gpgSign", "true")
    head = repo.resolve("HEAD")
    notes.add(repo, head, record(head), stamp=STAMP)
    first = refs.read(repo, ids.NOTES)
    notes.add(repo, head, record(head, "again"))
    second = refs.read(repo, ids.NOTES)
    assert first and second
    assert repo.commit(first).author == repo.commit(first).committer == STAMP
    assert repo.commit(first).message == "Notes added by git-gate\n"
    assert (repo.commit(first).parents, repo.commit(second).parents) == ((), (first,))
    assert repo.commit(second).author.person.name == "git-gate"
    assert repo.commit(second).signature is None


def test_every_fan_out_is_read_and_kept(repo: Repository) -> None:
    """A note stands under its whole id, or under any number of folders of two digits."""
    blob = (REGULAR, repo.write_blob(b"old\n"))
    for depth in (0, 1, 2, 19):
        target = oid(depth).encode()
        name = target[2 * depth :]
        tree = repo.write_tree({name: blob})
        for level in reversed(range(depth)):
            tree = repo.write_tree({target[2 * level : 2 * level + 2]: (DIRECTORY, tree)})
        set_tree(repo, tree)
        assert notes.read(repo, oid(depth)) == b"old\n"
        assert dict(notes.every(repo)) == {oid(depth): b"old\n"}
        before = shape(repo)
        notes.add(repo, oid(depth), b"new\n")
        assert shape(repo) == before
        assert notes.read(repo, oid(depth)) == b"old\n\nnew\n"
        assert git(repo.git_dir, "notes", REF, "list").split()[1::2] == [oid(depth)]


def test_two_entries_for_one_object_are_united(repo: Repository) -> None:
    """Measured: stock git flattens a small tree, and a 2/38 entry is written beside it."""
    head = repo.resolve("HEAD").encode()
    one, two, both = (record(head.decode(), text) for text in ("one", "two", "both"))
    flat = (REGULAR, repo.write_blob(one + b"\n" + both))
    deep = (REGULAR, repo.write_blob(both + b"\n" + two))
    other = (REGULAR, repo.write_blob(b"another commit's\n"))
    inner = repo.write_tree({head[2:]: deep})
    set_tree(repo, repo.write_tree({head: flat, head[:2]: (DIRECTORY, inner), b"1" * 40: other}))
    united = [one, both, two]
    assert split_note(notes.read(repo, head.decode())) == united
    assert dict(notes.every(repo))[head.decode()] == notes.read(repo, head.decode())
    third = record(head.decode(), "third")
    notes.add(repo, head.decode(), third)
    assert sorted(shape(repo)) == sorted([head.decode(), "1" * 40])
    assert split_note(notes.read(repo, head.decode())) == [*united, third]
    assert notes.read(repo, "1" * 40) == b"another commit's\n"
    git(repo.git_dir, "fsck", "--strict")


def test_what_is_no_note_stays(repo: Repository) -> None:
    blob = (REGULAR, repo.write_blob(b"x\n"))
    odd = {
        b"README": blob,
        b"ab": blob,
        b"zz": (DIRECTORY, repo.write_tree({b"f": blob})),
        b"cd": (DIRECTORY, repo.write_tree({b"short": blob, b"ef": blob})),
        b"2" * 40: (SYMLINK, blob[1]),
        b"3" * 40: (DIRECTORY, repo.write_tree({b"f": blob})),
        b"4" * 38: blob,
        b"A" * 40: blob,
    }
    set_tree(repo, repo.write_tree(odd))
    assert list(notes.every(repo)) == []
    notes.add_many(repo, {"cd" + "1" * 38: [b"n\n"], "ab" + "1" * 38: [b"n\n"]})
    tip = refs.read(repo, ids.NOTES)
    assert tip
    after = repo.children(repo.commit(tip).tree)
    assert {name: after[name] for name in odd if name != b"cd"} == {
        name: entry for name, entry in odd.items() if name != b"cd"
    }
    assert repo.entry(repo.commit(tip).tree, b"cd/short") == blob
    assert {name for name, _ in notes.every(repo)} == {"cd" + "1" * 38, "ab" + "1" * 38}


def test_the_tree_grows_by_folders(repo: Repository) -> None:
    """Flat while it is small, then folders of two digits, which git lists like its own."""
    records = {oid(number): [b"note %d\n" % number] for number in range(notes.FULL)}
    notes.add_many(repo, records)
    assert not any("/" in path for path in shape(repo))
    more = {oid(number): [b"note %d\n" % number] for number in range(notes.FULL, 700)}
    notes.add_many(repo, more)
    assert sum("/" in path for path in shape(repo)) == 700 - notes.FULL
    notes.add(repo, oid(700), b"note 700\n")
    expected = {oid(number): b"note %d\n" % number for number in range(701)}
    assert dict(notes.every(repo)) == expected
    assert sorted(git(repo.git_dir, "notes", REF, "list").split()[1::2]) == sorted(expected)
    assert git(repo.git_dir, "notes", REF, "show", oid(699)) == "note 699"
    git(repo.git_dir, "notes", REF, "append", "-m", "by git", oid(5))
    assert notes.read(repo, oid(5)) == b"note 5\n\nby git\n"
    assert len(dict(notes.every(repo))) == 701
    notes.add(repo, oid(701), b"after git\n")
    assert git(repo.git_dir, "notes", REF, "show", oid(701)) == "after git"


def test_a_fan_out_of_git_is_followed(repo: Repository) -> None:
    """Git itself makes folders from some hundreds of notes on."""
    blob = (REGULAR, repo.write_blob(b"x\n"))
    set_tree(repo, repo.write_tree({oid(number).encode(): blob for number in range(600)}))
    git(repo.git_dir, "notes", REF, "add", "-m", "by git", "HEAD")
    assert all("/" in path for path in shape(repo))
    assert len(dict(notes.every(repo))) == 601
    notes.add_many(repo, {oid(number): [b"new\n"] for number in (1, 9001)})
    assert all("/" in path for path in shape(repo))
    assert notes.read(repo, oid(1)) == b"x\n\nnew\n"
    assert git(repo.git_dir, "notes", REF, "show", oid(9001)) == "new"


def test_notes_that_are_too_large(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: a note of many megabytes, ten thousand records on one commit."""
    head, other = repo.resolve("HEAD"), repo.resolve("HEAD~1")
    large = (REGULAR, repo.write_blob(b"x" * (notes.MAX_NOTE + 1)))
    good = (REGULAR, repo.write_blob(b"good\n"))
    set_tree(repo, repo.write_tree({head.encode(): large, other.encode(): good}))
    cut: list[str] = []
    assert notes.read(repo, head, cut) == b""
    assert cut == [f"a note on {head} was left out: it is larger than 4 MiB"]
    assert dict(notes.every(repo, cut)) == {head: b"", other: b"good\n"}
    assert len(cut) == 2
    with pytest.raises(GateError, match="larger than 4 MiB") as caught:
        notes.add(repo, head, record(head))
    assert caught.value.hint == f"git notes {REF} remove {head}"
    notes.add(repo, other, record(other))
    monkeypatch.setattr(notes, "MAX_NOTE", 1000)
    with pytest.raises(GateError, match="would be larger"):
        notes.add(repo, other, record(other, "x" * 1000))


def test_too_many_records_on_one_commit(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "MAX_RECORDS", 3)
    head = repo.resolve("HEAD")
    records = [record(head, f"text {number}") for number in range(5)]
    notes.add_many(repo, {head: records[:3]})
    cut: list[str] = []
    assert split_note(notes.read(repo, head, cut)) == records[:3]
    assert cut == []
    git(repo.git_dir, "notes", REF, "append", "-m", records[3].decode(), head)
    assert split_note(notes.read(repo, head, cut)) == records[:3]
    assert cut == [f"the note on {head} was cut after 3 records"]
    with pytest.raises(GateError):
        notes.add(repo, head, records[4])


def test_a_tree_that_holds_itself_often_ends(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: nineteen levels of 256 folders, in nineteen small objects."""
    monkeypatch.setattr(notes, "MAX_FOLDERS", 2000)
    tree = repo.write_tree({b"00": (REGULAR, repo.write_blob(b"x\n"))})
    for _ in range(19):
        tree = repo.write_tree({b"%02x" % n: (DIRECTORY, tree) for n in range(256)})
    set_tree(repo, tree)
    cut: list[str] = []
    assert len(list(notes.every(repo, cut))) < 2000
    assert cut
    assert "is too large" in cut[0]
    assert notes.read(repo, "0" * 40) == b"x\n"


def test_too_many_notes(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    notes.add_many(repo, {oid(number): [b"x\n"] for number in range(600)})
    monkeypatch.setattr(notes, "MAX_NOTES", 300)
    cut: list[str] = []
    assert 300 < len(list(notes.every(repo, cut))) < 600
    assert "is too large" in cut[0]


def test_notes_that_cannot_be_read(repo: Repository) -> None:
    """Missing is not empty: what should be there and is not makes the answer untrusted."""
    head = repo.resolve("HEAD")
    set_tree(repo, repo.write_tree({head.encode(): (REGULAR, "1" * 40)}))
    git(repo.git_dir, "update-ref", "refs/heads/keep", ids.NOTES)
    for target in (ids.NOTES, git(repo.git_dir, "rev-parse", "HEAD:f")):
        git(repo.git_dir, "update-ref", ids.NOTES, target)
        for question in (
            lambda: notes.read(repo, head),
            lambda: list(notes.every(repo)),
            lambda: notes.add(repo, head, record(head)),
        ):
            with pytest.raises(GateError) as caught:
                question()
            assert caught.value.kind is Exit.UNTRUSTED
    with pytest.raises(ValueError, match="no object id"):
        git(repo.git_dir, "update-ref", "-d", ids.NOTES)
        notes.add(repo, "HEAD", b"x\n")


_WRITER = """
from ledgerworld import record
from gitgate.git import notes
from gitgate.git.repository import Repository

def run(folder, number, wait):
    repo = Repository.open(folder)
    head = repo.resolve("HEAD")
    wait()
    for again in range(2):
        assert notes.add(repo, head, record(head, f"by {number}: {again}"))
"""


def test_of_twenty_racing_writers_all_records_survive(repo: Repository) -> None:
    """`git notes append` keeps two to four of twenty (measured), all with status 0."""
    race(_WRITER, repo.git_dir.parent, 20)
    head = repo.resolve("HEAD")
    expected = {record(head, f"by {n}: {again}") for n in range(20) for again in range(2)}
    kept = split_note(notes.read(repo, head))
    assert len(kept) == 40
    assert set(kept) == expected
    assert (
        set(split_note(git(repo.git_dir, "notes", REF, "show", head).encode() + b"\n")) == expected
    )


def test_a_writer_beside_stock_git(repo: Repository) -> None:
    """Git loses what it races with; what we add afterwards stands on whatever is there."""
    head = repo.resolve("HEAD")
    command = ["git", "-C", repo.git_dir, "notes", REF, "append", "-m", "by git", head]
    for number in range(5):
        with subprocess.Popen(command, stderr=subprocess.DEVNULL):
            notes.add(repo, head, b"record %d\n" % number)
        notes.add(repo, head, b"record %d\n" % number)
        assert b"record %d" % number in notes.read(repo, head)
    git(repo.git_dir, "fsck", "--strict")
