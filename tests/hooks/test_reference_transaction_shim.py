"""The reference-transaction hook itself, under real git and under each POSIX shell that is here.

The program that it starts is a script that notes what it was told and exits as it is bid.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from gitgate import hookguards, hooks

SHELLS = [
    pytest.param(argv, id=argv[0])
    for argv in (("dash",), ("busybox", "sh"), ("bash", "--posix"))
    if shutil.which(argv[0])
]
ZERO, ONE, TWO = "0" * 40, "1" * 40, "2" * 40
MAIN = "refs/heads/main"
PROGRAM = """#!/bin/sh
here=${0%/*}
for word; do printf '<%s>' "$word"; done >"$here/arguments"
cat >"$here/input"
exit "$(cat "$here/status")"
"""


def line(ref: str, new: str = ONE, old: str = TWO) -> str:
    return f"{old} {new} {ref}\n"


class Place:
    """A repository with the hook, in which main is guarded and a branch is at work."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.work = root / "work"
        self.dir = self.work / ".git"
        self.hook = self.dir / "hooks" / hooks.REFERENCE_TRANSACTION
        self.program = root / "program" / "it's git-gate"
        self.program.parent.mkdir()
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        self.answer(1)
        subprocess.run(["git", "init", "-q", self.work], check=True)
        self.git("config", "gate.policyRef", MAIN)
        (self.work / "aiwg.yml").write_text("human_gates: {}\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "policy")
        self.git("switch", "-q", "-c", "topic")
        self.install()

    def install(self) -> None:
        hooks.install(self.hook.parent, self.dir, self.program, hooks.REFERENCE_TRANSACTION)
        self.write_guards()

    def git(self, *args: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", *args], cwd=self.work, capture_output=True, text=True, check=False
        )
        assert not (check and done.returncode), done.stderr
        return done.stdout.strip() if check else done.stderr

    def write_guards(self) -> None:
        tip = self.git("rev-parse", MAIN)
        at = f"{MAIN}:aiwg.yml"
        consulted = [(at, self.git("rev-parse", at))]
        hookguards.write_guard_cache(
            self.dir, hookguards.HERE, MAIN, consulted, [MAIN, "refs/tags/v*"], {MAIN: tip}
        )

    @property
    def guards(self) -> Path:
        return self.dir / "git-gate" / "guards" / ".here"

    def answer(self, status: int) -> None:
        (self.program.parent / "status").write_text(str(status))

    def asked(self) -> str | None:
        """The input of the program since the last call; None: it was not started."""
        arguments, stdin = (self.program.parent / name for name in ("arguments", "input"))
        if not arguments.exists():
            return None
        assert arguments.read_text() == "<hook><run><reference-transaction><prepared>"
        arguments.unlink()
        return stdin.read_text()

    def run(
        self, stdin: str, state: str = "prepared", shell: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*shell, str(self.hook), state],
            cwd=self.work,
            input=stdin,
            env=dict(os.environ),
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_what_daily_work_does_starts_nothing(place: Place) -> None:
    (place.work / "page").write_text("x\n")
    place.git("add", ".")
    place.git("commit", "-q", "-m", "more")
    place.git("tag", "release-1")
    place.git("notes", "add", "-m", "a note")
    place.git("branch", "other")
    place.git("branch", "-m", "other", "third")
    place.git("branch", "-D", "third")
    (place.work / "page").write_text("y\n")
    place.git("stash", "-q")
    place.git("update-ref", "refs/remotes/origin/main", "HEAD")
    place.git("rebase", "-q", "--no-ff", "main")
    place.git("pack-refs", "--all")
    place.git("commit", "-q", "--allow-empty", "-m", "with main packed")
    assert place.asked() is None
    place.git("branch", "-f", "main", "HEAD", check=False)
    assert place.asked() == line(MAIN, place.git("rev-parse", "HEAD"), ZERO)


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell(place: Place, shell: Sequence[str]) -> None:
    passing = (
        line("HEAD") + line("refs/heads/topic") + line("refs/heads/mainly") + line("ORIG_HEAD")
    )
    passing += line(MAIN, ZERO) + line("refs/remotes/origin/main") + line("refs/stash")
    passing += line(MAIN, place.git("rev-parse", MAIN), ZERO)
    assert place.run("", shell=shell).returncode == 0
    assert place.run(passing, shell=shell).returncode == 0
    assert place.asked() is None
    hostile = line("refs/heads/*\\n-n\\c%s", "-e") + line("refs/heads/$(exit) `exit`")
    moved = line("refs/heads/topic") + line(MAIN)
    for kept in (moved, hostile + line(MAIN), line("refs/tags/v1"), line("refs/heads/main/x")):
        done = place.run(line("HEAD") + kept, shell=shell)
        assert (done.returncode, done.stderr) == (1, "")
        assert place.asked() == kept
    for state in ("committed", "aborted", "preparing"):
        assert place.run(line(MAIN), state, shell).returncode == 0
    assert place.asked() is None
    place.answer(0)
    assert place.run(line(MAIN), shell=shell).returncode == 0


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("count", [199, 200, 30_000])
def test_many_refs(place: Place, shell: Sequence[str], count: int) -> None:
    stdin = "".join(line(f"refs/heads/topic-{number}") for number in range(count))
    far = "".join(line(f"refs/remotes/origin/topic-{number}") for number in range(5000))
    place.run(far + stdin, shell=shell)
    asked = place.asked()
    assert asked is None if count < 200 else asked is not None and asked.rstrip() == stdin.rstrip()
    place.run(stdin + line(MAIN), shell=shell)
    asked = place.asked()
    assert asked is not None
    assert asked.rstrip() == (stdin + line(MAIN)).rstrip()


CHANGES = {
    "no file": lambda place: place.guards.unlink(),
    "empty": lambda place: place.guards.write_text(""),
    "cut": lambda place: edit(place, "end\n", ""),
    "another remote's": lambda place: edit(place, "remote .", "remote origin"),
    "no guards": lambda place: edit(place, f"guard {MAIN}\nguard refs/tags/v*\n", ""),
    "no tip": lambda place: edit(place, "tip ", "policy "),
    "another setting": lambda place: place.git("config", "gate.policyRef", "refs/heads/topic"),
    "no setting": lambda place: place.git("config", "--unset", "gate.policyRef"),
    "policy moved": lambda place: (place.dir / MAIN).write_text(ONE + "\n"),
    "policy gone": lambda place: (place.dir / MAIN).unlink(),
}


def edit(place: Place, old: str, new: str) -> None:
    content = place.guards.read_text()
    assert old in content
    place.guards.write_text(content.replace(old, new))


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changed_is_asked_about(place: Place, change: str) -> None:
    assert place.run(line("refs/heads/topic")).returncode == 0
    CHANGES[change](place)
    assert place.run(line("refs/heads/topic")).returncode == 1
    assert place.asked() == line("refs/heads/topic")
    assert place.run(line("refs/remotes/origin/x")).returncode == 0
    assert place.asked() is None


@pytest.mark.parametrize("shell", SHELLS)
def test_the_earlier_hook_sees_every_state(place: Place, shell: Sequence[str]) -> None:
    noted = place.root / "noted"
    mine = (
        f'#!/bin/sh\n{{ printf "%s|" "$@"; cat; }} >>"{noted}"\n[ ! -e "{noted}.no" ] || exit 3\n'
    )
    hooks.uninstall(place.hook.parent, place.dir, hooks.REFERENCE_TRANSACTION)
    place.hook.write_text(mine)
    place.hook.chmod(0o755)
    place.install()
    told = line("HEAD") + line("refs/heads/topic")
    for state in ("prepared", "committed"):
        assert place.run(told, state, shell).returncode == 0
    assert place.run("", "aborted", shell).returncode == 0
    assert noted.read_text() == f"prepared|{told}committed|{told}aborted|"
    assert place.asked() is None
    assert place.run(line(MAIN), shell=shell).returncode == 1
    assert place.asked() == line(MAIN)
    Path(f"{noted}.no").touch()
    assert place.run(line("refs/heads/topic"), shell=shell).returncode == 3
    hooks.uninstall(place.hook.parent, place.dir, hooks.REFERENCE_TRANSACTION)
    assert place.hook.read_text() == mine
    assert [*place.hook.parent.glob("*git-gate")] == []


@pytest.mark.parametrize("shell", SHELLS)
def test_a_git_gate_that_is_gone_refuses_with_a_way_out(place: Place, shell: Sequence[str]) -> None:
    shutil.rmtree(place.program.parent)
    done = place.run(line(MAIN), shell=shell)
    assert done.returncode == 1
    for words in ("is gone", str(place.program), "--block-local", f"rm '{place.hook}'"):
        assert words in done.stderr
    assert place.run(line("refs/heads/topic"), shell=shell).returncode == 0


def test_the_hook_of_the_source_tree_itself_refuses(place: Place) -> None:
    place.hook.write_bytes((Path(__file__).parents[2] / "hooks" / place.hook.name).read_bytes())
    assert place.run(line(MAIN)).returncode == 1
