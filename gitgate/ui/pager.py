"""The user's pager, as git starts it."""

from __future__ import annotations

from collections.abc import Iterable

from gitgate.process import feed, pour

_DEFAULTS = {"LESS": "FRX", "LV": "-c"}


def page(pager: str, text: str) -> int:
    """Give `text` to the pager that `git var GIT_PAGER` names; `cat` or nothing prints it. Its exit
    status.

    As git does it, the shell reads the pager's words, and `less` is told to leave short text.
    """
    return feed(
        ["sh", "-c", pager or "cat"],
        text.encode("utf-8", "replace"),
        defaults=_DEFAULTS,
    )


def page_pieces(pager: str, pieces: Iterable[bytes]) -> int:
    """As `page`, for output that is made while it is read: it is made no further than that."""
    return pour(["sh", "-c", pager or "cat"], pieces, defaults=_DEFAULTS)
