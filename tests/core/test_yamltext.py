"""The YAML of ledgers: one spelling a value, and nothing else is read."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gitgate.core.yamltext import MAX_DEPTH, MAX_NODES, as_list, as_mapping, as_text, dump, load

VALUE: dict[str, Any] = {
    "text": "a: b # c",
    "empty": "",
    "lines": " a\n\tb\r ",
    "number": 42,
    "negative": -1,
    "zero": 0,
    "flag": True,
    "other_flag": False,
    "nothing": None,
    "list": ["a", 1, None, [], {}, ["b", ["c"]], {"x": 1, "z": [2]}],
    "empty_list": [],
    "empty_mapping": {},
    "mapping": {"deep": {"deeper": "x"}},
}
BYTES = b"""\
text: "a: b # c"
empty: ""
lines: " a\\n\\tb\\x0d "
number: 42
negative: -1
zero: 0
flag: true
other_flag: false
nothing: null
list:
  - "a"
  - 1
  - null
  - []
  - {}
  - - "b"
    - - "c"
  - x: 1
    z:
      - 2
empty_list: []
empty_mapping: {}
mapping:
  deep:
    deeper: "x"
"""

TEXTS = [
    ("no", '"no"'),
    ("0777", '"0777"'),
    ("2025-12-01", '"2025-12-01"'),
    ('say "a\\b"', r'"say \"a\\b\""'),
    ("größe 中 😀 –", '"größe 中 😀 –"'),
    ("\0\x1b\x7f\x85\xa0\xad", r'"\x00\x1b\x7f\x85\xa0\xad"'),
    ("\u200b\u202e\u2028\ufeff\ufffd", r'"\u200b\u202e\u2028\ufeff\ufffd"'),
    ("\U000e0041", r'"\U000e0041"'),
    ("\u0378\U0003ffff", '"\u0378\U0003ffff"'),
]


def test_a_mapping_has_these_bytes_for_ever() -> None:
    assert dump(VALUE) == BYTES
    assert load(BYTES, len(BYTES)) == VALUE


@pytest.mark.parametrize(("text", "spelling"), TEXTS)
def test_a_text_has_these_bytes_for_ever(text: str, spelling: str) -> None:
    data = f"a: {spelling}\n".encode()
    assert dump({"a": text}) == data
    assert load(data, 1000) == {"a": text}


def test_any_yaml_reader_reads_the_same() -> None:
    assert yaml.safe_load(BYTES) == VALUE
    for text, spelling in TEXTS:
        assert yaml.load(f"a: {spelling}\n", Loader=yaml.SafeLoader) == {"a": text}


def test_a_long_text_is_one_line() -> None:
    value = {"a": "word " * 50_000, "b": [{"c": "x" * 5000}]}
    data = dump(value)
    assert data.count(b"\n") == 3
    assert load(data, 1 << 20) == value


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1.5},
        {"a": b"x"},
        {"a": {1}},
        {"a": 10**18},
        {"a": "\ud800"},
        {"A": 1},
        {"a b": 1},
        {"": 1},
        {"no": 1},
        {"y": 1},
        {"null": 1},
        {1: 1},
        {"a": {"b": object()}},
    ],
)
def test_what_has_no_spelling(value: Any) -> None:
    with pytest.raises(ValueError):
        dump(value)


def nested(levels: int) -> dict[str, Any]:
    value: Any = "x"
    for _ in range(levels):
        value = {"a": value}
    return dict(value)


def test_the_depth_is_limited() -> None:
    data = dump(nested(MAX_DEPTH))
    assert load(data, 10_000) == nested(MAX_DEPTH)
    with pytest.raises(ValueError, match="levels"):
        dump(nested(MAX_DEPTH + 1))
    deeper = data[:-4].rstrip(b" ") + b"\n" + b"  " * MAX_DEPTH + b'a: "x"\n'
    with pytest.raises(ValueError, match="levels"):
        load(deeper, 10_000)
    with pytest.raises(ValueError):
        load(b"a: " + b"[" * 100_000, 1 << 20)


REFUSED = {
    "nothing": "",
    "a comment": "# a\n",
    "no mapping": '- "a"\n',
    "a scalar": '"a"\n',
    "a comment behind": "a: 1 # x\n",
    "a duplicate key": "a: 1\na: 2\n",
    "the same key twice": "a: 1\na: 1\n",
    "an alias": 'a: &x "b"\nc: *x\n',
    "an anchor": 'a: &x "b"\n',
    "aliases that explode": 'a: &a ["x","x"]\nb: &b [*a,*a]\nc: &c [*b,*b]\n',
    "a tag": 'a: !!str "b"\n',
    "a tag that constructs": "a: !!python/object/apply:os.system ['true']\n",
    "a merge key": "a: {b: 1}\n<<: {c: 1}\n",
    "a plain text": "a: b\n",
    "a plain no": "a: no\n",
    "a plain date": "a: 2025-12-01\n",
    "an octal number": "a: 0777\n",
    "a float": "a: 1e3\n",
    "a plus": "a: +1\n",
    "minus zero": "a: -0\n",
    "a huge number": f"a: {'9' * 19}\n",
    "a number without end": f"a: {'9' * 9999}\n",
    "null as a tilde": "a: ~\n",
    "null as nothing": "a:\n",
    "True": "a: True\n",
    "single quotes": "a: 'b'\n",
    "a block scalar": "a: |\n  b\n",
    "flow style": 'a: {b: "c"}\n',
    "another indentation": 'a:\n    b: "c"\n',
    "a list less indented": 'a:\n- "b"\n',
    "another escape": 'a: "\\u000a"\n',
    "an escape without need": 'a: "\\x41"\n',
    "a raw tab": 'a: "b\tc"\n',
    "a folded text": 'a: "b\n  c"\n',
    "no newline at the end": "a: 1",
    "a newline more": "a: 1\n\n",
    "CRLF": "a: 1\r\n",
    "two documents": "a: 1\n---\nb: 2\n",
    "a start of a document": "---\na: 1\n",
    "an end of a document": "a: 1\n...\n",
    "a directive": "%YAML 1.1\n---\na: 1\n",
    "a byte order mark": "\ufeffa: 1\n",
    "a key in quotes": '"a": 1\n',
    "a key that is a list": "? [a]\n: 1\n",
    "an open quote": 'a: "b\n',
    "an unknown escape": 'a: "\\q"\n',
    "a control character": 'a: "\x01"\n',
}


@pytest.mark.parametrize("name", REFUSED)
def test_another_spelling_is_refused(name: str) -> None:
    with pytest.raises(ValueError):
        load(REFUSED[name].encode(), 1 << 20)


@pytest.mark.parametrize("data", [b'a: "\xff"\n', b"\xff\xfea\x00", b'a: "\xed\xa0\x80"\n'])
def test_what_is_not_utf8_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        load(data, 1000)


def test_the_size_and_the_number_of_values_are_limited() -> None:
    with pytest.raises(ValueError, match="larger than 3 bytes"):
        load(b"a: 1\n", 3)
    with pytest.raises(ValueError, match="values"):
        load(b"a:\n" + b"  - 1\n" * MAX_NODES, 1 << 30)


def test_values_are_asked_for_by_type() -> None:
    assert as_text("a") == "a"
    assert as_list([1]) == [1]
    assert as_mapping({"a": 1, "b": 2}, ("a", "b")) == {"a": 1, "b": 2}
    with pytest.raises(ValueError, match="expected a text, found 1"):
        as_text(1)
    with pytest.raises(ValueError, match="expected a list, found 'a'"):
        as_list("a")
    with pytest.raises(ValueError, match="expected a mapping, found None"):
        as_mapping(None, ())
    for keys in [("a",), ("b", "a"), ("a", "b", "c")]:
        with pytest.raises(ValueError, match="expected the keys"):
            as_mapping({"a": 1, "b": 2}, keys)
