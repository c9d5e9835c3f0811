"""What `git gate open` costs on 5,000 deliverables, beyond its start-up, against PyYAML's C dumper.

`python tests/benchmarks/bench_open.py [ROUNDS]`: each round opens a new instance of a gate without
validations. Start-up is a Python that imports the same modules; the dumper is given the list of
deliverables that the request has. Exit 1 where the ratio is over the target.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import yaml
from measure import Sandbox, medians, report

TARGET = 3.0
DELIVERABLES = 5_000
LEDGER = "refs/aiwg/gates/main/feature"

_LOADED = """
import pathlib, sys
from gitgate.cli.main import run
run(["open"])
names = [name for name in sys.modules if name.isascii() and "__main__" not in name]
pathlib.Path(sys.argv[1]).write_text("import " + ", ".join(names))
"""


def project(box: Sandbox) -> Path:
    """A clone whose branch adds the deliverables."""
    work = box.root / "work"
    box.run("git", "init", "-q", str(work))
    box.run("git-gate", "init", "--preset", "solo", cwd=work)
    box.run("git", "add", "aiwg.yml", ".aiwg/allowed_signers", cwd=work)
    box.run("git", "commit", "-q", "-m", "adopt", cwd=work)
    box.run("git", "checkout", "-q", "-b", "feature", cwd=work)
    for number in range(DELIVERABLES):
        file = work / f".aiwg/requirements/module-{number // 100:02}/UC-{number:05}-use-case.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# UC-{number:05}: The user does thing {number}\n\nText.\n")
    box.run("git", "add", "--all", cwd=work)
    box.run("git", "commit", "-q", "-m", "use cases", cwd=work)
    return work


def main(rounds: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        box = Sandbox(Path(folder))
        work = project(box)
        imports = work.parent / "imports.py"
        box.run(sys.executable, "-c", _LOADED, str(imports), cwd=work)
        request = box.run("git", "show", f"{LEDGER}^2:.aiwg/gates/main/request.yml", cwd=work)
        deliverables = yaml.load(request, Loader=yaml.CSafeLoader)["deliverables"]

        def opened() -> float:
            box.run("git", "update-ref", "-d", LEDGER, cwd=work)
            return box.timed([sys.executable, "-m", "gitgate", "open"], work)

        def dumped() -> float:
            started = time.perf_counter()
            yaml.dump(deliverables, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)
            return time.perf_counter() - started

        found = medians(
            {
                "the imports": lambda: box.timed([sys.executable, str(imports)], work),
                "git gate open": opened,
                "PyYAML's C dumper": dumped,
            },
            rounds,
        )
        beyond = found["git gate open"] - found["the imports"]
        print(f"the imports: {found['the imports'] * 1000:.1f} ms")
        print(f"git gate open: {found['git gate open'] * 1000:.1f} ms")
        compared = {
            "PyYAML's C dumper": found["PyYAML's C dumper"],
            "git gate open beyond the imports": beyond,
        }
        return report(compared, rounds, TARGET)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
