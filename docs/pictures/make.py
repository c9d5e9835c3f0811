"""Makes the pictures of the docs from what the program prints: `python docs/pictures/make.py`.

The story is cut from a run of `git gate demo`; nothing in it is typed by hand.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from drawing import DARK, LIGHT, draw  # noqa: E402

COLUMNS = 92

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
    painted = [_painted(line.replace("../remote.git", "origin")) for line in lines[1:]]
    draw(painted, HERE / "story.svg", DARK, COLUMNS)
    draw(painted, HERE / "story-light.svg", LIGHT, COLUMNS)


def _lines(scene: str) -> list[str]:
    kept = [line for line in scene.split("\n") if re.match(_KEPT, line) and "warning" not in line]
    return ["", *kept]


def _painted(line: str) -> str:
    refused = "may not move" in line or "differs" in line or "rejected" in line
    passed = "satisfied" in line or "now approved" in line or "->" in line
    told = {"#": "2;3", "$": "1"}.get(line[:1], "31" if refused else "32" if passed else "0")
    return f"\x1b[{told}m{line}\x1b[0m"


if __name__ == "__main__":
    main()
