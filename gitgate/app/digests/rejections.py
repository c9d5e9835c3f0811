"""Which rejected requests may be about the same content as another one, told by their digests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

from gitgate.app.digests.digesting import content, node_text, value_text
from gitgate.app.gather.landed import candidate, compared_of
from gitgate.app.gather.policies import PolicyCommit
from gitgate.core.digest import NONE, REJECTED, Asked, Digest, Look, Touch, marks_of, moved
from gitgate.core.merging import Entry, Value
from gitgate.core.request import Request
from gitgate.errors import GateError

if TYPE_CHECKING:
    from gitgate.app.gather.world import World

V = TypeVar("V")


class Rejections:
    """The rejected requests of a gate's instances; of those that cannot be read all is possible."""

    def __init__(self, world: World, rows: Iterable[Digest]) -> None:
        self._world = world
        self._asked: list[tuple[str, Asked]] = []
        self._paths: dict[bytes, dict[int, Touch]] = {}
        self._lines: dict[str, frozenset[str] | None] = {}
        self._work: dict[str, set[int]] = {}
        self._trees: dict[tuple[str, str], set[int]] = {}
        self._large: set[int] = set()
        self._moved: dict[str, set[int]] = {}
        self.unread: set[str] = set()
        for row in rows:
            if row.tip != NONE and row.state[1] == REJECTED:
                try:
                    for one in row.requests(REJECTED):
                        self._add(row.place, one)
                except ValueError:
                    self.unread.add(row.place)

    def _add(self, place: str, one: Asked) -> None:
        number = len(self._asked)
        self._asked.append((place, one))
        self._work.setdefault(one.work, set()).add(number)
        self._trees.setdefault((one.base_tree, one.work_tree), set()).add(number)
        if one.touches is None:
            self._large.add(number)
        for touch in one.touches or ():
            if touch.kind not in "FC":
                self._paths.setdefault(touch.path, {})[number] = touch

    def like(self, policy: PolicyCommit, request: Request) -> set[str]:
        """The places of the instances with a rejected request that may be what `request` is."""
        found = self._numbers(policy, request)
        asked = (self._asked[number] for number in found)
        return self.unread | {
            place for place, one in asked if one.id != request.id and one.target == request.target
        }

    def _numbers(self, policy: PolicyCommit, request: Request) -> set[int]:
        """Never too few (core.merging, `same_change`): two changes are the same only if each path
        that is asked for is touched by the rejected one and agrees with it, or a rename may have
        carried it there."""
        if not self._asked:
            return set()
        same = set(self._work.get(request.work, ()))
        try:
            own = candidate(self._world, request)
            compared = compared_of(self._world, policy, request)
            changes = self._world.trees.changes(own.base, own.work)
            asked = {path: new for path, (_, new) in changes.items() if compared(path)}
            same |= self._trees.get(own.link, set())
            if not asked:
                return same
            return same | self._large | self._moved_over(own.base) | self._agreeing(asked)
        except GateError:
            return set(range(len(self._asked)))  # whoever compares them says what is missing

    def _agreeing(self, asked: Mapping[bytes, Value]) -> set[int]:
        """The rejected requests that touch all these paths, and may leave there what is asked."""
        found = set.intersection(*(set(self._paths.get(path, ())) for path in asked))
        return {
            number
            for number in found
            if all(self._agrees(self._paths[path][number], new) for path, new in asked.items())
        }

    def _agrees(self, touch: Touch, new: Value) -> bool:
        if new is None or touch.kind == "D":
            return new is None and touch.kind == "D"
        lines = self._lines_of(new) if touch.lines else None
        return lines is None or touch.lines <= lines

    def _lines_of(self, value: Entry) -> frozenset[str] | None:
        """The marks of all lines of a file; None where they cannot be told."""
        if value.oid not in self._lines:
            data = content(self._world, value)
            self._lines[value.oid] = None if data is None else frozenset(marks_of(data))
        return self._lines[value.oid]

    def _moved_over(self, tree: str) -> set[int]:
        if tree not in self._moved:
            look = self._look(tree)
            self._moved[tree] = {
                number for number, (_, one) in enumerate(self._asked) if moved(one, look)
            }
        return self._moved[tree]

    def _look(self, tree: str) -> Look:
        trees = self._world.trees
        return Look(
            _remembered(lambda path: value_text(trees.entry(tree, path))),
            _remembered(lambda path: trees.folder(tree, path)),
            _remembered(lambda path: node_text(self._world, tree, path)),
        )


def _remembered(question: Callable[[bytes], V]) -> Callable[[bytes], V]:
    known: dict[bytes, V] = {}

    def answer(path: bytes) -> V:
        if path not in known:
            known[path] = question(path)
        return known[path]

    return answer
