"""Sign as git would: the same key, the same program, the same armor."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote, split
from typing import Protocol

from gitgate import process
from gitgate.core.armor import Defect, Format, check_armor
from gitgate.core.sshwire import fingerprint
from gitgate.errors import Exit, GateError
from gitgate.process import Completed
from gitgate.signing import ssh
from gitgate.signing.programs import program
from gitgate.signing.sshkeys import (
    blob_of,
    default_key,
    has_passphrase,
    key_path,
    literal_key,
    make_key,
    public_key_of,
)

__all__ = ["SigningKey", "default_key", "make_key", "public_key", "signer"]

PATIENCE = 120.0
"""Seconds that a program may take where nobody sits at a terminal."""


class SigningKey(Protocol):
    """A key that can sign."""

    @property
    def format(self) -> Format:
        """The kind of its signatures."""

    @property
    def describe(self) -> str:
        """The key in words, for "signed with …"."""

    def sign(self, payload: bytes) -> bytes:
        """The armor of a signature of exactly these bytes; GateError where there is none."""


def signer(config: Mapping[str, str], *, where: Path | None) -> SigningKey:
    """The key that git would sign with, by `config` (`git config --list`).

    Relative paths are those of `where`, and commands run there. Raises GateError where nothing is
    configured, or the key is not there.
    """
    kind = _kind(config)
    if kind is Format.SSH:
        return SshKey(program(config, kind), _ssh_key(config, where), where)
    return GnupgKey(program(config, kind), kind, _gnupg_key(config, where), where)


def public_key(config: Mapping[str, str], *, where: Path | None) -> str:
    """The line of the public SSH key that `signer` signs with, for the signers file.

    Raises GateError where git signs with something else, or nothing is configured.
    """
    kind = _kind(config)
    if kind is not Format.SSH:
        raise GateError(
            Exit.FATAL,
            f"git signs with {kind} here, and the signers file lists SSH keys only",
            f"list the key's fingerprint under human_gates.{kind} in aiwg.yml",
        )
    return _public_line(_ssh_key(config, where), where)


def _kind(config: Mapping[str, str]) -> Format:
    named = config.get("gpg.format", "")
    if not named and not config.get("user.signingkey"):
        raise _unconfigured()
    try:
        return Format(named or "openpgp")
    except ValueError:
        raise GateError(
            Exit.FATAL,
            f"gpg.format is {named!r}: expected ssh, openpgp or x509",
            "git config gpg.format ssh",
        ) from None


def _unconfigured() -> GateError:
    return GateError(Exit.FATAL, "no signing key is configured", "git gate init")


def _ssh_key(config: Mapping[str, str], where: Path | None) -> str:
    if config.get("user.signingkey"):
        return config["user.signingkey"]
    command = config.get("gpg.ssh.defaultkeycommand")
    if not command:
        raise _unconfigured()
    try:
        argv = split(command)
    except ValueError:
        argv = []
    if not argv:
        raise GateError(Exit.FATAL, f"gpg.ssh.defaultKeyCommand is no command: {command!r}")
    done = process.run(argv, cwd=where)
    key = done.text.split("\n", 1)[0].strip()
    if done.status != 0 or literal_key(key) is None:
        raise GateError(
            Exit.FATAL,
            f"gpg.ssh.defaultKeyCommand gave no key: {command!r} ended with {done.status}",
            "it must print a line `key::…` or `ssh-…` first; or run `git gate init`",
        )
    return key


def _gnupg_key(config: Mapping[str, str], where: Path | None) -> str:
    if config.get("user.signingkey"):
        return config["user.signingkey"]
    done = process.run(["git", "var", "GIT_COMMITTER_IDENT"], cwd=where)
    if done.status != 0:
        raise GateError(
            Exit.FATAL, f"git does not know who you are: {done.complaint}", "git config user.email"
        )
    return done.text.rsplit(" ", 2)[0]


def _public_line(key: str, where: Path | None) -> str:
    literal = literal_key(key)
    if literal is None:
        return public_key_of(key_path(key, where))
    try:
        blob_of(literal)
    except ValueError as error:
        raise GateError(
            Exit.FATAL, f"user.signingKey is no public key: {error}", "git gate init"
        ) from None
    return literal


def _has_terminal() -> bool:
    try:
        return os.isatty(0)
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class SshKey:
    """An SSH key: `key` is a value of user.signingKey."""

    program: str
    key: str
    where: Path | None
    format: Format = Format.SSH

    @property
    def describe(self) -> str:
        """The key's fingerprint, and its file where it has one."""
        name = fingerprint(blob_of(_public_line(self.key, self.where)))
        return f"SSH key {name}" + ("" if literal_key(self.key) else f" ({self.key})")

    def sign(self, payload: bytes) -> bytes:
        """See SigningKey. The content goes to standard input: beside a file named `….sig`
        ssh-keygen would ask, read nothing, and end well without a signature.
        """
        literal = literal_key(self.key)
        with tempfile.TemporaryDirectory(prefix="git-gate-") as folder:
            if literal is None:
                path = key_path(self.key, self.where)
            else:
                path = Path(folder, "key.pub")
                path.write_text(_public_line(self.key, self.where) + "\n", encoding="utf-8")
            done = process.run(
                [self.program, "-Y", "sign", "-n", "git", "-f", str(path)],
                cwd=self.where,
                stdin=payload,
                env=_ssh_prompts(),
                timeout=None if _has_terminal() else PATIENCE,
            )
            if done.status != 0:
                raise self._explain(done, path)
        armor = _checked(done.stdout, self.format, self.program)
        objection = ssh.objection(payload, armor)
        if objection is not None:
            raise GateError(
                Exit.FATAL,
                f"a signature by {self.describe} would not count: {objection}",
                "try again, or sign with another key: git config user.signingKey",
            )
        return armor

    def _explain(self, done: Completed, path: Path) -> GateError:
        """Why signing failed, by what can be looked at; ssh-keygen's words are only passed on."""
        private = path.with_name(path.name.removesuffix(".pub"))
        if Path(self.program).name != "ssh-keygen":
            return GateError(Exit.FATAL, f"{self.program} could not sign: {done.complaint}")
        if not private.is_file():
            return self._explain_agent(done, path)
        if not has_passphrase(private):
            return GateError(
                Exit.FATAL, f"ssh-keygen could not sign with {self.key!r}: {done.complaint}"
            )
        if _has_terminal():
            return GateError(Exit.FATAL, f"the passphrase of {self.key!r} was wrong", "try again")
        return GateError(
            Exit.FATAL,
            f"the key {self.key!r} has a passphrase, and there is no terminal to ask for it",
            f"ssh-add {quote(str(private))}",
        )

    def _explain_agent(self, done: Completed, path: Path) -> GateError:
        listed = process.run(["ssh-add", "-L"])
        line = public_key_of(path)
        if listed.status not in (0, 1):
            return GateError(
                Exit.FATAL,
                f"{self.describe} has no private half here, and no ssh-agent answers",
                'eval "$(ssh-agent)", then ssh-add the private key',
            )
        if line.split()[1] not in listed.text:
            return GateError(
                Exit.FATAL,
                f"{self.describe} has no private half here, and the ssh-agent does not hold it",
                "ssh-add the private key",
            )
        return GateError(
            Exit.FATAL, f"the ssh-agent did not sign with {self.describe}: {done.complaint}"
        )


