"""The styles of code and of rendered Markdown.

As in `look.SLOTS`, what has to be read is in the terminal's own colour: weight and slant say what
it is, and the colours of rich's own themes, which vanish on white or on black, are not used.
"""

from __future__ import annotations

from rich.style import Style
from rich.syntax import ANSI_LIGHT, ANSISyntaxTheme
from rich.theme import Theme

_BOLD, _ITALIC, _NAMED = Style(bold=True), Style(italic=True), Style(underline=True)

_TOKENS = {
    "Token.Comment": _ITALIC,
    "Token.Keyword": _BOLD,
    "Token.Keyword.Type": _BOLD,
    "Token.Operator.Word": _BOLD,
    "Token.Name.Tag": _BOLD,
    "Token.Name.Decorator": _BOLD,
    "Token.Name.Function": _NAMED,
    "Token.Name.Class": _NAMED,
    "Token.Literal.String": Style(color="magenta"),
    "Token.Generic.Deleted": Style(color="red"),
    "Token.Generic.Inserted": Style(color="green"),
    "Token.Generic.Heading": _BOLD,
    "Token.Generic.Subheading": _BOLD,
}

# Rich's own theme has the kinds of token; where they come from is no library of ours.
CODE = ANSISyntaxTheme({token: _TOKENS.get(str(token), Style()) for token in ANSI_LIGHT})

MARKDOWN = Theme(
    {
        "markdown.code": _BOLD,
        "markdown.code_block": Style(),
        "markdown.block_quote": _ITALIC,
        "markdown.list": Style(),
        "markdown.item.number": _BOLD,
        "markdown.h2": Style(bold=True, underline=True),
        "markdown.h3": _BOLD,
        "markdown.h4": Style(bold=True, italic=True),
        "markdown.h6": _ITALIC,
        "markdown.h7": _ITALIC,
        "markdown.link": Style(underline=True),
        "markdown.link_url": Style(underline=True),
        "markdown.table.border": Style(dim=True),
        "markdown.table.header": _BOLD,
        "markdown.kbd": _BOLD,
    }
)
