"""The files of the git hooks: the shim in a repository's hooks folder, and what lets it be quick.

The shim (`hooks/pre-push` in the source tree) starts git-gate only where a push may touch a guarded
ref. It finds that out from `git-gate/guards/<remote>` in git's own folder, a file of lines:

    git-gate guards 1                    the format
    remote <name>
    head <content of refs/remotes/<name>/HEAD, or "none">
    policy-ref <value of gate.policyRef, or nothing>
    policy <revision>:<path> <blob id, or "missing">      all that was looked at
    tip <ref> <commit>                   where its revisions stood: for all of them, or for none
    guard <shell pattern>                guards it and what is under it
    end

All of it is compared with the present state at each push; in doubt git-gate is started.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from gitgate.errors import Exit, GateError

NAME = "pre-push"
SET_ASIDE = "pre-push.before-git-gate"
_ID_LINE = b"# git-gate hook: pre-push"
_PROGRAM_LINE = b"gate=''"

_REMOTE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_SETTING = re.compile(r"(?![ ])[^\x00-\x1f\x7f]*(?<![ ])")
_REVISION_PATH = re.compile(r"[^\x00-\x20\x7f]+")
_REF = re.compile(r"refs(/(?!\.)[^/]+)+")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_BLOB = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}|missing")


class HookState(StrEnum):
    """What stands in the place of the hook."""

    ABSENT = "absent"
    FOREIGN = "foreign"
    OUTDATED = "outdated"
    INSTALLED = "installed"


@dataclass(frozen=True, slots=True)
class HookStatus:
    """The hook of one hooks folder.

    `runs`: it has its run bit, without which git passes over it in silence. `program`: the
    git-gate that it starts, None where it is not ours; `program_runs`: that one is still there.
    `earlier`: the hook that was there before and is run first.
    """

    path: Path
    state: HookState
    runs: bool
    program: Path | None
    program_runs: bool
    earlier: Path | None


def install(hooks_dir: Path, common_dir: Path, program: Path) -> list[str]:
    """Put the hook into `hooks_dir`; the sentences that say what happened.

    `program` is the `git-gate` that the hook starts. A hook that is there already is set aside
    byte for byte and run first. Raises GateError where that would overwrite one that was set
    aside earlier, where `program` cannot be run, and where a file cannot be written.
    """
    program = program.absolute()
    if not _can_run(program) or "\n" in str(program):
        raise GateError(Exit.FATAL, f"a hook cannot start '{program}': it is no program")
    path, aside = hooks_dir / NAME, hooks_dir / SET_ASIDE
    with _explaining(path):
        hooks_dir.mkdir(parents=True, exist_ok=True)
        said = _set_aside(path, aside) if _state(path) is HookState.FOREIGN else []
        wanted = _shim(program)
        if _is_plain(path) and _can_run(path) and path.read_bytes() == wanted:
            said.append(f"the {NAME} hook is installed already: {path}")
        else:
            _write(path, wanted, mode=0o755)
            said.append(f"the {NAME} hook is installed: {path}")
    _forget_guards(common_dir)
    return said


def uninstall(hooks_dir: Path, common_dir: Path) -> list[str]:
    """Take the hook away and give back the one that was set aside; what happened, in sentences.

    A hook that is not ours stays. Raises GateError where a file cannot be changed.
    """
    path, aside = hooks_dir / NAME, hooks_dir / SET_ASIDE
    with _explaining(path):
        state = _state(path)
        if state is HookState.FOREIGN:
            said = [f"the {NAME} hook is not git-gate's and stays: {path}"]
            if os.path.lexists(aside):
                said.append(f"the hook that git-gate had set aside stays too: {aside}")
        elif os.path.lexists(aside):
            aside.replace(path)
            said = [f"the {NAME} hook that was here before git-gate's is back: {path}"]
        elif state is HookState.ABSENT:
            said = [f"there is no {NAME} hook to remove: {path}"]
        else:
            path.unlink()
            said = [f"the {NAME} hook is removed: {path}"]
    _forget_guards(common_dir)
    return said


def status(hooks_dir: Path) -> HookStatus:
    """What stands in `hooks_dir`. Raises GateError where it cannot be read."""
    path, aside = hooks_dir / NAME, hooks_dir / SET_ASIDE
    with _explaining(path):
        state = _state(path)
        program = None
        if state is HookState.OUTDATED:
            content = path.read_bytes()
            program = _recorded_program(content)
            if program is not None and content == _shim(program):
                state = HookState.INSTALLED
        return HookStatus(
            path=path,
            state=state,
            runs=_can_run(path),
            program=program,
            program_runs=program is not None and _can_run(program),
            earlier=aside if os.path.lexists(aside) else None,
        )


def write_guard_cache(
    common_dir: Path,
    remote: str,
    policy_ref_config: str,
    consulted: Sequence[tuple[str, str]],
    patterns: Sequence[str],
    tips: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Note which refs of `remote` are guarded, so that other pushes need not start git-gate.

    `policy_ref_config` is the value of `gate.policyRef` ("" where unset); `consulted` each
    `<revision>:<path>` whose content or absence led to `patterns`, with its blob's id or
    "missing"; `patterns` the ref patterns of policy, the policy ref among them. To be called only
    where the answer does not depend on what is pushed. Where that cannot be noted, nothing stays
    noted and every push is asked about; so too where nothing is guarded. `tips`, the commits at
    which the refs of `consulted` were then, makes a push cheaper as long as they stay there.
    """
    if not _REMOTE.fullmatch(remote):
        return
    path = _guards(common_dir) / remote
    sound = (
        patterns
        and consulted
        and _SETTING.fullmatch(policy_ref_config)
        and all(_REVISION_PATH.fullmatch(at) and _BLOB.fullmatch(blob) for at, blob in consulted)
    )
    with suppress(OSError):  # what is noted is checked at each push: an old note does no harm
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
        _write(path, os.fsencode("\n".join(lines) + "\n"), mode=0o644)


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


