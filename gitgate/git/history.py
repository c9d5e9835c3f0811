"""Walks through history that say so where history is missing.

libgit2 takes a shallow boundary for the beginning of time: it then finds no merge base, or a clean
and wrong one. In a shallow clone the walks here read raw commits and answer only what the present
history proves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pygit2

from gitgate.errors import Exit, GateError
from gitgate.git.objects import Commit

if TYPE_CHECKING:
    from gitgate.git.repository import Repository

MAX_BETWEEN = 10_000


def first_parents(repo: Repository, commit: str, until: str | None) -> list[Commit] | None:
    """The first-parent chain from `commit`, newest first, to `until` inclusive, or to its root.

    None where `until` is not on it. Raises GateError (blocked) at a shallow boundary.
    """
    chain: list[Commit] = []
    boundary = shallow_boundary(repo)
    oid: str | None = commit
    while oid:
        chain.append(repo.commit(oid))
        if oid == until:
            return chain
        parents = chain[-1].parents
        if parents and oid in boundary:
            raise absent(f"the history before commit {oid}")
        oid = parents[0] if parents else None
    return chain if until is None else None


def is_ancestor(repo: Repository, older: str, newer: str) -> bool:
    """Whether `older` is `newer` or one of its ancestors."""
    if older == newer:
        return True
    if not repo.shallow:
        return repo.ask_library(lambda library: bool(library.descendant_of(newer, older)))
    reached = _reachable(repo, newer)
    if older in reached:
        return True
    # What is hidden cannot hold a commit that comes after it.
    hiding = reached & shallow_boundary(repo)
    if hiding and (repo.kind(older) is None or not hiding <= _reachable(repo, older)):
        raise absent(f"whether commit {older} comes before {newer}")
    return False


def merge_bases(repo: Repository, one: str, other: str) -> tuple[str, ...]:
    """The best common ancestors, as `git merge-base --all` gives them; none is possible."""
    if not repo.shallow:
        found = repo.ask_library(lambda library: library.merge_base(one, other))
        if found is None:
            return ()
        if str(found) in (one, other):  # then it is the only one, and no process is needed
            return (str(found),)
    answer = repo.git("merge-base", "--all", one, other)
    bases = tuple(answer.text.split())
    # For a commit that it cannot read git prints an error and goes on, also with status 1 or 0.
    if answer.status > 1 or answer.stderr.startswith(b"error:") or b"\nerror:" in answer.stderr:
        raise GateError(
            Exit.UNTRUSTED,
            f"the merge base of {one} and {other} cannot be found: {answer.complaint}",
            "git fsck",
        )
    if repo.shallow and bases != (one,) and bases != (other,):
        _check_bases_known(repo, one, other, bases)
    return bases


def _check_bases_known(repo: Repository, one: str, other: str, bases: tuple[str, ...]) -> None:
    """What is hidden can add a base, unless all of it lies behind the only one that is there."""
    hiding = (_reachable(repo, one) | _reachable(repo, other)) & shallow_boundary(repo)
    if hiding and not (len(bases) == 1 and hiding <= _reachable(repo, bases[0])):
        raise absent(f"the merge base of {one} and {other}")


def between(repo: Repository, base: str, work: str) -> tuple[Commit, ...]:
    """The commits of `base..work`, each before its parents.

    Raises GateError (blocked) where there are more than 10,000, and where a shallow boundary hides
    some of them or hides that `base` already has them.
    """
    if repo.shallow:
        found = _children_first(repo, _between_shallow(repo, base, work))
    else:
        found = repo.ask_library(lambda library: _walk(library, base, work))
    if len(found) > MAX_BETWEEN:
        raise GateError(
            Exit.BLOCKED,
            f"there are more than {MAX_BETWEEN} commits between {base} and {work}",
            "name a later base with --base",
        )
    return tuple(repo.commit(oid) for oid in found)


def _walk(library: pygit2.Repository, base: str, work: str) -> list[str]:
    walker = library.walk(work, pygit2.enums.SortMode.TOPOLOGICAL)
    walker.hide(base)
    found = []
    for commit in walker:
        found.append(str(commit.id))
        if len(found) > MAX_BETWEEN:
            break
    return found


def _between_shallow(repo: Repository, base: str, work: str) -> set[str]:
    hidden = _reachable(repo, base)
    found = _reachable(repo, work, without=hidden)
    boundary = shallow_boundary(repo)
    # A descendant of the base is surely none of its ancestors; of any other commit only the
    # complete history of the base can tell.
    certain = _descending(repo, base, found) if hidden & boundary else found
    if found & boundary or certain != found:
        raise absent(f"the commits between {base} and {work}")
    return found


def _children_first(repo: Repository, commits: set[str]) -> list[str]:
    children = dict.fromkeys(commits, 0)
    for oid in commits:
        for parent in set(repo.commit(oid).parents) & commits:
            children[parent] += 1
    ready = [oid for oid, count in children.items() if not count]
    ordered = []
    while ready:
        ordered.append(ready.pop())
        for parent in set(repo.commit(ordered[-1]).parents) & commits:
            children[parent] -= 1
            if not children[parent]:
                ready.append(parent)
    return ordered


def _descending(repo: Repository, base: str, commits: set[str]) -> set[str]:
    children: dict[str, list[str]] = {}
    for oid in commits:
        for parent in repo.commit(oid).parents:
            children.setdefault(parent, []).append(oid)
    found: set[str] = set()
    waiting = [base]
    while waiting:
        new = [child for child in children.get(waiting.pop(), ()) if child not in found]
        found.update(new)
        waiting.extend(new)
    return found


def _reachable(repo: Repository, commit: str, without: Iterable[str] = ()) -> set[str]:
    boundary = shallow_boundary(repo)
    barred = set(without)
    found: set[str] = set()
    waiting = [commit]
    while waiting:
        oid = waiting.pop()
        if oid in found or oid in barred:
            continue
        found.add(oid)
        if oid not in boundary:
            waiting.extend(repo.commit(oid).parents)
    return found


def shallow_boundary(repo: Repository) -> frozenset[str]:
    """The commits whose parents this clone does not have (the file `shallow` of git)."""
    if not repo.shallow:
        return frozenset()
    try:
        return frozenset((repo.common_dir / "shallow").read_text("ascii").split())
    except OSError:
        return frozenset()


def absent(what: str) -> GateError:
    """History that a shallow clone lacks."""
    return GateError(
        Exit.BLOCKED,
        f"{what} cannot be known: this clone is shallow and lacks older commits",
        "git fetch --unshallow",
    )
