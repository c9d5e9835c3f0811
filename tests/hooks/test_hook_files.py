"""Installing, removing and describing the hook, over real files."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitgate import hookguards, hooks
from gitgate.errors import Exit, GateError
from gitgate.hooks import HookState

FOREIGN = b"#!/bin/sh\n# somebody's own \xff\nexit 0"


class Place:
    """A hooks folder, git's common folder and a program to install."""

    def __init__(self, root: Path) -> None:
        self.common = root / "git"
        self.hooks = self.common / "hooks"
        self.hooks.mkdir(parents=True)
        self.hook = self.hooks / "pre-push"
        self.aside = self.hooks / "pre-push.before-git-gate"
        self.program = root / "git-gate"
        self.program.write_text("#!/bin/sh\n")
        self.program.chmod(0o755)
        self.guards = self.common / "git-gate" / "guards"

    def install(self) -> list[str]:
        return hooks.install(self.hooks, self.common, self.program)

    def uninstall(self) -> list[str]:
        return hooks.uninstall(self.hooks, self.common)

    def files(self) -> dict[str, tuple[int, bytes]]:
        return {
            path.name: (path.lstat().st_mode, os.fsencode(path.readlink()))
            if path.is_symlink()
            else (path.lstat().st_mode, path.read_bytes())
            for path in self.hooks.iterdir()
        }


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_install_into_an_empty_folder_and_out_again(place: Place) -> None:
    assert place.install() == [f"the pre-push hook is installed: {place.hook}"]
    assert stat.S_IMODE(place.hook.stat().st_mode) == 0o755
    assert f"\ngate='{place.program}'\n".encode() in place.hook.read_bytes()
    assert hooks.status(place.hooks) == hooks.HookStatus(
        place.hook, HookState.INSTALLED, True, place.program, True, None
    )
    assert place.uninstall() == [f"the pre-push hook is removed: {place.hook}"]
    assert place.files() == {}
    assert hooks.status(place.hooks).state is HookState.ABSENT


def test_a_missing_folder_is_made(place: Place) -> None:
    place.hooks.rmdir()
    place.install()
    assert [*place.files()] == ["pre-push"]


def test_install_twice_changes_nothing(place: Place) -> None:
    place.hook.write_bytes(FOREIGN)
    place.install()
    before = place.files(), place.hook.stat().st_ino
    assert place.install() == [f"the pre-push hook is installed already: {place.hook}"]
    assert (place.files(), place.hook.stat().st_ino) == before


@pytest.mark.parametrize("mode", [0o755, 0o700, 0o644])
def test_an_existing_hook_comes_back_as_it_was(place: Place, mode: int) -> None:
    place.hook.write_bytes(FOREIGN)
    place.hook.chmod(mode)
    before = place.files()
    said = place.install()
    assert str(place.aside) in said[0]
    assert ("runs first" in said[0]) == bool(mode & 0o100)
    assert place.aside.read_bytes() == FOREIGN
    assert stat.S_IMODE(place.aside.stat().st_mode) == mode
    assert hooks.status(place.hooks).earlier == place.aside
    said = place.uninstall()
    assert said == [f"the pre-push hook that was here before git-gate's is back: {place.hook}"]
    assert place.files() == before


@pytest.mark.parametrize("target", ["../shared-hook", "gone"])
def test_a_symlinked_hook_is_never_written_through(place: Place, target: str) -> None:
    shared = place.common / "shared-hook"
    shared.write_bytes(FOREIGN)
    shared.chmod(0o755)
    place.hook.symlink_to(target)
    before = place.files()
    place.install()
    assert place.aside.is_symlink()
    assert not place.hook.is_symlink()
    assert shared.read_bytes() == FOREIGN
    place.uninstall()
    assert place.files() == before


def test_a_symlink_to_a_hook_of_ours_becomes_a_file(place: Place, tmp_path: Path) -> None:
    other = Place(tmp_path / "other")
    other.install()
    content = other.hook.read_bytes()
    place.hook.symlink_to(other.hook)
    place.install()
    assert not place.hook.is_symlink()
    assert not place.aside.exists()
    assert other.hook.read_bytes() == content


