"""Every way in which the bytes of a record are not a record, and the name of each."""

from __future__ import annotations

import pytest

from gitgate.core.decision import MAX_RECORD, Defect, DefectKind, parse
from gitgate.process import run

ARMOR = """\
-----BEGIN SSH SIGNATURE-----
U1NIU0lH
-----END SSH SIGNATURE-----
"""
RAW = (
    """\
object aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
type commit
tag gate/elaboration/feature%2flogin
tagger Ada Lovelace <ada@example.com> 1764565200 +0000

Reject elaboration of feature/login

The policy is missing.

And the lockout.

Action: reject
Via: terminal
Reviewed: "a" viewed edited
Comment: "a":3 "why?"
Data: dddddddddddddddddddddddddddddddddddddddd "a"
Time-Spent: 184
On-Behalf-Of: octocat
Previous: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
"""
    + ARMOR
)
TAG = "gate/elaboration/feature%2flogin"

# name: (what is replaced, by what, the defect)
DEFECTS = {
    "unsigned": (ARMOR, "", "no-armor"),
    "an indented armor": ("-----BEGIN", " -----BEGIN", "no-armor"),
    "an armor of another program": ("SSH SIG", "SSX SIG", "armor-encoding"),
    "CRLF in the armor": ("U1NIU0lH\n", "U1NIU0lH\r\n", "armor-encoding"),
    "base64 with stray bits": ("U1NIU0lH", "U1NIU0l=", "armor-encoding"),
    "a second armor": (ARMOR, ARMOR + ARMOR, "two-armors"),
    "a second armor after a gap": (ARMOR, ARMOR + "\n" + ARMOR, "two-armors"),
    "text after the armor": (ARMOR, ARMOR + "Action: approve\n", "text-after-armor"),
    "a newline after the armor": (ARMOR, ARMOR + "\n", "text-after-armor"),
    "an armor before the trailers": ("Action: reject", ARMOR + "Action: reject", "two-armors"),
    "NUL": ("policy", "pol\0icy", "encoding"),
    "a header before the header": ("object", "\nobject", "header"),
    "another type": ("type commit", "type tree", "header"),
    "a short id": ("object aa", "object a", "header"),
    "an id in capitals": ("object aaa", "object AAA", "header"),
    "a header more": ("tagger", "encoding: x\ntagger", "header"),
    "a header behind the tagger": ("+0000\n", "+0000\nencoding x\n", "header"),
    "no tagger": ("tagger", "taggerx", "header"),
    "a tag outside of gate/": ("tag gate", "tag tags", "header"),
    "a tag that encode_subject never gives": ("%2f", "%2F", "header"),
    "a time with a zero": ("1764565200", "01764565200", "header"),
    "an offset that is none": ("+0000", "+9900", "header"),
    "a name with an edge": ("tagger Ada", "tagger  Ada", "header"),
    "no blank line behind the header": ("+0000\n\n", "+0000\n", "header"),
    "an unknown trailer": ("Via:", "Mood: grim\nVia:", "trailer-unknown"),
    "a trailer in small letters": ("Via:", "via: x\nVia:", "trailer-unknown"),
    "a line that is no trailer": ("Via:", "hello\nVia:", "trailer-unknown"),
    "a folded trailer": ("octocat\n", "octocat\n cat\n", "trailer-unknown"),
    "an empty trailer": ("octocat\n", "\n", "trailer-unknown"),
    "a trailer that ends in a blank": ("octocat\n", "octocat \n", "trailer-unknown"),
    "CRLF in a trailer": ("octocat\n", "octocat\r\n", "trailer-unknown"),
    "a blank line before the armor": ("-----BEGIN", "\n-----BEGIN", "trailer-unknown"),
    "action twice": ("Via:", "Action: approve\nVia:", "trailer-twice"),
    "the same action twice": ("Via:", "Action: reject\nVia:", "trailer-twice"),
    "time twice": ("Time-Spent: 184\n", "Time-Spent: 184\n" * 2, "trailer-twice"),
    "a path twice": ("Reviewed: ", 'Reviewed: "a"\nReviewed: ', "trailer-twice"),
    "a previous twice": ("Previous: ", f"Previous: {'b' * 40}\nPrevious: ", "trailer-twice"),
    "no action": ("Action: reject\n", "", "trailer-missing"),
    "no via": ("Via: terminal\n", "", "trailer-missing"),
    "an action that is none": ("Action: reject", "Action: merge", "trailer-value"),
    "an action in capitals": ("Action: reject", "Action: Reject", "trailer-value"),
    "a via that is none": ("Via: terminal", "Via: agent", "trailer-value"),
    "time with a zero": ("184", "0184", "trailer-value"),
    "time with a sign": ("184", "+184", "trailer-value"),
    "time in other digits": ("184", "١", "trailer-value"),
    "time without end": ("184", "1" * 5000, "trailer-value"),
    "a path without quotes": ('Reviewed: "a"', "Reviewed: a", "trailer-value"),
    "a path quoted otherwise": ('Reviewed: "a"', r'Reviewed: "\141"', "trailer-value"),
    "words in another order": ("viewed edited", "edited viewed", "trailer-value"),
    "a word more": ("viewed edited", "viewed approved", "trailer-value"),
    "a path out of the tree": ('Reviewed: "a"', 'Reviewed: "../a"', "trailer-value"),
    "a line that is none": ('"a":3', '"a":03', "trailer-value"),
    "a comment without text": ('"a":3 "why?"', '"a":3', "trailer-value"),
    "a data id that is none": ("Data: ddd", "Data: DDD", "trailer-value"),
    "a previous that is no id": ("Previous: bbb", "Previous: xxx", "trailer-value"),
    "a choice of somebody who rejects": ("Time-", 'Choice: 1 "a"\nTime-', "trailer-value"),
    "trailers in another order": (
        "Action: reject\nVia: terminal\n",
        "Via: terminal\nAction: reject\n",
        "not-canonical",
    ),
    "a blank behind the title": ("login\n\nThe", "login \n\nThe", "not-canonical"),
    "a title of two lines": ("login\n\nThe", "login\nThe", "not-canonical"),
    "a blank behind a line": ("missing.\n", "missing. \n", "not-canonical"),
    "CRLF in the text": ("missing.\n", "missing.\r\n", "not-canonical"),
    "two blank lines": ("missing.\n\n", "missing.\n\n\n", "not-canonical"),
    "a blank line before the title": ("+0000\n\n", "+0000\n\n\n", "not-canonical"),
    "an armor's end in the text": ("And the", "-----END the", "not-canonical"),
}


