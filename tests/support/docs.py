"""The shell blocks of a document that are marked to be run: `<!-- run: NAME[; fails] -->`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_BLOCK = re.compile(
    r"^<!-- run: (?P<name>[\w-]+)(?P<fails>; fails)? -->\n```sh\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A block of commands; with `fails` the last of them has to be refused."""

    text: str
    fails: bool


def blocks(document: str) -> dict[str, Block]:
    """The marked blocks of `docs/…` or README.md, by name, in order."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return {
        found["name"]: Block(found["text"], found["fails"] is not None)
        for found in _BLOCK.finditer(text)
    }
