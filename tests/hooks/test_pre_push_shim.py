"""The pre-push hook itself, under real git and under each POSIX shell that is here.

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
TRACKING = "refs/remotes/origin/main"
POLICY, SIGNERS = f"{TRACKING}:aiwg.yml", f"{TRACKING}:.aiwg/allowed_signers"
PROGRAM = """#!/bin/sh
here=${0%/*}
for word; do printf '<%s>\\n' "$word"; done >"$here/arguments"
cat >"$here/input"
exit "$(cat "$here/status")"
"""


def line(remote_ref: str, local: str = "refs/heads/topic", new: str = ONE, old: str = ZERO) -> str:
    return f"{local} {new} {remote_ref} {old}\n"


class Clone:
    """A clone with a bare remote, the hook installed and `refs/heads/main` guarded."""

    def __init__(self, template: Path, root: Path) -> None:
        self.root = root
        self.work = root / "work"
        self.dir = self.work / ".git"
        self.hook = self.dir / "hooks" / "pre-push"
        self.program = root / "program" / "it's git-gate"
        if not template.exists():
            self._build(template)
        shutil.copytree(template, root, dirs_exist_ok=True, symlinks=True)
        self.program.parent.mkdir()
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        hooks.install(self.hook.parent, self.dir, self.program)
        self.write_guards()
        self.answer(1)

    def _build(self, template: Path) -> None:
        """The clone without a hook, to be copied for each test: its remote is beside it."""
        work = template / "work"
        template.mkdir()
        self.git("init", "-q", "--bare", "remote.git", cwd=template)
        self.git("clone", "-q", "remote.git", "work", cwd=template)
        self.git("config", "remote.origin.url", "../remote.git", cwd=work)
        (work / "aiwg.yml").write_text("human_gates: {}\n")
        self.git("add", ".", cwd=work)
        self.git("commit", "-q", "-m", "policy", cwd=work)
        self.git("push", "-q", "origin", "main", cwd=work)
        self.git("remote", "set-head", "origin", "main", cwd=work)
        self.git("checkout", "-q", "-b", "topic", cwd=work)
        self.git("commit", "-q", "--allow-empty", "-m", "two words", cwd=work)

    def git(self, *args: str, cwd: Path | None = None, check: bool = True) -> str:
        done = subprocess.run(
            ["git", *args], cwd=cwd or self.work, capture_output=True, text=True, check=False
        )
        if check and done.returncode:
            raise AssertionError(done.stderr)
        return done.stdout.strip() if check else done.stderr

    def write_guards(self, policy_ref: str = "", tips: bool = False) -> None:
        consulted = [(POLICY, self.git("rev-parse", POLICY)), (SIGNERS, "missing")]
        at = {TRACKING: self.git("rev-parse", TRACKING)} if tips else {}
        guarded = ["refs/heads/main"]
        hookguards.write_guard_cache(self.dir, "origin", policy_ref, consulted, guarded, at)

    @property
    def guards(self) -> Path:
        return self.dir / "git-gate" / "guards" / "origin"

    def answer(self, status: int) -> None:
        (self.program.parent / "status").write_text(str(status))

    def asked(self) -> tuple[list[str], str] | None:
        """The arguments and the input of the program since the last call; None: not started."""
        arguments, stdin = (self.program.parent / name for name in ("arguments", "input"))
        if not arguments.exists():
            return None
        answer = arguments.read_text().splitlines(), stdin.read_bytes().decode()
        arguments.unlink()
        return answer

    def run(
        self,
        stdin: str,
        *args: str,
        shell: Sequence[str] = (),
        env: dict[str, str] | None = None,
        hook: Path | None = None,
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run the hook as git does, by `shell` instead of its own first line if given."""
        return subprocess.run(
            [*shell, str(hook or self.hook), *(args or ("origin", "URL"))],
            cwd=cwd or self.work,
            input=stdin,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def clone(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Clone:
    return Clone(tmp_path_factory.getbasetemp() / "template", tmp_path)


def test_real_pushes(clone: Clone) -> None:
    clone.git("push", "-q", "origin", "topic")
    assert clone.asked() is None
    new, old = clone.git("rev-parse", "topic", "main").split("\n")
    complaint = clone.git("push", "origin", "topic:main", check=False)
    assert "failed to push" in complaint
    told = f"refs/heads/topic {new} refs/heads/main {old}\n"
    words = ["<hook>", "<run>", "<pre-push>", "<origin>", "<../remote.git>"]
    assert clone.asked() == (words, told)
    assert clone.git("rev-parse", "origin/main") == old
    clone.git("push", "--dry-run", "origin", "HEAD^{/two words}:refs/heads/main", check=False)
    assert clone.asked() is not None
    clone.git("push", "-q", "origin", "HEAD^{/two words}:refs/heads/other", "HEAD~1:refs/tags/t")
    clone.git("push", "-q", "origin", ":other")
    assert clone.asked() is None
    clone.git("push", "-q", "origin", "topic", ":main", check=False)
    assert clone.asked() is not None
    clone.git("push", "-q", str(clone.root / "remote.git"), "topic:by-url", check=False)
    assert clone.asked() is not None
    clone.answer(0)
    clone.git("push", "-q", "origin", "topic:main")
    assert clone.asked() is not None
    clone.git("push", "-q", "origin", "topic:main")
    assert clone.asked() is None  # everything up to date: git has nothing to tell


def test_from_other_places(clone: Clone) -> None:
    """A folder inside, a linked work tree, and GIT_DIR find the same guards."""
    inside, linked = clone.work / "inside", clone.root / "linked"
    inside.mkdir()
    clone.git("worktree", "add", "-q", "-b", "other", str(linked))
    clone.git("push", "-q", "origin", "topic:one", cwd=inside)
    clone.git("push", "-q", "origin", "other", cwd=linked)
    clone.git(
        f"--git-dir={clone.dir}", "push", "-q", "origin", "topic:two", cwd=clone.program.parent
    )
    assert clone.asked() is None
    clone.git("push", "-q", "origin", "other:main", cwd=linked, check=False)
    assert clone.asked() is not None


@pytest.mark.parametrize("tips", [False, True])
def test_a_policy_that_moves_without_a_change_needs_no_new_answer(clone: Clone, tips: bool) -> None:
    clone.write_guards(tips=tips)
    clone.git("pack-refs", "--all")
    assert clone.run(line("refs/heads/topic")).returncode == 0
    clone.git("update-ref", TRACKING, "topic")
    assert clone.run(line("refs/heads/topic")).returncode == 0
    assert clone.asked() is None


def test_branches_that_have_not_moved_need_no_look(clone: Clone) -> None:
    """The objects of the policy are not read: with the commit gone the hook still knows."""
    clone.write_guards(tips=True)
    shutil.rmtree(clone.dir / "objects")
    (clone.dir / "objects").mkdir()
    assert clone.run(line("refs/heads/topic")).returncode == 0
    (clone.dir / TRACKING).write_text(ONE + "\n")
    assert clone.run(line("refs/heads/topic")).returncode == 1


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell(clone: Clone, shell: Sequence[str]) -> None:
    assert clone.run("", shell=shell).returncode == 0
    passing = line("refs/heads/topic", "(delete)", ZERO, ONE) + line("refs/heads/mainly", "-n")
    assert clone.run(passing, shell=shell).returncode == 0
    sha256 = line("refs/tags/v1", new="a" * 64, old="0" * 64)
    assert clone.run(sha256, shell=shell).returncode == 0
    assert clone.asked() is None
    hostile = line("refs/heads/*\\n-n\\c%s", "-e $(exit) `exit`") + line("refs/heads/main")
    for stdin in (line("refs/heads/main"), line("refs/heads/main/x"), hostile):
        done = clone.run(stdin, "origin", "a b*", shell=shell)
        assert (done.returncode, done.stderr) == (1, "")
        assert clone.asked() == (["<hook>", "<run>", "<pre-push>", "<origin>", "<a b*>"], stdin)
    clone.answer(14)
    assert clone.run(line("refs/heads/main"), shell=shell).returncode == 1
    clone.answer(0)
    assert clone.run(line("refs/heads/main"), shell=shell).returncode == 0


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("count", [199, 200, 201, 30_000])
def test_many_refs(clone: Clone, shell: Sequence[str], count: int) -> None:
    stdin = "".join(line(f"refs/heads/topic-{number}") for number in range(count))
    clone.run(stdin, shell=shell)
    asked = clone.asked()
    assert asked is None if count < 200 else asked is not None and asked[1] == stdin
    clone.run(stdin + line("refs/heads/main"), shell=shell)
    asked = clone.asked()
    assert asked is not None
    assert asked[1] == stdin + line("refs/heads/main")


@pytest.mark.parametrize("shell", SHELLS)
def test_strange_input_is_asked_about(clone: Clone, shell: Sequence[str]) -> None:
    good = line("refs/heads/topic")
    for stdin in (
        "\n",
        "x\n",
        "a b\n",
        good.replace("\n", "\r\n"),
        good + "HEAD^{/first\n" + good.replace("refs/heads/topic ", "second} ", 1) + "junk\n",
        line("topic"),
        line("refs/heads/topic", new=ONE[1:]),
        line("refs/heads/topic", old="F" * 40),
        line("refs/heads/topic", old="1" * 50),
        line("refs/heads/topic") + f" {ONE} refs/heads/topic \n",
        line("refs/heads/main").rstrip("\n"),
    ):
        assert clone.run(stdin, shell=shell).returncode in (0, 1)
        assert clone.asked() is not None or not stdin.strip(), stdin
    for remote in ("https://example.com/x", "a/b", "..", ".", "", "up stream", "*", "orig?n", "-n"):
        clone.run(good, remote, shell=shell)
        asked = clone.asked()
        assert asked is not None
        assert asked[0][3] == f"<{remote}>"


CHANGES = {
    "no file": lambda clone: clone.guards.unlink(),
    "a folder": lambda clone: (clone.guards.unlink(), clone.guards.mkdir()),
    "empty": lambda clone: clone.guards.write_text(""),
    "cut": lambda clone: edit(clone, "guard refs/heads/main\nend\n", ""),
    "cut in a line": lambda clone: edit(clone, "end\n", "end"),
    "guards lost": lambda clone: edit(clone, "guard refs/heads/main\n", ""),
    "sources lost": lambda clone: edit(clone, "policy refs", "guard refs"),
    "line of another kind": lambda clone: edit(clone, "end\n", "end\nmore\n"),
    "later format": lambda clone: edit(clone, "guards 1", "guards 2"),
    "other remote": lambda clone: edit(clone, "remote origin", "remote Origin"),
    "setting made": lambda clone: clone.git("config", "gate.policyRef", "refs/heads/main"),
    "policy edited": lambda clone: update(clone, "aiwg.yml"),
    "signers appear": lambda clone: update(clone, ".aiwg/allowed_signers"),
    "policy ref gone": lambda clone: clone.git("update-ref", "-d", TRACKING),
    "default moved": lambda clone: (
        clone.git("update-ref", "refs/remotes/origin/trunk", "main"),
        clone.git("remote", "set-head", "origin", "trunk"),
    ),
    "default gone": lambda clone: clone.git("remote", "set-head", "origin", "--delete"),
}


def edit(clone: Clone, old: str, new: str) -> None:
    content = clone.guards.read_text()
    assert old in content
    clone.guards.write_text(content.replace(old, new))


def update(clone: Clone, path: str) -> None:
    """The remote-tracking branch gets a commit that changes `path`."""
    (clone.work / path).parent.mkdir(exist_ok=True)
    (clone.work / path).write_text("new\n")
    clone.git("add", path)
    clone.git("commit", "-q", "-m", path)
    clone.git("update-ref", TRACKING, "HEAD")


@pytest.mark.parametrize("tips", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changed_is_asked_about(clone: Clone, change: str, tips: bool) -> None:
    clone.write_guards(tips=tips)
    clone.run(line("refs/heads/topic"))
    assert clone.asked() is None
    CHANGES[change](clone)
    clone.run(line("refs/heads/topic"))
    assert clone.asked() is not None


def test_settings_of_one_command_count(clone: Clone) -> None:
    name, value = "gate.policyRef", "refs/heads/else where"
    clone.git("-c", f"{name}={value}", "push", "-q", "origin", "topic", check=False)
    assert clone.asked() is not None
    env = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": name, "GIT_CONFIG_VALUE_0": value}
    clone.run(line("refs/heads/topic"), env=env)
    assert clone.asked() is not None
    clone.write_guards(policy_ref=value)
    clone.run(line("refs/heads/topic"), env=env)
    assert clone.asked() is None
    clone.run(line("refs/heads/topic"))
    assert clone.asked() is not None


def test_replaced_objects_change_nothing(clone: Clone) -> None:
    update(clone, "aiwg.yml")
    clone.git("replace", TRACKING, "main")
    assert clone.git("rev-parse", POLICY) in clone.guards.read_text()
    clone.run(line("refs/heads/topic"))
    assert clone.asked() is not None


def set_earlier(clone: Clone, script: str, mode: int = 0o755) -> Path:
    """Install over a hook with this script, which notes what it was told."""
    noted = clone.root / "noted"
    clone.hook.write_text(f"#!/bin/sh\n{script.format(noted=noted)}\n")
    clone.hook.chmod(mode)
    hooks.install(clone.hook.parent, clone.dir, clone.program)
    clone.write_guards()
    return noted


@pytest.mark.parametrize("shell", SHELLS)
def test_the_earlier_hook_runs_first(clone: Clone, shell: Sequence[str]) -> None:
    noted = set_earlier(clone, '{{ printf "%s|" "$@"; cat; }} >"{noted}"; exit 3')
    for stdin in ("", line("refs/heads/topic") + line("refs/heads/\\n"), line("refs/heads/main")):
        done = clone.run(stdin, "origin", "a b", shell=shell)
        assert (done.returncode, done.stderr) == (3, "")
        assert noted.read_text() == "origin|a b|" + stdin
        assert clone.asked() is None


def test_an_earlier_hook_that_agrees_decides_nothing(clone: Clone) -> None:
    set_earlier(clone, "exit 0")
    many = "".join(line(f"refs/heads/topic-{number}") for number in range(5000))
    assert clone.run(many).stderr == ""
    assert clone.asked() is not None
    assert clone.run(line("refs/heads/topic")).returncode == 0
    assert clone.asked() is None
    assert clone.run(line("refs/heads/main")).returncode == 1
    assert clone.asked() is not None


def test_an_earlier_hook_without_its_run_bit_stays_unused(clone: Clone) -> None:
    noted = set_earlier(clone, 'echo >"{noted}"', mode=0o644)
    assert clone.run(line("refs/heads/topic")).returncode == 0
    assert not noted.exists()


def test_links_between_the_hooks_do_not_go_round(clone: Clone) -> None:
    aside = hooks.set_aside_at(clone.hook.parent, "pre-push")
    aside.symlink_to("pre-push")
    clone.run(line("refs/heads/main"))
    assert clone.asked() is not None


@pytest.mark.parametrize("how", ["missing", "no run bit", "interpreter gone"])
@pytest.mark.parametrize("shell", SHELLS)
def test_a_git_gate_that_is_gone_refuses_with_a_way_out(
    clone: Clone, shell: Sequence[str], how: str
) -> None:
    if how == "missing":
        shutil.rmtree(clone.program.parent)
    elif how == "no run bit":
        clone.program.chmod(0o644)
    else:
        clone.program.write_text("#!/nowhere/python\n")
    done = clone.run(line("refs/heads/main"), shell=shell)
    assert done.returncode == 1
    for words in ("is gone", str(clone.program), "git gate hook install", f"rm '{clone.hook}'"):
        assert words in done.stderr
    assert clone.run(line("refs/heads/topic"), shell=shell).returncode == 0
    clone.guards.unlink()
    assert clone.run(line("refs/heads/topic"), shell=shell).returncode == 1
    aside = hooks.set_aside_at(clone.hook.parent, "pre-push")
    aside.write_text("#!/bin/sh\n")
    done = clone.run(line("refs/heads/main"), shell=shell)
    assert f"mv '{aside}' '{clone.hook}'" in done.stderr


def test_the_hook_of_the_source_tree_itself_refuses(clone: Clone) -> None:
    source = Path(__file__).parents[2] / "hooks" / "pre-push"
    assert clone.run(line("refs/heads/main"), hook=source).returncode == 1
