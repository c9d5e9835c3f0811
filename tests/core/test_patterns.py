"""Patterns say what git says of the same pathspec, byte for byte, and what they add is named."""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from gitgate.core.patterns import (
    MAX_PATTERN,
    compile_paths,
    compile_refs,
    is_own_ref,
    objection,
)

_LETTERS = [b"a", b"A", b"b", b"B", b"z", b"0", b"_", b"-", b".", b" "]
_ODD = [b"*", b"?", b"[", b"]", b"\\", b"!", b"^", b"@", b"`", b"{", b"~"]
_ODD += [b"\t", b"\n", b"\v", b"\f", b"\x7f", b"\x80", b"\xff", "é".encode(), "É".encode()]
_WILD = [b"*", b"**", b"***", b"?", b"/**/", b"**/", b"/**", b"/*", b"*/", b"/", b"*?"]
_WILD += [b"\\" + one for one in (b"*", b"a", b"A", b"\\", b"[", b"")]
_WILD += [b"[%s]" % one for one in (b"a", b"A", b"!a", b"^A", b"]a", b"!]", b"a-", b"--a", b"^")]
_WILD += [
    b"[a-b]",
    b"[A-Z]",
    b"[!A-Z]",
    b"[b-a]",
    b"[\\a-\\b]",
    b"[*-B]",
    b"[\\]]",
    b"[a/]",
    b"[!x]",
]
_WILD += [
    b"[",
    b"[a",
    b"[a-",
    b"[\\",
    b"[!",
    b"[[:a]",
    b"[[:]",
    b"[[:]]",
    b"[[:no:]]",
    b"[a[:alpha:]-z]",
]
_WILD += [b"[[:%s:]]" % one for one in b"alnum alpha blank cntrl digit graph".split()]
_WILD += [b"[![:%s:]]" % one for one in b"lower print punct space upper xdigit".split()]


