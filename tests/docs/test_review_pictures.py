"""The pictures of the reviewer's session show what the program shows.

`python docs/pictures/screens.py` draws them anew.
"""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

import pytest
from rich.text import Text

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


def words(picture: str) -> list[str]:
    """The words of a picture, in their order; the first are its title."""
    found = re.findall(r"<text[^>]*>([^<]*)</text>", (PICTURES / picture).read_text("utf-8"))
    return html.unescape(" ".join(found)).replace("\xa0", " ").split()[3:]


def test_they_are_current(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PICTURES))
    monkeypatch.setenv("TERM", "xterm")
    import screens

    for name, lines in screens.screens(tmp_path).items():
        shown = [Text.from_ansi(line).plain for line in lines]
        expected = re.split(r"\s+", " ".join(shown).strip())
        assert "".join(words(f"review-{name}.svg")) == "".join(expected), name
    assert words("review-panel-light.svg") == words("review-panel.svg")
    sys.modules.pop("screens")


def test_the_page_shows_each_of_them() -> None:
    page = (PICTURES.parent / "reviewing.md").read_text("utf-8")
    for picture in PICTURES.glob("review-*.svg"):
        assert f"pictures/{picture.name}" in page
