"""git-gate in a process of its own at a time that stands still: `review_child.py SECONDS ARGS`."""

from __future__ import annotations

import sys

from gitgate.cli.env import Env
from gitgate.cli.main import main

now = int(sys.argv[1])
Env.now = lambda _env: now  # type: ignore[method-assign]
main(sys.argv[2:])
