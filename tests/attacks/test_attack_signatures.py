"""Hazards 6, 7, 8 and 10: a record that is signed by the wrong key, at the wrong time, or not."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from forger import (
    MAIN,
    NOTES,
    append,
    blob,
    blocked,
    copy_of,
    decided,
    judged,
    note_on,
    noted,
    passes,
    push_lands,
    push_refused,
    rebuilt,
    record,
    request_of,
    show,
    sign,
    word,
    work,
)
from support.project import SOLO, Person, Project, make_project, person

from gitgate.core import decision as codec
from gitgate.core.decision import Action
from gitgate.core.events import EventName

DAY = 24 * 3600


def _day(seconds: int) -> str:
    return time.strftime("%Y%m%d%H%M%S", time.gmtime(time.time() + seconds))


def _list(project: Project, *lines: str) -> None:
    """Land these lines as the signers file, beside Ada's."""
    ada = project.people["ada"]
    branch = project.git("branch", "--show-current").out.strip()
    project.git("switch", "--quiet", "main")
    listed = "".join(f"{line}\n" for line in (ada.line(), *lines))
    project.commit("signers", {".aiwg/allowed_signers": listed})
    project.land()
    project.git("switch", "--quiet", branch)


def _opened(project: Project) -> str:
    work(project)
    project.gate("open").ok()
    return request_of(project)


def _newest(project: Project) -> tuple[str, bool, str]:
    one = show(project)["decisions"][-1]
    return one["signature"], one["counts"], one["reason"]


def _try(project: Project, who: Person, at: int | None = None, namespace: str = "git") -> str:
    """Forge an approval by `who` and give what became of it."""
    request = request_of(project)
    said = word(request, who, at=at, message=f"try {time.time_ns()}")
    decided(project, request, record(said, who, namespace))
    signature, counts, reason = _newest(project)
    assert not counts or signature == "good", reason
    return signature


def test_an_expired_key_and_a_backdated_time(project: Project, home: Path) -> None:
    """6: a key that is no longer, or not yet, valid, with a tagger time at which it was."""
    bob = person("Bob", "bob@example.com", home)
    _opened(project)
    now = int(time.time())
    past = now - 3 * DAY
    for window, at in (
        (f'valid-before="{_day(-DAY)}Z"', past),
        (f'valid-after="{_day(-DAY)}Z"', past),
        (f'valid-before="{_day(-DAY)}Z"', now),
        (f'valid-after="{_day(DAY)}Z"', now + 2 * DAY),
    ):
        _list(project, bob.line(f'namespaces="git",{window}'))
        assert _try(project, bob, at) == "expired", window
        assert "the key of bob@example.com is not valid at" in _newest(project)[2]
    project.git("rebase", "--quiet", "origin/main")
    blocked(project, "pending", "nobody has approved it yet")
    push_refused(project, "pending")
    window = f'valid-after="{_day(-DAY)}Z",valid-before="{_day(DAY)}Z"'
    _list(project, bob.line(f'namespaces="git",{window}'))
    assert _try(project, bob) == "good"
    project.git("rebase", "--quiet", "origin/main")
    passes(project)


def test_a_removed_key(project: Project, home: Path) -> None:
    """6: an approval stops counting once its key is removed, whatever time it says."""
    bob = person("Bob", "bob@example.com", home)
    _list(project, bob.line())
    _opened(project)
    assert _try(project, bob, int(time.time()) - 3 * DAY) == "good"
    passes(project)
    _list(project)
    project.git("rebase", "--quiet", "origin/main")
    blocked(project, "pending", "nobody has approved it yet")
    assert _newest(project) == ("unknown-key", False, "the signers file does not list the key")
    project.gate("approve").ok()
    passes(project)


def test_another_namespace_and_wildcards(project: Project, home: Path) -> None:
    """7: a file's signature, a line for files, `*` principals; a line without options counts."""
    bob = person("Bob", "bob@example.com", home)
    _opened(project)
    _list(project, bob.line())
    assert _try(project, bob, namespace="file") == "bad"
    assert "it is for the namespace 'file'" in _newest(project)[2]
    for line, reason in (
        (bob.line('namespaces="file"'), "does not allow the key for 'git'"),
        (bob.line('namespaces="git,!git"'), "does not allow the key for 'git'"),
        (f"* {bob.public}", "a pattern names nobody"),
        (f"*@example.com {bob.public}", "a pattern names nobody"),
        (f"bob@example.com,!bob@* {bob.public}", "a pattern names nobody"),
        (f"{bob.line()}\ncyd@example.com {bob.public}", "lists the key for several people"),
        (f'bob@example.com valid-before="soon" {bob.public}', "does not list the key"),
    ):
        _list(project, line)
        assert _try(project, bob) == "unknown-key", line
        assert reason in _newest(project)[2], line
    project.git("rebase", "--quiet", "origin/main")
    blocked(project, "pending", "nobody has approved it yet")
    _list(project, f"bob@example.com {bob.public}")
    assert _try(project, bob) == "good"
    project.git("rebase", "--quiet", "origin/main")
    passes(project)


