"""The author's change between two rounds, whatever became of the base in between.

From (B1, W1) to (B2, W2): the old work is merged onto the new base as trees, P = merge(B1, B2, W1),
and the change is P→W2. After a rebase, a merge of the base, a squash or a force-push P is what W1
would have been, so what is left is what somebody really wrote.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from gitgate.core.change import Pair
from gitgate.errors import Exit, GateError
from gitgate.git.diffs import Diffs
from gitgate.git.merge import GitTrees
from gitgate.git.patches import compare

_HEADER = re.compile(rb"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)
_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Side:
    """A round as trees: where the work starts, and the work."""

    base: str
    work: str


@dataclass(frozen=True, slots=True)
class Start:
    """The tree that the new work is compared with; paths in `conflicts` cannot be compared so."""

    tree: str
    conflicts: tuple[bytes, ...] = ()


def start(trees: GitTrees, old: Side, new: Side) -> Start:
    """P, the old work on the new base.

    Raises GateError (blocked) where that takes a git that is newer than the one here.
    """
    if old.base == new.base:
        return Start(old.work)
    merged = trees.merge_whole(old.base, new.base, old.work)
    if merged is None:
        raise GateError(
            Exit.BLOCKED,
            "the base moved between the two rounds, and this git is too old to tell the author's"
            " change from the base's",
            "install git 2.38 or later",
        )
    return Start(merged.tree, tuple(sorted(merged.conflicts)))


def two_patches(diffs: Diffs, trees: GitTrees, path: bytes, old: Side, new: Side) -> bytes:
    """How the patch of one file became another between two rounds, as `git range-diff` compares
    patches: the lines of one against those of the other, without line numbers.

    Empty where both make the same change to the same lines.
    """
    before, after = (_patch(diffs, trees, path, side) for side in (old, new))
    return compare(before, after, _CONTEXT)


def _patch(diffs: Diffs, trees: GitTrees, path: bytes, side: Side) -> bytes:
    values = trees.changes(side.base, side.work).get(path)
    if values is None:
        return b""
    pair = diffs.pair(path, *values)
    measured = diffs.measure(pair)
    head = b"".join(
        b"## %s ##\n" % remark.text.encode("utf-8", "surrogateescape")
        for remark in measured.remarks
    )
    if measured.added is None:
        oids = [(one.oid if one else "nothing").encode() for one in (pair.old, pair.new)]
        return head + b"## from %s to %s ##\n" % (oids[0], oids[1])
    return head + _HEADER.sub(b"@@", diffs.patch(pair, _CONTEXT))


def apart(pairs: Iterable[Pair], conflicts: Collection[bytes]) -> Iterator[Pair]:
    """The files that differ from P, without those that only show how a merge failed. Of a rename
    from or to such a path the other half stays, as added or deleted."""
    for pair in pairs:
        old = pair.old if pair.old and pair.old.path not in conflicts else None
        new = pair.new if pair.new and pair.new.path not in conflicts else None
        if (old, new) == (pair.old, pair.new):
            yield pair
        elif (old or new) and pair.similarity is not None:
            yield Pair(old, new)
