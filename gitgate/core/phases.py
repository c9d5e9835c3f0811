"""The project's phase: a line in a file, and the steps that move it (design, section 5).

Pure: the file's content comes in through a reader of blobs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gitgate.core.landing import Value
from gitgate.core.policy import Phases
from gitgate.core.quoting import path_text

Moves = Mapping[bytes, tuple[Value, Value]]
ReadBlob = Callable[[str], bytes]

MAX_FILE = 4096
"""Bytes of a phase file; a longer one is no line."""


@dataclass(frozen=True, slots=True)
class PhaseMove:
    """A step from one phase to another; with a `problem` it is none that a gate could name."""

    before: str
    after: str
    problem: str = ""


def read_phase(phases: Phases, value: Value, read: ReadBlob) -> tuple[str, str]:
    """The phase that a file says, and what is wrong with it; no file is the first phase."""
    if value is None:
        return phases.order[0], ""
    if not value.regular:
        return "", f"{phases.file} is no regular file"
    line, _, rest = read(value.oid).partition(b"\n")
    name = line.decode("utf-8", "replace")
    if rest or len(line) > MAX_FILE:
        return "", f"{phases.file} has more than one line"
    if name not in phases.order:
        return "", f"{phases.file} says {name[:80]!r}, which is no phase"
    return name, ""


def phase_move(phases: Phases, step: Moves, read: ReadBlob) -> PhaseMove | None:
    """How a step moves the phase; None where it leaves it as it is.

    A file that a file system could take for the phase file, or for a folder of it, counts as a
    move that no gate names: other case or form of the name, a link in the place of a folder.
    """
    path = phases.file.encode()
    disguised = next(_disguises(path, step), None)
    if disguised is not None:
        return PhaseMove("", "", f"{path_text(disguised)} could be taken for {phases.file}")
    if path not in step:
        return None
    old, new = step[path]
    before, was_wrong = read_phase(phases, old, read)
    if new is None:
        return PhaseMove(before, "", f"{phases.file} is gone")
    after, is_wrong = read_phase(phases, new, read)
    if is_wrong:
        return PhaseMove(before, after, is_wrong)
    if before == after and not was_wrong:
        return None
    return PhaseMove(before, after, was_wrong)


def _disguises(path: bytes, step: Moves) -> Iterator[bytes]:
    """The new files whose name is folded to that of `path` or of one of its folders."""
    names = {_folded(path)}
    folder = path
    while b"/" in folder:
        folder = folder.rpartition(b"/")[0]
        names.add(_folded(folder))
    for changed, (_, new) in step.items():
        if new is not None and changed != path and _folded(changed) in names:
            yield changed


def _folded(path: bytes) -> str:
    text = unicodedata.normalize("NFKC", path.decode("utf-8", "replace")).casefold()
    return "".join(one for one in text if unicodedata.category(one) != "Cf")
