"""What `sync` with nothing new costs beyond its start-up, against `git fetch` of the same refs.

`python tests/benchmarks/bench_sync.py [ROUNDS [ENDED [OPEN]]]`: a clone of a bare repository beside
it with a journal that names ENDED instances whose refs are gone, and OPEN ones with refs. Start-up
is imports, finding the repository and reading the policy; exit 1 where the ratio is too high.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from measure import Sandbox, medians, report

from gitgate.core.events import Event, EventName
from gitgate.core.person import Person, Stamp
from gitgate.core.request import Kind, Request
from gitgate.git import journal, ledger
from gitgate.git.journal import Entry
from gitgate.git.ledger import Draft, Ledger
from gitgate.git.repository import Repository

TARGET = 2.0

POLICY = """\
human_gates:
  version: 1
  gates:
    main:
      title: Changes to main
      guards: [refs/heads/main]
  policy_gate: main
  journal: true
"""
ADA = Person("Ada Lovelace", "ada@example.com")


class Exchange:
    """A clone that has synced, and a remote with the same."""

    def __init__(self, box: Sandbox, ended: int, running: int) -> None:
        self._box = box
        self._clone = box.root / "clone"
        box.run("git", "init", "-q", "--bare", "remote.git")
        box.run("git", "init", "-q", "clone")
        (self._clone / "aiwg.yml").write_text(POLICY)
        self._git("add", ".")
        self._git("commit", "-q", "-m", "Adopt git-gate")
        self._git("remote", "add", "origin", str(box.root / "remote.git"))
        self._git("push", "-q", "origin", "main")
        self._git("fetch", "-q", "origin")
        self._git("remote", "set-head", "origin", "main")
        self._plant(ended, running)
        box.run("git-gate", "sync", cwd=self._clone)
        self._git("gc", "-q")
        box.run("git", "-C", str(box.root / "remote.git"), "gc", "-q")

    def _git(self, *args: str) -> str:
        return self._box.run("git", *args, cwd=self._clone).strip()

    def _plant(self, ended: int, running: int) -> None:
        """Ended instances straight into the journal, running ones as refs."""
        repo = Repository.open(self._clone)
        stamp = Stamp(ADA, int(time.time()) - 60 * 24 * 3600)
        tip = repo.resolve("main")
        entries = []
        refs = []
        for number in range(ended + running):
            subject = f"feature/{number}"
            asked = Request(
                *("", Kind.APPROVAL, "main", subject, "refs/heads/main", tip, tip, tip, tip, None),
                nonce=f"{number:032x}",
                opened=stamp,
            )
            opened = Event("", 0, EventName.OPENED, stamp.time, ADA)
            empty = Ledger("main", subject, "")
            found = ledger.extended(repo, empty, Draft(opened, 1, "open", asked), stamp)
            if number < ended:
                newest = next(iter(found.requests))
                event = Event("", 0, EventName.WITHDRAWN, stamp.time, ADA, newest)
                found = ledger.extended(repo, found, Draft(event, 1, "withdrawn"), stamp)
            else:
                refs.append(f"create refs/aiwg/gates/main/feature%2f{number} {found.tip}\n")
            entries.append(Entry("main", subject, str(found.tip)))
        commit = journal.append(repo, None, entries, stamp)
        refs.append(f"create refs/heads/aiwg/journal {commit}\n")
        repo.git("update-ref", "--stdin", stdin="".join(refs).encode())

    def fetch(self) -> float:
        here = "refs/gitgate/origin"
        refspecs = [
            f"+refs/aiwg/gates/*:{here}/gates/*",
            f"+refs/notes/aiwg/*:{here}/notes/*",
            f"+refs/heads/aiwg/journal*:{here}/journal*",
        ]
        options = ["--no-tags", "--no-write-fetch-head", "--refmap="]
        return self._box.timed(["git", "fetch", "-q", *options, "origin", *refspecs], self._clone)

    def sync(self) -> float:
        """Seconds of the exchange in a process of its own, which has started up before."""
        return float(self._box.run(sys.executable, "-c", _SYNC, cwd=self._clone))


_SYNC = """\
import time
import gitgate.cli.main, gitgate.cli.syncing, gitgate.ui.exchanged, gitgate.ui.sanitise
from gitgate.app.exchange.syncing import sync
from gitgate.cli.env import Env

with Env().world() as world:
    world.policy()
    started = time.perf_counter()
    assert not sync(world, None).changes
    print(time.perf_counter() - started)
"""


def main(rounds: int, ended: int, running: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        exchange = Exchange(Sandbox(Path(folder)), ended, running)
        print(f"{ended} ended and {running} open instances:")
        things = {
            "git fetch of the same refs": exchange.fetch,
            "sync, start-up aside": exchange.sync,
        }
        return report(medians(things, rounds), rounds, TARGET)


if __name__ == "__main__":
    given = [int(one) for one in sys.argv[1:]]
    sys.exit(main(*given, *(20, 10_000, 100)[len(given) :]))