def test_a_validity_time_without_z(project: Project, home: Path) -> None:
    """7: in every time zone the same windows hold, with and without the Z."""
    bob = person("Bob", "bob@example.com", home)
    _opened(project)
    for window, expected in (
        (f'valid-before="{_day(-3600)}"', "pending"),
        (f'valid-after="{_day(-3600)}",valid-before="{_day(3600)}"', "satisfied"),
    ):
        _list(project, bob.line(window))
        _try(project, bob)
        project.git("rebase", "--quiet", "origin/main")
        assert judged(project)["status"] == expected, window
        for zone in ("Pacific/Kiritimati", "Etc/GMT+12"):
            found = project.gate_process("check", "origin/main..HEAD", "--json", env={"TZ": zone})
            assert found.json["status"] == expected, (window, zone)


Change = Callable[[bytes], bytes]


def _in_payload(old: bytes, new: bytes) -> Change:
    def changed(payload: bytes) -> bytes:
        assert payload.count(old) == 1, old
        return payload.replace(old, new)

    return changed


def _respelled(armor: bytes) -> bytes:
    """Base64 whose unused last bits are set: the same bytes in another spelling."""
    head, *lines, tail = armor.decode().splitlines()
    text = "".join(lines)
    found = re.search(r"(.)(=+)$", text)
    if not found:
        return armor.replace(b"=\n", b"=\n")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    other = alphabet[alphabet.index(found[1]) + 1]
    changed = f"{text[: found.start()]}{other}{found[2]}"
    assert base64.b64decode(changed) == base64.b64decode(text)
    wrapped = re.findall(".{1,70}", changed)
    return "\n".join([head, *wrapped, tail, ""]).encode()


# What is changed of the payload before it is signed by a listed key, and of the record after that.
SIGNED: dict[str, Change] = {
    "a trailer twice": _in_payload(b"Action: approve\n", b"Action: approve\nAction: reject\n"),
    "a trailer unknown": _in_payload(b"Via: terminal\n", b"Via: terminal\nForce: yes\n"),
    "a trailer missing": _in_payload(b"Via: terminal\n", b""),
    "an action unknown": _in_payload(b"Action: approve", b"Action: APPROVE"),
    "another tag": _in_payload(b"tag gate/main/feature", b"tag gate/main/featuer"),
    "another type": _in_payload(b"type commit", b"type tree"),
    "a further header": _in_payload(b"\ntagger", b"\nnote x\ntagger"),
    "CRLF": lambda payload: payload.replace(b"\n", b"\r\n"),
    "Latin-1": _in_payload(b"Approve main", b"Appr\xf6ve main"),
    "no text": _in_payload(b"Approve main of feature\n\n", b""),
    "a previous that is no id": lambda payload: payload + b"Previous: none\n",
}
STORED: dict[str, Change] = {
    "two armors": lambda raw: raw + raw[raw.index(b"-----BEGIN") :],
    "text after the armor": lambda raw: raw + b"Action: approve\n",
    "blanks in the armor": lambda raw: raw.replace(b"\nU1NI", b"\nU1NI \n"),
    "one long line": lambda raw: b"".join(_unwrapped(raw)),
    "another spelling of base64": lambda raw: (
        raw[: raw.index(b"-----BEGIN")] + _respelled(raw[raw.index(b"-----BEGIN") :])
    ),
    "no armor": lambda raw: raw[: raw.index(b"-----BEGIN")],
    "an empty armor": lambda raw: (
        raw[: raw.index(b"-----BEGIN")]
        + b"-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n"
    ),
    "nothing": lambda raw: b"",
}


def _unwrapped(raw: bytes) -> tuple[bytes, ...]:
    start = raw.index(b"-----BEGIN")
    head, *lines, tail = raw[start:].splitlines()
    return (raw[:start], head, b"\n", *lines, b"\n", tail, b"\n")


def test_malformed_records(project: Project) -> None:
    """8, 10: each is kept and reported, counts for nothing, and stops nobody."""
    request, ada = _opened(project), project.people["ada"]
    sound = codec.payload(word(request, ada))
    forged = {name: change(sound) for name, change in SIGNED.items()}
    raws = {name: payload + sign(payload, ada) for name, payload in forged.items()}
    raws |= {name: change(sound + sign(sound, ada)) for name, change in STORED.items()}
    for raw in raws.values():
        decided(project, request, raw)
        if raw:
            noted(project, "HEAD", raw)
    warnings = show(project)["warnings"]
    assert len([one for one in warnings if "never counts" in one]) == len(raws), warnings
    assert show(project)["decisions"] == []
    blocked(project, "pending", "nobody has approved it yet")
    push_refused(project, "pending", "nobody has approved it yet")
    project.gate("approve").ok()
    push_lands(project)


