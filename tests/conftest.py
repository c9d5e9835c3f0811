"""One fixture seals every test: HOME, git's configuration, keys, time zone and terminal."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_KEPT = ("PATH", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "PYTEST_CURRENT_TEST")


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh HOME that git, libgit2, OpenSSH and GnuPG see; no other variable of the caller."""
    folder = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name not in _KEPT and not name.startswith(("PYTEST_", "COV_", "COVERAGE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_TERMINAL_PROMPT", "0")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    (folder / ".gitconfig").write_text(
        "[user]\n\tname = Ada Lovelace\n\temail = ada@example.com\n"
        "[init]\n\tdefaultBranch = main\n[commit]\n\tgpgSign = false\n"
        "[protocol \"file\"]\n\tallow = always\n"
    )
    _seal_libgit2(folder)
    return folder


def _seal_libgit2(folder: Path) -> None:
    """libgit2 reads HOME once, when it is loaded: its search paths are set for each test."""
    import pygit2

    levels = pygit2.enums.ConfigLevel
    pygit2.settings.search_path[levels.GLOBAL] = str(folder)
    pygit2.settings.search_path[levels.XDG] = str(folder / ".config" / "git")
    pygit2.settings.search_path[levels.SYSTEM] = ""
