"""`doctor`: what is set up, what is not, and the command that mends it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from shlex import quote

from gitgate.app.clone.elsewhere import look_at_clocks, look_at_unpushed
from gitgate.app.clone.findings import Finding
from gitgate.app.clone.wholeness import look_at_ledgers
from gitgate.app.gather.policies import PolicyCommit
from gitgate.app.gather.world import World
from gitgate.app.policy.policycheck import problems_at
from gitgate.app.reviewing import drafts
from gitgate.core import ids
from gitgate.core.armor import Format
from gitgate.core.decision import Action
from gitgate.errors import GateError
from gitgate.git import refs
from gitgate.git.repository import Repository
from gitgate.signing.sign import public_key, signer
from gitgate.signing.sshkeys import blob_of, has_passphrase, key_path, literal_key

_OLDEST_GIT = (2, 38)

Look = Callable[[World], Iterator[Finding]]


def examine(repo: Repository, now: int) -> list[Finding]:
    """Look at git, the clone's set-up, identity, policy, key, ledgers, notes and what killed
    processes left; what one look cannot read is a finding of its own."""
    looks: tuple[tuple[str, Look], ...] = (
        ("git", _git),
        ("identity", _identity),
        ("policy", _policy),
        ("key", _key),
        ("setup", _setup),
        ("locks", _locks),
        ("ledgers", _ledgers),
        ("drafts", _drafts),
        ("exchange", look_at_unpushed),
        ("clock", look_at_clocks),
    )
    world = World(repo, now)
    found: list[Finding] = []
    try:
        for about, look in looks:
            try:
                found += look(world)
            except GateError as error:
                found.append(Finding("fault", about, error.message, error.hint))
    finally:
        world.close()
    return found


def _git(world: World) -> Iterator[Finding]:
    text = world.repo.git("version").text
    match = re.search(r"(\d+)\.(\d+)", text)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    if version < _OLDEST_GIT:
        yield Finding(
            "fault",
            "git",
            f"{text} cannot merge trees without a work tree, so merges over an"
            " upstream rename are refused",
            "install git 2.38 or newer",
        )
    else:
        yield Finding("good", "git", text)
    if world.repo.shallow:
        yield Finding(
            "note",
            "git",
            "this clone is shallow: what needs absent history is refused",
            "git fetch --unshallow",
        )


def _identity(world: World) -> Iterator[Finding]:
    yield Finding("good", "identity", f"you are {world.repo.identity().person}")


def _current(world: World) -> PolicyCommit | None:
    ref = world.policy_ref()
    return world.policy_at(ref.tip) if ref is not None and ref.tip else None


def _policy(world: World) -> Iterator[Finding]:
    ref = world.policy_ref()
    policy = _current(world)
    if ref is None or policy is None:
        where = ref.read_from if ref else "any branch"
        yield Finding("fault", "policy", f"{where} has no policy", "git gate init")
        return
    yield Finding("good", "policy", f"the policy is that of {ref.read_from}, {policy.commit[:12]}")
    for problem in problems_at(world.repo, policy.commit):
        yield Finding("fault", "policy", problem, "git gate policy check")


def _key(world: World) -> Iterator[Finding]:
    repo = world.repo
    key = signer(repo.config, where=repo.work_tree)
    yield Finding("good", "key", f"you sign with {key.describe}")
    if key.format is not Format.SSH:
        return
    line = public_key(repo.config, where=repo.work_tree)
    policy = _current(world)
    if policy is not None:
        listed = policy.signers.listing(blob_of(line))
        people = sorted({policy.signers.person(entry) or "nobody" for entry in listed})
        if len(people) == 1:
            yield Finding("good", "key", f"the policy lists it: you decide as {people[0]}")
        else:
            fault = f"lists it for {', '.join(people)}" if people else "does not list it"
            yield Finding(
                "fault",
                "key",
                f"the policy {fault}: nothing that you sign counts",
                "git gate init says how to get listed",
            )
    yield from _who_else_can_sign(repo)


def _who_else_can_sign(repo: Repository) -> Iterator[Finding]:
    """Whether any process of this user can sign as this user (design, section 5)."""
    value = repo.config.get("user.signingkey", "")
    if not value or literal_key(value) is not None:
        text = "an ssh-agent signs for any process of yours that can reach it"
        yield Finding("note", "key", text, "ssh-add -c asks each time; a hardware key for a touch")
        return
    path = key_path(value, repo.work_tree)
    private = Path(str(path).removesuffix(".pub"))
    if "-sk" in path.name or not private.is_file() or has_passphrase(private):
        return
    yield Finding(
        "note",
        "key",
        f"{private} has no passphrase: any process of yours, an agent too, can sign as you",
        f"ssh-keygen -p -f {quote(str(private))}",
    )


def _setup(world: World) -> Iterator[Finding]:
    """What `init` configures in each clone, for people to see decisions at all."""
    repo, remote = world.repo, world.remote
    missing = []
    if ids.NOTES not in repo.config_all("notes.displayref"):
        missing.append("git log does not show decisions")
    if remote and not any(
        one.startswith(f"+{ids.GATES}") for one in repo.config_all(f"remote.{remote}.fetch")
    ):
        missing.append(f"git fetch does not bring those of {remote}")
    if missing:
        yield Finding("note", "setup", " and ".join(missing), "git gate init")


def _locks(world: World) -> Iterator[Finding]:
    for lock in refs.stale_locks(world.repo):
        text = f"{lock} was left by a process that is gone"
        yield Finding("fault", "locks", text, f"rm {quote(str(lock))}")


def _ledgers(world: World) -> Iterator[Finding]:
    try:
        policy = _current(world)
    except GateError:  # which the look at the policy says
        policy = None
    yield from look_at_ledgers(world, policy)


def _drafts(world: World) -> Iterator[Finding]:
    """Words that a killed command left: perhaps they were recorded, perhaps not."""
    others = [action.value for action in Action if action is not Action.REJECT]
    for path in sorted((world.repo.common_dir / "git-gate" / "drafts").rglob("*.md")):
        if drafts.edited(path):
            text = f"words that may not have been recorded are kept in {path}"
            action = path.name.split(".", 1)[0]
            record = f"git gate reject -F {quote(str(path))}"
            if action in others:
                record = f'git gate {action} -m "$(cat {quote(str(path))})"'
            yield Finding("note", "drafts", text, record)
