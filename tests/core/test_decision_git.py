"""Records in the hands of stock git, ssh-keygen and gpg: made, checked, kept in notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gitgate.core.decision import (
    Action,
    Choice,
    Comment,
    Data,
    Decision,
    Format,
    Reviewed,
    Via,
    assemble,
    normalise,
    parse,
    payload,
    split_note,
    title_of,
)
from gitgate.core.ids import tag_name
from gitgate.core.person import Person, Stamp
from gitgate.process import Completed, run

HOSTILE = (
    "\r\n# a heading\n\n\n  kept \t\n\v\f\x85\u2028x\n-----BEGIN PGP SIGNATURE-----\nAction: skip"
)

Git = Callable[..., Completed]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("records")


@pytest.fixture
def git(place: Path) -> Git:
    def call(*argv: str, stdin: bytes = b"", status: int = 0) -> Completed:
        done = run(["git", *argv], cwd=place, stdin=stdin)
        assert done.status == status, done.stderr
        return done

    if not (place / ".git").exists():
        call("init", "-q")
        call("commit", "-q", "--allow-empty", "-m", "R")
    return call


@pytest.fixture
def decisions(git: Git) -> list[Decision]:
    """Each with all that a decision can say, for subjects of every kind."""
    request = git("rev-parse", "HEAD").text
    blob = git("hash-object", "-w", "--stdin").text
    stamp = Stamp(Person("É. Lovelace", "ada@example.com"), 1764565200, "-0330")
    subjects = ["main", "feature/login", "con.", "-x..lock", "ä" * 200, "a b\u2003c"]
    return [
        Decision(
            request=request,
            tag=tag_name("g", subject),
            tagger=stamp,
            action=Action.CHOOSE,
            title=title_of(Action.CHOOSE, "g", subject),
            message=normalise(HOSTILE),
            via=Via.TERMINAL,
            time_spent=1,
            on_behalf_of="octo\tcat",
            reviewed=(Reviewed(b"a\xff b", viewed=True),),
            comments=(Comment(b"a", 1, "x \n\n\n y "),),
            choices=(Choice(1, " "),),
            data=(Data(blob, b"d"),),
            previous=(request,),
        )
        for subject in subjects
    ]


@pytest.fixture
def ssh_key(place: Path) -> Path:
    key = place / "ssh_key"
    if not key.exists():
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)])
        public = key.with_suffix(".pub").read_text()
        (place / "signers").write_text(f'ada@example.com namespaces="git" {public}')
    return key


def ssh_sign(key: Path, data: bytes) -> bytes:
    signed = run(["ssh-keygen", "-Y", "sign", "-n", "git", "-f", str(key)], stdin=data)
    assert signed.status == 0, signed.stderr
    return signed.stdout


def test_git_mktag_takes_every_payload(git: Git, decisions: list[Decision]) -> None:
    for decision in decisions:
        data = payload(decision)
        made = git("mktag", stdin=data).text
        assert git("cat-file", "tag", made).stdout == data
        assert git("hash-object", "-t", "tag", "--stdin", stdin=data).text == made


def test_git_stripspace_changes_nothing(git: Git, decisions: list[Decision], ssh_key: Path) -> None:
    for decision in decisions:
        data = payload(decision)
        assert git("stripspace", stdin=data).stdout == data
        raw = assemble(data, ssh_sign(ssh_key, data))
        assert git("stripspace", stdin=raw).stdout == raw


def test_git_verify_tag_takes_a_record(
    git: Git, decisions: list[Decision], ssh_key: Path, place: Path
) -> None:
    config = ["-c", f"gpg.ssh.allowedSignersFile={place / 'signers'}"]
    for decision in decisions[:2]:
        data = payload(decision)
        record = parse(assemble(data, ssh_sign(ssh_key, data)))
        assert record.format is Format.SSH
        stored = git("hash-object", "-t", "tag", "-w", "--stdin", stdin=record.raw).text
        assert stored == record.id
        verified = git(*config, "verify-tag", stored)
        assert b'Good "git" signature for ada@example.com' in verified.stderr
        forged = record.raw.replace(b"Time-Spent: 1\n", b"Time-Spent: 2\n")
        stored = git("hash-object", "-t", "tag", "-w", "--stdin", stdin=forged).text
        git(*config, "verify-tag", stored, status=1)


def test_git_verify_tag_takes_an_openpgp_record(
    git: Git, decisions: list[Decision], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path("/tmp") / f"gg-{tmp_path.name[-20:]}-{id(tmp_path):x}"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("GNUPGHOME", str(home))
    try:
        person = "Ada <ada@example.com>"
        batch = ["gpg", "-q", "--batch", "--passphrase", ""]
        made = run([*batch, "--quick-generate-key", person, "ed25519", "sign", "never"])
        assert made.status == 0, made.stderr
        data = payload(decisions[0])
        armor = run(["gpg", "-q", "-b", "-a", "-u", "ada@example.com"], stdin=data).stdout
        record = parse(assemble(data, armor))
        assert record.format is Format.OPENPGP
        stored = git("hash-object", "-t", "tag", "-w", "--stdin", stdin=record.raw).text
        assert stored == record.id
        assert b"Good signature" in git("verify-tag", stored).stderr
        assert git("stripspace", stdin=record.raw).stdout == record.raw
    finally:
        run(["gpgconf", "--kill", "all"])
        run(["rm", "-rf", str(home)])


def test_records_survive_git_notes(
    git: Git, decisions: list[Decision], ssh_key: Path, place: Path
) -> None:
    raws = []
    for spent, decision in enumerate(decisions):
        data = payload(replace(decision, time_spent=spent))
        raws.append(assemble(data, ssh_sign(ssh_key, data)))
    for number, raw in enumerate(raws):
        (place / "record").write_bytes(raw)
        verb = "append" if number else "add"
        git("notes", "--ref=aiwg/gates", verb, "-F", "record", "HEAD")
    listed = git("notes", "--ref=aiwg/gates", "list", "HEAD").text
    note = git("cat-file", "blob", listed).stdout
    assert note == b"\n".join(raws)
    assert split_note(note) == raws
    for raw in split_note(note):
        assert parse(raw).raw == raw
