"""A first-parent chain, walked from its tip no further than somebody asks."""

from __future__ import annotations

from gitgate.git.history import absent, shallow_boundary
from gitgate.git.repository import Repository


class Mainline:
    """The commits that a ref has had, as its tip shows them.

    Walking further raises GateError where a commit is missing, and (blocked) at a shallow boundary.
    """

    def __init__(self, repo: Repository, tip: str) -> None:
        self._repo = repo
        self._boundary = shallow_boundary(repo)
        self._next: str | None = tip
        self._chain: list[str] = []
        self._places: dict[str, int] = {}

    def place(self, commit: str) -> int | None:
        """How far behind the tip a commit is, as far as the chain was walked."""
        return self._places.get(commit)

    def reach(self, *commits: str | None) -> None:
        """Walk until one of the commits is met, or to the end."""
        while not any(one in self._places for one in commits if one) and self._step():
            pass

    def holds(self, commit: str) -> bool:
        """Whether a commit lies on the chain."""
        self.reach(commit)
        return commit in self._places

    def fork(self, other: Mainline) -> tuple[str | None, frozenset[str]]:
        """The newest commit of both chains, None without one, and what `other` has beyond it."""
        at = 0
        while True:
            one, two = self._at(at), other._at(at)
            for commit in (one, two):
                if commit is not None and commit in self._places and commit in other._places:
                    return commit, frozenset(other._chain[: other._places[commit]])
            if one is None and two is None:
                return None, frozenset(other._chain)
            at += 1

    def _at(self, place: int) -> str | None:
        while len(self._chain) <= place and self._step():
            pass
        return self._chain[place] if place < len(self._chain) else None

    def _step(self) -> bool:
        if self._next is None:
            return False
        commit = self._repo.commit(self._next)
        self._places[commit.id] = len(self._chain)
        self._chain.append(commit.id)
        if commit.parents and commit.id in self._boundary:
            self._next = None
            raise absent(f"the history before commit {commit.id}")
        self._next = commit.parents[0] if commit.parents else None
        return True
