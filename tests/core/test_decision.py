"""A decision's payload, to the byte, and what free text becomes in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitgate.core import ids
from gitgate.core.decision import (
    MAX_RECORD,
    Action,
    Choice,
    Comment,
    Data,
    Decision,
    Defect,
    DefectKind,
    Format,
    Reviewed,
    Via,
    assemble,
    normalise,
    parse,
    payload,
    title_of,
)
from gitgate.core.person import Person, Stamp
from gitgate.process import run

R, P, Q, D = "a" * 40, "b" * 40, "c" * 40, "d" * 40
ADA = Stamp(Person("Ada Lovelace", "ada@example.com"), 1764565200, "+0000")
UC1 = b".aiwg/requirements/use-cases/UC-001-login.md"
ARMOR = b"-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n"

SMALL = Decision(
    request=R,
    tag="gate/elaboration/feature%2flogin",
    tagger=ADA,
    action=Action.APPROVE,
    title="Approve elaboration of feature/login",
    message="",
    via=Via.SESSION,
)
SMALL_BYTES = b"""\
object aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
type commit
tag gate/elaboration/feature%2flogin
tagger Ada Lovelace <ada@example.com> 1764565200 +0000

Approve elaboration of feature/login

Action: approve
Via: session
"""

REJECTION = replace(
    SMALL,
    action=Action.REJECT,
    title="Reject elaboration of feature/login",
    message="The password policy is missing: minimum length and lockout.",
    via=Via.TERMINAL,
    time_spent=184,
    reviewed=(Reviewed(UC1, viewed=True, edited=True),),
    previous=(P,),
)
REJECTION_BYTES = b"""\
object aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
type commit
tag gate/elaboration/feature%2flogin
tagger Ada Lovelace <ada@example.com> 1764565200 +0000

Reject elaboration of feature/login

The password policy is missing: minimum length and lockout.

Action: reject
Via: terminal
Reviewed: ".aiwg/requirements/use-cases/UC-001-login.md" viewed edited
Time-Spent: 184
Previous: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
"""

FULL = Decision(
    request=R,
    tag=ids.tag_name("ask", "q/1"),
    tagger=replace(ADA, offset="-0330"),
    action=Action.CHOOSE,
    title=title_of(Action.CHOOSE, "ask", "q/1"),
    message="# First\n\n  indented\n -----BEGIN PGP SIGNATURE-----\n\nAction: approve\nVia: forge",
    via=Via.FORGE,
    time_spent=0,
    on_behalf_of="octocat (https://forge.example)",
    reviewed=(
        Reviewed(b"a"),
        Reviewed(b"b c", viewed=True),
        Reviewed("ä\n".encode(), edited=True),
    ),
    comments=(Comment(b"a", 42, 'why?\nsee "b"'), Comment(b"a", 0, "größer")),
    choices=(Choice(2, "Path B (extensible)"), Choice(1, 'say "no"')),
    data=(Data(D, b"notes/x.csv"),),
    previous=(Q, P),
)
FULL_BYTES = rb"""object aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
type commit
tag gate/ask/q%2f1
tagger Ada Lovelace <ada@example.com> 1764565200 -0330

Choose in ask of q/1

# First

  indented
 -----BEGIN PGP SIGNATURE-----

Action: approve
Via: forge