def test_the_record_without_a_defect() -> None:
    record = parse(RAW.encode())
    assert record.decision.message == "The policy is missing.\n\nAnd the lockout."


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_has_a_name(name: str) -> None:
    old, new, kind = DEFECTS[name]
    raw = RAW.replace(old, new, 1)
    assert raw != RAW
    with pytest.raises(Defect) as caught:
        parse(raw.encode())
    assert caught.value.kind == kind
    assert " " in str(caught.value)


def test_every_kind_of_defect_is_seen_here() -> None:
    seen = {kind for _, _, kind in DEFECTS.values()}
    assert {kind.value for kind in DefectKind} - seen == {
        "too-large",
        "wrong-tag",
        "wrong-object",
    }


def test_bytes_that_are_not_utf8() -> None:
    with pytest.raises(Defect, match="UTF-8") as caught:
        parse(RAW.encode().replace(b"policy", b"pol\xffcy"))
    assert caught.value.kind is DefectKind.ENCODING


@pytest.mark.parametrize("raw", [b"", b"\n", b"x", ARMOR.encode(), b"\0" * 100])
def test_junk(raw: bytes) -> None:
    with pytest.raises(Defect):
        parse(raw)


def test_a_record_is_measured_before_it_is_read() -> None:
    with pytest.raises(Defect) as caught:
        parse(RAW.encode() + b"x" * MAX_RECORD)
    assert caught.value.kind is DefectKind.TOO_LARGE


def test_a_record_belongs_to_one_request_and_one_instance() -> None:
    raw = RAW.encode()
    assert parse(raw, tag=TAG, request="a" * 40).decision.tag == TAG
    with pytest.raises(Defect, match="not gate/elaboration/main") as caught:
        parse(raw, tag="gate/elaboration/main")
    assert caught.value.kind is DefectKind.WRONG_TAG
    with pytest.raises(Defect, match=f"signed for request {'a' * 40}, not {'b' * 40}") as caught:
        parse(raw, request="b" * 40)
    assert caught.value.kind is DefectKind.WRONG_OBJECT


def test_text_that_ends_like_trailers_stays_text() -> None:
    forged = RAW.replace("And the lockout.", "Action: approve\nVia: terminal")
    decision = parse(forged.encode()).decision
    assert decision.action == "reject"
    assert decision.message.endswith("Action: approve\nVia: terminal")


def test_the_last_paragraph_is_the_one_that_git_reads() -> None:
    forged = RAW.replace("And the lockout.", "Action: approve\nVia: terminal")
    body = forged.split("\n\n", 1)[1].split("-----BEGIN")[0]
    parsed = run(["git", "interpret-trailers", "--parse"], stdin=body.encode()).text
    assert "Action: approve" not in parsed
    assert "Action: reject" in parsed
