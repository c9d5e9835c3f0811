"""Projects that several tests start from are built once in a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from landingkit import Templates, plain_project
from sitekit import Site, make_site
from support.project import Project


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    """The projects that tests copy; each is built by the first test that wants it."""
    return Templates(tmp_path_factory.mktemp("templates"))


@pytest.fixture
def solo(templates: Templates, tmp_path: Path, home: Path) -> Project:
    """A clone that has adopted the solo policy, with the hook; Ada is at work."""
    return templates.copy("solo", plain_project(), tmp_path)


@pytest.fixture
def site(templates: Templates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A project without a hook; `git gate` and the hook managers are on the PATH."""
    return make_site(templates, tmp_path, monkeypatch)
