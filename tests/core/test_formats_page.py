"""The commands of docs/formats.md do what the page says, with stock git."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gitgate.core import events, ids
from gitgate.core.decision import Action, Decision, Via, assemble, parse, payload, title_of
from gitgate.core.person import Person, Stamp
from gitgate.process import Completed, run

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
GATE, SUBJECT = "elaboration", "feature/login"


class Place:
    """A repository with a policy, a request and a key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q")
        self.key = folder / "key"
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.key)])
        listed = f'ada@example.com namespaces="git" {(folder / "key.pub").read_text()}'
        signers = self.git("hash-object", "-w", "--stdin", stdin=listed.encode()).text
        self.commit(f"100644 blob {signers}\t.aiwg/allowed_signers", "refs/heads/main")
        self.work = self.git("rev-parse", "main").text

    def git(self, *argv: str, stdin: bytes = b"") -> Completed:
        done = run(["git", *argv], cwd=self.folder, stdin=stdin)
        assert done.status == 0, done.stderr
        return done

    def commit(self, entry: str, ref: str) -> None:
        """A commit of one file, below its folders, on `ref`."""
        lead, path = entry.split("\t")
        for part in reversed(path.split("/")):
            tree = self.git("mktree", stdin=f"{lead}\t{part}\n".encode()).text
            lead = f"040000 tree {tree}"
        self.git("update-ref", ref, self.git("commit-tree", "-m", "x", tree).text)

    def record(self, spent: int) -> bytes:
        decision = Decision(
            request=self.work,
            tag=ids.tag_name(GATE, SUBJECT),
            tagger=Stamp(Person("Ada", "ada@example.com"), 1764565200),
            action=Action.REJECT,
            title=title_of(Action.REJECT, GATE, SUBJECT),
            message="No.",
            via=Via.TERMINAL,
        )
        data = payload(replace(decision, time_spent=spent))
        command = ["ssh-keygen", "-Y", "sign", "-n", "git", "-f", str(self.key)]
        return assemble(data, run(command, stdin=data).stdout)

    def sh(self, script: str) -> Completed:
        env = {"TMPDIR": str(self.folder), "work": self.work}
        return run(["sh", "-ec", script], cwd=self.folder, env=env)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_the_commands_of_the_page(place: Place) -> None:
    trust, ledger, one_note, second = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    records = [place.record(spent) for spent in (1, 2, 3)]

    blob = place.git("hash-object", "-w", "--stdin", stdin=records[0]).text
    path = f".aiwg/gates/{GATE}/{events.record_name(3).decode()}"
    place.commit(f"100644 blob {blob}\t{path}", ids.ledger_ref(GATE, SUBJECT))
    done = place.sh(trust + ledger)
    assert done.status == 0, done.stderr
    assert b'Good "git" signature for ada@example.com' in done.stderr
    assert done.stdout.endswith(records[0])

    for number, (raw, script) in enumerate(zip(records, [one_note, second, second], strict=True)):
        (place.folder / "record").write_bytes(raw)
        verb = "append" if number else "add"
        place.git("notes", "--ref=aiwg/gates", verb, "-F", "record", place.work)
        done = place.sh(f'{trust}{script}\necho "$tag"')
        assert b'Good "git" signature' in done.stderr
        assert done.text.endswith(parse(records[min(number, 1)]).id)


def test_the_page_has_the_closed_sets() -> None:
    page = PAGE.read_text()
    for name in events.EventName:
        assert f"`{name}`" in page
    for word in [*Action, *Via, *events.STATUSES]:
        assert re.search(rf"\b{word}\b", page), word


def test_the_page_names_tests_that_are_there() -> None:
    root = PAGE.parents[1]
    named = re.findall(r"`(tests/[a-z_/]+\.py)`", PAGE.read_text())
    assert len(named) >= 12
    assert all((root / name).is_file() for name in named)
