"""Which colours there are: policy, git config, NO_COLOR, TERM and `--color`, in their order."""

from __future__ import annotations

from typing import Any

import pytest

from gitgate.core.policy import Display, Options
from gitgate.errors import Exit, GateError
from gitgate.ui.look import SLOTS, Surroundings, colored, look_of, palette_of, style_of
from gitgate.ui.paint import ansi

TERMINAL = {"terminal": True, "columns": 80, "rows": 24, "term": "xterm"}


def colors(config: dict[str, str] | None = None, policy: bool = True, **around: Any) -> bool:
    display = Display(colors=policy)
    return colored(display, config or {}, Surroundings(**{**TERMINAL, **around}))


def test_on_a_terminal_there_are_colors_and_elsewhere_none() -> None:
    assert colors()
    assert not colors(terminal=False)


def test_the_policy_turns_them_off_and_the_person_on_again() -> None:
    assert not colors(policy=False)
    assert colors({"color.ui": "auto"}, policy=False)
    assert colors({"color.gate": "true"}, policy=False)


@pytest.mark.parametrize("word", ["never", "false", "no", "off", "0"])
def test_git_config_turns_them_off(word: str) -> None:
    assert not colors({"color.ui": word})
    assert not colors({"color.gate": word, "color.ui": "always"})
    assert colors({"color.gate": "auto", "color.ui": word})


def test_always_needs_no_terminal() -> None:
    assert colors({"color.ui": "always"}, terminal=False)
    assert colors(color="always", terminal=False, no_color=True)


def test_no_color_and_a_dumb_terminal_win_over_settings_and_lose_to_the_option() -> None:
    for around in ({"no_color": True}, {"term": "dumb"}):
        assert not colors({"color.ui": "always"}, **around)
        assert colors(color="always", **around)
        assert not colors(color="auto", policy=False, terminal=False, **around)


def test_the_option_wins() -> None:
    assert not colors({"color.gate": "always"}, color="never")


def test_a_pager_that_takes_none_gets_none() -> None:
    assert not colors({"color.pager": "false"}, paged=True)
    assert colors({"color.pager": "false"}, paged=False)


@pytest.mark.parametrize(
    ("words", "escape"),
    [
        ("red", "31"),
        ("red blue", "31;44"),
        ("normal blue", "44"),
        ("brightred", "91"),
        ("bold ul green", "1;4;32"),
        ("reverse", "7"),
        ("nobold green", "32"),
        ("no-dim green", "32"),
        ("208", "38;5;208"),
        ("#ff8800", "38;2;255;136;0"),
        ("italic strike", "3;9"),
    ],
)
def test_colors_in_git_words(words: str, escape: str) -> None:
    palette = {"error": style_of("color.gate.error", words)}
    assert ansi([(("x", "error"), ("y", ""))], palette) == [f"\x1b[{escape}mx\x1b[0my"]


@pytest.mark.parametrize("words", ["rde", "red green blue", "256", "#12345", "red; ls"])
def test_a_word_that_git_would_not_take_is_an_error(words: str) -> None:
    with pytest.raises(GateError) as caught:
        palette_of({"color.gate.error": words})
    assert caught.value.kind is Exit.FATAL
    assert caught.value.message == f"color.gate.error is {words!r}: no colour that git knows"


def test_each_slot_can_be_set_and_has_a_style_of_high_contrast() -> None:
    plain = palette_of({})
    assert set(plain) == set(SLOTS)
    high = palette_of({"gate.palette": "high-contrast"})
    assert high["error"] != plain["error"] and not high["frame"].dim
    mine = palette_of({f"color.gate.{slot}": "magenta" for slot in SLOTS})
    assert {str(style) for style in mine.values()} == {"magenta"}
    with pytest.raises(GateError):
        palette_of({"gate.palette": "dark"})


def test_no_colour_that_vanishes_on_white_or_on_black() -> None:
    colors = {style.color.name for style in palette_of({}).values() if style.color}
    assert colors == {"red", "green", "magenta"}
    high = palette_of({"gate.palette": "high-contrast"})
    for style in (*palette_of({}).values(), *high.values()):
        assert style.bgcolor is None
    assert all(style.color is None and not style.dim for style in high.values())
    assert len({str(high[slot]) for slot in ("error", "warning", "old", "new")}) == 4


def test_accessible_by_option_and_by_setting() -> None:
    around = Surroundings(**TERMINAL)
    assert not look_of(Display(), Options(), {}, around).accessible
    assert look_of(Display(), Options(), {"gate.accessible": "true"}, around).accessible
    with pytest.raises(GateError):
        look_of(Display(), Options(), {"gate.accessible": "maybe"}, around)
