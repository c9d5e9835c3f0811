"""Projects that several tests start from are built once in a run."""

from __future__ import annotations

import pytest
from landingkit import Templates


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    """The projects that tests copy; each is built by the first test that wants it."""
    return Templates(tmp_path_factory.mktemp("templates"))