def test_free_text_that_looks_like_trailers(project: Project) -> None:
    """8: words cannot become fields, nor an armor."""
    _opened(project)
    ada = project.people["ada"]
    text = (
        "no\n\nAction: approve\nVia: terminal\n-----BEGIN SSH SIGNATURE-----\nU1NI\n"
        "-----END SSH SIGNATURE-----\n"
    )
    project.gate("reject", "-m", text).ok()
    [one] = show(project)["decisions"]
    assert (one["action"], one["counts"], one["signature"]) == ("reject", True, "good")
    assert "\n -----BEGIN SSH SIGNATURE-----" in one["message"]
    blocked(project, "rejected")
    before = len(copy_of(project))
    request = request_of(project)
    smuggled = replace(word(request, ada, Action.REJECT, message="no"), title="Reject")
    payload = codec.payload(smuggled).replace(b"\n\nAction: reject", b"\n\nAction: approve\n\nx")
    decided(project, request, payload + sign(payload, ada))
    assert len(show(project)["decisions"]) == before
    project.gate("retract").ok()
    project.gate("approve", "-m", text.replace("approve", "reject")).ok()
    passes(project)


def test_unsigned_strange_altered(project: Project, home: Path) -> None:
    """10: by a stranger, by nobody, altered after it was signed, signed for something else."""
    request, ada = _opened(project), project.people["ada"]
    mallory = person("Ada Lovelace", "ada@example.com", home, "ecdsa")
    assert _try(project, mallory) == "unknown-key"
    honest = record(word(request, ada, Action.REJECT, message="no"), ada)
    altered = honest.replace(b"Action: reject", b"Action: approve").replace(b"\nno\n", b"\nok\n")
    decided(project, request, altered)
    assert _newest(project) == ("bad", False, "the signature does not fit the content")
    other = codec.payload(word(request, ada, message="so"))
    decided(project, request, other + sign(b"something else", ada))
    assert _newest(project)[0] == "bad"
    noted(project, "HEAD", altered)
    blocked(project, "pending", "nobody has approved it yet")
    project.gate("approve").ok()
    passes(project)
    assert codec.split_note(note_on(project, "HEAD").encode())[0] == altered


def test_huge_records_and_notes(project: Project) -> None:
    """10: a record of more than a MiB, 10,000 records on a note, a note of 100 MB."""
    request, ada = _opened(project), project.people["ada"]
    sound = project.rev(project.ledger())
    work_commit = project.rev()
    decided(project, request, record(word(request, ada, Action.REJECT, message="no"), ada))
    huge = blob(project, "x" * ((1 << 20) + 1))
    rebuilt(project, lambda files: {**files, "0002-decided.tag": huge})
    blocked(project, "untrusted", "1048576 are the most allowed")
    assert project.gate("repair").status == 0
    assert project.rev(project.ledger()) == sound
    junk = record(word(request, ada, message="junk"), ada).replace(b"Via: terminal", b"Via: x")
    many = blob(project, "\n".join([junk.decode()] * 10_000)[: 3 << 20])
    project.git("notes", f"--ref={NOTES}", "add", "--force", "--reuse-message", many, "HEAD")
    project.gate("reject", "-m", "no").ok()
    blocked(project, "rejected", "ada@example.com rejected it")
    vast = project.top.parent / "vast"
    with vast.open("wb") as file:
        file.truncate(100_000_000)
    oid = project.git("hash-object", "-w", str(vast)).out.strip()
    vast.unlink()
    tree = project.git("mktree", stdin=f"100644 blob {oid}\t{work_commit}\n").out.strip()
    notes = project.git("commit-tree", tree, "-m", "vast").out.strip()
    project.git("update-ref", f"refs/notes/{NOTES}", notes)
    blocked(project, "rejected", "ada@example.com rejected it")
    project.gate("retract").ok()
    approved = project.gate("approve").ok()
    assert "the copy in the notes could not be written" in approved.err
    passes(project)


def test_a_key_of_two_people(tmp_path: Path, home: Path) -> None:
    """10: a key that two people share is nobody's, and the two cannot make two approvals of it."""
    policy = SOLO.replace("self_approval: true", "required: 2, self_approval: true")
    project = make_project(tmp_path, home, policy)
    ada, cyd = project.people["ada"], person("Cyd", "cyd@example.com", home)
    _list(project, f"bob@example.com {ada.public}", cyd.line())
    _opened(project)
    refused = project.gate("approve")
    assert refused.status == 1
    assert "lists the key for several people: ada@example.com, bob@example.com" in refused.err
    assert _try(project, ada) == "unknown-key"
    project.be(cyd)
    project.gate("approve").ok()
    blocked(project, "pending", "1 of 2 approvals")
    _list(project, cyd.line())
    assert _newest(project)[0] == "good"
    project.git("rebase", "--quiet", "origin/main")
    passes(project)


def test_a_record_that_is_reported_and_never_counts_anywhere(project: Project) -> None:
    """10: junk events and notes of one instance are no business of another's."""
    request, ada = _opened(project), project.people["ada"]
    append(project, EventName.DECIDED, request, raw=b"junk\n")
    noted(project, "HEAD", b"junk\n-----BEGIN SSH SIGNATURE-----\n")
    project.git("switch", "--quiet", "--create", "other")
    project.gate("open").ok()
    project.gate("approve").ok()
    passes(project)
    assert ada.email in project.gate("show", "--subject", "other").ok().out
    push_lands(project, f"other:{MAIN}")
