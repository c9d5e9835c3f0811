"""`demo`: the whole story in a throw-away repository, with generated keys and real hooks."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from gitgate.cli.env import Env, without_agents
from gitgate.cli.hookfiles import program
from gitgate.cli.options import pass_env
from gitgate.errors import Exit, GateError
from gitgate.process import clean_environment, run


@dataclass(frozen=True, slots=True)
class _Scene:
    """A sentence, the commands that a person would type, and whether the last one must fail."""

    text: str
    commands: tuple[str, ...]
    refused: bool = False


_BY_AGENT = "--author='Agent <agent@example.com>'"

_STORY = (
    _Scene(
        "Ada starts a project with an empty remote and puts a gate before its main branch.",
        (
            "git init --quiet --bare ../remote.git",
            "git init --quiet . && git remote add origin ../remote.git",
            "git gate init",
            "git add aiwg.yml .aiwg/allowed_signers && git commit --quiet -m 'Adopt git-gate'",
            "git push --quiet origin main",
        ),
    ),
    _Scene(
        "An agent writes a use case on a branch. Main does not take it: nobody has approved it.",
        (
            "git switch --quiet -c feature/login",
            "printf '# UC-001: User Login\\n\\n1. The user enters a password\\n' >UC-001.md",
            f"git add UC-001.md && git commit --quiet {_BY_AGENT} -m 'Describe the login'",
            "git push origin feature/login:main",
        ),
        refused=True,
    ),
    _Scene(
        "So the agent opens the gate, and Ada says what is missing.",
        (
            "git gate open --agent claude -m 'The login, first version'",
            "git gate reject -m 'The password policy is missing: minimum length and lockout.'",
        ),
    ),
    _Scene(
        "The agent waits for the answer and gets her words.",
        ("git gate wait",),
        refused=True,
    ),
    _Scene(
        "It mends the work, and asks again: iteration 2.",
        (
            "printf '2. After five wrong passwords the account is locked\\n' >>UC-001.md",
            f"git commit --quiet -a {_BY_AGENT} -m 'Add the lockout'",
            "git gate open --agent claude -m 'With the lockout'",
            "git gate approve -m 'Thank you'",
        ),
    ),
    _Scene(
        "A line that nobody saw does not get through, however it is merged.",
        (
            "git switch --quiet main && git merge --quiet --no-ff --no-commit feature/login",
            "printf '3. The password 0000 always works\\n' >>UC-001.md",
            "git commit --quiet -a -m 'Merge the login'",
            "git push origin main",
        ),
        refused=True,
    ),
    _Scene(
        "Exactly what was approved lands.",
        (
            "git reset --quiet --hard origin/main && git merge --quiet --no-ff feature/login",
            "git gate check origin/main..main",
            "git push origin main",
        ),
    ),
    _Scene(
        "The approval is a signed git object: anybody can verify it with git alone.",
        (
            "git gate log --subject feature/login",
            'git config gpg.ssh.allowedSignersFile "$PWD/.aiwg/allowed_signers"',
            "git notes --ref=aiwg/gates show feature/login >../record",
            "git verify-tag $(git hash-object -t tag -w ../record)",
        ),
    ),
)


@click.command("demo")
@click.option("--keep", is_flag=True, help="Keep the repository and say where it is.")
@pass_env
def demo_command(env: Env, keep: bool) -> None:
    """Tell the whole story in a throw-away repository, with real git and real hooks."""
    folder = Path(tempfile.mkdtemp(prefix="git-gate-demo-"))
    try:
        for line in _told(folder):
            env.out([line])
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    if keep:
        env.out(["", f"the repository is {folder / 'project'}"])


def _told(folder: Path) -> Iterator[str]:
    project = folder / "project"
    project.mkdir()
    variables = _surroundings(folder)
    for scene in _STORY:
        yield ""
        yield f"# {scene.text}"
        status = 0
        for command in scene.commands:
            yield f"$ {command}"
            done = run(["sh", "-c", f"{{ {command}\n}} 2>&1"], cwd=project, env=variables)
            status = done.status
            for line in done.text.split("\n") if done.text else ():
                yield f"  {line}"
        if (status != 0) is not scene.refused:
            raise GateError(
                Exit.FATAL,
                f"the demo went wrong at {scene.commands[-1]!r}: it ended with {status}",
                "git gate doctor",
            )


def _surroundings(folder: Path) -> dict[str, str]:
    """A home of its own, so that nothing of the user's is read or changed."""
    home = folder / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Ada Lovelace\n\temail = ada@example.com\n"
        "[init]\n\tdefaultBranch = main\n[core]\n\tpager = cat\n[advice]\n\tdetachedHead = false\n"
    )
    return {
        **without_agents(),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "PATH": f"{program().parent}{os.pathsep}{clean_environment().get('PATH', os.defpath)}",
    }
