"""What lets the hooks be quick: a file that tells their shell which refs are guarded.

The shims (`hooks/` in the source tree) start git-gate only where a guarded ref may be meant. They
find that out from a file in git's own folder, `git-gate/guards/<remote>` for a push to that remote
and `git-gate/guards/.here` for the refs of this repository itself, which is the remote `.`:

    git-gate guards 1                    the format
    remote <name>
    head <content of refs/remotes/<name>/HEAD, or "none">
    policy-ref <value of gate.policyRef, or nothing>
    policy <revision>:<path> <blob id, or "missing">      all that was looked at
    tip <ref> <commit>                   where its revisions stood: for all of them, or for none
    guard <shell pattern>                guards it and what is under it
    end

All of it is compared with the present state each time; in doubt git-gate is started.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

HERE = "."
"""The remote that is this repository itself, as git calls it too."""

_REMOTE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_SETTING = re.compile(r"(?![ ])[^\x00-\x1f\x7f]*(?<![ ])")
_REVISION_PATH = re.compile(r"[^\x00-\x20\x7f]+")
_REF = re.compile(r"refs(/(?!\.)[^/]+)+")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_BLOB = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}|missing")


def write_guard_cache(
    common_dir: Path,
    remote: str,
    policy_ref_config: str,
    consulted: Sequence[tuple[str, str]],
    patterns: Sequence[str],
    tips: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Note which refs of `remote` are guarded, so that others need not start git-gate.

    `policy_ref_config` is the value of `gate.policyRef` ("" where unset); `consulted` each
    `<revision>:<path>` whose content or absence led to `patterns`, with its blob's id or
    "missing"; `patterns` the ref patterns of policy, the policy ref among them. To be called only
    where the answer does not depend on what is pushed. Where that cannot be noted, nothing stays
    noted and every push is asked about; so too where nothing is guarded. `tips`, the commits at
    which the refs of `consulted` were then, makes a push cheaper as long as they stay there.
    """
    path = _file(common_dir, remote)
    if path is None:
        return
    sound = (
        patterns
        and consulted
        and _SETTING.fullmatch(policy_ref_config)
        and all(_REVISION_PATH.fullmatch(at) and _BLOB.fullmatch(blob) for at, blob in consulted)
    )
    with suppress(OSError):  # what is noted is checked each time: an old note does no harm
        if not sound:
            path.unlink(missing_ok=True)
            return
        lines = [
            "git-gate guards 1",
            f"remote {remote}",
            f"head {_remote_head(common_dir, remote)}",
            f"policy-ref {policy_ref_config}",
            *(f"policy {at} {blob}" for at, blob in consulted),
            *_tip_lines(consulted, tips),
            *(f"guard {pattern}" for pattern in dict.fromkeys(map(case_pattern, patterns))),
            "end",
        ]
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, os.fsencode("\n".join(lines) + "\n"), mode=0o644)


def forget(common_dir: Path) -> None:
    """Let every hook ask git-gate again, which then notes anew what is guarded."""
    shutil.rmtree(common_dir / "git-gate" / "guards", ignore_errors=True)


def case_pattern(ref_pattern: str) -> str:
    """A shell pattern that matches all that `ref_pattern` does, taken with what is under it.

    It may match more. It consists of letters, digits, `.`, `_`, `-`, `/` and `*`, which mean the
    same to every shell; in `case` a `*` also crosses folders.
    """
    text = re.split(r"[\[\\]", ref_pattern)
    pattern = text[0] + "*" * (len(text) > 1)
    pattern = re.sub(r"(/\**)+\Z", "", pattern)
    pattern = re.sub(r"/?\*\*+/?", "*", pattern)
    pattern = re.sub(r"[^A-Za-z0-9._/-]+", "*", pattern)
    return pattern or "*"


def write_whole(path: Path, content: bytes, *, mode: int) -> None:
    """Put a file with `content` in the place of `path`, whole or not at all; raises OSError."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _file(common_dir: Path, remote: str) -> Path | None:
    """Where the guards of a remote stand; None for one whose name is no plain file name."""
    name = ".here" if remote == HERE else remote
    plain = remote == HERE or _REMOTE.fullmatch(remote)
    return common_dir / "git-gate" / "guards" / name if plain else None


def _remote_head(common_dir: Path, remote: str) -> str:
    try:
        content = (common_dir / "refs" / "remotes" / remote / "HEAD").read_bytes()
    except FileNotFoundError:
        return "none"
    return os.fsdecode(content.partition(b"\n")[0])


def _tip_lines(consulted: Sequence[tuple[str, str]], tips: Mapping[str, str]) -> list[str]:
    revisions = dict.fromkeys(at.partition(":")[0] for at, _ in consulted)
    if all(_REF.fullmatch(ref) and _COMMIT.fullmatch(tips.get(ref, "")) for ref in revisions):
        return [f"tip {ref} {tips[ref]}" for ref in revisions]
    return []
