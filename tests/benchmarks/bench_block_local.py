"""What `--block-local` costs a commit on an unguarded branch, against a hook that does nothing.

`python tests/benchmarks/bench_block_local.py [ROUNDS]`: real commits of one file on an unguarded
branch, while the policy's branch stands in a file of its own, and after `git pack-refs`; exit 1
where a ratio is over the target.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from measure import Sandbox, medians, report

from gitgate import hookguards, hooks

TARGET = 1.4


class Commits:
    """A repository of 300 files in which each commit changes one, on an unguarded branch."""

    def __init__(self, box: Sandbox, packed: bool) -> None:
        self._box = box
        self._work = box.root / "work"
        self._hook = self._work / ".git" / "hooks" / hooks.REFERENCE_TRANSACTION
        self._number = 0
        box.run("git", "init", "-q", "work")
        for number in range(300):
            path = self._work / f"src/package{number % 20}/module{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"value = {number}\n" * 20)
        (self._work / "aiwg.yml").write_text("human_gates: {}\n")
        self._git("add", ".")
        self._git("commit", "-q", "-m", "start")
        self._git("config", "gate.policyRef", "refs/heads/main")
        self._git("checkout", "-q", "-b", "feature/unguarded")
        if packed:
            self._git("pack-refs", "--all")
        self._shim = self._install()

    def _git(self, *args: str) -> str:
        return self._box.run("git", *args, cwd=self._work).strip()

    def _install(self) -> bytes:
        """The hook of a repository with a policy; the program it would start fails the commit."""
        program = self._box.root / "git-gate"
        program.write_text("#!/bin/sh\necho 'git-gate was started' >&2\nexit 1\n")
        program.chmod(0o755)
        main = "refs/heads/main"
        common = self._work / ".git"
        hooks.install(self._hook.parent, common, program, hooks.REFERENCE_TRANSACTION)
        consulted = [(f"{main}:aiwg.yml", self._git("rev-parse", f"{main}:aiwg.yml"))]
        tips = {main: self._git("rev-parse", main)}
        guarded = [main, "refs/heads/release/**", "refs/tags/v*"]
        hookguards.write_guard_cache(common, hookguards.HERE, main, consulted, guarded, tips)
        return self._hook.read_bytes()

    def with_shim(self) -> float:
        return self._commit(self._shim)

    def with_empty_hook(self) -> float:
        return self._commit(b"#!/bin/sh\n")

    def _commit(self, hook: bytes) -> float:
        self._hook.write_bytes(hook)
        self._number += 1
        (self._work / "src/package0/module0.py").write_text(f"value = {self._number}\n")
        self._git("add", ".")
        return self._box.timed(["git", "commit", "-q", "-m", "more"], self._work)


def main(rounds: int) -> int:
    over = 0
    for title, packed in (("the policy's branch has a file", False), ("refs are packed", True)):
        with tempfile.TemporaryDirectory() as folder:
            commits = Commits(Sandbox(Path(folder)), packed)
            things = {"empty hook": commits.with_empty_hook, "git-gate's": commits.with_shim}
            print(f"{title}:")
            over |= report(medians(things, rounds), rounds, TARGET)
    return over


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 60))
