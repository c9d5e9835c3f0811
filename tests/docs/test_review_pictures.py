"""The pictures of the reviewer's session show what the program shows.

`python docs/pictures/screens.py` draws them anew.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


def drawn(folder: Path) -> dict[str, str]:
    """The pictures of a folder by their names."""
    return {one.name: one.read_text("utf-8") for one in folder.glob("review-*.svg")}


def test_they_are_current_to_the_colour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PICTURES))
    monkeypatch.setenv("TERM", "xterm")
    import screens

    anew = tmp_path / "anew"
    anew.mkdir()
    screens.write(tmp_path, anew)
    assert drawn(anew) == drawn(PICTURES)
    for module in ("screens", "drawing"):
        sys.modules.pop(module)


def test_the_page_shows_each_of_them_in_the_theme_of_its_reader() -> None:
    page = (PICTURES.parent / "reviewing.md").read_text("utf-8")
    shown = re.findall(
        r'<picture>\n  <source media="\(prefers-color-scheme: dark\)" '
        r'srcset="pictures/(review-[a-z-]+)\.svg">\n'
        r'  <img alt="[^"]+" src="pictures/(review-[a-z-]+)-light\.svg">\n</picture>',
        page,
    )
    assert all(dark == light for dark, light in shown)
    names = {name for name in drawn(PICTURES) if not name.endswith("-light.svg")}
    assert {f"{dark}.svg" for dark, _ in shown} == names
    assert {f"{dark}-light.svg" for dark, _ in shown} == set(drawn(PICTURES)) - names
