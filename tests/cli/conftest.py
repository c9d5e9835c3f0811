"""What the tests of the command line share."""

from __future__ import annotations

import pytest
from outputs import Clock

from gitgate.cli.env import Env


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time that commands in this process see; it stands still until a test moves it."""
    made = Clock()
    monkeypatch.setattr(Env, "now", lambda env: made.now)
    return made
