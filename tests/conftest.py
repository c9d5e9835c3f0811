"""One fixture seals every test: HOME, git's configuration, keys, time zone, terminal, editor."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import hypothesis
import pygit2
import pytest
from support.project import TEAM, Project, make_project, person

_KEPT = ("PATH", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
_KEPT_PREFIXES = ("PYTEST_", "COV_", "COVERAGE_", "HYPOTHESIS_")

# A shell that starts the tests in the background has them ignore an interrupt, and so would every
# program that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples each time, so that a failure is a change's own. More and other ones on demand:
# HYPOTHESIS_PROFILE=deep.
hypothesis.settings.register_profile("same", deadline=None, database=None, derandomize=True)
hypothesis.settings.register_profile("deep", deadline=None, database=None, max_examples=5000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh HOME that git, libgit2, OpenSSH and GnuPG see; no other variable of the caller.

    Whatever asks a person finds nobody: no terminal, no agent, an editor that changes nothing.
    """
    folder = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name not in _KEPT and not name.startswith(_KEPT_PREFIXES):
            monkeypatch.delenv(name)
    for name, value in {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / ".config"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": "true",
        "GIT_PAGER": "cat",
        "SSH_ASKPASS_REQUIRE": "never",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
        # Programs that tests start find the modules compiled, and write nothing beside them.
        "PYTHONPYCACHEPREFIX": str(tmp_path_factory.getbasetemp() / "pycache"),
    }.items():
        monkeypatch.setenv(name, value)
    time.tzset()
    (folder / ".gitconfig").write_text(
        "[user]\n\tname = Ada Lovelace\n\temail = ada@example.com\n"
        "[init]\n\tdefaultBranch = main\n[commit]\n\tgpgSign = false\n"
        '[protocol "file"]\n\tallow = always\n'
        "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[advice]\n\tdetachedHead = false\n"
    )
    _seal_libgit2(folder)
    return folder


def _seal_libgit2(folder: Path) -> None:
    """libgit2 reads HOME once, when it is loaded: its search paths are set for each test."""
    levels = pygit2.enums.ConfigLevel
    pygit2.settings.search_path[levels.GLOBAL] = str(folder)
    pygit2.settings.search_path[levels.XDG] = str(folder / ".config" / "git")
    pygit2.settings.search_path[levels.SYSTEM] = ""


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Project:
    """A clone of an empty remote that has adopted the solo policy; Ada is at work."""
    return make_project(tmp_path, home)


@pytest.fixture
def team(tmp_path: Path, home: Path) -> Project:
    """The same without self-approval: Ada and Bob are listed, agent@example.com is nobody.

    The agent is at work, with Ada's and Bob's keys at hand for `be`.
    """
    people = (("Ada Lovelace", "ada@example.com"), ("Bob Babbage", "bob@example.com"))
    made = make_project(tmp_path, home, TEAM, people)
    agent = person("Agent", "agent@example.com", home)
    made.people["agent"] = agent
    made.be(agent, signs=False)
    return made
