"""Do the hooks really fire? Tried with moves that git-gate has to refuse.

The push is real, with this clone's configuration and all its hooks, but dry, and goes to a bare
repository that is thrown away. The local move is made in that repository with this one's hooks
folder. What is tried is a change of the policy that nobody has seen; no ref of the user's moves,
and no object is added to theirs.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gitgate.app.clone.findings import Finding
from gitgate.app.gather.policies import policy_at, policy_ref
from gitgate.app.judging.judge import gates_of
from gitgate.core.policy import POLICY_FILE
from gitgate.errors import Exit, GateError
from gitgate.git.repository import Repository
from gitgate.process import Limited, clean_environment, run, run_limited

PATIENCE = 60.0
"""Seconds that the hooks may take: other tools' run as well."""

_REFUSED = re.compile(rb"git-gate: .* may not move: ")
_KEPT = 1 << 16
_NOBODY = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "git-gate doctor"), ("EMAIL", "git-gate@git-gate.invalid"))
}


@dataclass(frozen=True, slots=True)
class Trial:
    """A bare repository in which the policy ref is where it is for this clone, and a commit of
    the trial's own that may not follow."""

    bare: Path
    ref: str
    old: str
    new: str


def fire_pre_push(repo: Repository) -> Iterator[Finding]:
    """Push what has to be refused; a finding says whether it was, and by whom."""
    with _trial(repo) as trial:
        if trial is None:
            return
        variables = {
            **repo.environment,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(trial.bare / "objects"),
            "GIT_LFS_SKIP_PUSH": "1",
        }
        options = ["--dry-run", "--no-recurse-submodules", "--no-follow-tags", "--no-signed"]
        push = ["push", *options, str(trial.bare), f"{trial.new}:{trial.ref}"]
        done = run_limited(
            ["git", "-c", "protocol.file.allow=always", *push],
            cwd=repo.work_tree or repo.git_dir,
            env=clean_environment(variables),
            timeout=PATIENCE,
            limit=_KEPT,
        )
        yield _said(done, "pre-push", f"a push to {trial.ref} that git-gate has to refuse")


def fire_reference_transaction(repo: Repository, hooks_dir: Path) -> Iterator[Finding]:
    """Move the throw-away repository's policy ref with the hooks of `hooks_dir`."""
    with _trial(repo) as trial:
        if trial is None:
            return
        settings = {"core.hooksPath": str(hooks_dir), "gate.policyRef": trial.ref}
        done = run_limited(
            [
                *("git", "--git-dir", str(trial.bare)),
                *(part for key, value in settings.items() for part in ("-c", f"{key}={value}")),
                *("update-ref", trial.ref, trial.new, trial.old),
            ],
            cwd=trial.bare,
            env=clean_environment(),
            timeout=PATIENCE,
            limit=_KEPT,
        )
        yield _said(done, "reference-transaction", f"a move of {trial.ref} that has to be refused")


def _said(done: Limited, name: str, tried: str) -> Finding:
    if done.status is None:
        text = f"the {name} hooks were not through after {PATIENCE:.0f} seconds, so whether"
        return Finding("note", "hook", f"{text} git-gate is asked is not known", "")
    if done.status == 0:
        text = f"{tried} went through: the {name} hook does not bring it to git-gate"
        hint = "hand git-gate the hook's arguments and its input: git gate hook status"
        return Finding("fault", "hook", text, hint)
    if _REFUSED.search(done.stderr) or _REFUSED.search(done.stdout):
        return Finding("good", "hook", f"the {name} hook fires: {tried} was refused")
    last = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
    text = f"{tried} failed before git-gate was asked: {last}"
    return Finding("fault", "hook", text, "git gate hook status says what stands before it")


@contextmanager
def _trial(repo: Repository) -> Iterator[Trial | None]:
    """The throw-away repository; None where there is no policy to be guarded."""
    where = policy_ref(repo, None, repo.default_remote())
    policy = policy_at(repo, where.tip) if where and where.tip else None
    if where is None or policy is None or not gates_of(policy.policy, where.name, True):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="git-gate-doctor-") as folder:
        bare = Path(folder) / "remote.git"
        _git(bare, "init", "--quiet", "--bare", "--template=")
        alternates = "".join(f"{place}\n" for place in repo.object_directories())
        (bare / "objects" / "info").mkdir(exist_ok=True)
        (bare / "objects" / "info" / "alternates").write_text(alternates, "utf-8")
        (bare / "packed-refs").write_text(f"{policy.commit} {where.name}\n", "utf-8")
        yield Trial(bare, where.name, policy.commit, _unseen_change(bare, policy.commit))


def _unseen_change(bare: Path, tip: str) -> str:
    """A commit on top of `tip` that adds a remark to the policy, stored in `bare` alone."""
    path = POLICY_FILE.decode()
    policy = _git(bare, "cat-file", "blob", f"{tip}:{path}")
    blob = _git(bare, "hash-object", "-w", "--stdin", stdin=policy + b"\n# by git gate doctor\n")
    _git(bare, "read-tree", tip)
    _git(bare, "update-index", "--cacheinfo", f"100644,{blob.decode().strip()},{path}")
    tree = _git(bare, "write-tree").decode().strip()
    words = ["commit-tree", "-p", tip, "-m", "Tried by git gate doctor", tree]
    return _git(bare, *words, env=_NOBODY).decode().strip()


def _git(bare: Path, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
    done = run(["git", f"--git-dir={bare}", *args], cwd=bare.parent, stdin=stdin, env=env)
    if done.status != 0:
        raise GateError(Exit.FATAL, f"the hooks could not be tried: {done.complaint}")
    return done.stdout