def _ssh_prompts() -> dict[str, str]:
    """Where ssh-keygen may ask for a passphrase: at the terminal, or nowhere at all.

    Standard input is the content, so it would turn to a program for asking; without a terminal it
    gets one that never answers, or it would wait at whatever terminal the session still has.
    """
    if _has_terminal():
        return {"SSH_ASKPASS_REQUIRE": "never"}
    return {"SSH_ASKPASS_REQUIRE": "force", "SSH_ASKPASS": "false"}


@dataclass(frozen=True, slots=True)
class GnupgKey:
    """A key of gpg or gpgsm: `key` is whatever names it there."""

    program: str
    format: Format
    key: str
    where: Path | None

    @property
    def describe(self) -> str:
        """The key as it is named in the configuration."""
        return f"{self.format} key {self.key}"

    def sign(self, payload: bytes) -> bytes:
        """See SigningKey."""
        terminal = _has_terminal()
        done = process.run(
            [self.program, "--status-fd=2", "-bsau", self.key],
            cwd=self.where,
            stdin=payload,
            env={"GPG_TTY": os.ttyname(0)} if terminal else {},
            timeout=None if terminal else PATIENCE,
        )
        if b"\n[GNUPG:] SIG_CREATED " not in b"\n" + done.stderr:
            raise self._explain(done, terminal)
        return _checked(done.stdout, self.format, self.program)

    def _explain(self, done: Completed, terminal: bool) -> GateError:
        lines = done.stderr.decode("utf-8", "replace").strip().split("\n")
        if any(line.startswith("[GNUPG:] INV_SGNR ") for line in lines):
            return GateError(
                Exit.FATAL,
                f"{self.program} has no key {self.key!r} that can sign",
                "set user.signingKey to a key that can, or run `git gate init`",
            )
        said = [line for line in lines if not line.startswith("[GNUPG:] ")]
        where = "" if terminal else " (there is no terminal to ask for a passphrase)"
        return GateError(
            Exit.FATAL,
            f"{self.program} could not sign with {self.key!r}{where}: {''.join(said[-1:])}",
            f"unlock the key: export GPG_TTY=$(tty); echo | {self.program} -bsau {quote(self.key)}",
        )


def _checked(armor: bytes, kind: Format, by: str) -> bytes:
    try:
        if armor and check_armor(armor) is kind:
            return armor
    except Defect as defect:
        raise GateError(Exit.FATAL, f"{by} wrote no signature that could count: {defect}") from None
    raise GateError(Exit.FATAL, f"{by} wrote no signature of the kind {kind}")
