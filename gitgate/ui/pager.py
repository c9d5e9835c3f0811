"""The user's pager, as git starts it."""

from __future__ import annotations

from gitgate.process import feed


def page(pager: str, text: str) -> None:
    """Give `text` to the pager that `git var GIT_PAGER` names; `cat` or nothing prints it.

    As git does it, the shell reads the pager's words, and `less` is told to leave short text.
    """
    feed(
        ["sh", "-c", pager or "cat"],
        text.encode("utf-8", "replace"),
        defaults={"LESS": "FRX", "LV": "-c"},
    )
