"""Which policy is in force, and for whom (design, sections 1 and 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from gitgate.core.people import People
from gitgate.core.policy import MAILMAP_FILE, POLICY_FILE, SIGNERS_FILE, Policy
from gitgate.core.policyreader import PolicyError, parse_policy
from gitgate.core.trust import Signers, parse_signers
from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.repository import Repository

PolicyKey = tuple[bytes, bytes, bytes]


@dataclass(frozen=True)
class PolicyCommit:
    """The policy, the signers and the mailmap of one commit; they are only ever used together."""

    commit: str
    policy: Policy
    policy_file: bytes
    signers_file: bytes
    mailmap: bytes

    @cached_property
    def key(self) -> PolicyKey:
        """The same for every commit that has the same rules, people and addresses."""
        return self.policy_file, self.signers_file, self.mailmap

    @cached_property
    def signers(self) -> Signers:
        return parse_signers(self.signers_file)

    @cached_property
    def people(self) -> People:
        return People(self.policy, self.signers)


@dataclass(frozen=True, slots=True)
class PolicyRef:
    """The branch that holds the policy.

    `name` is what it is called where the policy lives (`refs/heads/main`), `read_from` the ref of
    this repository that shows it (the remote-tracking one, else the local), `tip` its commit.
    """

    name: str
    read_from: str
    tip: str | None


def policy_at(repo: Repository, commit: str) -> PolicyCommit | None:
    """The policy of `commit`, None where it has none.

    Raises GateError (fatal) where the file is there and is not a valid policy: what cannot be
    parsed blocks.
    """
    data = repo.blob_at(commit, POLICY_FILE)
    if data is None:
        return None
    try:
        policy = _parsed(data)
    except PolicyError as error:
        raise GateError(
            Exit.FATAL,
            f"the policy of commit {commit[:12]} is not valid: {error}",
            "git gate policy check",
        ) from None
    if policy is None:
        return None
    signers = repo.blob_at(commit, SIGNERS_FILE) or b""
    return PolicyCommit(commit, policy, data, signers, repo.blob_at(commit, MAILMAP_FILE) or b"")


@lru_cache(16)
def _parsed(data: bytes) -> Policy | None:
    return parse_policy(data)


def policy_ref(repo: Repository, asked: str | None, remote: str | None) -> PolicyRef | None:
    """The policy ref: configured, else the default branch, else `asked` if its tip has a policy.

    None where no ref in sight has a policy. Raises GateError (fatal) where one has and nothing
    says that it is the one.
    """
    configured = repo.config.get("gate.policyref")
    default = _default_of(repo, remote) if remote else _own_default(repo)
    named = _full(configured) if configured else default
    if named:
        found = _seen(repo, named, remote)
        if found.tip is None and asked not in (None, named):
            _check_not_misspelt(repo, named, _seen(repo, asked, remote))
        return found
    if asked:
        here = _seen(repo, asked, remote)
        if here.tip and repo.blob_at(here.tip, POLICY_FILE) is not None:
            return here
    _check_none_in_sight(repo, remote)
    return None


def target_tip(repo: Repository, ref: str, remote: str | None) -> tuple[str, str | None]:
    """The ref of this repository that shows `ref` of the remote, and its commit.

    The remote-tracking one where there is one, else the local one. Of a remote's tag nothing is
    known: a tag of that name here is the one that is to be pushed, so there is no commit.
    """
    if ref.startswith("refs/tags/"):
        return ref, None if remote or refs.read(repo, ref) is None else repo.resolve(ref)
    seen = _seen(repo, ref, remote)
    return seen.read_from, seen.tip


def consulted(repo: Repository, asked: str | None, remote: str | None) -> Iterator[str]:
    """The refs whose policy decides what a push to `remote` is judged by, for the hook's cache."""
    found = policy_ref(repo, asked, remote)
    if found is not None:
        if remote:
            yield _tracking(found.name, remote)
        yield found.name


def _seen(repo: Repository, name: str, remote: str | None) -> PolicyRef:
    if remote:
        tracking = _tracking(name, remote)
        tip = refs.read(repo, tracking)
        if tip is not None:
            return PolicyRef(name, tracking, tip)
    return PolicyRef(name, name, refs.read(repo, name))


def _tracking(name: str, remote: str) -> str:
    kind, _, short = name.removeprefix("refs/").partition("/")
    return f"refs/remotes/{remote}/{short}" if kind == "heads" else name


def _full(name: str) -> str:
    return name if name.startswith("refs/") else f"refs/heads/{name}"


def _default_of(repo: Repository, remote: str) -> str | None:
    head = repo.remote_head(remote)
    prefix = f"refs/remotes/{remote}/"
    return f"refs/heads/{head.removeprefix(prefix)}" if head and head.startswith(prefix) else None


def _own_default(repo: Repository) -> str | None:
    """A bare repository is a server: its HEAD is the default branch."""
    return repo.head_ref() if repo.work_tree is None else None


def _check_not_misspelt(repo: Repository, named: str, asked: PolicyRef) -> None:
    """Where the policy ref does not exist, a ref that guards itself is not taken for free."""
    policy = policy_at(repo, asked.tip) if asked.tip else None
    if policy is not None and policy.policy.guarding(asked.name):
        raise GateError(
            Exit.FATAL,
            f"{named} is to hold the policy and is not there, while {asked.read_from} has one and"
            " is guarded by it",
            f"git config gate.policyRef {asked.name}, or git fetch",
        )


def _check_none_in_sight(repo: Repository, remote: str | None) -> None:
    prefixes = ["refs/heads/", *([f"refs/remotes/{remote}/"] if remote else [])]
    for prefix in prefixes:
        for name, tip in refs.listing(repo, prefix).items():
            if repo.kind(tip) == "commit" and policy_at(repo, tip) is not None:
                raise GateError(
                    Exit.FATAL,
                    f"{name} has a policy, but nothing says which branch holds the policy",
                    "git config gate.policyRef refs/heads/main, or git remote set-head"
                    f" {remote or 'origin'} --auto",
                )