def test_a_hook_that_was_set_aside_is_never_overwritten(place: Place) -> None:
    place.hook.write_bytes(FOREIGN)
    place.install()
    place.hook.write_bytes(b"#!/bin/sh\n# another tool's\n")
    before = place.files()
    with pytest.raises(GateError) as caught:
        place.install()
    assert str(place.aside) in caught.value.message
    assert caught.value.hint
    assert place.files() == before
    said = place.uninstall()
    assert "stays" in said[0]
    assert str(place.aside) in said[1]
    assert place.files() == before


def test_a_hook_set_aside_comes_back_though_ours_is_gone(place: Place) -> None:
    place.hook.write_bytes(FOREIGN)
    before = place.files()
    place.install()
    place.hook.unlink()
    place.uninstall()
    assert place.files() == before
    place.hook.unlink()
    assert "no pre-push hook" in place.uninstall()[0]


def test_an_outdated_or_disabled_hook_is_renewed(place: Place) -> None:
    place.install()
    right = place.files()
    place.hook.write_bytes(place.hook.read_bytes().replace(b"set -f\n", b""))
    assert hooks.status(place.hooks).state is HookState.OUTDATED
    place.install()
    assert place.files() == right
    place.hook.chmod(0o644)
    assert not hooks.status(place.hooks).runs
    place.install()
    assert place.files() == right


def test_a_moved_program(place: Place) -> None:
    place.install()
    place.program.rename(place.program.with_name("elsewhere"))
    found = hooks.status(place.hooks)
    assert (found.state, found.program, found.program_runs) == (
        HookState.INSTALLED,
        place.program,
        False,
    )
    place.program = place.program.with_name("elsewhere")
    place.install()
    assert hooks.status(place.hooks).program_runs


@pytest.mark.parametrize("name", ["it's", 'a "b" $(c) `d`', "back\\slash", "caf\udce9"])
def test_a_program_path_is_quoted(place: Place, name: str) -> None:
    place.program = place.program.rename(place.program.with_name(name))
    place.install()
    assert hooks.status(place.hooks).program == place.program


@pytest.mark.parametrize("what", ["missing", "no run bit", "folder", "newline"])
def test_a_program_that_cannot_run_is_refused(place: Place, what: str) -> None:
    if what == "missing":
        place.program.unlink()
    elif what == "no run bit":
        place.program.chmod(0o644)
    elif what == "folder":
        place.program = place.hooks
    else:
        place.program = place.program.rename(place.program.with_name("a\nb"))
    with pytest.raises(GateError, match="no program"):
        place.install()
    assert place.files() == {}


def test_a_folder_in_the_place_of_the_hook(place: Place) -> None:
    place.hook.mkdir()
    for action in (place.install, place.uninstall, lambda: hooks.status(place.hooks)):
        with pytest.raises(GateError) as caught:
            action()
        assert caught.value.kind is Exit.FATAL
        assert str(place.hook) in caught.value.message


def test_a_hooks_folder_that_is_a_file(place: Place) -> None:
    place.hooks.rmdir()
    place.hooks.write_text("")
    with pytest.raises(GateError) as caught:
        place.install()
    assert str(place.hooks) in caught.value.message


