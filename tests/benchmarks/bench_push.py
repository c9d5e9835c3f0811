"""What the hook costs a push that touches nothing guarded, against a hook that does nothing.

`python tests/benchmarks/bench_push.py [ROUNDS]`: real pushes to a bare repository beside it, while
the policy's branches stand where they stood when git-gate last ran, and after they have moved; exit
1 where a ratio is over the target.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from measure import Sandbox, medians, report

from gitgate import hookguards, hooks

TARGET = 1.2


class Pushes:
    """A clone that pushes a new commit of an unguarded branch each time."""

    def __init__(self, box: Sandbox, unmoved: bool) -> None:
        self._box = box
        self._unmoved = unmoved
        self._work = box.root / "work"
        self._hook = self._work / ".git" / "hooks" / "pre-push"
        box.run("git", "init", "-q", "--bare", "remote.git")
        box.run("git", "clone", "-q", "remote.git", "work")
        for number in range(300):
            path = self._work / f"src/package{number % 20}/module{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"value = {number}\n" * 20)
        (self._work / "aiwg.yml").write_text("human_gates: {}\n")
        self._git("add", ".")
        self._git("commit", "-q", "-m", "start")
        self._git("push", "-q", "origin", "main")
        self._git("remote", "set-head", "origin", "main")
        self._git("checkout", "-q", "-b", "feature/unguarded")
        self._shim = self._install()

    def _git(self, *args: str) -> str:
        return self._box.run("git", *args, cwd=self._work).strip()

    def _install(self) -> bytes:
        """The hook of a repository with a policy; the program it would start fails the push."""
        program = self._box.root / "git-gate"
        program.write_text("#!/bin/sh\necho 'git-gate was started' >&2\nexit 1\n")
        program.chmod(0o755)
        common = self._work / ".git"
        hooks.install(self._hook.parent, common, program)
        refs = ["refs/remotes/origin/main", "refs/heads/main"]
        consulted = [(f"{ref}:aiwg.yml", self._git("rev-parse", f"{ref}:aiwg.yml")) for ref in refs]
        tips = {ref: self._git("rev-parse", ref) for ref in refs} if self._unmoved else {}
        guarded = ["refs/heads/main", "refs/heads/release/**", "refs/tags/v*"]
        hookguards.write_guard_cache(common, "origin", "", consulted, guarded, tips)
        return self._hook.read_bytes()

    def with_shim(self) -> float:
        return self._push(self._shim)

    def with_empty_hook(self) -> float:
        return self._push(b"#!/bin/sh\n")

    def _push(self, hook: bytes) -> float:
        self._hook.write_bytes(hook)
        self._git("commit", "-q", "--allow-empty", "-m", "more")
        return self._box.timed(["git", "push", "-q", "origin", "feature/unguarded"], self._work)


def main(rounds: int) -> int:
    over = 0
    for title, unmoved in (
        ("nothing fetched since git-gate ran", True),
        ("the policy branch fetched since", False),
    ):
        with tempfile.TemporaryDirectory() as folder:
            pushes = Pushes(Sandbox(Path(folder)), unmoved)
            things = {"empty hook": pushes.with_empty_hook, "git-gate's": pushes.with_shim}
            print(f"{title}:")
            over |= report(medians(things, rounds), rounds, TARGET)
    return over


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 60))
