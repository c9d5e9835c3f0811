"""How gates are shown: the policy's `display` and `options`, and the person's own settings.

Personal settings (git config, the command line, NO_COLOR, TERM) win over the policy's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gitgate.core.policy import Display, Options
from gitgate.errors import Exit, GateError
from gitgate.ui.paint import NARROWEST

if TYPE_CHECKING:
    from rich.style import Style

SLOTS = {
    "title": ("bold", "bold"),
    "heading": ("bold", "bold ul"),
    "key": ("bold", "bold"),
    "good": ("bold green", "bold"),
    "warning": ("bold magenta", "bold reverse"),
    "error": ("bold red", "bold reverse ul"),
    "dim": ("dim", "normal"),
    "frame": ("dim", "normal"),
    "old": ("red", "normal"),
    "new": ("green", "bold"),
    "changed": ("bold", "bold ul"),
    "found": ("reverse", "reverse"),
}
"""What has a colour (`color.gate.<slot>`): the usual one and that of the high-contrast palette.

Yellow, cyan and the bright colours vanish on white, blue on black: none of them is here. What has
to be read is in the terminal's own colour, so what does have a colour is what is wrong. The
high-contrast palette has no colour but the terminal's own two.
"""

_COLORS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_ATTRIBUTES = {
    "bold": "bold",
    "dim": "dim",
    "ul": "underline",
    "underline": "underline",
    "blink": "blink",
    "reverse": "reverse",
    "italic": "italic",
    "strike": "strike",
}


@dataclass(frozen=True, slots=True)
class Look:
    """How to draw. `palette` None: no colours. `rows` and `columns` are the terminal's.

    `accessible`: no boxes, no redraw, no cursor movement, words for every mark. `flows`: screens
    of a session follow one another, and whole lines are typed with the terminal's own editing.
    """

    display: Display
    options: Options
    columns: int = 80
    rows: int = 24
    accessible: bool = False
    flows: bool = False
    palette: Mapping[str, Style] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a command knows of the terminal that it writes to."""

    terminal: bool
    columns: int
    rows: int
    term: str = ""
    no_color: bool = False
    color: str | None = None  # --color: always, auto, never
    accessible: bool = False  # --accessible
    paged: bool = False


def look_of(
    display: Display, options: Options, config: Mapping[str, str], around: Surroundings
) -> Look:
    """The look of one command. Raises GateError (fatal) for a setting that git could not read."""
    return Look(
        display,
        options,
        max(around.columns, NARROWEST),
        around.rows,
        around.accessible or is_true(config, "gate.accessible"),
        palette=palette_of(config) if colored(display, config, around) else None,
    )


def colored(display: Display, config: Mapping[str, str], around: Surroundings) -> bool:
    """Whether to use colours. The first that says something decides: `--color`, NO_COLOR and a
    terminal that can do none, `color.gate`, `color.ui`, the policy's `display.colors`."""
    when = around.color
    if when is None and (around.no_color or around.term == "dumb"):
        return False
    if when is None:
        when = next(
            (_when(config, key) for key in ("color.gate", "color.ui") if key in config),
            "auto" if display.colors else "never",
        )
    if when == "auto" and around.paged and "color.pager" in config:
        return around.terminal and is_true(config, "color.pager")
    return when == "always" or (when == "auto" and around.terminal)


def _when(config: Mapping[str, str], key: str) -> str:
    """A value of color.ui as git reads it: `true` is `auto`."""
    value = config[key].lower()
    if value in ("always", "never", "auto"):
        return value
    return "auto" if is_true(config, key) else "never"


def is_true(config: Mapping[str, str], key: str) -> bool:
    """A boolean of git's configuration; false where it is not set.

    Raises GateError (fatal) for what git would not take.
    """
    value = config.get(key, "false").lower()
    if value in ("true", "yes", "on", "1"):
        return True
    if value in ("false", "no", "off", "0", ""):
        return False
    raise GateError(
        Exit.FATAL, f"{key} is {value!r}: neither true nor false", f"git config {key} true"
    )


def palette_of(config: Mapping[str, str]) -> dict[str, Style]:
    """The style of each slot: `color.gate.<slot>` in git's words, else that of `gate.palette`."""
    name = config.get("gate.palette", "default")
    if name not in ("default", "high-contrast"):
        raise GateError(
            Exit.FATAL,
            f"gate.palette is {name!r}: neither default nor high-contrast",
            "git config gate.palette high-contrast",
        )
    at = 1 if name == "high-contrast" else 0
    return {
        slot: style_of(f"color.gate.{slot}", config.get(f"color.gate.{slot}", words[at]))
        for slot, words in SLOTS.items()
    }


def style_of(key: str, words: str) -> Style:
    """A colour as git's configuration spells it (git-config, "color": at most a foreground and a
    background, and attributes). Raises GateError (fatal) that names `key`."""
    from rich.style import Style

    colors: list[str | None] = []
    attributes: dict[str, bool] = {}
    for word in words.lower().split():
        if word in ("normal", "default", "-1"):
            colors.append(None)
        elif color := _color(word):
            colors.append(color)
        elif (named := _ATTRIBUTES.get(re.sub(r"^no-?", "", word))) is not None:
            attributes[named] = not word.startswith("no")
        elif word != "reset":
            colors += [None, None, None]
    if len(colors) > 2:
        raise GateError(
            Exit.FATAL,
            f"{key} is {words!r}: no colour that git knows",
            f"git config {key} 'bold red'",
        )
    front, back = (*colors, None, None)[:2]
    return Style(color=front, bgcolor=back, **attributes)  # type: ignore[arg-type]


def _color(word: str) -> str | None:
    """A colour of git in rich's words; None where it is none."""
    if word in _COLORS:
        return word
    if word.startswith("bright") and word[6:] in _COLORS:
        return f"bright_{word[6:]}"
    if word.isdecimal() and word.isascii() and int(word) < 256:
        return f"color({int(word)})"
    return word if re.fullmatch("#[0-9a-f]{6}", word) else None