Action: choose
Via: forge
Reviewed: "a"
Reviewed: "b c" viewed
Reviewed: "\303\244\n" edited
Comment: "a":42 "why?\nsee \"b\""
Comment: "a":0 "gr\303\266\303\237er"
Choice: 2 "Path B (extensible)"
Choice: 1 "say \"no\""
Data: dddddddddddddddddddddddddddddddddddddddd "notes/x.csv"
Time-Spent: 0
On-Behalf-Of: octocat (https://forge.example)
Previous: cccccccccccccccccccccccccccccccccccccccc
Previous: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
"""

PINNED = [(SMALL, SMALL_BYTES), (REJECTION, REJECTION_BYTES), (FULL, FULL_BYTES)]


@pytest.mark.parametrize(("decision", "data"), PINNED)
def test_a_payload_has_these_bytes_for_ever(decision: Decision, data: bytes) -> None:
    assert payload(decision) == data


@pytest.mark.parametrize(("decision", "data"), PINNED)
def test_a_record_is_payload_and_armor(decision: Decision, data: bytes) -> None:
    raw = assemble(data, ARMOR)
    record = parse(raw, tag=decision.tag, request=R)
    assert raw == data + ARMOR
    assert (record.raw, record.payload, record.armor) == (raw, data, ARMOR)
    assert record.format is Format.SSH
    assert record.decision == decision


def test_a_record_has_the_id_of_its_tag_object() -> None:
    raw = assemble(REJECTION_BYTES, ARMOR)
    made = run(["git", "hash-object", "-t", "tag", "--stdin"], stdin=raw)
    assert parse(raw).id == made.text == "4cf440afd88b87cb7ff244f3a863704cf31c5569"


@pytest.mark.parametrize(
    ("action", "title"),
    [
        (Action.APPROVE, "Approve g of s/1"),
        (Action.REJECT, "Reject g of s/1"),
        (Action.SKIP, "Skip g of s/1"),
        (Action.QUIT, "Quit g of s/1"),
        (Action.RETRACT, "Retract the decision on g of s/1"),
        (Action.DATA, "Provide data for g of s/1"),
        (Action.INSTRUCTION, "Instruct g of s/1"),
        (Action.GAP_ACCEPTANCE, "Accept the gap in g of s/1"),
        (Action.CHOOSE, "Choose in g of s/1"),
        (Action.FREEFORM, "Answer g of s/1"),
        (Action.DECLINE, "Decline g of s/1"),
        (Action.DELEGATE, "Delegate g of s/1"),
        (Action.ACKNOWLEDGE, "Acknowledge g of s/1"),
    ],
)
def test_every_action_has_a_title_and_a_form(action: Action, title: str) -> None:
    assert title_of(action, "g", "s/1") == title
    choices = (Choice(1, "a"),) if action is Action.CHOOSE else ()
    data = (Data(D, b"a"),) if action is Action.DATA else ()
    decision = replace(SMALL, action=action, title=title, choices=choices, data=data)
    assert parse(assemble(payload(decision), ARMOR)).decision == decision


def test_the_names_on_disk() -> None:
    assert " ".join(Action) == (
        "approve reject skip quit retract data instruction gap-acceptance choose freeform "
        "decline delegate acknowledge"
    )
    assert [via.value for via in Via] == ["terminal", "session", "forge"]


TEXTS = [
    ("", ""),
    (" \n\t\n", ""),
    ("a", "a"),
    ("a\n", "a"),
    ("\n\n a\n\n\n\nb \n", " a\n\nb"),
    ("a\r\nb\rc\r", "a\nb\nc"),
    ("a \t\r\n", "a"),
    ("a\v\f", "a\v\f"),
    ("a\u00a0", "a\u00a0"),
    ("a\x85b\u2028c", "a\x85b\u2028c"),
    ("# a", "# a"),
    ("-----BEGIN SSH SIGNATURE-----", " -----BEGIN SSH SIGNATURE-----"),
    ("-----END x", " -----END x"),
    ("a\r-----BEGIN PGP MESSAGE-----", "a\n -----BEGIN PGP MESSAGE-----"),
    ("-----BEGIN ", "-----BEGIN"),
    ("----- BEGIN", "----- BEGIN"),
]


@pytest.mark.parametrize(("text", "plain"), TEXTS)
def test_free_text_becomes(text: str, plain: str) -> None:
    assert normalise(text) == plain
    assert normalise(plain) == plain


def test_git_would_not_strip_free_text_any_further() -> None:
    for _, plain in TEXTS:
        whole = plain.encode() + b"\n" * bool(plain)
        assert run(["git", "stripspace"], stdin=whole).stdout == whole


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "a\udcff"])
def test_what_has_no_form_as_free_text(text: str) -> None:
    with pytest.raises(ValueError, match=r"NUL|surrogates"):
        normalise(text)


UNWRITABLE = {
    "a request that is no id": (replace(SMALL, request="HEAD"), DefectKind.HEADER),
    "a tag that is none": (replace(SMALL, tag="v1.0"), DefectKind.HEADER),
    "a tag with a capital": (replace(SMALL, tag="gate/g/X"), DefectKind.HEADER),
    "a tagger without a name": (
        replace(SMALL, tagger=replace(ADA, person=Person("", "a@b"))),
        DefectKind.HEADER,
    ),
    "a tagger without UTF-8": (
        replace(SMALL, tagger=replace(ADA, person=Person("\udcff", "a@b"))),
        DefectKind.HEADER,
    ),
    "an empty title": (replace(SMALL, title=""), DefectKind.NOT_CANONICAL),
    "a title of two lines": (replace(SMALL, title="a\nb"), DefectKind.NOT_CANONICAL),
    "a title like an armor": (replace(SMALL, title="-----BEGIN x"), DefectKind.NOT_CANONICAL),
    "a text not normalised": (replace(SMALL, message="a \n"), DefectKind.NOT_CANONICAL),
    "a text with NUL": (replace(SMALL, message="a\0"), DefectKind.ENCODING),
    "a title without UTF-8": (replace(SMALL, title="a\udcff"), DefectKind.ENCODING),
    "time that runs back": (replace(SMALL, time_spent=-1), DefectKind.TRAILER_VALUE),
    "on behalf of nobody": (replace(SMALL, on_behalf_of=""), DefectKind.NOT_CANONICAL),
    "on behalf of a line": (replace(SMALL, on_behalf_of="a\nVia: b"), DefectKind.NOT_CANONICAL),
    "on behalf of a blank": (replace(SMALL, on_behalf_of=" a"), DefectKind.TRAILER_VALUE),
    "a path out of the tree": (
        replace(SMALL, reviewed=(Reviewed(b"../a"),)),
        DefectKind.TRAILER_VALUE,
    ),
    "a line before the first": (
        replace(SMALL, comments=(Comment(b"a", -1, ""),)),
        DefectKind.TRAILER_VALUE,
    ),
    "a comment with NUL": (
        replace(SMALL, comments=(Comment(b"a", 1, "\0"),)),
        DefectKind.TRAILER_VALUE,
    ),
    "data without a blob": (replace(SMALL, data=(Data("x", b"a"),)), DefectKind.TRAILER_VALUE),
    "a previous that is no id": (replace(SMALL, previous=("x",)), DefectKind.TRAILER_VALUE),
    "a deliverable twice": (
        replace(SMALL, reviewed=(Reviewed(b"a"), Reviewed(b"a", viewed=True))),
        DefectKind.TRAILER_TWICE,
    ),
    "a file twice": (
        replace(SMALL, data=(Data(D, b"a"), Data(P, b"a"))),
        DefectKind.TRAILER_TWICE,
    ),
    "a previous twice": (replace(SMALL, previous=(P, P)), DefectKind.TRAILER_TWICE),
    "an option twice": (
        replace(SMALL, action=Action.CHOOSE, choices=(Choice(1, "a"), Choice(1, "b"))),
        DefectKind.TRAILER_TWICE,
    ),
    "option zero": (
        replace(SMALL, action=Action.CHOOSE, choices=(Choice(0, "a"),)),
        DefectKind.TRAILER_VALUE,
    ),
    "a choice of nothing": (replace(SMALL, action=Action.CHOOSE), DefectKind.TRAILER_MISSING),
    "data that is not there": (replace(SMALL, action=Action.DATA), DefectKind.TRAILER_MISSING),
    "an approval that chooses": (
        replace(SMALL, choices=(Choice(1, "a"),)),
        DefectKind.TRAILER_VALUE,
    ),
}


@pytest.mark.parametrize("name", UNWRITABLE)
def test_what_has_no_form_is_refused_before_it_is_signed(name: str) -> None:
    decision, kind = UNWRITABLE[name]
    with pytest.raises(Defect) as caught:
        payload(decision)
    assert caught.value.kind is kind


def test_a_record_too_large_to_be_read_is_not_assembled() -> None:
    huge = payload(replace(SMALL, message="x" * MAX_RECORD))
    with pytest.raises(Defect, match="larger than 1 MiB") as caught:
        assemble(huge, ARMOR)
    assert caught.value.kind is DefectKind.TOO_LARGE
