"""Records: what is signed comes back, git takes it, and no byte may change unseen."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitgate.core import ids
from gitgate.core.decision import (
    Action,
    Choice,
    Comment,
    Data,
    Decision,
    Defect,
    Reviewed,
    Via,
    assemble,
    normalise,
    parse,
    payload,
    split_note,
    title_of,
)
from gitgate.core.person import Person, Stamp
from gitgate.process import run

FORMATS = settings(max_examples=100, deadline=None, derandomize=True)

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
lines = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30).filter(
    lambda text: text == text.strip()
)
oids = st.integers(0, 16**40 - 1).map("{:040x}".format)
gates = st.sampled_from(["elaboration", "g", "0-"])
parts = st.sampled_from([b"a", b"b c", b"\xff", "ä".encode(), b'"\\\n', b".aiwg"])
paths = st.lists(parts, min_size=1, max_size=3).map(b"/".join)
names = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="<>"), min_size=1, max_size=20
).filter(lambda name: name[0] > " " and name[-1] > " ")
offsets = st.sampled_from(["+0000", "-0000", "+1400", "-0330", "+2359"])
stamps = st.builds(
    Stamp, st.builds(Person, names, names | st.just("")), st.integers(0, 253_402_300_799), offsets
)
counts = st.integers(0, 10**9 - 1)


@FORMATS
@given(st.text(st.sampled_from("a# \t\r\n\v\f\x85\u2028-BEGIN :")) | texts)
@example("-----BEGIN a\r\n\r\n\n \n-----END b")
def test_free_text_is_a_fixed_point_of_git_stripspace(text: str) -> None:
    plain = normalise(text)
    whole = plain.encode() + b"\n" * bool(plain)
    assert normalise(plain) == plain
    assert run(["git", "stripspace"], stdin=whole).stdout == whole
    assert not any(line.startswith("-----BEGIN ") for line in plain.split("\n"))


def _unique(strategy: st.SearchStrategy[Any], key: str) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=3, unique_by=lambda one: getattr(one, key)).map(tuple)


@st.composite
def decisions(draw: st.DrawFn) -> Decision:
    action = draw(st.sampled_from(Action))
    gate, subject = draw(gates), draw(lines)
    choices = _unique(st.builds(Choice, st.integers(1, 99), texts), "number")
    data = _unique(st.builds(Data, oids, paths), "path")
    return Decision(
        request=draw(oids),
        tag=ids.tag_name(gate, subject),
        tagger=draw(stamps),
        action=action,
        title=title_of(action, gate, subject),
        message=normalise(draw(texts)),
        via=draw(st.sampled_from(Via)),
        time_spent=draw(st.none() | counts),
        on_behalf_of=draw(st.none() | lines),
        reviewed=draw(_unique(st.builds(Reviewed, paths, st.booleans(), st.booleans()), "path")),
        comments=draw(st.lists(st.builds(Comment, paths, counts, texts), max_size=2).map(tuple)),
        choices=draw(choices.filter(bool)) if action is Action.CHOOSE else (),
        data=draw(data.filter(bool) if action is Action.DATA else data),
        previous=draw(st.lists(oids, max_size=2, unique=True).map(tuple)),
    )


def _armor(label: str, raw: bytes) -> bytes:
    text = base64.b64encode(raw).decode()
    columns = 70 if label == "SSH SIGNATURE" else 64
    cut = "".join(text[at : at + columns] + "\n" for at in range(0, len(text), columns))
    gap = "\n" if label == "PGP SIGNATURE" else ""
    return f"-----BEGIN {label}-----\n{gap}{cut}-----END {label}-----\n".encode()


LABELS = ["SSH SIGNATURE", "PGP SIGNATURE", "SIGNED MESSAGE"]
armors = st.builds(_armor, st.sampled_from(LABELS), st.binary(min_size=1, max_size=120))

REJECTION = Decision(
    request="a" * 40,
    tag=ids.tag_name("elaboration", "feature/login"),
    tagger=Stamp(Person("Ada Lovelace", "ada@example.com"), 1764565200, "+0000"),
    action=Action.REJECT,
    title=title_of(Action.REJECT, "elaboration", "feature/login"),
    message="The policy is missing.\n\nAnd the lockout.",
    via=Via.SESSION,
    time_spent=184,
    on_behalf_of="octocat",
    reviewed=(Reviewed(b"a.md", viewed=True, edited=True), Reviewed(b"\xff")),
    comments=(Comment(b"a.md", 3, "why?"),),
    data=(Data("d" * 40, b"x.csv"),),
    previous=("b" * 40,),
)


@FORMATS
@given(decisions(), armors)
def test_records_come_back(decision: Decision, armor: bytes) -> None:
    raw = assemble(payload(decision), armor)
    record = parse(raw, tag=decision.tag, request=decision.request)
    assert (record.raw, record.decision, record.armor) == (raw, decision, armor)
    assert payload(record.decision) + record.armor == raw


@settings(FORMATS, max_examples=60)
@given(decisions(), armors)
def test_a_record_is_a_fixed_point_of_git_stripspace(decision: Decision, armor: bytes) -> None:
    raw = assemble(payload(decision), armor)
    assert run(["git", "stripspace"], stdin=raw).stdout == raw


def _flip(raw: bytes, data: st.DataObject) -> bytes:
    at = data.draw(st.integers(0, len(raw) - 1))
    return raw[:at] + bytes([raw[at] ^ data.draw(st.integers(1, 255))]) + raw[at + 1 :]


def _signed(record: bytes) -> tuple[bytes, bytes] | None:
    """What is signed and the signature itself, decoded; None where it is no record."""
    try:
        parsed = parse(record)
    except Defect:
        return None
    body = b"".join(parsed.armor.split(b"\n")[1:-2])
    return parsed.payload, parsed.format.encode() + base64.b64decode(body)


@settings(FORMATS, max_examples=60)
@given(decisions(), armors, st.data())
def test_no_byte_of_a_record_changes_unseen(
    decision: Decision, armor: bytes, data: st.DataObject
) -> None:
    raw = payload(decision) + armor
    for _ in range(5):
        changed = _signed(_flip(raw, data))
        assert changed is None or changed != _signed(raw)


@pytest.mark.parametrize("label", LABELS)
def test_no_bit_of_a_record_changes_unseen(label: str) -> None:
    raw = payload(REJECTION) + _armor(label, bytes(range(100)))
    signed = _signed(raw)
    for at in range(len(raw)):
        for bit in range(8):
            changed = raw[:at] + bytes([raw[at] ^ 1 << bit]) + raw[at + 1 :]
            assert _signed(changed) != signed


@FORMATS
@given(decisions(), armors, st.data())
def test_nothing_may_be_added_or_taken_away(
    decision: Decision, armor: bytes, data: st.DataObject
) -> None:
    raw = payload(decision) + armor
    at = data.draw(st.integers(0, len(raw)))
    added = raw[:at] + data.draw(st.sampled_from([b"\n", b" ", b"\r", b"A", b"\0"])) + raw[at:]
    cut = raw[:at] + raw[at + 1 :]
    for other in (added, cut):
        assert other == raw or _signed(other) is None or _signed(other) != _signed(raw)


@FORMATS
@given(
    st.lists(st.tuples(decisions(), armors), max_size=4), st.sampled_from([b"", b"\n", b"\n\n\n"])
)
def test_a_note_is_split_into_its_records(some: list[tuple[Decision, bytes]], gap: bytes) -> None:
    raws = [payload(decision) + armor for decision, armor in some]
    assert split_note(gap.join(raws)) == raws
    assert split_note(b"lgtm\n\n" + gap.join(raws))[1:] == raws


@FORMATS
@given(st.binary(max_size=200) | st.text("objectBEGIN-\n ", max_size=200).map(str.encode))
def test_a_note_of_anything_loses_nothing(data: bytes) -> None:
    assert b"".join(split_note(data)).replace(b"\n", b"") == data.replace(b"\n", b"")
