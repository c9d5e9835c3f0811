"""The journal's form: bytes that never change, what is refused, and merges that lose nothing."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitgate.core import ids, journal
from gitgate.core.events import STATUSES
from gitgate.core.journal import Line, by_subject, flat, format_lines, merge, parse_lines
from gitgate.errors import GateError


def oid(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


A, B, C, D, E, F = (letter * 40 for letter in "abcdef")
LOGIN = Line("feature/login", A, "rejected", B, C, D, E)
AGAIN = Line("feature/login", A, "open", F, C, D, E)
STEP = Line("Run 42/plän", B, "completed")


def test_the_bytes_of_a_file() -> None:
    """docs/formats.md, section Journal."""
    assert (
        format_lines([LOGIN, AGAIN, STEP])
        == (
            f"Run 42/plän\t{B}\tcompleted\t-\t-\t-\t-\n"
            f"feature/login\t{A}\trejected\t{B}\t{C}\t{D}\t{E}\n"
            f"feature/login\t{A}\topen\t{F}\t{C}\t{D}\t{E}\n"
        ).encode()
    )


def test_where_an_instance_stands() -> None:
    digest = hashlib.sha256(b"feature/login").hexdigest()
    assert journal.file_of("elaboration", "feature/login") == b"elaboration/df.tsv"
    assert digest.startswith("df")
    assert journal.parse_path(b"elaboration/df.tsv") == ("elaboration", "df")


@pytest.mark.parametrize(
    "path",
    [
        b"elaboration/EF.tsv",
        b"elaboration/efg.tsv",
        b"elaboration/ef.tsv/x",
        b"-elaboration/ef.tsv",
        b"Elaboration/ef.tsv",
        b".github/ef.tsv",
        b"x/elaboration/ef.tsv",
        b"ef.tsv",
        b"elaboration/ef.tsv\n",
        b"a" * 65 + b"/ef.tsv",
    ],
)
def test_other_files_are_none_of_the_index(path: bytes) -> None:
    assert journal.parse_path(path) is None


def test_messages() -> None:
    assert journal.ROOT_MESSAGE == "journal of gates\n"
    assert journal.MAX_TIPS == 100
    assert journal.message([("main", AGAIN)]) == "main of feature/login: open\n"
    assert journal.message([("main", AGAIN), ("plan", STEP)]) == (
        "journal: 2 instances\n\nmain of feature/login: open\nplan of Run 42/plän: completed\n"
    )


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "no line"),
        ([LOGIN._replace(subject="a\tb")], "malformed"),
        ([LOGIN._replace(subject="a\nb")], "malformed"),
        ([LOGIN._replace(subject="a\x85b")], "malformed"),
        ([LOGIN._replace(subject="")], "malformed"),
        ([LOGIN._replace(subject=" a")], "no subject"),
        ([LOGIN._replace(subject="a\u3000")], "no subject"),
        ([LOGIN._replace(subject="a" * 1025)], "no subject"),
        ([LOGIN._replace(status="fine")], "no status"),
        ([LOGIN._replace(status="Open")], "malformed"),
        ([LOGIN._replace(tip=A.upper())], "malformed"),
        ([LOGIN._replace(tip=A[:-1])], "malformed"),
        ([LOGIN._replace(request=None)], "malformed"),
        ([LOGIN._replace(work_tree=None)], "malformed"),
        ([LOGIN, AGAIN._replace(tip=B)], "several ledgers"),
        ([LOGIN, LOGIN], "one request each"),
        ([LOGIN, Line("feature/login", A, "open")], "one request each"),
    ],
)
def test_what_has_no_stored_form(lines: list[Line], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        format_lines(lines)


GOOD = format_lines([LOGIN, STEP])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        GOOD[:-1],
        GOOD + b"\n",
        b"\n" + GOOD,
        GOOD + b"#\n",
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b"\t", b" "),
        GOOD.replace(b"\t", b"\t\t", 1),
        GOOD.replace("ä".encode(), b"\xe4"),
        GOOD.replace("ä".encode(), b"\xed\xa0\x80"),
        b"\xef\xbb\xbf" + b" " + GOOD,
        b"".join(reversed(GOOD.splitlines(keepends=True))),
        GOOD + GOOD.splitlines(keepends=True)[0],
        b"x" * (journal.MAX_FILE + 1),
    ],
)
def test_what_is_no_file(data: bytes) -> None:
    with pytest.raises(ValueError):
        parse_lines(data)


def test_an_empty_file_is_none() -> None:
    """A file without a line is never written: there is one spelling of nothing, no file."""
    with pytest.raises(ValueError, match="it has no line"):
        parse_lines(b"")


OIDS = st.integers(0, 2**160 - 1).map("{:040x}".format)


def is_subject(text: str) -> bool:
    try:
        return bool(ids.check_subject(text))
    except GateError:
        return False


SUBJECTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(is_subject)


@st.composite
def files(draw: st.DrawFn) -> list[Line]:
    lines: list[Line] = []
    for subject in draw(st.lists(SUBJECTS, min_size=1, max_size=6, unique=True)):
        tip = draw(OIDS)
        statuses = st.sampled_from(sorted(STATUSES))
        requests = draw(st.lists(OIDS, max_size=4, unique=True))
        lines += [
            Line(subject, tip, draw(statuses), one, draw(OIDS), draw(OIDS), draw(OIDS))
            for one in requests
        ] or [Line(subject, tip, draw(statuses))]
    return lines


@given(files())
def test_lines_are_read_back_as_they_were_written(lines: list[Line]) -> None:
    data = format_lines(lines)
    assert list(parse_lines(data)) == sorted(lines, key=lambda line: line.subject.encode())
    assert format_lines(flat(by_subject(parse_lines(data)))) == data
    assert [row.partition("\t")[0] for row in data.decode().split("\n")[:-1]] == [
        line.subject for line in parse_lines(data)
    ]


@given(files(), st.integers(0), st.binary(min_size=1, max_size=3))
def test_what_is_read_has_one_spelling(lines: list[Line], at: int, junk: bytes) -> None:
    data = format_lines(lines)
    at %= len(data)
    for other in (data[:at] + junk + data[at:], data[:at] + junk + data[at + len(junk) :]):
        try:
            read = parse_lines(other)
        except ValueError:
            continue
        assert format_lines(read) == other


@given(st.text(max_size=8))
def test_subjects_are_those_of_ledgers(text: str) -> None:
    """The form of a line and `check_subject` agree on what a subject is."""
    try:
        format_lines([LOGIN._replace(subject=text)])
    except ValueError:
        assert not is_subject(text)
    else:
        assert is_subject(text)


# Merges, over histories of ledgers that are numbers: a tip comes after its divisors' chain.

VERSIONS = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 5))


def numbered(side: dict[str, int], fork: str = "") -> dict[str, tuple[Line, ...]]:
    return {
        subject: (Line(subject, oid(f"{fork}{number}"), "open"),)
        for subject, number in side.items()
    }


NUMBERS = {oid(str(number)): number for number in range(20)}


def is_newer(one: str, other: str) -> bool:
    return one in NUMBERS and other in NUMBERS and NUMBERS[one] > NUMBERS[other]


@given(VERSIONS, VERSIONS, VERSIONS)
def test_a_merge_has_the_newest_of_each(
    base: dict[str, int], ours: dict[str, int], theirs: dict[str, int]
) -> None:
    mine = {**base, **{one: base.get(one, 0) + more for one, more in ours.items()}}
    other = {**base, **{one: base.get(one, 0) + more for one, more in theirs.items()}}
    newest = {one: max(mine.get(one, 0), other.get(one, 0)) for one in {**mine, **other}}
    sides = numbered(base), numbered(mine), numbered(other)
    merged = merge(*sides, is_newer)
    assert merged.instances == numbered(newest)
    assert merged.apart == ()
    swapped = merge(sides[0], sides[2], sides[1], is_newer)
    assert swapped == merged
    again = merge(sides[0], merged.instances, sides[2], is_newer)
    assert again == merged


@given(VERSIONS, VERSIONS)
def test_a_merge_forgets_nothing(base: dict[str, int], ours: dict[str, int]) -> None:
    """A side that lost an instance does not delete it."""
    mine = {**base, **ours}
    merged = merge(numbered(base), numbered(mine), {}, is_newer)
    assert merged.instances == numbered(mine)
    assert merge(numbered(base), {}, numbered(mine), is_newer).instances == numbered(mine)
    assert merge(numbered(base), {}, {}, is_newer).instances == numbered(base)


def test_tips_that_went_apart_stay_as_ours() -> None:
    ours, theirs = numbered({"a": 1, "b": 1}), {**numbered({"a": 2}), **numbered({"b": 2}, "fork ")}
    merged = merge(numbered({"a": 0, "b": 0}), ours, theirs, is_newer)
    assert merged.instances == {**numbered({"a": 2}), **numbered({"b": 1})}
    assert merged.apart == ("b",)
