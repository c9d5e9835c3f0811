"""What policy's ref patterns match, the pre-push hook asks about: the shell only matches more."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitgate import hookguards, hooks
from gitgate.core import patterns

ONE = "1" * 40
PARTS = st.sampled_from(["main", "release", "v1", "a", "B", "x-1", "\u00e9", ".", "@", "+"])
REFS = st.lists(PARTS, min_size=1, max_size=4).map(lambda parts: "refs/" + "/".join(parts))
MAGIC = ["*", "**", "**/", "/**", "/*", "?", "[ab]", "[!x]", "[/]", "\\", "/", "[", "[[:alpha:]]"]


@st.composite
def near_misses(draw: st.DrawFn) -> tuple[str, str]:
    """A pattern, and a ref from which it was made by putting magic in the place of some of it."""
    ref = draw(REFS)
    pattern = ref
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(pattern)))
        end = draw(st.integers(start, min(len(pattern), start + 8)))
        pattern = pattern[:start] + draw(st.sampled_from(MAGIC)) + pattern[end:]
    return pattern or "**", ref + draw(st.sampled_from(["", "", "/below", "-more"]))


@pytest.fixture(scope="module")
def common_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The git folder of an empty repository; its hook's program leaves a file `asked`."""
    root = tmp_path_factory.mktemp("case")
    program = root / "program"
    program.write_text('#!/bin/sh\n: >"${0%/*}/asked"\n')
    program.chmod(0o755)
    subprocess.run(["git", "init", "-q", "--bare", str(root / "git")], check=True)
    hooks.install(root / "git" / "hooks", root / "git", program)
    return root / "git"


def is_asked(common_dir: Path, pattern: str, ref: str) -> bool:
    """Whether the hook starts its program for a push of `ref` where `pattern` is guarded."""
    consulted = [("main:aiwg.yml", "missing")]
    hookguards.write_guard_cache(common_dir, "origin", "", consulted, [pattern])
    subprocess.run(
        [str(common_dir / "hooks" / "pre-push"), "origin", "URL"],
        input=f"refs/heads/topic {ONE} {ref} {ONE}\n".encode(),
        env={**os.environ, "GIT_DIR": str(common_dir)},
        check=True,
    )
    asked = common_dir.parent / "asked"
    if not asked.exists():
        return False
    asked.unlink()
    return True


@settings(max_examples=400)
@given(pair=near_misses())
@example(pair=("refs/heads/**/main", "refs/heads/main"))
@example(pair=("refs/heads/[ab]*", "refs/heads/b"))
@example(pair=("refs/heads/main/**", "refs/heads/main"))
@example(pair=("refs/heads/main", "refs/heads/main/below"))
@example(pair=("refs/heads/\\main", "refs/heads/main"))
def test_no_guarded_ref_passes(common_dir: Path, pair: tuple[str, str]) -> None:
    pattern, ref = pair
    if not patterns.compile_refs([pattern])(ref):
        return
    assert is_asked(common_dir, pattern, ref), hookguards.case_pattern(pattern)


def test_other_refs_pass(common_dir: Path) -> None:
    assert not is_asked(common_dir, "refs/heads/release/**", "refs/heads/releases")
