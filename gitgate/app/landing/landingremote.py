"""The guarded branch at the place where it lives: looked at, fetched, and moved by one push.

Every move names the value that it replaces. Git's own words for a failure are shown and never
read: what a push came to is seen by looking at the branch again.
"""

from __future__ import annotations

import random
import shlex
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from gitgate import process
from gitgate.app.gather.world import World
from gitgate.app.landing.landinghere import move_here
from gitgate.app.landing.landingtext import said
from gitgate.app.landing.landingtree import LandingTree
from gitgate.core import ids
from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.known import tracking_ref
from gitgate.git.refs import LostRace
from gitgate.git.remote import unreachable
from gitgate.git.repository import Repository

_BUSY = ("failed to update ref", "cannot lock ref")
_NEVER = ("no", "false", "off", "0", "")
_PAUSE = 0.5  # seconds, at most, for another push to end that holds the branch's lock


def fetch(world: World, target: str, *further: str) -> None:
    """Bring the remote-tracking refs of these branches up to date; nothing without a remote.

    Raises GateError: fatal where the remote cannot be reached, usage where it lacks the target.
    """
    if world.remote is None:
        return
    there = tips(world.repo, world.remote, (target, *further))
    if target not in there:
        raise GateError(
            Exit.USAGE,
            f"{world.remote} has no {target} that anything could land on",
            f"git push {shlex.join([world.remote, target])} (by whoever sets the project up)",
        )
    places = {tracking(world.remote, ref): (ref, tip) for ref, tip in there.items()}
    _fetch(world.repo, world.remote, places)


def hear(world: World, instances: Collection[tuple[str, str]]) -> None:
    """Fetch what the remote has of these ledgers, and send nothing.

    This clone's own ref first takes what only the remote-tracking one holds: a remote that lost
    something must not make this clone lose it. Raises GateError as `fetch` does, and untrusted
    where the two went apart.
    """
    if world.remote is None:
        return
    names = {ids.ledger_ref(*one): one for one in instances}
    there = tips(world.repo, world.remote, names)
    for ref in there:
        world.ledgers.catch_up(*names[ref])
    places = {tracking_ref(world.remote, ref): (ref, tip) for ref, tip in there.items()}
    _fetch(world.repo, world.remote, places)
    world.forget()


def push(world: World, tree: LandingTree, ref: str, old: str, new: str, again: str) -> None:
    """Move the remote's `ref` from `old` to `new`, or the local one where there is no remote.

    `again` is the command that tries it once more, for a hint.
    Raises LostRace where it is not at `old` any more, and GateError (blocked) with what was said
    where the remote, or a hook, refuses.
    """
    if world.remote is None:
        move_here(world.repo, ref, old, new, again)
        return
    remote = world.remote
    first = ("-c", f"remote.{remote}.mirror=false")
    last = ("--no-follow-tags", f"--force-with-lease={ref}:{old}", "--", remote, f"{new}:{ref}")
    answer = _submodules_missed(world.repo, first, last) or tree.git(
        *(*first, *_from_elsewhere(world.repo, remote)),
        *("push", "--porcelain", "--recurse-submodules=no", *last),
    )
    if answer.status == 0:
        return
    tip = tips(world.repo, remote, (ref,)).get(ref)
    if tip == new:
        return
    flag = _flag_of(answer, ref)
    if tip != old or any(word in flag for word in _BUSY):
        time.sleep(random.uniform(0, _PAUSE))  # noqa: S311 - jitter, no secret
        raise LostRace(ref)
    if flag:
        raise GateError(
            Exit.BLOCKED,
            "\n".join(
                [f"{remote} refused {ref}, and nothing landed: {flag}", *said(answer.stderr)]
            ),
            "where the branch takes no pushes, git gate check says which ways of a pull request"
            " pass",
        )
    raise GateError(
        Exit.BLOCKED,
        "\n".join([f"the push of {ref} was refused, and nothing landed:", *said(answer.stderr)]),
        f"mend that, then {again}",
    )


def _submodules_missed(
    repo: Repository, first: Sequence[str], last: Sequence[str]
) -> process.Completed | None:
    """Git's own check, where the user wants it or wants submodules pushed along, that the remotes
    of the submodules have their commits: what git said, None where nothing is against the push.

    The scratch work tree has no submodules, so it is done in the user's.
    """
    wanted = repo.config.get("push.recursesubmodules")
    if not repo.flag("submodule.recurse") if wanted is None else wanted.lower() in _NEVER:
        return None
    check = ("--dry-run", "--no-verify", "--recurse-submodules=check")
    answer = repo.git(*first, "push", "--porcelain", *check, *last)
    return answer if answer.status != 0 else None


def _from_elsewhere(repo: Repository, remote: str) -> Iterator[str]:
    """A relative path is one from where git runs, and that is the scratch work tree."""
    top = repo.work_tree or repo.git_dir
    for key in ("url", "pushurl"):
        for url in repo.config_all(f"remote.{remote}.{key}"):
            if not Path(url).is_absolute() and (top / url).exists():
                yield from ("-c", f"url.{(top / url).resolve()}.insteadOf={url}")


def _fetch(repo: Repository, remote: str, places: Mapping[str, tuple[str, str]]) -> None:
    """Bring each of `places` to the ref of the remote, and its tip, that belong there."""
    wanted = [
        f"+{ref}:{place}" for place, (ref, tip) in places.items() if refs.read(repo, place) != tip
    ]
    if not wanted:
        return
    options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
    answer = repo.git("fetch", *options, "--refmap=", "--", remote, *wanted)
    if answer.status != 0:
        raise unreachable(remote, answer)


def tips(repo: Repository, remote: str, branches: Collection[str]) -> dict[str, str]:
    answer = repo.git("ls-remote", "--quiet", "--", remote, *branches)
    if answer.status != 0:
        raise unreachable(remote, answer)
    rows = (line.partition("\t") for line in answer.text.split("\n") if line)
    return {name: oid for oid, _, name in rows if name in branches}


def tracking(remote: str, ref: str) -> str:
    return f"refs/remotes/{remote}/{ref.removeprefix('refs/heads/')}"


def _flag_of(answer: process.Completed, ref: str) -> str:
    """The summary of the ref's line, `[remote rejected] (why)`; empty where no remote refused."""
    for line in answer.text.split("\n"):
        flag, _, rest = line.partition("\t")
        names, _, summary = rest.partition("\t")
        if flag == "!" and names.endswith(f":{ref}"):
            return summary
    return ""
