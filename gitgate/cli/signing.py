"""`signers`: who may sign, edited safely in the work tree."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from gitgate.cli.env import Env
from gitgate.cli.options import json_option, pass_env
from gitgate.core import signersfile, sshwire
from gitgate.core.policy import SIGNERS_FILE
from gitgate.core.trust import parse_signers
from gitgate.errors import Exit, GateError
from gitgate.ui.sanitise import safe


@click.group("signers")
def signers_command() -> None:
    """List and edit the people whose signatures count."""


@signers_command.command("list")
@pass_env
@json_option
def list_signers(env: Env) -> int:
    """List people with their keys' fingerprints and validity; faulty lines too."""
    signers = parse_signers(_read(_file(env)))
    rows: list[dict[str, Any]] = [
        {
            "line": one.line,
            "person": signers.person(one),
            "principals": list(one.principals),
            "type": one.key_type,
            "fingerprint": sshwire.fingerprint(one.blob),
            "valid_after": _time(one.valid_after),
            "valid_before": _time(one.valid_before),
            "valid": one.valid_at(env.now()),
        }
        for one in signers.entries
    ]
    defects = [{"line": line, "fault": fault} for line, fault in signers.defects]
    lines = [
        f"{safe(row['person'] or ','.join(row['principals']))}  {row['type']}"
        f"  {row['fingerprint']}{_window(row)}"
        for row in rows
    ]
    lines += [f"line {one['line']} counts for nobody: {safe(str(one['fault']))}" for one in defects]
    document = {"schema": 1, "signers": rows, "defects": defects}
    env.show(document, lines or ["nobody is listed: git gate init lists you"])
    return int(Exit.BLOCKED if defects else Exit.OK)


@signers_command.command("add")
@click.argument("person")
@click.argument("key")
@click.option("--valid-after", metavar="TIME", help="YYYYMMDD[HHMM[SS]]Z.")
@click.option("--valid-before", metavar="TIME", help="YYYYMMDD[HHMM[SS]]Z.")
@pass_env
def add_signer(
    env: Env, person: str, key: str, valid_after: str | None, valid_before: str | None
) -> None:
    """List KEY (an OpenSSH public key, or the file that holds it) for PERSON (an address)."""
    file = _file(env)
    text = Path(key).read_text(encoding="utf-8") if Path(key).is_file() else key
    try:
        new = signersfile.add(
            _read(file), person, text, valid_after=valid_after, valid_before=valid_before
        )
    except signersfile.RefusedError as error:
        raise GateError(
            Exit.BLOCKED,
            f"{SIGNERS_FILE.decode()} stays as it is: {error}",
            "git gate signers list",
        ) from None
    _write(env, file, new)
    env.out([f"listed {safe(person)} in {SIGNERS_FILE.decode()}"])
    _next(env)


@signers_command.command("revoke")
@click.argument("wanted", metavar="PERSON|FINGERPRINT")
@click.option("--at", metavar="TIME", help="YYYYMMDDHHMMSSZ (default: now).")
@pass_env
def revoke_signer(env: Env, wanted: str, at: str | None) -> None:
    """End the validity of a person's keys, or of one key; what it signed before stays valid."""
    file = _file(env)
    moment = at or datetime.fromtimestamp(env.now(), UTC).strftime("%Y%m%d%H%M%SZ")
    try:
        new, changed = signersfile.revoke(_read(file), wanted, moment)
    except signersfile.RefusedError as error:
        raise GateError(
            Exit.BLOCKED,
            f"{SIGNERS_FILE.decode()} stays as it is: {error}",
            "git gate signers list",
        ) from None
    _write(env, file, new)
    env.out(
        [
            f"ended {sshwire.fingerprint(one.blob)} of {safe(','.join(one.principals))}"
            f" (line {one.line}) at {moment}"
            for one in changed
        ]
    )
    _next(env)


def _next(env: Env) -> None:
    name = SIGNERS_FILE.decode()
    env.say(f"next: git add {name}, commit it on a branch, then git gate open")


def _file(env: Env) -> Path:
    top = env.repo.work_tree
    if top is None:
        raise GateError(Exit.USAGE, "there is no work tree here", "run it in a clone")
    return top / SIGNERS_FILE.decode()


def _read(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""


def _write(env: Env, file: Path, data: bytes) -> None:
    from gitgate.app.telling.derived import replace, safe_path

    replace(safe_path(env.repo.work_tree or file.parent, SIGNERS_FILE.decode()), data)


def _time(seconds: int | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _window(row: Mapping[str, object]) -> str:
    parts = [f"from {row['valid_after']}"] if row["valid_after"] else []
    parts += [f"until {row['valid_before']}"] if row["valid_before"] else []
    note = "" if row["valid"] else " (not valid now)"
    return f"  {' '.join(parts)}{note}" if parts else ""