@contextmanager
def _without_privileges() -> Iterator[None]:
    """Root ignores permissions, so it is somebody else for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_folder_without_write_permission() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        place = Place(Path(folder))
        place.hook.write_bytes(FOREIGN)
        before = place.files()
        place.hooks.chmod(0o555)
        with _without_privileges(), pytest.raises(GateError) as caught:
            place.install()
        assert "Permission denied" in caught.value.message
        assert "core.hooksPath" in caught.value.hint
        assert place.files() == before


BLOB = "0123456789" * 4


def write(place: Place, **changed: object) -> bytes | None:
    """What stands in the file of guards after a call with these values instead of good ones."""
    values: dict[str, object] = {
        "remote": "origin",
        "policy_ref_config": "refs/heads/main",
        "consulted": [("refs/remotes/origin/main:aiwg.yml", BLOB), ("main:.mailmap", "missing")],
        "patterns": ["refs/heads/main", "refs/heads/release/**", "refs/heads/main"],
    }
    hookguards.write_guard_cache(place.common, **{**values, **changed})  # type: ignore[arg-type]
    path = place.guards / str(changed.get("remote", "origin"))
    return path.read_bytes() if path.is_file() else None


GUARDS = f"""git-gate guards 1
remote origin
head none
policy-ref refs/heads/main
policy refs/remotes/origin/main:aiwg.yml {BLOB}
policy main:.mailmap missing
guard refs/heads/main
guard refs/heads/release
end
""".encode()


def test_the_file_of_guards(place: Place) -> None:
    assert write(place) == GUARDS
    head = place.common / "refs" / "remotes" / "origin" / "HEAD"
    head.parent.mkdir(parents=True)
    head.write_text("ref: refs/remotes/origin/main\n")
    content = write(place, policy_ref_config="")
    assert content == GUARDS.replace(b"none", b"ref: refs/remotes/origin/main").replace(
        b"ref refs/heads/main", b"ref ", 1
    )
    assert [path.name for path in place.guards.iterdir()] == ["origin"]


def test_tips_are_noted_for_all_that_was_looked_at_or_not_at_all(place: Place) -> None:
    tracking, local = "refs/remotes/origin/main", "refs/heads/main"
    looked_at = [(f"{tracking}:aiwg.yml", BLOB), (f"{local}:aiwg.yml", "missing")]
    tips = {tracking: "1" * 40, local: "2" * 40, "refs/heads/other": "3" * 40}
    content = write(place, consulted=looked_at, tips=tips)
    assert content is not None
    assert f"\ntip {tracking} {'1' * 40}\ntip {local} {'2' * 40}\nguard ".encode() in content
    for lacking in ({tracking: "1" * 40}, {**tips, local: "missing"}):
        content = write(place, consulted=looked_at, tips=lacking)
        assert content is not None
        assert b"tip " not in content
    content = write(place, consulted=[("refs/../x:aiwg.yml", BLOB)], tips={"refs/../x": "1" * 40})
    assert content is not None
    assert b"tip " not in content


@pytest.mark.parametrize(
    "changed",
    [
        {"policy_ref_config": " main"},
        {"policy_ref_config": "main\nend"},
        {"consulted": []},
        {"consulted": [("main:a file", BLOB)]},
        {"consulted": [("main:aiwg.yml", BLOB[1:])]},
        {"consulted": [("main:aiwg.yml", "ambiguous")]},
        {"patterns": []},
    ],
    ids=str,
)
def test_what_the_shell_could_misread_is_not_noted(
    place: Place, changed: dict[str, object]
) -> None:
    write(place)
    assert write(place, **changed) is None


@pytest.mark.parametrize("remote", ["", "..", "../x", "a/b", "https://x", ".hidden", "é"])
def test_remotes_without_a_plain_name_have_no_guards(place: Place, remote: str) -> None:
    assert write(place, remote=remote) is None
    assert not place.guards.exists()


def test_the_guards_go_with_each_installation(place: Place) -> None:
    for action in (place.install, place.uninstall):
        write(place)
        action()
        assert not place.guards.exists()


def test_guards_that_cannot_be_written_are_no_error(place: Place) -> None:
    (place.common / "git-gate").write_text("in the way")
    assert write(place) is None


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("refs/heads/main", "refs/heads/main"),
        ("refs/heads/release/**", "refs/heads/release"),
        ("refs/heads/release/*", "refs/heads/release"),
        ("refs/heads/", "refs/heads"),
        ("refs/heads/v?.[0-9]", "refs/heads/v*.*"),
        ("refs/**/main", "refs*main"),
        ("**/main", "*main"),
        ("**", "*"),
        ("refs/heads/caf\u00e9 $(x)|y", "refs/heads/caf*x*y"),
        ("refs/heads/\\[x]", "refs/heads"),
    ],
)
def test_a_ref_pattern_for_the_shell(pattern: str, expected: str) -> None:
    assert hookguards.case_pattern(pattern) == expected
