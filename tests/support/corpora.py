"""Public histories that tests are run on; they stand beside the project, not in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).parents[3] / "shared" / "corpora"
CORPORA = Path(os.environ.get("GIT_GATE_CORPORA", _BESIDE))


def bundle(name: str) -> Path:
    """A git bundle of the corpora; the test is skipped where there are none."""
    file = CORPORA / name
    if not file.is_file():
        pytest.skip(f"there is no {file}: name the folder with GIT_GATE_CORPORA")
    return file
