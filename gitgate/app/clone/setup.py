"""`init`: the policy and the signers file where they are missing, and this clone's own half."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from gitgate.app.gather.policies import policy_at
from gitgate.app.telling.derived import DECISION_LOG, PROVENANCE, exclude
from gitgate.core import ids
from gitgate.core.armor import Format
from gitgate.core.people import People
from gitgate.core.policy import POLICY_FILE, SIGNERS_FILE
from gitgate.core.policyreader import PolicyError, parse_policy
from gitgate.core.presets import preset
from gitgate.core.trust import parse_signers
from gitgate.core.verdict import may_approve
from gitgate.errors import Exit, GateError
from gitgate.git import refs
from gitgate.git.repository import Repository
from gitgate.signing.sign import default_key, make_key, public_key, signer
from gitgate.signing.sshkeys import is_ssh


@dataclass
class SetUp:
    """What `init` did, sentence by sentence, and the commands that are left to the person."""

    done: list[str] = field(default_factory=list)
    next: list[str] = field(default_factory=list)


def set_up(repo: Repository, preset_name: str, home: Path) -> SetUp:
    """Write what is missing of policy, signers, key and configuration; twice changes nothing.

    Raises GateError where git does not know who the person is, where the repository has no work
    tree, and where `aiwg.yml` is there and not valid.
    """
    if repo.work_tree is None:
        raise GateError(
            Exit.FATAL,
            "a bare repository has no work tree for the policy",
            "run git gate init in a clone of it",
        )
    said = SetUp()
    stamp = repo.identity()
    branch = _branch(repo)
    key = _key(repo, home, stamp.person.email, said)
    adopted = _adopted(repo, branch)
    if not adopted:
        _write_policy(repo.work_tree, preset_name, branch, stamp.person.email, said)
        _write_signers(repo.work_tree, stamp.person.email, key, said)
    _configure(repo, branch, said)
    if exclude(repo, (DECISION_LOG, PROVENANCE)):
        said.done.append("excluded the derived files from the work tree's status")
    remote = repo.default_remote()
    if not adopted:
        if _nobody_else_approves(repo.work_tree):
            said.next.append(
                "list one more person, or nobody could approve your own work:"
                " git gate signers add PERSON KEY"
            )
        said.next += [
            f"git add {POLICY_FILE.decode()} {SIGNERS_FILE.decode()}",
            "git commit -m 'Adopt git-gate'",
        ]
        if remote:
            said.next.append(f"git push -u {remote} {branch}")
        said.next.append("then, on a branch with work: git gate open")
    elif key is not None and not _listed(repo, branch, key):
        said.done.append("your key is not listed yet: nothing that you sign counts")
        said.next.append(
            "ask somebody who is listed to land this line in .aiwg/allowed_signers:"
            f" {signers_line(stamp.person.email, key)}"
        )
    return said


def _nobody_else_approves(top: Path) -> bool:
    """Whether some gate takes no self-approval and lists too few to do without its author."""
    policy = parse_policy((top / POLICY_FILE.decode()).read_bytes())
    signers = parse_signers((top / SIGNERS_FILE.decode()).read_bytes())
    if policy is None:
        return False
    people = People(policy, signers)
    return any(
        not gate.approvals.self_approval
        and len(may_approve(people, gate)) <= gate.approvals.required
        for gate in policy.gates.values()
    )


def signers_line(email: str, key: str) -> str:
    """The line of `.aiwg/allowed_signers` that lists `key` (an OpenSSH public key line)."""
    kind, blob, *_ = key.split()
    return f'{email} namespaces="git" {kind} {blob}'


def _branch(repo: Repository) -> str:
    """The branch that holds the policy, by its short name."""
    configured = repo.config.get("gate.policyref")
    remote = repo.default_remote()
    head = (repo.remote_head(remote) if remote else None) or repo.head_ref()
    name = configured or (head or "refs/heads/main")
    prefix = f"refs/remotes/{remote}/"
    return name.removeprefix(prefix).removeprefix("refs/heads/")


def _adopted(repo: Repository, branch: str) -> bool:
    remote = repo.default_remote()
    names = [f"refs/heads/{branch}", *([f"refs/remotes/{remote}/{branch}"] if remote else [])]
    tips = [refs.read(repo, name) for name in names]
    return any(tip is not None and policy_at(repo, tip) is not None for tip in tips)


def _key(repo: Repository, home: Path, email: str, said: SetUp) -> str | None:
    """The public SSH key that will sign: the one git would use, else one that is there, else a new
    one. None where git signs with something else."""
    named = repo.config.get("user.signingkey", "")
    kind = repo.config.get("gpg.format", "" if not named or is_ssh(named) else "openpgp")
    if kind in (Format.OPENPGP, Format.X509):
        said.done.append(f"git signs with {kind} here, and so does git-gate")
        said.next.append(
            f"list the fingerprint of your key under human_gates.{kind} in {POLICY_FILE.decode()}"
        )
        return None
    config = dict(repo.config)
    if not config.get("user.signingkey") and not config.get("gpg.ssh.defaultkeycommand"):
        path = default_key(config, home)
        if path is None:
            new = home / ".ssh" / "id_ed25519_git_gate"
            make_key(new, f"{email} git-gate")
            path = f"{new}.pub"
            said.done.append(
                f"made a signing key without a passphrase, {new}; give it one with"
                f" ssh-keygen -p -f {new}"
            )
        _set(repo, "user.signingKey", path, said)
        config["user.signingkey"] = path
    if kind != Format.SSH:
        _set(repo, "gpg.format", Format.SSH.value, said)
        config["gpg.format"] = Format.SSH.value
    said.done.append(f"you sign with {signer(config, where=repo.work_tree).describe}")
    return public_key(config, where=repo.work_tree)


def _listed(repo: Repository, branch: str, key: str) -> bool:
    remote = repo.default_remote()
    names = [*([f"refs/remotes/{remote}/{branch}"] if remote else []), f"refs/heads/{branch}"]
    tip = next((tip for name in names if (tip := refs.read(repo, name))), None)
    data = repo.blob_at(tip, SIGNERS_FILE) if tip else None
    blob = key.split()[1]
    return data is not None and blob.encode() in data


def _write_policy(top: Path, preset_name: str, branch: str, email: str, said: SetUp) -> None:
    """Add the preset to `aiwg.yml`, whatever other tools keep there; GateError where the file
    would not be a valid policy afterwards: then it stays as it is."""
    path = top / POLICY_FILE.decode()
    there = path.read_bytes() if path.exists() else b""
    gap = b"" if not there or there.endswith(b"\n") else b"\n"
    new = there + gap + preset(preset_name, branch=branch, person=email).encode()
    try:
        if there and parse_policy(there) is not None:
            said.done.append(f"{path.name} has a policy already and stays as it is")
            return
        parse_policy(new)
    except PolicyError as error:
        raise GateError(
            Exit.FATAL,
            f"{path.name} cannot take a policy: {error}",
            f"mend {path.name}, then git gate policy check",
        ) from None
    path.write_bytes(new)
    said.done.append(f"wrote the {preset_name} policy to {path.name}")


def _write_signers(top: Path, email: str, key: str | None, said: SetUp) -> None:
    path = top / SIGNERS_FILE.decode()
    there = path.read_bytes() if path.exists() else b""
    if parse_signers(there).people:
        said.done.append(f"{SIGNERS_FILE.decode()} lists people already and stays as it is")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if key is None:
        path.touch()
        return
    with path.open("ab") as file:
        file.write(f"{signers_line(email, key)}\n".encode())
    said.done.append(f"listed {email} in {SIGNERS_FILE.decode()}")


def _configure(repo: Repository, branch: str, said: SetUp) -> None:
    if not repo.config.get("gate.policyref"):
        _set(repo, "gate.policyRef", f"refs/heads/{branch}", said)
    _add(repo, "notes.displayRef", ids.NOTES, said)
    remote = repo.default_remote()
    if remote:
        known = f"{ids.TRACKING}{remote}"
        _add(repo, f"remote.{remote}.fetch", f"+{ids.GATES}*:{known}/gates/*", said)
        _add(repo, f"remote.{remote}.fetch", f"+refs/notes/aiwg/*:{known}/notes/*", said)
        if "gate.autosync" not in repo.config:
            _set(repo, "gate.autoSync", "true", said)


def _set(repo: Repository, key: str, value: str, said: SetUp) -> None:
    _config(repo, key, value)
    said.done.append(f"set {key} to {value} in this repository's configuration")


def _add(repo: Repository, key: str, value: str, said: SetUp) -> None:
    section, _, rest = key.partition(".")
    middle, dot, variable = rest.rpartition(".")
    lowered = f"{section}.{middle}{dot}{variable.lower()}"
    if value not in repo.config_all(lowered):
        _config(repo, "--add", key, value)
        said.done.append(f"added {value} to {key} in this repository's configuration")


def _config(repo: Repository, *args: str) -> None:
    answer = repo.git("config", "--local", *args)
    if answer.status != 0:
        raise GateError(Exit.FATAL, f"git config {' '.join(args)} failed: {answer.complaint}")
