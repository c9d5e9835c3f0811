"""Patterns over paths and refs: git's `:(glob,icase)` and `:(glob)` (gitglossary, "pathspec").

`*`, `?` and classes stay within a folder; `**/`, `/**/` and `/**` cross folders; a pattern that is
literally a folder holds everything under it. Where git's documentation is silent its behaviour
decides, byte for byte, and a test asks it.

Beyond git, a pattern also matches the bare name of a folder that it reaches into: a symlink or a
submodule in the place of `dir` answers to `dir/**`, `dir/*` and, for paths, to `dir/a.md`.

All patterns of a set form one automaton that reads a name once, so the time is linear in the name
whatever the patterns are. A set of positions is an int; the sets that names have led to are kept.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum

from gitgate.core import ids

MAX_PATTERN = 1024  # bytes
_MAX_STATES = 1000

_SLASH, _BACKSLASH, _STAR = b"/\\*"
_WILD = re.compile(rb"[*?\[\\]")
_PRECISE = re.compile(rb"[\[\\]")
_FOLDER_ENDS = re.compile(rb"\\?/|\Z")
_ALL_IN_FOLDER = re.compile(rb"/\**\Z")


class _Run(Enum):
    """An item that takes any number of bytes, none included."""

    NEAR = "within a folder"
    FAR = "across folders"
    FOLDERS = "whole folders, each with its slash"


# One byte out of these, or a run. No byte at all: nothing can match.
_Item = bytes | _Run

_NEVER = b""
_ANY_BUT_SLASH = bytes(byte for byte in range(1, 256) if byte != _SLASH)
_CLASSES = {
    name.encode(): members.encode()
    for name, members in {
        "alnum": string.ascii_letters + string.digits,
        "alpha": string.ascii_letters,
        "blank": " \t",
        "cntrl": "".join(map(chr, range(32))) + "\x7f",
        "digit": string.digits,
        "graph": "".join(map(chr, range(33, 127))),
        "lower": string.ascii_lowercase,
        "print": "".join(map(chr, range(32, 127))),
        "punct": string.punctuation,
        "space": " \t\r\n",
        "upper": string.ascii_uppercase,
        "xdigit": string.hexdigits,
    }.items()
}


def compile_paths(patterns: Sequence[str]) -> Callable[[bytes], bool]:
    """A test whether a path of a repository is matched by one of `patterns`, ASCII case ignored."""
    machine = _Machine()
    for pattern in patterns:
        raw = _encode(pattern)
        machine.add_all(_of_pathspec(raw, fold=True))
        machine.add_all(_of_bare_folder(raw, fold=True))
        machine.add_all(_literal(folder, fold=True) for folder in _folders_above(raw))
    return machine.matches


def compile_refs(patterns: Sequence[str], *, any_case: bool = False) -> Callable[[str], bool]:
    """A test whether a full ref name is matched by one of `patterns`, with regard to case.

    `any_case`: whether a name is matched that differs from it in ASCII capitals at most. The
    journal, ledgers (also those that a remote is known to have) and notes never are.
    """
    machine = _Machine()
    for pattern in patterns:
        raw = _encode(pattern)
        for items in (*_of_pathspec(raw, fold=False), *_of_bare_folder(raw, fold=False)):
            machine.add_all([map(_either_case, items) if any_case else items])
    return lambda ref: not is_own_ref(ref) and machine.matches(_encode(ref))


def is_own_ref(ref: str) -> bool:
    """Whether `ref` is one of those that hold decisions, and so can never be guarded by one."""
    return ref == ids.JOURNAL or ref.startswith(("refs/aiwg/", "refs/notes/", ids.TRACKING))


def objection(pattern: str, *, fold: bool) -> str:
    """What a usable pattern would have instead of what `pattern` has; empty where it is fine.

    Refuses what would silently match nothing or less than it seems to: git itself takes anything.
    `fold`: case is going to be ignored.
    """
    if has_controls(pattern):
        return "a pattern without control characters"
    if not pattern or len(_encode(pattern)) > MAX_PATTERN:
        return f"a pattern of 1 to {MAX_PATTERN} bytes"
    if pattern[0] == "/":
        return "a pattern relative to the top of the repository"
    if pattern[0] in "!:":
        return f"a pattern without exclusion or magic (a name that begins so: '\\{pattern[0]}')"
    if any(part in (".", "..") for part in pattern.split("/")):
        return "a pattern without the folders '.' and '..' ('**' is everything)"
    return _objection_to_glob(_encode(pattern), fold)


def has_controls(text: str) -> bool:
    """Whether `text` has control characters or is no valid Unicode."""
    return not text.isprintable() and any(
        unicodedata.category(char) in ("Cc", "Cs") for char in text
    )


def _objection_to_glob(pattern: bytes, fold: bool) -> str:
    if b"//" in pattern or b"\\/" in pattern:
        return "a pattern with single, plain slashes between folders"
    wild = _WILD.search(pattern)
    if not wild:
        return ""
    if pattern.endswith(b"/"):
        return "a pattern that ends in '/**' to mean all in a folder"
    if not _PRECISE.search(pattern):
        return ""
    if _NEVER in [*_glob(pattern, wild.start(), fold=False)]:
        return "a pattern with '[' closed by ']', known classes and no '\\' at its end"
    meant = pattern.lower()
    if fold and [*_glob(pattern, wild.start(), fold)] != [*_glob(meant, wild.start(), fold)]:
        return "a pattern in lower case after '\\' and inside '[…]' (git folds only the name)"
    return ""


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _of_pathspec(pattern: bytes, *, fold: bool) -> Iterator[Iterable[_Item]]:
    """What git matches: the literal name, all under it, and the glob."""
    name = [*_literal(pattern, fold=fold)]
    if pattern.endswith(b"/"):
        yield [*name, _Run.FAR]
    else:
        yield name
        yield [*name, b"/", _Run.FAR]
    wild = _WILD.search(pattern)
    if wild:
        yield _glob(pattern, wild.start(), fold)


def _of_bare_folder(pattern: bytes, *, fold: bool) -> Iterator[Iterable[_Item]]:
    """The folder of which `pattern` takes everything, as a name of its own."""
    while (ending := _ALL_IN_FOLDER.search(pattern)) and ending.start():
        pattern = pattern[: ending.start()]
        wild = _WILD.search(pattern)
        yield _glob(pattern, wild.start() if wild else len(pattern), fold)


def _folders_above(pattern: bytes) -> Iterator[bytes]:
    wild = _WILD.search(pattern)
    literal = pattern[: wild.start()] if wild else pattern
    for slash in re.finditer(b"/", literal):
        yield literal[: slash.start()]


def _literal(text: bytes, *, fold: bool) -> Iterator[_Item]:
    for byte in text:
        one = bytes((byte,))
        yield one.lower() + one.upper() if fold and one.isalpha() else one


def _glob(pattern: bytes, wild: int, fold: bool) -> Iterator[_Item]:
    """The items of `pattern`, of which `wild` bytes are literal.

    Where case is ignored git folds the name and the plain bytes of the pattern, but neither an
    escaped byte nor the members of a class: a capital there matches nothing.
    """
    yield from _literal(pattern[:wild], fold=fold)
    at = wild
    while at < len(pattern):
        byte = pattern[at]
        if byte == _STAR:
            start = at
            while pattern[at : at + 1] == b"*":
                at += 1
            run = _run_of_stars(pattern, start, at, wild)
            at += run is _Run.FOLDERS
            yield run
        elif byte == ord("?"):
            yield _ANY_BUT_SLASH
            at += 1
        elif byte == ord("["):
            members, at = _class(pattern, at + 1, fold)
            yield members
        elif byte == _BACKSLASH:
            yield _unfolded(pattern[at + 1 : at + 2], fold)
            at += 2
        else:
            yield from _literal(pattern[at : at + 1], fold=fold)
            at += 1


def _run_of_stars(pattern: bytes, start: int, end: int, wild: int) -> _Run:
    """What `pattern[start:end]`, all stars, stands for.

    Two or more cross folders where they are a whole component. Git takes the literal part off
    before it looks, so right behind that they count as a component's beginning as well.
    """
    begins = start == wild or pattern[start - 1] == _SLASH
    if end - start == 1 or not begins or not _FOLDER_ENDS.match(pattern, end):
        return _Run.NEAR
    return _Run.FOLDERS if pattern[end : end + 1] == b"/" else _Run.FAR


def _either_case(item: _Item) -> _Item:
    return item + item.swapcase() if isinstance(item, bytes) else item


def _unfolded(one: bytes, fold: bool) -> bytes:
    """The bytes of names that `one`, taken as it stands, matches once the name is folded."""
    if not fold or not one.isalpha():
        return one
    return _NEVER if one.isupper() else one + one.upper()


def _class(pattern: bytes, at: int, fold: bool) -> tuple[bytes, int]:
    """What the class that begins behind `pattern[at - 1]`, a `[`, matches, and where it ends.

    Nothing, up to the end of the pattern, where it is never closed or names an unknown class.
    """
    negated = pattern[at : at + 1] in (b"!", b"^")
    first = at = at + negated
    members: set[int] = set()
    previous: int | None = None  # what a "-" would begin its range with
    while at == first or pattern[at : at + 1] != b"]":
        at, found, previous = _member(pattern, at, previous, fold)
        if at >= len(pattern):
            return _NEVER, len(pattern)
        members.update(found)
    if not fold:
        return bytes(byte for byte in _ANY_BUT_SLASH if (byte in members) != negated), at + 1
    folded = ((byte, bytes((byte,)).lower()[0]) for byte in _ANY_BUT_SLASH)
    return bytes(byte for byte, lower in folded if (lower in members) != negated), at + 1


def _member(
    pattern: bytes, at: int, previous: int | None, fold: bool
) -> tuple[int, bytes, int | None]:
    """The next member of a class: where it ends, its bytes, what a range may begin with."""
    one = pattern[at : at + 1]
    if one in (b"", b"\\"):
        escaped = pattern[at + 1 : at + 2]
        return at + 2, escaped, escaped[0] if escaped else None
    if one == b"-" and previous is not None and pattern[at + 1 : at + 2] not in (b"", b"]"):
        end = at + 2 if pattern[at + 1] == _BACKSLASH else at + 1
        last = pattern[end] if end < len(pattern) else 0
        return end + 1, _spread(bytes(range(previous, last + 1)), fold), None
    close = pattern.find(b"]", at + 2)
    if pattern[at : at + 2] != b"[:":
        return at + 1, one, one[0]
    if close > at + 2 and pattern[close - 1] == ord(":"):
        named = _CLASSES.get(pattern[at + 2 : close - 1])
        return (close + 1, _spread(named, fold), None) if named else (len(pattern), b"", None)
    return at + 1, one, one[0]


def _spread(members: bytes, fold: bool) -> bytes:
    """Capitals of a range or a named class take folded names as well, unlike single ones."""
    return members + members.lower() if fold else members


class _Machine:
    """A non-deterministic automaton, made deterministic where names lead it."""

    def __init__(self) -> None:
        self._size = 0
        self._start = 0
        self._final = 0
        self._steps = [0] * 256  # by byte: the positions that it moves to the next one
        self._near = 0  # positions that any byte but a slash leaves in place
        self._far = 0  # of those the ones that a slash leaves in place as well
        self._folders = 0  # positions ahead of an optional `FAR "/"`
        self._states: dict[int, _State] = {}

    def add_all(self, patterns: Iterable[Iterable[_Item]]) -> None:
        for pattern in patterns:
            self._start |= 1 << self._size
            for item in pattern:
                self._add(item)
            self._final |= 1 << self._size
            self._size += 1

    def _add(self, item: _Item) -> None:
        here = 1 << self._size
        self._size += 1
        if isinstance(item, bytes):
            for byte in item:
                self._steps[byte] |= here
        elif item is _Run.FOLDERS:
            self._folders |= here
            self._add(_Run.FAR)
            self._add(b"/")
        else:
            self._near |= here
            self._far |= here if item is _Run.FAR else 0

    def matches(self, name: bytes) -> bool:
        state = self._state(self._closed(self._start))
        for byte in name:
            state = state[byte]
        return state.accepts

    def follow(self, positions: int, byte: int) -> _State:
        resting = self._far if byte == _SLASH else self._near
        return self._state(self._closed((positions & self._steps[byte]) << 1 | positions & resting))

    def _closed(self, positions: int) -> int:
        """`positions` and all that are reached from them without a byte."""
        skippable = self._near | self._folders
        reached = positions
        while True:
            reached |= (positions & skippable) << 1 | (positions & self._folders) << 3
            if reached == positions:
                return positions
            positions = reached

    def _state(self, positions: int) -> _State:
        state = self._states.get(positions)
        if state is None:
            state = _State(self, positions, bool(positions & self._final))
            state.kept = len(self._states) < _MAX_STATES
            if state.kept:
                self._states[positions] = state
        return state


class _State(dict[int, "_State"]):
    """A set of positions, and where each byte seen so far leads from it."""

    __slots__ = ("_machine", "_positions", "accepts", "kept")

    def __init__(self, machine: _Machine, positions: int, accepts: bool) -> None:
        super().__init__()
        self._machine = machine
        self._positions = positions
        self.accepts = accepts
        self.kept = False

    def __missing__(self, byte: int) -> _State:
        state = self._machine.follow(self._positions, byte)
        if state.kept:
            self[byte] = state
        return state
