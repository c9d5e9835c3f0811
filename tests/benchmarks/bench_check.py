"""What `git gate check` costs on a warm repository, against importing the libraries it stands on.

`python tests/benchmarks/bench_check.py [ROUNDS]`: a repository with the solo preset and one
approved change; exit 1 where the ratio is over the target.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from measure import Sandbox, medians, report

TARGET = 1.3
IMPORTS = "import pygit2, click, yaml"


def approved_change(box: Sandbox) -> Path:
    """A repository whose HEAD is an approved change on top of its guarded branch."""
    work = box.root / "work"
    box.run("git", "init", "-q", str(work))
    box.run("git-gate", "init", "--preset", "solo", cwd=work)
    box.run("git", "add", "aiwg.yml", ".aiwg/allowed_signers", cwd=work)
    box.run("git", "commit", "-q", "-m", "adopt", cwd=work)
    box.run("git", "checkout", "-q", "-b", "feature/login", cwd=work)
    (work / "login.md").write_text("# Login\n")
    box.run("git", "add", "login.md", cwd=work)
    box.run("git", "commit", "-q", "-m", "login", cwd=work)
    box.run("git-gate", "open", cwd=work)
    box.run("git-gate", "approve", "-m", "good", cwd=work)
    return work


def main(rounds: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        box = Sandbox(Path(folder))
        work = approved_change(box)
        program = str(Path(sys.executable).with_name("git-gate"))
        things = {
            "the imports": lambda: box.timed([sys.executable, "-c", IMPORTS], work),
            "git gate check": lambda: box.timed([program, "check"], work),
        }
        return report(medians(things, rounds), rounds, TARGET)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 40))