def _git(*args: str, cwd: Path, stdin: bytes = b"", index: str = "index") -> bytes:
    env = {**os.environ, "GIT_INDEX_FILE": str(cwd / index)}
    done = subprocess.run(["git", *args], cwd=cwd, input=stdin, env=env, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _names(dice: random.Random) -> list[bytes]:
    """File names that can stand beside each other: none is a folder of another."""
    kept: dict[bytes, None] = {}
    folders: set[bytes] = set()
    for _ in range(900):
        parts = [
            b"".join(dice.choices(_LETTERS + _ODD, k=dice.choice((1, 1, 2, 3))))
            if dice.random() < 0.5
            else dice.choice((b"a", b"A", b"ab", b"b", b"a.b"))
            for _ in range(dice.choice((1, 2, 2, 3, 4)))
        ]
        if any(part in (b".", b"..") for part in parts):
            continue
        name = b"/".join(parts)
        above = [b"/".join(parts[:depth]) for depth in range(1, len(parts))]
        if name not in folders and not any(folder in kept for folder in above):
            kept[name] = None
            folders.update(above)
    return list(kept)


def _pattern(dice: random.Random, names: list[bytes]) -> bytes:
    pattern = dice.choice(names)
    for _ in range(dice.choice((0, 1, 1, 2, 2, 3))):
        at = dice.randrange(len(pattern) + 1)
        pattern = pattern[:at] + dice.choice(_WILD) + pattern[at + dice.choice((0, 1, 1, 2, 4)) :]
    if dice.random() < 0.3:
        pattern = pattern.swapcase()
    if dice.random() < 0.3:
        pattern += dice.choice((b"/*", b"/**", b"/", b"/**/*", b"/*/*"))
    return pattern


def _comparable(pattern: bytes) -> bool:
    """Git tidies empty and dot components away first; the rest is refused, and nobody's loss."""
    parts = pattern.removesuffix(b"/").split(b"/")
    if any(part in (b"", b".", b"..") for part in parts):
        return False
    if b"\\/" in pattern or (pattern.endswith(b"/") and re.search(rb"[*?\[\\]", pattern)):
        return False
    return _depth(pattern) <= 2


class _Oracle:
    """What `git ls-files` says of names, and of the same names as folders with files in them."""

    def __init__(self, repo: Path, names: list[bytes]) -> None:
        self.repo = repo
        self.names = names
        _git("init", "-q", cwd=repo)
        blob = b"100644 " + b"1" * 40 + b"\t"
        for depth in (0, 1, 2):
            lines = b"".join(blob + name + b"/x" * depth + b"\0" for name in names)
            _git(
                *("-c", "core.protectNTFS=false", "-c", "core.protectHFS=false"),
                *("update-index", "--add", "-z", "--index-info"),
                cwd=repo,
                stdin=lines,
                index=f"index{depth}",
            )

    def matched(self, magic: str, pattern: bytes, depth: int = 0) -> set[bytes]:
        spec = f":({magic})".encode() + pattern
        out = _git("ls-files", "-z", "--", os.fsdecode(spec), cwd=self.repo, index=f"index{depth}")
        return {name[: len(name) - 2 * depth] for name in out.split(b"\0") if name}

    def expected(self, magic: str, pattern: bytes) -> set[bytes]:
        found = self.matched(magic, pattern)
        for depth in range(1, _depth(pattern) + 1):
            found |= self.matched(magic, pattern, depth)
        return found


def _depth(pattern: bytes) -> int:
    """How many folders deep a file has to be for the stars at the end of `pattern` to take it."""
    ending = re.search(rb"(/\**)*\Z", pattern)
    stars = ending[0].split(b"/")[1:] if ending else []
    return sum(len(one) < 2 for one in stars) + any(len(one) > 1 for one in stars[-1:])


def _above(pattern: bytes, names: Iterable[bytes]) -> set[bytes]:
    literal = re.split(rb"[*?\[\\]", pattern)[0].lower()
    return {name for name in names if literal.startswith(name.lower() + b"/")}


def test_patterns_match_what_git_matches_and_the_bare_folders(tmp_path: Path) -> None:
    dice = random.Random(20251202)
    names = _names(dice)
    oracle = _Oracle(tmp_path, names)
    assert oracle.matched("glob", b"**") == set(names)
    patterns = [pattern for _ in range(300) if _comparable(pattern := _pattern(dice, names))]
    hits = 0
    for pattern in patterns:
        path_matches = compile_paths([os.fsdecode(pattern)])
        expected = oracle.expected("glob,icase", pattern) | _above(pattern, names)
        assert {name for name in names if path_matches(name)} == expected, pattern
        ref_matches = compile_refs([os.fsdecode(pattern)])
        got = {name for name in names if ref_matches(os.fsdecode(name))}
        assert got == oracle.expected("glob", pattern), pattern
        hits += bool(expected)
    assert hits > len(patterns) / 4


def test_a_set_of_patterns_matches_what_any_of_them_matches() -> None:
    dice = random.Random(7)
    names = _names(dice)
    for _ in range(40):
        patterns = [os.fsdecode(_pattern(dice, names)) for _ in range(dice.randrange(5))]
        single = [compile_paths([pattern]) for pattern in patterns]
        together = compile_paths(patterns)
        for name in names:
            assert together(name) == any(one(name) for one in single), (patterns, name)


@pytest.mark.parametrize(
    ("pattern", "matched", "not_matched"),
    [
        (".aiwg/**", [b".aiwg", b".AIWG/phase", b".aiwg/a/b"], [b"x/.aiwg", b".aiwg2"]),
        ("docs/*", [b"docs", b"Docs/a.md"], [b"docs/a/b.md"]),
        ("docs/*.md", [b"docs", b"docs/a.md"], [b"docs/a.txt", b"docs/a/b.md"]),
        ("a/b/c", [b"a", b"a/b", b"a/b/c", b"a/b/c/d/e"], [b"a/b/d", b"c", b"a/bc"]),
        ("docs/", [b"docs", b"docs/a/b"], [b"docs2"]),
        ("**/*.md", [b"a.md", b"a/b.MD"], [b"a", b"a/b"]),
        ("**/b", [b"b", b"a/b", b"a/a/b"], [b"ab", b"a/ab"]),
        ("a/**/b/**", [b"a/b/c", b"a/x/y/b/z", b"a/b"], [b"a/xb/c", b"ab/b/c"]),
        ("*/**", [b"a/b", b"a"], []),
        ("foo**/x", [b"foo/x", b"foobar/baz/x"], [b"bar/foo/x"]),
    ],
)
def test_what_a_pattern_of_paths_takes(
    pattern: str, matched: list[bytes], not_matched: list[bytes]
) -> None:
    matches = compile_paths([pattern])
    assert [name for name in matched if not matches(name)] == []
    assert [name for name in not_matched if matches(name)] == []


def test_no_patterns_match_nothing() -> None:
    assert not compile_paths([])(b"a")
    assert not compile_refs([])("refs/heads/main")


def test_refs_regard_case_and_never_name_journal_ledgers_or_notes() -> None:
    matches = compile_refs(["refs/**"])
    own = [
        "refs/heads/aiwg/journal",
        "refs/aiwg/gates/main/x",
        "refs/notes/aiwg/gates",
        "refs/notes/commits",
        "refs/gitgate/origin/refs/aiwg/gates/main/x",
    ]
    assert [ref for ref in own if matches(ref) or not is_own_ref(ref)] == []
    assert matches("refs/heads/main")
    assert matches("refs/heads/aiwg/journal2")
    release = compile_refs(["refs/heads/release/*", "refs/heads/main", "refs/tags/v[0-9]*"])
    assert release("refs/heads/release/1")
    assert release("refs/heads/release")
    assert release("refs/tags/v1.0")
    assert not release("refs/heads/Main")
    assert not release("refs/heads/release/1/fix")
    assert not release("refs/heads")


def test_refs_in_any_case() -> None:
    """Some spelling of the name is matched with regard to case: no more, and no less."""
    matches = compile_refs(["refs/heads/R[a-c]l[!a-z]*", "refs/tags/\\V[0-9]"], any_case=True)
    assert matches("refs/heads/RBL9")
    assert matches("REFS/heads/raLx")
    assert matches("refs/tags/v1")
    assert not matches("refs/heads/RDL9")
    assert not matches("refs/heads/rb/9")
    assert not matches("refs/tags/vv")


def test_hostile_patterns_take_time_that_is_linear_in_the_name() -> None:
    """Each of these keeps a backtracking matcher busy for longer than anybody waits."""
    name = b"a/" * 1000 + b"a" * 1000
    for pattern in ("*a" * 400 + "b", "**/" * 300 + "b", "a*" * 400 + "/b", "**/a*" * 180 + "b"):
        assert not compile_paths([pattern])(name), pattern
    many = compile_paths([f"**/a*?{'?a*' * n}b" for n in range(30)])
    dice = random.Random(1)
    for _ in range(20):
        many(bytes(dice.choices(b"ab/", k=300)))


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("", "a pattern of 1 to 1024 bytes"),
        ("a" * (MAX_PATTERN + 1), "a pattern of 1 to 1024 bytes"),
        ("a\nb", "a pattern without control characters"),
        ("a\udc80", "a pattern without control characters"),
        ("a\ud800", "a pattern without control characters"),
        ("/a", "a pattern relative to the top of the repository"),
        ("!a", "a pattern without exclusion or magic (a name that begins so: '\\!')"),
        (":(top)a", "a pattern without exclusion or magic (a name that begins so: '\\:')"),
        ("a/../b", "a pattern without the folders '.' and '..' ('**' is everything)"),
        (".", "a pattern without the folders '.' and '..' ('**' is everything)"),
        ("a//b", "a pattern with single, plain slashes between folders"),
        ("a\\/b", "a pattern with single, plain slashes between folders"),
        ("a*/", "a pattern that ends in '/**' to mean all in a folder"),
        ("a[b", "a pattern with '[' closed by ']', known classes and no '\\' at its end"),
        ("[[:word:]]", "a pattern with '[' closed by ']', known classes and no '\\' at its end"),
        ("a\\", "a pattern with '[' closed by ']', known classes and no '\\' at its end"),
        ("\\A", "a pattern in lower case after '\\' and inside '[…]' (git folds only the name)"),
        ("[A1]", "a pattern in lower case after '\\' and inside '[…]' (git folds only the name)"),
        ("[Rr]eadme", ""),
        ("[A-Z][[:upper:]]*", ""),
        ("**", ""),
        ("docs/", ""),
        ("\\!a", ""),
        ("dïr/[é]*", ""),
    ],
)
def test_what_a_pattern_is_refused_for(pattern: str, said: str) -> None:
    assert objection(pattern, fold=True) == said


def test_capitals_in_classes_are_fine_where_case_is_regarded() -> None:
    assert objection("refs/heads/[A1]\\B", fold=False) == ""
