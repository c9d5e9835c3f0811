"""Stock git verifies an approval, a rejection and a skip: the commands of docs/formats.md."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.docs import ROOT
from support.gpglab import Gnupg
from support.project import SOLO, Project

_PAGE = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
_SECTION = _PAGE.split("## Verifying a record without git-gate", 1)[1]
_SIGNERS, _FROM_LEDGER, _FROM_NOTE, _SECOND_OF_NOTE = re.findall(
    r"^```sh\n(.*?)^```$", _SECTION, re.MULTILINE | re.DOTALL
)
_ANSWERS = (("approve", "fine"), ("reject", "The lockout is missing."), ("skip", "urgent"))


@pytest.fixture
def gnupg(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gnupg]:
    made = Gnupg()
    monkeypatch.setenv("GNUPGHOME", str(made.home))
    yield made
    made.close()


def _sh(project: Project, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=project.top,
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(project.top.parent), **variables},
    )


def _decided(project: Project) -> list[str]:
    """A subject for each answer; their work commits. The last has two records on one note."""
    works = []
    for action, words in _ANSWERS:
        project.git("switch", "-q", "-C", f"feature-{action}", "origin/main")
        works.append(project.commit(action, {f"{action}.md": f"# {action}\n"}))
        project.gate("open", "main").ok()
        project.gate(action, "main", "-m", words).ok()
    project.gate("approve", "main", "-m", "after all").ok()
    return works


def _check(project: Project, said: str) -> None:
    works = _decided(project)
    for (action, words), work in zip(_ANSWERS, works, strict=True):
        ledger = f"refs/aiwg/gates/main/feature-{action}"
        script = _FROM_LEDGER.replace("refs/aiwg/gates/elaboration/feature%2flogin", ledger)
        script = script.replace("gates/elaboration/0003", "gates/main/0002")
        from_ledger = _sh(project, script + 'git cat-file tag "$tag"\n')
        assert from_ledger.returncode == 0 and said in from_ledger.stderr, from_ledger.stderr
        assert f"\nAction: {action}\n" in from_ledger.stdout and words in from_ledger.stdout
        noted = _FROM_NOTE if action != "skip" else _SECOND_OF_NOTE
        from_note = _sh(project, noted, work=work)
        assert from_note.returncode == 0 and said in from_note.stderr, from_note.stderr


def test_git_verifies_ssh_decisions_from_ledger_and_note(project: Project) -> None:
    assert _sh(project, _SIGNERS).returncode == 0
    _check(project, 'Good "git" signature for ada@example.com with ED25519 key')


def test_git_verifies_openpgp_decisions_from_ledger_and_note(
    project: Project, gnupg: Gnupg
) -> None:
    key = gnupg.make("ada")
    policy = SOLO + f"  openpgp: {{ada@example.com: [{key}]}}\n"
    project.commit("List the OpenPGP key", {"aiwg.yml": policy, ".aiwg/allowed_signers": ""})
    project.land()
    project.git("config", "gpg.format", "openpgp")
    project.git("config", "user.signingKey", key)
    _check(project, 'Good signature from "ada <ada@example.com>"')
    project.git("switch", "-q", "feature-approve")
    project.push("HEAD:refs/heads/main").ok()


def test_git_refuses_a_record_whose_words_were_changed(project: Project, tmp_path: Path) -> None:
    assert _sh(project, _SIGNERS).returncode == 0
    _decided(project)
    script = _FROM_LEDGER.replace(
        "refs/aiwg/gates/elaboration/feature%2flogin", "refs/aiwg/gates/main/feature-reject"
    )
    script = script.replace("gates/elaboration/0003", "gates/main/0002")
    changed = script.replace('.tag" |', '.tag" | sed "s/Action: reject/Action: approve/" |')
    assert changed != script
    assert _sh(project, changed).returncode == 1