def _guards(common_dir: Path) -> Path:
    return common_dir / "git-gate" / "guards"


def _forget_guards(common_dir: Path) -> None:
    shutil.rmtree(_guards(common_dir), ignore_errors=True)


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


def _shim(program: Path) -> bytes:
    """The hook as it is installed: the shim with its program filled in."""
    here = Path(__file__).parent
    in_wheel, in_checkout = here / "shims" / NAME, here.parent / "hooks" / NAME
    source = (in_wheel if in_wheel.is_file() else in_checkout).read_bytes()
    quoted = b"'" + os.fsencode(program).replace(b"'", b"'\\''") + b"'"
    return source.replace(_PROGRAM_LINE, b"gate=" + quoted, 1)


def _recorded_program(content: bytes) -> Path | None:
    for line in content.split(b"\n"):
        if line.startswith(b"gate="):
            with suppress(ValueError):
                return Path(shlex.split(os.fsdecode(line))[0].removeprefix("gate="))
    return None


def _state(path: Path) -> HookState:
    """ABSENT, FOREIGN, or OUTDATED for any hook of ours. Raises OSError for a folder."""
    if not os.path.lexists(path):
        return HookState.ABSENT
    if path.is_symlink() and not path.exists():
        return HookState.FOREIGN
    with path.open("rb") as file:
        first_lines = file.read(200).split(b"\n")[:2]
    return HookState.OUTDATED if _ID_LINE in first_lines else HookState.FOREIGN


def _set_aside(path: Path, aside: Path) -> list[str]:
    if os.path.lexists(aside):
        raise GateError(
            Exit.FATAL,
            f"'{path}' is not git-gate's, and an earlier hook is set aside already: '{aside}'",
            "bring the two together in one of them, remove the other, and install again",
        )
    ran = _can_run(path)
    path.rename(aside)
    said = f"the {NAME} hook that was here "
    said += "runs first" if ran else "has no run bit, so git did not run it and git-gate does not"
    return [f"{said}: {aside}"]


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _can_run(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _write(path: Path, content: bytes, *, mode: int) -> None:
    """Put a file with `content` in the place of `path`, whole or not at all."""
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


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    """What the operating system refuses becomes a sentence."""
    try:
        yield
    except OSError as error:
        where = error.filename or path
        raise GateError(
            Exit.FATAL,
            f"cannot change the hook '{path}': {error.strerror} ('{where}')",
            "make the folder writable, or choose another with git config core.hooksPath DIR",
        ) from None
