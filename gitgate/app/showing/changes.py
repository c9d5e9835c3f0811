"""`diff`: what changed between two rounds, gathered lazily: trees first, contents when shown.

What is compared comes from the two requests alone. It is a view: nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from gitgate.app.gather.instances import Loaded
from gitgate.app.gather.world import World
from gitgate.app.showing.rounds import BaseMove, Rounds, base_move, new_subjects, off_target
from gitgate.core import lineage, summary
from gitgate.core.change import Hunk, Measured, Pair, Status, counts, hunks
from gitgate.core.decision import Action, Comment
from gitgate.core.describe import LOOKED_AT, describe
from gitgate.core.lineage import Carried, Carry
from gitgate.core.policy import POLICY_FILES
from gitgate.core.request import Request
from gitgate.core.summary import Told
from gitgate.core.verdict import effective
from gitgate.errors import Exit, GateError
from gitgate.git import interdiff
from gitgate.git.diffs import Diffs
from gitgate.git.interdiff import Side, Start

CONTEXT = 3
"""Unchanged lines that are shown around a change."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A file in which the old work does not merge onto the new base: how its patch changed.

    `hunks` are empty where both rounds make the same change to the same lines.
    """

    path: bytes
    hunks: tuple[Hunk, ...]


class Changes:
    """The change between two rounds of one instance."""

    def __init__(self, world: World, loaded: Loaded, rounds: Rounds) -> None:
        self.loaded = loaded
        self.rounds = rounds
        self._world = world
        self._diffs = Diffs(world.trees)
        self._measured: dict[Pair, Measured] = {}
        self._lineage: dict[Pair, bytes] = {}

    # What is compared.

    @cached_property
    def new_tree(self) -> str:
        return self._side(self.rounds.new.request).work

    @cached_property
    def start(self) -> Start:
        """The tree that the new work is compared with: the old work, on the new base if that is
        another one (design, section 10)."""
        new = self._side(self.rounds.new.request)
        if self.rounds.old is None:
            return Start(new.base)
        return interdiff.start(self._world.trees, self._side(self.rounds.old.request), new)

    @cached_property
    def base(self) -> BaseMove | None:
        """What the base did between the two rounds."""
        old = self.rounds.old
        return base_move(self._world, old.request, self.rounds.new.request) if old else None

    @cached_property
    def off_target(self) -> int:
        """How many commits of the new round's base the target lacks."""
        return off_target(self._world, self.rounds.new.request)

    @cached_property
    def subjects(self) -> tuple[str, ...]:
        """The first lines of the commits that came with the new round."""
        return new_subjects(self._world, self.rounds)

    @property
    def renewed(self) -> bool:
        """Whether the comparison starts from a tree that no commit has: the old work on a new
        base."""
        old = self.rounds.old
        return old is not None and self.start.tree != self._side(old.request).work

    def _side(self, request: Request) -> Side:
        commit = self._world.repo.commit
        return Side(commit(request.base).tree, commit(request.work).tree)

    # The files.

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The files that differ, the policy's own first."""
        found = self._diffs.pairs(self.start.tree, self.new_tree)
        kept = interdiff.apart(found, frozenset(self.start.conflicts))
        return tuple(sorted(kept, key=lambda pair: (not of_policy(pair), pair.path)))

    def measure(self, pair: Pair, context: int | None = None) -> Measured:
        """The statistics of a file and the remarks on it; `context` where its hunks come next."""
        if pair not in self._measured:
            self._measured[pair] = self._diffs.measure(pair, context)
        return self._measured[pair]

    @cached_property
    def measured(self) -> tuple[Measured, ...]:
        """All files with their statistics."""
        return tuple(self.measure(pair) for pair in self.pairs)

    def hunks(self, file: Measured, context: int = CONTEXT) -> Iterator[Hunk]:
        """The hunks of a file, each read when it is asked for; none where it is too large or
        binary.

        Raises GateError (untrusted) where they do not add up to the counted lines.
        """
        if file.added is None or file.deleted is None:
            return
        added = deleted = 0
        try:
            for hunk in hunks(self._diffs.patch(file.pair, context)):
                more, less = counts(hunk)
                added, deleted = added + more, deleted + less
                yield hunk
        except ValueError as error:
            raise _unreadable(file, str(error)) from None
        if (added, deleted) != (file.added, file.deleted):
            raise _unreadable(file, "its hunks do not add up to the lines that were counted")

    def told(self, file: Measured, budget: int) -> Told:
        """The largest changes of a modified file in words."""
        old, new = (
            self._diffs.content(one) if one else b"" for one in (file.pair.old, file.pair.new)
        )
        patch = self._diffs.outline(file.pair)
        try:
            return summary.tell(file.pair.path, patch, old, new, budget)
        except ValueError as error:
            raise _unreadable(file, str(error)) from None

    def description(self, file: Measured) -> str:
        """The first heading or line of a file that was added or deleted."""
        one = file.pair.new or file.pair.old
        return describe(self._diffs.content(one)[:LOOKED_AT]) if one and not file.binary else ""

    def conflicts(self) -> Iterator[Conflict]:
        """The files in which the old work does not merge onto the new base, one after another."""
        old = self.rounds.old
        if old is None:
            return
        sides = self._side(old.request), self._side(self.rounds.new.request)
        trees = self._world.trees
        written = {path for side in sides for path in trees.changes(side.base, side.work)}
        # Git also names files that its merge made up, such as `name~commit`.
        for path in filter(written.__contains__, self.start.conflicts):
            patch = interdiff.two_patches(self._diffs, trees, path, *sides)
            yield Conflict(path, tuple(hunks(patch)))

    def patch(self) -> Iterator[bytes]:
        """Git's own patch for `git apply`, in pieces: from the start of the comparison or, where
        the merge conflicts, from the old work itself."""
        return self._world.trees.patch(self.patch_start, self.new_tree)

    @property
    def patch_start(self) -> str:
        """The tree that `patch` applies to."""
        old = self.rounds.old
        if self.start.conflicts and old is not None:
            return self._side(old.request).work
        return self.start.tree

    # Comments of earlier rounds.

    @cached_property
    def comments(self) -> Mapping[bytes, tuple[Carry, ...]]:
        """By the path that it has now, what was said on a file in the rounds before the new one."""
        found: dict[bytes, list[Carry]] = {}
        for number, request, by, comment in self._said():
            path, now = self._carried(self._side(request).work, comment)
            found.setdefault(path, []).append(Carry(comment, by, number, now, path))
        return {path: tuple(carries) for path, carries in found.items()}

    def _said(self) -> Iterator[tuple[int, Request, str, Comment]]:
        life = self.loaded.instance.life
        good = [record for record in self.loaded.records if record.good]
        for one in life.iterations if life else ():
            request = self.loaded.ledger.requests.get(one.request)
            if request is None or one.number >= self.rounds.new.number:
                continue
            words = effective(good, request.id)
            for record in good:
                word = words.get(record.person or "")
                if record.decision.request != request.id or word is None:
                    continue
                if word.decision.action is not Action.RETRACT:
                    for comment in record.decision.comments:
                        yield one.number, request, record.person or "", comment

    def _carried(self, tree: str, comment: Comment) -> tuple[bytes, Carried]:
        trees, path = self._world.trees, comment.path
        if trees.entry(tree, path) is None:
            return path, lineage.GONE
        if trees.entry(self.new_tree, path) is None:
            path = self._moved(tree, path)
        before, after = trees.entry(tree, comment.path), trees.entry(self.new_tree, path)
        pair = self._diffs.pair(path, before, after)
        if pair.old is None or pair.new is None:
            return comment.path, lineage.GONE
        old, new = self._diffs.content(pair.old), self._diffs.content(pair.new)
        if pair not in self._lineage:
            self._lineage[pair] = self._diffs.patch(pair, 0)
        return path, lineage.carry(comment.line, self._lineage[pair], old, new)

    def _moved(self, tree: str, path: bytes) -> bytes:
        for pair in self._diffs.pairs(tree, self.new_tree):
            if pair.status is Status.RENAMED and pair.old and pair.old.path == path:
                return pair.path
        return path


def of_policy(pair: Pair) -> bool:
    """Whether a file is one of those that say what a gate asks and who may answer."""
    return any(one is not None and one.path in POLICY_FILES for one in (pair.old, pair.new))


def _unreadable(file: Measured, why: str) -> GateError:
    name = file.pair.path.decode("utf-8", "replace")
    return GateError(Exit.UNTRUSTED, f"the patch of {name!r} cannot be shown: {why}")
