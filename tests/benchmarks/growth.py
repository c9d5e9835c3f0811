"""The growth curve of `docs/performance.md`: what `bench_many.py` printed, drawn.

`python tests/benchmarks/bench_many.py | tee printed; python tests/benchmarks/growth.py <printed
>docs/pictures/growth.svg`. Milliseconds against the number of ended instances, both logarithmic.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import log10

LEFT, TOP, WIDTH, HEIGHT = 70, 50, 520, 260
LEAST, MOST = 1.0, 1000.0
"""Milliseconds at the foot and the head of the picture."""

FONT = 'font-family="sans-serif" font-size="14" fill="#1f2328"'
LINES = (
    ("push of a guarded branch", "#0b6e99"),
    ("list, beyond start-up", "#b3541e"),
    ("git for-each-ref", "#5c6770"),
)
Row = tuple[int, tuple[float, float, float]]


def rows(printed: str) -> list[Row]:
    """Ended instances, and the milliseconds of push, list and for-each-ref."""
    found: list[Row] = []
    for line in printed.splitlines():
        cells = line.replace(" ms", "").replace(" s", "").split()
        if len(cells) == 7 and cells[0].isdigit():
            found.append((int(cells[0]), (float(cells[2]), float(cells[4]), float(cells[5]))))
    if len(found) < 2:
        sys.exit("nothing to draw: this is not what bench_many.py printed")
    return found


def picture(found: Sequence[Row]) -> str:
    first, last = log10(found[0][0]), log10(found[-1][0])

    def x(ended: int) -> float:
        return LEFT + WIDTH * (log10(ended) - first) / (last - first)

    def y(ms: float) -> float:
        return TOP + HEIGHT * (1 - log10(ms / LEAST) / log10(MOST / LEAST))

    heading = "Milliseconds beside ended instances (100 open ones from 1,000 on)"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 360" {FONT}>',
        '<rect width="820" height="360" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="28" font-size="16">{heading}</text>',
    ]
    for ms in (1, 10, 100, 1000):
        out.append(
            f'<path d="M{LEFT} {y(ms):.1f}h{WIDTH}" stroke="#d0d7de"/>'
            f'<text x="{LEFT - 8}" y="{y(ms) + 5:.1f}" text-anchor="end">{ms:,}</text>'
        )
    for ended, _ in found:
        at = f'x="{x(ended):.1f}" y="{TOP + HEIGHT + 24}" text-anchor="middle"'
        out.append(f"<text {at}>{ended:,}</text>")
    for number, (name, colour) in enumerate(LINES):
        points = [(x(ended), y(values[number])) for ended, values in found]
        path = " ".join(f"{left:.1f},{top:.1f}" for left, top in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{colour}"/>' for a, b in points]
        left, top = points[-1]
        last_value = found[-1][1][number]
        out.append(
            f'<text x="{left + 10:.1f}" y="{top + 5:.1f}" fill="{colour}">{name},'
            f" {last_value:.0f}</text>"
        )
    return "\n".join([*out, "</svg>", ""])


if __name__ == "__main__":
    sys.stdout.write(picture(rows(sys.stdin.read())))
