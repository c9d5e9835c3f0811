"""Formats: whatever is written comes back, git takes it, and no byte may change unseen."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gitgate.core import events, ids, request, yamltext
from gitgate.core.events import Event, EventName, Located, Summary
from gitgate.core.person import Person, Stamp, format_stamp, parse_stamp, read_stamp
from gitgate.core.quoting import path_bytes, path_text, quote, quote_text, unquote, unquote_text
from gitgate.core.request import Deliverable, Finding, Kind, Level, Request
from gitgate.core.trailers import format_trailers, parse_trailers
from gitgate.process import run

FORMATS = settings(max_examples=100, deadline=None, derandomize=True)

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
lines = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40).filter(
    lambda text: text == text.strip()
)
oids = st.integers(0, 16**40 - 1).map("{:040x}".format)
gates = st.from_regex(r"[a-z0-9][a-z0-9-]{0,63}", fullmatch=True)
subjects = st.one_of(
    lines,
    st.text(".-alock%/ConN1ä", min_size=1, max_size=12).filter(lambda text: text == text.strip()),
    st.text("aä./", min_size=60, max_size=300),
)
parts = st.binary(min_size=1, max_size=12).filter(
    lambda part: part not in (b".", b"..") and not {0, ord("/")} & set(part)
)
paths = st.lists(parts, min_size=1, max_size=3).map(b"/".join)
names = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="<>"), min_size=1, max_size=20
).filter(lambda name: name[0] > " " and name[-1] > " ")
people = st.builds(Person, names, names | st.just(""))
offsets = st.builds(
    "{}{:02d}{:02d}".format, st.sampled_from("+-"), st.integers(0, 23), st.integers(0, 59)
)
times = st.integers(0, 253_402_300_799)
stamps = st.builds(Stamp, people, times, offsets)
counts = st.integers(0, 10**9 - 1)


@FORMATS
@given(st.lists(subjects, min_size=2, max_size=20, unique=True))
@example(["con", "Con", "CON", "%63on", "con.", "con.txt", "c%6fn"])
@example(["a..b", "a.b", "a.%2eb", "A..b", ".a", "a.", "%2ea"])
@example(["x" * 120, "x" * 121, "x" * 122, "é", "e\u0301"])
def test_no_two_subjects_share_a_name_even_where_case_is_ignored(some: list[str]) -> None:
    encoded = [ids.encode_subject(subject) for subject in some]
    assert len({name.lower() for name in encoded}) == len(some)
    assert all(name == name.lower() and len(name) <= 120 for name in encoded)
    assert all(ids.is_encoded(name) for name in encoded)


@settings(FORMATS, max_examples=40)
@given(gates, subjects)
def test_git_takes_every_ref_and_tag_name(gate: str, subject: str) -> None:
    ref, tag = ids.ledger_ref(gate, subject), ids.tag_name(gate, subject)
    assert run(["git", "check-ref-format", ref]).status == 0
    assert run(["git", "check-ref-format", f"refs/tags/{tag}"]).status == 0
    assert ids.is_ref(ref)
    assert ids.is_tag_name(tag)
    assert tag.rsplit("/", 1)[1].split(".")[0] not in {"con", "prn", "aux", "nul", "com1", "lpt0"}


@FORMATS
@given(st.text("refs/hd.@{~^:?*[\\ lock-\n", max_size=24).map("refs/".__add__))
def test_a_ref_is_what_git_takes_for_one(ref: str) -> None:
    assert ids.is_ref(ref) == (run(["git", "check-ref-format", ref]).status == 0)


@FORMATS
@given(st.binary(max_size=40).filter(lambda path: 0 not in path), texts)
def test_quoted_paths_and_texts_come_back(path: bytes, text: str) -> None:
    assert unquote(quote(path)) == path
    assert path_bytes(path_text(path)) == path
    assert unquote_text(quote_text(text)) == text
    assert quote(path).isascii()


@FORMATS
@given(st.text('"\\abtn0123x', max_size=12).map('"{}"'.format))
def test_a_quoted_text_has_one_spelling(text: str) -> None:
    for read, write in [(unquote, quote), (path_bytes, path_text)]:
        assert _same_or_refused(read, write, text)


def _same_or_refused(read: Callable[[Any], Any], write: Callable[[Any], Any], text: Any) -> bool:
    try:
        value = read(text)
    except ValueError:
        return True
    return bool(write(value) == text)


@FORMATS
@given(st.lists(st.tuples(st.sampled_from(["A", "Time-Spent", "Via"]), lines), min_size=1), texts)
def test_trailers_come_back(pairs: list[tuple[str, str]], before: str) -> None:
    assume(all(value == value.strip(" \t\r") for _, value in pairs))
    assert parse_trailers(f"{before}\n\n{format_trailers(pairs)}") == pairs


@FORMATS
@given(stamps)
def test_stamps_come_back(stamp: Stamp) -> None:
    text = format_stamp(stamp)
    assert parse_stamp(text) == stamp
    assert read_stamp(text) == stamp


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18) + 1, 10**18 - 1)
    | texts
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b2", "long_key"]), inner, max_size=3)
    ),
    max_leaves=12,
)
mappings = st.dictionaries(st.sampled_from(["a", "b", "c_d"]), values, min_size=1)


@FORMATS
@given(mappings)
def test_yaml_comes_back(value: dict[str, Any]) -> None:
    assert yamltext.load(yamltext.dump(value), 1 << 20) == value


@FORMATS
@given(mappings, st.data())
def test_yaml_has_one_spelling(value: dict[str, Any], data: st.DataObject) -> None:
    changed = _flip(yamltext.dump(value), data)
    assert _same_or_refused(lambda raw: yamltext.load(raw, 1 << 20), yamltext.dump, changed)


def _flip(raw: bytes, data: st.DataObject) -> bytes:
    at = data.draw(st.integers(0, len(raw) - 1))
    return raw[:at] + bytes([raw[at] ^ data.draw(st.integers(1, 255))]) + raw[at + 1 :]


findings = st.builds(
    Finding, st.none() | st.integers(1, 10**9 - 1), st.sampled_from(Level), texts, texts
)
deliverables = st.builds(Deliverable, paths, oids, texts, st.lists(findings, max_size=2).map(tuple))


@st.composite
def requests(draw: st.DrawFn) -> Request:
    kind = draw(st.sampled_from(Kind))
    extra = {Kind.STEP: "diagnosis", Kind.QUESTION: "question"}.get(kind)
    return Request(
        id="",
        kind=kind,
        gate=draw(gates),
        subject=draw(subjects),
        target=draw(st.sampled_from(["refs/heads/main", "refs/tags/v1.0"])),
        base=draw(oids),
        work=draw(oids),
        tip=draw(st.none() | oids),
        policy=draw(st.none() | oids),
        agent=draw(st.none() | lines),
        nonce=draw(oids)[:32],
        opened=draw(stamps),
        title=draw(texts),
        summary=draw(texts),
        deliverables=draw(st.lists(deliverables, max_size=2).map(tuple)),
        next_steps=draw(st.lists(texts, max_size=2).map(tuple)),
        general=draw(st.lists(findings, max_size=2).map(tuple)),
        extra={extra: draw(mappings)} if extra else {},
    )


@FORMATS
@given(requests())
def test_requests_come_back(made: Request) -> None:
    text, data = request.message(made), request.body(made)
    assert request.parse("", made.opened, text, data) == made


located = st.builds(Located, st.none() | paths, findings)
some_events = st.one_of(
    *[
        st.builds(
            Event,
            st.just(""),
            st.integers(1, 10**9 - 1),
            st.just(name),
            times,
            people,
            request=oids if "request" in events.FIELDS[name] else st.none(),
            record=oids if "record" in events.FIELDS[name] else st.none(),
            fields=fields,
        )
        for name, fields in {
            **{name: st.just({}) for name in EventName},
            EventName.VALIDATED: st.fixed_dictionaries(
                {"findings": st.lists(located, max_size=3).map(tuple)}
            ),
            EventName.STARTED: st.fixed_dictionaries(
                {"attempt": st.integers(1, 10**9 - 1), "input": oids}
            ),
            EventName.CLAIMED: st.fixed_dictionaries({"consumer": lines}),
            EventName.RESUMED: st.fixed_dictionaries({"consumer": lines}),
            EventName.EXPIRED: st.fixed_dictionaries({"deadline": times}),
            EventName.COMPENSATED: st.fixed_dictionaries(
                {
                    "command": st.lists(texts, min_size=1, max_size=3).map(tuple),
                    "status": st.integers(-255, 255),
                }
            ),
            EventName.LANDED: st.fixed_dictionaries(
                {"target": st.just("refs/heads/main"), "old": oids, "new": oids}
            ),
            EventName.WITHDRAWN: st.fixed_dictionaries({}, optional={"reason": texts}),
        }.items()
    ]
)


@FORMATS
@given(some_events)
def test_events_come_back(made: Event) -> None:
    assert events.parse_body("", made.number, made.name, events.body(made)) == made


@FORMATS
@given(some_events, st.data())
def test_an_event_has_one_spelling(made: Event, data: st.DataObject) -> None:
    changed = _flip(events.body(made), data)
    assert _same_or_refused(
        lambda raw: events.parse_body("", 1, made.name, raw), events.body, changed
    )


@FORMATS
@given(
    st.builds(
        Summary,
        gates,
        subjects,
        st.sampled_from(EventName),
        st.integers(1, 10**9 - 1),
        counts,
        st.sampled_from(sorted(events.STATUSES)),
        st.none() | oids,
    )
)
def test_summaries_come_back(summary: Summary) -> None:
    assert events.parse_summary(events.summary_message(summary)) == summary


def test_controls_are_the_same_in_every_version_of_unicode() -> None:
    controls = [code for code in range(0x110000) if unicodedata.category(chr(code)) == "Cc"]
    assert controls == [*range(0x20), *range(0x7F, 0xA0)]
