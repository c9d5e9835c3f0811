"""`policy check`: is the policy valid, and can its gates be satisfied by those whom it lists?"""

from __future__ import annotations

from pathlib import Path

from gitgate.core.people import People
from gitgate.core.policy import POLICY_FILE, SIGNERS_FILE, Policy
from gitgate.core.policyreader import PolicyError, parse_policy
from gitgate.core.trust import Signers, parse_signers
from gitgate.core.verdict import may_approve
from gitgate.git.repository import Repository


def problems_in(top: Path) -> list[str]:
    """What is wrong with the policy and the signers of a work tree, a sentence each."""
    return _problems(_content(top / POLICY_FILE.decode()), _content(top / SIGNERS_FILE.decode()))


def problems_at(repo: Repository, rev: str) -> list[str]:
    """The same of a commit; GateError (usage) where `rev` names none."""
    commit = repo.resolve(rev)
    return _problems(repo.blob_at(commit, POLICY_FILE), repo.blob_at(commit, SIGNERS_FILE))


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() and not path.is_symlink() else None


def _problems(policy_file: bytes | None, signers_file: bytes | None) -> list[str]:
    if policy_file is None:
        return [f"there is no {POLICY_FILE.decode()}: git gate init writes one"]
    try:
        policy = parse_policy(policy_file)
    except PolicyError as error:
        return [str(problem) for problem in error.problems]
    if policy is None:
        return [f"{POLICY_FILE.decode()} has no `human_gates`: git gate init adds them"]
    signers = parse_signers(signers_file or b"")
    return [
        *(f"{SIGNERS_FILE.decode()}:{line}: {fault}" for line, fault in signers.defects),
        *_impossible(policy, signers),
    ]


def _impossible(policy: Policy, signers: Signers) -> list[str]:
    people = People(policy, signers)
    found: list[str] = []
    for gate in policy.gates.values():
        able = len(may_approve(people, gate))
        if able < gate.approvals.required:
            found.append(
                f"gate `{gate.id}` requires {gate.approvals.required} to approve, and"
                f" {SIGNERS_FILE.decode()} lists {able} who may"
            )
    return found
