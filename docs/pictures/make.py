"""Makes the pictures of the docs from what the program prints: `python docs/pictures/make.py`.

The story is cut from a run of `git gate demo`; nothing in it is typed by hand.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

HERE = Path(__file__).parent
COLUMNS = 92

# Only what the machine that shows the picture has: nothing is fetched.
_FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width;
}}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""

# The scenes of the demo that the picture tells, by a piece of their text, and the lines to keep.
_SCENES = (
    "Main does not take it",
    "says what is missing",
    "asks again",
    "nobody saw",
    "Exactly what",
)
_KEPT = (
    r"#|\$ git push|\$ git gate (open|reject|approve|check)|  git-gate:|  hint:|    nothing that"
    r"|    no gate|    it differs|  opened|  iteration \d|  the instance is now|  .* may land"
    r"|    gate |  To |     [0-9a-f]{7}\.\."
)


def main() -> None:
    """Write every picture."""
    told = subprocess.run(
        [str(Path(sys.executable).with_name("git-gate")), "demo"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    scenes = [scene for scene in told.split("\n\n#") if any(one in scene for one in _SCENES)]
    lines = [line for scene in scenes for line in _lines("#" + scene.removeprefix("#"))]
    _draw(lines, HERE / "story.svg", "git gate")


def _lines(scene: str) -> list[str]:
    kept = [line for line in scene.split("\n") if re.match(_KEPT, line) and "warning" not in line]
    return ["", *kept]


def _draw(lines: list[str], path: Path, title: str) -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    for line in lines[1:]:
        console.print(
            _styled(line.replace("../remote.git", "origin")), soft_wrap=True, highlight=False
        )
    path.write_text(console.export_svg(title=title, theme=MONOKAI, code_format=_FORMAT))


def _styled(line: str) -> Text:
    if line.startswith("#"):
        return Text(line, style="italic bright_black")
    if line.startswith("$"):
        return Text(line, style="bold")
    refused = "may not move" in line or "differs" in line or "rejected" in line
    passed = "satisfied" in line or "now approved" in line or "->" in line
    return Text(line, style="red" if refused else "green" if passed else "")


if __name__ == "__main__":
    main()
