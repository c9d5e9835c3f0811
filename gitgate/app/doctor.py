"""`doctor`: what is set up, what is not, and the command that mends it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gitgate.app.policies import PolicyCommit, policy_at, policy_ref
from gitgate.app.policycheck import problems_at
from gitgate.core.armor import Format
from gitgate.errors import GateError
from gitgate.git import ledger as ledgers
from gitgate.git import refs
from gitgate.git.repository import Repository
from gitgate.signing.sign import public_key, signer
from gitgate.signing.sshkeys import blob_of, has_passphrase, key_path, literal_key

_OLDEST_GIT = (2, 38)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: `level` is good, note or fault."""

    level: str
    about: str
    text: str
    hint: str = ""


def examine(repo: Repository, now: int) -> list[Finding]:
    """Look at git, the repository, identity, policy, key, ledgers and locks; nothing raises."""
    del now
    looks: tuple[tuple[str, Callable[[Repository], Iterator[Finding]]], ...] = (
        ("git", _git),
        ("identity", _identity),
        ("policy", _policy),
        ("key", _key),
        ("ledgers", _ledgers),
        ("locks", _locks),
    )
    found: list[Finding] = []
    for about, look in looks:
        try:
            found += list(look(repo))
        except GateError as error:
            found.append(Finding("fault", about, error.message, error.hint))
    return found


def _git(repo: Repository) -> Iterator[Finding]:
    text = repo.git("version").text
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
    if repo.shallow:
        yield Finding(
            "note",
            "git",
            "this clone is shallow: what needs absent history is refused",
            "git fetch --unshallow",
        )


def _identity(repo: Repository) -> Iterator[Finding]:
    yield Finding("good", "identity", f"you are {repo.identity().person}")


def _current(repo: Repository) -> PolicyCommit | None:
    ref = policy_ref(repo, None, repo.default_remote())
    return policy_at(repo, ref.tip) if ref is not None and ref.tip else None


def _policy(repo: Repository) -> Iterator[Finding]:
    ref = policy_ref(repo, None, repo.default_remote())
    policy = _current(repo)
    if ref is None or policy is None:
        where = ref.read_from if ref else "any branch"
        yield Finding("fault", "policy", f"{where} has no policy", "git gate init")
        return
    yield Finding("good", "policy", f"the policy is that of {ref.read_from}, {policy.commit[:12]}")
    for problem in problems_at(repo, policy.commit):
        yield Finding("fault", "policy", problem, "git gate policy check")


def _key(repo: Repository) -> Iterator[Finding]:
    key = signer(repo.config, where=repo.work_tree)
    yield Finding("good", "key", f"you sign with {key.describe}")
    if key.format is not Format.SSH:
        return
    line = public_key(repo.config, where=repo.work_tree)
    policy = _current(repo)
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
    else:
        path = key_path(value, repo.work_tree)
        private = Path(str(path).removesuffix(".pub"))
        if "-sk" in path.name or not private.is_file() or has_passphrase(private):
            return
        text = f"{private} has no passphrase: any process of yours, an agent too, can sign as you"
    yield Finding(
        "note", "key", text, "ssh-keygen -p gives it one; a hardware key asks for a touch"
    )


def _ledgers(repo: Repository) -> Iterator[Finding]:
    found = ledgers.listing(repo)
    yield Finding("good", "ledgers", f"ledgers of instances here: {len(found)}")
    for one in found:
        if one.fault:
            yield Finding("fault", "ledgers", one.fault, "git gate repair")


def _locks(repo: Repository) -> Iterator[Finding]:
    for lock in refs.stale_locks(repo):
        yield Finding(
            "fault", "locks", f"{lock} was left by a process that is gone", f"rm '{lock}'"
        )
